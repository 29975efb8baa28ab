"""What planned measuring costs, against fixed fieller-kj of 5 builds x 10 executions x 10 iterations.

The benchmarks are those of Kalibera and Jones 2012, Table VII, with iteration times and a warm-up of 30% as in 8.1, at
three costs of a build. The planner knows the components, a memory of 20 degrees holds them with its own error, and the
gate decides look by look, giving the memory up where the run does not look like it. Time is what was measured until the
finding was settled, the mean over true changes of +5% and +10%. What calibration has cost is not in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gate.commands.simulate.arrays.components import NORMAL, TABLE_VII, timing
from gate.commands.simulate.arrays.components import Components as Simulated
from gate.commands.simulate.arrays.draws import Source
from gate.commands.simulate.arrays.pairs import Interval
from gate.commands.simulate.arrays.studies import Reports
from gate.commands.simulate.arrays.verdicts import Rules
from gate.stats.cheapest import cheapest
from gate.stats.plan_types import Aim, Limits, PlannedCase, Terms, seconds
from gate.stats.planning import Components, Costs, Counts
from gate.stats.round_ratio import KEYED, is_paired

ALPHA = 0.05
THRESHOLD = 0.02
CHANGES = (0.05, 0.10)
BUILDS = (1200.0, 60.0, 10.0)
"""Seconds of one build."""
DEGREES = 20
FIXED = Counts(5, 10, 10)
MIN_BUILDS = 5

MEAN_RATIO = {1200.0: 0.66, 60.0: 0.63, 10.0: 0.5}
"""By the seconds of a build: where builds are what costs, 3 of 5 are the least that a memory allows."""
LARGEST_RATIO = 0.72
LOST_POWER = 0.02
AIMED = 0.01
"""Power that the planner is allowed to lose: half of what is promised, since it goes by formulas."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One benchmark: power of the fixed design and of the plan, and seconds of the plan over those of the fixed one.

    All by true change: no change, then CHANGES.
    """

    name: str
    looks: tuple[int, ...]
    counts: Counts
    fixed: tuple[float, ...]
    planned: tuple[float, ...]
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        return float(np.mean(self.ratios[1:]))


def case_of(simulated: Simulated, build: float, powers: tuple[float, ...]) -> PlannedCase:
    clock = timing(simulated.name)
    return PlannedCase(
        benchmark=simulated.name,
        components=Components(simulated.iteration**2, simulated.execution**2, simulated.build**2),
        costs=Costs(build, 0.0, clock.warmup * clock.iteration, clock.iteration),
        threshold=THRESHOLD,
        aims=tuple(Aim(None, change, power) for change, power in zip(CHANGES, powers, strict=True)),
        degrees=DEGREES,
    )


def shares(simulated: Simulated, rules: Rules, change: float, reports: int, seed: int) -> tuple[float, float]:
    """Power (or false alarms), and the mean number of rounds until the finding is settled."""
    study = Reports(Source((simulated,), NORMAL), (1 + change,), rules, DEGREES)
    found = study.run(np.random.default_rng([seed, rules.looks[-1]]), reports)
    return float(found.regression[0]) / reports, float(found.rounds[0]) / reports


def outcome(simulated: Simulated, build: float, reports: int, seed: int = 1) -> Outcome:
    changes = (0.0, *CHANGES)
    kj = Rules(THRESHOLD, "fieller-kj", (FIXED.builds,), min_builds=MIN_BUILDS)
    fixed = tuple(shares(simulated, kj, change, reports, seed)[0] for change in changes)
    case = case_of(simulated, build, tuple(power - AIMED for power in fixed[1:]))
    plan = cheapest([case], Terms(ALPHA, 1, MIN_BUILDS), Limits())
    assert plan is not None and plan.reached
    fallback: Interval = "paired" if is_paired(plan.counts.builds, ALPHA, 1, KEYED) else "fieller"
    rules = Rules(THRESHOLD, "fieller-moderated", plan.looks, fallback, min_builds=MIN_BUILDS)
    measured = replace(simulated, executions=plan.executions, iterations=plan.iterations)
    found = [shares(measured, rules, change, reports, seed) for change in changes]
    a_round = seconds([case], Counts(1, plan.executions, plan.iterations))
    ratios = tuple(rounds * a_round / seconds([case], FIXED) for _, rounds in found)
    return Outcome(simulated.name, plan.looks, plan.counts, fixed, tuple(power for power, _ in found), ratios)


def check(found: Outcome, reports: int) -> None:
    assert found.ratio <= LARGEST_RATIO, found
    for wanted, power in zip(found.fixed[1:], found.planned[1:], strict=True):
        # of a difference of two simulated shares
        error = math.sqrt(2 * max(wanted * (1 - wanted), 1 / reports) / reports)
        assert power >= wanted - LOST_POWER - 3 * error, found
    assert found.planned[0] <= ALPHA / 2


def test_planned_measuring_of_one_benchmark() -> None:
    (fft,) = (c for c in TABLE_VII if c.name == "FFT")
    check(outcome(fft, 1200.0, 800), 800)


@pytest.mark.promise
@pytest.mark.parametrize("build", BUILDS)
def test_cost_promise(build: float) -> None:
    found = [outcome(c, build, 40_000) for c in TABLE_VII]
    for each in found:
        check(each, 40_000)
    assert np.mean([each.ratio for each in found]) <= MEAN_RATIO[build]
