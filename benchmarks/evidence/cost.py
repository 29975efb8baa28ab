"""What a gate costs against K&J's fixed design that finds the same change as often, alone and in large reports."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.evidence.promises import Promise
from benchmarks.evidence.sources import MEMORY_DF, Varied
from gate.commands.simulate.draws import TABLE_VII, CaseNoise
from gate.commands.simulate.sections import Ask, Row, SimulatedSection, SimulatedTable, percent, plain
from gate.commands.simulate.studies import ReportCounts, Reports, Results, Rules
from gate.stats.cheapest import cheapest
from gate.stats.planning import Aim, CheapestPlan, Costs, Counts, Interval, PlanLimits, PlannedCase, Terms
from gate.stats.planning import Components as Variances
from gate.stats.power import minimum_detectable_change
from gate.stats.sequential import FOUND

FIXED = Counts(5, 10, 10)
SIZES = (1, 2 * len(TABLE_VII))
"""Cases of a report."""

_BUILD_SECONDS = (1200.0, 60.0, 10.0)
_LINKED = 0.05
"""A later build over the first one, where it is linked again: the most that docs/layout.md allows."""
_THRESHOLD, _ALPHA, _MIN_BUILDS, _MOST_BUILDS = 0.02, 0.05, 5, 12
_AIMED = FOUND + 0.02
"""Of the plan; the host's factor, which no plan foresees, takes some of it in large reports."""
_EFFORTS = {SIZES[0]: 0.5, SIZES[1]: 0.25}
_CHANGED_IN_TURN = (3, 4, 6)
"""Of a large report: one case each of FFT, HTTP and Rijndael."""
_PROMISED = (
    ("one case", SIZES[0], False, 0.55),
    ("one case, later builds linked again", SIZES[0], True, 0.42),
    (f"reports of {SIZES[1]}", SIZES[1], False, 0.35),
)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one iteration, and the iterations that warm an execution up."""

    iteration: float
    warmup: int


_TIMINGS = {
    # K&J 8.1: seconds of an execution over its iterations, 30% of which are warm-up
    "FFT": Timing(15 / 64, 19),
    "Rijndael": Timing(6 / 64, 19),
    "HTTP": Timing(4 / 512, 154),
    "TCP": Timing(0.102 / 256, 77),
}


def timing(name: str) -> Timing:
    """Return the timing of a benchmark of Table VII (K&J 8.1)."""
    return _TIMINGS[name.split(maxsplit=1)[0]]


@dataclass(frozen=True, slots=True)
class Design:
    """One report at one cost of a build: its plan, and its studies without a change and with one change each."""

    build: float
    """Seconds of the first build of a side."""
    later: float
    """Seconds of each later one."""
    cases: tuple[PlannedCase, ...]
    plan: CheapestPlan
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
        return [results.of(s).found(s.ratios.index(max(s.ratios))) for s in self.changed]

    def _time(self, counts: ReportCounts) -> float:
        rounds, built, plan = counts.rounds / counts.reports, counts.built / counts.reports, self.plan
        executed = sum(
            float(each) * plan.executions * case.costs.of_execution(plan.iterations)
            for each, case in zip(rounds, self.cases, strict=True)
        )
        one = self.build + FIXED.executions * sum(c.costs.of_execution(FIXED.iterations) for c in self.cases)
        return (self.build + (built - 1) * self.later + executed) / (FIXED.builds * one)


def designs() -> list[Design]:
    """Plan reports of one case each, and one of all cases twice, at every cost of a build, in full or linked again."""
    return [
        design(components, seconds, share)
        for components in (*((component,) for component in TABLE_VII), TABLE_VII * 2)
        for seconds in _BUILD_SECONDS
        for share in (1.0, _LINKED)
    ]


def design(components: Sequence[CaseNoise], build: float, share: float = 1.0) -> Design:
    """Plan one report, whose later builds take a share of the first one's time."""
    size = len(components)
    changes = [_fixed_finds(component, size) for component in components]
    cases = [
        PlannedCase(str(k), _variances(c), _costs(c, build * share), _THRESHOLD, (Aim(None, change, _AIMED),),
                    degrees=float(MEMORY_DF))
        for k, (c, change) in enumerate(zip(components, changes, strict=True))
    ]  # fmt: skip
    terms = Terms(_ALPHA, size, _MIN_BUILDS, cases=size, gives_up=True)
    plan = cheapest(cases, terms, PlanLimits(builds=_MOST_BUILDS))
    if plan is None:
        raise ValueError("no plan")
    planned = (dataclasses.replace(c, executions=plan.executions, iterations=plan.iterations) for c in components)
    source = Varied(tuple(planned), memory=MEMORY_DF)
    rules = Rules(_THRESHOLD, plan.looks, "fieller-moderated", min_builds=_MIN_BUILDS)

    def study(*at: int) -> Reports:
        ratios = tuple(1 + changes[i] if i in at else 1.0 for i in range(size))
        return Reports(source, rules, ratios, _EFFORTS[size])

    changed = tuple(study(i) for i in ((0,) if size == 1 else _CHANGED_IN_TURN))
    return Design(build, build * share, tuple(cases), plan, study(), changed)


def _variances(component: CaseNoise) -> Variances:
    return Variances(component.iteration**2, component.execution**2, component.build**2)


def _costs(component: CaseNoise, build: float) -> Costs:
    pace = timing(component.name)
    return Costs(build, 0.0, pace.warmup * pace.iteration, pace.iteration)


def _fixed_finds(component: CaseNoise, cases: int) -> float:
    return minimum_detectable_change(
        _variances(component),
        FIXED,
        threshold=_THRESHOLD,
        alpha=_ALPHA / cases,
        interval=Interval("fieller-kj"),
        min_builds=_MIN_BUILDS,
        wanted=FOUND,
    )


def _of(found: Sequence[Design], size: int, *, linked: bool) -> list[Design]:
    return [d for d in found if len(d.cases) == size and (d.later < d.build) == linked]


def _mean(found: Sequence[Design], results: Results) -> float:
    return math.fsum(d.mean_time(results) for d in found) / len(found)


def draft(found: Sequence[Design]) -> SimulatedSection:
    """Write the chapter."""
    titles = ("cases", "later builds", *(f"builds of {s:g} s" for s in _BUILD_SECONDS), "mean", "worst", "found")
    return SimulatedSection(
        "Cost",
        (
            (
                "Measuring time over that of the fixed design with K&J's interval, 5 builds x 10 x 10, at a "
                f"threshold of {plain(_THRESHOLD)}: the mean of no change and of the change that the fixed design "
                f"finds in {plain(FOUND)} of the runs, at the level of the report. The plan is the cheapest that "
                f"`perfgate plan` finds with a memory of {MEMORY_DF} degrees, looks and giving up. Times of iterations "
                f"and 30% of warm-up as in K&J 8.1. A report of {SIZES[1]} has every case twice, and one of FFT, HTTP "
                "and Rijndael in turn has changed. Later builds are made in full, or link again what the first one "
                f"compiled, in {plain(_LINKED)} of its time. In full, 0.6 is the least where builds are what costs: a "
                "memory allows 3 builds instead of 5. Worst: of all cases and costs of a build. Found: "
                "how often the plans find these changes, the least and the most."
            ),
            SimulatedTable(
                titles, tuple(_line(found, size, linked=linked) for size in SIZES for linked in (False, True)), names=2
            ),
        ),
    )


def _line(found: Sequence[Design], size: int, *, linked: bool) -> Row:
    every = _of(found, size, linked=linked)

    def time(chosen: Sequence[Design]) -> Ask:
        studies = tuple(study for design in chosen for study in design.studies)
        return Ask(studies, lambda results: f"{_mean(chosen, results):.2f}")

    def powers(results: Results) -> str:
        shares = [share for design in every for share in design.found(results)]
        return f"{percent(min(shares), 0)} to {percent(max(shares), 0)}"

    studies = tuple(study for design in every for study in design.studies)
    return (
        str(size),
        "linked again" if linked else "in full",
        *(time([d for d in every if d.build == seconds]) for seconds in _BUILD_SECONDS),
        time(every),
        Ask(studies, lambda results: f"{max(d.mean_time(results) for d in every):.2f}"),
        Ask(studies, powers),
    )


def promises(found: Sequence[Design]) -> Iterator[Promise]:
    """Give the promises on cost."""
    for words, size, linked, bound in _PROMISED:
        every = _of(found, size, linked=linked)
        yield Promise(
            f"time at equal power, {words}",
            bound,
            at_least=False,
            studies=tuple(study for design in every for study in design.studies),
            values=lambda results, every=every: [_mean(every, results)],  # type: ignore[misc]
            number=True,
        )
    yield Promise(
        "the change that is found there",
        FOUND - 0.05,
        at_least=True,
        studies=tuple(study for design in found for study in design.changed),
        values=lambda results: [share for design in found for share in design.found(results)],
        draws=min(_EFFORTS.values()),
    )
