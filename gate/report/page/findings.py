"""One finding as the page shows it: its row on the axis that all share, its pictures, and its numbers."""

from __future__ import annotations

import glob
import math
import shlex
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TypeVar

import numpy as np
from msgspec import structs

from gate.decide.importance import MOST, plain
from gate.document.document import Cell, Column, Facts, Figure, Fold, Part, Row, Statement, Table
from gate.model import SIDES, Case, Finding, Level, LevelCounts, QuantileCurve, Report, Sample, Variance, Verdict
from gate.model.case import CaseId, case_id, shown
from gate.plots.picture import room
from gate.plots.scales import Axis, Tick, change_ticks
from gate.report import parts
from gate.report.measurements import Material
from gate.units import format_confidence, format_number, format_share, plural
from gate.words import bars, notes, numbers, reports, views
from gate.words import findings as finding_words
from gate.words.short_names import Names
from gate.writing import amounts
from gate.writing.amounts import known
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible

NAME = 80
"""Columns of a name outside of its own finding."""
_FEW = 4
_BUILDS = 30
"""Builds of a side whose means are listed."""
_Named = TypeVar("_Named", Finding, Case, QuantileCurve)


def rows_of(
    report: Report, names: Names, found: Sequence[Finding], forest: SimpleNamespace, material: Material, one: str
) -> list[SimpleNamespace]:
    """Bring the findings, in the order of importance, into the form that the page shows, with what words do not say.

    Those that matter most have pictures, one set a case. forest: their bars. one: the command that draws one, but for
    its name.
    """
    same = reports.uniform(finding_words.quantity(f) for f in found)
    measured = {case_id(case): case for case in material.cases}
    curves = {case_id(curve): curve for curve in report.curves}
    once = shared_notes(found)
    drawn: dict[CaseId, SimpleNamespace] = {}
    rows = []
    for number, (finding, bar) in enumerate(zip(found, forest.bars, strict=True), 1):
        key = case_id(finding)
        case, elsewhere = measured.get(key), drawn.get(key)
        draw = number <= MOST and elsewhere is None
        figures, note = _drawn(finding, case, curves.get(key), f"case-{number}") if draw else ((), "")
        # what of a benchmark is compared, where not all have the same
        what = [] if same or finding.view else [clip(finding_words.quantity(finding), NAME)]
        settings = [names.settings(finding, 2 * NAME)] if finding.factors else []
        loud = finding.view is not None and not (plain(finding) and finding.view.why == "sharper")
        means = [_means(own, finding) for own in (case.base, case.head)] if case and figures else []
        row = SimpleNamespace(
            id=f"finding-{number}",
            number=number,
            finding=finding,
            bar=bar,
            # without what all begin with
            name=names.tail(finding.benchmark),
            label=", ".join([*what, *settings]),
            # which view of a benchmark that changed decided, or that the sharper one did not, with why
            by=views.clause(finding) if loud else f"by {finding_words.quantity(finding)}" if finding.view else "",
            # that few others have, and how many every reader should mind
            notes=[text for kind, text in notes.notes(finding, every=True) if kind not in once],
            minded=len(notes.notes(finding)),
            open=len(found) <= _FEW or not plain(finding),
            used=_used(case, finding) if case is not None else "",
            # its pictures, the row that shows those of the same case, or why there are none
            figures=figures,
            elsewhere=elsewhere,
            note=note,
            draws=draws(finding.benchmark, one),
            parts=_behind(finding, names, command_of(finding.benchmark, report.run.commands or {}), means),
            whys=[f"why-{n}" for n, why in enumerate(report.explanations, 1) if why.benchmark == finding.benchmark],
        )
        if figures:
            drawn[key] = row
        rows.append(row)
    return rows


# --- the forest: a row a finding, and one axis for all ----------------------------------------------------------------

MARKS: dict[Verdict, str] = {
    "regression": "M-5-5L5 5M-5 5L5-5",
    "inconclusive": "M0-7L7 0L0 7L-7 0z",
    "accepted": "M-5-5h10v10h-10z",
    "improvement": "M0-8.5L2.1-2.9L8.1-2.6L3.4 1.1L5 6.9L0 3.5L-5 6.9L-3.4 1.1L-8.1-2.6L-2.1-2.9z",
    "unchanged": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "no-sign": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
}
"""The glyphs of the verdicts as paths around the middle."""
_START, _END = 6.0, 94.0
"""Where the axis begins and ends, in percent of the column: arrows stand beyond."""
_LEAST_WIDTH = 200
"""Pixels that the column has at least."""
_LETTERS, _GAP = 13, 12
_OPEN = ("complement", "half-line", "line")


def forest_of(findings: Sequence[Finding]) -> SimpleNamespace:
    """Place each finding on the axis that all share, which is that of the bars in a comment and a terminal.

    Where no change is (`zero`), `ticks` and `bars`, in percent of the column; `cut`: an interval goes on beyond its
    line.
    """
    axis = Axis(*bars.scale(findings), _START, _END)
    thresholds = {bars.extent(finding).threshold for finding in findings}
    own = [math.expm1(thresholds.pop())] if len(thresholds) == 1 else []
    share = 100 / _LEAST_WIDTH
    ticks = change_ticks(axis, lambda label: (room(label, _LETTERS) + _GAP) * share, own)
    drawn = tuple(_bar(finding, axis) for finding in findings)
    return SimpleNamespace(
        zero=round(axis.at(0), 2),
        ticks=tuple(Tick(round(axis.at(tick.at), 2), tick.label) for tick in ticks),
        bars=drawn,
        cut=any(bar.open_low or bar.open_high for bar in drawn),
    )


def _bar(finding: Finding, axis: Axis) -> SimpleNamespace:
    """Place a finding: the band of its threshold, its estimate unless that lies beyond, the line of its interval."""
    row = bars.extent(finding)

    def place(at: float) -> float:
        return round(axis.at(min(max(at, axis.low), axis.high)), 2)

    drawn = row.low is not None or row.high is not None or finding.ratio.kind in _OPEN
    inside = row.estimate is not None and axis.low <= row.estimate <= axis.high
    return SimpleNamespace(
        band_low=place(-row.threshold),
        band_high=place(row.threshold),
        estimate=place(row.estimate) if inside and row.estimate is not None else None,
        low=place(axis.low if row.low is None else row.low) if drawn else None,
        high=place(axis.high if row.high is None else row.high) if drawn else None,
        open_low=drawn and (row.low is None or row.low < axis.low),
        open_high=drawn and (row.high is None or row.high > axis.high),
    )


# --- of one finding ---------------------------------------------------------------------------------------------------


def readings(figures: Iterable[Figure]) -> list[tuple[str, str]]:
    """Say how to read the pictures of each kind, each sentence once."""
    found: dict[str, dict[str, None]] = {}
    for figure in figures:
        found.setdefault(figure.name, {}).update(dict.fromkeys(figure.reading))
    return [(name, " ".join(sentences)) for name, sentences in found.items() if sentences]


def _drawn(
    finding: Finding, case: Case | None, curve: QuantileCurve | None, prefix: str
) -> tuple[tuple[Figure, ...], str]:
    """Draw the pictures of a finding, or say why there are none."""
    if finding.ratio.method == "exact" or (case is not None and case.exact):
        return (), "Exact numbers have no spread, so there is nothing to draw."
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
    figures = tuple(picture.figure(kind, name) for kind, name, picture in drawn if picture is not None)
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
        found.append((side, f"{numbers.value(own, f.unit, like)}, {interval} ({at}); {counts}"))
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
    return f"Decided over {over}{when}"


def _means(sample: Sample, finding: Finding) -> str:
    ends = np.cumsum(sample.counts[0])[np.cumsum(sample.counts[1]) - 1]
    found = [float(own.mean()) for own in np.split(sample.values, ends[:-1])]
    return listed([numbers.amount(mean, finding.unit, numbers.larger(finding)) for mean in found], _BUILDS)


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


def draws(benchmark: str, report: str) -> str:
    """Write the command that renders one benchmark alone, whatever its name holds; report: how it begins."""
    return visible(f"{report} --benchmark {shlex.quote(glob.escape(benchmark))} --html one.html")


def difference(finding: Finding) -> list[str]:
    """Write head minus base in the unit, and the ratio's interval at base's value, as far as there are both."""
    base, ratio, like = finding.base.value, finding.ratio, numbers.larger(finding)
    low, high, estimate = ratio.low, ratio.high, ratio.estimate

    def signed(change: float) -> str:
        text = numbers.amount(change, finding.unit, like)
        return f"+{text}" if change > 0 else text

    # over several machines the ratio is no quotient of the means, which may lie outside of its interval
    several = finding.base.counts.session > 1
    change = base * (estimate - 1) if several and known(estimate) else finding.head.value - base
    if not known(change):
        return []
    if ratio.kind != "bounded" or ratio.method == "exact" or not (known(low) and known(high)):
        return [signed(change)]
    return [signed(change), f"{signed(base * (low - 1))} to {signed(base * (high - 1))}"]


def sort_key(number: float | None) -> str:
    """Write the number that a column sorts by; "": last."""
    return f"{number:.9g}" if number is not None and math.isfinite(number) else ""


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
