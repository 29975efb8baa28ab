"""perfgate check on repositories that it does not know, as a user runs it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.project import AS_BY_DEFAULT, ENOUGH, Project, Step, committed, executable, perfgate
from tests.support.project import FEW as CONFIG
from tests.support.project import SHELL_BENCH as BENCH

# Two gates never measure at once on one machine: on one worker they do not wait for each other.
pytestmark = pytest.mark.xdist_group("measures")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two commits on a path with spaces: the last one is 20% slower than the one before."""
    fast, slow = (("bench.sh", BENCH.replace("SPEED", speed)) for speed in ("1.0", "1.2"))
    return committed(
        tmp_path / "a project, ünïcode",
        Step("main", "base", (("perfgate.toml", CONFIG), fast)),
        Step("main", "slower", (slow,)),
    )


def test_a_regression_fails_and_leaves_a_report(project: Project) -> None:
    index = (project.top / ".git/index").read_bytes()
    # the benchmark's values follow the seed: one interval in twenty does not hold the truth
    done = project.process(
        "check", "--seed", "1", *AS_BY_DEFAULT, *ENOUGH, "--set", "plan.executions=2", "--set", "plan.iterations=4"
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("✖ Regression: ")
    assert "\nnext      Fix the regression (`perfgate explain` names the functions: " in done.stdout
    found = project.report()
    assert (found["verdict"], found["exit_code"]) == ("regression", 1)
    (finding,) = found["findings"]
    assert finding["verdict"] == "regression"
    assert 1.15 < finding["ratio"]["low"] < 1.2 < finding["ratio"]["high"] < 1.25
    assert finding["base"]["counts"] == {"session": 1, "build": 5, "execution": 10, "iteration": 40}
    folder = project.top / ".perfgate"
    assert {p.name for p in folder.iterdir()} == {
        ".gitignore", "measurements.jsonl", "report.json", "report.html", "comment.md",
    }  # fmt: skip
    assert "<html" in (folder / "report.html").read_text()
    # nothing of the user's was touched
    assert project.git("status", "--porcelain") == ""
    assert project.git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert (project.top / ".git/index").read_bytes() == index


def test_no_change_passes(project: Project) -> None:
    project.write("README", "only words")
    project.commit()
    done = project.perfgate("check", *ENOUGH)
    assert (done.returncode, done.stdout[:6]) == (0, "✔ Pass"), done.stdout + done.stderr
    assert "explain" not in done.stderr
    assert project.report()["findings"][0]["verdict"] == "unchanged"


def test_the_working_tree_is_measured_as_it_is(project: Project) -> None:
    project.quick(0.9)
    done = project.perfgate("check", *ENOUGH)
    assert done.returncode == 0, done.stderr
    found = project.report()
    assert found["findings"][0]["verdict"] == "improvement"
    assert found["run"]["head"]["dirty"] is True
    assert "bench.sh" in project.git("status", "--porcelain")


def test_a_broken_build_is_an_error(project: Project) -> None:
    project.write(
        "perfgate.toml", CONFIG + '[build]\ncommand = "test ! -e broken || { echo no compiler today >&2; exit 3; }"\n'
    )
    project.commit()
    project.write("broken", "")
    done = project.perfgate("check")
    assert done.returncode == 4
    (failure,) = project.report()["failures"]
    assert (failure["kind"], failure["side"], failure["status"]) == ("build", "head", "exit 3")
    assert "no compiler today" in failure["stderr"]
    assert "no compiler today" in done.stdout


@pytest.mark.parametrize(
    ("bench", "status"), [("", "no values"), ("exit 7", "exit 7"), ("ln -s /etc/passwd $1", "link")]
)
def test_a_benchmark_without_values_is_an_error(project: Project, bench: str, status: str) -> None:
    project.write("bench.sh", bench)
    done = project.perfgate("check")
    assert done.returncode == 4
    (failure,) = project.report()["failures"]
    assert (failure["kind"], failure["benchmark"], failure["side"]) == ("execution", "bench", "head")
    assert status in failure["status"]


def test_a_missing_benchmark_is_an_error_and_a_new_one_is_named(project: Project) -> None:
    # with its own command it is another benchmark, and not the same under another name
    other = CONFIG.replace('"bench"', '"renamed"').replace("sh bench.sh", "sh ./bench.sh")
    project.write("perfgate.toml", other)
    planned = project.perfgate("check", "--dry-run").stdout
    assert "head has no benchmark bench: the report will be an error" in planned
    assert "renamed is new" in planned
    assert project.perfgate("check").returncode == 4
    found = project.report()
    assert [(f["kind"], f["benchmark"]) for f in found["failures"]] == [("missing", "bench")]
    assert found["new"] == ["renamed"]


@pytest.mark.endtoend
def test_a_file_that_git_ignores_is_named_with_the_remedy(project: Project) -> None:
    project.write(".gitignore", "data/\n")
    project.write("data/large.txt", "1.0\n")
    project.write("perfgate.toml", CONFIG.replace("sh bench.sh {output}", "cat data/large.txt > {output}"))
    project.commit()
    done = project.perfgate("check", "--base", "HEAD")
    assert done.returncode == 4
    (failure,) = project.report()["failures"]
    assert '"data/large.txt" is ignored by git: add "data/" to [build] share' in failure["hint"]
    assert failure["command"].startswith("cat data/large.txt")
    assert failure["directory"]
    project.write("perfgate.toml", (project.top / "perfgate.toml").read_text() + '[build]\nshare = ["data"]\n')
    again = project.perfgate("check", "--base", "HEAD", "--quiet")
    assert again.stdout.splitlines()[1].startswith("bench failed on base: exit 1")
    assert "use head's for both sides with --config perfgate.toml" in project.report()["failures"][0]["hint"]
    done = project.perfgate("check", "--base", "HEAD", "--config", "perfgate.toml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.endtoend
def test_rules_are_heads_on_a_persons_machine_and_bases_in_ci(project: Project) -> None:
    project.write("perfgate.toml", CONFIG.replace("5%", "50%"))
    project.commit()
    base = ("check", "--base", "HEAD~2")
    assert project.perfgate(*base).returncode == 0
    done = project.perfgate(*base, *ENOUGH, "--out", "kept run", CI="true")
    assert done.returncode == 1
    assert "`perfgate explain 'kept run'` names the functions" in done.stderr
    assert "head changes the rules (gate.threshold)" in done.stdout
    assert project.perfgate(*base, "--rules", "head", CI="true").returncode == 0
    assert project.perfgate(*base, "--set", "gate.threshold=40%", CI="true").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "config", "message"),
    [
        (
            (),
            CONFIG.replace("threshold", "thresold"),
            "head: perfgate.toml:2: gate.thresold: unknown key; did you mean threshold?",
        ),
        ((), "[gate", "head: perfgate.toml:1: not valid TOML"),
        (("--base", "nowhere"), CONFIG, "--base nowhere: no such commit here"),
        (("--benchmark", "x*"), CONFIG, "--benchmark x*: matches none of bench"),
        (("--benchmark", "bench", "--benchmark", "y*"), CONFIG, "--benchmark y*: matches none of bench"),
        (("--seed", "-1"), CONFIG, "argument --seed: '-1' is not a whole number"),
        (("--config", "none.toml"), CONFIG, "none.toml: no such file"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    project: Project, arguments: tuple[str, ...], config: str, message: str
) -> None:
    project.write("perfgate.toml", config)
    project.commit()
    done = project.perfgate("check", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_repository_of_one_commit_has_nothing_to_compare_until_something_changes(tmp_path: Path) -> None:
    project = Project(tmp_path / "one")
    project.quick(1.0, **{"perfgate.toml": CONFIG})
    project.commit()
    done = project.perfgate("check")
    assert done.returncode == 2
    assert done.stderr.startswith("perfgate: nothing to compare: head is the first commit and the tree is clean")
    assert "gate.threshold" in project.perfgate("config").stdout
    project.quick(1.3)
    assert project.perfgate("check", *ENOUGH).returncode == 1


def test_no_config_at_all_names_init(tmp_path: Path) -> None:
    project = Project(tmp_path / "bare")
    project.write("x", "")
    project.commit()
    project.write("y", "")
    done = project.perfgate("check")
    assert done.returncode == 2
    assert "`perfgate init` writes one" in done.stderr


@pytest.mark.endtoend
def test_a_project_in_a_subdirectory_with_its_own_gate_and_harness(project: Project) -> None:
    # names that perfgate's own packages have, as a project may
    for name in ("gate", "harness"):
        project.write(f"sub/{name}/__init__.py", "raise RuntimeError('not yours')\n")
    project.write("sub/bench.sh", (project.top / "bench.sh").read_text())
    project.write("sub/perfgate.toml", CONFIG)
    project.commit()
    project.write("sub/README", "x")
    done = project.process("check", cwd=project.top / "sub", PYTHONPATH=str(project.top / "sub"))
    assert done.returncode == 0, done.stderr


def test_dry_run_prints_what_will_run_and_how_often_and_measures_nothing(project: Project) -> None:
    asked = ("check", "--dry-run", "--seed", "3", *ENOUGH, "--set", "plan.executions=2")
    done = project.perfgate(*asked)
    assert done.returncode == 0
    assert done.stdout.partition("\n\n")[2] == (
        "set-up and builds\n"
        "  set-up, once each: none\n"
        "  build, 10 times: no command, a fresh checkout is the build\n"
        "\n"
        "benchmarks\n"
        "  bench, 20 starts (values): sh bench.sh {output}\n"
        "\n"
        "in all: 10 builds, 20 starts, at most 15 min of measuring (the budget; no earlier run to estimate from)\n"
    )
    assert done.stdout == project.perfgate(*asked).stdout
    assert project.perfgate("measure", *asked[1:]).stdout == done.stdout
    explaining = project.perfgate(*asked, "--set", "gate.explain=true").stdout
    assert explaining.endswith(
        "then profiles of what regressed (gate.explain): 0 to 2 starts, 1 of each side of a benchmark, at most 5 min "
        "in all beside the budget\n"
    )
    assert not (project.top / ".perfgate").exists()
    project.perfgate("check", "--quiet", "--set", "plan.builds=1")
    assert ", about " in project.perfgate("check", "--dry-run").stdout


def test_dry_run_ends_as_the_run_would_without_a_shared_path(project: Project) -> None:
    project.write("perfgate.toml", CONFIG + '[build]\nshare = [".venv"]\n')
    dry, done = project.perfgate("check", "--dry-run"), project.perfgate("check")
    assert "in all: 4 builds" in dry.stdout
    assert (dry.returncode, done.returncode) == (2, 2)
    assert "[build] share: .venv does not exist in " in dry.stderr
    assert dry.stderr in done.stderr


def test_dry_run_names_what_differs_between_the_sides_and_what_runs_beside(project: Project) -> None:
    more = CONFIG.replace("builds = 2", "builds = {min = 2, max = 4}").replace("iterations = 1", "iterations = 4")
    more = more.replace("bench.sh {output}", "bench.sh {output} --x")
    more += (
        'service = { command = "serve --port {port}" }\n'
        '[build]\nsetup = "make deps"\ncommand = ["make", "a b"]\n'
        + "".join(f'[[benchmark]]\nname = "b{n}"\ncommand = ["true", "{n}"]\n' for n in range(20))
    )
    project.write("perfgate.toml", more)
    project.commit()
    project.write("perfgate.toml", more.replace('"make deps"', '"set -e\\nmake all"'))
    lines = project.perfgate("check", "--dry-run", "--base", "HEAD").stdout.splitlines()
    assert {
        "  set-up, once each, base: make deps",
        "  set-up, once each, head:",
        "      make all",
        "  build, 4 to 8 times: make 'a b'",
        "  bench, 4 to 8 starts (values): sh bench.sh {output} --x",
        "    service: serve --port {port}",
        "  b7, 16 to 32 starts (spawn): true 7",
    } <= {*lines}
    # in the order of the file, without the rounds
    assert [line.split(",")[0] for line in lines if line.startswith("  b") and "build" not in line] == [
        "  bench", *(f"  b{n}" for n in range(20)),
    ]  # fmt: skip
    assert lines[-1].startswith("in all: 4 to 8 builds, 324 to 648 starts, ")


@pytest.mark.endtoend
def test_past_runs_are_kept_and_what_perfgate_writes_is_no_change_of_heads(project: Project) -> None:
    quick = ("check", "--quiet", "--set", "plan.builds=1", "--set", "plan.executions=1")
    (project.top / "mine").mkdir()
    base = project.git("rev-parse", "HEAD~1")
    for folder, arguments in ((".perfgate", ()), ("mine", ("--json", "report.json", "--out", "mine"))) * 2:
        project.perfgate(*quick, *arguments)
        run = json.loads((project.top / folder / "report.json").read_text())["run"]
        assert (run["base"]["sha"], run["head"]["dirty"]) == (base, False)
    (past,) = (project.top / ".perfgate/runs").iterdir()
    assert (past / "report.json").exists()


def test_measure_then_decide_then_report(project: Project) -> None:
    done = project.process("measure", "--out", "results", *ENOUGH)
    assert done.returncode == 0, done.stderr
    assert not (project.top / "results/report.json").exists()
    assert project.perfgate("decide", "results").returncode == 1
    piped = (project.top / "results/measurements.jsonl").read_bytes()
    done_piped = subprocess.run(
        ["sh", "-c", 'cat "$0" | "$@"', "results/measurements.jsonl", *_decide("-", "--json", "-")],
        cwd=project.top, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done_piped.returncode == 1, (done_piped.stderr, len(piped))
    assert json.loads(done_piped.stdout)["verdict"] == "regression"
    assert project.perfgate("report", "results", "--format", "markdown").stdout
    assert (project.top / "results/report.html").exists()
    assert project.perfgate("decide", "results", "--set", "gate.threshold=50%").returncode == 0


def _decide(*arguments: str) -> list[str]:
    return perfgate("decide", *arguments)


@pytest.mark.endtoend
def test_new_benchmarks_are_tried_once_on_head(project: Project) -> None:
    project.write("perfgate.toml", CONFIG + '[[benchmark]]\nname = "new"\ncommand = "exit 9"\ninstrument = "spawn"\n')
    done = project.perfgate("check")
    assert done.returncode == 4
    assert [f["status"] for f in project.report()["failures"]] == ["exit 9"]
    project.write("perfgate.toml", CONFIG + '[[benchmark]]\nname = "new"\ncommand = "true"\ninstrument = "spawn"\n')
    assert project.perfgate("check").returncode == 0
    assert project.report()["new"] == ["new"]
    assert [e for e in project.executions() if e[0] == "new"] == [("new", "head", 0, 0)]


@pytest.mark.endtoend
def test_hooks_do_not_run(project: Project) -> None:
    marker = project.top.parent / "hook ran"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        hook = project.top / ".git/hooks" / name
        executable(hook, f"#!/bin/sh\ntouch '{marker}'\n")
    project.write("notes", "x")
    assert project.perfgate("check", *AS_BY_DEFAULT).returncode == 0
    assert not marker.exists()


@pytest.mark.endtoend
def test_overlay_takes_heads_files_for_both_sides_by_bases_own_word(project: Project) -> None:
    config = CONFIG.replace("sh bench.sh", "sh bench/run.sh")
    project.write("bench/run.sh", BENCH.replace("SPEED", "1.0"))
    project.write("perfgate.toml", config + '[build]\noverlay = ["bench"]\n')
    project.commit()
    # the benchmark itself changes: measured with head's on both sides, the program is unchanged
    project.write("bench/run.sh", BENCH.replace("SPEED", "3.0"))
    assert project.perfgate("check").returncode == 0
    assert 2.9 < project.report()["findings"][0]["base"]["value"] < 3.1
    # head alone cannot ask for it: it would compare itself with itself
    project.write("perfgate.toml", config)
    project.commit()
    project.write("bench/run.sh", BENCH.replace("SPEED", "9.0"))
    project.write("perfgate.toml", config + '[build]\noverlay = ["bench"]\n')
    assert project.perfgate("check", *ENOUGH).returncode == 1


@pytest.mark.endtoend
def test_setup_share_and_submodules_work_together(project: Project, tmp_path: Path) -> None:
    library = Project(tmp_path / "library")
    library.write("factor", "2.0")
    library.commit()
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.top), "lib")
    project.write(".gitignore", "deps/\ndata/\n")
    project.write("data/scale", "1.0")
    factors = 'exec awk -v "lib=$(cat lib/factor)" -v "made=$(cat deps/made)"'
    project.write("bench.sh", BENCH.replace("exec awk", factors).replace("SPEED", "lib * made"))
    project.write(
        "perfgate.toml", CONFIG + '[build]\nsetup = "mkdir deps && cp data/scale deps/made"\nshare = ["data/"]\n'
    )
    project.commit()
    project.write("notes", "x")
    done = project.perfgate("check", "--set", "plan.sandbox=auto")
    assert done.returncode == 0, done.stdout + done.stderr
    assert 1.9 < project.report()["findings"][0]["head"]["value"] < 2.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--json", "."), "--json .: is a folder, not a file"),
        (("--json", "-", "--html", "-"), "--json - and --html - both want standard output"),
        (("--markdown", "bench.sh/x"), "--markdown bench.sh/x: cannot be written there"),
        (("--out", "bench.sh"), "--out bench.sh: is a file, not a folder"),
        (("--out", "bench.sh/x"), "--out bench.sh/x: cannot be made: Not a directory"),
    ],
)
def test_outputs_that_cannot_be_written_are_refused_before_measuring(
    project: Project, arguments: tuple[str, ...], message: str
) -> None:
    done = project.perfgate("check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"perfgate: {message}\n"
    assert not (project.top / ".perfgate").exists()


def test_the_folder_of_the_run_is_the_projects(project: Project) -> None:
    deep = project.top / "some/where"
    deep.mkdir(parents=True)
    project.write("some/where/file", "x")
    assert project.perfgate("check", "--set", "plan.builds=1", cwd=deep).returncode == 0
    assert (project.top / ".perfgate/report.html").exists()
    assert project.perfgate("report", cwd=deep).stdout.startswith("◆ ")


@pytest.mark.endtoend
def test_a_placeholder_of_init_is_refused_until_it_is_edited(project: Project) -> None:
    for file in ("bench.sh", "perfgate.toml"):
        (project.top / file).unlink()
    assert project.perfgate("init").returncode == 4
    config = project.top / "perfgate.toml"
    written = config.read_text()
    line = written.splitlines().index("command = []") + 1
    for command in (["check"], ["check", "--dry-run"], ["measure"], ["config"], ["calibrate"], ["try"]):
        done = project.perfgate(*command)
        assert (done.returncode, done.stdout) == (2, ""), command
        assert done.stderr.count("\n") == 1
        assert f"perfgate.toml:{line}: benchmark[0].command: is empty; " in done.stderr
        assert 'write e.g. command = "./program"' in done.stderr
    assert not (project.top / ".perfgate").exists()
    config.write_text(written.replace("command = []", 'command = ["true"]'))
    assert project.perfgate("config").returncode == 0


def test_metrics_that_nothing_has_are_named_after_the_first_round(project: Project) -> None:
    done = project.perfgate("check", "--set", 'plan.metrics=["tme"]', "--set", "plan.builds={min = 4}")
    assert done.returncode == 4
    assert "nothing was decided: plan.metrics names none of time" in done.stdout
    assert {build for *_, build, _ in project.executions()} == {0}


@pytest.mark.endtoend
def test_secrets_do_not_reach_benchmarks_and_reports_hide_removed_values(project: Project) -> None:
    program = "for n in MY_TOKEN GITHUB_X; do env | grep -q ^$n= && exit 1; done\necho $SHOWN >$1\n"
    config = CONFIG + '[env]\nset = { SHOWN = "1.5" }\n'
    project.write("bench.sh", program)
    project.write("perfgate.toml", config)
    project.commit()
    done = project.perfgate("check", "--base", "HEAD", *AS_BY_DEFAULT, MY_TOKEN="hunter2", GITHUB_X="y")
    assert "bench" in done.stdout
    assert project.report()["failures"] == [], done.stdout
    everything = "".join(p.read_text() for p in (project.top / ".perfgate").iterdir() if p.is_file())
    assert "hunter2" not in everything


@pytest.mark.endtoend
def test_the_temporary_directory_is_left_empty(project: Project, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    project.perfgate("check", *AS_BY_DEFAULT, TMPDIR=str(scratch))
    assert list(scratch.iterdir()) == []
    done = project.perfgate("check", "--keep", TMPDIR=str(scratch))
    assert "the trees stay in" in done.stderr
    assert len(list(scratch.iterdir())) == 1


@pytest.mark.endtoend
def test_a_start_that_fails_without_a_word_on_standard_error_says_what_it_printed(project: Project) -> None:
    command = '["sh", "-c", "echo 3 tests failed; exit 3"]'
    project.write("perfgate.toml", f'[[benchmark]]\nname = "x"\ninstrument = "spawn"\ncommand = {command}\n')
    project.commit()
    done = project.perfgate("check", "--base", "HEAD", *AS_BY_DEFAULT)
    assert done.returncode == 4
    assert {each["stderr"] for each in project.records("failure")} == {"3 tests failed"}
