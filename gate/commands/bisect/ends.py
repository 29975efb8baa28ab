"""The gate over both ends: whether bad is really slower than good, and in which case most clearly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.cli.groups import RulesOptions
from gate.commands.bisect import journal
from gate.commands.bisect.journal import Visited
from gate.decide.measurements import Decided, decide_by, looking
from gate.decide.policy import policy_at
from gate.evidence.inputs import read_inputs
from gate.model import Case, Execution, Finding, Record
from gate.model.case import case_id
from gate.report.outputs import fill, make_folder
from gate.run.folder import records_of
from gate.run.job import Job, now
from gate.run.measuring import Measuring

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
    others: Sequence[Finding]
    """What else regressed."""
    seconds: float
    folder: Path

    @property
    def findings(self) -> list[Finding]:
        """What was measured."""
        return self.decided.report.findings


def gated(folder: Path, past: Sequence[journal.Line], run: Measuring, job: Job) -> Gated:
    """Measure both ends by the plan, unless that is done, and decide.

    Raises:
        UserError: a tree cannot be made.
        Interrupted: a signal; what was measured stays.
    """
    seconds = sum(each.seconds for each in past if isinstance(each, Visited) and each.commit == journal.ENDS)
    if not any(isinstance(each, Visited) and each.commit == journal.ENDS for each in past):
        begin = time.monotonic()
        make_folder(job.out, own=True)
        job = run.measure(job, looking).job
        seconds = time.monotonic() - begin
        rounds = len({each.build for each in records_of(job.out) if isinstance(each, Execution)})
        journal.append(folder, Visited(time=now(), commit=journal.ENDS, rounds=rounds, seconds=seconds))
    decided = decide_by(read_inputs([str(job.out)]), policy_at(job.run, job.project.settings.rules), RulesOptions())
    fill(job.out, decided)
    slower = sorted((each for each in decided.report.findings if each.verdict in SLOWER), key=_clearness)
    finding = slower[0] if slower else None
    case = None
    if finding is not None:
        wanted = case_id(finding)
        case = next(each for each in decided.evidence.cases if case_id(each) == wanted)
    return Gated(decided, records_of(job.out), finding, case, slower[1:], seconds, job.out)


def _clearness(finding: Finding) -> float:
    """Order findings: the one first whose slowdown is largest against its noise."""
    return finding.p if finding.p is not None else 1.0
