"""Every sentence to the letter, once: a type of a union without a row here fails."""

import re
from typing import Any, get_args

import msgspec
import pytest

from gate.model import Accepted, Cut, MemoryUse, Phase, Unfinished, outcomes, reasons
from gate.model.warnings import AnyWarning, OfRun, known, typed
from gate.model.warnings import estimates as e
from gate.model.warnings import hosts as h
from gate.model.warnings import measured as m
from gate.model.warnings import setup as s
from gate.model.warnings.base import Said
from gate.report import json as report_json
from gate.writing.sentences import Sentence
from tests.gate.report import examples
from tests.support.warned import kind

A = h.RunMachine("aaaaaaaaaaaa", "a", "6.1.0", "boot-a-1")
B = h.RunMachine("aaaaaaaaaaaa", "b", "6.1.0", "boot-b-1")
OTHER_KERNEL = h.RunMachine("aaaaaaaaaaaa", "a", "6.8.0", "boot-a-2")
OTHER_MAKE = h.RunMachine("bbbbbbbbbbbb", None, "6.1.0", "boot-c-1")
OTHER_FACT = f"{'y' * 20}…{'y' * 19}"
COMPARES = "the ratio also compares the machines"
OUTGROWN = Accepted(up_to=0.05, until="2026-12-31", reason="see #123")


def spent(
    phase: Phase = "build", benchmark: str | None = None, execution: int | None = None, **changes: Any
) -> Unfinished:
    cut = Cut(phase=phase, side="base", benchmark=benchmark, build=0, execution=execution, seconds=8.0)
    none = Unfinished(budget=10.0, cut=cut, setup=2.0, builds=0, building=0.0, executions=0, executing=0.0)
    return msgspec.structs.replace(none, **changes)


USE = MemoryUse(
    kind="alone", used=True, df=14.2, sessions=3, first="2026-09-01", last="2026-11-02", remembered=0.0123,
    present=None, without=None,
)  # fmt: skip
NOW = msgspec.structs.replace(USE, present=0.061)
SHA = "0123456789abcdef" * 2 + "01234567"

# fmt: off
WARNINGS: list[tuple[AnyWarning, str]] = [
    (Said("<as it stands>"), "<as it stands>"),
    (Said("a row is left out", "lines-left-out", "first"), "a row is left out"),
    (OfRun("base", m.torn_line("m.jsonl")), "base's run: m.jsonl: the last line is incomplete and is left out"),
    (e.NotExact("values"), "declared exact, but its values differ: treated as measured"),
    (e.DependsOnMachine("-2.0% on session 0 (ci-arm-1)", "+40.0% on session 4"), "the change depends on the machine: -2.0% on session 0 (ci-arm-1), +40.0% on session 4"),
    (e.UnlikeSpreads("head", 4.23, "build"), "head's builds spread 4.2 times as much as base's: the mean may not tell the whole story"),
    (e.UnlikeSpreads("base", 20000000.0, "session"), "base's sessions spread more than 1000 times as much as head's: the mean may not tell the whole story"),
    (e.Trend(-0.04, "s", True), "still warming up: second half 4.0% faster"),
    (e.Trend(-0.04, "B", False), "not steady: second half 4.0% lower"),
    (e.Drift(0.031, "s"), "host drift: both sides 3.1% slower from the first round to the last"),
    (e.OrderEffect(0.012, "s"), "side-by-order interaction: whichever side runs second is 1.2% slower"),
    (e.Autocorrelation(0.5, 30, 10), "values of one start are correlated (0.50): 30 carry the information of 10"),
    (e.Implausible(("parse is 94.5% faster",)), "parse is 94.5% faster: does head still do the work?"),
    (e.Implausible(tuple("abcd")), "a, b, c and 1 more: does head still do the work?"),
    (e.EarlyStop(6, 12), "decided early, at round 6 of 12: the size may be overestimated"),
    (e.CarryOver("head", 0.012), "head is 1.2% slower after base than after itself: half of that is in the ratio"),
    (e.CarryOver("base", -0.006), "base is 0.60% faster after head than after itself: half of that is in the ratio"),
    (h.UnfitHost("power supply: battery, discharging", ("session 0 (m0)", "session 2")), "session 0 (m0) and session 2: the host was unfit when measuring began: power supply: battery, discharging"),
    (h.HostEvent("steal", "stolen", 0.1, 1, "m1"), "host: session 1 (m1): stolen"),
    (h.SidesApart((), None, (A,), (OTHER_KERNEL,)), f"base was measured on host a (kernel 6.1.0), head on host a (kernel 6.8.0): {COMPARES}"),
    (h.SidesApart((), None, (A,), (OTHER_MAKE,)), f"base was measured on host a (machine aaaaaaaa), head on an unnamed host (machine bbbbbbbb): {COMPARES}"),
    (h.SidesApart(("p", "q"), 1, (A,), (A, B)), f"p and q: session 1: base was measured on host a, head on host a and host b: {COMPARES}"),
    (h.SidesApart(tuple("pqrst"), None, (A,), (None,)), f"p, q, r and 2 more: base was measured on host a, head on an unnamed machine: {COMPARES}"),
    (h.SidesApart((), None, (), (), (h.FactOfSides("cpu", ("X", "Z"), ("Y",)), h.FactOfSides("system", ("a", "b"), ("a", "b")))), "base and head differ in cpu (X and Z, Y); each side mixes system (a and b): the ratio also compares these"),
    (h.SidesApart((), None, (), (), tuple(h.FactOfSides(name, ("x",), ("y" * 50,)) for name in "abcde")), f"base and head differ in {', '.join(f'{name} (x, {OTHER_FACT})' for name in 'abcd')} and 1 more: the ratio also compares these"),
    (m.SelectedOnly(2, 5), "2 of 5 measured benchmarks are decided (--benchmark): the verdict and the false-alarm limit cover only these"),
    (m.RoundsShort(2, 5), "2 of 5 planned rounds were measured"),
    (m.BudgetRounds(5, 12), "only 5 of 12 rounds fit the budget, judging by the first two"),
    (m.ExecutionsShort("b", "load=busy", 2, 2, 6), "b at load=busy: base has 2 and head 2 of 6 starts"),
    (m.UnknownDirection(("MatchesFound",), ("BM_Find/8",)), 'direction unknown: nothing says which values of MatchesFound (BM_Find/8) are better, so it is shown and not decided. Add an `[[override]]` entry with `metric = "MatchesFound"` and `better = "lower"` or `better = "higher"` to perfgate.toml'),
    (m.MetricMissing("b", "time", '{"n":1}', 0), 'b: metric time at {"n":1} gave no values in session 0'),
    (m.Outlived(0, 7, 40), "after 7 of 40 starts (7 of head) a process that the command had started still ran: no value includes its work"),
    (m.ClockStood(0.43), "its clock stood still while it waited for a processor, 43.0% of the time: it tells active time"),
    (m.TwoPrograms(), "the verdict is of these two programs: another build of either may differ"),
    (m.NotComparable("time", "unit", ("s",), ("", "B"), ("parse", "encode")), "not comparable: time is in s in base and without a unit and in B in head: parse, encode"),
    (m.NotComparable("score", "direction", ("lower",), ("higher",), ("parse",)), "not comparable: score is better when lower in base and better when higher in head: parse"),
    (s.NothingToCompare(base="1" * 40, itself=True, failed="build", status="exit 2"), "base has no perfgate.toml, and head's build fails there (exit 2): head is measured against itself. Once head runs and is merged, the next change is compared with it"),
    (s.BaseBroken(base="1" * 40, failed="build", benchmark=None, status="exit 1", output=("error: a", " b"), tried=2, compared="2" * 40), "base 1111111111 does not build (exit 1: error: a / b): head is compared with its ancestor 2222222222"),
    (s.BaseBroken(base="1" * 40, failed="execution", benchmark="parse", status="exit 5", output=(), tried=1, compared="1" * 40), "base 1111111111 does not start parse (exit 5), nor does its parent: what does not start there is not compared"),
    (s.Renamed("old", "new"), "old → new (renamed)"),
    (m.MissingAllowed(("a",), "the label perf-accepted of #12"), "a is missing, allowed by the label perf-accepted of #12"),
    (s.MeasuringChanged("a", (s.Differing("command", "./a", "./b"), s.Differing("warmup", "1", "3"))), "not the same command for a: base ran `./a`, head `./b`; head also changes warmup from `1` to `3`"),
    (s.MeasuringChanged("a", (s.Differing("service", None, "x"),)), "head changes how a is measured (service from none to `x`): the sides may not be comparable"),
    (s.BuildChanged(tuple(s.Differing(f"env.set.{n}", None, "1") for n in range(5))), "base and head are not built alike: head changes env.set.0 from none to `1`, env.set.1 from none to `1`, env.set.2 from none to `1` and 2 more"),
    (s.BudgetHoldsFew(3, 5, 350.0, 240.0, 420.0), "the budget of 4 min holds 3 rounds, and 5 are needed (about 5 min 50 s): set `--set plan.budget=7m`, or measure less"),
    (s.BudgetHoldsFew(0, 5, 10.0, 10.0, None), "the budget of 10 s holds no round, and 5 are needed: 10 s ended the last run before one was complete; raise it as its report says"),
]
REASONS: list[tuple[Sentence, str]] = [
    (reasons.NEGATIVE_VALUES, "negative values have no ratio"),
    (reasons.DIFFERENT_SESSIONS, "base and head were measured in different sessions: the variation between sessions is unknown"),
    (reasons.ZERO_QUANTILE, "it is 0 in some build, and 0 has no ratio"),
    (reasons.FEW_ROUNDS, "fewer than two rounds were measured on both sides: a paired interval needs them"),
    (reasons.NO_SPREAD, "no spread: all values are the same to the last digit, as a coarse timer or copies of one run give them (declare a count or size with `exact = true`)"),
    (reasons.Rounded(step=1e-06, unit="s", low=1.0, high=13.5 / 11.5), "all values are rounded to 1 us, which alone leaves the change between +0.0% and +17.4%"),
    (examples.ONE_UNIT, "one build of each gives no interval: how builds vary is unknown"),
    (reasons.FewValues(statistic="p99", needs=1000, has=120), "p99 needs 1,000 values per build and has 120: measure 880 more"),
    (reasons.FewRoundsThere(needs=3, has=0), "no complete round, but each machine needs 3"),
    (reasons.OnMachine(session=3, host="ci-arm-1", why=reasons.FewRoundsThere(needs=3, has=1)), "session 3 (ci-arm-1): 1 complete round, but each machine needs 3"),
    (reasons.BOTH_ZERO, "both sides are 0"),
    (reasons.ZeroBase(floor=3.0, unit=""), "base is 0, and head is not shown to be above the floor of 3"),
    (reasons.ZeroBaseExceeds(floor=1e-06, unit="s"), "base is 0 and head is beyond the floor of 1 us"),
    (examples.EXCEEDS, "beyond the threshold of 3% with 99.58% confidence after correction for 12 comparisons"),
    (msgspec.structs.replace(examples.EXCEEDS, comparisons=None, outgrown=OUTGROWN), "beyond the threshold of 3% with 99.58% confidence, beyond the 5% accepted until 2026-12-31 (see #123)"),
    (reasons.BeyondLimit(limit=0.05, unit="s", better="lower", confidence=0.95, threshold=0.03),
     "head is above the limit of 50 ms with 95% confidence, and beyond the threshold of 3%"),
    (reasons.BeyondLimit(limit=10.0, unit="", better="higher", confidence=None, threshold=None),
     "head is below the limit of 10"),
    (reasons.ExactExceeds(threshold=0.01, outgrown=None), "an exact count that changed by more than the threshold of 1%"),
    (reasons.Crept(threshold=0.03, nights=4, since="2026-11-11", confidence=0.95, outgrown=OUTGROWN), "the last 4 nights together are beyond the threshold of 3%, with 95% confidence over a year of nights, beyond the 5% accepted until 2026-12-31 (see #123)"),
    (reasons.Unconfirmed(threshold=0.03, nights=5, more=1), "beyond the threshold of 3% in this night alone; 5 nights against this commit do not confirm it yet; about 1 more night would, if it stays so"),
    (reasons.AcceptedByEntry(up_to=0.08, until="2026-12-31", reason="see #123"), "accepted up to 8% until 2026-12-31: see #123"),
    (reasons.AcceptedByLabel(label="the label x", outgrown=None), "accepted by the label x"),
    (reasons.Within(threshold=0.03), "the interval lies within the threshold of 3%"),
    (reasons.RealWithin(threshold=0.2), "real, but below the threshold of 20%"),
    (reasons.BelowFloor(threshold=None, floor=1e-06, unit="s"), "the change is smaller than the floor of 1 us"),
    (reasons.SAME_COUNT, "the same count"),
    (reasons.NoSign(detectable=0.041, limit=1.032, real=True, confidence=0.95, unit="s", better="lower"), "catches slowdowns above 4.1%; a smaller one is real; at most +3.2% (95%)"),
    (reasons.NoSign(detectable=0.25, limit=0.97, real=False, confidence=0.95, unit="B/s", better="higher"), "catches decreases above 20.0%; at worst -3.0% (95%)"),
    (reasons.TooNoisy(detectable=0.4, wanted=0.1, unit="B", better="lower", hopeless=True), "this run catches increases above 40.0% (a pass needs 10%)"),
    (reasons.SameProgram(differ=3, read=120), "the same program on the same data: it reads none of the 3 paths that differ"),
    (reasons.ExactWithin(threshold=0.01), "an exact count that changed by no more than the threshold of 1%"),
    (reasons.UNBOUNDED, "base's mean is too close to 0 for its spread, so the interval of the ratio has no bounds"),
    (reasons.FewBuilds(needs=5, has=4), "the change looks real, but a verdict needs 5 builds of each and there are 4"),
    (reasons.FewForBootstrap(needs=10, has=6, unit="session"), "a bootstrap interval needs 10 sessions of each for a verdict, and there are 6"),
    (reasons.MEMORY_ALONE, ("one build of each: the interval rests on remembered variance alone, so it is shown and "
"decides nothing")),
    (reasons.Uncorrected(threshold=0.03, confidence=0.996, comparisons=12), "beyond the threshold of 3%, but not after correction for 12 comparisons, which needs 99.6% confidence"),
    (reasons.Uncorrected(threshold=0.03, confidence=0.96, comparisons=1), "beyond the threshold of 3%, but not after correction for two views, which needs 96% confidence"),
    (reasons.BetterUncorrected(threshold=0.03), "better by more than the threshold of 3%, but not after correction for multiple comparisons; not worse"),
    (reasons.NotWorse(threshold=0.03, floor=0.02, unit="s"), "not worse by more than the floor of 20 ms; whether it is better by more than 3% is open"),
    (reasons.FloorOpen(threshold=0.03, floor=0.02, unit="s"), "beyond the threshold of 3%, but not shown to be above the floor of 20 ms"),
    (examples.wide(), "the interval is too wide: the change may exceed the threshold of 3%"),
    (examples.wide(beyond=True), "the interval is too wide: the change may be below the threshold of 3%"),
    (examples.wide("both"), "the interval is too wide: it reaches beyond the threshold of 3% in both directions"),
    (reasons.ZERO_VALUE, "there is a value of 0, which has no logarithm"),
]
SUMMARIES: list[tuple[outcomes.Summary, str]] = [
    (outcomes.Regressed(count=5, findings=6, worst=[*"abcde"]), "5 of 6 results regressed: a, b, c and 2 more"),
    (outcomes.NothingMeasured(), "nothing was measured"),
    (outcomes.OnlyAggregates(count=1, more=True), ("nothing was decided: the files hold 1 aggregate without the values behind it, of one "
"build each")),
    (outcomes.NothingInCommon(base=["./base/app run"], head=["./pr/app run"]), "nothing was compared: base has only ./base/app run, and head only ./pr/app run"),
    (outcomes.OneSideMeasured(side="head"), "nothing to compare: all values are of head"),
    (outcomes.BudgetEnded(spent=spent(), least=60.0, rounds=5), "the budget of 10 s ended before one round was complete: during the first build of base (set-up took 2.0 s)"),
    (outcomes.BudgetEnded(spent=spent("execution", benchmark="b", execution=1, builds=2, building=3.0, executions=1, executing=0.5), least=60.0, rounds=5), ("the budget of 10 s ended before one round was complete: while b was running on base "
"(set-up took 2.0 s, 2 builds took 3.0 s, 1 start took 500 ms)")),
    (outcomes.BudgetEnded(spent=spent("setup", setup=0.0), least=20.0, rounds=5), "the budget of 10 s ended before one round was complete: during set-up of base"),
    (outcomes.BudgetEnded(spent=spent("service", benchmark="b", execution=0, setup=0.0), least=20.0, rounds=5), "the budget of 10 s ended before one round was complete: while the service of b was starting on base"),
    (outcomes.MachineNotFree(status="x was still held by y"), "nothing was measured: x was still held by y"),
    (outcomes.NothingDecided(metrics=["a", "b"], undirected=[]), "nothing was decided: plan.metrics names none of a, b"),
    (outcomes.NothingDecided(metrics=["a", "b"], undirected=["b"]), "nothing was decided: nothing says which values of b are better"),
    (outcomes.Failed(failures=2, findings=3), "2 failures, 3 results"),
    (outcomes.SomeInconclusive(count=3, findings=3, not_worse=1), "3 of 3 results undecided, 1 of them not worse, none regressed"),
    (outcomes.SomeInconclusive(count=1, findings=1, not_worse=1), "1 of 1 result undecided but not worse, none regressed"),
    (outcomes.NotEnoughMeasured(builds=2, needed=5, why="plan", round=120.0, seconds=600.0), "not enough measured: 2 of 5 builds; a verdict takes about 10 min"),
    (outcomes.SomeAccepted(count=1, findings=2, labels=["the label x"]), "1 of 2 results accepted by the label x, nothing else regressed"),
    (outcomes.AllIdentical(benchmarks=1), "the benchmark is unaffected: same program, same data"),
    (outcomes.NothingToCompare(benchmarks=3, why=s.NothingToCompare(base="1" * 40, itself=True, failed="build", status="exit 2"), quietest=outcomes.Noise(benchmark="a", metric="time", detectable=0.012), noisiest=outcomes.Noise(benchmark="b", metric="time", detectable=0.08)), "nothing to compare yet: base has no perfgate.toml, and head's build fails there (exit 2); head's noise: a change of 1.2% or more would show in a, of 8.0% in b, the noisiest of 3 benchmarks"),
    (outcomes.NothingToCompare(benchmarks=1, why=s.NothingToCompare(base="1" * 40, itself=True, failed="build", status="exit 2"), quietest=outcomes.Noise(benchmark="a", metric="parse", detectable=0.246), noisiest=outcomes.Noise(benchmark="a", metric="render", detectable=0.392)), "nothing to compare yet: base has no perfgate.toml, and head's build fails there (exit 2); head's noise: a change of 24.6% or more would show in a parse, of 39.2% in a render, the noisiest"),
    (outcomes.NothingToCompare(benchmarks=1, why=s.NothingToCompare(base="1" * 40, itself=False, failed="execution", benchmark="a", status="exit 2"), quietest=None, noisiest=None), "nothing to compare yet: base has no perfgate.toml, and none of head's benchmarks runs there"),
    (outcomes.NothingRegressed(findings=1), "1 result, not worse"),
]
MEMORY: list[tuple[MemoryUse, str]] = [
    (msgspec.structs.replace(USE, sessions=1, last="2026-09-01"), "the interval rests on remembered variance alone: 1.2% (14.2 degrees of freedom, 1 session, 2026-09-01)"),
    (msgspec.structs.replace(NOW, kind="moderated"), "moderated by remembered variance: 1.2% (14.2 degrees of freedom, 3 sessions, 2026-09-01 to 2026-11-02), now 6.1%"),
    (msgspec.structs.replace(NOW, kind="noisier"), "noisier than calibrated: 6.1% now, 1.2% remembered (3 sessions, 2026-09-01 to 2026-11-02); the memory is not used"),
    (msgspec.structs.replace(NOW, kind="disagrees"), "remembered variance is not used: 6.1% now does not agree with 1.2% (3 sessions, 2026-09-01 to 2026-11-02)"),
    (msgspec.structs.replace(NOW, kind="unlike"), "remembered variance is not used: one side's builds spread more than the other's (6.1% together)"),
]
STEPS: list[tuple[outcomes.Step, str]] = [
    (outcomes.give_direction(metric='a "b"'), r'Add an `[[override]]` entry with `metric = "a \"b\""` and `better = "lower"` or `better = "higher"` to perfgate.toml'),
    (outcomes.declare_zero(metric="allocs/op", floor=None, unit=""), 'Check what gives allocs/op: base is 0. If that is right, as of a count, add an `[[override]]` entry with `metric = "allocs/op"` and `exact = true`'),
    (outcomes.declare_zero(metric="pause", floor=1.5e-6, unit="s"), 'Base is 0, so say how much pause may grow before the gate fails, for example `floor = "1.5 us"` in `[benchmark.metric.pause]`'),
    (outcomes.declare_exact(metric="n", rounded=True), 'If n is a count or a size, add an `[[override]]` entry with `metric = "n"` and `exact = true`; if it is a time, do more work for each value, or write more digits'),
    (outcomes.more_values(statistic="p99", has=60, needs=1000, executions=85, iterations=None, budget=7200.0), "Run the same check again with `--set plan.executions=85 --set plan.budget=2h`: p99 needs 1,000 values of each build and has 60"),
    (outcomes.other_statistic(metric="n", statistic="p50"), 'Compare another statistic of n, such as `statistics = ["mean"]` in `[benchmark.metric.n]`: its p50 is 0 in some build'),
    (outcomes.PLAIN["measure-together"], "Measure base and head together, as `perfgate check` does: each was measured in sessions of its own"),
    (outcomes.more_machines(sessions=1, wanted=3, builds=False), "More builds on this machine would not help: measure on 3 machines (`sessions = 3` in `[plan]`, for `perfgate plan --matrix`)"),
    (outcomes.more_machines(sessions=4, wanted=None, builds=True), "More builds on these 4 machines would not help: they differ too much, or, if only these matter, add `--set gate.sessions=fixed`"),
    # from 0 the floor is what decides
    (outcomes.lower_floor(benchmark="a", metric="time", imported=False, floor=3e-6, unit="s", wanted=1.5e-6, share=None), 'If a change below 3 us matters, lower the floor (`floor = "1.5 us"` in `[benchmark.metric.time]`)'),
]
# fmt: on
SENTENCES: list[tuple[Any, str]] = [*WARNINGS, *REASONS, *SUMMARIES, *MEMORY]


def test_each_is_said_to_the_letter() -> None:
    assert [what.sentence() for what, _ in SENTENCES] == [said for _, said in SENTENCES]
    assert [step.text for step, _ in STEPS] == [said for _, said in STEPS]


@pytest.mark.parametrize(
    ("rows", "union"),
    [
        (WARNINGS, AnyWarning), (REASONS, reasons.Reason | reasons.FewRoundsThere), (SUMMARIES, outcomes.Summary),
        (MEMORY, MemoryUse),
    ],
)  # fmt: skip
def test_every_kind_has_an_example(rows: list[tuple[Any, str]], union: Any) -> None:
    assert {type(what) for what, _ in rows} == set(get_args(union) or [union])


def test_a_warning_comes_back_from_a_file_as_it_was() -> None:
    for warning, _ in WARNINGS:
        written = msgspec.json.encode(warning)
        assert msgspec.json.decode(written)["kind"] == type(warning).__struct_config__.tag
        # equal warnings are told once
        assert {warning, msgspec.json.decode(written, type=AnyWarning)} == {warning}


def test_report_json_has_each_with_its_kind_its_text_and_its_details_and_gives_it_back() -> None:
    every = [warning for warning, _ in WARNINGS]
    report = examples.report("pass", [examples.finding("lex", warnings=every)], warnings=every)
    written = report_json.render(report)
    tables = msgspec.json.decode(written)
    for found in (tables["warnings"], tables["findings"][0]["warnings"]):
        assert [(each["kind"], each["text"]) for each in found] == [(kind(each), said) for each, said in WARNINGS]
    assert report_json.read(written).warnings == report_json.read(written).findings[0].warnings == every


def test_only_a_text_from_elsewhere_has_a_text() -> None:
    # report.json puts the sentence there
    assert [each for each in get_args(AnyWarning) if "text" in each.__struct_fields__] == [Said]
    assert typed(["old", m.TwoPrograms()]) == [Said("old"), m.TwoPrograms()]


def test_a_warning_of_another_version_is_said_as_it_was() -> None:
    later = {"kind": "moon-phase", "text": "the moon was full", "details": {"share": 0.5}}
    report = msgspec.json.decode(report_json.render(examples.passing()))
    found = report_json.read(msgspec.json.encode({**report, "warnings": [later]})).warnings
    assert found == [Said("the moon was full", "moon-phase")]
    # a run line has no texts
    assert known({"kind": "moon-phase"})["text"] == "a warning of another version of perfgate: moon phase"
    assert known(7) == 7 and known(no_kind := {"share": 0.5}) is no_kind


_DISAGREES = re.compile(
    r"\b1 (?:more |planned |measured )?(?!is\b|lacks\b|was\b|has\b|lies\b|fits\b|s\b|this\b|less\b|us\b)[a-z]+s\b(?! at\b)|\b1 (?:are|were|have|fit)\b|there are 1\b"
)
"""A count of 1 with a noun or a verb of many."""


def with_ones(value: Any) -> Any:
    """Set every whole number of a sentence to 1."""
    if isinstance(value, msgspec.Struct):
        fields = {name: with_ones(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, (list, tuple)):
        return type(value)(map(with_ones, value))
    return 1 if type(value) is int else value


def test_a_count_of_one_has_a_noun_of_one() -> None:
    said = [with_ones(what).sentence() for what, _ in (*WARNINGS, *REASONS, *SUMMARIES)]
    assert [sentence for sentence in said if _DISAGREES.search(sentence)] == []
