"""The pictures of the trial's page: whole SVG documents, readable on light and dark."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.trial import plan
from benchmarks.trial.judging import BENCHMARKS, Trial
from benchmarks.trial.rules.registry import PERFGATE, RULES
from benchmarks.trial.rules.rule import Plan
from gate.plots.picture import Sheet
from gate.plots.scales import Axis

_WIDTH, _ROW, _LEFT, _RIGHT = 720, 30, 268, 690
_TOP = 72
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
    drawn = sheet.picture(name, title, description, "").svg
    variables = (
        f"<style>#{name}-svg{{{_LIGHT};background:var(--page)}}"
        f"@media (prefers-color-scheme:dark){{#{name}-svg{{{_DARK}}}}}</style>"
    )
    size = f'width="{sheet.width:g}" height="{sheet.height:g}" viewBox='
    return Figure(
        name, title, description, drawn.replace("<style>", f"{variables}<style>", 1).replace("viewBox=", size) + "\n"
    )


def _percent_axis(sheet: Sheet, x: Axis, top: float, bottom: float) -> None:
    for percent in range(0, 101, 20):
        at = x.at(percent / 100)
        sheet.lines("grid", [[(at, top), (at, bottom)]])
        sheet.text(at, top - 8, f"{percent}%", "soft", "middle")


def _alarms(trial: Trial) -> Figure:
    rules = [rule.name for rule in RULES]
    bottom = _TOP + _ROW * len(rules)
    sheet = Sheet(_WIDTH, bottom + 12)
    x = Axis(0.0, 1.0, _LEFT, _RIGHT)
    sheet.text(8, 22, "False alarms: head does the same work, and is called slower", "strong")
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
            left, right = _LEFT + step * column + 8, _LEFT + step * (column + 1) - 8
            by_design = rule.lets_pass(column)
            edge = [[(left, middle - 9), (right, middle - 9), (right, middle + 9), (left, middle + 9)]]
            sheet.lines("shell", edge, closed=True)
            filled = left + (right - left) * found.share
            if found.share and not by_design:
                area = [[(left, middle - 9), (filled, middle - 9), (filled, middle + 9), (left, middle + 9)]]
                sheet.lines("box-head", area, closed=True)
            text = f"{found.share:.0%}"
            sheet.text(
                (left + right) / 2,
                middle + 4.5,
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


def _tradeoff(trial: Trial) -> Figure:
    """Draw false alarms of a pull request against misses of the middle sizes."""
    kinds = plan.CHANGED[1:3]
    top, bottom, left, right = 92, 470, 62, 420
    sheet = Sheet(_WIDTH, bottom + 56)
    x, y = Axis(0.0, 1.0, left, right), Axis(0.0, 1.0, bottom, top)
    sizes = " and ".join(LABELS[1:3])
    sheet.text(8, 22, f"Both at once: false alarms of a pull request, and misses of {sizes}", "strong")
    sheet.text(8, 44, "Lower left is better. Default plans.", "soft")
    for percent in range(0, 101, 20):
        share = percent / 100
        sheet.lines("grid", [[(x.at(share), top), (x.at(share), bottom)], [(left, y.at(share)), (right, y.at(share))]])
        sheet.text(x.at(share), bottom + 20, f"{percent}%", "soft", "middle")
        sheet.text(left - 8, y.at(share) + 4.5, f"{percent}%", "soft", "end")
    sheet.text(
        (left + right) / 2,
        bottom + 44,
        f"pull requests of {BENCHMARKS} benchmarks with a false alarm",
        "soft",
        "middle",
    )
    sheet.text(8, top - 16, "changes missed", "soft")
    places: dict[tuple[float, float], list[int]] = {}
    for number, rule in enumerate(RULES, 1):
        line = top + 24 * (number - 1)
        sheet.text(right + 62, line + 4.5, f"{number}", "strong", "end")
        sheet.text(right + 70, line + 4.5, rule.name, "strong" if rule is PERFGATE else "")
        alarm = trial.pull_request(rule.name, "default")
        found = [each for kind in kinds if (each := trial.misses(rule.name, "default", kind)) is not None]
        if alarm is not None and found:
            missed = sum(each.count for each in found) / sum(each.of for each in found)
            places.setdefault((x.at(alarm), y.at(missed)), []).append(number)
    for place, numbers in places.items():
        sheet.marks("spot-head" if RULES.index(PERFGATE) + 1 in numbers else "spot-base", "circle", [place])
        # to the side where there is room
        label, beside = ", ".join(map(str, numbers)), 9 if place[0] < (left + right) / 2 else -9
        sheet.text(place[0] + beside, place[1] - 7, label, "small", "start" if beside > 0 else "end")
    described = "One mark for each rule: false alarms to the right, misses upwards; the first table has the numbers."
    return _finished(sheet, "both", "False alarms and misses of each rule", described)


def _label(sheet: Sheet, name: str, middle: float) -> None:
    sheet.text(_LEFT - 14, middle + 4.5, name, "strong" if name == PERFGATE.name else "", "end")


def _legend(sheet: Sheet, y: float) -> None:
    at = 8.0
    for _, colour, label in _PLANS:
        sheet.marks(f"spot-{colour}", "circle", [(at + 6, y - 4.5)])
        sheet.text(at + 18, y, label, "soft")
        at += 32 + 8.2 * len(label)
    sheet.text(at, y, "lines: 95% intervals", "soft")
