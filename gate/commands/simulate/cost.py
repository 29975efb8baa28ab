"""The cost of a gate with memory and looks, compared with a fixed design of K&J's interval of equal power."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from gate.commands.simulate.arrays.components import NORMAL, TABLE_VII, Components, timing
from gate.commands.simulate.arrays.draws import Source
from gate.commands.simulate.arrays.studies import Reports
from gate.commands.simulate.arrays.verdicts import Rules
from gate.commands.simulate.coverage import MEMORY_DF
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Row, percent, plain, row
from gate.stats.cheapest import cheapest
from gate.stats.plan_types import Aim, Limits, Plan, PlannedCase, Terms
from gate.stats.planning import Components as Planned
from gate.stats.planning import Costs, Counts, Interval
from gate.stats.power import power

EFFECTS = (0.05, 0.10)
BUILD_SECONDS = (1200.0, 60.0, 10.0)
FIXED = Counts(5, 10, 10)
THRESHOLD = 0.02
ALPHA = 0.05
MOST_BUILDS = 12
_BELOW = 0.01
"""The plan may lose at most two points of power."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One benchmark at one cost of a build: the fixed design, the plan, and the studies of both."""

    name: str
    costs: Costs
    plan: Plan
    without: Reports
    fixed: tuple[Reports, ...]
    planned: tuple[Reports, ...]
    """without, fixed and planned: the plan without a change, and both designs at each of EFFECTS."""

    @property
    def studies(self) -> tuple[Reports, ...]:
        """Every study of the comparison."""
        return (self.without, *self.fixed, *self.planned)

    def time(self, results: Results, study: Reports) -> float:
        """Return the mean measuring time of the plan over that of the fixed design."""
        counts = results.of(study)
        rounds = float(counts.rounds[0]) / counts.reports
        each = self._round(self.plan.executions, self.plan.iterations)
        return rounds * each / (FIXED.builds * self._round(FIXED.executions, FIXED.iterations))

    def mean_time(self, results: Results) -> float:
        """Return the mean of time over no change and EFFECTS."""
        every = (self.without, *self.planned)
        return sum(self.time(results, study) for study in every) / len(every)

    def lost(self, results: Results) -> list[float]:
        """Return the power lost against the fixed design, at each of EFFECTS."""
        return [
            results.of(fixed).failing - results.of(planned).failing
            for fixed, planned in zip(self.fixed, self.planned, strict=True)
        ]

    def _round(self, executions: int, iterations: int) -> float:
        return self.costs.build + executions * self.costs.of_execution(iterations)


def compared() -> list[Compared]:
    """Plan every benchmark of Table VII at every cost of a build."""
    return [_compare(component, seconds) for component in TABLE_VII for seconds in BUILD_SECONDS]


def _compare(component: Components, build_seconds: float) -> Compared:
    pace = timing(component.name)
    costs = Costs(build_seconds, 0.0, pace.warmup * pace.iteration, pace.iteration)
    variances = Planned(component.iteration**2, component.execution**2, component.build**2)
    kj = Interval("fieller-kj")
    aims = tuple(
        Aim(None, e, power(variances, FIXED, e, threshold=THRESHOLD, alpha=ALPHA, interval=kj) - _BELOW)
        for e in EFFECTS
    )
    case = PlannedCase(component.name, variances, costs, THRESHOLD, aims, degrees=float(MEMORY_DF))
    plan = cheapest([case], Terms(ALPHA, 1, 5, gives_up=True), Limits(builds=MOST_BUILDS))
    if plan is None:
        raise ValueError(f"no plan for {component.name}")
    fixed = Rules(THRESHOLD, "fieller-kj", (FIXED.builds,))
    early = Rules(THRESHOLD, "fieller-moderated", plan.looks, "fieller")
    as_planned = dataclasses.replace(component, executions=plan.executions, iterations=plan.iterations)

    def study(measured: Components, change: float, rules: Rules) -> Reports:
        return Reports(Source((measured,), NORMAL), (1 + change,), rules, MEMORY_DF)

    return Compared(
        name=component.name,
        costs=costs,
        plan=plan,
        without=study(as_planned, 0.0, early),
        fixed=tuple(study(component, e, fixed) for e in EFFECTS),
        planned=tuple(study(as_planned, e, early) for e in EFFECTS),
    )


def draft(designs: list[Compared]) -> Draft:
    """Write the chapter."""
    changes = [f"+{plain(e)}" for e in EFFECTS]
    titles = ("case", "build", "looks", "in a build", "none", *changes, "mean", *(f"power {c}" for c in changes))
    every = tuple(study for design in designs for study in design.studies)

    def mean(results: Results) -> str:
        return f"{sum(d.mean_time(results) for d in designs) / len(designs):.2f}"

    last = row("mean", "", "", "", "", *("" for _ in EFFECTS), Ask(every, mean), *("" for _ in EFFECTS))
    return Draft(
        "Cost",
        (
            (
                "Measuring time over that of the fixed design with K&J's interval, 5 builds x 10 x 10, at a "
                f"threshold of {plain(THRESHOLD)}, one case. The plan is the cheapest that `perfgate plan` finds "
                "with a memory of 20 degrees and looks, and whose power is within two points of the fixed "
                "design's. Builds take 1200, 60 and 10 s; times of iterations and 30% of warm-up as in K&J 8.1. Time "
                "without a change, with each change, and the mean. The last columns are the power of the plan and of "
                "the fixed design."
            ),
            DraftTable(titles, (*(_line(design) for design in designs), last), names=1),
        ),
    )


def _line(design: Compared) -> Row:
    def time(study: Reports) -> Ask[str]:
        return Ask((study,), lambda results: f"{design.time(results, study):.2f}")

    def powers(index: int) -> Callable[[Results], str]:
        def show(results: Results) -> str:
            planned, fixed = (results.of(of[index]).failing for of in (design.planned, design.fixed))
            return f"{percent(planned, 0)[:-1]} / {percent(fixed, 0)}"

        return show

    return row(
        design.name,
        f"{design.costs.build:g} s",
        ", ".join(map(str, design.plan.looks)),
        f"{design.plan.executions} x {design.plan.iterations}",
        time(design.without),
        *(time(study) for study in design.planned),
        Ask(design.studies, lambda results: f"{design.mean_time(results):.2f}"),
        *(Ask(design.studies, powers(index)) for index in range(len(EFFECTS))),
    )
