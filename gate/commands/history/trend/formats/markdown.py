"""A trend -> Markdown, as GitHub shows it."""

from __future__ import annotations

from collections.abc import Iterator

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.report.markdown.escape import code, prose, short
from gate.store.trend import Trend
from gate.writing.phrases import more_are

_TEXT = 1000
_CASES = 100


def render(trend: Trend, _: Screen) -> str:
    """Write a trend as Markdown, ending with a newline."""
    parts = [
        f"**{_text(words.headline(trend))}**  \n{_text(words.span(trend))}".rstrip(),
        "\n".join(f"- {_text(text)}" for text in words.machines(trend)),
        "\n".join(_cases(trend)),
        "\n".join(f"- {_text(text)}" for text in words.notes(trend)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cases(trend: Trend) -> Iterator[str]:
    if not trend.cases:
        return
    yield f"| {' | '.join(words.COLUMNS)} |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for case in trend.cases[:_CASES]:
        name, *others = words.row(case)
        yield f"| {' | '.join([code(name), *others])} |"
    if len(trend.cases) > _CASES:
        yield ""
        yield f"{more_are(len(trend.cases) - _CASES, 'case')} in the JSON."


def _text(text: str) -> str:
    return prose(short(text, _TEXT))
