"""The page."""

from __future__ import annotations

from gate.decide.measurements import Decided
from gate.report.links import Links
from gate.report.measurements import Kept, material_of
from gate.report.page import html


def render(decided: Decided | Kept, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the page with its pictures."""
    return html.render(decided.report, material_of(decided))
