"""A trend -> one page that loads nothing: a picture each case, the changes with their commands, folded what stayed."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec
from markupsafe import Markup

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.commands.history.trend.formats.text import since
from gate.history.trend_types import CaseTrend, ChangePoint, RunPoint, Trend
from gate.plots.trend import DrawnAccept, DrawnChange, DrawnCommit, DrawnMachine, DrawnTrend, trend
from gate.report.page.pictures import Figure
from gate.report.templates import prose, render_template
from gate.units import format_share, plural
from gate.words.numbers import amount, changed
from gate.words.plain import visible

_OPEN = 30
"""Changed cases that are open; more of them are folded too."""
_ROWS = 500
"""Rows of a table of values at most: the newest."""
_TIPS = 60
"""Texts in the picture of a case that did not change."""
_PICTURES = 200
"""Cases without a change that are drawn."""


class _Row(msgspec.Struct, frozen=True):
    commit: str
    subject: str
    day: str
    ratio: str
    limits: str
    values: str
    builds: str
    level: str


class _Change(msgspec.Struct, frozen=True):
    id: str
    number: int
    tone: str
    said: words.Said
    why: Markup


class _Case(msgspec.Struct, frozen=True):
    id: str
    name: str
    summary: str
    changes: list[_Change]
    figure: Figure | None
    rows: list[_Row]
    count: str
    left_out: str


class _Page(msgspec.Struct, frozen=True):
    headline: str
    span: str
    changed: list[_Case]
    folded: list[_Case]
    is_open: bool
    machines: list[Markup]
    notes: list[Markup]


def render(found: Trend, _: Screen) -> str:
    """Write the page, ending with a newline."""
    changed_: list[_Case] = []
    folded: list[_Case] = []
    number = 1
    for index, case in enumerate(found.cases, 1):
        if case.changes:
            changed_.append(_case(case, found, index, number, drawn=True))
            number += len(case.changes)
        else:
            folded.append(_case(case, found, index, number, drawn=len(folded) < _PICTURES))
    page = _Page(
        headline=words.headline(found), span=words.span(found), changed=changed_, folded=folded,
        is_open=len(changed_) <= _OPEN, machines=[*map(prose, words.machines(found))],
        notes=[*map(prose, words.notes(found))],
    )  # fmt: skip
    return render_template("trend.html.j2", {"page": page, "script_hash": _hash()}, html=True, finalize=_text).lstrip()


def _text(value: Any) -> Any:
    """Make what does not print visible in all text but our own markup; names come from files."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash() -> str:
    source = render_template("trend.js", {}, html=True)
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


def _case(case: CaseTrend, found: Trend, index: int, number: int, *, drawn: bool) -> _Case:
    changes = [_change(change, case, found, number + k) for k, change in enumerate(case.changes)]
    rows = [_row(run, case, found) for run in reversed(case.runs)] if case.changes else []
    left = len(rows) - _ROWS
    noise = [
        f"{name} {format_share(sd)}"
        for name, sd in (("ratios ±", case.build_sd), ("days ±", case.day_sd))
        if sd is not None
    ]
    moved = f"{since(case)} since the start, " if case.changes else ""
    return _Case(
        id=f"case-{index}",
        name=words.name(case),
        summary=f"{moved}{plural(len(case.runs), 'run')}" + (f", {', '.join(noise)}" if noise else ""),
        changes=changes,
        figure=_figure(case, found, index, number) if drawn and case.runs else None,
        rows=rows[:_ROWS],
        count=plural(min(len(rows), _ROWS), "run"),
        left_out=f"{plural(left, 'older run')} in the JSON." if left > 0 else "",
    )


def _change(change: ChangePoint, case: CaseTrend, found: Trend, number: int) -> _Change:
    tone = "identical" if change.cause == "machine" else "regression" if change.direction == "worse" else "improvement"
    said = words.said(change, case, found)
    return _Change(f"change-{number}", number, tone, said, prose(" ".join(said.why)))


def _row(run: RunPoint, case: CaseTrend, found: Trend) -> _Row:
    link, point = found.chain.links[run.step], case.path[run.step + 1]
    values = ""
    if run.base is not None and run.head is not None:
        like = max(run.base, run.head, key=abs)
        values = f"{amount(run.base, case.unit, like)} → {amount(run.head, case.unit, like)}"
    return _Row(
        commit=words.short(link.commit), subject=link.subject, day=words.day(link.committed),
        ratio=changed(words.times(run.ratio.estimate)), limits=words.limits(run.ratio),
        values=values or "not measured: the same",
        builds=str(run.builds) if run.builds else "", level=changed(words.times(point.level)),
    )  # fmt: skip


# --- the picture ------------------------------------------------------------------------------------------------------


def _figure(case: CaseTrend, found: Trend, index: int, number: int) -> Figure:
    links = found.chain.links
    runs: dict[int, list[RunPoint]] = {}
    for run in case.runs:
        runs.setdefault(run.step, []).append(run)
    places = [
        DrawnCommit(
            level=point.level, low=point.low, high=point.high, piece=point.piece,
            day=words.day(links[place - 1].committed) if place else "",
            text=_tip(place - 1, case, found, runs.get(place - 1, [])),
        )
        for place, point in enumerate(case.path)
    ]  # fmt: skip
    changes = [
        DrawnChange(
            first=change.first, at=change.at, last=change.last, worse=change.direction == "worse",
            machine=change.cause == "machine", number=str(number + k), href=f"#change-{number + k}",
            text=words.said(change, case, found).headline,
        )
        for k, change in enumerate(case.changes)
    ]  # fmt: skip
    machines = [
        DrawnMachine(each.first, each.last, _machine(each.name, k, found), words.machine(each, links))
        for k, each in enumerate(found.segments)
    ]
    accepts = [DrawnAccept(step, f"accepted: {visible(a.reason)}") for step, a in case.accepted.items()]
    drawn = DrawnTrend(words.name(case), places, changes, machines, accepts)
    picture = trend(drawn, f"case-{index}-picture", **({} if case.changes else {"tips": _TIPS}))
    # the plots escape every name that they write
    return Figure("trend", words.name(case), Markup(picture.svg), picture.caption)  # noqa: S704


def _machine(name: str, place: int, found: Trend) -> str:
    """Name a machine by what is new of it; the first one by itself."""
    facts = found.segments[place].changed
    return visible(", ".join(f"{fact.name} {fact.after}" for fact in facts[:2])) if facts else visible(name)


def _tip(step: int, case: CaseTrend, found: Trend, runs: list[RunPoint]) -> str:
    link = found.chain.links[max(step, 0)]
    if step < 0:
        return f"{words.short(link.parent)}, the commit before the first"
    level = changed(words.times(case.path[step + 1].level))
    title = " ".join(part for part in (words.short(link.commit), words.subject(link.subject)) if part)
    if not runs:
        return f"{title}: not measured"
    lines = [f"{title}, {words.day(link.committed)}; level {level}"]
    for run in runs:
        builds = f", {plural(run.builds, 'build')}" if run.builds else ", the same program"
        outlier = "; an outlier of the machine" if run.outlier else ""
        lines.append(
            f"to its parent {changed(words.times(run.ratio.estimate))} ({words.limits(run.ratio)}){builds}{outlier}"
        )
    return "\n".join(lines)
