"""Early stopping (docs/method.md): the looks, what is settled at each, and that the verdict is the shown interval's."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy import stats

from gate.config.rules import Policy
from gate.config.types import Builds, Config, Detectable, Gate, Plan
from gate.decide import decide, look
from gate.evidence.gather import gather
from gate.evidence.looks import looks_of, planned_looks
from gate.evidence.runs import config_of
from gate.model import SIDES, Build, Execution, Look, Metric, Round, Run, reasons
from gate.model.records import FullBuilds
from gate.model.warnings.estimates import EarlyStop
from gate.model.warnings.measured import AfterLastLook, RoundsShort
from gate.stats.sequential import spending
from gate.units import Duration
from tests.gate.decide.decided import TODAY, decided, policy_by, settled
from tests.support import simulate
from tests.support.lines import execution, located
from tests.support.seeds import some

PLAN = {"builds": {"min": 4, "max": 12}, "executions": 1}
Means = dict[str, tuple[list[float], list[float]]]


def lines(
    means: Means, rounds: int, config: dict[str, Any] | None = None, until: dict[str, int] | None = None
) -> list[dict[str, Any]]:
    """A run of some rounds with one value a build; until: the round after which a benchmark was settled."""
    gate = {"threshold": "3%", "detectable": "threshold", **(config or {}).get("gate", {})}
    tables = {"plan": PLAN, **(config or {}), "gate": gate}
    found: list[dict[str, Any]] = [{"type": "run", "seed": 1, "looks": 12, "config": tables}]
    for r in range(rounds):
        for name, sides in means.items():
            if (until or {}).get(name, rounds) <= r:
                continue
            for side, values in zip(("base", "head"), sides, strict=True):
                found.append(execution(side, [values[r]], build=r, benchmark=name))
        settled = [name for name, last in (until or {}).items() if last == r + 1]
        found.append({"type": "look", "look": r + 1, "settled": settled})
    return found


def test_a_look_before_the_first_values_of_a_side_takes_all_rounds() -> None:
    found = lines({"b0": ([1.0 + r / 100 for r in range(8)], [1.0 + r / 90 for r in range(8)])}, 8)
    late = [line for line in found if line.get("side") != "head" or line["build"] >= 6]
    (finding,) = decided(late).findings
    assert (finding.verdict, finding.head.counts.build) == ("inconclusive", 2)


def draw(rng: np.random.Generator, ratios: list[float], sd: float = 0.02, shared: float = 0.0) -> Means:
    means: Means = {}
    for k, ratio in enumerate(ratios):
        drift = rng.normal(0, shared, 12)
        means[f"b{k}"] = (
            (1 + drift + rng.normal(0, sd, 12)).tolist(),
            (ratio * (1 + drift + rng.normal(0, sd, 12))).tolist(),
        )
    return means


def cost(seconds: float, setup: float = 0.0, before: float | None = None) -> list[Build | Execution]:
    metric = {"time": Metric(unit="s", values=[1.0])}
    first = Execution(benchmark="a", side="base", build=0, execution=0, seconds=seconds / 2, metrics=metric)
    first = msgspec.structs.replace(first, before=before)
    later = Execution(benchmark="a", side="base", build=1, execution=0, seconds=1e6, metrics=metric)
    return [Build(side="base", build=0, seconds=seconds / 2, setup=setup), first, later]


def test_the_looks_follow_the_budget_by_what_round_one_cost() -> None:
    plan = Plan(builds=Builds(min=4, max=12), budget=Duration(100))
    assert planned_looks(plan, []) == [4, 6, 8, 12]
    assert planned_looks(plan, cost(5)) == [4, 6, 8, 12]
    # 5% are for what perfgate does between the steps: 9 rounds of 10.5 s, 8 of 11.55 s
    assert planned_looks(plan, cost(10)) == [4, 5, 7, 9]
    assert planned_looks(plan, cost(11))[-1] == 8
    # set-up comes first
    assert planned_looks(plan, cost(10, setup=5)) == [4, 5, 7, 9]
    assert planned_looks(plan, cost(10, setup=6))[-1] == 8
    assert planned_looks(plan, cost(10, setup=200)) == [1]
    # and so do proofs and the first starts on base
    assert planned_looks(plan, cost(10, before=5)) == [4, 5, 7, 9]
    assert planned_looks(plan, cost(10, before=6))[-1] == 8
    assert planned_looks(plan, cost(32)) == [2]
    assert planned_looks(plan, cost(500)) == [1]
    assert planned_looks(Plan(builds=7), cost(5)) == []


def test_a_plan_without_a_most_looks_as_far_as_its_budget_reaches() -> None:
    plan = Plan(builds=Builds(min=4), budget=Duration(200))
    assert planned_looks(plan, []) == [4, 6, 8, 12, 18, 28, 56]
    assert planned_looks(plan, cost(1)) == [4, 6, 8, 12, 18, 28, 56]
    # the last look is the last round that fits
    assert planned_looks(plan, cost(6)) == [4, 6, 8, 12, 18, 28, 31]
    assert planned_looks(plan, cost(10)) == [4, 6, 8, 12, 18, 19]
    assert planned_looks(plan, cost(20)) == [4, 5, 7, 9]
    assert planned_looks(plan, cost(500)) == [1]
    assert planned_looks(Plan(builds=Builds(min=60), budget=Duration(200)), []) == [60]
    assert planned_looks(Plan(builds=Builds(min=4, max=100), budget=Duration(200)), cost(2))[-2:] == [56, 95]


def test_a_round_after_the_first_costs_links_where_the_first_build_was_linked_again() -> None:
    plan = Plan(builds=Builds(min=4, max=12), budget=Duration(100))
    metric = {"time": Metric(unit="s", values=[1.0])}
    ran = Execution(benchmark="a", side="base", build=0, execution=0, seconds=4.0, metrics=metric)

    def last(**how: Any) -> int:
        builds = [Build(side=side, build=0, seconds=20.0, **how) for side in SIDES]
        return planned_looks(plan, [*builds, ran])[-1]

    # by the first builds alone two rounds of 46.2 s fit
    assert last() == 2
    # 46 s + 5% with the checks, then rounds of 1 + 1 + 4 s + 5%: 8 of them in 51.7 s
    assert last(checked=1.0) == 1 + 8
    assert last(checked=1.0, full=FullBuilds(kind="unsound")) == 2


def test_builds_of_round_two_restore_what_a_cold_first_build_took_away() -> None:
    plan = Plan(builds=Builds(min=4, max=12), budget=Duration(200))

    def steps(first: float, second: float, *, executing: float = 2.0, session: int = 0) -> list[Build | Execution]:
        metric = {"time": Metric(unit="s", values=[1.0])}
        found: list[Build | Execution] = []
        # what executions of the second round take is perhaps a value, and moves nothing
        for number, building, own in ((0, first, executing), (1, second, 7.5)):
            found += [Build(side=side, build=number, seconds=building / 2, session=session) for side in SIDES]
            ran: dict[str, Any] = {
                "benchmark": "a",
                "side": "base",
                "build": number,
                "execution": 0,
                "session": session,
            }
            found.append(Execution(**ran, seconds=own, metrics=metric))
        return found

    cold = steps(30.0, 3.0)
    # 33.6 s each by the first round; after the second one 161.15 s are left for rounds of 5.25 s
    assert planned_looks(plan, cold) == [4, 5]
    assert planned_looks(plan, cold, done=1) == [4, 5]
    assert planned_looks(plan, cold, done=2) == [4, 6, 8, 12]
    # and so it stays, by the look line of the second round or by what came later
    assert planned_looks(plan, [*cold, Look(look=1), Look(look=2)]) == [4, 6, 8, 12]
    third = Build(side="base", build=2, seconds=50.0)
    assert planned_looks(plan, [*cold, third]) == [4, 6, 8, 12]
    # as many as fit: 104.45 s for rounds of 14.7 s
    assert planned_looks(plan, steps(75.0, 12.0), done=2)[-1] == 2 + 7
    # a slower second round takes nothing away
    assert planned_looks(plan, steps(14.0, 50.0), done=2) == planned_looks(plan, steps(14.0, 14.0))
    # where the first round was judged already, nothing is changed
    assert planned_looks(plan, steps(120.0, 3.0), done=2) == [1]
    # the machine that has the fewest rounds says how many
    both = [*cold, *steps(30.0, 30.0, session=1)]
    assert planned_looks(plan, [*both, Look(look=2), Look(look=2)])[-1] == 5
    assert planned_looks(plan, [*both, Look(look=2)])[-1] == 5


def test_without_look_lines_the_design_is_fixed() -> None:
    run = Run(config={"plan": PLAN})
    assert looks_of(run, [run], config_of(run)) == []
    assert looks_of(run, [run, Look(look=1)], config_of(run)) == [4, 6, 8, 12]
    # a file of another tool, without a plan
    assert looks_of(None, [Look(look=3), Look(look=6)], None) == [3, 6]


def test_without_a_plan_the_run_line_or_the_measurements_say_where_the_looks_end() -> None:
    rng = np.random.default_rng(7)
    bare = lines(draw(rng, [1.0], sd=0.03), 6)
    kept = [line for line in bare if line["type"] != "look" or line["look"] in (4, 6)]
    kept[0] = {"type": "run", "looks": 12}
    config = Config(gate=Gate(detectable=Detectable(0)))
    found = decide(gather(located(*kept), config), Policy(config, "test", TODAY))
    assert found.run.looks is not None and found.run.looks.rounds == [4, 6, 12]
    planned = decided(bare)
    # the information at round 6 of 12 is the same, so little has been spent by either
    assert found.findings[0].decided_at.confidence > 0.99
    assert planned.findings[0].decided_at.look == 2
    nothing = decide(gather(located(*kept[1:]), Config()), Policy(Config(), "test", TODAY))
    assert nothing.run.looks is not None and nothing.run.looks.rounds == [4, 6]


def test_rounds_of_another_program_count_after_its_last_look() -> None:
    bare = lines(draw(np.random.default_rng(7), [1.1], sd=0.01), 6)
    kept = [{"type": "run", "looks": 6}, *(line for line in bare if line.get("look", 3) == 3 and line["type"] != "run")]
    found = decided(kept, "")
    assert found.run.looks is not None and (found.run.looks.rounds, found.run.rounds.done) == ([3, 6], 6)
    assert (found.findings[0].verdict, found.findings[0].base.counts.build) == ("regression", 6)
    # perfgate's own looks after each round: what has no look was cut off
    cut = decided([{"type": "host", "when": "begin"}, *kept], "")
    assert (cut.run.rounds.done, cut.findings[0].base.counts.build) == (3, 3)


def test_other_rules_do_not_test_old_data_at_the_levels_of_later_looks() -> None:
    rng = np.random.default_rng(8)
    means = draw(rng, [1.1, 1.0], sd=0.004)
    means["b1"] = draw(rng, [1.0], sd=0.3)["b0"]
    stopped = lines(means, 12, until={"b0": 6})
    stopped[0]["config"]["gate"] = {"threshold": "9.5%"}
    slow = next(f for f in decided(stopped).findings if f.benchmark == "b0")
    assert (slow.decided_at.look, slow.base.counts.build) == (2, 6)
    design = spending((4, 6, 8, 12))
    assert slow.decided_at.confidence == pytest.approx(1 - design.nominal(1, 0.05 / 2, paired=True))
    assert slow.ratio.confidence == 0.95


def test_a_first_look_that_spends_next_to_nothing_has_no_bounds_and_goes_on() -> None:
    rng = np.random.default_rng(11)
    plan = {"builds": {"min": 2, "max": 12}}
    means = draw(rng, [1.0], sd=0.01)
    found = lines(means, 4, {"plan": plan, "gate": {"interval": "fieller", "confidence": 1 - 1e-6}})
    result = decided(found)
    assert result.findings[0].decided_at.low is None
    assert (
        isinstance(result.findings[0].reason, reasons.TooWide) and result.findings[0].decided_at.confidence > 0.999999
    )
    assert settled(found[:-2]) == frozenset()


def test_what_came_after_the_last_look_is_named() -> None:
    rng = np.random.default_rng(12)
    found = decided(lines(draw(rng, [1.0], sd=0.3), 7))
    assert AfterLastLook(6) in found.warnings


def test_a_large_regression_waits_for_min_builds_and_no_longer() -> None:
    rng = np.random.default_rng(3)
    found = decided(lines(draw(rng, [1.5, 1.0], sd=0.0005), 12))
    slow, same = found.findings
    assert (slow.verdict, slow.decided_at.look, slow.decided_at.looks) == ("regression", 2, 4)
    assert slow.base.counts.build == 6
    assert EarlyStop(6, 12) in slow.warnings
    assert slow.stopped == "settled"
    assert (same.verdict, same.decided_at.look, same.base.counts.build) == ("unchanged", 1, 4)
    assert found.run.looks is not None
    assert (found.run.looks.rounds, found.run.looks.used) == ([4, 6, 8, 12], 4)


def test_an_improvement_waits_for_its_verdict_rather_than_end_as_not_worse() -> None:
    rng = np.random.default_rng(9)
    (found,) = decided(lines(draw(rng, [0.8], sd=0.0005), 12)).findings
    # at the first look it is beyond doubt, and has four builds
    assert (found.verdict, found.decided_at.look, found.base.counts.build) == ("improvement", 2, 6)


def test_what_was_settled_keeps_its_data_whatever_comes_later() -> None:
    rng = np.random.default_rng(4)
    means = draw(rng, [1.0, 1.0], sd=0.0005)
    # after the first look benchmark b0 would look like a disaster; b1 keeps the rounds coming
    means["b0"][1][4:] = [9.0] * 8
    first, second = decided(lines(means, 12)).findings
    assert (first.verdict, first.base.counts.build) == ("unchanged", 4)
    assert second.verdict == "unchanged"
    short = decided(lines({"b0": means["b0"]}, 4)).findings[0]
    assert short.ratio == first.ratio


class Fit:
    """Means, variances and Satterthwaite's degrees of one benchmark over its first rounds, written out."""

    def __init__(self, base: list[float], head: list[float], rounds: int) -> None:
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
    design = spending((4, 6, 8, 12))
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
    config = {"gate": {"threshold": "2%", "floor": "0", "interval": "fieller"}}
    found = decided(lines(means, rounds, config)).findings
    reached = [r for r in (4, 6, 8, 12) if r <= rounds]
    expected = literal(means, 0.05, 0.02, reached)
    for f in found:
        what, at = expected[f.benchmark]
        assert (f.verdict == "regression") == (what == "regression"), f.benchmark
        assert f.decided_at.look == at + 1, f.benchmark
        assert f.not_worse or what != "settled", f.benchmark


@pytest.mark.parametrize("seed", some(range(15), 8, pytest.mark.nightly))
@pytest.mark.parametrize("interval", ["fieller", "fieller-paired", "auto"])
def test_the_verdict_is_the_one_that_the_shown_interval_gives_or_the_reason_says_why_not(
    seed: int, interval: str
) -> None:
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
    rng = np.random.default_rng(1)
    means = draw(rng, [1.0])
    gate = {"gate": {"interval": "fieller-paired", "threshold": "0%"}}
    (early,) = decided(lines(means, 12, gate)).findings
    assert early.decided_at.confidence == pytest.approx(1 - spending((4, 6, 8, 12)).nominal(3, 0.045))
    fixed = [line for line in lines(means, 12, gate) if line["type"] != "look"]
    assert decided(fixed).findings[0].ratio.confidence == pytest.approx(0.95)


def test_before_the_first_look_what_there_is_is_judged_once() -> None:
    rng = np.random.default_rng(2)
    (found,) = decided(lines(draw(rng, [1.0]), 3)).findings
    assert (found.base.counts.build, found.decided_at.look, found.decided_at.looks) == (3, 1, 1)


def test_a_look_names_the_benchmarks_that_need_no_more() -> None:
    rng = np.random.default_rng(5)
    means = draw(rng, [1.0, 1.0, 1.4], sd=0.0005)
    means["b1"] = draw(rng, [1.0], sd=0.2)["b0"]

    # at the last no look is left
    expected = {3: set[str](), 4: {"b0"}, 6: {"b0", "b2"}, 12: {"b0", "b1", "b2"}}
    assert {rounds: settled(lines(means, rounds)) for rounds in expected} == expected


def test_a_run_that_stopped_early_does_not_look_incomplete() -> None:
    rng = np.random.default_rng(6)
    means = draw(rng, [1.0, 1.0], sd=0.0005)
    found = decided(lines(means, 4, until={"b0": 4, "b1": 4}))
    assert (found.run.rounds.done, found.run.rounds.planned) == (4, 12)
    assert found.warnings == []
    cut_short = decided(lines(draw(rng, [1.0], sd=0.3), 5))
    assert RoundsShort(5, 12) in cut_short.warnings
    assert cut_short.findings[0].base.counts.build == 4


def test_what_is_measured_to_the_last_look_was_not_stopped() -> None:
    means = draw(np.random.default_rng(3), [1.0, 1.5], sd=0.01)
    wide = {"wide": ([1.0, 1.4] * 6, [1.4, 1.0] * 6)}
    whole = {f.benchmark: f for f in decided(lines(means | wide, 12)).findings}
    assert {name: f.stopped for name, f in whole.items()} == {"b0": "settled", "b1": "settled", "wide": None}
    assert decided(lines(wide, 12)).stopped is None
    assert decided(lines(wide, 8)).stopped == "budget"
    assert decided(lines({"b1": means["b1"]}, 6)).stopped is None


@pytest.mark.parametrize(("done", "ends"), [(1, set()), (2, set()), (4, set()), (6, {"case-0"}), (7, {"case-0"})])
def test_what_nothing_settles_is_measured_up_to_the_last_look(done: int, ends: set[str]) -> None:
    # no change, with a spread that leaves everything open
    base = simulate.sample(np.random.default_rng(1), simulate.normal, (0.2, 0, 0), (6, 1, 1), 1.0)
    evidence = msgspec.structs.replace(
        simulate.evidence([(base, msgspec.structs.replace(base, values=base.values[::-1].copy()))]),
        looks=[2, 4, 6], rounds=Round(done=done, planned=6),
    )  # fmt: skip
    assert look(evidence, Policy(Config(gate=Gate(detectable=Detectable(0))), "test", TODAY)) == ends


def test_an_improvement_in_sight_is_not_given_up() -> None:
    rng = np.random.default_rng(5)
    config = {"gate": {"threshold": "2%", "detectable": "10%", "interval": "fieller-paired"}}
    # half of them were given up as no slowdown before their improvement was shown
    alone = [decided(lines(draw(rng, [0.9], sd=0.045), 12, config)).findings[0].verdict for _ in range(40)]
    assert alone.count("improvement") >= 28


def test_an_improvement_beside_others_is_not_given_up() -> None:
    # at the first look 10% faster is plain, but not at the little that the look may spend
    rng = np.random.default_rng(21)
    config = {"gate": {"threshold": "2%", "detectable": None}}
    found = [f for _ in range(8) for f in decided(lines(draw(rng, [0.9, *[1.0] * 9], sd=0.03), 12, config)).findings]
    fast = [f.verdict for f in found if f.benchmark == "b0"]
    assert fast.count("improvement") >= 6
    assert any(f.verdict == "no-sign" and f.decided_at.look == 1 for f in found if f.benchmark != "b0")


def test_many_cases_with_common_layouts_share_their_variance_in_a_short_plan_too() -> None:
    # four builds are too few for one finding of twenty by itself, and for an unpaired interval altogether
    rng = np.random.default_rng(22)
    config = {"gate": {"threshold": "2%"}, "plan": {"builds": 4}, "build": {"layouts": "common"}}
    fixed = [line for line in lines(draw(rng, [1.5, *[1.0] * 19], sd=0.01), 4, config) if line["type"] != "look"]
    slow = next(f for f in decided(fixed).findings if f.benchmark == "b0")
    assert (slow.verdict, slow.ratio.method) == ("regression", "paired-shared")


def test_what_was_given_up_in_a_large_report_is_no_sign_when_it_is_asked_for_alone() -> None:
    rng = np.random.default_rng(23)
    config = {"gate": {"threshold": "2%", "detectable": "60%"}}
    means = draw(rng, [1.0] * 10, sd=0.08)
    found = decided(lines(means, 12, config))
    until = {f.benchmark: f.base.counts.build for f in found.findings if f.verdict == "no-sign"}
    early = [name for name, rounds in until.items() if rounds < max(until.values())]
    assert len(early) >= 5
    kept = lines(means, 12, config, until=until)
    alone = policy_by(kept[0]["config"])
    for name in early:
        (finding,) = decide(gather(located(*kept), alone.config, [name]), alone).findings
        assert (finding.verdict, finding.stopped) in (("no-sign", "futility"), ("unchanged", "settled"))
