"""perfgate study in process: the plan, the jobs, what is refused, and how measuring and analysing go together."""

import io
import json
import re
from pathlib import Path

import pytest

from gate.commands.study.options import AnalyseOptions
from tests.gate.typed import run
from tests.support.lines import execution
from tests.support.project import Project, Step, committed

BENCH = """\
import os, sys
with open(sys.argv[-1], "w") as out:
    for i in range(int(os.environ["PERFGATE_ITERATIONS"])):
        out.write(f"{i + int(sys.argv[1])}\\n")
"""
CONFIG = """\
[plan]
iterations = 4
[build]
command = "echo $CFLAGS > flags"
[[benchmark]]
name = "latency"
command = "python3 bench.py {clients} {output}"
instrument = "values"
[[benchmark]]
name = "other"
command = ["python3", "bench.py", "1", "{output}"]
instrument = "values"
"""
STUDY = """\
[study]
benchmarks = ["latency"]
replicates = 3
exclude = [{ clients = 8, opt = "O2" }]
[study.factor]
clients = [1, 8]
load = { idle = {}, busy = { load = { command = "sleep 100" } } }
opt = { O0 = { build_env = { CFLAGS = "-O0" } }, O2 = { build_env = { CFLAGS = "-O2" } } }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with a single commit, so that there is no base, and the working directory in it."""
    step = Step("main", "change", (("perfgate.toml", CONFIG + STUDY), ("bench.py", BENCH)))
    made = committed(tmp_path / "project", step)
    monkeypatch.chdir(made.top)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    for name, value in made.own().items():
        monkeypatch.setenv(name, value)
    return made


PLAN = (Path(__file__).parents[3] / "golden" / "study_plan.txt").read_text(encoding="utf-8")


def test_the_plan_says_what_is_varied_and_how_much_is_measured(project: Project) -> None:
    code, out, err = run("study", "--dry-run", "--seed", "7")
    assert (code, err) == (0, "")
    before, _, commands = re.sub(r"(main|HEAD) [0-9a-f]{10}\b", r"\1 COMMIT", out).partition("\n  set-up and builds\n")
    before, power = re.sub(r"(?m)(^power: .*\n)+\n", "", before), re.findall(r"(?m)^power: (.*)$", before)
    assert before == PLAN
    assert [re.sub(r"[0-9.]+(%| degrees)", r"N\1", line) for line in power] == [
        f"a change by {names} of 2 standard deviations of {sd} shows in N% of such studies, and one of 1 in N% "
        f"(tested against {error}, N degrees of freedom)"
        for names, error, sd in (
            ("clients", "executions", "executions"),
            ("load", "executions", "executions"),
            ("opt", "builds", "the means of builds"),
        )
    ]
    assert "\n    build, 6 times: " in commands
    assert "\n  benchmarks\n    latency, 18 starts (values): " in commands
    # no order, and no seed but the study's
    assert commands.endswith("\n\n`--all` prints the order with its seeds\n")
    assert "execute" not in out
    assert out.count("seed ") == 0
    assert run("study", "plan", "--seed", "7") == (code, out, err)
    assert "18 starts of 2 values" in run("study", "--dry-run", "--set", "plan.iterations=2")[1]
    assert not (project.top / ".perfgate").exists()


def test_all_prints_the_order_by_iterations(project: Project) -> None:
    order = run("study", "plan", "--seed", "7", "--all")[1].partition("\n  order\n")[2]
    assert re.findall("(?m)^  iteration.*", order) == [f"  iteration {i} of 3, round {i} of 3" for i in (1, 2, 3)]
    wanted = {f"clients={c}, load={b}, opt={o}" for c in (1, 8) for b in ("idle", "busy") for o in ("O0", "O2")}
    wanted -= {f"clients=8, load={b}, opt=O2" for b in ("idle", "busy")}
    blocks = order.split("iteration ")[1:]
    for block in blocks:
        assert {*re.findall(r"  execute  latency \((.*)\)", block)} == wanted
        assert sorted(re.findall(r"  build    (\S+)  seed \d+", block)) == ["opt=O0", "opt=O2"]
    orders = {tuple(re.findall(r"execute .*", block)) for block in blocks}
    assert len(orders) == 3  # of 720 orders each; the same only if nothing were random
    every = run("study", "plan", "--seed", "7", "--set", "study.replicates=40", "--all")[1]
    assert every.count("  execute  ") == 240


def test_the_time_is_that_of_the_last_run_by_treatment(project: Project) -> None:
    builds = [
        {"type": "build", "side": "head", "build": 0, "seconds": 1.0, "factors": {"opt": opt}} for opt in ("O0", "O2")
    ]
    treatments = [(1, "idle", "O0"), (1, "idle", "O2"), (1, "busy", "O0"), (1, "busy", "O2"), (8, "idle", "O0")]
    starts = [
        execution("head", [1.0], benchmark="latency", execution=number, seconds=10.0 * clients,
                  factors={"clients": clients, "load": load, "opt": opt})
        for number, (clients, load, opt) in enumerate(treatments)
    ]  # fmt: skip
    project.write(".perfgate/study/measurements.jsonl", "".join(f"{json.dumps(line)}\n" for line in [*builds, *starts]))
    text = run("study", "plan")[1]
    # six builds of a second; each treatment three times, the one that was not measured by the mean of the others:
    # 6 + 3 (4 x 10 + 80 + (4 x 10 + 80) / 5) = 438 s
    assert "expected time: about 7 min 18 s, at most 1 h 00 min (the budget)\n" in text


def warned(*options: str) -> list[str]:
    """The warnings of a plan, each on one line."""
    part = run("study", *options)[1].partition("\nwarnings\n")[2].partition("\n\n")[0]
    return [" ".join(text.split()) for text in part.removeprefix("  - ").split("\n  - ") if text]


IDLE = 'load = { idle = {}, busy = { load = { command = "sleep 100" } } }'
ONE_SESSION = "load = { idle = { session = 0 }, busy = { session = 1 } }"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("replicates = 3", "replicates = 1"), "one replicate: nothing shows the noise"),
        (("replicates = 3", "replicates = 3\nbuilds = 1"), "opt varies by build, and a setting has one build only"),
        (("replicates = 3", "replicates = 5\niterations = 200"), None),
        (
            ("replicates = 3", "replicates = 5\niterations = 199"),
            "995 values of each treatment (5 replicates x 199 values)",
        ),
        ((IDLE, ONE_SESSION), "load varies by session, and a setting has one session only"),
        ((IDLE, ONE_SESSION), "3 of 6 treatments are measured by other jobs"),
        ((IDLE, ONE_SESSION.replace("0 }", "[0, 2] }")), "load varies by session, and a setting has one session only"),
        ((IDLE, ONE_SESSION.replace("0 }", "[0, 2] }").replace("1 }", "[1, 3] }")), "3 of 6 treatments are measured"),
    ],
)
def test_the_plan_warns_of_what_it_cannot_tell(project: Project, changed: tuple[str, str], said: str | None) -> None:
    project.write("perfgate.toml", CONFIG + STUDY.replace(*changed))
    warnings = warned("plan")
    about = [text for text in warnings if "quantiles" not in text]
    assert any(text.startswith(said) for text in about) if said else about == [], warnings


def test_the_plan_of_a_session_counts_the_values_of_all(project: Project) -> None:
    bound = "load = { idle = { session = [0, 2] }, busy = { session = [1, 3] } }"
    project.write("perfgate.toml", CONFIG + STUDY.replace(IDLE, bound))
    # each treatment is measured in two of the four sessions
    (text,) = warned("plan", "--session", "1", "--sessions", "4")
    assert text.startswith("24 values of each treatment (3 replicates x 4 values x 2 sessions) are too few")


def test_where_side_is_no_factor_base_is_not_looked_for(project: Project) -> None:
    assert run("study", "--dry-run")[0] == 0
    code, _, err = run("study", "--dry-run", "--base", "main")
    assert (code, err.count("\n")) == (2, 1)
    assert "this study has no base" in err
    with_sides = (CONFIG + STUDY).replace("[study.factor]", '[study.factor]\nside = ["base", "head"]')
    project.write("perfgate.toml", with_sides)
    project.commit()
    code, out, err = run("study", "--dry-run", "--base", "HEAD~1", "--seed", "7", "--all")
    assert (code, err) == (0, "")
    assert re.match(r"study of base HEAD~1 \w+ and head main \w+: 1 benchmark x 12 treatments x 3 ", out)
    assert "sides: base is HEAD~1 as given; head is the last commit on main\n" in out
    assert re.search(r"execute  latency \(clients=\d, load=\w+, opt=O0\) on base\n", out)


OF_LATENCY = '[[benchmark]]\nname = "latency"\ncommand = "{command}"\ninstrument = {instrument}\n'
DEEP = STUDY + "depth = [1, 2]\n"
BOUND = """\
[study]
replicates = 1
[study.factor]
boot = { first = { session = 0 }, second = { session = 1 } }
machine = { one = { runner = "core1" }, two = { runner = ["self-hosted", "core2"] } }
"""


def of_latency(command: str, study: str, instrument: str = '"values"') -> str:
    return OF_LATENCY.format(command=command, instrument=instrument) + study


@pytest.mark.parametrize(
    ("config", "argv", "said"),
    [
        (CONFIG, "--dry-run", "perfgate.toml: has no [study]: write [study.factor] with a line"),
        (STUDY.replace('benchmarks = ["latency"]\n', ""), "--dry-run", "has no [[benchmark]]"),
        (CONFIG + STUDY.replace("replicates = 3", "replicates = 0"), "--dry-run", "perfgate: head: perfgate.toml:"),
        # a job without treatments
        (
            CONFIG + BOUND,
            "measure",
            "has no treatments to measure; say which job this is: --session 0 to 1 and --runner",
        ),
        (CONFIG + BOUND, "measure --runner core3", "core3: no factor names this runner; they name core1, self-hosted,"),
        (
            CONFIG + BOUND,
            "measure --session 2 --sessions 3 --runner core1",
            "--session 2 --runner core1 has no treatments",
        ),
        (CONFIG + BOUND, "measure --session 2", "--session 2: the last of 2 sessions"),
        # what only a check goes by
        (CONFIG + STUDY, "--dry-run --set plan.budget=5s", "a study has its own budget: use `--set study.budget=5s`"),
        (CONFIG + STUDY, "plan --matrix --set plan.builds={min=4,max=12}", "own builds: use `--set study.builds=...`"),
        (CONFIG + STUDY, "measure --dry-run --set plan.executions=3", "replicates: use `--set study.replicates=3`"),
        # a misspelt factor
        (of_latency("x {clients} {dept}", DEEP), "--dry-run", "{dept} is no factor: did you mean {depth}?"),
    ],
)
def test_what_is_refused_is_one_line_and_exit_2(project: Project, config: str, argv: str, said: str) -> None:
    project.write("perfgate.toml", config)
    code, out, err = run("study", *argv.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err and "--config" not in err


ASKED = STUDY.replace("[study]\n", '[study]\nresponses = ["user", "latency"]\n')
NO_RESPONSE, NO_COMMAND = "study.responses: no benchmark declares latency, only ", "  - depth: no command has {depth}"
BY_ENV, BY_VALUE = "{ low = {}, high = { env = { A = '1' } } }", "{ low = { value = 1 }, high = { value = 2 } }"


@pytest.mark.parametrize(
    ("config", "said", "unsaid"),
    [
        (of_latency("x {clients}", ASKED, '"hyperfine"'), f"{NO_RESPONSE}memory, system, time, user", "declares user"),
        (of_latency("x {clients}", ASKED, '"values"\nmetric = {user = {}}'), f"{NO_RESPONSE}user", "declares user"),
        (of_latency("x {clients}", DEEP), NO_COMMAND, "did you mean"),
        (of_latency("x {clients} {depth}", DEEP), "depth", NO_COMMAND),
        (of_latency("x {clients} $PERFGATE_FACTOR_DEPTH", DEEP), "depth", NO_COMMAND),
        (of_latency("x {clients}", f"{STUDY}depth = {BY_ENV}\n"), "depth", NO_COMMAND),
        (of_latency("x {clients}", f"{STUDY}depth = {BY_VALUE}\n"), NO_COMMAND, "did you mean"),
        # awk's, and what perfgate replaces itself; where the factor is there, what looks like it is something else
        (of_latency("x {clients} {print}", DEEP), "depth", "did you mean"),
        (of_latency("x {clients} {output} {seed}", DEEP), "depth", "did you mean"),
        (of_latency("x {clients} {depth} {dept}", DEEP), "depth", "did you mean"),
    ],
)
def test_the_plan_says_what_no_benchmark_or_command_has(project: Project, config: str, said: str, unsaid: str) -> None:
    project.write("perfgate.toml", config)
    code, out, err = run("study", "--dry-run")
    assert (code, err) == (0, "")
    assert said in out and unsaid not in out


def test_the_matrix_has_a_job_for_each_session_on_each_runner(project: Project) -> None:
    code, out, err = run("study", "plan", "--matrix", "--sessions", "2")
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert json.loads(out)["include"] == [
        {"session": s, "sessions": 2, "runner": None, "label": "", "name": f"session {s} of 2"} for s in (0, 1)
    ]
    project.write("perfgate.toml", CONFIG + BOUND)
    include = json.loads(run("study", "plan", "--matrix")[1])["include"]
    assert [(job["session"], job["runner"]) for job in include] == [
        (0, "core1"), (1, "core1"), (0, ["self-hosted", "core2"]), (1, ["self-hosted", "core2"]),
    ]  # fmt: skip
    for job in include:
        job_options = ("--session", str(job["session"]), "--sessions", str(job["sessions"]), "--runner", job["label"])
        text = run("study", "plan", *job_options)[1]
        assert "\n1 treatment of the 4 of the study\n" in text
        assert f"job: session {job['session']} of 2, runner {job['label']}\n" in text


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--seed", "1", "measure"), "measure must come before --seed"),
        (("analyse", "--quantiles", "0.5,1"), "'1' is not a quantile: write a number between 0 and 1"),
        (("analyse", "--quantiles", "nan"), "'nan' is not a quantile"),
        (("analyse", "--confidence", "0.5"), "'0.5' is not a confidence: write a number between 0.5 and 1"),
        (("analyse", "--without", "fp"), "'fp' is not a combination of settings: write FACTOR=SETTING,FACTOR=SETTING"),
        (("analyse", "--only", "a=1,a=2"), "names a twice"),
        (("analyse", "--settings", "load"), "'load' is not a list of settings: write FACTOR=SETTING,SETTING"),
        (("analyse", "--settings", "load=a,a"), "names a setting twice"),
        (("analyse", "--order", "0"), "'0' is not a whole number"),
        (("plan", "--matrix", "--seed", "3"), "--matrix: cannot be used with --seed"),
        (("--dry-run", "--json", "-"), "--json: cannot be used with --dry-run, whose plan is a text"),
        (("plan", "--json", "-"), "--json is not an option"),
        (("anal",), "'anal' is not one of plan, measure, analyse"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(argv: tuple[str, ...], said: str) -> None:
    code, out, err = run("study", *argv)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.endtoend
def test_study_measures_and_then_analyses_its_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import gate.commands.study.analyse

    calls: list[AnalyseOptions] = []

    def analyse(options: AnalyseOptions, out: io.StringIO, _: io.StringIO) -> int:
        calls.append(options)
        out.write("words\n")
        return 0

    monkeypatch.setattr(gate.commands.study.analyse, "run", analyse)
    project.write("perfgate.toml", CONFIG + STUDY.replace('"sleep 100"', '"sleep 9"'))
    code, out, err = run("study", "--set", "study.replicates=1", "--json", "-", "--quiet")
    assert (code, out, err) == (0, "words\n", "")
    (options,) = calls
    assert (options.files, options.out) == ((".perfgate/study",), Path(".perfgate/study"))
    assert (options.written["json"], options.quiet, options.order) == ("-", True, None)
    # what is refused must be so before anything is measured
    for options_ in (("--json", "-", "--html", "-"), ("--html", ".")):
        assert run("study", *options_)[0] == 2
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("factors", "more", "said"),
    [
        (8, "", "no interactions: a part of each, or all of it, is in main effects of other factors"),
        (8, "foldover = true\n", "main effects are clear of interactions of two factors"),
        # there is no other factor
        (2, "", "no factor or interaction of two is mixed with another"),
    ],
)
def test_a_screening_plan_says_where_interactions_are(project: Project, factors: int, more: str, said: str) -> None:
    lines = "".join(f"x{k} = [0, 1]\n" for k in range(factors))
    config = f'[study]\nbenchmarks = ["other"]\ndesign = "plackett-burman"\n{more}[study.factor]\n{lines}'
    project.write("perfgate.toml", CONFIG + config)
    plan = run("study", "plan")[1]
    assert said in plan
    # one for each factor, however many: the plan stands nowhere else
    assert plan.count("so it changes nothing") == factors and "more are" not in plan


def test_the_plan_of_a_foldover_measures_its_blocks_one_after_the_other(project: Project) -> None:
    lines = "".join(f"x{k} = [0, 1]\n" for k in range(5))
    keys = 'benchmarks = ["other"]\nreplicates = 3\nfraction = "1/4"\nfoldover = true\n'
    project.write("perfgate.toml", f"{CONFIG}[study]\n{keys}[study.factor]\n{lines}")
    plan = run("study", "plan", "--all")[1]
    assert "tested against executions, 30 degrees of freedom" in " ".join(plan.split())  # 48 less 6 blocks and 12 terms
    # a fraction and its mirror: D = AB in one block, D = -AB in the other
    runs = [[int(s) for s in re.findall(r"x\d=(\d)", line)] for line in re.findall("execute.*", plan)]
    assert [(own[0] + own[1] + own[3]) % 2 for own in runs] == ([1] * 8 + [0] * 8) * 3
