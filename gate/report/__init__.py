"""Report -> text, Markdown, HTML, JSON, JUnit, CSV; a module each, and none of them compares numbers or decides."""

from __future__ import annotations

import msgspec


class Links(msgspec.Struct, frozen=True):
    """Addresses of the HTML report and of the workflow run; None: not known.

    gate: its name, where several may tell of one pull request. pull: whether there is a pull request to put a label on.
    """

    report: str | None = None
    run: str | None = None
    gate: str | None = None
    pull: bool = False
