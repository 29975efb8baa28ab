"""A study in a workflow: measured without the token, analysed in the step after; shown, and never a verdict."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from gate.cli.command import command_of
from gate.codes import Exit
from gate.evidence.inputs import read_inputs
from gate.github.event import Event
from gate.github.notice import Notice
from gate.github.publishing.conclusion import Concluded, require_readable
from gate.github.publishing.outcome import Outcome, Status, Target, could_not_run
from gate.github.publishing.request import TEXT, Request, rules_of
from gate.github.runner import is_regular, put
from gate.model import Failure, ReportVerdict
from gate.run.refusal import FORKS
from gate.words import failures

PAGE = "study.html"
ANALYSIS = "study.json"
"""Both are written into the folder of the run."""
_MOST = 5


def study_refusal(event: Event) -> str | None:
    """Say why an event may not start a study: it would make a check that a rule of the repository can require."""
    if event.name == "workflow_dispatch" or (event.name == "pull_request" and event.action == "labeled"):
        return None
    this = f"{event.name}, {event.action}" if event.action else event.name
    return (
        "not studied: a study is no check, so command study is for workflow_dispatch and for a label "
        f"(pull_request, labeled), and this is {this}"
    )


def measure_study(request: Request, out: TextIO) -> int:
    """Measure the study of the project around the working directory; out takes what is said meanwhile."""
    # a fork that the input `forks` refuses never comes here
    os.environ[FORKS] = "measure"
    command = command_of("study").parts["measure"]
    options, rules = command.options(), rules_of(request)
    # chosen by the event, it is the study's own choice as well, where side is a factor
    base = request.base if request.how is None else None
    measuring = replace(options.measuring, base=base, head=request.head, out=request.run_folder)
    # nothing is judged: the study is that of the commit which is studied
    own = replace(options.rules, config=rules.config, rules="head", sets=rules.sets, benchmarks=rules.benchmarks)
    return command.run(replace(options, measuring=measuring, rules=own), out, out)


def conclude_study(request: Request, status: Status, target: Target, files: Sequence[Path]) -> Concluded:
    """Analyse what was measured of a study; what failed makes the job fail, and nothing else does.

    Raises:
        UserError: the measurements cannot be analysed.
    """
    if not files:
        lines = status.lines or ["nothing of the study was measured: see the log of the step before"]
        return Concluded(could_not_run([Notice(status.code or Exit.ERROR, line) for line in lines], target))
    require_readable(files)
    records = (located.record for located in read_inputs([str(file) for file in files]).records)
    failed = dict.fromkeys(failures.title(record) for record in records if isinstance(record, Failure))
    lines = status.lines or list(failed)[:_MOST] or ["its budget ended before a replicate was complete"]
    notices = [Notice(status.code, line) for line in lines] if status.code else []
    command = command_of("study").parts["analyse"]
    text, said = io.StringIO(), io.StringIO()
    named = replace(command.options(), files=(str(request.run_folder),), out=request.run_folder)
    code = command.run(named, text, said)
    if code and not notices:
        notices = [Notice(code, "the analysis of the study failed, as the job summary shows")]
    verdict: ReportVerdict | None = "error" if notices else None
    shown = Path(request.folder, TEXT)
    put(shown, text.getvalue().encode("utf-8", "backslashreplace"))
    outcome = Outcome(
        code=status.code or code, verdict=verdict, notices=notices, report=False, target=target, text=str(shown),
        of="study",
    )  # fmt: skip
    return Concluded(outcome, files=tuple(files))


def page_of(request: Request) -> Path | None:
    """Return the page of a study; None: there is none."""
    page = request.run_folder / PAGE
    return page if request.command == "study" and is_regular(page) else None
