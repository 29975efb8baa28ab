"""A base that is broken: the change that repairs it can pass, and nothing that head does makes base look broken."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import AS_BY_DEFAULT, ENOUGH, Project, repository
from tests.support.project import FEW as CONFIG
from tests.support.project import SHELL_BENCH as BENCH

pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("measures")]

BUILD = '[build]\ncommand = "sh build.sh"\n'
FAILS = "printf 'error: lock file out of date\\n%s\\n' note: note: 'make: *** [all] Error 1' >&2\nexit 1\n"
SLOW = BENCH.replace("SPEED", "2.0")
FAST = BENCH.replace("SPEED", "1.0")
SECOND = CONFIG[CONFIG.index("[[benchmark]]") :].replace('"bench"', '"second"').replace("bench.sh", "second.sh")


def project(top: Path, *states: dict[str, str]) -> Project:
    """Make a commit of each state: files that change."""
    first = {"perfgate.toml": CONFIG + BUILD, "bench.sh": FAST, "build.sh": "exit 0\n", **states[0]}
    return repository(top, first, *states[1:])


def check(made: Project, code: int, *more: str) -> str:
    """Compare the last commit with the one before; returns what it says, on a line each paragraph."""
    done = made.perfgate("check", "--base", "HEAD~1", *more, CI="true")
    assert done.returncode == code, done.stdout + done.stderr
    return "\n".join(" ".join(each.split()) for each in done.stdout.split("\n\n"))


def told(made: Project, kind: str = "base-broken") -> dict[str, Any]:
    """The details of a warning of the report; empty where it has none of that kind."""
    return next((each["details"] for each in made.report()["warnings"] if each["kind"] == kind), {})


def test_a_project_whose_only_commit_does_not_build(tmp_path: Path) -> None:
    made = project(tmp_path / "repo", {"build.sh": FAILS}, {"build.sh": "exit 0\n"})
    base, head = made.git("rev-list", "--reverse", "HEAD").splitlines()
    said = check(made, 0, *AS_BY_DEFAULT, *ENOUGH)
    why = f"base {base[:10]} does not build (exit 1: error: lock file out of date)"
    assert said.startswith(f"○ Nothing to compare yet: {why}; head's noise: a change of ")
    report = made.report()
    assert (report["verdict"], report["findings"], report["new"]) == ("pass", [], ["bench"])
    broken = report["summary"]["details"]["why"]["details"]["broken"]["details"]
    assert (broken["base"], broken["compared"], broken["tried"], broken["failed"]) == (base, None, 0, "build")
    assert report["run"]["base"]["sha"] == report["run"]["head"]["sha"] == head
    for kind in ("markdown", "summary"):
        printed = made.perfgate("report", "--format", kind).stdout.replace("<!-- -->", "")
        assert printed.startswith(f"⚪ **Nothing to compare yet: base {base[:10]} does not build")
    assert f"base {base[:10]} does not build" in (made.top / ".perfgate/report.html").read_text()


BROKEN: dict[str, dict[str, str]] = {
    "its build": {"build.sh": FAILS},
    "its set-up": {"perfgate.toml": CONFIG + BUILD + 'setup = "exit 3"\n'},
    "an artifact": {"perfgate.toml": CONFIG + BUILD + 'artifacts = ["app"]\n'},
    "a benchmark exits": {"bench.sh": "exit 1\n"},
    "its program is not there": {"perfgate.toml": CONFIG.replace("sh bench.sh", "./absent") + BUILD},
    "its program is no program": {"perfgate.toml": CONFIG.replace('"sh bench.sh {output}"', '["absent"]') + BUILD},
}
WORKS = {"build.sh": "exit 0\n", "perfgate.toml": CONFIG + BUILD, "bench.sh": FAST}


def test_head_is_compared_with_the_nearest_ancestor_that_works(tmp_path: Path) -> None:
    exits = BROKEN["a benchmark exits"]
    made = project(tmp_path / "repo", {}, {"readme": "2"}, exits, {**WORKS, "bench.sh": SLOW})
    shas = made.git("rev-list", "--reverse", "HEAD").splitlines()
    instead = f"head is compared with its ancestor {shas[1][:10]}"
    first = check(made, 1, *AS_BY_DEFAULT, *ENOUGH).split("\n")[0]
    assert first.startswith("✖ Regression: bench is ") and first.endswith(f": {instead}")
    assert f"base {shas[2][:10]} does not " in first
    report = made.report()
    assert [f["verdict"] for f in report["findings"]] == ["regression"] and report["failures"] == []
    assert report["run"]["base"]["sha"] == shas[1]
    broken = told(made)
    assert (broken["base"], broken["compared"], broken["tried"]) == (shas[2], shas[1], 1)
    comment = made.perfgate("report", "--format", "markdown").stdout.splitlines()[0].replace("<!-- -->", "")
    assert instead in comment and instead in (made.top / ".perfgate/report.html").read_text()


def test_the_rules_are_those_of_base_not_of_its_ancestor_nor_of_head(tmp_path: Path) -> None:
    strict = CONFIG.replace('"5%"', '"4%"') + BUILD
    loose = {"perfgate.toml": CONFIG.replace('"5%"', '"500%"') + BUILD}
    made = project(
        tmp_path / "repo", loose, {"perfgate.toml": strict, "build.sh": FAILS}, {**WORKS, **loose, "bench.sh": SLOW}
    )
    check(made, 1, *ENOUGH)
    assert [f["threshold"] for f in made.report()["findings"]] == [0.04]


@pytest.mark.parametrize(("broken", "compared"), [(5, True), (6, False)])
def test_five_ancestors_are_tried(tmp_path: Path, broken: int, compared: bool) -> None:
    """Each is broken in another way."""
    states = [{**WORKS, **files} for files in list(BROKEN.values())[-broken:]]
    made = project(tmp_path / "repo", {}, *states, WORKS)
    first = made.git("rev-list", "--reverse", "HEAD").splitlines()[0]
    said = check(made, 0)
    if compared:
        assert f"head is compared with its ancestor {first[:10]}" in said
        found = told(made)
        assert (found["compared"], found["tried"]) == (first, 5)
    else:
        assert said.startswith("○ Nothing to compare yet: ") and ", nor do its 5 nearest ancestors; " in said


OTHER = CONFIG.replace('"bench"', '"other"').replace("{output}", "{output} 1") + BUILD


@pytest.mark.parametrize("config", ["[gate]\nthresold = 1\n", OTHER], ids=["unusable", "no benchmark of head"])
def test_ancestors_that_head_cannot_be_compared_with_are_passed_over(tmp_path: Path, config: str) -> None:
    made = project(tmp_path / "repo", {}, {"perfgate.toml": config}, {**WORKS, "build.sh": FAILS}, WORKS)
    first = made.git("rev-list", "--reverse", "HEAD").splitlines()[0]
    check(made, 0)
    assert (told(made)["compared"], told(made)["tried"]) == (first, 2)


def test_base_runs_before_anything_of_head(tmp_path: Path) -> None:
    """Its first build and the first start of each benchmark; what these leave in its tree is gone."""
    log = tmp_path / "log"
    files = {
        "build.sh": f"echo $PERFGATE_SIDE builds >> {log}\n",
        "bench.sh": f"echo $PERFGATE_SIDE starts $(ls left 2>&-) >> {log}; touch left\n{FAST}",
        "second.sh": f"echo $PERFGATE_SIDE starts second >> {log}\n{FAST}",
        "perfgate.toml": CONFIG + SECOND + BUILD,
    }
    made = project(tmp_path / "repo", files, {"readme": "2"})
    check(made, 0)
    lines = log.read_text().splitlines()
    assert lines[0] == "base builds" and sorted(lines[1:3]) == ["base starts", "base starts second"]
    assert lines[3] == "head builds"
    # the build is not made again; one start of it is not measured, nor is one that shows what it reads elsewhere
    assert [line for line in lines if line.startswith("base starts") and "second" not in line] == [
        "base starts", "base starts", "base starts left", "base starts left",
    ]  # fmt: skip
    assert lines.count("base builds") == lines.count("head builds") == 2


def flaky(counter: Path, times: int) -> str:
    """Fail so many times, and then no more."""
    return f'echo x >> {counter}; [ "$(wc -l < {counter})" -gt {times} ] || exit 1\n'


UNCLEAR: dict[str, tuple[dict[str, str], str]] = {
    # each attempt at a first build is one without .git and one with it
    "a build that fails at first": ({"build.sh": "FLAKY2"}, "exit 1"),
    "a start that fails once": ({"bench.sh": "FLAKY1" + FAST}, "exit 1"),
    "fails otherwise the second time": ({"build.sh": "echo x >> COUNTER; exit $(wc -l < COUNTER)\n"}, "exit 2"),
    "a signal": ({"build.sh": "kill -9 $$\n"}, "SIGKILL"),
    "a signal behind a shell": ({"build.sh": "sh -c 'kill -9 $$'; exit $?\n"}, "exit 137 (SIGKILL)"),
    "a start ends by a signal": ({"bench.sh": "kill -9 $$\n"}, "SIGKILL"),
    "a time-out": (
        {"build.sh": "sleep 9\n", "perfgate.toml": CONFIG + BUILD + 'timeout = "1s"\n'},
        "time-out after 1s",
    ),
    "a full disk": ({"build.sh": "echo 'cp: error writing: No space left on device' >&2; exit 1\n"}, "exit 1"),
    "a quota": ({"bench.sh": "echo 'OSError: [Errno 122] Disk quota exceeded' >&2; exit 1\n"}, "exit 1"),
    "its tree changed": ({"build.sh": "echo changed > readme\n", "readme": "as it was"}, "readme"),
}


@pytest.mark.parametrize("what", UNCLEAR)
def test_every_other_failure_of_base_is_an_error(tmp_path: Path, what: str) -> None:
    files, status = UNCLEAR[what]
    counter = tmp_path / "counter"
    own = {
        name: text.replace("FLAKY1", flaky(counter, 1))
        .replace("FLAKY2", flaky(counter, 2))
        .replace("COUNTER", str(counter))
        for name, text in files.items()
    }
    made = project(tmp_path / "repo", {}, own, WORKS)
    check(made, 4)
    report = made.report()
    assert {failure["side"] for failure in report["failures"]} == {"base"}
    assert status in " ".join(failure["status"] for failure in report["failures"])
    assert told(made) == {}
    assert any("not reliable" in (f["hint"] or "") for f in report["failures"]) == (counter.exists())


def test_a_file_that_only_the_checkout_has_breaks_no_base(tmp_path: Path) -> None:
    """Head shares it: base would build with it too."""
    shares = {"perfgate.toml": CONFIG + BUILD + 'share = ["data"]\n'}
    made = project(tmp_path / "repo", {".gitignore": "data\n", "build.sh": "cat data/words\n"}, shares)
    made.write("data/words", "1\n")
    check(made, 4)
    (failure,) = made.report()["failures"]
    assert failure["side"] == "base" and '"data/words" is ignored by git' in failure["hint"]


@pytest.mark.parametrize(
    ("ancestor", "budgets", "why"),
    [
        ("kill -9 $$\n", ["5m"], "and its ancestor "),
        # on a busy host the short one ends before it comes to the ancestor
        ("sleep 60\n", ["2s", "20s"], "and the budget ended before one of its ancestors worked: raise it"),
    ],
)
def test_a_search_without_an_end_is_an_error(tmp_path: Path, ancestor: str, budgets: list[str], why: str) -> None:
    made = project(tmp_path / "repo", {}, {"build.sh": ancestor}, {"build.sh": FAILS}, WORKS)
    hints = []
    for budget in budgets:
        check(made, 4, "--set", f"plan.budget={budget}")
        hints += [failure["hint"] or "" for failure in made.report()["failures"]]
        if hints and hints[-1].startswith(f"base itself is broken, {why}"):
            return
    pytest.fail(f"no hint begins so: {hints}")


def test_a_server_that_does_not_answer_for_a_while_breaks_nothing(tmp_path: Path) -> None:
    """Both tries of base and of its ancestor fail, and then head builds: that repairs nothing."""
    counter = tmp_path / "counter"
    counter.touch()
    fetch = {"build.sh": f'echo $PERFGATE_SIDE >> {counter}\n[ "$(grep -c base < {counter})" -gt 8 ] || exit 7\n'}
    head = {"build.sh": f"echo $PERFGATE_SIDE >> {counter}\n"}
    made = project(tmp_path / "repo", fetch, {"readme": "2"}, head)
    check(made, 4)
    (failure,) = made.report()["failures"]
    assert failure["hint"] == "base was broken when it was tried first, and works now: it is not reliable"


@pytest.mark.parametrize(("ancestor", "seed"), [(True, 1), (False, 1), (False, 2)])
def test_a_head_that_is_broken_as_well_fails(tmp_path: Path, ancestor: bool, seed: int) -> None:
    states: list[dict[str, str]] = [{}] if ancestor else []
    made = project(tmp_path / "repo", *states, {"build.sh": FAILS}, {"build.sh": "exit 2\n"})
    check(made, 4, "--seed", str(seed))
    failed = {(f["side"], f["status"]) for f in made.report()["failures"]}
    assert failed == {("head", "exit 2")} | ({("base", "exit 1")} if not ancestor else set())
    assert len(made.report()["failures"]) == len(failed)
    assert made.report()["summary"]["kind"] == "failed"


HOSTILE = {
    "its build": {"build.sh": '[ "$PERFGATE_SIDE" = head ] && rm -rf CACHE; [ -e CACHE/lib ]\n'},
    "its benchmark": {"bench.sh": '[ "$PERFGATE_SIDE" = head ] && rm -rf CACHE\n' + FAST},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_head_that_breaks_base_is_never_green(tmp_path: Path, what: str) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "lib").touch()
    needs = {"build.sh": f"[ -e {cache}/lib ]\n"}
    hostile = {name: text.replace("CACHE", str(cache)) for name, text in HOSTILE[what].items()}
    made = project(tmp_path / "repo", needs, {"readme": "2"}, hostile)
    check(made, 4)
    assert told(made) == told(made, "nothing-to-compare") == {}


OVERLAY = CONFIG.replace("sh bench.sh", "sh bench/run.sh") + BUILD + 'overlay = ["bench"]\n'


def test_what_head_lays_over_base_may_repair_it_and_does_not_break_it(tmp_path: Path) -> None:
    base = {"perfgate.toml": OVERLAY, "bench/run.sh": "exit 1\n"}
    made = project(tmp_path / "repaired", base, {"bench/run.sh": SLOW})
    check(made, 0)
    assert made.report()["run"]["base"]["sha"] == made.git("rev-parse", "HEAD~1")
    assert told(made) == {}
    breaks = {"bench/run.sh": '[ "$PERFGATE_SIDE" = head ] || exit 1\n' + FAST}
    made = project(tmp_path / "broken", base | {"bench/run.sh": FAST}, {"readme": "2"}, breaks)
    check(made, 4)
    assert [f["side"] for f in made.report()["failures"]] == ["base"]


def test_benchmarks_that_start_in_base_are_compared_with_it_where_no_ancestor_works(tmp_path: Path) -> None:
    base = {"perfgate.toml": CONFIG + SECOND + BUILD, "second.sh": "exit 5\n"}
    made = project(tmp_path / "repo", base, {"second.sh": FAST, "bench.sh": SLOW})
    said = check(made, 1, *ENOUGH)
    report = made.report()
    assert [f["benchmark"] for f in report["findings"]] == ["bench"] and report["new"] == ["second"]
    assert "does not start second (exit 5): what does not start there is not compared" in said


def suite(first: int, second: int | None) -> dict[str, str]:
    """Print what go test prints of two benchmarks; None: that one fails."""
    times = "goos: linux\ngoarch: amd64\npkg: m\n" + f"BenchmarkFirst-2 \t 100\t {first}.DIGIT ns/op\n" * 3
    failed = "--- FAIL: BenchmarkSecond\n    a_test.go:5: no\nFAIL\nexit status 1\nFAIL\tm\t1s\n"
    passed = f"BenchmarkSecond-2 \t 100\t {second}.DIGIT ns/op\n" * 3 + "PASS\nok  \tm\t1s\n"
    return {"times": times + (failed if second is None else passed), "code": "1" if second is None else "0"}


@pytest.mark.parametrize("ancestor", [True, False])
def test_a_suite_of_which_one_case_fails_hides_no_regression(tmp_path: Path, ancestor: bool) -> None:
    runs = '[[benchmark]]\nname = "suite"\ninstrument = "go"\ncommand = "sed s/DIGIT/$(date +%N | cut -c7)/ times; exit $(cat code)"\n'
    config = {"perfgate.toml": CONFIG[: CONFIG.index("[[benchmark]]")] + runs}
    states = [config | suite(100, 100)] if ancestor else []
    made = project(tmp_path / "repo", *states, config | suite(100, None), suite(200, 100))
    check(made, 1, *ENOUGH)
    report = made.report()
    assert [f["benchmark"] for f in report["findings"] if f["verdict"] == "regression"] == ["suite/BenchmarkFirst"]
    assert bool(report["failures"]) != ancestor and told(made)


def test_a_benchmark_that_the_repair_removes_is_missing(tmp_path: Path) -> None:
    both = CONFIG + SECOND + BUILD
    for number, states in enumerate(([{"second.sh": FAST}], [])):
        made = project(
            tmp_path / str(number), *states, {"perfgate.toml": both, "second.sh": FAST, "build.sh": FAILS}, WORKS
        )
        check(made, 4)
        assert [(f["kind"], f["benchmark"]) for f in made.report()["failures"]] == [("missing", "second")]


def test_a_shallow_clone_says_what_it_lacks(tmp_path: Path) -> None:
    whole = project(tmp_path / "whole", {}, {"build.sh": FAILS}, WORKS)
    made = Project(tmp_path / "repo")
    made.git("remote", "add", "origin", f"file://{whole.top}")
    made.git("fetch", "-q", "--depth=2", "origin", "main")
    made.git("reset", "-q", "--hard", "FETCH_HEAD")
    check(made, 4)
    (failure,) = made.report()["failures"]
    assert "this shallow clone has no ancestor of it to compare head with" in failure["hint"]
    assert "fetch-depth: 0" in failure["hint"]


@pytest.mark.parametrize("ancestor", [True, False])
def test_it_is_resumed_as_it_was_begun(tmp_path: Path, ancestor: bool) -> None:
    states: list[dict[str, str]] = [{}] if ancestor else []
    made = project(tmp_path / "repo", *states, {"build.sh": FAILS}, WORKS)
    check(made, 0)
    file = made.top / ".perfgate/measurements.jsonl"
    whole = file.read_text().splitlines(keepends=True)
    file.write_text("".join(whole[:6]))
    check(made, 0, "--resume")
    again = file.read_text().splitlines(keepends=True)
    assert again[0] == whole[0]
    executed = [sum('"type":"execution"' in line for line in each) for each in (whole, again)]
    assert executed[0] == executed[1]


@pytest.mark.parametrize("ancestor", [True, False])
def test_jobs_that_share_a_gate_choose_alike(tmp_path: Path, ancestor: bool) -> None:
    enough = CONFIG.replace("builds = 2", f"builds = {5 if ancestor else 2}")
    both = {"perfgate.toml": enough + SECOND + BUILD, "second.sh": FAST}
    states = [both] if ancestor else []
    made = project(tmp_path / "repo", *states, {**both, "build.sh": FAILS}, {"build.sh": "exit 0\n", "second.sh": SLOW})
    for part in ("1/2", "2/2"):
        done = made.perfgate("measure", "--base", "HEAD~1", "--shard", part, "--out", f"part{part[0]}", CI="true")
        assert done.returncode == 0, done.stderr
    done = made.perfgate("decide", "part1", "part2", "--json", "report.json")
    report = json.loads((made.top / "report.json").read_text())
    if ancestor:
        assert done.returncode == 1, done.stdout + done.stderr
        assert report["run"]["base"]["sha"] == made.git("rev-parse", "HEAD~2")
        assert {f["benchmark"]: f["verdict"] for f in report["findings"]}["second"] == "regression"
    else:
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("○ Nothing to compare yet: base ")


@pytest.mark.parametrize("ancestor", [True, False])
def test_no_build_of_a_proposal_is_kept_where_it_stands_for_base(tmp_path: Path, ancestor: bool) -> None:
    """Of base's ancestor, which the project has merged, it is."""
    setup = {"perfgate.toml": CONFIG + BUILD + 'setup = "sleep 1.1"\n'}
    states: list[dict[str, str]] = [setup] if ancestor else []
    made = project(tmp_path / "repo", *states, {**setup, "build.sh": FAILS}, {"build.sh": "exit 0\n"})
    cache = tmp_path / "cache"
    plan = (*AS_BY_DEFAULT, "--set", "build.cache=auto")
    assert made.perfgate("check", "--base", "HEAD~1", *plan, CI="true", XDG_CACHE_HOME=str(cache)).returncode == 0
    assert len(list(cache.glob("perfgate/builds/*"))) == (1 if ancestor else 0)
