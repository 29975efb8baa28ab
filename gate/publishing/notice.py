"""Notices: why there is no report, as summary, comment and annotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from gate.codes import Exit
from gate.document.markdown import brief, link
from gate.github.runner import error_line
from gate.report import Links
from gate.writing.plain import clip, visible

_MOST = 10
_WIDTH = 1000


What = Literal["could-not-run", "cancelled", "nothing-measured"]
_TITLES: dict[What, str] = {
    "could-not-run": "perfgate could not run",
    "cancelled": "perfgate: measuring was cancelled",
    "nothing-measured": "perfgate: nothing was measured",
}


class Notice(msgspec.Struct, frozen=True):
    """Why nothing could be decided, in one line, and the exit code that it ends with (never 0)."""

    code: int
    message: str
    what: What = "could-not-run"


def _title(notices: Sequence[Notice]) -> str:
    return _TITLES[notices[0].what if notices else "could-not-run"]


def headline(notices: Sequence[Notice]) -> str:
    """Say it in one line: "perfgate could not run: not measured: fork on a self-hosted runner ..."."""
    first = clip(visible(notices[0].message), 300) if notices else "no report was made"
    return f"{_title(notices)}: {first}"


def render(notices: Sequence[Notice], links: Links | None = None) -> str:
    """Write the notices as Markdown, for a comment and for a summary."""
    shown = [brief(notice.message, _WIDTH) for notice in notices[:_MOST]]
    code = notices[0].code if notices else Exit.ERROR
    paragraphs = [
        f"### {_title(notices)}",
        "\n".join(f"- {text}" for text in shown) if len(shown) > 1 else "".join(shown),
        f"Nothing was decided, and that is never a pass: the job ends with exit code {code}.",
        link("workflow run", links.run) if links is not None else None,
    ]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def annotated(notices: Sequence[Notice]) -> list[str]:
    """Write the notices as errors of the workflow, at most ten."""
    return [
        error_line(f"{_TITLES[notice.what]}: {clip(visible(notice.message), _WIDTH)}", "perfgate")
        for notice in notices[:_MOST]
    ]
