"""Findings as the page shows them: the axis that their bars share, and a card of each with its pictures and numbers."""

from __future__ import annotations

import glob
import math
import shlex
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from msgspec import structs

from gate.decide.importance import MOST, plain
from gate.document import bars
from gate.document.document import (
    Cell,
    Code,
    Column,
    Facts,
    Figure,
    Figures,
    Fold,
    Items,
    Part,
    Pointers,
    Results,
    Row,
    Section,
    Sides,
    Statement,
    Table,
)
from gate.document.html import END, START
from gate.model import SIDES, Case, Finding, Level, LevelCounts, QuantileCurve, Report, Sample, Variance
from gate.model.case import CaseId, case_id, shown
from gate.plots.picture import room
from gate.plots.scales import Axis, change_ticks
from gate.report import parts
from gate.report.material import Material
from gate.words import findings as finding_words
from gate.words import notes, numbers, reports, views
from gate.words.short_names import Names
from gate.writing import amounts
from gate.writing.amounts import format_number, known
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible
from gate.writing.units import format_confidence, format_share, plural

NAME = 80
"""Columns of a name outside of its own finding."""
_FEW = 4
_BUILDS = 30
"""Builds of a side whose means are listed."""
_Named = TypeVar("_Named", Finding, Case, QuantileCurve)


def cards(
    report: Report, names: Names, found: Sequence[Finding], table: Results, material: Material, one: str
) -> list[Section | Fold]:
    """Bring the findings, in the order of importance, into cards, of which those that need no look are folded.

    Those that matter most have pictures, one set a case. one: the command that draws one, but for its name.
    """
    measured = {case_id(case): case for case in material.cases}
    curves = {case_id(curve): curve for curve in report.curves}
    once = shared_notes(found)
    drawn: dict[CaseId, tuple[str, str, str]] = {}
    made: list[Section | Fold] = []
    for number, (finding, row) in enumerate(zip(found, table.rows, strict=True), 1):
        key = case_id(finding)
        case = measured.get(key)
        # what of a benchmark is compared, where not all have the same
        what = row.quantity if not (table.quantity or finding.view) else ""
        whys = [f"why-{n}" for n, why in enumerate(report.explanations, 1) if why.benchmark == finding.benchmark]
        minded = [text for kind, text in notes.notes(finding, every=True) if kind not in once]
        used = _used(case, finding) if case is not None else ""
        means: list[str] = []
        if key in drawn:
            shown: Part = Pointers("For the pictures of this case see", (drawn[key],))
        elif number > MOST:
            command = f"{one} --benchmark {shlex.quote(glob.escape(finding.benchmark))} --html one.html"
            shown = Code(visible(command), purpose="draws its pictures")
        else:
            figures, missing = _drawn(finding, case, curves.get(key), f"case-{number}")
            shown = Figures(figures, of=row.name) if figures else Statement(missing)
            if figures:
                used += " Pictures of values show all." if used else ""
                means = [_means(own, finding) for own in (case.base, case.head)] if case is not None else []
                drawn[key] = (row.id, row.name, row.quantity)
        told = [
            Statement(f"{finding_words.conclusion(finding)}.", is_loud=True),
            Sides(row.base, row.head, next(iter(difference(finding)), "")),
            Pointers("See the", tuple((each, "functions behind it", "") for each in whys)),
            Items(minded, "rest"),
            Statement(used),
            shown,
            *_behind(finding, names, command_of(finding.benchmark, report.run.commands or {}), means),
        ]
        badge, label = f"{bars.SHAPES[finding.verdict]} {row.word}", ", ".join(filter(None, (what, row.settings)))
        title = visible(finding.benchmark)
        if finding.verdict in ("unchanged", "no-sign"):
            label = " · ".join(filter(None, (label, f"{row.change} ({numbers.interval(finding.ratio)})")))
            is_open = len(found) <= _FEW or not plain(finding)
            made.append(Fold(title, told, row.id, open=is_open, label=label, tone=finding.verdict, badge=badge))
        else:
            made.append(Section(title, row.id, told, label=label, tone=finding.verdict, badge=badge))
    return made


_LEAST_WIDTH = 200
"""Pixels that the column of bars has at least."""
_LETTERS, _GAP = 13, 12
"""Of a label under the axis: the size of its letters, and what it keeps free around it, in pixels."""


def ticks(findings: Sequence[Finding], on: bars.Ends) -> tuple[tuple[float, str], ...]:
    """Choose what the axis of the bars names: no change, the threshold that all have, and changes around these."""
    thresholds = {bars.extent(finding).threshold for finding in findings}
    own = [math.expm1(thresholds.pop())] if len(thresholds) == 1 else []
    share = 100 / _LEAST_WIDTH
    found = change_ticks(Axis(*on, START, END), lambda label: (room(label, _LETTERS) + _GAP) * share, own)
    return tuple((tick.at, tick.label) for tick in found)


# --- of one finding ---------------------------------------------------------------------------------------------------


def readings(figures: Iterable[Figure]) -> list[str]:
    """Say how to read the pictures of each kind, each sentence once."""
    found: dict[str, dict[str, None]] = {}
    for figure in figures:
        found.setdefault(figure.name, {}).update(dict.fromkeys(figure.reading))
    return [f"{name}: {' '.join(sentences)}" for name, sentences in found.items() if sentences]


def _drawn(finding: Finding, case: Case | None, curve: QuantileCurve | None, prefix: str) -> tuple[list[Figure], str]:
    """Draw the pictures of a finding, or say why there are none."""
    if finding.ratio.method == "exact" or (case is not None and case.exact):
        return [], "Exact numbers have no spread, so there is nothing to draw."
    from gate.plots.violins import effects, series, values

    named, drawn = _legible(finding), []
    if case is not None:
        own = _legible(case)
        drawn = [
            ("values", "Values by build and start", values(own, named, f"{prefix}-values")),
            ("series", "Values in the order of the run", series(own, named, f"{prefix}-series")),
        ]
    if curve is not None:
        drawn.append(("effects", "Change by quantile", effects(_legible(curve), named, f"{prefix}-effects")))
    figures = [picture.figure(kind, name) for kind, name, picture in drawn if picture is not None]
    missing = "Its values have no spread that a picture could show." if case is not None and not figures else ""
    return figures, missing


def _legible(found: _Named) -> _Named:
    """Make every name visible that a picture writes."""
    factors = {visible(name): visible(shown(value)) for name, value in found.factors.items()}
    names = {"benchmark": visible(found.benchmark), "metric": visible(found.metric), "factors": factors}
    if not isinstance(found, QuantileCurve):
        names["unit"] = visible(found.unit)
    return structs.replace(found, **names)


def _behind(finding: Finding, names: Names, command: str, means: Sequence[str]) -> list[Part]:
    """Give its change on each machine, what the views show that did not decide, and all of its numbers."""
    found: list[Part] = [parts.without_names(parts.machines([finding], names))] if finding.sessions else []
    if finding.beside:
        table = parts.without_names(parts.other_views([finding], names))
        told = Statement("Intervals are without correction for multiple comparisons.")
        found.append(Fold("Other views", [table, told], label="; ".join(views.others(finding))))
    facts = [(name, text) for name, text in _numbers(finding, command, means) if text]
    return [*found, Fold("Numbers", [Facts(facts), levels_of(finding)], label=finding_words.basis(finding))]


def _numbers(f: Finding, command: str, means: Sequence[str]) -> list[tuple[str, str]]:
    like, at = numbers.larger(f), format_confidence(f.ratio.confidence)
    several = "the ratio and its interval" if f.base.counts.session > 1 else "the ratio's interval"
    apart = difference(f)
    floor = f", and a change of more than {numbers.floor(f)}" if known(f.floor) else ""
    df = f"; {format_number(f.ratio.df, 3)} degrees of freedom" if known(f.ratio.df) else ""
    alone = f.memory.without if f.memory is not None and f.memory.used else None
    without = f"; without it {numbers.interval(alone)}" if alone is not None else ""
    on_each = " on each machine" if f.sessions else ""
    more = f"about {f.more_builds} more of each{on_each} would decide it, if estimate and noise stay the same"
    found = []
    for side, own in (("base", f.base), ("head", f.head)):
        levels = ((getattr(own.counts, level), level) for level in finding_words.counted_levels(f))
        counts = ", ".join(plural(count, reports.level_name(level, f.top)) for count, level in levels)
        interval = numbers.side_interval(own, f.unit, like)
        found.append((side, f"{amounts.amount(own.value, f.unit, like)}, {interval} ({at}); {counts}"))
    return [
        *found,
        ("change", f"{numbers.change(f.ratio)}, interval: {numbers.interval(f.ratio)}"),
        ("head − base", ", ".join(apart) + (f" ({several} at base's value)" if len(apart) > 1 else "")),
        ("confidence", finding_words.basis(f)),
        ("decided by", finding_words.decided(f)),
        ("threshold", f"{numbers.threshold(f)}{floor}; {f.better} is better"),
        ("limit of head", numbers.limit(f) if f.limit is not None else ""),
        ("p, worse", f"{amounts.format_p(f.p)}; adjusted {amounts.format_p(f.p_adjusted)}"),
        ("p, better", f"{amounts.format_p(f.p_improvement)}; adjusted {amounts.format_p(f.p_improvement_adjusted)}"),
        ("method", f"{finding_words.method(f)}{df}"),
        (f"more {f.top}s", more if f.more_builds is not None else ""),
        ("memory", f"{f.memory.sentence()}{without}" if f.memory is not None else ""),
        *((f"{f.top}s of {side}", f"mean of each: {text}") for side, text in zip(SIDES, means, strict=False)),
        ("command", command),
    ]


def _used(case: Case, finding: Finding) -> str:
    """Say that a finding rests on a part of the builds that were measured; nothing where it rests on all."""
    measured = {side: len(sample.builds) for side, sample in (("base", case.base), ("head", case.head))}
    rest_on = {"base": finding.base.counts.build, "head": finding.head.counts.build}
    if all(rest_on[side] >= measured[side] for side in SIDES):
        return ""
    parts = [f"{rest_on[side]} of the {plural(measured[side], f'measured {finding.top}')}" for side in SIDES]
    over = f"{parts[0]} of each" if parts[0] == parts[1] else f"{parts[0]} of base and {parts[1]} of head"
    look = finding.decided_at
    when = f", those up to interim check {look.look} of {look.looks}" if look.looks > 1 else ""
    return f"Decided over {over}{when}."


def _means(sample: Sample, finding: Finding) -> str:
    ends = np.cumsum(sample.counts[0])[np.cumsum(sample.counts[1]) - 1]
    found = [float(own.mean()) for own in np.split(sample.values, ends[:-1])]
    return listed([amounts.amount(mean, finding.unit, numbers.larger(finding)) for mean in found], _BUILDS)


def shared_notes(found: Sequence[Finding]) -> dict[Hashable, notes.Shared]:
    """Find the warnings that many findings have, which the page says once."""
    return notes.shared(found, lambda finding: notes.notes(finding, every=True))


def command_of(benchmark: str, commands: Mapping[str, str]) -> str:
    """Return the command of a benchmark, or of the suite that "suite/name" belongs to; nothing where none is known."""
    name = benchmark
    while name not in commands:
        name, slash, _ = name.rpartition("/")
        if not slash:
            return ""
    return commands[name]


def difference(finding: Finding) -> list[str]:
    """Write head minus base in the unit, and the ratio's interval at base's value, as far as there are both."""
    base, ratio, like = finding.base.value, finding.ratio, numbers.larger(finding)
    low, high, estimate = ratio.low, ratio.high, ratio.estimate

    def signed(change: float) -> str:
        text = amounts.amount(change, finding.unit, like)
        return f"+{text}" if change > 0 else text

    # over several machines the ratio is no quotient of the means, which may lie outside of its interval
    several = finding.base.counts.session > 1
    change = base * (estimate - 1) if several and known(estimate) else finding.head.value - base
    if not known(change):
        return []
    if ratio.kind != "bounded" or ratio.method == "exact" or not (known(low) and known(high)):
        return [signed(change)]
    return [signed(change), f"{signed(base * (low - 1))} to {signed(base * (high - 1))}"]


# --- variance by level, as Kalibera and Jones (2012) have it ----------------------------------------------------------

_LEVELS: tuple[Level, ...] = ("session", "build", "execution", "iteration")
_UNITS = ("count", "S²", "T²", "of a value", "of the mean", "relative")


def levels_of(finding: Finding) -> Table:
    """Give count, S2, T2, the shares in the variance of a value and of the mean, and relative spread of each level.

    The highest level comes first.
    """
    sides = (("base", finding.variance.base, finding.base), ("head", finding.variance.head, finding.head))
    found = {side: _of_levels(variances, own.counts) for side, variances, own in sides}
    missing = ["not measured", *[""] * (len(_UNITS) - 1)]
    rows = [
        Row([Cell(f"{side}, {reports.level_name(level, finding.top)}"), *map(Cell, own.get(level, missing))])
        for side, own in found.items()
        for level in _LEVELS
        if any(level in each for each in found.values())
    ]
    unit = f", in {clip(visible(finding.unit), NAME)} squared" if finding.unit else ""
    head = [Column("level"), *(Column(title, right=True) for title in _UNITS)]
    return Table(f"Variance by level{unit}", "", head, rows)


def _shares(variances: Sequence[Variance], counts: LevelCounts | None = None) -> dict[Level, float]:
    """Give each level its part, the highest first; nothing where a level is not known or nothing varies.

    counts: of the variance of the mean, in which a level has T2 over its count; None: of one value.
    """
    alone = {item.level: item.t2 for item in variances}
    # a level whose T2 comes out negative adds nothing
    sizes = {
        level: max(t2, 0.0) / (max(1, getattr(counts, level)) if counts else 1)
        for level in _LEVELS
        if known(t2 := alone.get(level))
    }
    total = sum(sizes.values())
    if len(sizes) < len(alone) or total <= 0:
        return {}
    return {level: size / total for level, size in sizes.items()}


def _of_levels(variances: Sequence[Variance], counts: LevelCounts) -> dict[Level, list[str]]:
    of_value, of_mean = _shares(variances), _shares(variances, counts)
    return {
        item.level: [
            f"{getattr(counts, item.level):,}",
            *(format_number(s, 3) if known(s) else "unknown" for s in (item.s2, item.t2)),
            *(f"{of[item.level]:.0%}" if item.level in of else "unknown" for of in (of_value, of_mean)),
            format_share(item.relative) if known(item.relative) else "unknown",
        ]
        for item in variances
    }
