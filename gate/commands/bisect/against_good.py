"""What is measured of commits against good, each in a folder that `perfgate report` reads, and the journal of it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from gate.checkout import refuse_tracked
from gate.cli.groups import RulesOptions
from gate.codes import Exit
from gate.decide.policy import policy_at
from gate.decide.report import Decided, decide_by
from gate.decide.stopping import interim_check
from gate.evidence.gather import gather
from gate.evidence.records import MEASUREMENTS, cut_torn, read_inputs
from gate.evidence.runs import config_of, run_of
from gate.model import Case, Execution, Failure, Finding, Record, UserError
from gate.model.case import CaseId, case_id, center_of
from gate.planning.deciding import next_plan
from gate.report.outputs import fill, make_folder
from gate.run.job import Job, now
from gate.run.measuring import Measuring
from gate.run.run_folder import records_of
from gate.stats.bisection import executions_for
from gate.stats.centers import reduce_to
from gate.stats.components import variances
from gate.stats.levels import matched, tops_of
from gate.stats.ratio import logs_of


class MeasuringError(UserError):
    """Good cannot be measured any more, or the machine is not free; the command line is not at fault."""

    exit_code = Exit.ERROR


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """What the measurements of one commit against good say."""

    ratios: tuple[float, ...]
    """ln(commit/good) of each complete round; above 0 is slower, or less of what is better when higher."""
    same: bool
    """Proved to run the same program on the same data as good."""
    failure: Failure | None
    folder: Path


def seen_in(folder: Path, case: CaseId) -> CommitSeen:
    """Read what a folder holds of a case; nothing where nothing was measured yet. Raises UserError: a bad line."""
    inputs = read_inputs([str(folder)]) if (folder / MEASUREMENTS).is_file() else None
    config = config_of(run_of(inputs.records)) if inputs is not None else None
    if inputs is None or config is None:
        return CommitSeen((), same=False, failure=None, folder=folder)
    evidence = gather(inputs.records, config, measured=config)
    found = next((each for each in evidence.cases if case_id(each) == case._replace(statistic="")), None)
    ratios = ratios_of(found, case.statistic) if found is not None else ()
    failures = [each for each in evidence.failures if each.kind != "missing" or not ratios]
    return CommitSeen(ratios, bool(evidence.identical) and found is None, failures[0] if failures else None, folder)


def ratios_of(case: Case, statistic: str) -> tuple[float, ...]:
    """Return ln(head/base) of each complete round, above 0 where head is worse."""
    reduced = reduce_to(case.base, case.head, center_of(statistic), exact=case.exact)
    if reduced.shortage is not None or not reduced.base.n or not reduced.head.n:
        return ()
    base, head = map(logs_of, matched(reduced.base, reduced.head))
    if base is None or head is None:
        return ()
    sign = 1 if case.better == "lower" else -1
    return tuple(float(each) for each in sign * (head.values - base.values))


def wanted_executions(case: Case, statistic: str, following: float, execution: float, planned: int) -> int:
    """Return how many executions a round of the search has: what gives most for its time, at most those of the plan.

    following, execution: seconds of the builds of a later round, and of an execution.
    """
    ratios = ratios_of(case, statistic)
    if center_of(statistic) is not None or planned < 2 or len(ratios) < 3:
        return planned
    variance = 0.0
    for sample in (case.base, case.head):
        mean = tops_of(sample).mean
        s2, _ = variances(sample).get("execution", (None, None))
        if s2 is None or mean == 0:
            return planned
        variance += s2 / mean**2
    build = float(np.var(ratios, ddof=1)) - variance / planned
    return executions_for(build, variance, following, 2 * execution, planned)


JOURNAL = "bisect.jsonl"
ENDS = "ends"
"""What stands for the commit of the gate over both ends."""


class Visited(msgspec.Struct, frozen=True, kw_only=True, tag="visit"):
    """One measuring. commit: its sha; bad for the gate over both ends."""

    time: str
    commit: str
    rounds: int
    seconds: float
    failed: str = ""
    """Why it cannot be measured; empty: it was."""


def read_journal(folder: Path) -> list[Visited]:
    """Read a journal; nothing where none is. Raises UserError: a line is bad."""
    file = folder / JOURNAL
    if not file.is_file():
        return []
    cut_torn(file)
    try:
        return [msgspec.json.decode(line, type=Visited) for line in file.read_bytes().splitlines()]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"--resume: {file}: {error}; start without --resume") from None


def note(folder: Path, line: Visited) -> None:
    """Append a line, on disk before this returns. Raises OSError: it cannot be written."""
    refuse_tracked(folder / JOURNAL)
    with (folder / JOURNAL).open("ab") as file:
        file.write(msgspec.json.encode(line) + b"\n")
        file.flush()
        os.fsync(file.fileno())


SLOWER = ("regression", "accepted")
"""Verdicts of a finding that is searched for: who accepted a regression may still ask where it is from."""


@dataclass(frozen=True, slots=True)
class Gated:
    """What the gate over both ends found."""

    decided: Decided
    records: Sequence[Record]
    finding: Finding | None
    """The clearest regression; None: nothing regressed."""
    case: Case | None
    """Its values."""
    seconds: float
    folder: Path

    @property
    def findings(self) -> list[Finding]:
        """What was measured."""
        return self.decided.report.findings


def gated(folder: Path, past: Sequence[Visited], run: Measuring, job: Job) -> Gated:
    """Measure both ends by the plan, unless that is done, and decide.

    Raises:
        UserError: a tree cannot be made.
        Interrupted: a signal; what was measured stays.
    """
    made = [each.seconds for each in past if each.commit == ENDS]
    seconds = sum(made)
    if not made:
        begin = time.monotonic()
        make_folder(job.out, own=True)
        job, _ = run.measure(job, interim_check)
        seconds = time.monotonic() - begin
        rounds = len({each.build for each in records_of(job.out) if isinstance(each, Execution)})
        note(folder, Visited(time=now(), commit=ENDS, rounds=rounds, seconds=seconds))
    decided = decide_by(
        read_inputs([str(job.out)]), policy_at(job.run, job.project.settings.rules), RulesOptions(), next_plan
    )
    fill(job.out, decided)
    slower = (each for each in decided.report.findings if each.verdict in SLOWER)
    # whose slowdown is largest against its noise
    finding = min(slower, key=lambda each: 1.0 if each.p is None else each.p, default=None)
    case = next((each for each in decided.evidence.cases if finding and case_id(each) == case_id(finding)), None)
    return Gated(decided, records_of(job.out), finding, case, seconds, job.out)
