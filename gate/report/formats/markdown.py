"""The comment of a pull request."""

from __future__ import annotations

from gate.decide.measurements import Decided
from gate.report.links import Links
from gate.report.markdown import comment
from gate.report.measurements import Kept


def render(decided: Decided | Kept, links: Links) -> str:
    """Write the comment."""
    return comment.render(decided.report, links)
