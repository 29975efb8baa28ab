"""The summary of a job."""

from gate.report import Links
from gate.report.formats import markdown
from gate.report.material import Shown


def render(subject: Shown, links: Links) -> str:
    """Write the summary."""
    return markdown.summary(subject.report, links)
