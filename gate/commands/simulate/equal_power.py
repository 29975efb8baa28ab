"""What a gate costs against K&J's fixed design that finds the same change as often, alone and in large reports."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from gate.commands.simulate.arrays.components import NORMAL, TABLE_VII, Components, timing
from gate.commands.simulate.arrays.draws import Source
from gate.commands.simulate.arrays.studies import ReportCounts, Reports
from gate.commands.simulate.arrays.verdicts import Rules
from gate.commands.simulate.cost import ALPHA, BUILD_SECONDS, FIXED, MOST_BUILDS, THRESHOLD
from gate.commands.simulate.coverage import MEMORY_DF
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Row, percent, plain, row
from gate.stats.cheapest import cheapest
from gate.stats.futility import FOUND
from gate.stats.plan_types import Aim, Limits, Plan, PlannedCase, Terms
from gate.stats.planning import Components as Variances
from gate.stats.planning import Costs, Interval
from gate.stats.power import minimum_detectable_change

LINKED = 0.05
"""A later build over the first one, where it is linked again: the most that docs/layout.md allows."""
SIZES = (1, 2 * len(TABLE_VII))
"""Cases of a report."""
_MIN_BUILDS = 5
_AIMED = FOUND + 0.02
"""Of the plan; the host's factor, which no plan foresees, takes some of it in large reports."""


@dataclass(frozen=True, slots=True)
class Design:
    """One report at one cost of a build: its plan, and its studies without a change and with one change each."""

    build: float
    """Seconds of the first build of a side."""
    later: float
    """Seconds of each later one."""
    cases: tuple[PlannedCase, ...]
    plan: Plan
    without: Reports
    changed: tuple[Reports, ...]
    """Each with one changed case, by as much as K&J's fixed design finds in FOUND of the runs."""

    @property
    def studies(self) -> tuple[Reports, ...]:
        """Every study of the design."""
        return (self.without, *self.changed)

    def mean_time(self, results: Results) -> float:
        """Return the measuring time over that of the fixed design, the mean of no change and of the changes."""
        changed = sum(self._time(results.of(study)) for study in self.changed) / len(self.changed)
        return (self._time(results.of(self.without)) + changed) / 2

    def found(self, results: Results) -> list[float]:
        """Return how often each change is called."""
        every = [(results.of(study), study.ratios.index(max(study.ratios))) for study in self.changed]
        return [float(counts.regression[at]) / counts.reports for counts, at in every]

    def _time(self, counts: ReportCounts) -> float:
        rounds, built = counts.rounds / counts.reports, counts.report_rounds / counts.reports
        plan = self.plan
        executed = sum(
            float(each) * plan.executions * case.costs.of_execution(plan.iterations)
            for each, case in zip(rounds, self.cases, strict=True)
        )
        one = self.build + FIXED.executions * sum(c.costs.of_execution(FIXED.iterations) for c in self.cases)
        return (self.build + (built - 1) * self.later + executed) / (FIXED.builds * one)


def designs() -> list[Design]:
    """Plan reports of one case each, and one of all cases twice, at every cost of a build, in full or linked again."""
    alone = [(component,) for component in TABLE_VII]
    return [
        _design(components, seconds, share)
        for components in (*alone, TABLE_VII * 2)
        for seconds in BUILD_SECONDS
        for share in (1.0, LINKED)
    ]


def _design(components: Sequence[Components], build: float, share: float) -> Design:
    size = len(components)
    changes = [_fixed_finds(component, size) for component in components]
    cases = [
        PlannedCase(
            str(number),
            _variances(component),
            _costs(component, build * share),
            THRESHOLD,
            (Aim(None, change, _AIMED),),
            degrees=float(MEMORY_DF),
        )
        for number, (component, change) in enumerate(zip(components, changes, strict=True))
    ]
    terms = Terms(ALPHA, size, _MIN_BUILDS, cases=size, gives_up=True)
    plan = cheapest(cases, terms, Limits(builds=MOST_BUILDS))
    if plan is None:
        raise ValueError("no plan")
    planned = (dataclasses.replace(c, executions=plan.executions, iterations=plan.iterations) for c in components)
    source = Source(tuple(planned), NORMAL)
    rules = Rules(THRESHOLD, "fieller-moderated", plan.looks, "fieller")

    def study(*at: int) -> Reports:
        ratios = tuple(1 + changes[i] if i in at else 1.0 for i in range(size))
        return Reports(source, ratios, rules, MEMORY_DF)

    changed = tuple(study(i) for i in range(min(size, len(TABLE_VII))))
    return Design(build, build * share, tuple(cases), plan, study(), changed)


def _variances(component: Components) -> Variances:
    return Variances(component.iteration**2, component.execution**2, component.build**2)


def _costs(component: Components, build: float) -> Costs:
    pace = timing(component.name)
    return Costs(build, 0.0, pace.warmup * pace.iteration, pace.iteration)


def _fixed_finds(component: Components, cases: int) -> float:
    return minimum_detectable_change(
        _variances(component),
        FIXED,
        threshold=THRESHOLD,
        alpha=ALPHA / cases,
        interval=Interval("fieller-kj"),
        min_builds=_MIN_BUILDS,
        wanted=FOUND,
    )


def of(found: Sequence[Design], size: int, *, linked: bool) -> list[Design]:
    """Return the designs of one size of a report."""
    return [d for d in found if len(d.cases) == size and (d.later < d.build) == linked]


def mean_of(found: Sequence[Design], results: Results) -> float:
    """Return the mean over designs of the time over that of the fixed design."""
    return math.fsum(d.mean_time(results) for d in found) / len(found)


def draft(found: Sequence[Design]) -> Draft:
    """Write the chapter."""
    titles = ("cases", "later builds", *(f"builds of {seconds:g} s" for seconds in BUILD_SECONDS), "mean", "found")
    lines = tuple(_line(found, size, linked=linked) for size in SIZES for linked in (False, True))
    return Draft(
        "Cost at equal power",
        (
            (
                f"As above, for no change and for the change that K&J's fixed design finds in {plain(FOUND)} of the "
                "runs, at the level of the report: the mean of both. Cases are given up where no regression can be "
                f"expected any more. A report of {SIZES[-1]} has every case twice, and each case in turn has changed. "
                f"Later builds are made in full, or link again what the first one compiled, in {plain(LINKED)} of its "
                "time. In full, 0.6 is the least where builds are what costs: a memory allows 3 builds instead of 5. "
                "Found: how often the plans find these changes, the least and the most."
            ),
            DraftTable(titles, lines, names=2),
        ),
    )


def _line(found: Sequence[Design], size: int, *, linked: bool) -> Row:
    every = of(found, size, linked=linked)

    def time(chosen: Sequence[Design]) -> Ask[str]:
        studies = tuple(study for design in chosen for study in design.studies)
        return Ask(studies, lambda results: f"{mean_of(chosen, results):.2f}")

    def powers(results: Results) -> str:
        shares = [share for design in every for share in design.found(results)]
        return f"{percent(min(shares), 0)} to {percent(max(shares), 0)}"

    studies = tuple(study for design in every for study in design.changed)
    return row(
        str(size),
        "linked again" if linked else "in full",
        *(time([d for d in every if d.build == seconds]) for seconds in BUILD_SECONDS),
        time(every),
        Ask(studies, powers),
    )
