"""Early stopping: its cost and savings, on the same reports with and without looks."""

from __future__ import annotations

from gate.commands.calibrate.simulation.alarms import FIXED, LOOKS, REPORT_INTERVALS, REPORT_SHAPES, rules
from gate.commands.calibrate.simulation.arrays.components import NORMAL, Components, Shape
from gate.commands.calibrate.simulation.arrays.draws import Source
from gate.commands.calibrate.simulation.arrays.pairs import Interval
from gate.commands.calibrate.simulation.arrays.studies import Reports
from gate.commands.calibrate.simulation.coverage import MEMORY_DF
from gate.commands.calibrate.simulation.pool import Results
from gate.commands.calibrate.simulation.sections import Ask, Draft, DraftTable, Row, Setting, percent, plain, row

_THRESHOLDS = (0.02, 0.05)
_CHANGES = (0.0, 0.02, 0.05, 0.10, 0.20)
_INTERVALS: tuple[Interval, ...] = ("fieller", "fieller-moderated")


def _changed(setting: Setting) -> Components:
    """Choose the case of middling noise."""
    return sorted(setting.components, key=lambda c: c.of_build_mean)[(len(setting.components) - 1) // 2]


def study(setting: Setting, interval: Interval, threshold: float, change: float, looks: tuple[int, ...]) -> Reports:
    """Return the study of reports in which one case, the first, has changed."""
    changed = _changed(setting)
    others = [c for c in setting.in_turn if c != changed] + [c for c in setting.in_turn if c == changed]
    cases = (changed, *others[: setting.cases - 1])
    ratios = (1 + change, *(1.0 for _ in cases[1:]))
    return Reports(Source(cases, NORMAL), ratios, rules(threshold, interval, looks, len(cases)), MEMORY_DF)


def draft(setting: Setting) -> Draft:
    """Write the chapter."""
    most = LOOKS[-1]
    titles = (
        "interval",
        "threshold",
        "change",
        f"fixed {FIXED[0]}",
        f"fixed {most}",
        "looks",
        "its rounds",
        "others'",
        "built",
    )
    lines = tuple(
        _line(setting, interval, threshold, change)
        for interval in _INTERVALS
        for threshold in _THRESHOLDS
        for change in _CHANGES
    )
    return Draft(
        "Stopping early",
        (
            (
                f"Reports of {setting.cases} cases of which one, {_changed(setting).name}, has changed. Found: how "
                "often the change is called a regression, with a fixed number of builds and with looks after "
                f"{', '.join(map(str, LOOKS))} rounds. Rounds: mean number of rounds in which the changed case and "
                "the others are executed, and in which both sides are built. Builds continue as long as any case "
                "needs them."
            ),
            DraftTable(titles, lines, names=3),
            (
                f"The cost of the looks for a single case: the share of {_changed(setting).name} against itself that "
                "fails at threshold 0, divided by the 2.5% that a fixed design may fail. Each test is one-sided."
            ),
            _single(setting),
        ),
    )


def _line(setting: Setting, interval: Interval, threshold: float, change: float) -> Row:
    few, many, looks = (study(setting, interval, threshold, change, rounds) for rounds in (FIXED, (LOOKS[-1],), LOOKS))

    def found(of: Reports) -> Ask[str]:
        return Ask((of,), lambda results: percent(float(results.of(of).regression[0]) / results.of(of).reports))

    def its_rounds(results: Results) -> str:
        counts = results.of(looks)
        return f"{float(counts.rounds[0]) / counts.reports:.1f}"

    def others(results: Results) -> str:
        counts = results.of(looks)
        return f"{float(counts.rounds[1:].mean()) / counts.reports:.1f}" if len(counts.rounds) > 1 else ""

    def built(results: Results) -> str:
        counts = results.of(looks)
        return f"{counts.report_rounds / counts.reports:.1f}"

    asks = (Ask((looks,), make) for make in (its_rounds, others, built))
    words = f"+{plain(change)}" if change else "none"
    return row(f"`{interval}`", plain(threshold), words, found(few), found(many), found(looks), *asks)


def _single(setting: Setting) -> DraftTable:
    def cell(interval: Interval, looks: tuple[int, ...], shape: Shape) -> Ask[str]:
        decided = rules(0.0, interval, looks, 1)
        alone = Reports(Source((_changed(setting),), shape), (1.0,), decided, MEMORY_DF)
        return Ask((alone,), lambda results: f"{results.of(alone).failing / (decided.alpha / 2):.2f}")

    lines = tuple(
        row(f"`{interval}`", words, *(cell(interval, looks, shape) for shape in REPORT_SHAPES))
        for interval in REPORT_INTERVALS
        for words, looks in ((f"fixed {LOOKS[-1]}", (LOOKS[-1],)), ("looks", LOOKS))
    )
    return DraftTable(("interval", "design", *(shape.name for shape in REPORT_SHAPES)), lines, names=2)
