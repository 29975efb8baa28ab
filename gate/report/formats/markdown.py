"""The comment of a pull request."""

from gate.report import Links
from gate.report.markdown import comment
from gate.report.measurements import Subject


def render(subject: Subject, links: Links) -> str:
    """Write the comment."""
    return comment.render(subject.report, links)
