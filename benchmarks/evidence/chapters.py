"""The promises on the chapters of `perfgate simulate`, and what its page shows of the paper's cases beside them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from benchmarks.evidence.other_tools import Values
from benchmarks.evidence.promises import Promise, at_least, at_most, of_each
from benchmarks.evidence.sources import MEMORY_DF, Varied
from gate.commands.simulate.chapters import (
    BESIDE,
    BIMODAL,
    CHANGES,
    FIXED,
    LOOKS,
    MOST,
    TWO_LAYOUTS,
    alone,
    cases_of,
    comparisons,
    one_changed,
    report,
)  # fmt: skip
from gate.commands.simulate.draws import NORMAL, SHAPES, TABLE_VII, CaseDraws, CaseNoise, Shape
from gate.commands.simulate.sections import Scenario, plain
from gate.commands.simulate.studies import (
    COMPARED,
    ComparisonCounts,
    Comparisons,
    ReportCounts,
    Reports,
    Results,
    Rules,
)
from gate.config.types import Interval, Show

TAUS = ("p50", "p95", "p99")
_PROMISED = (
    ("HTTP OPT", 4, 0.05, 0.0),
    ("Rijndael OPT", 3, 0.05, 0.0),
    ("FFT", 15, 0.05, 0.0),
    ("HTTP OPT", 3, 0.10, 0.02),
    ("FFT", 7, 0.10, 0.02),
)
LOST = 0.5
"""The largest variance of a difference of two independent calls."""
_QUANTILE_CASE = CaseNoise("service", 0.02, 0.02, 0.3, executions=10, iterations=100)
_QUANTILE_SHAPES = (NORMAL, Shape("skewed"), Shape("bimodal"))
_QUANTILE_BUILDS = (3, 5)


_RESIDUALS = tuple(Shape("bimodal", share, residual) for share in (0.5, 0.2, 0.05) for residual in (0.1, 0.3, 1.0))
_Way = Callable[[Sequence[CaseNoise], Shape, float], Reports]
"""Gives the study of reports of some cases at a threshold."""
_SHOWS: tuple[Show, ...] = ("no-sign", "not-worse")


def residual(builds: int, shape: Shape) -> Comparisons:
    """Return the study of two layouts with more or less residual."""
    return Comparisons(CaseDraws((TWO_LAYOUTS,) * 5, shape), alone(builds, "fieller"), (1.05,) * 5)


def noisy(setting: Scenario, builds: int, noise: float, *, one: bool) -> Comparisons:
    """Return the study of a moderated interval where one case, the first, or every case is noisier than remembered."""
    source = Varied(setting.in_turn, NORMAL, noise, one and noise > 1, memory=MEMORY_DF)
    ratios = (1 + setting.effects[0],) * setting.cases
    return Comparisons(source, alone(builds, "fieller-moderated"), ratios, counted=1 if one else None)


def moderated(setting: Scenario, builds: int, ratio: float) -> Comparisons:
    """Return the study of all cases by an interval with a right memory."""
    source = Varied(setting.components, memory=MEMORY_DF)
    ratios = (ratio,) * len(setting.components)
    return Comparisons(source, alone(builds, "fieller-moderated"), ratios, setting.thresholds)


def remembering(
    cases: Sequence[CaseNoise], shape: Shape, looks: tuple[int, ...], threshold: float, noise: float = 1.0
) -> Reports:
    """Return the study of reports with a memory in which nothing has changed, but the noise by a factor."""
    source = Varied(tuple(cases), shape, noise, memory=MEMORY_DF)
    return Reports(source, Rules(threshold, looks), (1.0,) * len(cases))


def not_worse(cases: Sequence[CaseNoise], shape: Shape, looks: tuple[int, ...], *, memory: bool = False) -> Reports:
    """Return the study of reports in which every case is slower by exactly the threshold of 2%."""
    source = Varied(tuple(cases), shape, memory=MEMORY_DF) if memory else CaseDraws(tuple(cases), shape)
    return Reports(source, Rules(0.02, looks, show="not-worse"), (1.02,) * len(cases), 0.25)


def quantiles(shape: Shape, builds: int) -> Comparisons:
    """Return the study of quantiles of long-tailed values, base against itself."""
    return Comparisons(Values(_QUANTILE_CASE, shape), Rules(looks=(builds,), statistics=TAUS), (1.0,))


def _all(counts: ComparisonCounts) -> float:
    return counts.coverage


def of_coverage(setting: Scenario) -> Iterator[Promise]:
    """Give the promises on coverage."""
    ratio = 1 + setting.effects[0]

    def every(interval: Interval, shapes: Sequence[Shape]) -> list[Comparisons]:
        return [comparisons(setting, builds, ratio, interval, shape) for shape in shapes for builds in setting.builds]

    hard = [residual(builds, shape) for shape in _RESIDUALS for builds in setting.builds]
    fieller = [*every("fieller", SHAPES), *hard]
    yield at_least("coverage of `fieller`, every shape, 3 to 20 builds", 0.94, fieller, _all, COMPARED)
    yield at_most("the same, normal", 0.98, every("fieller", (NORMAL,)), _all, COMPARED)
    remembered = [moderated(setting, builds, ratio) for builds in setting.builds]
    yield at_least("coverage of `fieller-moderated`, right memory", 0.945, remembered, _all, COMPARED)
    yield at_most("the same", 0.97, remembered, _all, COMPARED)
    for builds, bound in ((3, 0.90), (5, 0.92)):
        one = [noisy(setting, builds, noise, one=True) for noise in (2.0, 4.0)]
        yield at_least(f"one case at 2x and 4x, {builds} builds", bound, one, _all)
    host = [noisy(setting, builds, noise, one=False) for builds in (3, 5) for noise in (2.0, 4.0)]
    yield at_least("the host at 2x and 4x, 3 and 5 builds", 0.94, host, _all, COMPARED)
    of_quantiles = [quantiles(shape, builds) for shape in _QUANTILE_SHAPES for builds in _QUANTILE_BUILDS]
    words = "coverage of p50, p95 and p99, 3 and 5 builds"
    yield at_least(words, 0.945, of_quantiles, lambda c: float((c.covered / c.comparisons).min()), COMPARED)


def of_alarms(setting: Scenario) -> Iterator[Promise]:
    """Give the promises on false alarms, and on what is wrongly not worse."""

    def fixed(cases: Sequence[CaseNoise], shape: Shape, threshold: float) -> Reports:
        return report(cases, shape, FIXED, threshold)

    def with_looks(cases: Sequence[CaseNoise], shape: Shape, threshold: float) -> Reports:
        return report(cases, shape, LOOKS, threshold)

    def with_memory(cases: Sequence[CaseNoise], shape: Shape, threshold: float) -> Reports:
        return remembering(cases, shape, LOOKS, threshold)

    def doubled(cases: Sequence[CaseNoise], shape: Shape, threshold: float) -> Reports:
        return remembering(cases, shape, FIXED, threshold, 2.0)

    of_plan = (fixed, with_looks, with_memory)

    def failing(words: str, bound: float, threshold: float, hard: bool, ways: Sequence[_Way]) -> Promise:
        return at_most(
            f"A/A fails: {words}",
            bound,
            [
                way(cases, shape, threshold)
                for _, cases, shape in cases_of(setting)
                for way in ways
                if (shape == BIMODAL) == hard
            ],
            lambda c: c.failing,
        )

    yield failing("threshold 0, normal and skewed", 0.03, 0.0, False, of_plan)
    yield failing("threshold 0, bimodal 50:50", 0.05, 0.0, True, of_plan)
    yield failing("threshold 2%, normal and skewed", 0.005, 0.02, False, of_plan)
    yield failing("threshold 2%, bimodal 50:50, looks", 0.01, 0.02, True, of_plan[1:])
    yield failing("the same, fixed, no memory", 0.025, 0.02, True, of_plan[:1])
    for hard, threshold in ((False, 0.0), (True, 0.0), (True, 0.02)):
        words = f"host at 2x, {'bimodal' if hard else 'normal and skewed'}, threshold {plain(threshold)}"
        yield failing(words, 0.035, threshold, hard, (doubled,))
    for words, hard, bound in (("normal and skewed", False, 0.03), ("bimodal 50:50", True, 0.035)):
        studies = [
            not_worse(cases, shape, looks, memory=memory)
            for _, cases, shape in cases_of(setting)
            for looks, memory in ((FIXED, False), (LOOKS, False), (LOOKS, True))
            if (shape == BIMODAL) == hard
        ]
        yield at_most(
            f"wrongly not worse, {words}",
            bound,
            studies,
            lambda c: float(c.not_worse.mean()) / c.reports,
            0.25 * setting.cases,
        )


def of_power(setting: Scenario) -> Iterator[Promise]:
    """Give the promises on power."""
    pairs = [
        (comparisons(setting, builds, 1 + effect, BESIDE[0]), other)
        for builds in setting.builds
        for effect in setting.effects
        for other in (comparisons(setting, builds, 1 + effect, BESIDE[1]), moderated(setting, builds, 1 + effect))
    ]

    def lost(results: Results) -> list[float]:
        # of all cases, since single ones are drawn too seldom to tell
        return [float((results.of(kj).power - results.of(other).power).mean(axis=0).max()) for kj, other in pairs]

    every = tuple(study for both in pairs for study in both)
    yield Promise("power lost to `fieller-kj`, any other", 0.0, False, every, lost, variance=LOST, draws=COMPARED)
    named = {c.name: c for c in TABLE_VII}
    for name, builds, effect, threshold in _PROMISED:
        one = dataclasses.replace(setting, components=(named[name],), thresholds=(threshold,))
        study = moderated(one, builds, 1 + effect)
        words = f"power, {name}, +{plain(effect)}, threshold {plain(threshold)}, {builds} builds"
        yield at_least(words, 0.77, [study], lambda c: float(c.power[0, 0]), COMPARED)


def of_stopping(setting: Scenario) -> Iterator[Promise]:
    """Give the promises on giving up."""
    pairs = [tuple(one_changed(setting, change, LOOKS, show) for show in _SHOWS) for change in CHANGES[1:]]

    def lost(results: Results) -> list[float]:
        return [results.of(without).found() - results.of(given_up).found() for given_up, without in pairs]

    every = tuple(each for both in pairs for each in both)
    yield Promise("power lost by giving up", 0.05, False, every, lost, variance=LOST)
    unchanged = (one_changed(setting, 0.0, LOOKS),)

    def executed(counts: ReportCounts) -> float:
        return counts.executed / MOST

    words = "rounds executed of those planned, no change"
    yield Promise(words, 0.45, False, unchanged, of_each(unchanged, executed), number=True)
