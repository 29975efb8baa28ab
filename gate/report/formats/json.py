"""report.json."""

from gate.report import json
from gate.report.links import Links
from gate.report.measurements import Subject


def render(subject: Subject, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the report for programs."""
    return json.render(subject.report)
