"""One finding as the page shows it: where it stands, what it is called, what it says and what lies behind it."""

from __future__ import annotations

import glob
import math
import shlex
from collections.abc import Hashable, Mapping, Sequence

import msgspec

from gate.decide.importance import plain
from gate.model import VERDICTS, Case, Finding, QuantileCurve, Report
from gate.model.case import case_id
from gate.model.report import SessionRatio
from gate.report.page.forest import Bar, Forest
from gate.report.page.pictures import Shown
from gate.report.page.reproduce import Again
from gate.report.page.values import ByBuild, by_build, used
from gate.report.page.variance import LevelRow, Shares, level_rows, share_bars
from gate.units import format_confidence
from gate.words import findings as finding_words
from gate.words import notes, numbers, reports, views
from gate.words.marks import SHAPES
from gate.words.names import Names
from gate.writing import amounts
from gate.writing.amounts import known
from gate.writing.phrases import machine
from gate.writing.plain import clip, visible

NAME = 80
"""Columns of a name outside of its own finding."""
_FEW = 4


class Difference(msgspec.Struct, frozen=True):
    """Head minus base in the unit, written; interval: the ratio's, at base's value."""

    value: str
    interval: str


class OfMachine(msgspec.Struct, frozen=True):
    """One machine of a finding, written."""

    name: str
    change: str
    interval: str
    rounds: str


class OtherView(msgspec.Struct, frozen=True):
    """A view of the benchmark that did not decide, written."""

    name: str
    verdict: str
    change: str
    interval: str
    base: str
    head: str


class SortKeys(msgspec.Struct, frozen=True):
    """What the columns of the table sort by; nothing: last."""

    name: str
    verdict: str
    change: str
    base: str
    head: str


class Row(msgspec.Struct, frozen=True):
    """A finding in the page. number: from 1, by importance; id: its anchor; name: short; label: what of it, if needed.

    notes: the warnings that few others have; minded: how many there are that every reader should mind. basis: what the
    interval rests on. open: shown without a click. command: the exact one, nothing where it is not known. draws: the
    command that draws its pictures. decided: the interval that decided, nothing where it is `interval`; confidence: why
    its is not the configured one.
    machines: each by itself, where they are judged so. by: which view decided, and why where that matters.
    others: the views that did not; told: what they show, in words.
    used: what it rests on, where that is not all that was measured. by_build: of the cases that are drawn.
    """

    number: int
    id: str
    finding: Finding
    bar: Bar
    shape: str
    name: str
    whole: str
    label: str
    by: str
    others: tuple[OtherView, ...]
    told: str
    interval: str
    confidence: str
    basis: str
    decided: str
    conclusion: str
    notes: tuple[str, ...]
    minded: int
    open: bool
    machines: tuple[OfMachine, ...]
    used: str
    by_build: ByBuild | None
    shown: Shown
    curve: QuantileCurve | None
    levels: tuple[LevelRow, ...]
    shares: tuple[Shares, ...]
    difference: Difference | None
    command: str
    draws: str
    sort: SortKeys


def rows_of(
    report: Report,
    names: Names,
    found: Sequence[Finding],
    forest: Forest,
    shown: Sequence[Shown],
    values: Sequence[Case],
    again: Again,
) -> list[Row]:
    """Bring the findings, in the order of importance, into the form that the page shows.

    values: the cases at hand, of as many findings as there are. again: the commands that draw others.
    """
    same = reports.uniform(finding_words.quantity(f) for f in found)
    curves = {case_id(curve): curve for curve in report.curves}
    measured = {case_id(case): case for case in values}
    few, confidence = len(found) <= _FEW, reports.confidence(found)
    once = shared_notes(found)
    rows = []
    for number, (finding, bar, pictures) in enumerate(zip(found, forest.bars, shown, strict=True), 1):
        case = measured.get(case_id(finding))
        rows.append(
            Row(
                number=number,
                id=f"finding-{number}",
                finding=finding,
                bar=bar,
                shape=SHAPES[finding.verdict],
                name=names.benchmark(finding.benchmark, NAME),
                whole=visible(finding.benchmark),
                label=label_of(finding, names, same=same is not None or finding.view is not None),
                by=_by(finding),
                others=tuple(_other(view, finding) for view in finding.beside),
                told="; ".join(views.others(finding)),
                interval=numbers.in_points(finding, numbers.interval_in(finding.ratio, confidence)),
                confidence=_confidence(report, finding),
                conclusion=finding_words.conclusion(finding),
                basis=finding_words.basis(finding),
                decided=finding_words.decided(finding),
                notes=tuple(note.text for note in notes.notes(finding, every=True) if note.kind not in once),
                minded=len(notes.notes(finding)),
                open=few or not plain(finding),
                machines=tuple(_of_machine(finding, at) for at in finding.sessions),
                used=used(case, finding) if case is not None else "",
                by_build=by_build(case, finding) if case is not None and pictures.figures else None,
                shown=pictures,
                curve=curves.get(case_id(finding)) if pictures.elsewhere is None else None,
                levels=tuple(level_rows(finding)),
                shares=tuple(share_bars(finding)),
                difference=_difference(finding),
                command=visible(command_of(finding.benchmark, report.run.commands or {})),
                draws=draws(finding.benchmark, again.one),
                sort=_sort_keys(finding),
            )
        )
    return rows


def _by(finding: Finding) -> str:
    """Say which view decided; of a benchmark that changed, or that the sharper view did not decide, with why."""
    if finding.view is None:
        return ""
    known_for_all = plain(finding) and finding.view.why == "sharper"
    return f"by {finding_words.quantity(finding)}" if known_for_all else views.clause(finding)


def _other(view: Finding, finding: Finding) -> OtherView:
    change, limits = (numbers.in_points(view, text(view.ratio)) for text in (numbers.change, numbers.interval))
    base, head = (numbers.value(side, view.unit, numbers.larger(view)) for side in (view.base, view.head))
    return OtherView(views.called(view, finding), numbers.verdict_of(view), change, limits, base, head)


def shared_notes(found: Sequence[Finding]) -> dict[Hashable, notes.Shared]:
    """Find the warnings that many findings have, which the page says once."""
    return notes.shared(found, lambda finding: notes.notes(finding, every=True))


def _of_machine(finding: Finding, at: SessionRatio) -> OfMachine:
    change, limits = (numbers.in_points(finding, text(at.ratio)) for text in (numbers.change, numbers.interval))
    return OfMachine(machine(at.session, at.host), change, limits, str(at.rounds))


def _confidence(report: Report, finding: Finding) -> str:
    """Explain a confidence that the looks raise above the configured one; else nothing."""
    wanted, at = report.policy.gate.get("confidence"), finding.decided_at
    if not isinstance(wanted, float) or at.looks == 1 or numbers.decided(finding) is None:
        return ""
    return (
        f"Measuring may stop at any of {at.looks} looks. Each look uses more than the configured confidence of "
        f"{format_confidence(wanted)}, so that all looks together keep it (a repeated confidence interval)."
    )


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


def _difference(finding: Finding) -> Difference | None:
    base, head = finding.base.value, finding.head.value
    if not (known(base) and known(head)):
        return None
    unit, like = finding.unit, numbers.larger(finding)

    def signed(number: float) -> str:
        text = amounts.amount(number, unit, like)
        return f"+{text}" if number > 0 else text

    ratio = finding.ratio
    low, high = ratio.low, ratio.high
    if ratio.kind != "bounded" or ratio.method == "exact" or not (known(low) and known(high)):
        return Difference(signed(head - base), "")
    # over several machines the ratio is no quotient of the means, which may lie outside of its interval
    several, estimate = finding.base.counts.session > 1, finding.ratio.estimate
    change = base * (estimate - 1) if several and known(estimate) else head - base
    return Difference(signed(change), f"{signed(base * (low - 1))} to {signed(base * (high - 1))}")


def _sort_keys(finding: Finding) -> SortKeys:
    return SortKeys(
        name=visible(finding.benchmark)[:NAME].casefold(),
        verdict=str(VERDICTS.index(finding.verdict)),
        change=_key(finding.ratio.estimate),
        base=_key(finding.base.value),
        head=_key(finding.head.value),
    )


def _key(number: float | None) -> str:
    return f"{number:.9g}" if number is not None and math.isfinite(number) else ""


def thresholds(found: Sequence[Finding]) -> str:
    """Write the threshold of all findings: "3%", "1% to 10%, by finding", nothing without findings."""
    if not found:
        return ""
    same = reports.uniform(numbers.threshold(f) for f in found)
    if same is None:
        sizes = [f.threshold for f in found if known(f.threshold)] or [0.0]
        return f"{amounts.format_percent(min(sizes))} to {amounts.format_percent(max(sizes))}, by finding"
    floors = {numbers.floor(f) for f in found if known(f.floor)}
    floor = reports.uniform(floors)
    return f"{same} for every finding" + (f", floor {floor}" if floor else ", with floors by finding" if floors else "")
