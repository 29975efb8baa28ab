"""The words of machines that are judged each by itself."""

from __future__ import annotations

from gate.model.report import Finding, SessionRatio
from gate.words import numbers
from gate.words.plain import clip, visible

_HOST = 40


def machine(session: int, host: str | None) -> str:
    """Name a machine: "session 0 (ci-arm-1)", "session 0" where its name is not known."""
    return f"session {session}{f' ({clip(visible(host), _HOST)})' if host else ''}"


def change(finding: Finding, found: SessionRatio) -> str:
    """Write the change on one machine with its interval: "+12.1% (+11.0% to +13.2%)"."""
    return numbers.in_points(finding, f"{numbers.change(found.ratio)} ({numbers.interval(found.ratio)})")
