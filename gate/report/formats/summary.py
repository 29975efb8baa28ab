"""The summary of a job."""

from __future__ import annotations

from gate.decide.measurements import Decided
from gate.report.links import Links
from gate.report.markdown import summary
from gate.report.measurements import Kept


def render(decided: Decided | Kept, links: Links) -> str:
    """Write the summary."""
    return summary.render(decided.report, links)
