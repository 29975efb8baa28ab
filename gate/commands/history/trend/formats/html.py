"""A trend -> one page that loads nothing: a table of the cases, then a picture and the values of each."""

from __future__ import annotations

import base64
import hashlib
import math
from typing import Any

import msgspec
from markupsafe import Markup

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.history.series import Run
from gate.history.trend import CaseTrend, Trend
from gate.plots.trend import DrawnAccept, DrawnCommit, DrawnMachine, DrawnTrend, trend
from gate.report.page.pictures import Figure
from gate.report.templates import prose, render_template
from gate.units import plural
from gate.words.numbers import amount
from gate.words.plain import visible

_OPEN = 12
"""Cases that are open; of more all are folded."""
_PICTURES = 200
"""Cases that are drawn."""
_MOST, _ALL, _LEAST = 500, 6000, 60
"""Rows of the table of values, and texts in the picture, of one case at most; of all, unless each has the least."""


class _Row(msgspec.Struct, frozen=True):
    commit: str
    subject: str
    day: str
    ratio: str
    limits: str
    values: str
    builds: str
    level: str


class _Case(msgspec.Struct, frozen=True):
    id: str
    said: words.Row
    runs: str
    figure: Figure | None
    rows: list[_Row]
    """The newest first."""
    count: str
    left_out: str


class _Page(msgspec.Struct, frozen=True):
    headline: str
    span: str
    titles: words.Row
    cases: list[_Case]
    is_open: bool
    machines: list[Markup]
    notes: list[Markup]


def render(found: Trend, _: Screen) -> str:
    """Write the page, ending with a newline."""
    most = min(_MOST, max(_LEAST, _ALL // max(len(found.cases), 1)))
    page = _Page(
        headline=words.headline(found),
        span=words.span(found),
        titles=words.COLUMNS,
        cases=[_case(case, found, number, most) for number, case in enumerate(found.cases, 1)],
        is_open=len(found.cases) <= _OPEN,
        machines=[*map(prose, words.machines(found))],
        notes=[*map(prose, words.notes(found))],
    )
    return render_template("trend.html.j2", {"page": page, "script_hash": _hash()}, html=True, finalize=_text).lstrip()


def _text(value: Any) -> Any:
    """Make what does not print visible in all text but our own markup; names come from files."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash() -> str:
    source = render_template("trend.js", {}, html=True)
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


def _case(case: CaseTrend, found: Trend, number: int, most: int) -> _Case:
    runs = case.series.runs
    shown = runs[-most:]
    left = len(runs) - len(shown)
    return _Case(
        id=f"case-{number}",
        said=words.row(case),
        runs=plural(len(runs), "run"),
        figure=_figure(case, found, number, most) if number <= _PICTURES else None,
        rows=[_row(run, case, found) for run in reversed(shown)],
        count=plural(len(shown), "run"),
        left_out=f"{plural(left, 'older run')} in the JSON." if left else "",
    )


def _row(run: Run, case: CaseTrend, found: Trend) -> _Row:
    link, base, head = found.chain.links[run.step], run.change.base, run.change.head
    values = "not measured: the same"
    if base is not None and head is not None:
        like = max(base.value, head.value, key=abs)
        values = " → ".join(amount(side.value, case.series.unit, like) for side in (base, head))
    return _Row(
        commit=words.short(link.commit), subject=link.subject, day=words.day(link.committed),
        ratio=words.change(run.ratio.estimate), limits=words.limits(run.ratio), values=values,
        builds=str(run.builds) if run.builds else "", level=_level(case, run.step + 1),
    )  # fmt: skip


def _level(case: CaseTrend, place: int) -> str:
    level = float(case.path.level[place])
    return words.change(level) if math.isfinite(level) else "unknown"


# --- the picture ------------------------------------------------------------------------------------------------------


def _figure(case: CaseTrend, found: Trend, number: int, most: int) -> Figure:
    links, path = found.chain.links, case.path
    runs: dict[int, list[Run]] = {}
    for run in case.series.runs:
        runs.setdefault(run.step, []).append(run)
    levels, lows, highs = (
        [number if math.isfinite(number) else None for number in each.tolist()]
        for each in (path.level, path.low, path.high)
    )
    places = [
        DrawnCommit(
            level=levels[place], low=lows[place], high=highs[place], piece=piece,
            day=words.day(links[place - 1].committed) if place else "",
            text=_tip(place - 1, case, found, runs.get(place - 1, [])),
        )
        for place, piece in enumerate(path.piece.tolist())
    ]  # fmt: skip
    machines = [
        DrawnMachine(each.first, each.last, _machine(each.name, k, found), words.machine(each, found))
        for k, each in enumerate(found.segments)
    ]
    accepts = [DrawnAccept(step, f"accepted: {visible(a.reason)}") for step, a in case.accepted.items()]
    name = words.name(case.series)
    picture = trend(DrawnTrend(name, places, machines, accepts), f"case-{number}-picture", tips=most)
    # the plots escape every name that they write
    return Figure("trend", name, Markup(picture.svg), picture.caption)  # noqa: S704


def _machine(name: str, place: int, found: Trend) -> str:
    """Name a machine by what is new of it; the first one by itself."""
    facts = found.segments[place].changed
    return visible(", ".join(f"{fact.name} {fact.after}" for fact in facts[:2])) if facts else visible(name)


def _tip(step: int, case: CaseTrend, found: Trend, runs: list[Run]) -> str:
    link = found.chain.links[max(step, 0)]
    if step < 0:
        return f"{words.short(link.parent)}, the commit before the first"
    title = words.commit(link.commit, link.subject)
    if not runs:
        return f"{title}: not measured"
    lines = [f"{title}, {words.day(link.committed)}; level {_level(case, step + 1)}"]
    for run in runs:
        builds = f", {plural(run.builds, 'build')}" if run.builds else ", the same program"
        outlier = "; an outlier of the machine" if run.outlier else ""
        lines.append(f"to its parent {words.change(run.ratio.estimate)} ({words.limits(run.ratio)}){builds}{outlier}")
    return "\n".join(lines)
