"""Every next step is true: it is followed to the letter, and the report is another one, as it promised."""

import datetime
import io
import math
import re
import shlex
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from gate.cli.main import main
from gate.decide.next_steps import next_step
from gate.model import FindingMemory, Memory, RelativeVariance, Remembered, Report, RulesSource, outcomes, reasons
from gate.report.parts import entry
from gate.words import findings, reports
from gate.writing.sentences import Options
from tests.support.following import Decided, Measured, Place, drawn, go, hyperfine, noisy, normal
from tests.support.lines import text
from tests.support.warned import kind

GATE, PLAN = '[gate]\nthreshold = "3%"\n', "[plan]\nbuilds = 6\nexecutions = 1\niterations = 3\n"
BENCH = """\
[[override]]
better = "lower"
[[benchmark]]
name = "bench"
command = "x"
instrument = "values"
[benchmark.metric.n]
"""
BOOTSTRAP, PAIRED = (f'[gate]\ninterval = "{name}"\n' for name in ("bootstrap", "paired"))
SLOWER = noisy(1.2)
OPEN = 6
"""A seed with which what is slower is not shown to be."""
Subject = Measured | Decided
Value = Callable[[Place], float]


def measured(value: Value = SLOWER, *, metric: str = "", gate: str = GATE, plan: str = PLAN, **more: Any) -> Measured:
    """A project. metric: of its table. more: settings as plan__builds=5, and what tests.support.following has."""
    names = [name for name in more if "__" in name]
    options = tuple(word for name in names for word in ("--set", f"{name.replace('__', '.')}={more.pop(name)}"))
    return Measured(gate + plan + BENCH + metric, value, options=options, **more)


def decided(base: list[str], head: list[str], toml: str = "", suffix: str = ".txt") -> Decided:
    """Result files of two sides."""
    every = {"base": base, "head": head}
    files = {f"{side}{n}{suffix}": text for side, texts in every.items() for n, text in enumerate(texts)}
    return Decided(files, tuple(f"{name[:4]}={name}" for name in files), toml)


def files(count: int, change: float = 1.0, name: str = "BenchmarkA", also: str = "") -> list[str]:
    """Outputs of `go test`, which differ by 1%."""
    return [go([change * (5 + 0.05 * normal(n, 9))], name=name) + also for n in range(count)]


# --- what a step promises ---------------------------------------------------------------------------------------------

Promise = Callable[[Report, Report], bool]


def open_reasons(report: Report) -> set[str]:
    """The kinds of what leaves findings open; of one of several machines, what it is there."""
    found = [f.reason for f in report.findings if f.verdict == "inconclusive"]
    return {kind(each.why if isinstance(each, reasons.OnMachine) else each) for each in found}


def enough(before: Report, after: Report) -> bool:
    """What stood in the way does so no more; noise may."""
    return bool(after.findings) and after.verdict != "error" and not open_reasons(before) & open_reasons(after)


def regressed(_: Report, after: Report) -> bool:
    return after.verdict == "regression"


def passes(_: Report, after: Report) -> bool:
    return after.verdict == "pass"


def not_failed(_: Report, after: Report) -> bool:
    return after.verdict not in ("error", "regression")


def narrower(before: Report, after: Report) -> bool:
    (was,), (now,) = before.findings, after.findings
    assert was.ratio.low and was.ratio.high and now.ratio.low and now.ratio.high
    return now.ratio.high / now.ratio.low < was.ratio.high / was.ratio.low


class Case(NamedTuple):
    """A situation, and what came of it once the step was followed."""

    step: str
    subject: Subject
    promise: Promise
    deed: Callable[[Any], Subject] | None = None
    """What the words say, where there is nothing to type, or what it names is the reader's."""
    way: int = 0
    """Which of those that the step gives."""


def one_build_alone(line: dict[str, Any]) -> bool:
    """Whether a round has the other side only."""
    return bool(line["type"] == "execution" and (line["side"] == "base") == (line["build"] < 2))


def calibrated() -> dict[str, Any]:
    """What is remembered of a quiet host, as the run line keeps it."""
    session = Remembered(
        session="calibration", created="2026-11-20T08:00:00Z", rounds=41, executions=1, iterations=3, iteration=None,
        execution=None, build=RelativeVariance(value=1e-4, df=80), contrast=RelativeVariance(value=2e-4, df=40),
    )  # fmt: skip
    of = FindingMemory(benchmark="bench", metric="n", factors={}, statistic="mean", sessions=[session])
    return {
        "created": "2026-11-20T09:00:00Z",
        "memory": msgspec.to_builtins(Memory(findings=[of], contrast_nu=None, build_nu=None, unused=[])),
    }


def of_side(base: float, head: float, noise: float = 0.0) -> Value:
    return lambda place: (base if place[0] == "base" else head) * (1 + noise * drawn(place))


def with_text(subject: Subject, text: str) -> Subject:
    return replace(subject, toml=subject.toml + text)


def accepted(subject: Subject) -> Subject:
    """Paste the entry that a comment on the pull request has."""
    (found,) = subject.check(Path()).findings
    written = entry(found, datetime.date(2099, 12, 31), alone=True).replace("...", "a new checksum")
    return with_text(subject, f"{written}\n")


TWO_MACHINES: dict[str, Any] = {"plan__sessions": 2, "plan__builds": 4, "gate__sessions": "fixed"}
TWO_PLANNED = f"{PLAN}sessions = 2\n"
OF_COMMAND = (GATE + PLAN + BENCH).replace("values", "spawn").partition("[benchmark.m")[0]
OF_MEMORY = GATE + PLAN + BENCH.replace("values", "spawn").replace(".n]", ".memory]")
BUSY = replace(measured(noisy(build=0.2)), toml=OF_COMMAND, metric="time", unit="s")
NOISY = noisy(1.1, build=0.04, seed=OPEN)
REMEMBERED: dict[str, Any] = {"value": noisy(1.5, build=0.01), "build__layouts": "independent", "run": calibrated()}
P90 = 'statistics = ["p90"]\n'
RATES = decided([go([5], "w/op")] * 6, [go([6], "w/op")] * 6)
TWICE = [go([5.1 + n / 7, 5.2 + n / 7]) for n in range(6)]
BOTH_THERE, LACKING = files(6, also=go([1], name="BenchmarkB")), {"base": ["bench", 'a "b"'], "head": ["bench"]}
ENOUGH = decided(files(5), files(5, 1.2))


def at_0(place: Place) -> float:
    """A machine whose first build has a value of 0."""
    return 0.0 if place[1:3] == (0, 1) else noisy()(place)


REGRESSING: dict[str, dict[str, Subject]] = {
    "allow-more-builds": {
        "a plan of four builds whose budget ended": measured(plan__builds=4, plan__budget="3m"),
        "a budget of three builds": measured(plan__budget="3m"),
        "the same without times": measured(plan__budget="3m", timed=False),
        "an interrupted run": measured(plan__builds=8, stop="interrupted", lost=lambda line: line.get("build", 0) > 2),
        "one build of each": measured(plan__builds=1),
        "no round of both sides": measured(gate=PAIRED, plan__builds=4, lost=one_build_alone),
        "a bootstrap of six builds": measured(gate=BOOTSTRAP),
        "two rounds on each of two machines": measured(**{**TWO_MACHINES, "plan__builds": 2}),
    },
    "raise-budget": {"a budget that ended in a build": measured(round=200.0, plan__budget="3m")},
    "more-builds": {
        "two builds of a remembered host": measured(plan__builds=2, **REMEMBERED),
        "memory alone": measured(plan__builds=1, **REMEMBERED),
        "three builds": measured(plan__builds=3),
        "near the floor": measured(noisy(1.2, build=0.06), metric="floor = 0.1\n"),
        "a slowdown among others": measured(noisy(1.08, build=0.02, seed=OPEN), others=3, round=20.0),
        "noise": measured(NOISY),
        "noise, to be shown not worse": measured(NOISY, gate=f'{GATE}detectable = "threshold"\n'),
    },
    "more-values": {
        "few values for a quantile": measured(metric=P90),
        "few of many executions": measured(metric='statistics = ["p99"]\n', plan__executions=150, plan__iterations=1),
        "few values on a machine": measured(metric=P90, **TWO_MACHINES),
    },
    "other-statistic": {
        "a quantile of 0": measured(
            lambda place: max(0.0, place[4] - 1) * noisy(1.5)(place), metric='statistics = ["p50"]\n'
        ),
    },
    "declare-exact": {
        "values that do not spread": measured(of_side(5, 6)),
        "of a program's memory": replace(measured(of_side(5, 6)), toml=OF_MEMORY, metric="memory", unit="B"),
        "of result files": decided([go([5])] * 6, [go([6])] * 6),
        "on a machine": measured(lambda place: of_side(5, 6, 0.01 * place[1])(place), **TWO_MACHINES),
    },
    "declare-zero": {
        "base is 0, and head does not spread": measured(of_side(0, 3)),
        "base is 0, and head spreads": measured(of_side(0, 3, 0.1)),
    },
    "lower-floor": {
        "a change below the floor": measured(metric="floor = 5\n"),
        "a change near the floor": measured(noisy(1.2, build=0.02), metric="floor = 0.19\n"),
        "a change below the gate's floor": measured(gate=f"{GATE}floor = 5\n"),
        "a change below an override's floor": measured(gate='[[override]]\nmetric = "*"\nfloor = 5\n'),
        "from 0, below the floor": measured(of_side(0, 3, 0.1), metric="floor = 5\n"),
        "a count from 0, below the floor": measured(of_side(0, 3), metric="floor = 5\nexact = true\n"),
        "result files below the floor": decided(files(6), files(6, 1.2), '[gate]\nfloor = "1us"\n'),
    },
    "decide-on": {
        "rules that name another metric": measured(plan__metrics='["time"]'),
        "a metric that nothing declares": replace(measured(), toml=OF_COMMAND, metric="user"),
    },
    "give-direction": {"no direction": RATES},
    "more-machines": {
        "a change that differs from machine to machine": measured(noisy(1.3, session=0.1, seed=OPEN), plan=TWO_PLANNED),
    },
}
"""By what is advised: situations in which who follows it sees the regression."""
CASES = {
    **{name: Case(step, of, regressed) for step, own in REGRESSING.items() for name, of in own.items()},
    "only these machines matter": Case(
        "more-machines", measured(noisy(1.3, session=0.1, seed=OPEN), plan=TWO_PLANNED), regressed, way=1
    ),
    "a bootstrap that is too wide": Case(
        "measure-more", measured(noisy(1.02, build=0.05, seed=OPEN), gate=BOOTSTRAP, plan__builds=10), narrower
    ),
    "both sides are 0": Case("declare-zero", measured(of_side(0, 0)), passes),
    "wall time of a busy host": Case(
        "reduce-noise", replace(BUSY, beside={"user": noisy(1.2)}), regressed,
        lambda of: of.follow(Options(("--set", 'plan.metrics=["user"]'))),
    ),
    "no direction, and higher is better": Case("give-direction", RATES, passes, way=1),
    "negative values": Case(
        "check-values", measured(lambda place: -noisy(1.2)(place)), regressed, lambda of: replace(of, value=noisy(1.2))
    ),
    "base and head apart": Case("measure-together", measured(apart=True), regressed, lambda of: replace(of, apart=False)),
    "a value of 0 on a machine": Case("ask-of-all-machines", measured(at_0, **TWO_MACHINES), passes),
    # --- what is missing
    "a benchmark that head lacks": Case("restore-benchmark", measured(noisy(), run={"benchmarks": LACKING}), passes),
    "a benchmark that head's files lack": Case("import-others", decided(BOTH_THERE, files(6)), passes),
    "the same, named": Case(
        "import-others", decided(BOTH_THERE, files(6)), passes, lambda _: decided(files(6), files(6, 1.001))
    ),
    "the same run twice": Case(
        "import-others", decided(TWICE, TWICE), not_failed, lambda _: decided(files(2), files(2, 1.1))
    ),
    "files of one build of each": Case("import-more", decided(files(1), files(1, 1.2)), regressed, lambda _: ENOUGH),
    "files of two builds of each": Case("import-more", decided(files(2), files(2, 1.2)), regressed, lambda _: ENOUGH),
    "commands of other names": Case(
        "name-alike", decided([hyperfine([1, 1.1], "old")], [hyperfine([1, 1.2], "new")], suffix=".json"), not_failed,
        lambda _: decided([hyperfine([1, 1.1], "NAME")], [hyperfine([1, 1.2], "NAME")], suffix=".json"),
    ),
    "benchmarks of other names": Case(
        "name-alike", decided(files(5), files(5, 1.2, "BenchmarkB")), regressed, lambda _: ENOUGH
    ),
    "one side": Case(
        "name-sides", Decided({"a.txt": go([1, 2, 3])}, ("base=a.txt",)), not_failed,
        lambda of: replace(of, files={**of.files, "b.txt": go([1, 2, 4])}, argv=("base=a.txt", "head=b.txt")),
    ),
    # --- a regression
    "a regression": Case("fix-regression", measured(), passes, accepted),
    "a regression from 0": Case("fix-regression", measured(of_side(0, 3), metric="exact = true\n"), not_failed),
    "a regression from 0 of what spreads": Case(
        "fix-regression", measured(of_side(0, 3, 0.1), metric="floor = 1\n"), not_failed
    ),
}  # fmt: skip

NOT_FOLLOWED = {
    "run-later": "tests/e2e/test_ways.py: a machine that another program holds",
    "keep-trees": "tests/e2e/test_trees.py: a build that changes what git tracks",
    "fix-output": "tests/e2e/test_ways.py: sides of other output",
    "measure-first": "tests/e2e/test_ways.py: the command by itself",
    "fix-failure": "what failed is the reader's program",
    "measure-all": "what writes where another one reads is the project's",
    "build-inside": "where a build writes is its own",
    "repeat-job": "a job of a workflow",
    "find-creep": "a search over the commits of weeks: tests/gate/commands/bisect",
    "wait-for-nights": "nothing is to be done",
    "nothing-to-do": "nothing is to be done",
}
"""Why no project here follows them."""


def followed(case: Case, folder: Path) -> tuple[Report, outcomes.Step, Report]:
    """Check, do what the next step says, and check again."""
    before = case.subject.check(folder)
    step = next_step(before)
    assert step is not None, before.verdict
    if case.deed is not None:
        return before, step, case.deed(case.subject).check(folder)
    return before, step, case.subject.follow(step.ways[case.way]).check(folder)


@pytest.mark.parametrize("name", CASES)
def test_who_follows_it_finds_what_it_promised(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    before, step, after = followed(case, tmp_path)
    said = reports.next_step(before)
    assert step.kind == case.step, said
    assert case.promise(before, after), f"{said}: {after.verdict} {open_reasons(after)}"
    # what is typed stands in the sentence as it is; of two directions the second only as its key
    typed = step.ways[case.way : case.way + 1]
    again = before.run.again or []
    written = [str(way.behind(again) if isinstance(way, Options) and again else way) for way in typed]
    assert all(each in said for each in written) or (case.step == "give-direction" and case.way == 1)


NOT_OPEN = {
    "zero-base-exceeds", "exceeds", "exact-exceeds", "beyond-limit", "crept", "accepted-by-entry",
    "accepted-by-label", "within", "real-within", "same-count", "exact-within", "no-sign",
    "same-program",
}  # fmt: skip
"""Reasons of a verdict that was reached."""
NO_STEP_OF_ITS_OWN = {
    "not-worse": "may not be a regression: nothing to do",
    "better-uncorrected": "may not be a regression: nothing to do",
    "unconfirmed": "the next nights tell: nothing to do",
    "unbounded": "a quieter host: no number of builds helps",
    "on-machine": "what stands in the way there",
}


@cache
def situations() -> Mapping[str, set[str]]:
    """What leaves findings open in each of the cases that need no files."""
    return {name: open_reasons(c.subject.check(Path())) for name, c in CASES.items() if isinstance(c.subject, Measured)}


def test_every_kind_of_step_is_followed_or_says_why_not() -> None:
    assert {case.step for case in CASES.values()} | set(NOT_FOLLOWED) == outcomes.KINDS
    assert not {case.step for case in CASES.values()} & set(NOT_FOLLOWED)


def test_every_reason_that_leaves_a_finding_open_has_a_step_that_is_followed() -> None:
    kinds = [*typing.get_args(reasons.Reason), reasons.FewRoundsThere]
    every = {*(str(each.__struct_config__.tag) for each in kinds), *reasons.WITHOUT_NUMBERS} - {"because"}
    told = NOT_OPEN | set(NO_STEP_OF_ITS_OWN)
    seen = set().union(*situations().values())
    assert every - told == seen & (every - told)
    assert told <= every


@pytest.mark.parametrize("build", [0.1, 0.3])
def test_where_nothing_helps_no_number_is_named(build: float) -> None:
    wild = measured(lambda place: math.exp(10 * build * normal(place[0] == "head", *place[1:3])))
    step = next_step(wild.check(Path()))
    assert step == outcomes.measure_more(hopeless=True)


@pytest.mark.parametrize(
    ("noise", "more"),
    [({"build": 0.04}, {}), ({"session": 0.1}, {"plan": TWO_PLANNED})],
    ids=["builds", "machines"],
)
def test_a_number_is_enough_more_often_than_not(noise: dict[str, float], more: dict[str, Any]) -> None:
    done: list[bool] = []
    for seed in range(24):
        asked = measured(noisy(1.1, **noise, seed=seed), **more)
        before = asked.check(Path())
        step = next_step(before)
        if step is not None and step.kind in ("more-builds", "more-machines") and step.ways:
            done.append(not open_reasons(asked.follow(step.ways[0]).check(Path())))
    assert len(done) > 5
    assert sum(done) > 0.6 * len(done)


def decided_over(subject: Measured, folder: Path, typed: Sequence[str] = ("check",)) -> str:
    """Measure into a folder as a command line that was typed would; return what `decide` of it says is to be done."""
    written = subject.lines()
    written[0] |= {"typed": [*typed], "turns": True}
    (folder / "measurements.jsonl").write_text(text(written))
    return decide_again(["decide", str(folder)])


def decide_again(words: Sequence[str]) -> str:
    out = io.StringIO()
    main([*words], out, out)
    # from the terminal: report.json does not hold the command that decided
    found = re.search(r"^next {6}(.*?)\n\n", out.getvalue(), re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found else ""


STEADY = noisy(build=0.002)
WALL = replace(measured(noisy(build=0.1)), toml=OF_COMMAND, metric="time", unit="s", beside={"user": STEADY})


def test_the_command_that_decides_by_another_metric_does_so_when_it_is_pasted(tmp_path: Path) -> None:
    # what mostly waits is not decided by its own work
    assert "user" not in decided_over(replace(WALL, beside={"user": lambda place: 0.1 * STEADY(place)}), tmp_path)
    said = decided_over(WALL, tmp_path)
    (command,) = re.findall(r": `perfgate (.*)`$", said)
    assert shlex.split(command) == ["decide", str(tmp_path), "--set", 'plan.metrics=["user"]']
    assert not decide_again(shlex.split(command))
    # of which [plan] does not say what decides
    own = replace(WALL, toml=OF_COMMAND + 'metrics = ["time"]\n')
    said = decided_over(own, tmp_path)
    assert said.endswith('write `metrics = ["user"]` in the `[[benchmark]]` of bench')
    assert decide_again(["decide", str(tmp_path), "--set", 'plan.metrics=["user"]']) == said
    file = tmp_path / "perfgate.toml"
    file.write_text(own.toml.replace('["time"]', '["user"]'))
    assert not decide_again(["decide", str(tmp_path), "--config", str(file)])


@pytest.mark.parametrize(("starts", "wanted"), [(125, (1000, None)), (126, (None, 8)), (2, (1000, None))])
def test_values_come_of_starts_up_to_a_thousand(starts: int, wanted: tuple[int | None, int | None]) -> None:
    before = measured(metric='statistics = ["p99"]\n', plan__executions=starts, plan__iterations=1).check(Path())
    step = next_step(before)
    assert step is not None and step.kind == "more-values"
    assert (step.details["executions"], step.details["iterations"]) == wanted


@pytest.mark.parametrize(("builds", "more"), [("{min = 4}", False), ("{min = 4, max = 5}", True), (5, True)])
def test_a_budget_too_small_becomes_one_for_the_builds_named(builds: str | int, more: bool) -> None:
    before = measured(noisy(build=0.04), plan__builds=builds, plan__budget="1m", round=18.0).check(Path())
    (found,), step = before.findings, next_step(before)
    assert step is not None and step.kind == "allow-more-builds" and found.more_builds is not None
    assert step.details["needed"] == found.base.counts.build + found.more_builds > 5
    assert step.details["budget"] > 18.0 * step.details["needed"]
    # a plan of fewer would not measure them, whatever the budget
    assert step.details["builds"] == (step.details["needed"] if more else None)


def test_two_given_programs_have_rounds(tmp_path: Path) -> None:
    before = measured(plan__budget="3m")
    of_two = replace(before, toml=before.toml.replace('command = "x"', 'command = "x"\nagainst = "y"'))
    for subject, noun, other in ((before, "build", "round"), (of_two, "round", "build")):
        report = subject.check(tmp_path)
        (found,) = report.findings
        said = (report.summary.sentence(), findings.reason(found), findings.basis(found))
        assert all(noun in each and other not in each for each in said), said


@pytest.mark.parametrize(
    ("typed", "more"),
    [
        (["check"], "check {}"),
        (["check", "--set", "plan.builds=6", "--set", "plan.iterations=3"], "check --set plan.iterations=3 {}"),
        (["check", "--set", "plan.builds=6", "--json", "out.json", "--", "./x"], "check --json out.json {} -- ./x"),
        (["check", "--build", "make", "--", "./sum", "a b"], "check --build make {} -- ./sum 'a b'"),
        (
            ["check", "--base-command", "./a 1", "--head-command", "./b"],
            "check --base-command './a 1' --head-command ./b {}",
        ),
    ],
)
def test_another_run_is_what_was_typed_with_what_is_to_be_set(typed: list[str], more: str, tmp_path: Path) -> None:
    said = decided_over(measured(plan__builds=3), tmp_path, typed)
    assert f"`perfgate {more.format('--set plan.builds=5')}`" in said


def test_of_few_starts_more_are_named_where_more_builds_alone_would_take_too_long(tmp_path: Path) -> None:
    def starts(seed: int) -> Measured:
        return measured(
            lambda place: 1 + 0.1 * normal(seed, place[0] == "head", *place[1:4]),
            plan__executions=2, plan__iterations=1, plan__budget="1h", cheap=True,
        )  # fmt: skip

    settled = []
    for seed in range(8):
        said = decided_over(starts(seed), tmp_path, ["check"])
        found = re.search(r"plan\.builds=(\d+) .*plan\.executions=(\d+)", said)
        if found:
            sets = {"builds": found[1], "executions": found[2], "iterations": 1, "budget": "10h"}
            words = tuple(word for key, each in sets.items() for word in ("--set", f"plan.{key}={each}"))
            again = replace(starts(seed), options=words)
            settled.append(not decided_over(again, tmp_path))
    assert len(settled) > 3
    assert sum(settled) > 0.6 * len(settled)


@pytest.mark.parametrize("name", ["a budget of three builds", "one build of each", "rules that name another metric"])
def test_where_the_rules_of_base_count_a_setting_is_written_there(name: str, tmp_path: Path) -> None:
    """A pull request's reader types no command, and what head's file says does not count."""
    subject = CASES[name].subject
    assert isinstance(subject, Measured)
    found = subject.check(tmp_path)
    said, of_base, of_head = (
        reports.next_step(msgspec.structs.replace(found, policy=msgspec.structs.replace(found.policy, whose=whose)))
        for whose in (RulesSource("target", "main"), RulesSource("base"), RulesSource("head"))
    )
    effect = "It takes effect once it is in the rules that decide: those of"
    assert of_base.endswith(f"{effect} base") and effect not in of_head
    step = next_step(found)
    assert step is not None
    (way,) = step.ways
    assert isinstance(way, Options) and way.lines is not None
    assert str(way.lines) in said and "--set" not in said
    assert said.endswith(f"{effect} the target branch main")
    # what was set by an option would hide the file
    sets = (word for word in subject.options if word != "--set")
    kept = [each for each in sets if each.partition("=")[0].partition(".")[2] not in way.lines.keys]
    again = replace(subject, options=tuple(word for each in kept for word in ("--set", each)))
    assert again.follow(way.lines).check(tmp_path).verdict == "regression"


@pytest.mark.parametrize("word", ["caf\udce9.json", "a\nb"])
def test_what_no_line_shows_as_it_was_typed_is_not_kept(word: str, tmp_path: Path) -> None:
    (tmp_path / "measurements.jsonl").write_text(text(WALL.lines()))
    out = io.StringIO()
    main(["decide", str(tmp_path), "--json", str(tmp_path / word)], out, out)
    assert "internal error" not in out.getvalue() and word not in out.getvalue() and "\\n" not in out.getvalue()


def test_as_many_machines_are_named_as_an_interval_needs_that_narrows_with_their_root() -> None:
    report = measured(noisy(1.3, session=0.1, seed=OPEN), plan=TWO_PLANNED).check(Path())
    step = next_step(report)
    assert step is not None and step.kind == "more-machines"
    # its own error is 6%: three need 5.36 x 6% x sqrt(2/3) = 26%, four 4.16 x 6% x sqrt(2/4) = 18% of the 21% to 5%
    half = 12.706 * 0.06
    (finding,) = report.findings
    ratio = msgspec.structs.replace(
        finding.ratio, estimate=1.3, low=1.3 * math.exp(-half), high=1.3 * math.exp(half), df=1.0, confidence=0.95
    )
    wide = msgspec.structs.replace(report, findings=[msgspec.structs.replace(finding, ratio=ratio, threshold=0.05)])
    found = next_step(wide)
    assert found is not None and found.details["wanted"] == 4


@pytest.mark.parametrize(("names", "compares"), [("A", False), ("AB", True)])
def test_benchmarks_of_one_file_are_compared(names: str, compares: bool, tmp_path: Path) -> None:
    alone = Decided({"a.txt": "".join(go([1, 2, 3], name=f"Benchmark{name}") for name in names)}, ("head=a.txt",))
    step = next_step(alone.check(tmp_path))
    assert step is not None and step.kind == "name-sides" and (len(step.ways) == 2) == compares
