"""Early stopping (docs/method.md): the looks, what is settled at each, and that the verdict is the shown interval's."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy import stats

from gate.config.rules import Policy
from gate.config.types import Builds, Config, Detectable, Gate, Plan
from gate.decide.report import decide
from gate.decide.stopping import look
from gate.evidence.gather import gather
from gate.evidence.runs import config_of
from gate.evidence.time_spent import looks_of, planned_looks
from gate.model import SIDES, Build, Execution, Look, Metric, Record, RoundsDone, Run, reasons
from gate.model.records import WhyNotRelinked
from gate.model.warnings.estimates import EarlyStop
from gate.model.warnings.measured import RoundsShort
from gate.stats.sequential import spending
from gate.writing.units import Duration
from tests.gate.decide.decided import TODAY, Lines, Means, decided, only, policy_by, rounds_of, settled
from tests.support import simulate
from tests.support.lines import located
from tests.support.seeds import some
from tests.support.warned import texts

PLAN = {"builds": {"min": 4, "max": 12}, "executions": 1}
LOOKS = [4, 6, 8, 12]
LONG = [4, 6, 8, 12, 18, 28, 56]


def lines(
    means: Means, rounds: int, config: dict[str, Any] | None = None, until: dict[str, int] | None = None
) -> Lines:
    tables = {"plan": PLAN, **(config or {})}
    gate = {"threshold": "3%", "detectable": "threshold", **tables.get("gate", {})}
    return rounds_of(means, rounds, {**tables, "gate": gate}, until=until)


def draw(
    seed: int | Sequence[int] | np.random.Generator, ratios: Sequence[float], sd: float = 0.02, shared: float = 0.0
) -> dict[str, tuple[list[float], list[float]]]:
    rng = np.random.default_rng(seed)
    means = {}
    for k, ratio in enumerate(ratios):
        drift = rng.normal(0, shared, 12)
        base, head = 1 + drift + rng.normal(0, sd, 12), ratio * (1 + drift + rng.normal(0, sd, 12))
        means[f"b{k}"] = (base.tolist(), head.tolist())
    return means


# --- where they are ---------------------------------------------------------------------------------------------------


def ran(seconds: float, build: int = 0, session: int = 0, before: float | None = None) -> Execution:
    metrics = {"time": Metric(unit="s", values=[1.0])}
    found = Execution(benchmark="a", side="base", session=session, build=build, execution=0, metrics=metrics)
    return msgspec.structs.replace(found, seconds=seconds, before=before)


def cost(seconds: float, setup: float = 0.0, before: float | None = None) -> list[Record]:
    """A first round of so many seconds; what comes later costs too much to be counted."""
    build = Build(side="base", build=0, seconds=seconds / 2, setup=setup)
    return [build, ran(seconds / 2, before=before), ran(1e6, build=1)]


def steps(first: float, second: float, session: int = 0) -> list[Record]:
    """Two rounds, by the seconds of their builds."""
    found: list[Record] = []
    # what executions of the second round take is perhaps a value, and moves nothing
    for number, building, executing in ((0, first, 2.0), (1, second, 7.5)):
        found += [Build(side=side, build=number, seconds=building / 2, session=session) for side in SIDES]
        found.append(ran(executing, build=number, session=session))
    return found


def linked(**how: Any) -> list[Record]:
    return [*(Build(side=side, build=0, seconds=20.0, **how) for side in SIDES), ran(4.0)]


def plan(seconds: float, most: int | None = 12, least: int = 4) -> Plan:
    return Plan(builds=Builds(min=least, max=most), budget=Duration(seconds))


COLD = steps(30.0, 3.0)
BOTH = [*COLD, *steps(30.0, 30.0, session=1)]


@pytest.mark.parametrize(
    ("of", "records", "done", "expected"),
    [
        (plan(100), [], 0, LOOKS),
        (plan(100), cost(5), 0, LOOKS),
        # 5% are for what perfgate does between the steps: 9 rounds of 10.5 s, 8 of 11.55 s
        (plan(100), cost(10), 0, [4, 5, 7, 9]),
        (plan(100), cost(11), 0, 8),
        # set-up comes first, and so do proofs and the first starts on base
        (plan(100), cost(10, setup=5), 0, [4, 5, 7, 9]),
        (plan(100), cost(10, setup=6), 0, 8),
        (plan(100), cost(10, setup=200), 0, [1]),
        (plan(100), cost(10, before=5), 0, [4, 5, 7, 9]),
        (plan(100), cost(10, before=6), 0, 8),
        (plan(100), cost(32), 0, [2]),
        (plan(100), cost(500), 0, [1]),
        (Plan(builds=7), cost(5), 0, []),
        # without a most as far as the budget reaches: the last look is the last round that fits
        (plan(200, None), [], 0, LONG),
        (plan(200, None), cost(1), 0, LONG),
        (plan(200, None), cost(6), 0, [4, 6, 8, 12, 18, 28, 31]),
        (plan(200, None), cost(10), 0, [4, 6, 8, 12, 18, 19]),
        (plan(200, None), cost(20), 0, [4, 5, 7, 9]),
        (plan(200, None), cost(500), 0, [1]),
        (plan(200, None, 60), [], 0, [60]),
        (plan(200, 100), cost(2), 0, 95),
        # by the first builds two rounds of 46.2 s fit; where they were linked again 46 s + 5% with the checks, then
        # rounds of 1 + 1 + 4 s + 5%: 8 of them in 51.7 s
        (plan(100), linked(), 0, 2),
        (plan(100), linked(checked=1.0), 0, 1 + 8),
        (plan(100), linked(checked=1.0, full=WhyNotRelinked(kind="unsound")), 0, 2),
        # 33.6 s each by a cold first round; after the second one 161.15 s are left for rounds of 5.25 s
        (plan(200), COLD, 0, [4, 5]),
        (plan(200), COLD, 1, [4, 5]),
        (plan(200), COLD, 2, LOOKS),
        # and so it stays, by the look line of the second round or by what came later
        (plan(200), [*COLD, Look(look=1), Look(look=2)], 0, LOOKS),
        (plan(200), [*COLD, Build(side="base", build=2, seconds=50.0)], 0, LOOKS),
        # as many as fit: 104.45 s for rounds of 14.7 s
        (plan(200), steps(75.0, 12.0), 2, 2 + 7),
        # a slower second round takes nothing away
        (plan(200), steps(14.0, 50.0), 2, planned_looks(plan(200), steps(14.0, 14.0))),
        # where the first round was judged already, nothing is changed
        (plan(200), steps(120.0, 3.0), 2, [1]),
        # the machine that has the fewest rounds says how many
        (plan(200), [*BOTH, Look(look=2), Look(look=2)], 0, 5),
        (plan(200), [*BOTH, Look(look=2)], 0, 5),
    ],
)
def test_looks_follow_the_budget(of: Plan, records: list[Record], done: int, expected: list[int] | int) -> None:
    found = planned_looks(of, records, done)
    assert (found[-1] if isinstance(expected, int) else found) == expected


def test_measuring_does_not_end_with_the_rounds_that_a_regression_lacks() -> None:
    # later rounds may be shorter than the first, and the budget says when to end
    for taken, done, expected in ((24.0, 0, [4, 5]), (500.0, 2, [4, 5]), (10.0, 0, [4, 5, 7, 9])):
        assert planned_looks(plan(100), cost(taken), done, 5) == expected
    assert planned_looks(plan(100, 3, 3), cost(500), 0, 5) == [3]
    run = Run(config={"plan": {**PLAN, "budget": "100s"}})
    records = [run, *cost(24.0), Look(look=1)]
    assert looks_of(run, records, config_of(run)) == [4, 5]


def test_without_look_lines_the_design_is_fixed() -> None:
    run = Run(config={"plan": PLAN})
    assert looks_of(run, [run], config_of(run)) == []
    assert looks_of(run, [run, Look(look=1)], config_of(run)) == LOOKS
    # a file of another tool, without a plan
    assert looks_of(None, [Look(look=3), Look(look=6)], None) == [3, 6]


def test_without_a_plan_the_run_line_or_the_measurements_say_where_the_looks_end() -> None:
    bare = lines(draw(7, [1.0], sd=0.03), 6)
    kept = [line for line in bare if line["type"] != "look" or line["look"] in (4, 6)]
    kept[0] = {"type": "run", "looks": 12}
    found = decided(kept, {"gate": {"detectable": "threshold"}})
    assert found.run.looks is not None and found.run.looks.rounds == [4, 6, 12]
    # the information at round 6 of 12 is the same, so little has been spent by either
    assert found.findings[0].decided_at.confidence > 0.99
    assert only(bare).decided_at.look == 2
    nothing = decided(kept[1:], "")
    assert nothing.run.looks is not None and nothing.run.looks.rounds == [4, 6]


def test_rounds_of_another_program_count_after_its_last_look() -> None:
    bare = lines(draw(7, [1.1], sd=0.01), 6)
    kept = [{"type": "run", "looks": 6}, *(line for line in bare if line.get("look", 3) == 3 and line["type"] != "run")]
    found = decided(kept, "")
    assert found.run.looks is not None and (found.run.looks.rounds, found.run.rounds.done) == ([3, 6], 6)
    assert (found.findings[0].verdict, found.findings[0].base.counts.build) == ("regression", 6)
    # perfgate's own looks after each round: what has no look was cut off
    cut = decided([{"type": "host", "when": "begin"}, *kept], "")
    assert (cut.run.rounds.done, cut.findings[0].base.counts.build) == (3, 3)


def test_a_look_before_the_first_values_of_a_side_takes_all_rounds() -> None:
    eight = lines({"b0": ([1.0 + r / 100 for r in range(8)], [1.0 + r / 90 for r in range(8)])}, 8)
    late = only([line for line in eight if line.get("side") != "head" or line["build"] >= 6])
    assert (late.verdict, late.head.counts.build) == ("inconclusive", 2)
    # before the first look what there is is judged once, and what came after the last one is named
    found = only(lines(draw(2, [1.0]), 3))
    assert (found.base.counts.build, found.decided_at.look, found.decided_at.looks) == (3, 1, 1)
    (said,) = texts(decided(lines(draw(12, [1.0], sd=0.3), 7)).warnings, "after-last-look")
    assert said.startswith("the last interim check was after round 6: ")


# --- what they settle -------------------------------------------------------------------------------------------------


def test_other_rules_do_not_test_old_data_at_the_levels_of_later_looks() -> None:
    rng = np.random.default_rng(8)
    means = draw(rng, [1.1, 1.0], sd=0.004)
    means["b1"] = draw(rng, [1.0], sd=0.3)["b0"]
    stopped = lines(means, 12, until={"b0": 6})
    stopped[0]["config"]["gate"] = {"threshold": "9.5%"}
    slow = next(f for f in decided(stopped).findings if f.benchmark == "b0")
    assert (slow.decided_at.look, slow.base.counts.build) == (2, 6)
    assert slow.decided_at.confidence == pytest.approx(1 - spending((*LOOKS,)).nominal(1, 0.05 / 2, paired=True))
    assert slow.ratio.confidence == 0.95


def test_a_first_look_that_spends_next_to_nothing_has_no_bounds_and_goes_on() -> None:
    gate = {"interval": "fieller", "confidence": 1 - 1e-6}
    found = lines(draw(11, [1.0], sd=0.01), 4, {"plan": {"builds": {"min": 2, "max": 12}}, "gate": gate})
    (result,) = decided(found).findings
    assert result.decided_at.low is None and result.decided_at.confidence > 0.999999
    assert isinstance(result.reason, reasons.TooWide)
    assert settled(found[:-2]) == frozenset()


def test_a_change_waits_for_min_builds_and_no_longer() -> None:
    found = decided(lines(draw(3, [1.5, 1.0], sd=0.0005), 12))
    slow, same = found.findings
    assert (slow.verdict, slow.decided_at.look, slow.decided_at.looks) == ("regression", 2, 4)
    assert (slow.base.counts.build, slow.stopped) == (6, "settled")
    assert EarlyStop(6, 12) in slow.warnings
    assert (same.verdict, same.decided_at.look, same.base.counts.build) == ("unchanged", 1, 4)
    assert found.run.looks is not None
    assert (found.run.looks.rounds, found.run.looks.used) == (LOOKS, 4)
    # an improvement does, too, rather than end as not worse: at the first look it is beyond doubt, and has four builds
    fast = only(lines(draw(9, [0.8], sd=0.0005), 12))
    assert (fast.verdict, fast.decided_at.look, fast.base.counts.build) == ("improvement", 2, 6)


def test_what_was_settled_keeps_its_data_whatever_comes_later() -> None:
    means = draw(4, [1.0, 1.0], sd=0.0005)
    # after the first look benchmark b0 would look like a disaster; b1 keeps the rounds coming
    means["b0"][1][4:] = [9.0] * 8
    first, second = decided(lines(means, 12)).findings
    assert (first.verdict, first.base.counts.build, second.verdict) == ("unchanged", 4, "unchanged")
    assert only(lines({"b0": means["b0"]}, 4)).ratio == first.ratio


class Fit:
    """Means, variances and Satterthwaite's degrees of one benchmark over its first rounds, written out."""

    def __init__(self, base: Sequence[float], head: Sequence[float], rounds: int) -> None:
        x, y = np.array(base[:rounds]), np.array(head[:rounds])
        self.x, self.y = float(x.mean()), float(y.mean())
        self.v_x, self.v_y = float(x.var(ddof=1)) / rounds, float(y.var(ddof=1)) / rounds
        w_x = self.v_x * (self.y / self.x) ** 2
        self.df = (w_x + self.v_y) ** 2 / (w_x**2 / (rounds - 1) + self.v_y**2 / (rounds - 1))

    def t(self, theta: float) -> float:
        return (self.y - theta * self.x) / math.sqrt(self.v_y + theta**2 * self.v_x)

    def critical(self, level: float) -> float:
        return float(stats.t.isf(level, self.df))


def literal(means: Means, alpha: float, d: float, reached: list[int]) -> dict[str, tuple[str, int]]:
    """Section 6 as it is written, with unpaired intervals: name -> (regression or settled or open, look)."""
    design = spending((*LOOKS,))
    state: dict[str, tuple[str, int]] = dict.fromkeys(means, ("open", 0))
    for k, rounds in enumerate(reached):
        fits = {name: Fit(*sides, rounds) for name, sides in means.items()}
        while True:
            j = sum(what == "regression" for what, _ in state.values())
            level = design.nominal(k, alpha / (len(means) - j)) / 2 if j < len(means) else 0.0
            beyond = [
                name for name, (what, _) in state.items()
                if what == "open" and rounds >= 5 and fits[name].t(1 + d) > fits[name].critical(level)
            ]  # fmt: skip
            if not beyond:
                break
            state[beyond[0]] = ("regression", k)
        for name in [name for name, (what, _) in state.items() if what == "open"]:
            not_worse = -fits[name].t(1 + d) > fits[name].critical(design.nominal(k, alpha) / 2)
            # an improvement in sight waits for its verdict
            faster = -fits[name].t(1.0) > fits[name].critical(alpha)
            promising = faster and fits[name].t(1 / (1 + d)) < 0
            state[name] = ("settled" if not_worse and not promising else "open", k)
    return state


@pytest.mark.parametrize("seed", some(range(25), 8, pytest.mark.nightly))
def test_against_the_procedure_as_it_is_written(seed: int) -> None:
    rng = np.random.default_rng(seed)
    means = draw(rng, list(rng.choice([0.98, 1.0, 1.02, 1.05, 1.08, 1.15], 8)), sd=float(rng.choice([0.01, 0.03])))
    rounds = int(rng.choice([4, 7, 8, 12]))
    found = decided(lines(means, rounds, {"gate": {"threshold": "2%", "floor": "0", "interval": "fieller"}})).findings
    expected = literal(means, 0.05, 0.02, [r for r in LOOKS if r <= rounds])
    for f in found:
        what, at = expected[f.benchmark]
        assert (f.verdict == "regression") == (what == "regression"), f.benchmark
        assert f.decided_at.look == at + 1, f.benchmark
        assert f.not_worse or what != "settled", f.benchmark


@pytest.mark.parametrize("seed", some(range(15), 8, pytest.mark.nightly))
@pytest.mark.parametrize("interval", ["fieller", "fieller-paired", "auto"])
def test_the_verdict_is_that_of_the_shown_interval_or_the_reason_says_why(seed: int, interval: str) -> None:
    rng = np.random.default_rng([seed, 1])
    means = draw(rng, list(rng.choice([0.9, 1.0, 1.02, 1.05, 1.15], 6)), sd=0.02, shared=0.02)
    config = {"gate": {"threshold": "2%", "floor": "0", "interval": interval}, "build": {"layouts": "common"}}
    for f in decided(lines(means, int(rng.choice([3, 6, 12])), config)).findings:
        # at a first look few degrees leave some sets without bounds
        low = -math.inf if f.decided_at.low is None else f.decided_at.low
        shown_low = -math.inf if f.ratio.low is None else f.ratio.low
        shown_high = math.inf if f.ratio.high is None else f.ratio.high
        assert f.ratio.confidence == 0.95
        enough = f.base.counts.build >= (4 if interval == "auto" else 5)
        assert (f.verdict == "regression") == (low > 1.02 and enough)
        within = shown_low > 1 / 1.02 and shown_high < 1.02
        asked = getattr(f.reason, "confidence", None) or 0.95
        if f.verdict not in ("regression", "improvement"):
            assert (f.verdict == "unchanged") == (within and asked == 0.95), f.reason
        # what is shown beyond the threshold, and no verdict, has a reason that says so
        beyond = shown_low > 1.02 or shown_high < 1 / 1.02
        if f.verdict == "inconclusive" and beyond:
            assert asked > 0.95 or isinstance(f.reason, (reasons.FewBuilds, reasons.BetterUncorrected)), f.reason
        assert shown_high < 1.02 or not f.not_worse
        assert f.ratio.method == ("paired-shared" if interval == "auto" else interval)


def test_paired_spends_nine_tenths_at_looks_only() -> None:
    found = lines(draw(1, [1.0]), 12, {"gate": {"interval": "fieller-paired", "threshold": "0%"}})
    early = only(found).decided_at
    assert early.confidence == pytest.approx(1 - spending((*LOOKS,)).nominal(3, 0.045))
    assert only([line for line in found if line["type"] != "look"]).ratio.confidence == pytest.approx(0.95)


def test_a_look_names_the_benchmarks_that_need_no_more() -> None:
    rng = np.random.default_rng(5)
    means = draw(rng, [1.0, 1.0, 1.4], sd=0.0005)
    means["b1"] = draw(rng, [1.0], sd=0.2)["b0"]
    # at the last no look is left
    expected = {3: set[str](), 4: {"b0"}, 6: {"b0", "b2"}, 12: {"b0", "b1", "b2"}}
    assert {rounds: settled(lines(means, rounds)) for rounds in expected} == expected


def test_a_run_that_stopped_early_does_not_look_incomplete_and_one_to_the_last_look_was_not_stopped() -> None:
    found = decided(lines(draw(6, [1.0, 1.0], sd=0.0005), 4, until={"b0": 4, "b1": 4}))
    assert (found.run.rounds.done, found.run.rounds.planned, found.warnings) == (4, 12, [])
    cut_short = decided(lines(draw(6, [1.0], sd=0.3), 5))
    assert RoundsShort(5, 12) in cut_short.warnings
    assert cut_short.findings[0].base.counts.build == 4
    means, wide = draw(3, [1.0, 1.5], sd=0.01), {"wide": ([1.0, 1.4] * 6, [1.4, 1.0] * 6)}
    whole = {f.benchmark: f.stopped for f in decided(lines(means | wide, 12)).findings}
    assert whole == {"b0": "settled", "b1": "settled", "wide": None}
    assert [decided(lines(wide, rounds)).stopped for rounds in (12, 8)] == [None, "budget"]
    assert decided(lines({"b1": means["b1"]}, 6)).stopped is None


@pytest.mark.parametrize(("done", "ends"), [(1, set()), (4, set()), (6, {"case-0"}), (7, {"case-0"})])
def test_what_nothing_settles_is_measured_up_to_the_last_look(done: int, ends: set[str]) -> None:
    # no change, with a spread that leaves everything open
    base = simulate.sample(np.random.default_rng(1), simulate.normal, (0.2, 0, 0), (6, 1, 1), 1.0)
    evidence = msgspec.structs.replace(
        simulate.evidence([(base, msgspec.structs.replace(base, values=base.values[::-1].copy()))]),
        looks=[2, 4, 6], rounds=RoundsDone(done=done, planned=6),
    )  # fmt: skip
    assert look(evidence, Policy(Config(gate=Gate(detectable=Detectable(0))), "test", TODAY)) == ends


def test_an_improvement_in_sight_is_not_given_up() -> None:
    rng = np.random.default_rng(5)
    config: dict[str, Any] = {"gate": {"threshold": "2%", "detectable": "10%", "interval": "fieller-paired"}}
    # half of them were given up as no slowdown before their improvement was shown
    alone = [only(lines(draw(rng, [0.9], sd=0.045), 12, config)).verdict for _ in range(40)]
    assert alone.count("improvement") >= 28
    # beside others: at the first look 10% faster is plain, but not at the little that the look may spend
    rng = np.random.default_rng(21)
    config = {"gate": {"threshold": "2%", "detectable": None}}
    found = [f for _ in range(8) for f in decided(lines(draw(rng, [0.9, *[1.0] * 9], sd=0.03), 12, config)).findings]
    assert [f.verdict for f in found if f.benchmark == "b0"].count("improvement") >= 6
    assert any(f.verdict == "no-sign" and f.decided_at.look == 1 for f in found if f.benchmark != "b0")


def test_many_cases_with_common_layouts_share_their_variance_in_a_short_plan_too() -> None:
    # four builds are too few for one finding of twenty by itself, and for an unpaired interval altogether
    config = {"gate": {"threshold": "2%"}, "plan": {"builds": 4}, "build": {"layouts": "common"}}
    slow = decided(lines(draw(22, [1.5, *[1.0] * 19], sd=0.01), 4, config)).findings[0]
    assert (slow.benchmark, slow.verdict, slow.ratio.method) == ("b0", "regression", "paired-shared")


def test_what_was_given_up_in_a_large_report_is_no_sign_when_it_is_asked_for_alone() -> None:
    config = {"gate": {"threshold": "2%", "detectable": "60%"}}
    means = draw(23, [1.0] * 10, sd=0.08)
    found = decided(lines(means, 12, config))
    until = {f.benchmark: f.base.counts.build for f in found.findings if f.verdict == "no-sign"}
    early = [name for name, rounds in until.items() if rounds < max(until.values())]
    assert len(early) >= 5
    kept = lines(means, 12, config, until=until)
    alone = policy_by(kept[0]["config"])
    for name in early:
        (finding,) = decide(gather(located(*kept), alone.config, [name]), alone).findings
        assert (finding.verdict, finding.stopped) in (("no-sign", "futility"), ("unchanged", "settled"))
