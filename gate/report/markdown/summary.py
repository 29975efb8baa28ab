"""Report -> Markdown for the summary of a job: a comment with room for all of it."""

from __future__ import annotations

from gate.model import Report
from gate.report.links import Links
from gate.report.markdown import comment

LIMIT = 900_000
"""Bytes a summary may have; GitHub refuses more than 1 MiB a step."""


def render(report: Report, links: Links | None = None, *, limit: int = LIMIT) -> str:
    """Write a job summary of at most `limit` bytes: what a comment has, twenty rows, and more of it at first sight."""
    return comment.render(report, links, limit=limit, form=comment.SUMMARY)
