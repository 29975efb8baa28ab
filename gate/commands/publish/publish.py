"""Measurements -> their verdict on GitHub, from within a workflow."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.commands.publish.command import Options
from gate.evidence.records import DEFAULT_FOLDER, read_inputs
from gate.github.event import Event, nothing_to_do, read_event
from gate.github.runner import error_line, fenced, warning_line, write_outputs
from gate.model import UserError
from gate.publishing.conclusion import (
    Concluded,
    broken_off,
    conclude_foreign,
    conclude_on,
    job_name,
    stamp_for,
    target_of,
)
from gate.publishing.notice import Notice, headline
from gate.publishing.outcome import Target, could_not_run, nothing
from gate.publishing.publish import Publication, publish
from gate.publishing.request import gate_name
from gate.report import Links
from gate.report.outputs import links_of, show

# who calls it twice in one job wants the second to count
_USE = "command"


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Decide over measurements, publish the outcome from within a workflow, and return its exit code.

    out takes everything, since the runner reads its commands there in order.

    Raises: UserError: this is no workflow, or runs are named where they may be anybody's.
    """
    runs = options.runs
    event = read_event(os.environ)
    if event.source is not None:
        if runs:
            raise UserError(
                f"{runs[0]}: a workflow_run workflow takes its artifact itself, since anybody may have made "
                "it: name no runs"
            )
        folder = Path(tempfile.mkdtemp(prefix="perfgate-", dir=os.environ.get("RUNNER_TEMP") or None))
        concluded = conclude_foreign(event, os.environ, folder, options.id, directory=options.directory, sets=())
    else:
        concluded = _concluded(runs or (DEFAULT_FOLDER,), event, target_of(event))
    outcome = concluded.outcome
    with fenced(out) as log:
        if concluded.decided is not None:
            show(concluded.decided, OutputOptions(), log)
        else:
            log.write(f"{headline(outcome.notices) if outcome.notices else outcome.note}\n")
    out.writelines(warning_line(warning, "perfgate") for warning in concluded.warnings)
    publication = Publication(
        id=options.id,
        event=event,
        outcome=outcome,
        report=concluded.decided.report if concluded.decided is not None else None,
        links=Links(run=links_of(os.environ).run, gate=gate_name(options.id), pull=outcome.target.pull is not None),
        comment=options.comment,
        status=options.status,
        stamp=stamp_for(event, outcome.target, job_name(event, os.environ), _USE),
    )
    _write_outputs({"exit-code": str(outcome.code), "verdict": outcome.verdict or ""})
    published = publish(publication, os.environ, out)
    code, verdict = outcome.code, outcome.verdict or ""
    if published.refused:
        out.write(error_line(published.refused, "perfgate"))
        code, verdict = code or Exit.USAGE, verdict if code else "error"
    _write_outputs({"exit-code": str(code), "verdict": verdict, "comment-url": published.url or ""})
    return code


def _write_outputs(outputs: Mapping[str, str]) -> None:
    file = os.environ.get("GITHUB_OUTPUT")
    if file:
        write_outputs(Path(file), outputs)


def _concluded(runs: Sequence[str], event: Event, target: Target) -> Concluded:
    idle = nothing_to_do(event)
    if idle:
        return Concluded(nothing(target, idle))
    if not any(map(os.path.lexists, runs)):
        return Concluded(could_not_run([Notice(Exit.ERROR, f"no measurements in {', '.join(runs)}")], target))
    broken = broken_off(runs)
    if broken:
        return Concluded(could_not_run(broken, target))
    try:
        return conclude_on(read_inputs(runs), event, target, os.environ)
    except UserError as error:
        return Concluded(could_not_run([Notice(Exit.USAGE, str(error))], target))
