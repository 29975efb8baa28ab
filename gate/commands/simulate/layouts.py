"""Layouts that both sides of a round share: what pairing by round gains, and whether its error rates hold."""

from __future__ import annotations

import dataclasses

from gate.commands.simulate.alarms import BIMODAL, FIXED, LOOKS, REPORT_THRESHOLDS, rules
from gate.commands.simulate.arrays.components import NORMAL, Components, Shape
from gate.commands.simulate.arrays.draws import Source
from gate.commands.simulate.arrays.pairs import Interval
from gate.commands.simulate.arrays.studies import Comparisons, ReportCounts, Reports
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Setting, columns, percent, plain, row

LAYOUTS = Components("layouts", 0.12, 0.02, 0.03, 5, 10)
"""A program whose builds differ by 12%, as Go's shuffle makes them."""
CORRELATIONS = (0.0, 0.6, 0.9)
UNEVEN = 0.05
"""Standard deviation of a change that depends on the layout."""
SHAPES = (NORMAL, Shape("skewed"), BIMODAL, Shape("bimodal", 0.05))
INTERVALS: tuple[Interval, ...] = ("fieller", "paired", "paired-shared")
_BUILDS = (4, 5, 8, 12)
_COVERED = (4, 6, 12)
_CHANGE = 0.10


def source(cases: tuple[Components, ...], shape: Shape, correlation: float, uneven: float = 0.0) -> Source:
    """Return cases whose builds have so much in common."""
    return Source(cases, shape, correlation=correlation, uneven=uneven)


def report(
    setting: Setting,
    shape: Shape,
    interval: Interval,
    looks: tuple[int, ...],
    threshold: float,
    correlation: float,
    *,
    change: float = 0.0,
    cases: int | None = None,
    uneven: float = 0.0,
) -> Reports:
    """Return the study of reports in which every case has such layouts, and the first has changed."""
    count = setting.cases if cases is None else cases
    decided = dataclasses.replace(rules(threshold, interval, looks, count), fallback="paired")
    ratios = (1 + change, *(1.0 for _ in range(count - 1)))
    return Reports(source((LAYOUTS,) * count, shape, correlation, uneven), ratios, decided)


def draft(setting: Setting) -> Draft:
    """Write the chapter."""
    return Draft(
        "Common layouts",
        (
            (
                f"Builds differ by {plain(LAYOUTS.build)}, executions by 2%, iterations by 3%. Correlation: of the "
                "effects of a build on base and head, as layouts give it that both sides of a round share. Coverage of "
                "the 95% interval at no change, and mean half-width. Uneven: the true change itself varies by "
                f"{plain(UNEVEN)} from layout to layout."
            ),
            _coverage(),
            (
                f"Reports of {setting.cases} such cases, base against itself: the share that fails, the worst of "
                "normal, skewed and two layouts 50:50 and 5:95."
            ),
            _alarms(setting),
            (
                f"How often a change of {plain(_CHANGE)} is found at a threshold of 2%, alone / in reports of "
                f"{setting.cases} / with looks after {', '.join(map(str, LOOKS))} rounds in such reports."
            ),
            _found(setting),
        ),
    )


def _coverage() -> DraftTable:
    def cell(builds: int, correlation: float, uneven: float, interval: Interval) -> Ask[str]:
        asked = Comparisons(source((LAYOUTS,), NORMAL, correlation, uneven), builds, 1.0, (interval,))

        def make(results: Results) -> str:
            counts = results.of(asked)
            return f"{percent(float(counts.coverage[0]))}, {percent(float(counts.mean_half_width[0]))}"

        return Ask((asked,), make)

    kinds: tuple[Interval, ...] = ("fieller", "paired")
    lines = tuple(
        row(f"{correlation:g}{', uneven' if uneven else ''}", f"`{interval}`", *(
            cell(builds, correlation, uneven, interval) for builds in _COVERED
        ))
        for correlation, uneven in ((0.0, 0.0), (0.6, 0.0), (0.9, 0.0), (0.9, UNEVEN))
        for interval in kinds
    )  # fmt: skip
    return DraftTable(("correlation", "interval", *columns(_COVERED)), lines, names=2)


def _alarms(setting: Setting) -> DraftTable:
    def cell(interval: Interval, looks: tuple[int, ...], threshold: float, correlation: float) -> Ask[str]:
        asked = tuple(report(setting, shape, interval, looks, threshold, correlation) for shape in SHAPES)
        return Ask(asked, lambda results: percent(max(results.of(each).failing for each in asked), 2))

    lines = tuple(
        row(f"{correlation:g}", f"`{interval}`", *(
            cell(interval, looks, threshold, correlation) for looks in (FIXED, LOOKS) for threshold in REPORT_THRESHOLDS
        ))
        for correlation in CORRELATIONS
        for interval in INTERVALS[1:]
    )  # fmt: skip
    titles = [f"{kind}, {plain(d)}" for kind in ("fixed", "looks") for d in REPORT_THRESHOLDS]
    return DraftTable(("correlation", "interval", *titles), lines, names=2)


def _share(counts: ReportCounts) -> str:
    return percent(float(counts.regression[0]) / counts.reports, 0)


def _found(setting: Setting) -> DraftTable:
    def cell(interval: Interval, builds: int, correlation: float) -> Ask[str]:
        # alone in a report a case shares nothing
        by_itself: Interval = "paired" if interval == "paired-shared" else interval
        alone = report(setting, NORMAL, by_itself, (builds,), 0.02, correlation, change=_CHANGE, cases=1)
        many = report(setting, NORMAL, interval, (builds,), 0.02, correlation, change=_CHANGE)
        return Ask(
            (alone, many),
            lambda results: f"{_share(results.of(alone))} / {_share(results.of(many))}",
        )

    def early(interval: Interval, correlation: float) -> Ask[str]:
        asked = report(setting, NORMAL, interval, LOOKS, 0.02, correlation, change=_CHANGE)
        return Ask(
            (asked,), lambda results: percent(float(results.of(asked).regression[0]) / results.of(asked).reports, 0)
        )

    lines = tuple(
        row(f"{correlation:g}", f"`{interval}`", *(cell(interval, builds, correlation) for builds in _BUILDS),
            early(interval, correlation))
        for correlation in CORRELATIONS
        for interval in INTERVALS
    )  # fmt: skip
    return DraftTable(("correlation", "interval", *columns(_BUILDS), "looks"), lines, names=2)
