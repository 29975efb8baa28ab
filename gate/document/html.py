"""Pages by the package's templates, and documents as pages; jinja2 is imported only when one is rendered."""

from __future__ import annotations

import base64
import functools
import hashlib
import math
import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gate.document.bars import SHAPES, Ends
from gate.document.document import Cell, Document, Facts, Fold, Headline, Result, Results, Section, Statement, Table
from gate.document.terminal import Notes
from gate.model import VERDICTS, Verdict
from gate.writing.phrases import more_are
from gate.writing.plain import visible
from gate.writing.units import plural

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup


_HERE = Path(__file__).parents[1]
_NOTES = 200
_PHRASE = 40
"""Letters of a cell that need no second line."""
_LEADING = ("told", "caution", "says")
"""Kinds of sentences that stand above the contents of a page."""


def templates() -> Path:
    """Return the folder of the templates: inside the package when installed, beside it in a checkout."""
    shipped = _HERE / "templates"
    return shipped if shipped.is_dir() else _HERE.parent / "templates"


def render_template(
    name: str, values: Mapping[str, Any], *, html: bool, finalize: Callable[[Any], Any] | None = None
) -> str:
    """Render a template of the package with undefined names as errors.

    html: escape every value for HTML. finalize: applied to every value that is written.
    """
    return _environment(html, finalize).get_template(name).render(values)


@functools.cache
def _environment(html: bool, finalize: Callable[[Any], Any] | None) -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates()),
        autoescape=html,  # noqa: S701 - Markdown has its own escaping, through finalize
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do"],
    )
    made.globals |= {each.__name__: each for each in (axis, broken, lines, more_are, prose, result_rows, rows, wordy)}
    made.filters["prose"] = prose
    return made


def render(document: Document) -> str:
    """Write a document as a page of its own, ending with a newline."""
    parts = [part for section in document.sections for part in section]
    # above the contents stands what the document says by itself
    leads = (Facts, Statement, Headline)
    lead = list(takewhile(lambda p: isinstance(p, leads) or getattr(p, "role", "rest") in _LEADING, parts))
    main = [part for part in parts[len(lead) :] if not isinstance(part, Fold)]
    folds = [part for part in parts if isinstance(part, Fold)]
    # by their places: of two tables that are equal each has its own
    ids = {id(t): f"block-{number}" for number, t in enumerate((p for p in main if isinstance(p, Table)), 1)}
    links = [
        (ids[id(part)], part.short) if isinstance(part, Table) else (part.id, part.title)
        for part in (*main, *([] if document.behind else folds))
        if isinstance(part, Section | Fold) or (isinstance(part, Table) and part.short)
    ]
    links += [("more", document.behind)] if document.behind else []
    values = {
        "document": document,
        "notes": Notes(_NOTES),
        "lead": lead,
        "main": main,
        "folds": folds,
        "id_of": lambda part: ids[id(part)],
        "links": links if len(links) > 1 else [],
    }
    # the style and the script that the pages of a command have besides
    tool = "report" if any(isinstance(part, Headline) for part in lead) else document.tool.split()[-1]
    values["style"], js = (n if (templates() / n).is_file() else "" for n in (f"{tool}.css", f"{tool}.js"))
    values |= {"script": js, "script_hash": hash_of(js)} if js else {}
    return render_template("document.html.j2", values, html=True, finalize=shown).lstrip()


@functools.cache
def hash_of(script: str) -> str:
    """Return the hash of a script among the templates, for the Content-Security-Policy that lets it run."""
    digest = hashlib.sha256(render_template(script, {}, html=True).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def shown(value: Any) -> Any:
    """Make what does not print visible in all text but our own markup; names come from files."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


_PIECE = re.compile(r"(?<=\W)(?<!\d[.,])(?=\w)|(?<=[a-z])(?=[A-Z])|(?<=_)(?=[^\W_])|(?<=[^\W\d])(?=\d)")
_NARROW = 24
"""Letters of a piece of a name that stays on one line."""


@functools.lru_cache(2048)
def broken(text: str) -> Markup:
    """Write a name for HTML that breaks between its words and never within a number."""
    from markupsafe import Markup, escape

    pieces = [escape(piece) for piece in _PIECE.split(visible(text))]
    whole = (Markup('<span class="piece">{}</span>').format(p) if len(p) <= _NARROW else p for p in pieces)
    return Markup("").join(whole)


def wordy(table: Table) -> bool:
    """Return whether a table has sentences, which need to break."""
    words = [place for place, column in enumerate(table.head) if place and not column.right]
    return any(len(row.cells[place].text) > _PHRASE for row in table.rows for place in words)


def rows(table: Table) -> Markup:
    """Write the rows of a table: a template would take ten times as long for each of hundreds of tables."""
    from markupsafe import Markup, escape

    titles = [
        (
            f'<td role="cell" class="{"num" if column.right else "say"}"',
            f' data-label="{escape(visible(column.title))}"',
        )
        for column in table.head
    ]
    found = []
    for row in table.rows:
        name, *cells = row.cells
        found.append(f'<tr role="row"><th scope="row" role="rowheader">{_cell(name, broken(name.text))}</th>')
        for cell, (begin, label) in zip(cells, titles[1:], strict=True):
            found.append(f"{begin}{label if cell.text else ''}>{_cell(cell, escape(visible(cell.text)))}</td>")
        found.append("</tr>\n")
    return Markup("".join(found))  # noqa: S704 - each text is escaped


def _cell(cell: Cell, text: str) -> str:
    from markupsafe import escape

    tone = f' class="badge {cell.tone}"' if cell.tone else ""
    detail = f'<span class="sub"><bdi>{escape(visible(cell.detail))}</bdi></span>' if cell.detail else ""
    return f"<bdi{tone}>{text}</bdi>{detail}"


# --- results: a row each, and one axis for all ------------------------------------------------------------------------

_MARKS: dict[Verdict, str] = {
    "regression": "M-5-5L5 5M-5 5L5-5",
    "inconclusive": "M0-7L7 0L0 7L-7 0z",
    "accepted": "M-5-5h10v10h-10z",
    "improvement": "M0-8.5L2.1-2.9L8.1-2.6L3.4 1.1L5 6.9L0 3.5L-5 6.9L-3.4 1.1L-8.1-2.6L-2.1-2.9z",
    "unchanged": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "no-sign": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
}
"""The glyphs of the verdicts as paths around the middle."""
START, END = 6.0, 94.0
"""Where the axis begins and ends, in percent of the column: arrows stand beyond."""


def place(at: float, on: Ends) -> float:
    """Return where a logarithm of a ratio is drawn, in percent of the column; what is beyond the axis at its end."""
    low, high = on
    return round(START + (END - START) * (min(max(at, low), high) - low) / (high - low), 2)


def axis(own: Results) -> Markup:
    """Draw the axis that all bars share."""
    from markupsafe import Markup, escape

    drawn = (
        f'<text x="{(x := place(at, own.scale))}%" y="12">{escape(label)}</text>'
        f'<line x1="{x}%" x2="{x}%" y1="16" y2="20"/>'
        for at, label in own.ticks
    )
    return Markup("".join(drawn))  # noqa: S704 - escaped just here


def bar(row: Result, on: Ends) -> str:
    """Draw the band of the threshold, the line of the interval and the mark of the estimate, which are on the axis."""
    of, (low, high) = row.bar, on
    begin, end, zero = place(-of.threshold, on), place(of.threshold, on), place(0, on)
    drawn = [
        f'<rect class="band" x="{begin}%" width="{round(end - begin, 2)}%" height="100%"/>',
        *(f'<line class="edge" x1="{x}%" x2="{x}%" y2="100%"/>' for x in (begin, end)),
        f'<line class="one" x1="{zero}%" x2="{zero}%" y2="100%"/>',
    ]
    if of.has_interval:
        first, last = (place(edge if at is None else at, on) for at, edge in ((of.low, low), (of.high, high)))
        cut = [(first, "M-7 0l8-5v10z")] if of.low is None or of.low < low else []
        cut += [(last, "M7 0l-8-5v10z")] if of.high is None or of.high > high else []
        whole = " whole" if len(cut) > 1 else ""
        drawn.append(f'<line class="interval{whole}" x1="{first}%" x2="{last}%" y1="50%" y2="50%"/>')
        drawn += [f'<svg x="{x}%" y="50%" overflow="visible"><path class="end" d="{path}"/></svg>' for x, path in cut]
    if of.estimate is not None and low <= of.estimate <= high:
        mark = _MARKS[row.verdict]
        halo = f'<path class="halo" d="{mark}"/>' if row.verdict == "regression" else ""
        hollow = " hollow" if row.verdict == "no-sign" or not of.has_interval else ""
        drawn.append(
            f'<svg x="{place(of.estimate, on)}%" y="50%" overflow="visible">{halo}'
            f'<path class="mark {row.verdict}{hollow}" d="{mark}"/></svg>'
        )
    return "".join(drawn)


def result_rows(own: Results) -> Markup:
    """Write the rows of results, each with what a script sorts and filters by."""
    from markupsafe import Markup, escape

    def small(*texts: str) -> str:
        return "".join(f' <span class="sub"><bdi>{escape(visible(text))}</bdi></span>' for text in texts if text)

    found = []
    for row in own.rows:
        said = f"{row.word}: {row.change}, interval {row.interval}, threshold {row.threshold}"
        what = ", ".join(filter(None, ("" if own.quantity or row.view else row.quantity, row.settings)))
        below = small(row.view, what, "higher is better" if row.higher else "")
        filtered = escape(visible(f"{row.name} {row.view} {what}"))
        sorts = [
            f' data-sort="{n:.9g}"' if n is not None and math.isfinite(n) else ' data-sort=""' for n in row.numbers
        ]
        by = row.by.strip(", ")
        # below the word it needs no brackets
        told = (row.not_worse, row.may_regress, by[1:-1] if by.startswith("(") else by)
        minded = plural(row.warnings, "warning") if row.warnings else ""
        found.append(
            f'<tr role="row" class="{row.verdict}" data-verdict="{row.word}" data-text="{filtered}">'
            f'<th scope="row" role="rowheader" data-sort="{escape(visible(row.name[:80].casefold()))}">'
            f'<a href="#{row.id}"><bdi>{broken(row.name)}</bdi></a>{below}</th>'
            f'<td role="cell" class="say" data-sort="{VERDICTS.index(row.verdict)}"><span class="badge {row.verdict}">'
            f'<span aria-hidden="true">{SHAPES[row.verdict]}</span> {row.word}</span>{small(*told, minded)}</td>'
            f'<td role="cell" class="num change"{sorts[0]}>{escape(row.change)}</td>'
            f'<td role="cell" class="at"><svg class="bar" role="img" aria-label="{escape(said)}">'
            f'{bar(row, own.scale)}</svg></td><td role="cell" class="num interval-text">{escape(row.interval)}'
            f"{'' if own.threshold else small(f'threshold {row.threshold}')}</td>"
        )
        found += [
            f'<td role="cell" class="num {side}-value"{key}><span class="phone">{side} </span>{escape(value)}</td>'
            for side, value, key in (("base", row.base, sorts[1]), ("head", row.head, sorts[2]))
        ]
        found.append("</tr>\n")
    return Markup("".join(found))  # noqa: S704 - each text is escaped


def lines(text: str) -> Markup:
    """Write lines for HTML, each made visible."""
    from markupsafe import Markup

    return Markup("\n").join(map(visible, text.splitlines()))


def prose(text: str) -> Markup:
    """Write a text of ours for HTML, in which `this` is code."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(visible(text)))))  # noqa: S704 - escaped just here
