"""Publishing a report: summary, annotations, comment, commit status.

Nothing here changes the verdict: what a forge refuses becomes one warning.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from gate.decide.importance import ordered
from gate.github import notice
from gate.github.command_files import read_regular
from gate.github.event import Event
from gate.github.publishing.forge import forge_of, problem_line
from gate.github.publishing.outcome import Outcome
from gate.github.publishing.request import CALIBRATION, STUDY, Wanted
from gate.github.runner import append_summary, error_line, warning_line
from gate.model import Finding, Report, UserError
from gate.report.links import Links
from gate.report.markdown import comment, summary
from gate.report.markdown.escape import block, escape, link
from gate.words import failures, reports
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup, grouped
from gate.words.plain import clip, visible

State = Literal["error", "failure", "success"]
_DESCRIPTION = 140
_LONGEST_TEXT = 500_000
_SHOWN = {CALIBRATION: "calibrate", STUDY: "study"}
"""By the file of a text: the command whose it is."""
_NO_ROOM = "the job summary is full: the report has everything"


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published about an outcome, and where."""

    id: str
    """Of the gate."""
    event: Event
    outcome: Outcome
    report: Report | None
    """None: there is none, and the outcome says why."""
    links: Links
    wanted: Wanted
    notes: tuple[str, ...] = ()
    """For the summary alone, in Markdown that is safe already."""


def publish(publication: Publication, environment: Mapping[str, str], out: TextIO) -> str | None:
    """Tell an outcome wherever it is wanted; return the address of the comment, None where there is none.

    out takes workflow commands: annotations, and a warning for each thing that could not be told.
    """
    warnings: list[str] = []
    if publication.wanted.summary:
        warnings += _attempted("the job summary was not written", lambda: _summarise(publication, environment)).warnings
    if publication.wanted.annotations:
        out.writelines(_annotations(publication))
    commented = _comment(publication, environment)
    warnings += commented.warnings
    if publication.wanted.status:
        warnings += _status(publication, environment).warnings
    out.writelines(warning_line(warning, "perfgate") for warning in warnings)
    out.flush()
    return commented.url


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of publishing one thing: its address, or why it failed."""

    url: str | None = None
    warnings: tuple[str, ...] = ()


def _attempted(what: str, tell: Callable[[], Delivery]) -> Delivery:
    """Tell something; whatever is in its way becomes a warning, since the verdict stands already."""
    from gate.github.problems import Problem

    try:
        return tell()
    except Problem as problem:
        return Delivery(warnings=(problem_line(what, problem),))
    except UserError as error:
        return Delivery(warnings=(f"{what}: {error}",))
    except Exception as error:  # also of a library, over what some server answered
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        return Delivery(warnings=(f"{what}: internal error, {type(error).__name__}: {visible(str(error))}",))


# --- the summary ------------------------------------------------------------------------------------------------------


def _summarise(publication: Publication, environment: Mapping[str, str]) -> Delivery:
    file = environment.get("GITHUB_STEP_SUMMARY")
    if not file:
        return Delivery()
    text = "\n".join([_summary(publication), *(f"{note}\n" for note in publication.notes)])
    if not text:
        return Delivery()
    return Delivery() if append_summary(Path(file), text) else Delivery(warnings=(_NO_ROOM,))


def _summary(publication: Publication) -> str:
    if publication.report is not None:
        return summary.render(publication.report, publication.links)
    outcome = publication.outcome
    shown = _text(outcome, publication.links) + (f"perfgate: {escape(outcome.note)}\n" if outcome.note else "")
    if outcome.notices:
        shown = notice.render(outcome.notices, publication.links) + shown
    return shown


def _text(outcome: Outcome, links: Links) -> str:
    """Return the text of a calibration or study as a block of code; nothing where there is none."""
    # measured code may have written it
    data = read_regular(Path(outcome.text), _LONGEST_TEXT) if outcome.text else None
    lines = [visible(line) for line in (data or b"").decode("utf-8", "replace").splitlines()]
    if not lines or not outcome.text:
        return ""
    page = link("tables and pictures", links.report) if Path(outcome.text).name == STUDY else None
    below = f"\n{page}\n" if page else ""
    return f"### perfgate {_SHOWN[Path(outcome.text).name]}\n\n{block(chr(10).join(lines))}\n{below}"


def _annotations(publication: Publication) -> list[str]:
    if publication.report is not None:
        return annotated(publication.report)
    return notice.annotated(publication.outcome.notices)


# --- the comment ------------------------------------------------------------------------------------------------------


def body(publication: Publication) -> str:
    """Render the comment, without the marker."""
    if publication.report is not None:
        return comment.render(publication.report, publication.links)
    return notice.render(publication.outcome.notices, publication.links)


def _comment(publication: Publication, environment: Mapping[str, str]) -> Delivery:
    target = publication.outcome.target
    nothing = publication.report is None and not publication.outcome.notices
    if not publication.wanted.comment or target.pull is None or target.fork or nothing:
        return Delivery()
    number = target.pull

    def post() -> Delivery:
        from gate.github.comment import Marker, publish_comment

        marker = Marker(id=publication.id, head=target.sha, run=target.run, attempt=target.attempt)
        forge = forge_of(publication.event, environment)
        result = publication.report is not None
        return Delivery(publish_comment(forge, number, marker, body(publication), result=result).url)

    return _attempted(f"no comment was made on #{number}", post)


# --- the commit status ------------------------------------------------------------------------------------------------


def _status(publication: Publication, environment: Mapping[str, str]) -> Delivery:
    outcome = publication.outcome
    if outcome.verdict is None or outcome.target.fork:
        return Delivery()

    def put() -> Delivery:
        context = "perfgate" if publication.id == "perfgate" else f"perfgate/{publication.id}"
        description = clip(headline(publication), _DESCRIPTION)[:_DESCRIPTION]
        address = publication.links.report or publication.links.run or ""
        forge = forge_of(publication.event, environment)
        forge.set_status(outcome.target.sha, state_of(outcome), description, context, address)
        return Delivery()

    return _attempted("no commit status was set", put)


def state_of(outcome: Outcome) -> State:
    """Give the state of a commit: success only where the gate passes."""
    if outcome.verdict == "error":
        return "error"
    return "failure" if outcome.code else "success"


def headline(publication: Publication) -> str:
    """Say the outcome in one line."""
    if publication.report is not None:
        return reports.headline(publication.report)
    return notice.headline(publication.outcome.notices)


MOST = 10
"""Errors that the runner shows of one step."""
_WIDTH = 500
_TITLE = 100


def annotated(report: Report) -> list[str]:
    """Write the commands, those that matter most first; the last of ten counts those that are left out."""
    regressed = [f for f in ordered(report.findings) if f.verdict == "regression"]
    groups = grouped(report.failures, by_output=False)
    lines = [*map(_finding, regressed), *map(_failure, groups)]
    if report.verdict == "error" and not groups:
        # no failure says why, such as a budget that ended first
        lines.append(error_line(clip(reports.headline(report), _WIDTH), "perfgate: not measured"))
    if len(lines) <= MOST:
        return lines
    more = len(lines) - (MOST - 1)
    last = error_line(f"and {more} more, which the report has; {clip(reports.headline(report), _WIDTH)}", "perfgate")
    return [*lines[: MOST - 1], last]


def _finding(finding: Finding) -> str:
    settings = finding_words.factors(finding)
    name = " ".join([visible(finding.benchmark), *([settings] if settings else [])])
    title = f"Performance regression: {clip(name, _TITLE)}"
    message = f"{clip(name, _TITLE)}: {clip(finding_words.conclusion(finding), _WIDTH)}"
    return error_line(visible(message), visible(title))


def _failure(group: FailureGroup) -> str:
    title = failures.heading(group)
    places = failures.places(group, 3)
    said = failures.last_words(group.first)
    hint = f"; {visible(group.first.hint)}" if group.first.hint else ""
    message = f"{title}{f' ({places})' if places else ''}{f'; last output: {said}' if said else ''}{hint}"
    return error_line(clip(visible(message), _WIDTH), "perfgate: not measured")
