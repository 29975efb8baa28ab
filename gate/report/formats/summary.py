"""The summary of a job."""

from gate.report.links import Links
from gate.report.markdown import summary
from gate.report.measurements import Subject


def render(subject: Subject, links: Links) -> str:
    """Write the summary."""
    return summary.render(subject.report, links)
