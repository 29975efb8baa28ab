"""report.json."""

from __future__ import annotations

from gate.decide.measurements import Decided
from gate.report import json
from gate.report.links import Links
from gate.report.measurements import Kept


def render(decided: Decided | Kept, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the report for programs."""
    return json.render(decided.report)
