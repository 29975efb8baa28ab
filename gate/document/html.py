"""Pages by the package's templates, and documents as pages; jinja2 is imported only when one is rendered."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gate.document.document import Cell, Document, Facts, Fold, Section, Statement, Table
from gate.document.terminal import Notes
from gate.writing.phrases import more_are
from gate.writing.plain import visible

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
    made.globals |= {each.__name__: each for each in (broken, lines, more_are, prose, rows, wordy)}
    made.filters["prose"] = prose
    return made


def render(document: Document) -> str:
    """Write a document as a page of its own, ending with a newline."""
    parts = [part for section in document.sections for part in section]
    # above the contents stands what the document says by itself
    lead = list(takewhile(lambda p: isinstance(p, Facts | Statement) or getattr(p, "role", "rest") in _LEADING, parts))
    main = [part for part in parts[len(lead) :] if not isinstance(part, Fold)]
    folds = [part for part in parts if isinstance(part, Fold)]
    # by their places: of two tables that are equal each has its own
    ids = {id(t): f"block-{number}" for number, t in enumerate((p for p in main if isinstance(p, Table)), 1)}
    links = [
        (ids[id(part)], part.short) if isinstance(part, Table) else (part.id, part.title)
        for part in (*main, *folds)
        if isinstance(part, Section | Fold) or (isinstance(part, Table) and part.short)
    ]
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
    tool = document.tool.split()[-1]
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


def lines(text: str) -> Markup:
    """Write lines for HTML, each made visible."""
    from markupsafe import Markup

    return Markup("\n").join(map(visible, text.splitlines()))


def prose(text: str) -> Markup:
    """Write a text of ours for HTML, in which `this` is code."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(visible(text)))))  # noqa: S704 - escaped just here
