"""A trend -> Markdown, as GitHub shows it."""

from __future__ import annotations

from collections.abc import Iterator

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.commands.history.trend.formats.text import since
from gate.history.trend_types import Trend
from gate.report.markdown.escape import code, prose, short
from gate.units import format_share
from gate.words.phrases import more_are

_TEXT = 1000
_CHANGES = 30
_CASES = 100


def render(trend: Trend, _: Screen) -> str:
    """Write a trend as Markdown, ending with a newline."""
    changed = [(case, change) for case in trend.cases for change in case.changes]
    parts = [
        f"**{_text(words.headline(trend))}**  \n{_text(words.span(trend))}".rstrip(),
        *("\n".join(_change(words.said(change, case, trend))) for case, change in changed[:_CHANGES]),
        f"{more_are(len(changed) - _CHANGES, 'change')} in the JSON." if len(changed) > _CHANGES else "",
        "\n".join(f"- {_text(text)}" for text in words.machines(trend)),
        "\n".join(_cases(trend)),
        "\n".join(f"- {_text(text)}" for text in words.notes(trend)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _change(said: words.Said) -> Iterator[str]:
    yield f"#### {code(said.name)}: {_text(said.headline)}"
    yield ""
    yield " ".join(_text(text) for text in said.why)
    if said.suspects:
        yield ""
        yield from (f"- {_text(text)}" for text in (*said.suspects, *([said.more] if said.more else [])))
    yield ""
    yield "```sh"
    yield said.next.command
    yield "```"
    yield _text(said.next.why)


def _cases(trend: Trend) -> Iterator[str]:
    if not trend.cases:
        return
    yield "| benchmark | since start | changes | sd of a ratio | sd of days |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for case in trend.cases[:_CASES]:
        sds = ["unknown" if sd is None else format_share(sd) for sd in (case.build_sd, case.day_sd)]
        yield f"| {code(words.name(case))} | {since(case)} | {len(case.changes) or 'none'} | {sds[0]} | {sds[1]} |"
    if len(trend.cases) > _CASES:
        yield ""
        yield f"{more_are(len(trend.cases) - _CASES, 'case')} in the JSON."


def _text(text: str) -> str:
    return prose(short(text, _TEXT))
