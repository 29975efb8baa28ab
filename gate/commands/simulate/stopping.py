"""Early stopping and giving up: what they cost and save, on the same reports with and without them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal

from gate.commands.simulate.alarms import LOOKS, REPORT_INTERVALS, REPORT_SHAPES, rules
from gate.commands.simulate.arrays.components import NORMAL, Components, Shape
from gate.commands.simulate.arrays.draws import Source
from gate.commands.simulate.arrays.pairs import Interval as Decided
from gate.commands.simulate.arrays.studies import ReportCounts, Reports
from gate.commands.simulate.coverage import MEMORY_DF
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Row, Setting, percent, plain, row
from gate.stats.futility import FOUND
from gate.stats.planning import Components as Variances
from gate.stats.planning import Counts, Interval
from gate.stats.power import minimum_detectable_change, power
from gate.stats.sequential import spending
from gate.stats.shared_variance import expected_degrees

THRESHOLDS = (0.02, 0.05)
CHANGES = (0.0, 0.05, 0.10, 0.20)
_ALPHA = 0.05
_MODERATED = Interval("fieller-moderated", 0.0, float(MEMORY_DF), paired=True)
INTERVALS: tuple[Decided, ...] = ("paired-shared", "fieller-moderated")
_SIZES = (0.10, 0.20)
Show = Literal["no-sign", "not-worse"]
SHOWS: tuple[Show, ...] = ("no-sign", "not-worse")


def _changed(setting: Setting) -> Components:
    """Choose the case of middling noise."""
    return sorted(setting.components, key=lambda c: c.of_build_mean)[(len(setting.components) - 1) // 2]


def study(
    setting: Setting, interval: Decided, threshold: float, change: float, looks: tuple[int, ...], show: Show
) -> Reports:
    """Return the study of reports in which one case, the first, has changed."""
    changed = _changed(setting)
    others = [c for c in setting.in_turn if c != changed] + [c for c in setting.in_turn if c == changed]
    cases = (changed, *others[: setting.cases - 1])
    ratios = (1 + change, *(1.0 for _ in cases[1:]))
    decided = dataclasses.replace(rules(threshold, interval, looks, len(cases)), show=show)
    return Reports(Source(cases, NORMAL), ratios, decided, MEMORY_DF)


def draft(setting: Setting) -> Draft:
    """Write the chapter."""
    most = LOOKS[-1]
    titles = ("interval", "threshold", "change", f"found, fixed {most}", "found", "its rounds", "others'", "built")
    lines = tuple(
        _line(setting, interval, threshold, change)
        for interval in INTERVALS
        for threshold in THRESHOLDS
        for change in CHANGES
    )
    return Draft(
        "Stopping early",
        (
            (
                f"Reports of {setting.cases} cases of which one, {_changed(setting).name}, has changed. Found: how "
                f"often the change is called a regression, with {most} builds and with looks after "
                f"{', '.join(map(str, LOOKS))} rounds. Rounds: mean number of rounds in which the changed case and "
                "the others are executed, and in which both sides are built. Builds continue as long as any case "
                "needs them. Each cell with looks: cases are given up where no regression can be expected any more "
                '(`show = "no-sign"`, the default) / measured until they are shown to be not worse.'
            ),
            DraftTable(titles, lines, names=3),
            (
                "What becomes of cases that have not changed, and of cases that are all slower by the size that "
                "must have shown, threshold 2%: the share called no sign, unchanged, and inconclusive; and the share "
                "of slower cases that are called a regression, and no sign."
            ),
            _shown(setting),
            (
                "What giving up saves, for no change and for the smallest change that the whole plan finds in 80% of "
                "the runs (d1), threshold 2%: rounds executed, and built, on the average of all cases of the report, "
                "and the rounds that K&J's interval needs in a fixed design to find d1 as often. The last column is "
                "rounds executed over K&J's, the mean of none and d1."
            ),
            _saved(setting),
            (
                f"The cost of the looks for a single case: the share of {_changed(setting).name} against itself that "
                "fails at threshold 0, divided by the 2.5% that a fixed design may fail. Each test is one-sided."
            ),
            _single(setting),
        ),
    )


def _line(setting: Setting, interval: Decided, threshold: float, change: float) -> Row:
    fixed = study(setting, interval, threshold, change, (LOOKS[-1],), "no-sign")
    both = tuple(study(setting, interval, threshold, change, LOOKS, show) for show in SHOWS)

    def beside(write: Callable[[ReportCounts], str]) -> Ask[str]:
        def make(results: Results) -> str:
            return " / ".join(write(results.of(of)) for of in both)

        return Ask(both, make)

    found = Ask((fixed,), lambda results: _found(results.of(fixed)))
    words = f"+{plain(change)}" if change else "none"
    cells = (beside(write) for write in (_found, _own, _others, _built))
    return row(f"`{interval}`", plain(threshold), words, found, *cells)


def _found(counts: ReportCounts) -> str:
    return percent(float(counts.regression[0]) / counts.reports)


def _own(counts: ReportCounts) -> str:
    return f"{float(counts.rounds[0]) / counts.reports:.1f}"


def _others(counts: ReportCounts) -> str:
    return f"{float(counts.rounds[1:].mean()) / counts.reports:.1f}" if len(counts.rounds) > 1 else ""


def _built(counts: ReportCounts) -> str:
    return f"{counts.report_rounds / counts.reports:.1f}"


def _shown(setting: Setting) -> DraftTable:
    def of(interval: Decided, size: float, ratio: float) -> Reports:
        decided = dataclasses.replace(rules(0.02, interval, LOOKS, setting.cases), wanted=size)
        return Reports(Source(setting.in_turn, NORMAL), (ratio,) * setting.cases, decided, MEMORY_DF)

    def cell(asked: Reports, kind: Literal["no_sign", "unchanged", "inconclusive", "regression"]) -> Ask[str]:
        return Ask((asked,), lambda results: percent(_share(results.of(asked), kind)))

    lines = tuple(
        row(
            f"`{interval}`",
            plain(size),
            *(cell(of(interval, size, 1.0), kind) for kind in ("no_sign", "unchanged", "inconclusive")),
            *(cell(of(interval, size, 1 + size), kind) for kind in ("regression", "no_sign")),
        )
        for interval in INTERVALS
        for size in _SIZES
    )
    titles = ("interval", "size", "no sign", "unchanged", "inconclusive", "slower: found", "slower: no sign")
    return DraftTable(titles, lines, names=2)


def _share(counts: ReportCounts, kind: str) -> float:
    known = {
        "no_sign": counts.no_sign,
        "unchanged": counts.unchanged,
        "regression": counts.regression,
        "improvement": counts.improvement,
    }
    if kind in known:
        return counts.share(known[kind])
    return 1 - sum(counts.share(each) for each in known.values())


def _saved(setting: Setting) -> DraftTable:
    changed = _changed(setting)
    variances = Variances(changed.iteration**2, changed.execution**2, changed.build**2)

    def needed(change: float, cases: int) -> int:
        kj = Interval("fieller-kj")
        counts = (Counts(builds, changed.executions, changed.iterations) for builds in range(2, 200))
        found = (
            c.builds
            for c in counts
            if power(variances, c, change, threshold=THRESHOLDS[0], alpha=_ALPHA / cases, interval=kj) >= FOUND
        )
        return next(found)

    def line(cases: int, name: Decided) -> Row:
        one = dataclasses.replace(setting, cases=cases)
        plan = Counts(LOOKS[-1], changed.executions, changed.iterations)
        shares = expected_degrees(cases, LOOKS[-1]) if name == "paired-shared" else 0.0
        interval = Interval("paired-shared", 0.0, shares) if name != "fieller-moderated" else _MODERATED
        level = spending(LOOKS).nominal(len(LOOKS) - 1, _ALPHA / cases, paired=name != "fieller-moderated")
        d1 = minimum_detectable_change(
            variances, plan, threshold=THRESHOLDS[0], alpha=level, interval=interval, min_builds=5
        )
        studies = tuple(study(one, name, THRESHOLDS[0], change, LOOKS, "no-sign") for change in (0.0, d1))
        kj = needed(d1, cases)

        def executed(results: Results, of: Reports) -> float:
            return float(results.of(of).rounds.mean()) / results.of(of).reports

        def rounds(of: Reports) -> Ask[str]:
            return Ask((of,), lambda results: f"{executed(results, of):.1f}, {_built(results.of(of))}")

        ratio = Ask(studies, lambda results: f"{sum(executed(results, of) for of in studies) / 2 / kj:.2f}")
        told = Ask(studies, lambda results: _found(results.of(studies[1])))
        return row(str(cases), f"`{name}`", percent(d1), told, *map(rounds, studies), str(kj), ratio)

    titles = ("cases", "interval", "d1", "d1 found", "none: executed, built", "d1: executed, built", "K&J's", "ratio")
    lines = (line(1, "paired"), line(1, "fieller-moderated"), *(line(setting.cases, name) for name in INTERVALS))
    return DraftTable(titles, lines, names=2)


def _single(setting: Setting) -> DraftTable:
    def cell(interval: Decided, looks: tuple[int, ...], shape: Shape) -> Ask[str]:
        decided = rules(0.0, interval, looks, 1)
        alone = Reports(Source((_changed(setting),), shape), (1.0,), decided, MEMORY_DF)
        return Ask((alone,), lambda results: f"{results.of(alone).failing / (decided.alpha / 2):.2f}")

    lines = tuple(
        row(f"`{interval}`", words, *(cell(interval, looks, shape) for shape in REPORT_SHAPES))
        for interval in REPORT_INTERVALS
        # alone in a report a case shares nothing
        if interval != "paired-shared"
        for words, looks in ((f"fixed {LOOKS[-1]}", (LOOKS[-1],)), ("looks", LOOKS))
    )
    return DraftTable(("interval", "design", *(shape.name for shape in REPORT_SHAPES)), lines, names=2)
