"""The summary of a job."""

from gate.report import Links
from gate.report.formats import markdown
from gate.report.measurements import Subject


def render(subject: Subject, links: Links) -> str:
    """Write the summary."""
    return markdown.summary(subject.report, links)
