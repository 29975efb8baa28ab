"""The page."""

from gate.report import Links
from gate.report.measurements import Subject, material_of
from gate.report.page import html


def render(subject: Subject, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the page with its pictures."""
    return html.render(subject.report, material_of(subject))
