"""One finding as the page shows it: where it stands, what it is called, what it says and what lies behind it."""

from __future__ import annotations

import glob
import math
import shlex
from collections.abc import Hashable, Mapping, Sequence

import msgspec
import numpy as np

from gate.decide.importance import plain
from gate.model import SIDES, Case, Counts, Finding, Level, Report, Sample, Side, Variance
from gate.model.case import case_id
from gate.report.page.pictures import Bar, Forest, Shown
from gate.units import format_number, format_share, plural
from gate.words import findings as finding_words
from gate.words import notes, numbers, reports, views
from gate.words.short_names import Names
from gate.writing.amounts import known
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible

NAME = 80
"""Columns of a name outside of its own finding."""
_FEW = 4
_BUILDS = 30
"""Builds of a side whose means are listed."""


class Row(msgspec.Struct, frozen=True):
    """A finding in the page: what its words alone do not say."""

    number: int
    """From 1, by importance."""
    finding: Finding
    bar: Bar
    name: str
    """Without what all begin with."""
    label: str
    """What of it is compared, if that needs saying."""
    by: str
    """Which view decided, and why where that matters."""
    notes: list[str]
    """The warnings that few others have."""
    minded: int
    """How many warnings every reader should mind."""
    open: bool
    """Shown without a click."""
    used: str
    """What it rests on, where that is not all that was measured."""
    means: list[str]
    """The mean of each build, of base and of head, of a case that is drawn."""
    shown: Shown
    command: str
    """The exact one; "": it is not known."""
    draws: str
    """The command that draws its pictures."""

    @property
    def id(self) -> str:
        """Return its anchor."""
        return f"finding-{self.number}"


def rows_of(
    report: Report,
    names: Names,
    found: Sequence[Finding],
    forest: Forest,
    shown: Sequence[Shown],
    values: Sequence[Case],
    one: str,
) -> list[Row]:
    """Bring the findings, in the order of importance, into the form that the page shows.

    values: the cases at hand, of as many findings as there are. one: the command that draws one, but for its name.
    """
    same = reports.uniform(finding_words.quantity(f) for f in found)
    measured = {case_id(case): case for case in values}
    once = shared_notes(found)
    rows = []
    for number, (finding, bar, pictures) in enumerate(zip(found, forest.bars, shown, strict=True), 1):
        case = measured.get(case_id(finding))
        loud = finding.view is not None and not (plain(finding) and finding.view.why == "sharper")
        rows.append(
            Row(
                number=number,
                finding=finding,
                bar=bar,
                name=names.tail(finding.benchmark),
                label=label_of(finding, names, same=same is not None or finding.view is not None),
                # of a benchmark that changed, or that the sharper view did not decide, with why
                by=views.clause(finding) if loud else f"by {finding_words.quantity(finding)}" if finding.view else "",
                notes=[note.text for note in notes.notes(finding, every=True) if note.kind not in once],
                minded=len(notes.notes(finding)),
                open=len(found) <= _FEW or not plain(finding),
                used=_used(case, finding) if case is not None else "",
                means=[_means(own, finding) for own in (case.base, case.head)] if case and pictures.figures else [],
                shown=pictures,
                command=visible(command_of(finding.benchmark, report.run.commands or {})),
                draws=draws(finding.benchmark, one),
            )
        )
    return rows


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


def label_of(finding: Finding, names: Names, *, same: bool) -> str:
    """Say what of a benchmark is compared; same: the quantity, which all share, need not be said."""
    words = [] if same else [clip(finding_words.quantity(finding), NAME)]
    return ", ".join([*words, *([names.settings(finding, 2 * NAME)] if finding.factors else [])])


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
Cells = list[str]


def level_rows(finding: Finding) -> dict[Side, list[tuple[Level, Cells | None]]]:
    """Write count, S2, T2, the shares in the variance of a value and of the mean, and relative spread of each level.

    The highest level comes first; None: this side lacks the level.
    """
    variance = finding.variance
    found: dict[Side, dict[Level, Cells]] = {
        "base": _of_levels(variance.base, finding.base.counts), "head": _of_levels(variance.head, finding.head.counts),
    }  # fmt: skip
    levels = [level for level in _LEVELS if any(level in own for own in found.values())]
    return {side: [(level, own.get(level)) for level in levels] for side, own in found.items()} if levels else {}


def _shares(variances: Sequence[Variance], counts: Counts | None = None) -> dict[Level, float]:
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


def _of_levels(variances: Sequence[Variance], counts: Counts) -> dict[Level, Cells]:
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
