"""report.json."""

from gate.report import Links, json
from gate.report.material import Shown


def render(subject: Shown, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the report for programs."""
    return json.render(subject.report)
