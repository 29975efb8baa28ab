"""Publishing a report: summary, annotations, comment, commit status.

What a forge refuses becomes one warning, and changes no verdict. Only what another job has taken ends a job.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote

from gate.decide.importance import ordered
from gate.document.markdown import block, code, escape
from gate.github.client import Forge, forge_of
from gate.github.comment import LONGEST_DESCRIPTION, Marker, Stamp, State, publish_comment, set_status
from gate.github.event import Event
from gate.github.runner import append_summary, error_line, read_regular, warning_line
from gate.github.transport import Problem
from gate.model import Report, UserError
from gate.model.outcomes import NothingToCompare
from gate.model.report import failing
from gate.publishing import notice
from gate.publishing.asked import AskedPull
from gate.publishing.outcome import GateEnd
from gate.publishing.request import ROOT, Occasion
from gate.report import Links
from gate.report.formats import markdown
from gate.words import failures, verdict_line
from gate.words import findings as finding_words
from gate.words.failures import grouped
from gate.words.short_names import Names
from gate.writing.plain import clip, visible

_OF_A_FORK = (
    "No comment was made: the token of a fork's pull request is read-only. A workflow that starts on "
    "workflow_run publishes it (docs/github.md)."
)
_PLAIN = ("unchanged", "identical", "no-sign")
_LONGEST_TEXT = 500_000
LONGEST_ANSWER = 30_000
"""Bytes of a text in a comment."""


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published about an outcome, and where."""

    id: str
    """Of the gate."""
    event: Event
    outcome: GateEnd
    report: Report | None
    """None: there is none, and the outcome says why."""
    links: Links
    comment: Occasion
    """When to write a comment."""
    status: bool
    stamp: Stamp
    """Of this state of the gate."""
    asked: AskedPull | None = None
    """The request that this answers."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came of publishing one thing, or all: its address, or why it failed, or was refused, which fails a job."""

    url: str | None = None
    warnings: tuple[str, ...] = ()
    refused: str | None = None


def publish(publication: Publication, environment: Mapping[str, str], out: TextIO) -> Delivery:
    """Tell an outcome wherever it is wanted.

    out takes workflow commands: annotations, and a warning for each thing that could not be told.
    """
    report, notices = publication.report, publication.outcome.notices
    out.writelines(annotated(report) if report is not None else notice.annotated(notices))
    # one forge for all, so that what they wait for it adds up
    forge = functools.cache(lambda: forge_of(publication.event, environment))
    deliveries = [
        _attempted("the job summary was not written", lambda: _summarise(publication, environment)),
        # first what a rule of the branch may wait for
        _status(publication, forge),
        commented := _comment(publication, forge),
    ]
    refused = next((each.refused for each in deliveries if each.refused), None)
    out.writelines(warning_line(text, "perfgate") for each in deliveries for text in each.warnings)
    out.flush()
    return Delivery(commented.url, refused=refused)


def _attempted(what: str, tell: Callable[[], Delivery]) -> Delivery:
    """Tell something; whatever is in its way becomes a warning, since the verdict stands already."""
    try:
        return tell()
    except Problem as problem:
        return Delivery(warnings=(problem.after(what),))
    except UserError as error:
        return Delivery(warnings=(f"{what}: {error}",))
    except Exception as error:  # also of a library, over what some server answered
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        return Delivery(warnings=(f"{what}: internal error, {type(error).__name__}: {visible(str(error))}",))


# --- the summary ------------------------------------------------------------------------------------------------------


def _summarise(publication: Publication, environment: Mapping[str, str]) -> Delivery:
    file = environment.get("GITHUB_STEP_SUMMARY")
    outcome, links = publication.outcome, publication.links
    if publication.report is not None:
        shown = markdown.summary(publication.report, links)
    else:
        shown = notice.render(outcome.notices, links) if outcome.notices else ""
        shown += _text(outcome) + (f"perfgate: {escape(outcome.note)}\n" if outcome.note else "")
    text = f"{shown}\n{_OF_A_FORK}\n" if publication.comment != "never" and outcome.target.fork else shown
    if not file or not text or append_summary(Path(file), text):
        return Delivery()
    return Delivery(warnings=("the job summary is full: the report has everything",))


def _text(outcome: GateEnd, most: int = _LONGEST_TEXT) -> str:
    """Return the text of a command other than check as a block of code; nothing where there is none."""
    # measured code may have written it
    data = (read_regular(Path(outcome.text), _LONGEST_TEXT) if outcome.text else None) or b""
    shown = data[:most].decode("utf-8", "replace") + ("\n..." if len(data) > most else "")
    lines = [visible(line) for line in shown.splitlines()]
    if not lines:
        return ""
    return f"### perfgate {outcome.of}\n\n{block(chr(10).join(lines))}\n"


# --- the comment ------------------------------------------------------------------------------------------------------


def body(publication: Publication) -> str:
    """Render the comment, without the marker."""
    asked = f"{asked_line(publication.asked)}\n\n" if publication.asked is not None else ""
    if publication.report is not None:
        return asked + markdown.comment(publication.report, publication.links)
    if publication.outcome.notices:
        return asked + notice.render(publication.outcome.notices, publication.links)
    return asked + _text(publication.outcome, LONGEST_ANSWER)


def asked_line(asked: AskedPull) -> str:
    """Say what was asked, and of which commit."""
    return f"{code(asked.words.said, 300)} of {code(asked.pull.head_sha[:10])}"


def answering(event: Event) -> Stamp:
    """Stamp what answers a request: one for all jobs of a run."""
    run, attempt = event.run_id, event.run_attempt
    return Stamp(run=run, attempt=attempt, by_run=run, by_attempt=attempt, job="ask", use="ask")


def answer_marker(asked: AskedPull, event: Event) -> Marker:
    """Mark the one comment that answers a request."""
    return Marker(f"ask-{asked.key}", asked.pull.head_sha, answering(event))


def calls_for_comment(occasion: Occasion, outcome: GateEnd, report: Report | None) -> bool:
    """Say whether a comment is to be made where there is none yet."""
    if occasion in ("always", "never"):
        return occasion == "always"
    if report is None or outcome.verdict in ("regression", "error"):
        return True
    if occasion == "regression":
        return any(finding.verdict == "regression" for finding in report.findings)
    changed = any(finding.verdict not in _PLAIN for finding in report.findings)
    # that nothing was compared is a pass, and no plain one
    warned = isinstance(report.summary, NothingToCompare) or any(warning.in_headline for warning in report.warnings)
    return outcome.verdict != "pass" or changed or warned or bool(report.failures)


def _comment(publication: Publication, forge: Callable[[], Forge]) -> Delivery:
    outcome = publication.outcome
    target, occasion = outcome.target, publication.comment
    nothing = publication.report is None and not outcome.notices and not (publication.asked and outcome.text)
    if occasion == "never" or target.pull is None or target.fork or nothing:
        return Delivery()
    number = target.pull

    def post() -> Delivery:
        asked = publication.asked
        own = Marker(publication.id, target.sha, publication.stamp)
        marker = own if asked is None else answer_marker(asked, publication.event)
        create = calls_for_comment(occasion, outcome, publication.report)
        shown = body(publication)
        posted = publish_comment(forge(), number, marker, shown, create=create)
        if posted.did == "taken":
            return Delivery(refused=_refused(publication, f"the comment on #{number}", posted.by))
        return Delivery(posted.url)

    return _attempted(f"no comment was made on #{number}", post)


# --- what the commit shows --------------------------------------------------------------------------------------------


def _status(publication: Publication, forge: Callable[[], Forge]) -> Delivery:
    outcome = publication.outcome
    if not publication.status or outcome.verdict is None or outcome.target.fork:
        return Delivery()

    def put() -> Delivery:
        # success only where the gate passes, and not on a fork's word alone
        state: State = "failure" if outcome.code else "pending" if outcome.unverified else "success"
        said = headline(publication)
        if state == "pending":
            label = publication.report.policy.gate.get("accept_label") if publication.report is not None else None
            confirm = f", the label {clip(label, 40)} confirms it" if isinstance(label, str) and label else ""
            said = f"unverified, measured on the fork's machine{confirm}: {said}"
        # a context such as "perfgate" or "perfgate/parser"
        context = ROOT if publication.id == ROOT else f"{ROOT}/{publication.id}"
        address = publication.links.report or run_address(publication.event)
        placed = set_status(
            forge(), outcome.target.sha, context, publication.stamp,
            "error" if outcome.verdict == "error" else state, clip(said, LONGEST_DESCRIPTION), address,
        )  # fmt: skip
        if placed.did == "taken":
            return Delivery(refused=_refused(publication, f"the status of {outcome.target.sha[:10]}", placed.by))
        if placed.did == "older" and placed.by is not None:
            return Delivery(warnings=(f"the status stays as it is: it is of the newer run {placed.by.run}",))
        return Delivery()

    return _attempted("no commit status was set", put)


def run_address(event: Event) -> str:
    """Give the address of this run."""
    return f"{event.server_url}/{event.repository}/actions/runs/{event.run_id}"


def _refused(publication: Publication, what: str, by: Stamp | None) -> str:
    """Say that another job has this gate's name, and how each gets one of its own."""
    if by is None or by.job == publication.stamp.job:
        whose = "another use of the action in this run"
    else:
        # percent signs are the only thing that a name of a job could hide in
        whose = f"the job {visible(unquote(by.job))} of run {by.run}"
    return (
        f"{what} was left as it is: it belongs to {whose}, which has the same name, {publication.id}; set the input "
        "`id` to give each job, and each leg of a matrix, a name of its own"
    )


def headline(publication: Publication) -> str:
    """Say the outcome in one line."""
    if publication.report is not None:
        return verdict_line.text(publication.report)
    return notice.headline(publication.outcome.notices)


MOST = 10
"""Errors that the runner shows of one step."""
_WIDTH = 500


def annotated(report: Report) -> list[str]:
    """Write the commands, those that matter most first; the last of ten counts those that are left out."""
    groups = grouped(failing(report.failures, report.warnings), by_output=False)
    names, lines = Names(report), list[str]()
    for finding in (f for f in ordered(report.findings) if f.verdict == "regression"):
        name = f"{names.benchmark(finding.benchmark)} {names.settings(finding)}".rstrip()
        message = f"{name}: {clip(finding_words.conclusion(finding), _WIDTH)}"
        lines.append(error_line(visible(message), visible(f"Performance regression: {name}")))
    for group in groups:
        places, said, hint = failures.places(group, 3), failures.error(group[0]), group[0].hint
        message = failures.heading(group, names) + (f" ({places})" if places else "")
        message += (f"; last output: {said}" if said else "") + (f"; {visible(hint)}" if hint else "")
        lines.append(error_line(clip(visible(message), _WIDTH), "perfgate: not measured"))
    if report.verdict == "error" and not groups:
        # no failure says why, such as a budget that ended first
        lines.append(error_line(clip(verdict_line.text(report), _WIDTH), "perfgate: not measured"))
    if len(lines) <= MOST:
        return lines
    more = len(lines) - (MOST - 1)
    last = error_line(f"and {more} more, which the report has; {clip(verdict_line.text(report), _WIDTH)}", "perfgate")
    return [*lines[: MOST - 1], last]
