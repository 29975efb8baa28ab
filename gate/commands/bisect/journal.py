"""The journal of a search: what it is of, and what was measured when; a search goes on from it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gate.checkout import refuse_tracked
from gate.cli.groups import RulesOptions
from gate.decide.decided import Decided, looking
from gate.decide.policy import policy_at
from gate.evidence.inputs import read_inputs
from gate.evidence.records import cut_torn
from gate.model import Case, Execution, Finding, Record, UserError
from gate.model.case import case_id
from gate.planning.deciding import decide_by
from gate.report.outputs import fill, make_folder
from gate.run.job import Job, now
from gate.run.measuring import Measuring
from gate.run.run_folder import records_of

JOURNAL = "bisect.jsonl"
ENDS = "ends"
"""What stands for the commit of the gate over both ends."""


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag="search"):
    """A search; what it is of, the run over both ends says."""

    schema: int = 1
    seed: int


class Visited(msgspec.Struct, frozen=True, kw_only=True, tag="visit"):
    """One measuring. commit: its sha; bad for the gate over both ends."""

    time: str
    commit: str
    rounds: int
    seconds: float
    failed: str = ""
    """Why it cannot be measured; empty: it was."""
    probability: float | None = None
    """Of the commit that was then the most probable."""
    best: str = ""


class Settled(msgspec.Struct, frozen=True, kw_only=True, tag="executions"):
    """How many executions a round of the search has."""

    executions: int


Line = Begun | Visited | Settled


def read_journal(folder: Path) -> list[Line]:
    """Read a journal; nothing where none is. Raises UserError: a line is bad."""
    file = folder / JOURNAL
    if not file.is_file():
        return []
    cut_torn(file)
    try:
        return [msgspec.json.decode(line, type=Line) for line in file.read_bytes().splitlines()]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"--resume: {file}: {error}; start without --resume") from None


def append(folder: Path, line: Line) -> None:
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


def gated(folder: Path, past: Sequence[Line], run: Measuring, job: Job) -> Gated:
    """Measure both ends by the plan, unless that is done, and decide.

    Raises:
        UserError: a tree cannot be made.
        Interrupted: a signal; what was measured stays.
    """
    made = [each.seconds for each in past if isinstance(each, Visited) and each.commit == ENDS]
    seconds = sum(made)
    if not made:
        begin = time.monotonic()
        make_folder(job.out, own=True)
        job = run.measure(job, looking).job
        seconds = time.monotonic() - begin
        rounds = len({each.build for each in records_of(job.out) if isinstance(each, Execution)})
        append(folder, Visited(time=now(), commit=ENDS, rounds=rounds, seconds=seconds))
    decided = decide_by(read_inputs([str(job.out)]), policy_at(job.run, job.project.settings.rules), RulesOptions())
    fill(job.out, decided)
    slower = (each for each in decided.report.findings if each.verdict in SLOWER)
    # whose slowdown is largest against its noise
    finding = min(slower, key=lambda each: 1.0 if each.p is None else each.p, default=None)
    case = next((each for each in decided.evidence.cases if finding and case_id(each) == case_id(finding)), None)
    return Gated(decided, records_of(job.out), finding, case, seconds, job.out)
