"""The summary of a job."""

from gate.report import Links
from gate.report.markdown import comment
from gate.report.measurements import Subject


def render(subject: Subject, links: Links) -> str:
    """Write the summary."""
    return comment.summary(subject.report, links)
