"""JUnit's XML."""

from gate.report import junit
from gate.report.links import Links
from gate.report.measurements import Subject


def render(subject: Subject, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write a test case for each finding and failure."""
    return junit.render(subject.report)
