"""A trend -> one page that loads nothing: a table of the cases, then a picture and the values of each."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec
from markupsafe import Markup

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.commands.history.trend.picture import picture
from gate.history.series import Run
from gate.history.trend import CaseTrend, Trend
from gate.report.page.pictures import Figure
from gate.report.templates import prose, render_template
from gate.units import plural
from gate.writing.amounts import amount
from gate.writing.plain import visible

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
    figure = None
    if number <= _PICTURES:
        drawn = picture(case, found, f"case-{number}-picture", most)
        # the plots escape every name that they write
        figure = Figure("trend", words.name(case.series), Markup(drawn.svg), drawn.caption)  # noqa: S704
    return _Case(
        id=f"case-{number}",
        said=words.row(case),
        runs=plural(len(runs), "run"),
        figure=figure,
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
        builds=str(run.builds) if run.builds else "", level=words.level(case, run.step + 1),
    )  # fmt: skip
