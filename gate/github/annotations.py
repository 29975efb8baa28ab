"""Report -> annotations of a workflow: one for each regression and each failure, at most ten."""

from __future__ import annotations

from gate.decide.importance import ordered
from gate.github.runner import error_line
from gate.model import Finding, Report
from gate.words import cases, failures, reports
from gate.words.failures import FailureGroup, grouped
from gate.words.plain import clip, visible

MOST = 10
"""Errors that the runner shows of one step."""
_WIDTH = 500
_TITLE = 100


def annotated(report: Report) -> list[str]:
    """Write the commands, those that matter most first; the last of ten stands for all that there is no room for."""
    regressed = [f for f in ordered(report.findings) if f.verdict == "regression"]
    groups = grouped(report.failures, by_output=False)
    lines = [*map(_finding, regressed), *map(_failure, groups)]
    if len(lines) <= MOST:
        return lines
    more = len(lines) - (MOST - 1)
    last = error_line(f"and {more} more, which the report has; {clip(reports.headline(report), _WIDTH)}", "perfgate")
    return [*lines[: MOST - 1], last]


def _finding(finding: Finding) -> str:
    settings = cases.factors(finding)
    name = " ".join([visible(finding.benchmark), *([settings] if settings else [])])
    title = f"Performance regression: {clip(name, _TITLE)}"
    message = f"{clip(name, _TITLE)}: {clip(cases.conclusion(finding), _WIDTH)}"
    return error_line(visible(message), visible(title))


def _failure(group: FailureGroup) -> str:
    title = failures.heading(group)
    places = failures.places(group, 3)
    said = failures.last_words(group.first)
    hint = f"; {visible(group.first.hint)}" if group.first.hint else ""
    message = f"{title}{f' ({places})' if places else ''}{f'; it said: {said}' if said else ''}{hint}"
    return error_line(clip(visible(message), _WIDTH), "perfgate: not measured")
