"""The pictures of the trial's page: whole SVG documents, readable on light and dark."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.trial import plan
from benchmarks.trial.judging import BENCHMARKS, Trial
from benchmarks.trial.rules.registry import PERFGATE, RULES
from benchmarks.trial.rules.rule import SIZE, Plan, Rule
from gate.plots.picture import Sheet
from gate.plots.scales import Axis

# narrow, so that the words can be read on a phone; the larger letters of the report's pictures would not fit
_WIDTH, _ROW, _LEFT, _RIGHT = 520, 30, 244, 500
_TOP = 72
_CLOSE = 20
_LARGER = re.compile(r"@media\(max-width:[^{]*\{.*?\}\}(?=</style>)")
# as in the report's page
_LIGHT = "--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--page:#fff;--wash:#f6f8fa;--base:#0b5cad;--head:#b3400a"
_DARK = "--ink:#f0f6fc;--soft:#9198a1;--line:#3d444d;--page:#0d1117;--wash:#151b23;--base:#6cb2ff;--head:#ff9d66"
LABELS = (*(f"+{round(100 * size)}%" for size in plan.SIZES), "tail")
_PLANS: tuple[tuple[Plan, str, str], ...] = (
    ("default", "base", "default plan"),
    ("equal", "head", "as long as perfgate"),
)


@dataclass(frozen=True)
class Figure:
    """One picture: its file, what it is called, and what it shows in words."""

    name: str
    title: str
    description: str
    svg: str


def figures(trial: Trial) -> list[Figure]:
    """Draw all pictures of a trial."""
    return [_alarms(trial), _misses(trial), _tradeoff(trial)]


def _finished(sheet: Sheet, name: str, title: str, description: str) -> Figure:
    drawn = _LARGER.sub("", sheet.picture(name, title, description, "").svg)
    variables = (
        f"<style>#{name}-svg{{{_LIGHT};background:var(--page)}}"
        f"@media (prefers-color-scheme:dark){{#{name}-svg{{{_DARK}}}}}</style>"
    )
    size = f'width="{sheet.width:g}" height="{sheet.height:g}" viewBox='
    return Figure(
        name, title, description, drawn.replace("<style>", f"{variables}<style>", 1).replace("viewBox=", size) + "\n"
    )


def _percent_axis(sheet: Sheet, x: Axis, top: float, bottom: float) -> None:
    for percent in range(0, 101, 25):
        at = x.at(percent / 100)
        sheet.lines("grid", [[(at, top), (at, bottom)]])
        sheet.text(at, top - 8, f"{percent}%", "soft", "middle")


def _alarms(trial: Trial) -> Figure:
    rules = [rule.name for rule in RULES]
    bottom = _TOP + _ROW * len(rules)
    sheet = Sheet(_WIDTH, bottom + 12)
    x = Axis(0.0, 1.0, _LEFT, _RIGHT)
    sheet.text(8, 22, "False alarms: the same work, called slower", "strong")
    _legend(sheet, 44)
    _percent_axis(sheet, x, _TOP, bottom)
    for row, name in enumerate(rules):
        middle = _TOP + _ROW * (row + 0.5)
        _label(sheet, name, middle)
        for (by, colour, _), offset in zip(_PLANS, (-5.0, 5.0), strict=True):
            found = trial.alarms(name, by)
            if found is not None:
                sheet.lines(
                    f"fine-{colour}", [[(x.at(found.low), middle + offset), (x.at(found.high), middle + offset)]]
                )
                sheet.marks(f"spot-{colour}", "circle", [(x.at(found.share), middle + offset)])
    return _finished(
        sheet,
        "alarms",
        "False alarms of each rule",
        "One row for each rule, with 95% intervals, by both plans; the tables have the numbers.",
    )


def _misses(trial: Trial) -> Figure:
    rules = [rule.name for rule in RULES]
    sheet = Sheet(_WIDTH, _TOP + _ROW * len(rules) + 40)
    sheet.text(8, 22, "Changes that are missed, by size (default plan)", "strong")
    columns = LABELS
    step = (_RIGHT - _LEFT) / len(columns)
    for column, label in enumerate(columns):
        sheet.text(_LEFT + step * (column + 0.5), _TOP - 12, label, "soft", "middle")
    for row, rule in enumerate(RULES):
        middle = _TOP + _ROW * (row + 0.5)
        _label(sheet, rule.name, middle)
        for column, kind in enumerate(plan.CHANGED):
            found = trial.misses(rule.name, "default", kind)
            if found is None:
                continue
            left, right = _LEFT + step * column + 3, _LEFT + step * (column + 1) - 3
            by_design = rule.lets_pass(column)
            # the bar below the number, so that neither hides the other
            track, filled = middle + 9, left + (right - left) * found.share
            sheet.lines("line-soft", [[(left, track), (right, track)]])
            if found.share and not by_design:
                area = [[(left, track - 2), (filled, track - 2), (filled, track + 2), (left, track + 2)]]
                sheet.lines("box-head", area, closed=True)
            text = f"{found.share:.0%}"
            sheet.text(
                (left + right) / 2,
                middle + 2.5,
                f"({text})" if by_design else text,
                "soft" if by_design else "",
                "middle",
            )
    sheet.text(
        8,
        _TOP + _ROW * len(rules) + 24,
        "In brackets: no larger than the rule's own threshold, so meant to pass.",
        "soft",
    )
    return _finished(
        sheet,
        "misses",
        "Missed changes of each rule",
        "One row for each rule, one column for each size; the first table has the numbers.",
    )


def _compared(rule: Rule) -> Plan | None:
    """Give the plan for one time and one threshold; None: another rule is the same tool."""
    if rule.sized is not None:
        return "sized"
    return None if rule.threshold else "equal"


def _tradeoff(trial: Trial) -> Figure:
    """Draw false alarms of a pull request against misses of the middle sizes, all at one time and one threshold."""
    kinds = plan.CHANGED[1:3]
    top, bottom, left, right = 92, 400, 62, 500
    rules = [(rule, by) for rule in RULES if (by := _compared(rule)) is not None]
    rows = math.ceil(len(rules) / 2)
    sheet = Sheet(_WIDTH, bottom + 64 + 24 * rows)
    x, y = Axis(0.0, 1.0, left, right), Axis(0.0, 1.0, bottom, top)
    sizes = " and ".join(LABELS[1:3])
    sheet.text(8, 22, f"False alarms of a pull request, and misses of {sizes}", "strong")
    sheet.text(8, 44, f"perfgate's time, threshold {SIZE:.0%} where there is one. Lower left is better.", "soft")
    for percent in range(0, 101, 20):
        share = percent / 100
        sheet.lines("grid", [[(x.at(share), top), (x.at(share), bottom)], [(left, y.at(share)), (right, y.at(share))]])
        sheet.text(x.at(share), bottom + 20, f"{percent}%", "soft", "middle")
        sheet.text(left - 8, y.at(share) + 4.5, f"{percent}%", "soft", "end")
    below = f"pull requests of {BENCHMARKS} benchmarks with a false alarm"
    sheet.text((left + right) / 2, bottom + 40, below, "soft", "middle")
    sheet.text(8, top - 20, "changes missed", "soft")
    marks: list[tuple[int, float, float]] = []
    for number, (rule, by) in enumerate(rules, 1):
        column, row = divmod(number - 1, rows)
        line = bottom + 68 + 24 * row
        sheet.text(28 + 250 * column, line, f"{number}", "strong", "end")
        name = rule.sized.name if rule.sized is not None else rule.name
        sheet.text(36 + 250 * column, line, name, "strong" if rule is PERFGATE else "")
        alarm = trial.pull_request(rule.name, by)
        found = [each for kind in kinds if (each := trial.misses(rule.name, by, kind)) is not None]
        if alarm is not None and found:
            missed = sum(each.count for each in found) / sum(each.of for each in found)
            marks.append((number, x.at(alarm), y.at(missed)))
    _numbered(sheet, marks, (left + right) / 2)
    described = "One mark for each rule: false alarms to the right, misses upwards; the tables have the numbers."
    return _finished(sheet, "both", "False alarms and misses at perfgate's time and threshold", described)


def _numbered(sheet: Sheet, marks: Sequence[tuple[int, float, float]], middle: float) -> None:
    """Draw marks, perfgate's above the others; those that are close to each other share a label."""
    labels: list[tuple[float, float, list[int]]] = []
    for number, x, y in sorted(marks, key=lambda mark: mark[0] == 1):
        sheet.marks("spot-head" if number == 1 else "spot-base", "circle", [(x, y)])
        for at, line, numbers in labels:
            if abs(x - at) < _CLOSE and abs(y - line) < _CLOSE:
                numbers.append(number)
                break
        else:
            labels.append((x, y, [number]))
    for x, y, numbers in labels:
        # to the side where there is room
        beside = 9 if x < middle else -9
        label = ", ".join(map(str, sorted(numbers)))
        sheet.text(x + beside, y - 7, label, "small", "start" if beside > 0 else "end")


def _label(sheet: Sheet, name: str, middle: float) -> None:
    sheet.text(_LEFT - 14, middle + 4.5, name, "strong" if name == PERFGATE.name else "", "end")


def _legend(sheet: Sheet, y: float) -> None:
    at = 8.0
    for _, colour, label in _PLANS:
        sheet.marks(f"spot-{colour}", "circle", [(at + 6, y - 4.5)])
        sheet.text(at + 18, y, label, "soft")
        at += 32 + 8.2 * len(label)
    sheet.text(at, y, "lines: 95% intervals", "soft")
