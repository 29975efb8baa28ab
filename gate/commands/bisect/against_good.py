"""What is measured of commits against good, each in a folder that `perfgate report` reads, and the journal of it."""

from __future__ import annotations

import glob
import hashlib
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from gate.checkout import refuse_tracked
from gate.cli.groups import MeasureOptions, RulesOptions
from gate.codes import Exit
from gate.decide.decided import Decided, looking
from gate.decide.policy import policy_at
from gate.evidence.gather import gather
from gate.evidence.inputs import MEASUREMENTS, read_inputs
from gate.evidence.records import Appender, cut_torn
from gate.evidence.runs import config_of, run_of
from gate.model import Case, Commit, Execution, Failure, Finding, HostState, Record, UserError
from gate.model.case import CaseId, case_id, center_of
from gate.planning.deciding import decide_by
from gate.report.outputs import fill, make_folder
from gate.run.job import Job, now, prepare
from gate.run.measuring import Measuring
from gate.run.project import Project, with_head
from gate.run.run_folder import records_of
from gate.stats.bisection import Measured, executions_for
from gate.stats.estimate import reduce
from gate.stats.levels import tops_of, variances
from gate.stats.ratio import matched
from gate.stats.round_ratio import logs_of
from gate.store.learning import costs_of
from harness.loop.ledger import Ledger
from harness.source.base_and_head import Source, overlaid

MOST = 200
"""Rounds of one commit: what its schedule has room for."""


class MeasuringError(UserError):
    """Good cannot be measured any more, or the machine is not free; the command line is not at fault."""

    exit_code = Exit.ERROR


@dataclass(frozen=True, slots=True)
class Seen:
    """What the measurements of one commit against good say."""

    ratios: tuple[float, ...]
    """ln(commit/good) of each complete round; above 0 is slower, or less of what is better when higher."""
    same: bool
    """Proved to run the same program on the same data as good."""
    failure: Failure | None
    folder: Path

    def measured(self, commit: int) -> Measured | None:
        """Return the rounds as the statistics take them; None: there are none."""
        if not self.ratios:
            return None
        values = np.array(self.ratios)
        mean = float(values.mean())
        return Measured(commit, len(values), mean, float(((values - mean) ** 2).sum()))


def seen_in(folder: Path, case: CaseId) -> Seen:
    """Read what a folder holds of a case; nothing where nothing was measured yet. Raises UserError: a bad line."""
    inputs = read_inputs([str(folder)]) if (folder / MEASUREMENTS).is_file() else None
    config = config_of(run_of(inputs.records)) if inputs is not None else None
    if inputs is None or config is None:
        return Seen((), same=False, failure=None, folder=folder)
    evidence = gather(inputs.records, config, measured=config)
    found = next((each for each in evidence.cases if case_id(each) == case._replace(statistic="")), None)
    ratios = ratios_of(found, case.statistic) if found is not None else ()
    failures = [each for each in evidence.failures if each.kind != "missing" or not ratios]
    return Seen(ratios, bool(evidence.identical) and found is None, failures[0] if failures else None, folder)


def ratios_of(case: Case, statistic: str) -> tuple[float, ...]:
    """Return ln(head/base) of each complete round, above 0 where head is worse."""
    reduced = reduce(case.base, case.head, center_of(statistic), exact=case.exact)
    if reduced.shortage is not None or not reduced.base.n or not reduced.head.n:
        return ()
    base, head = map(logs_of, matched(reduced.base, reduced.head))
    if base is None or head is None:
        return ()
    sign = 1 if case.better == "lower" else -1
    return tuple(float(each) for each in sign * (head.values - base.values))


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of the steps of a search, as the gate over both ends took them."""

    build: float
    """First build of a commit."""
    following: float
    """Builds of both sides in a later round."""
    execution: float

    def round(self, executions: int) -> float:
        """Return the seconds of a round."""
        return self.following + 2 * executions * self.execution


def pace_of(records: Sequence[Record], case: CaseId) -> Pace:
    """Return what steps took, by what builds and executions of the case's benchmark cost."""
    cost = costs_of(records).get(case.benchmark)
    if cost is None:
        return Pace(0.0, 0.0, 0.0)
    return Pace((cost.setup or 0.0) + (cost.first or 0.0), 2 * (cost.build or 0.0), cost.execution or 0.0)


def wanted_executions(case: Case, statistic: str, pace: Pace, planned: int) -> int:
    """Return how many executions a round of the search has: what gives most for its time, at most those of the plan."""
    ratios = ratios_of(case, statistic)
    if center_of(statistic) is not None or planned < 2 or len(ratios) < 3:
        return planned
    execution = 0.0
    for sample in (case.base, case.head):
        mean = tops_of(sample).mean
        level = next((each for each in variances(sample) if each.level == "execution"), None)
        if level is None or mean == 0:
            return planned
        execution += level.s2 / mean**2
    build = float(np.var(ratios, ddof=1)) - execution / planned
    return executions_for(build, execution, pace.following, 2 * pace.execution, planned)


@dataclass(slots=True)
class Pairs:
    """What measures commits of a range against good, under one seed, within one hold of the machine."""

    run: Measuring
    project: Project
    """Of both ends."""
    rules: RulesOptions
    options: MeasureOptions
    """Of the gate over both ends."""
    folder: Path
    """Of the search."""
    seed: int
    case: CaseId | None = None
    executions: int = 0
    """Of a round, once the gate over both ends has shown what serves."""

    def ends(self) -> Job:
        """Lay out the gate over both ends, or what is left of it.

        Raises:
            UserError: nothing to measure, or another gate was begun in the folder.
        """
        out = self.folder / ENDS
        return prepare(self.project, replace(self.options, out=out, seed=self.seed), out)

    def hold(self, job: Job) -> None:
        """Hold the machine for the whole search. Raises NotFreeError: another program holds it."""
        self.run.hold(job)
        self.run = self.run.quietly()

    def folder_of(self, sha: str) -> Path:
        """Name the folder of a commit's measurements."""
        return self.folder / sha[:12]

    def visit(self, sha: str, rounds: int, left: float) -> bool:
        """Measure a commit for some rounds more; every record is on disk before the next step begins.

        Returns whether the budget did not end it.

        left: seconds of the budget.

        Raises:
            UserError: the commit's configuration is wrong, or its tree cannot be made.
            Interrupted: a signal ended it; what was measured stays.
        """
        out = self.folder_of(sha)
        make_folder(out, own=True)
        # a seed of its own, so that a layout of good is no error that all commits share
        seed = int.from_bytes(hashlib.sha256(f"{self.seed} {sha}".encode()).digest()[:4], "big")
        options = replace(self.options, out=out, seed=seed)
        job = prepare(self._project_at(sha), options, out, remembers=False)
        records = records_of(out) if job.resumes else ()
        made = Counter(each.build for each in records if isinstance(each, Execution))
        # of those begun the complete ones
        whole = sum(count == max(made.values()) for count in made.values())
        last = next((each for each in reversed(records) if isinstance(each, HostState)), None)
        if last is not None and last.stop == "budget":
            # a search that goes on has a new one
            with Appender(out / MEASUREMENTS) as append:
                append(HostState(when="begin", session=job.session, time=now()))
        job = replace(job, rounds=job.rounds[: whole + rounds])
        done = self.run.measure(job, seconds=left + Ledger(records, job.session).seconds)
        return done.measured.stop != "budget"

    def _project_at(self, sha: str) -> Project:
        if self.case is None:
            raise ValueError("no case is chosen yet")
        ends = self.project
        overlay = ends.settings.sides["head"].build.overlay
        repository = ends.repository
        revision = overlaid(repository, sha, ends.sources.head.revision, overlay)
        head = Source(Commit(ref=sha[:12], sha=sha), revision)
        project = with_head(ends, head, self.rules, [glob.escape(self.case.benchmark)])
        if overlay:
            good = ends.sources.base
            base = Source(good.commit, overlaid(repository, good.revision, ends.sources.head.revision, overlay))
            project = replace(project, sources=replace(project.sources, base=base))
        rules = project.settings.rules
        starts = self.executions * rules.plan.iterations
        plan = msgspec.structs.replace(rules.plan, builds=MOST, executions=self.executions, starts=starts)
        rules = msgspec.structs.replace(rules, plan=plan)
        return replace(project, settings=replace(project.settings, rules=rules))


JOURNAL = "bisect.jsonl"
ENDS = "ends"
"""What stands for the commit of the gate over both ends."""


class Started(msgspec.Struct, frozen=True, kw_only=True, tag="search"):
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


Line = Started | Visited


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


def note(folder: Path, line: Line) -> None:
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
        note(folder, Visited(time=now(), commit=ENDS, rounds=rounds, seconds=seconds))
    decided = decide_by(read_inputs([str(job.out)]), policy_at(job.run, job.project.settings.rules), RulesOptions())
    fill(job.out, decided)
    slower = (each for each in decided.report.findings if each.verdict in SLOWER)
    # whose slowdown is largest against its noise
    finding = min(slower, key=lambda each: 1.0 if each.p is None else each.p, default=None)
    case = next((each for each in decided.evidence.cases if finding and case_id(each) == case_id(finding)), None)
    return Gated(decided, records_of(job.out), finding, case, seconds, job.out)
