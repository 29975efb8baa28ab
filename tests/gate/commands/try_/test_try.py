"""perfgate try, in process on real small projects: what it says, what it refuses, and what it proposes instead."""

import fcntl
import json
import math
import time
from contextlib import chdir
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.cli.command import command_of
from gate.commands.try_ import executions, try_
from gate.commands.try_.executions import each_tried
from gate.model import Build, Failure, Side
from harness.build.builder import TreeBuilder
from harness.host.fitness.checks import Check
from harness.process.budget import BoundedExecutor, Budget, BudgetEndedError
from harness.process.execute import Command, ProcessEnd
from tests.support.project import Project, quick, repository

# Two gates never measure at once on one machine: on one worker they do not wait for each other.
pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("measures")]

CONFIG = """\
[gate]
threshold = "5%"
[plan]
sandbox = "off"
builds = {min = 4, max = 8}
executions = 3
iterations = 20
budget = "1h"
[build]
command = "mkdir -p out && cp bench.sh out/bench.sh"
artifacts = ["out/bench.sh"]
[[benchmark]]
name = "bench"
command = "sh out/bench.sh {output}"
instrument = "values"
"""


def benchmark(name: str, command: str) -> str:
    return f'[[benchmark]]\nname = "{name}"\ncommand = {command}\ninstrument = "spawn"\n'


BROKEN = benchmark("broken", '["sh", "-c", "echo no data.json here >&2; exit 3"]')
MORE = BROKEN + benchmark("absent", '["./nowhere/program"]')


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What is wrong with this host: nothing, unless a test says so; looking at the real one takes seconds."""
    found: list[Check] = []
    monkeypatch.setattr(try_, "examine", lambda: found)
    monkeypatch.setattr("gate.run.strict.problems", lambda waits: [f"{check.name}: {check.value}" for check in found])
    return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A commit without perfgate.toml, which only the working tree has."""
    made = repository(tmp_path / "a project", quick(1.0))
    made.write("perfgate.toml", CONFIG)
    return made


def tried(project: Project, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = project.perfgate("try", "--json", "-", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def said(project: Project, *arguments: str, code: int = 0) -> str:
    done = project.perfgate("try", *arguments)
    assert done.returncode == code, done.stderr
    return " ".join(done.stdout.split())


def test_it_says_what_a_check_would_cost_and_find(project: Project) -> None:
    before = project.git("status", "--porcelain")
    done = project.perfgate("try")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert text.startswith("main ")
    for words in (
        "with uncommitted changes: the benchmark gave values build of out/bench.sh: ",
        "later builds are full ones",
        "a round takes about ",
        "1 h 00 min, as configured 4 to 8 x 3 x 20 ",
        "which one build does not show: a check may find only larger changes.",
    ):
        assert words in text
    assert text.endswith("host: fit to measure on next: perfgate check, once the code has changed")
    assert done.stderr.splitlines() == [
        "perfgate: building head: mkdir -p out && cp bench.sh out/bench.sh",
        "perfgate: trying bench (1 of 1), 3 min at most",
    ]
    assert project.git("status", "--porcelain") == before
    project.write("perfgate.toml", "[gate]\n")
    done = project.perfgate("try")
    assert (done.returncode, "has no [[benchmark]]" in done.stderr) == (2, True)


@pytest.mark.parametrize(("bounds", "builds"), [((0.0, 1e9), [0, 1]), ((1e9, 1e9), [0])])
def test_a_full_build_is_made_twice_since_the_first_may_fill_a_cache(
    project: Project, monkeypatch: pytest.MonkeyPatch, bounds: tuple[float, float], builds: list[int]
) -> None:
    made: list[int] = []
    build = TreeBuilder.build

    def recorded(self: TreeBuilder, side: Side, number: int, seed: int) -> Build | Failure:
        made.append(number)
        found = build(self, side, number, seed)
        return msgspec.structs.replace(found, seconds=7.0) if number and isinstance(found, Build) else found

    monkeypatch.setattr(TreeBuilder, "build", recorded)
    monkeypatch.setattr(try_, "_TWICE", bounds)
    found = tried(project)
    assert made == builds
    assert (found["cost"]["builds"] == 14.0) == (len(builds) > 1)


def test_as_json(project: Project) -> None:
    found = tried(project)
    assert (found["schema"], found["exit_code"]) == (1, 0)
    (case,) = found["benchmarks"][0]["cases"]
    # four more executions tell how these differ, which the values of one do not
    assert [case[key] for key in ("metric", "unit", "values", "executions")] == ["time", "s", 25, 5]
    # the program draws its values with a spread of 1%
    assert 0.0005 < case["spread"] < 0.05 and case["start"] is not None
    assert case["mean"] == pytest.approx(1.0, rel=0.05)
    assert found["built"]["command"] == "mkdir -p out && cp bench.sh out/bench.sh"
    assert found["cost"]["builds"] == pytest.approx(2 * found["built"]["later"])
    fit = found["plans"]["fit"]
    assert (found["plans"]["basis"], fit["builds"]) == ("one-build", 8)
    # never below the threshold
    assert 0.05 < fit["finds"] < 0.15


def test_a_benchmark_that_gives_nothing_is_named_with_its_reason_and_the_others_are_tried(project: Project) -> None:
    project.write("perfgate.toml", CONFIG + MORE)
    text = said(project, code=4)
    assert "2 of 3 benchmarks gave no values: broken and absent" in text
    assert "broken failed on head: exit 3 no data.json here" in text
    assert 'absent failed on head: cannot start: there is no program "./nowhere/program"' in text
    # its own case is shown
    assert "case value spread values bench " in text and "plans" not in text
    assert text.endswith("next: fix that, and run `perfgate try` again; a check would end with an error too")
    only = project.perfgate("try", "--benchmark", "bench", "--quiet")
    assert (only.returncode, only.stdout, only.stderr) == (0, "the benchmark gave values\n", "")
    # a check spends no round on what a trial refuses: one build of each, and one execution of each
    project.write("perfgate.toml", CONFIG.split("[[benchmark]]", maxsplit=1)[0] + MORE)
    assert tried(project, code=4)["plans"] is None
    assert project.perfgate("check", "--base", "HEAD").returncode == 4
    measured = (project.top / ".perfgate/measurements.jsonl").read_text().splitlines()
    kinds = [json.loads(line)["type"] for line in measured]
    assert (kinds.count("build"), kinds.count("execution"), kinds.count("failure")) == (2, 0, 2)


def test_a_command_that_fails_without_a_word_on_standard_error_is_asked_again(project: Project) -> None:
    project.write(
        "perfgate.toml", CONFIG.split("[[benchmark]]")[0] + benchmark("t", '["sh", "-c", "echo 1 failed; exit 1"]')
    )
    assert "t failed on head: exit 1 1 failed command: " in said(project, code=4)


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for `sleep`: what is left of a share passes at once, and another program is run."""
    passed = [0.0]
    run = BoundedExecutor.run

    def skipping(self: BoundedExecutor, command: Command, *more: Any) -> ProcessEnd:
        if "sleep" not in (command.argv if command.launch is None else command.launch.sides[0].argv):
            return run(self, command, *more)
        passed[0] += self._budget.left
        raise BudgetEndedError

    monkeypatch.setattr(BoundedExecutor, "run", skipping)
    monkeypatch.setattr(executions, "Budget", partial(Budget, clock=lambda: time.monotonic() + passed[0]))


@pytest.mark.usefixtures("asleep")
def test_longer_than_its_share_is_an_answer(project: Project) -> None:
    project.write("perfgate.toml", CONFIG + benchmark("slow", '["sleep", "30"]'))
    found = tried(project)
    bench, slow = found["benchmarks"]
    assert (bool(bench["cases"]), slow["cases"], slow["failures"]) == (True, [], [])
    # half of what one such start may take that the budget still holds; 20 starts
    assert (slow["longer_than"], slow["execution"]) == (90, pytest.approx(20 * 90))
    assert (found["cost"]["least"], found["plans"]) == (True, None)
    text = said(project, "--benchmark", "slow", "--set", "plan.budget=2m")
    assert "1 of 1 benchmark took too long to try: slow" in text
    assert "slow: longer than 1 min a start; one of the plan takes at least 20 min." in text
    assert "a round takes at least 2 h 00 min" in text
    assert "The first does not fit the budget of 2 min" in text


@pytest.mark.usefixtures("asleep")
def test_whoever_writes_the_file_waits_no_longer_than_is_of_use_and_adds_the_first_builds_to_the_budget(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = TreeBuilder.build

    def long(self: TreeBuilder, side: Side, number: int, seed: int) -> Build | Failure:
        return msgspec.structs.replace(build(self, side, number, seed), seconds=5.0 if number else 100.0)

    monkeypatch.setattr(TreeBuilder, "build", long)
    project.write("perfgate.toml", CONFIG.replace("1h", "4m") + benchmark("slow", '["sleep", "30"]'))
    told: list[dict[str, Any]] = []
    for names, advises in ((("slow",), False), (("bench",), False), (("bench",), True)):
        given = command_of("try").options()
        rules = replace(given.rules, benchmarks=names)
        with chdir(project.top):
            try_.run(
                replace(given, json="trial.json", advises=advises, patience=12.0, rules=rules), StringIO(), StringIO()
            )
        told.append(json.loads((project.top / "trial.json").read_text()))
    slow, bench, plain = told
    assert slow["benchmarks"][0]["longer_than"] == 12
    # both sides' of 100 s where later ones take 5
    assert bench["cost"]["once"] == pytest.approx(190, abs=5)
    assert (bench["plans"]["fit"]["budget"], plain["plans"]["fit"]["budget"]) == (420, 240)
    assert bench["plans"]["fit"]["builds"] > plain["plans"]["fit"]["builds"]


def test_a_suite_that_takes_longer_than_is_of_use_is_not_started_again(project: Project) -> None:
    suite = benchmark("suite", '["echo", "test m::a ... bench: 12 ns/iter (+/- 3)"]')
    project.write("perfgate.toml", suite.replace('"spawn"', '"values"\nformat = "libtest"'))
    found = []
    for patience in (math.inf, 0.0):
        given = replace(command_of("try").options(), json="trial.json", patience=patience)
        with chdir(project.top):
            try_.run(given, StringIO(), StringIO())
        found += json.loads((project.top / "trial.json").read_text())["benchmarks"]
    # so it tells no spread, and it may take as long with any number of values
    assert [each["hurried"] for each in found] == [False, True]
    assert [each["cases"][0]["values"] for each in found] == [5, 1]
    assert found[1]["iteration"] == 0.0


def test_of_what_prints_its_times_a_trial_sees_those_that_come_in_time(project: Project) -> None:
    lines = "".join(f"echo {name}: 5 ms; " for name in "abc")
    own = benchmark("long", json.dumps(["sh", "-c", f"{lines} sleep 60; echo d: 5 ms"])).replace(
        '"spawn"', '"values"\nformat = "printed"'
    )
    project.write("perfgate.toml", CONFIG.split("[[benchmark]]")[0].replace("1h", "20s") + own)
    (found,) = tried(project)["benchmarks"]
    assert [case["metric"] for case in found["cases"]] == ["a", "b", "c"]
    # of six starts a side, which take half of the budget
    assert (found["longer_than"], found["failures"]) == (pytest.approx(10 / 12), [])


def test_what_takes_too_long_says_what_it_would_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_, "each_tried", partial(each_tried, seconds=2.0))
    service = 'service = { command = "sleep 30", ready = "tcp:{port}" }\n'
    project.write("perfgate.toml", CONFIG + service)
    # not 20 times that: a service starts once an execution
    late = "bench: its service is not ready after 2.0 s a start; one of the plan takes at least 2.0 s"
    assert late in said(project)
    # as a compiled benchmark of Criterion answers
    script = 'case "$*" in *--list*) echo "g/one: benchmark"; echo "two words: benchmark"; exit;; esac\nsleep 30\n'
    project.write("suite.sh", script)
    project.write("perfgate.toml", benchmark("suite", '["sh", "suite.sh"]').replace("spawn", "criterion"))
    (found,) = tried(project)["benchmarks"]
    assert (found["cases"], found["names"]) == ([], ["g/one", "two words"])
    # as Rust's own benches do, which print case by case, too
    line = "test m::a ... bench: 12 ns/iter (+/- 3)"
    project.write("suite.sh", f"{script[:-9]}echo '{line}'; printf 'test m::b ... '; sleep 30\n")
    project.write(
        "perfgate.toml", benchmark("suite", '["sh", "suite.sh"]').replace('"spawn"', '"values"\nformat = "libtest"')
    )
    (found,) = tried(project)["benchmarks"]
    assert ([each["metric"] for each in found["cases"]], found["names"]) == (["m::a"], ["g/one", "two words"])


def test_of_pyperf_a_trial_sees_the_cases_that_ended_in_time(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_, "each_tried", partial(each_tried, seconds=2.0))
    case: dict[str, Any] = {
        "metadata": {"unit": "second"},
        "runs": [{"values": [0.5], "metadata": {"date": "2026-01-02 03:04:05"}}],
    }
    cases = [case | {"metadata": case["metadata"] | {"name": name}} for name in ("a", "b c")]
    told = json.dumps({"version": "1.0", "metadata": {}, "benchmarks": cases})
    script = f"for each; do case $each in --output=*) echo '{told}' >${{each#*=}};; esac; done\nsleep 30\n"
    project.write("suite.sh", script)
    project.write("perfgate.toml", benchmark("suite", '["sh", "suite.sh"]').replace("spawn", "pyperf"))
    (found,) = tried(project)["benchmarks"]
    assert [each["benchmark"] for each in found["cases"]] == ["suite/a", "suite/b c"]
    # it is the limit that was left for it
    assert (found["longer_than"], found["failures"]) == (pytest.approx(2.0, abs=0.1), [])
    # it is ended in the middle of a file
    project.write("suite.sh", script.replace(told, told[:-9]))
    (found,) = tried(project)["benchmarks"]
    assert (found["cases"], found["failures"]) == ([], [])


def test_a_build_that_fails_ends_it(project: Project) -> None:
    project.write("perfgate.toml", CONFIG.replace("cp bench.sh", "cp data/bench.sh"))
    project.write(".gitignore", "data/\n")
    project.write("data/bench.sh", "echo 1\n")
    text = said(project, code=4)
    assert "head cannot be measured: head does not build: exit 1" in text
    # what is ignored is absent from a fresh checkout: the hint that a check gives
    assert "data/bench.sh" in text and "share" in text and "100.0 ms" not in text


def test_on_an_unfit_host(project: Project, host: list[Check]) -> None:
    host.append(Check("load", "bad", "9.8 on 2 processors", "why"))
    unfit = "host: unfit for wall time, load: 9.8 on 2 processors (`perfgate doctor` shows more)"
    assert unfit in said(project)
    # by active time such a host would do
    done = project.perfgate("try", "--strict", "--set", "plan.metrics=['time']")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("perfgate: this host is unfit to measure on: load: 9.8 on 2 processors; ")


def test_another_perfgate_is_waited_for_and_then_named(project: Project) -> None:
    lock = project.top.parent / "lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = project.perfgate("try", "--set", "plan.budget=1s")
    assert (done.returncode, done.stdout) == (4, "")
    last = done.stderr.splitlines()[-1]
    by = f"perfgate: the machine was not free: {lock} was still held after 1.0 s by a process that did "
    assert last.startswith(by)
    assert "run it again when that process has ended, or wait longer with `--wait 1h`" in last
