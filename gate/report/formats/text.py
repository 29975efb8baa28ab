"""Text without colour, of no terminal's width."""

from gate.report import Links, terminal
from gate.report.measurements import Subject


def render(subject: Subject, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the text."""
    return terminal.render(subject.report)
