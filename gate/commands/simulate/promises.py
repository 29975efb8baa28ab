"""The promises of the statistics, next to the simulated results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gate.commands.simulate import alarms, coverage, equal_power, layouts, other_tools, stopping
from gate.commands.simulate.arrays.components import NORMAL, SHAPES, TABLE_VII, Shape
from gate.commands.simulate.arrays.draws import Source
from gate.commands.simulate.arrays.pairs import Interval
from gate.commands.simulate.arrays.studies import Comparisons, Reports
from gate.commands.simulate.cost import Compared
from gate.commands.simulate.pool import AnyStudy, Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Row, Setting, percent, plain, row
from gate.stats.futility import FOUND


@dataclass(frozen=True, slots=True)
class Promise:
    """One line: what is promised, the bound, and the measured values that must all keep it."""

    words: str
    bound: float
    at_least: bool
    """Whether the bound is one from below."""
    studies: tuple[AnyStudy, ...]
    values: Callable[[Results], Sequence[float]]
    number: bool = False
    """Written as a number instead of a share."""
    variance: float | None = None
    """Of one draw, for the standard error; None: that of a share as large as the bound."""

    def row(self, reports: int) -> Row:
        """Make the row: promise, bound, measured, and whether it is kept."""

        def worst(results: Results) -> float:
            values = self.values(results)
            return min(values) if self.at_least else max(values)

        def kept(results: Results) -> str:
            by = (worst(results) - self.bound) * (1 if self.at_least else -1)
            variance = self.bound * (1 - self.bound) if self.variance is None else self.variance
            error = math.sqrt(variance / reports)
            return "yes" if by >= 0 else "within 3 errors" if by >= -3 * error else "no"

        def measured(results: Results) -> str:
            return f"{worst(results):.3f}" if self.number else percent(worst(results), 2)

        sign = "at least" if self.at_least else "at most"
        return row(
            self.words,
            f"{sign} {self.bound if self.number else plain(self.bound)}",
            Ask(self.studies, measured),
            Ask(self.studies, kept),
        )


BUILDS = (3, 5, 10, 20)
"""Counts of builds at which coverage is promised."""

POWER = (
    ("HTTP OPT", 4, 0.05, 0.0),
    ("Rijndael OPT", 3, 0.05, 0.0),
    ("FFT", 15, 0.05, 0.0),
    ("HTTP OPT", 3, 0.10, 0.02),
    ("FFT", 7, 0.10, 0.02),
)


def draft(setting: Setting, designs: Sequence[Compared], equal: Sequence[equal_power.Design], reports: int) -> Draft:
    """Write the chapter; only where the components are those of the paper."""
    found = [
        *_coverage(setting),
        *_reports(setting),
        *_not_worse(setting),
        *_power(setting),
        *_given_up(setting),
        *_cost(designs),
        *_equal_power(equal),
        *_others(),
    ]
    return Draft(
        "Promises",
        (
            (
                "The promises of docs/method.md, each with the worst simulated value. Within 3 errors: the bound is "
                "missed by less than three standard errors of the simulation."
            ),
            DraftTable(("promise", "bound", "measured", "kept"), tuple(p.row(reports) for p in found), names=1),
        ),
    )


def _coverage(setting: Setting) -> Iterator[Promise]:
    every = tuple(
        coverage.comparisons(setting, c, builds, 1 + setting.effects[0], shape)
        for c in TABLE_VII
        for shape in SHAPES
        for builds in BUILDS
    )
    normal = tuple(s for s in every if s.source.shape == NORMAL)
    hard = tuple(s for builds in BUILDS for s in coverage.residuals(builds))
    fieller, moderated = (coverage.INTERVALS.index(name) for name in ("fieller", "fieller-moderated"))

    def values(studies: Sequence[Comparisons], index: int) -> Callable[[Results], list[float]]:
        return lambda results: [float(results.of(s).coverage[index]) for s in studies]

    yield Promise(
        "coverage of `fieller`, every shape, 3 to 20 builds",
        0.94,
        at_least=True,
        studies=(*every, *hard),
        values=lambda results: values(every, fieller)(results) + values(hard, 0)(results),
    )
    yield Promise("the same, normal", 0.98, False, normal, values(normal, fieller))
    yield Promise("coverage of `fieller-moderated`, right memory", 0.945, True, normal, values(normal, moderated))
    yield Promise("the same", 0.97, False, normal, values(normal, moderated))
    for builds, bound in ((3, 0.90), (5, 0.92)):
        one = tuple(coverage.noisy(setting, builds, noise, one=True) for noise in (2.0, 4.0))
        yield Promise(f"one case at 2x and 4x, {builds} builds", bound, True, one, values(one, 0))
    host = tuple(coverage.noisy(setting, builds, noise, one=False) for builds in (3, 5) for noise in (2.0, 4.0))
    yield Promise("the host at 2x and 4x, 3 and 5 builds", 0.94, True, host, values(host, 0))


def _reports(setting: Setting) -> Iterator[Promise]:
    def failing(words: str, bound: float, studies: Sequence[Reports]) -> Promise:
        return Promise(
            f"A/A reports that fail, {words}",
            bound,
            at_least=False,
            studies=tuple(studies),
            values=lambda results: [results.of(s).failing for s in studies],
        )

    def every(
        shapes: Sequence[Shape], threshold: float, looks: Sequence[tuple[int, ...]], noise: float = 1.0
    ) -> list[Reports]:
        intervals = alarms.REPORT_INTERVALS if noise == 1 else ("fieller-moderated",)
        return [
            alarms.report(cases, shape, alarms.rules(threshold, interval, rounds, len(cases)), noise=noise)
            for _, cases in alarms.case_sets(setting)
            for shape in shapes
            for interval in intervals
            for rounds in looks
        ]

    smooth, both = alarms.REPORT_SHAPES[:2], (alarms.FIXED, alarms.LOOKS)
    yield failing("threshold 0, normal and skewed", 0.03, every(smooth, 0.0, both))
    yield failing("threshold 0, bimodal 50:50", 0.05, every((alarms.BIMODAL,), 0.0, both))
    yield failing("threshold 2%, normal and skewed", 0.005, every(smooth, 0.02, both))
    bimodal = every((alarms.BIMODAL,), 0.02, both)
    fixed = [s for s in bimodal if s.rules.looks == alarms.FIXED and s.rules.interval != "fieller-moderated"]
    yield failing("threshold 2%, bimodal 50:50", 0.01, [s for s in bimodal if s not in fixed])
    yield failing("the same, fixed, no memory", 0.025, fixed)
    host = [s for d in (0.0, 0.02) for s in every(alarms.REPORT_SHAPES, d, (alarms.FIXED,), 2.0)]
    yield failing("host at 2x, fixed 5 builds", 0.035, host)

    def common(interval: Interval, looks: Sequence[tuple[int, ...]], threshold: float) -> list[Reports]:
        return [
            layouts.report(setting, shape, interval, rounds, threshold, correlation)
            for shape in layouts.SHAPES
            for correlation in layouts.CORRELATIONS
            for rounds in looks
        ]

    yield failing("common layouts, threshold 0, `paired`", 0.03, common("paired", both, 0.0))
    yield failing("common layouts, threshold 0, `paired-shared`", 0.025, common("paired-shared", both, 0.0))
    yield failing("common layouts, threshold 2%, looks", 0.012, common("paired", (alarms.LOOKS,), 0.02))


def _not_worse(setting: Setting) -> Iterator[Promise]:
    for words, shapes, bound in (
        ("normal and skewed", alarms.REPORT_SHAPES[:2], 0.03),
        ("bimodal 50:50", alarms.REPORT_SHAPES[2:], 0.035),
    ):
        studies = tuple(
            alarms.not_worse(cases, shape, interval, looks)
            for _, cases in alarms.case_sets(setting)
            for shape in shapes
            for interval in alarms.REPORT_INTERVALS
            for looks in (alarms.FIXED, alarms.LOOKS)
        )
        yield Promise(
            f"wrongly not worse, {words}",
            bound,
            at_least=False,
            studies=studies,
            values=lambda results, studies=studies: [  # type: ignore[misc]
                results.of(s).share(results.of(s).not_worse) for s in studies
            ],
        )


def _power(setting: Setting) -> Iterator[Promise]:
    every = tuple(
        coverage.comparisons(setting, c, builds, 1 + effect)
        for c in TABLE_VII
        for builds in BUILDS
        for effect in setting.effects
    )
    kj, fieller, moderated = (coverage.INTERVALS.index(name) for name in ("fieller-kj", "fieller", "fieller-moderated"))

    def lost(results: Results) -> list[float]:
        powers = [results.of(study).power for study in every]
        return [float((p[kj] - p[other]).max()) for p in powers for other in (fieller, moderated)]

    # both are judged on the same draws; at most every other of them differs
    yield Promise("power lost to `fieller-kj`, any other", 0.0, False, every, lost, variance=0.5)
    named = {c.name: c for c in TABLE_VII}
    for name, builds, effect, threshold in POWER:
        study = Comparisons(Source((named[name],), NORMAL), builds, 1 + effect, ("fieller-moderated",), (threshold,))
        yield Promise(
            f"power, {name}, +{plain(effect)}, threshold {plain(threshold)}, {builds} builds",
            0.77,
            at_least=True,
            studies=(study,),
            values=lambda results, study=study: [float(results.of(study).power[0, 0])],  # type: ignore[misc]
        )


def _given_up(setting: Setting) -> Iterator[Promise]:
    pairs = [
        tuple(stopping.study(setting, interval, threshold, change, alarms.LOOKS, show) for show in stopping.SHOWS)
        for interval in stopping.INTERVALS
        for threshold in stopping.THRESHOLDS
        for change in stopping.CHANGES[1:]
    ]

    def lost(results: Results) -> list[float]:
        found = [[float(results.of(s).regression[0]) / results.of(s).reports for s in both] for both in pairs]
        return [without - given_up for given_up, without in found]

    studies = tuple(study for both in pairs for study in both)
    yield Promise("power lost by giving up", 0.05, False, studies, lost, variance=0.5)
    unchanged = tuple(
        stopping.study(setting, interval, stopping.THRESHOLDS[0], 0.0, alarms.LOOKS, "no-sign")
        for interval in stopping.INTERVALS
    )

    def executed(results: Results) -> list[float]:
        return [float(results.of(s).rounds.mean()) / results.of(s).reports / alarms.LOOKS[-1] for s in unchanged]

    yield Promise(
        "rounds executed of those planned, no change", 0.45, False, unchanged, executed, number=True, variance=0.0
    )


def _cost(designs: Sequence[Compared]) -> Iterator[Promise]:
    every = tuple(study for design in designs for study in design.studies)

    def mean(results: Results) -> list[float]:
        return [sum(d.mean_time(results) for d in designs) / len(designs)]

    def by_benchmark(results: Results) -> list[float]:
        times: dict[str, list[float]] = {}
        for design in designs:
            times.setdefault(design.name, []).append(design.mean_time(results))
        return [sum(found) / len(found) for found in times.values()]

    def lost(results: Results) -> list[float]:
        return [points for design in designs for points in design.lost(results)]

    yield Promise("time over that of `fieller-kj`, mean", 0.6, False, every, mean, number=True, variance=0.0)
    yield Promise("the same, each benchmark", 0.7, False, every, by_benchmark, number=True, variance=0.0)
    yield Promise("power lost by these plans", 0.02, False, every, lost, variance=0.5)


_EQUAL_POWER = (
    ("one case", equal_power.SIZES[0], False, 0.55),
    ("one case, later builds linked again", equal_power.SIZES[0], True, 0.42),
    ("reports of 20", equal_power.SIZES[1], False, 0.35),
)


def _equal_power(designs: Sequence[equal_power.Design]) -> Iterator[Promise]:
    for words, size, linked, bound in _EQUAL_POWER:
        every = equal_power.of(designs, size, linked=linked)
        yield Promise(
            f"time at equal power, {words}",
            bound,
            at_least=False,
            studies=tuple(study for design in every for study in design.studies),
            values=lambda results, every=every: [equal_power.mean_of(every, results)],  # type: ignore[misc]
            number=True,
            variance=0.0,
        )
    yield Promise(
        "the change that is found there",
        FOUND - 0.05,
        at_least=True,
        studies=tuple(study for design in designs for study in design.changed),
        values=lambda results: [share for design in designs for share in design.found(results)],
    )


def _others() -> Iterator[Promise]:
    studies = tuple(
        other_tools.quantiles(shape, builds)
        for shape in other_tools.QUANTILE_SHAPES
        for builds in other_tools.QUANTILE_BUILDS
    )
    yield Promise(
        "coverage of p50, p95 and p99, 3 and 5 builds",
        0.945,
        at_least=True,
        studies=studies,
        values=lambda results: [float(c) for s in studies for c in results.of(s).coverage],
    )
    pooled = tuple(other_tools.rivals(c, 0.0) for c in TABLE_VII)
    yield Promise(
        "pooled Welch calls A/A different, mean of cases",
        0.33,
        at_least=True,
        studies=pooled,
        values=lambda results: [sum(float(results.of(s).different[0, 1]) for s in pooled) / len(pooled)],
    )
