"""The picture of the trial's page: a whole SVG document, readable on light and dark."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.trial import plan
from benchmarks.trial.judging import Trial
from benchmarks.trial.rules.registry import PERFGATE, RULES
from gate.plots.picture import Sheet
from gate.plots.scales import Axis

# narrow, so that the words can be read on a phone
_WIDTH, _ROW, _LEFT, _RIGHT, _TOP = 560, 26, 184, 552, 92
_GAP = 10
# as in the report's page
_LIGHT = "--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--page:#fff;--wash:#f6f8fa;--base:#0b5cad;--head:#b3400a"
_DARK = "--ink:#f0f6fc;--soft:#9198a1;--line:#3d444d;--page:#0d1117;--wash:#151b23;--base:#6cb2ff;--head:#ff9d66"
LABELS = {kind: f"+{kind.removeprefix('plus-')}%" if kind != plan.TAIL else kind for kind in plan.CHANGED}
ASKED = plan.CHANGED[1:]
"""The changes of which each rule is compared with perfgate."""


@dataclass(frozen=True)
class Figure:
    """One picture: its file, what it is called, and what it shows in words."""

    name: str
    title: str
    description: str
    svg: str


def figures(trial: Trial) -> list[Figure]:
    """Draw the pictures of a trial."""
    return [_differences(trial)]


def _differences(trial: Trial) -> Figure:
    rules = [rule.name for rule in RULES if rule is not PERFGATE]
    bottom = _TOP + _ROW * len(rules)
    sheet = Sheet(_WIDTH, bottom + 32)
    sheet.text(8, 22, "Called more or less often than by perfgate", "strong")
    sheet.text(8, 44, "Equal guarantee and seconds; 95% intervals, -100 to +100 points. Right of 0: better.", "soft")
    step = (_RIGHT - _LEFT) / len(ASKED)
    for row, name in enumerate(rules):
        sheet.text(_LEFT - 12, _TOP + _ROW * (row + 0.5) + 4.5, name, "", "end")
    for column, kind in enumerate(ASKED):
        left, right = _LEFT + step * column + _GAP / 2, _LEFT + step * (column + 1) - _GAP / 2
        x = Axis(-1.0, 1.0, left, right)
        sheet.text((left + right) / 2, _TOP - 14, LABELS[kind], "soft", "middle")
        sheet.lines("grid", [[(x.at(0), _TOP), (x.at(0), bottom)], [(left, bottom), (right, bottom)]])
        sheet.text(x.at(0), bottom + 18, "0", "soft", "middle")
        for row, name in enumerate(rules):
            found = trial.difference(name, "equal", kind)
            if found is not None:
                colour = "head" if found.word == "better" else "base"
                middle = _TOP + _ROW * (row + 0.5)
                sheet.lines(f"fine-{colour}", [[(x.at(found.low), middle), (x.at(found.high), middle)]])
                sheet.marks(f"spot-{colour}", "circle", [(x.at(found.share), middle)])
    described = "One row a rule, one column a change, as in the table."
    return _finished(sheet, "differences", "Each rule beside perfgate, at equal guarantee", described)


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
