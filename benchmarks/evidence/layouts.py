"""Layouts that both sides of a round share: what pairing by round gains, and whether its error rates hold."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.evidence.promises import Promise, at_most
from benchmarks.evidence.sources import Varied
from gate.commands.simulate.chapters import BIMODAL, LOOKS, THRESHOLDS, alone
from gate.commands.simulate.draws import NORMAL, CaseNoise, Shape
from gate.commands.simulate.sections import (
    Ask,
    Scenario,
    SimulatedSection,
    SimulatedTable,
    columns,
    percent,
    plain,
    row,
    told,
)
from gate.commands.simulate.studies import ComparisonCounts, Comparisons, Reports, Rules
from gate.config.types import Interval

LAYOUTS = CaseNoise("layouts", 0.12, 0.02, 0.03, 5, 10)
"""A program whose builds differ by 12%, as Go's shuffle makes them."""
CORRELATIONS = (0.0, 0.9)
SHAPES = (NORMAL, BIMODAL, Shape("bimodal", 0.05))
INTERVALS: tuple[Interval, ...] = ("fieller", "paired", "paired-shared")

_UNEVEN = 0.05
_BUILDS = (5, 12)
_COVERED = (4, 6, 12)
_CHANGE = 0.10


def report(
    cases: int, interval: Interval, looks: tuple[int, ...], threshold: float, correlation: float, *,
    shape: Shape = NORMAL, change: float = 0.0,
) -> Reports:  # fmt: skip
    """Return the study of reports in which every case has such layouts, and the first has changed."""
    ratios = (1 + change, *(1.0 for _ in range(cases - 1)))
    source = Varied((LAYOUTS,) * cases, shape, correlation=correlation)
    return Reports(source, Rules(threshold, looks, interval), ratios, 0.5 if cases > 1 else 1.0)


def draft(setting: Scenario) -> SimulatedSection:
    """Write the chapter."""
    return SimulatedSection(
        "Common layouts",
        (
            (
                f"Builds differ by {plain(LAYOUTS.build)}, executions by 2%, iterations by 3%. Correlation: of the "
                "effects of a build on base and head, as layouts give it that both sides of a round share. Coverage of "
                "the 95% interval at no change, and mean half-width. Uneven: the true change itself varies by "
                f"{plain(_UNEVEN)} from layout to layout."
            ),
            _coverage(),
            (
                f"Reports of {setting.cases} such cases, base against itself, with looks: the share that fails, the "
                "worst of normal and two layouts 50:50 and 5:95."
            ),
            _alarms(setting),
            (
                f"How often a change of {plain(_CHANGE)} is found at a threshold of 2%, alone / in reports of "
                f"{setting.cases} / with looks after {', '.join(map(str, LOOKS))} rounds in such reports."
            ),
            _found(setting),
        ),
    )


def _coverage() -> SimulatedTable:
    def write(counts: ComparisonCounts) -> str:
        return f"{percent(counts.coverage)}, {percent(float(counts.half_width.sum() / counts.bounded.sum()))}"

    def study(builds: int, correlation: float, uneven: float, interval: Interval) -> Comparisons:
        source = Varied((LAYOUTS,) * 5, correlation=correlation, uneven=uneven)
        return Comparisons(source, alone(builds, interval), (1.0,) * 5)

    lines = tuple(
        row(f"{correlation:g}{', uneven' if uneven else ''}", f"`{interval}`", *(
            told(study(builds, correlation, uneven, interval), write) for builds in _COVERED
        ))
        for correlation, uneven in ((0.0, 0.0), (0.9, 0.0), (0.9, _UNEVEN))
        for interval in INTERVALS[:2]
    )  # fmt: skip
    return SimulatedTable(("correlation", "interval", *columns(_COVERED)), lines, names=2)


def _alarms(setting: Scenario) -> SimulatedTable:
    def cell(interval: Interval, threshold: float, correlation: float) -> Ask:
        asked = _shapes(setting, interval, threshold, correlation)
        return Ask(asked, lambda results: percent(max(results.of(each).failing for each in asked), 2))

    lines = tuple(
        row(f"{correlation:g}", f"`{interval}`", *(cell(interval, threshold, correlation) for threshold in THRESHOLDS))
        for correlation in CORRELATIONS
        for interval in INTERVALS[1:]
    )
    titles = (f"threshold {plain(threshold)}" for threshold in THRESHOLDS)
    return SimulatedTable(("correlation", "interval", *titles), lines, names=2)


def _shapes(setting: Scenario, interval: Interval, threshold: float, correlation: float) -> tuple[Reports, ...]:
    return tuple(report(setting.cases, interval, LOOKS, threshold, correlation, shape=shape) for shape in SHAPES)


def _found(setting: Scenario) -> SimulatedTable:
    def cell(interval: Interval, looks: tuple[int, ...], correlation: float) -> Ask:
        # alone in a report a case shares nothing
        by_itself: Interval = "paired" if interval == "paired-shared" else interval
        both = (
            report(1, by_itself, looks, 0.02, correlation, change=_CHANGE),
            report(setting.cases, interval, looks, 0.02, correlation, change=_CHANGE),
        )
        return Ask(both, lambda results: " / ".join(percent(results.of(each).found(), 0) for each in both))

    lines = tuple(
        row(f"{correlation:g}", f"`{interval}`", *(
            cell(interval, looks, correlation) for looks in (*((builds,) for builds in _BUILDS), LOOKS)
        ))
        for correlation in CORRELATIONS
        for interval in INTERVALS
    )  # fmt: skip
    return SimulatedTable(("correlation", "interval", *columns(_BUILDS), "looks"), lines, names=2)


def promises(setting: Scenario) -> Iterator[Promise]:
    """Give the promises on common layouts."""
    promised: tuple[tuple[Interval, float, float], ...] = (
        ("paired", 0.0, 0.03),
        ("paired-shared", 0.0, 0.025),
        ("paired", 0.02, 0.012),
    )
    for interval, threshold, bound in promised:
        studies = [
            study for correlation in CORRELATIONS for study in _shapes(setting, interval, threshold, correlation)
        ]
        words = f"A/A fails: common layouts, threshold {plain(threshold)}, `{interval}`"
        yield at_most(words, bound, studies, lambda c: c.failing, 0.5)
