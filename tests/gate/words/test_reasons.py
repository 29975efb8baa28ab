"""The sentence of every reason and of every headline; once."""

from typing import Any, get_args

import msgspec

from gate.model import Accepted, Cut, MemoryUse, Phase, Unfinished, outcomes, reasons
from gate.model.warnings.setup import NothingToCompare
from tests.gate.report import examples

OUTGROWN = Accepted(up_to=0.05, until="2026-12-31", reason="see #123")

REASONS: list[tuple[msgspec.Struct, str]] = [
    (reasons.NegativeValues(), "negative values have no ratio"),
    (
        reasons.DifferentSessions(),
        "base and head were measured in different sessions: the variation between sessions is unknown",
    ),
    (reasons.ZeroQuantile(), "it is 0 in some build, and 0 has no ratio"),
    (reasons.FewRounds(), "fewer than two rounds were measured on both sides: a paired interval needs them"),
    (
        reasons.NoSpread(),
        (
            "no spread: all values are the same to the last digit, as a coarse timer or copies of one run give them "
            "(declare a count or size with `exact = true`)"
        ),
    ),
    (
        reasons.Rounded(step=1e-6, unit="s", low=1.0, high=13.5 / 11.5),
        "all values are rounded to 1 us, which alone leaves the change between +0.0% and +17.4%",
    ),
    (examples.ONE_UNIT, "one build a side gives no interval, because the variation between builds is unknown"),
    (
        reasons.OneUnit(unit="session", sides=["head"]),
        "one session of head gives no interval, because the variation between sessions is unknown",
    ),
    (
        reasons.FewValues(statistic="p99", needs=1000, has=120),
        "p99 needs 1,000 values per build and has 120: measure 880 more",
    ),
    (reasons.FewRoundsThere(needs=3, has=0), "no complete round, but each machine needs 3"),
    (
        reasons.OnMachine(session=3, host="ci-arm-1", why=reasons.FewRoundsThere(needs=3, has=1)),
        "session 3 (ci-arm-1): 1 complete round, but each machine needs 3",
    ),
    (
        reasons.OnMachine(session=0, host=None, why=reasons.NegativeValues()),
        "session 0: negative values have no ratio",
    ),
    (reasons.BothZero(), "both sides are 0"),
    (reasons.ZeroBase(floor=None, unit=""), "base is 0, so only `exact = true` or an absolute floor can decide"),
    (reasons.ZeroBase(floor=3.0, unit=""), "base is 0, and head is not shown to be above the floor of 3"),
    (reasons.ZeroBaseExceeds(floor=1e-6, unit="s"), "base is 0 and head is beyond the floor of 1 us"),
    (examples.EXCEEDS, "beyond the threshold of 3% with 99.58% confidence after correction for 12 comparisons"),
    (
        msgspec.structs.replace(examples.EXCEEDS, comparisons=None, outgrown=OUTGROWN),
        "beyond the threshold of 3% with 99.58% confidence, beyond the 5% accepted until 2026-12-31 (see #123)",
    ),
    (
        reasons.ExactExceeds(threshold=0.01, outgrown=None),
        "an exact count that changed by more than the threshold of 1%",
    ),
    (
        reasons.Crept(threshold=0.03, nights=16, since="2026-11-11", confidence=0.95, outgrown=None),
        "the last 16 nights together are beyond the threshold of 3%, with 95% confidence over a year of nights",
    ),
    (
        reasons.Crept(threshold=0.03, nights=4, since="2026-11-11", confidence=0.95, outgrown=OUTGROWN),
        (
            "the last 4 nights together are beyond the threshold of 3%, with 95% confidence over a year of nights, "
            "beyond the 5% accepted until 2026-12-31 (see #123)"
        ),
    ),
    (
        reasons.Unconfirmed(threshold=0.03, nights=1, more=None),
        "beyond the threshold of 3% in this night alone; the first night against this commit does not confirm it yet",
    ),
    (
        reasons.Unconfirmed(threshold=0.03, nights=5, more=1),
        (
            "beyond the threshold of 3% in this night alone; 5 nights against this commit do not confirm it yet; about "
            "1 more night would, if it stays so"
        ),
    ),
    (
        reasons.AcceptedByEntry(up_to=0.08, until="2026-12-31", reason="see #123"),
        "accepted up to 8% until 2026-12-31: see #123",
    ),
    (reasons.AcceptedByLabel(label="the label x", outgrown=None), "accepted by the label x"),
    (reasons.Within(threshold=0.03), "the interval lies within the threshold of 3%"),
    (reasons.RealWithin(threshold=0.2), "real, but below the threshold of 20%"),
    (reasons.BelowFloor(threshold=None, floor=1e-6, unit="s"), "the change is smaller than the floor of 1 us"),
    (reasons.SameCount(), "the same count"),
    (
        reasons.NoSign(detectable=0.041, limit=1.032, real=True, confidence=0.95, unit="s", better="lower"),
        (
            "no sign of a slowdown of 4.1% or more, which would have shown in 80 of 100 such runs; a smaller one is "
            "real; at most +3.2% (95%)"
        ),
    ),
    (
        reasons.NoSign(detectable=0.041, limit=1.032, real=False, confidence=0.95, unit="s", better="lower"),
        "no sign of a slowdown: one of 4.1% or more would have shown in 80 of 100 such runs; at most +3.2% (95%)",
    ),
    (
        reasons.NoSign(detectable=0.25, limit=0.97, real=False, confidence=0.95, unit="B/s", better="higher"),
        "no sign of a decrease: one of 20.0% or more would have shown in 80 of 100 such runs; at worst -3.0% (95%)",
    ),
    (
        reasons.TooNoisy(detectable=0.4, wanted=0.1, unit="B", better="lower", hopeless=True),
        "too noisy, because only an increase of 40.0% or more would have shown (gate.detectable asks for 10.0%)",
    ),
    (
        reasons.SameProgram(differ=3, read=120),
        "the same program on the same data: it opens none of the 3 paths that differ",
    ),
    (
        reasons.SameProgram(differ=0, read=120),
        "the same program on the same data: no file differs between base and head",
    ),
    (reasons.ExactWithin(threshold=0.01), "an exact count that changed by no more than the threshold of 1%"),
    (
        reasons.Unbounded(),
        "base's mean is too close to 0 for its spread, so the interval of the ratio has no bounds",
    ),
    (
        reasons.FewBuilds(needs=5, has=4),
        "the change looks real, but a verdict needs 5 builds a side and there are 4",
    ),
    (
        reasons.FewForBootstrap(needs=10, has=6, unit="session"),
        "a bootstrap interval needs 10 sessions a side for a verdict, and there are 6",
    ),
    (
        reasons.MemoryAlone(),
        "one build a side: the interval rests on remembered variance alone, so it is shown but decides nothing",
    ),
    (
        reasons.Uncorrected(threshold=0.03, confidence=0.996, comparisons=12),
        "beyond the threshold of 3%, but not after correction for 12 comparisons, which needs 99.6% confidence",
    ),
    (
        reasons.Uncorrected(threshold=0.03, confidence=0.96, comparisons=1),
        "beyond the threshold of 3%, but not after correction for two views, which needs 96% confidence",
    ),
    (
        reasons.BetterUncorrected(threshold=0.03),
        "better by more than the threshold of 3%, but not after correction for multiple comparisons; not worse",
    ),
    (
        reasons.NotWorse(threshold=0.03, floor=None, unit="s"),
        "not worse by more than the threshold; whether it is better by more than 3% is open",
    ),
    (
        reasons.NotWorse(threshold=0.03, floor=0.02, unit="s"),
        "not worse by more than the floor of 20 ms; whether it is better by more than 3% is open",
    ),
    (
        reasons.FloorOpen(threshold=0.03, floor=0.02, unit="s"),
        "beyond the threshold of 3%, but not shown to be above the floor of 20 ms",
    ),
    (examples.wide(), "the interval is too wide: the change may exceed the threshold of 3%"),
    (examples.wide(beyond=True), "the interval is too wide: the change may be below the threshold of 3%"),
    (
        examples.wide("both"),
        "the interval is too wide: it reaches beyond the threshold of 3% in both directions",
    ),
    (reasons.ZeroValue(), "there is a value of 0, which has no logarithm"),
]
PLACE = outcomes.Place(benchmark="b", metric="time", statistic="p99", most={"n": 1}, findings=2, of=3, varied=1)


def regressed(**changes: Any) -> outcomes.Regressed:
    return outcomes.Regressed(count=2, findings=3, worst=[msgspec.structs.replace(PLACE, **changes)], more=0)


def spent(
    phase: Phase = "build", benchmark: str | None = None, execution: int | None = None, **changes: Any
) -> Unfinished:
    cut = Cut(phase=phase, side="base", benchmark=benchmark, build=0, execution=execution, seconds=8.0)
    none = Unfinished(budget=10.0, cut=cut, setup=2.0, builds=0, building=0.0, executions=0, executing=0.0)
    return msgspec.structs.replace(none, **changes)


HEADLINES: list[tuple[outcomes.Summary, str]] = [
    (regressed(metric=None), "2 of 3 findings regressed: b"),
    (regressed(), "2 of 3 findings regressed: b time p99 at 2 of 3 settings (most at n=1)"),
    (regressed(varied=2), "2 of 3 findings regressed: b time p99 at 2 of 3 combinations of settings (most at n=1)"),
    (regressed(findings=3), "2 of 3 findings regressed: b time p99 at every setting"),
    (regressed(findings=1, statistic="mean"), "2 of 3 findings regressed: b time n=1"),
    (
        outcomes.Regressed(count=5, findings=5, worst=[msgspec.structs.replace(PLACE, metric=None)], more=4),
        "5 of 5 findings regressed: b and 4 more",
    ),
    (outcomes.NothingMeasured(), "nothing was measured"),
    (
        outcomes.OnlyAggregates(count=2),
        "nothing was decided: the files hold 2 aggregates without the values behind them",
    ),
    (
        outcomes.OnlyAggregates(count=1, more=True),
        "nothing was decided: the files hold 1 aggregate without the values behind it, of one build a side",
    ),
    (
        outcomes.NothingInCommon(base=["./base/app run"], head=["./pr/app run"]),
        "nothing was compared: base has only ./base/app run, and head only ./pr/app run",
    ),
    (
        outcomes.NothingInCommon(base=["a", "b"], head=["c"]),
        "nothing was compared: base and head have no benchmark of one name",
    ),
    (outcomes.OneSideMeasured(side="head"), "nothing to compare: all values are of head"),
    (
        outcomes.BudgetEnded(spent=spent(), least=60.0, rounds=5),
        "the budget of 10 s ended before one round was complete: during the first build of base (set-up took 2.0 s)",
    ),
    (
        outcomes.BudgetEnded(
            spent=spent("execution", benchmark="b", execution=1, builds=2, building=3.0, executions=1, executing=0.5),
            least=60.0,
            rounds=5,
        ),
        (
            "the budget of 10 s ended before one round was complete: while b was running on base (set-up took 2.0 s, "
            "2 builds took 3.0 s, 1 execution took 500 ms)"
        ),
    ),
    (
        outcomes.BudgetEnded(spent=spent("setup", setup=0.0), least=20.0, rounds=5),
        "the budget of 10 s ended before one round was complete: during set-up of base",
    ),
    (
        outcomes.BudgetEnded(spent=spent("checkout", setup=0.0), least=20.0, rounds=5),
        "the budget of 10 s ended before one round was complete: during the checkout of base",
    ),
    (
        outcomes.BudgetEnded(spent=spent("service", benchmark="b", execution=0, setup=0.0), least=20.0, rounds=5),
        "the budget of 10 s ended before one round was complete: while the service of b was starting on base",
    ),
    (outcomes.MachineNotFree(status="x was still held by y"), "nothing was measured: x was still held by y"),
    (
        outcomes.NothingDecided(metrics=["a", "b"], undirected=[]),
        "nothing was decided: plan.metrics names none of a, b",
    ),
    (
        outcomes.NothingDecided(metrics=["a", "b"], undirected=["b"]),
        "nothing was decided: nothing says which values of b are better",
    ),
    (outcomes.Failed(failures=1, findings=0), "1 failure, and nothing was compared"),
    (outcomes.Failed(failures=2, findings=3), "2 failures; 3 findings measured"),
    (outcomes.SomeInconclusive(count=2, findings=2, not_worse=0), "2 of 2 findings inconclusive, none regressed"),
    (
        outcomes.SomeInconclusive(count=3, findings=3, not_worse=1),
        "3 of 3 findings inconclusive, 1 of them not worse, none regressed",
    ),
    (
        outcomes.SomeInconclusive(count=1, findings=1, not_worse=1),
        "1 of 1 finding inconclusive but not worse, none regressed",
    ),
    (outcomes.NotEnoughMeasured(builds=1, needed=5, round=None), "not enough measured: 1 of 5 builds"),
    (
        outcomes.NotEnoughMeasured(builds=2, needed=5, why="plan", round=120.0, seconds=600.0),
        "not enough measured: 2 of 5 builds; a verdict takes about 10 min",
    ),
    (outcomes.SomeAccepted(count=1, findings=2, labels=[]), "1 of 2 findings accepted, nothing else regressed"),
    (
        outcomes.SomeAccepted(count=1, findings=2, labels=["the label x"]),
        "1 of 2 findings accepted by the label x, nothing else regressed",
    ),
    (
        outcomes.AllIdentical(benchmarks=14),
        "all 14 benchmarks run the same program on the same data as base, so nothing had to be measured",
    ),
    (
        outcomes.AllIdentical(benchmarks=1),
        "the benchmark runs the same program on the same data as base, so nothing had to be measured",
    ),
    (
        outcomes.NothingToCompare(
            benchmarks=3,
            why=NothingToCompare(base="1" * 40, itself=True, failed="build", status="exit 2"),
            quietest=outcomes.Noise(benchmark="a", metric="time", detectable=0.012),
            noisiest=outcomes.Noise(benchmark="b", metric="time", detectable=0.08),
        ),
        (
            "nothing to compare yet: base has no perfgate.toml, and head's build fails there (exit 2); head's noise: "
            "a change of 1.2% or more would show in a, of 8.0% in b, the noisiest of 3 benchmarks"
        ),
    ),
    (
        outcomes.NothingToCompare(
            benchmarks=1,
            why=NothingToCompare(base="1" * 40, itself=True, failed="build", status="exit 2"),
            quietest=outcomes.Noise(benchmark="a", metric="parse", detectable=0.246),
            noisiest=outcomes.Noise(benchmark="a", metric="render", detectable=0.392),
        ),
        (
            "nothing to compare yet: base has no perfgate.toml, and head's build fails there (exit 2); head's noise: "
            "a change of 24.6% or more would show in a parse, of 39.2% in a render, the noisiest"
        ),
    ),
    (
        outcomes.NothingToCompare(
            benchmarks=1,
            why=NothingToCompare(base="1" * 40, itself=False, failed="execution", benchmark="a", status="exit 2"),
            quietest=None,
            noisiest=None,
        ),
        "nothing to compare yet: base has no perfgate.toml, and none of head's benchmarks runs there",
    ),
    (outcomes.NothingRegressed(findings=1), "nothing regressed in 1 finding"),
]
USE = MemoryUse(
    kind="alone", used=True, df=14.2, sessions=3, first="2026-09-01", last="2026-11-02", remembered=0.0123,
    present=None, without=None,
)  # fmt: skip
NOW = msgspec.structs.replace(USE, present=0.061)
MEMORY: list[tuple[MemoryUse, str]] = [
    (
        msgspec.structs.replace(USE, sessions=1, last="2026-09-01"),
        "the interval rests on remembered variance alone: 1.2% (14.2 degrees of freedom, 1 session, 2026-09-01)",
    ),
    (
        msgspec.structs.replace(NOW, kind="moderated"),
        (
            "moderated by remembered variance: 1.2% (14.2 degrees of freedom, 3 sessions, 2026-09-01 to 2026-11-02), "
            "now 6.1%"
        ),
    ),
    (
        msgspec.structs.replace(NOW, kind="noisier"),
        (
            "noisier than calibrated: 6.1% now, 1.2% remembered (3 sessions, 2026-09-01 to 2026-11-02); the memory is not "
            "used"
        ),
    ),
    (
        msgspec.structs.replace(NOW, kind="disagrees"),
        "remembered variance is not used: 6.1% now does not agree with 1.2% (3 sessions, 2026-09-01 to 2026-11-02)",
    ),
    (
        msgspec.structs.replace(NOW, kind="unlike"),
        "remembered variance is not used: one side's builds spread more than the other's (6.1% together)",
    ),
]
ALL: list[tuple[Any, str]] = [*REASONS, *HEADLINES, *MEMORY]


def test_each_has_a_sentence() -> None:
    assert [what.sentence() for what, _ in ALL] == [expected for _, expected in ALL]


def test_no_member_of_a_union_is_without_a_sentence() -> None:
    """The unions are closed: a type that is added without a sentence proved here fails."""
    members = {*get_args(reasons.Reason), *get_args(outcomes.Summary)}
    members |= {reasons.FewRoundsThere, reasons.ZeroValue, MemoryUse}
    assert members == {type(what) for what, _ in ALL}
