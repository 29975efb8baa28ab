"""JUnit's XML."""

from __future__ import annotations

from gate.decide.measurements import Decided
from gate.report import junit
from gate.report.links import Links
from gate.report.measurements import Kept


def render(decided: Decided | Kept, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write a test case for each finding and failure."""
    return junit.render(decided.report)
