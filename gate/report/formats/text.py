"""Text without colour, of no terminal's width."""

from __future__ import annotations

from gate.decide.measurements import Decided
from gate.report.links import Links
from gate.report.measurements import Kept
from gate.report.text import terminal


def render(decided: Decided | Kept, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the text."""
    return terminal.render(decided.report)
