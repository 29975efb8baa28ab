"""Measurements that jobs left -> the outcome of a gate, with the label that accepts regressions as the forge has it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gate.cli.groups import RulesOptions
from gate.codes import Exit
from gate.decide.report import Decided
from gate.evidence.lines import Inputs
from gate.evidence.records import MEASUREMENTS
from gate.github.client import forge_of, token_of
from gate.github.comment import Stamp, any_job_of, job_of
from gate.github.event import Event, accepted_by, queued
from gate.github.runner import open_regular
from gate.github.transport import Problem
from gate.model import UserError
from gate.planning.deciding import decide_inputs
from gate.publishing.notice import Notice, What
from gate.publishing.outcome import GateEnd, Target, could_not_run, nothing, read_status
from gate.publishing.request import STATUS

LARGEST = 1_000_000_000
"""Bytes of measurements that are read."""


class NothingError(UserError):
    """There are no measurements."""


def broken_off(runs: Iterable[str]) -> list[Notice]:
    """Return a notice for each part whose measuring did not come to its end, as far as it has a status.

    Args:
        runs: folders, or folders of such folders; a job that did not come to measuring left a status alone.
    """
    notices = []
    for folder in (part for run in map(Path, runs) for part in (run, *sorted(run.glob("*/")))):
        if os.path.lexists(folder / STATUS):
            status = read_status(folder)
            if status.code:
                why = "; ".join(status.lines) or f"exit code {status.code}"
                notices.append(Notice(status.code, f"measuring in {folder.name} did not end well: {why}"))
    return notices


def require_readable(files: Iterable[Path]) -> None:
    """Refuse what is not to be read: measured code could put a link there, or more than fits into the memory.

    Raises: UserError: a file is none, or is larger than 1 GB.
    """
    for file in files:
        try:
            with open_regular(file) as stream:
                size = os.fstat(stream.fileno()).st_size
        except OSError as error:
            raise UserError(f"{file}: cannot be read: {error.strerror}") from None
        if size > LARGEST:
            raise UserError(f"{file}: is larger than {LARGEST // 1_000_000_000} GB")


AS_MEASURED = RulesOptions()
_STOPPED = ("cancelled", "timed_out")
"""How a run ends that did not come to its end."""


@dataclass(frozen=True, slots=True)
class Concluded:
    """An outcome, the report behind it, the measurement files it rests on, and what to warn about."""

    outcome: GateEnd
    decided: Decided | None = None
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


def target_of(event: Event) -> Target:
    """Say what the results of a run of this event are of."""
    run, attempt = event.run_id, event.run_attempt
    if event.pull is not None:
        return Target(event.pull.number, event.pull.head_sha, run, attempt, event.pull.fork)
    return Target(None, event.merge_head or event.sha, run, attempt)


def stamp_for(event: Event, target: Target, job: str, use: str) -> Stamp:
    """Stamp what is published of a target: by whom, and how late it is."""
    return Stamp(
        run=target.run, attempt=target.attempt, by_run=event.run_id, by_attempt=event.run_attempt, job=job, use=use
    )


def job_name(event: Event, environment: Mapping[str, str], leg: str = "") -> str:
    """Name the job whose results are published: this one, or the one of a fork's run."""
    if event.source is None:
        return job_of(environment, leg)
    return any_job_of((event.source.path or "").partition("@")[0])


def outcome_of(decided: Decided, target: Target) -> GateEnd:
    """Make the outcome of a report."""
    report = decided.report
    return GateEnd(code=report.exit_code, verdict=report.verdict, notices=[], report=True, target=target)


def conclude_on(inputs: Inputs, event: Event, target: Target, environment: Mapping[str, str]) -> Concluded:
    """Decide over measurements by the rules they were measured under.

    Raises: UserError: files that contradict each other.
    """
    decided = decide_inputs(inputs, AS_MEASURED)
    warnings: tuple[str, ...] = ()
    # asked only where a label makes a difference
    number = target.pull or queued(event)
    report = decided.report
    missing = all(each.kind == "missing" and each.benchmark is not None for each in report.failures)
    # something regressed, or nothing failed but that it is missing
    accepts = report.verdict == "regression" or (report.verdict == "error" and bool(report.failures) and missing)
    wanted = decided.policy.config.gate.accept_label
    if number is not None and accepts and wanted and token_of(environment) is not None:
        try:
            labels = forge_of(event, environment).pull(number).labels
            if (label := accepted_by(wanted, number, [each.name for each in labels])) is not None:
                decided = decide_inputs(inputs, AS_MEASURED, label=label)
        except Problem as problem:
            warnings = (problem.after(f"the labels of #{number} cannot be read"),)
    return Concluded(outcome_of(decided, target), decided, tuple(inputs.files), warnings)


def conclude_foreign(
    event: Event, environment: Mapping[str, str], folder: Path, gate: str, *, directory: str, sets: tuple[str, ...]
) -> Concluded:
    """Decide over what the run of a workflow_run event measured, by the rules of the branch it is to go to.

    A pull request that has moved on is nothing to publish, and nothing wrong. folder, gate, directory, sets: as of
    `decide_foreign`.
    """
    from gate.publishing.forks import MovedOnError, NothingLeftError, decide_foreign, pull_of

    source, target = event.source, target_of(event)
    own = Target(None, source.head_sha, source.id, source.attempt) if source is not None else target
    try:
        forge = forge_of(event, environment)
        source, pull = pull_of(forge, event)
        target = msgspec.structs.replace(own, pull=pull.number)
        decided = decide_foreign(forge, source, pull, folder, gate, directory=directory, sets=sets)
    except MovedOnError as error:
        return Concluded(nothing(own, str(error)))
    except NothingLeftError as error:
        what: What = "cancelled" if source is not None and source.conclusion in _STOPPED else "nothing-measured"
        return Concluded(could_not_run([Notice(Exit.ERROR, str(error), what)], target))
    except UserError as error:
        return Concluded(could_not_run([Notice(Exit.ERROR, str(error))], own))
    except Problem as problem:
        return Concluded(could_not_run([Notice(Exit.ERROR, problem.after("nothing is published"))], own))
    # confirmed by the label that accepts regressions
    outcome = msgspec.structs.replace(outcome_of(decided, target), unverified=decided.policy.label is None)
    return Concluded(outcome, decided, (folder / MEASUREMENTS,))
