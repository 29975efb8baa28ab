"""The commits of a range by first parents, and the search among them until one holds 95% or the budget ends."""

from __future__ import annotations

import glob
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np

from gate.cli.groups import MeasureOptions, RulesOptions
from gate.codes import Exit
from gate.commands.bisect.against_good import (
    ENDS,
    CommitSeen,
    Gated,
    MeasuringError,
    Visited,
    note,
    seen_in,
    wanted_executions,
)
from gate.evidence.records import MEASUREMENTS, Appender
from gate.model import Case, Commit, Execution, HostState, UserError
from gate.model.case import CaseId
from gate.report.outputs import make_folder
from gate.run.job import Job, now, prepare
from gate.run.measuring import Measuring
from gate.run.project import Project, with_head
from gate.run.run_folder import records_of
from gate.stats.bisection import ENOUGH, Posterior, Visit, VisitCosts, entropy, next_visit, posterior, sets_of
from gate.store.learning import costs_of
from gate.words.failures import title
from harness.errors import SourceError
from harness.loop.ledger import Ledger
from harness.source.base_and_head import SideSource, overlaid
from harness.source.repository import Repository

MOST = 5000
"""Commits of a range: of more, git's answer alone takes long."""
MOST_ROUNDS = 200
"""Of one commit: what its schedule has room for."""
_RECORD, _FIELD = "\x1e", "\x1f"
_INERT = re.compile(
    r"(^|/)(docs?|documentation|\.github|\.gitlab|\.circleci|\.vscode|\.idea)/"
    r"|\.(md|rst|adoc)$"
    r"|(^|/)(LICEN[CS]E|COPYING|AUTHORS|CONTRIBUTORS|CODEOWNERS|NOTICE|CHANGELOG|CHANGES|NEWS|README|TODO)(\.(txt|html))?$"
    r"|(^|/)\.(gitignore|gitattributes|editorconfig|mailmap|travis\.yml|gitlab-ci\.yml|pre-commit-config\.yaml)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RangeCommit:
    """One commit after good."""

    sha: str
    author: str
    date: str
    """Of the author, ISO 8601."""
    subject: str
    paths: tuple[str, ...]
    """What it changes against the commit before it in the range."""

    @property
    def inert(self) -> bool:
        """Whether it changes nothing but documentation and what a forge or an editor reads, by the names of files."""
        return all(map(_INERT.search, self.paths))


def commits_between(repository: Repository, good: Commit, bad: Commit) -> tuple[RangeCommit, ...]:
    """Return the commits after good up to bad, by first parents: of a default branch, its merges.

    Raises: SourceError: good is no ancestor of bad; the message says which of several reasons.
    """
    first, last = good.sha or "", bad.sha or ""
    git = repository.git
    if first == last:
        raise SourceError(f"good and bad are the same commit, {first[:12]}: name a range with two ends")
    if git.attempt("merge-base", "--is-ancestor", first, last).status != 0:
        raise SourceError(_unrelated(repository, good, bad))
    span = f"{first}..{last}"
    after = set(git.line("rev-list", "--ancestry-path", span).splitlines())
    text = git.run(
        "log", "--first-parent", "-m", "--reverse", "--no-renames", "--name-only",
        f"--format={_RECORD}%H{_FIELD}%an{_FIELD}%aI{_FIELD}%s{_FIELD}", span, config=("core.quotePath=false",),
    ).decode(errors="replace")  # fmt: skip
    found = []
    for record in text.split(_RECORD)[1:]:
        sha, author, date, subject, rest = record.split(_FIELD, 4)
        if sha in after:
            found.append(RangeCommit(sha, author, date, subject, tuple(filter(None, rest.split("\n")))))
    if len(found) > MOST:
        raise SourceError(f"{len(found)} commits are between good and bad: name a nearer one with --good")
    return tuple(found)


def _unrelated(repository: Repository, good: Commit, bad: Commit) -> str:
    git = repository.git
    first, last = good.sha or "", bad.sha or ""
    if git.attempt("merge-base", "--is-ancestor", last, first).status == 0:
        return f"bad ({_name(bad)}) is an ancestor of good ({_name(good)}): swap --good and --bad"
    if repository.shallow:
        return (
            f"good ({_name(good)}) is not among the ancestors of bad ({_name(bad)}) that this shallow clone has: "
            "run `git fetch --unshallow --tags origin` (actions/checkout: fetch-depth: 0)"
        )
    base = git.maybe("merge-base", first, last)
    if base is None:
        return f"good ({_name(good)}) and bad ({_name(bad)}) have no common commit: name an ancestor of bad with --good"
    return (
        f"good ({_name(good)}) is not an ancestor of bad ({_name(bad)}): they diverged at {base[:12]}; "
        f"use --good {base[:12]} if that one was fast"
    )


def _name(commit: Commit) -> str:
    sha = (commit.sha or "")[:12]
    return sha if not commit.ref or sha.startswith(commit.ref[:12]) else f"{commit.ref}, {sha}"


HARDLY = 0.02
"""The prior of a commit that changes documentation only; of others it is 1. Not 0: a build may read a document."""
NOTHING = 1e-6
"""Of a commit that changes no file."""
_SUSPECT = 0.05
"""Twice the probability from which on commits of documentation are measured all the same."""
_OVERHEAD = 2.0
"""Seconds of a visit besides builds and executions, before one was made."""


@dataclass(frozen=True, slots=True)
class Stand:
    """What is known at one moment."""

    found: Posterior
    best: tuple[int, int]
    """The set of commits, first and last, that holds most; one commit where it can be told from its neighbours."""
    probability: float
    """Of that set."""

    @property
    def single(self) -> int | None:
        """The commit of the set that holds 95% by itself, if there is one."""
        first, last = self.best
        inside = self.found.culprits[first - 1 : last]
        return first + int(inside.argmax()) if float(inside.max()) >= ENOUGH else None

    @property
    def done(self) -> bool:
        """Whether more measuring would tell nothing that is asked."""
        return self.probability >= ENOUGH


Told = Callable[["Search", Stand, Visit | None, float], None]
"""Hears what is known, what is measured next (None: nothing), and the seconds that are probably left."""


@dataclass(slots=True)
class Search:
    """A search over the commits of a range for the culprit of one case, within one hold of the machine."""

    measuring: Measuring
    project: Project
    """Of both ends."""
    rules: RulesOptions
    options: MeasureOptions
    """Of the gate over both ends."""
    commits: Sequence[RangeCommit]
    """After good, bad the last."""
    folder: Path
    past: Sequence[Visited]
    """Its journal so far."""
    seed: int
    budget: float
    case: CaseId | None = None
    """Once the gate over both ends has shown one."""
    executions: int = 0
    """Of a round."""
    building: float = 0.0
    """Seconds of the first build of a commit."""
    round: float = 0.0
    """Seconds of a round."""
    seconds: float = 0.0
    """Spent so far, the gate over both ends included."""
    rounds: int = 0
    """After that gate."""
    seen: dict[int, CommitSeen] = field(default_factory=dict)
    """By number, from 1."""
    unmeasurable: dict[int, str] = field(default_factory=dict)
    overheads: list[float] = field(default_factory=list)

    def ends(self) -> Job:
        """Lay out the gate over both ends, or what is left of it.

        Raises: UserError: nothing to measure, or another gate was begun in the folder.
        """
        out = self.folder / ENDS
        return prepare(self.project, replace(self.options, out=out, seed=self.seed), out)

    def hold(self, job: Job) -> None:
        """Hold the machine for the whole search. Raises NotFreeError: another program holds it."""
        self.measuring.hold(job)
        self.measuring = self.measuring.quietly()

    def begin(self, ends: Gated, case: Case, of: CaseId) -> None:
        """Take what the gate over both ends found, and what an interrupted search measured after it."""
        self.case = of
        cost = costs_of(ends.records).get(of.benchmark)
        planned = self.project.settings.rules.plan.executions
        following, execution = (2 * (cost.build or 0.0), cost.execution or 0.0) if cost is not None else (0.0, 0.0)
        self.building = (cost.setup or 0.0) + (cost.first or 0.0) if cost is not None else 0.0
        # the same again for a search that goes on, as both ends are not measured anew
        self.executions = wanted_executions(case, of.statistic, following, execution, planned)
        self.round = following + 2 * self.executions * execution
        self.seconds = ends.seconds + sum(each.seconds for each in self.past if each.commit != ENDS)
        numbers = {commit.sha: number for number, commit in enumerate(self.commits, 1)}
        self.seen[len(self.commits)] = seen_in(self.folder / ENDS, of)
        for line in self.past:
            if numbers.get(line.commit, len(self.commits)) < len(self.commits):
                self.rounds += line.rounds
                if line.failed:
                    self.unmeasurable[numbers[line.commit]] = line.failed
        for commit in self.commits[:-1]:
            seen = seen_in(self.folder / commit.sha[:12], of)
            if seen.ratios or seen.same:
                self.seen[numbers[commit.sha]] = seen

    def stand(self) -> Stand:
        """Weigh all that was measured."""
        ratios = {number: seen.ratios for number, seen in self.seen.items() if seen.ratios}
        same = [number for number, seen in self.seen.items() if seen.same]
        prior = [NOTHING if not commit.paths else HARDLY if commit.inert else 1.0 for commit in self.commits]
        found = posterior(prior, ratios, same)
        sets = sets_of(len(self.commits), self.unmeasurable)
        shares = [float(found.culprits[first - 1 : last].sum()) for first, last in sets]
        best = int(np.argmax(shares))
        return Stand(found, sets[best], shares[best])

    def choose(self, stand: Stand) -> Visit | None:
        """Return what to measure next."""
        last = len(self.commits)
        every = [n for n in range(1, last) if n not in self.unmeasurable and not (n in self.seen and self.seen[n].same)]
        # documents answer what the commits before them do, until what they hold stands in the way
        hardly = [n for n in every if self.commits[n - 1].inert]
        spared = sum(float(stand.found.culprits[n - 1]) for n in hardly) < _SUSPECT / 2
        measurable = [n for n in every if not (spared and n in hardly)] or every
        costs = VisitCosts(float(np.mean(self.overheads or [_OVERHEAD])), self.building, self.round)
        rounds_of = {number: len(seen.ratios) for number, seen in self.seen.items()}
        return next_visit(stand.found, costs, measurable, rounds_of)

    def run(self, told: Told) -> Stand:
        """Search until it is done, or the budget has no room for what comes next.

        Raises:
            MeasuringError: good failed.
            Interrupted: a signal; what was measured stays.
        """
        while True:
            stand = self.stand()
            visit = None if stand.done else self.choose(stand)
            room = self.budget - self.seconds
            if visit is None or visit.seconds > room:
                told(self, stand, None, 0.0)
                return stand
            told(self, stand, visit, min(entropy(stand.found.culprits) / visit.information * visit.seconds, room))
            self._measure(visit)

    def _measure(self, visit: Visit) -> None:
        commit, begin, case = self.commits[visit.commit - 1], time.monotonic(), self.case
        assert case is not None  # noqa: S101  # for types: a search that runs has begun
        failed, whole = "", True
        try:
            whole = self._visit(commit.sha, visit.rounds, case)
        except UserError as error:
            if error.exit_code == Exit.ERROR:
                raise
            failed = str(error)
        seen = seen_in(self.folder / commit.sha[:12], case)
        made = len(seen.ratios) - (len(self.seen[visit.commit].ratios) if visit.commit in self.seen else 0)
        failure = seen.failure if not failed and whole else None
        if failure is not None and failure.side == "base":
            raise MeasuringError(f"good cannot be measured any more: {title(failure)}; see {seen.folder}")
        if failure is not None:
            failed = title(failure)
        elif not failed and whole and not seen.same and made < 1:
            failed = "it gave no values that can be compared"
        took = time.monotonic() - begin
        self.seconds += took
        self.rounds += made
        self.overheads.append(max(0.0, took - made * self.round))
        if failed:
            self.unmeasurable[visit.commit] = failed
        if seen.ratios or seen.same:
            self.seen[visit.commit] = seen
        note(self.folder, Visited(time=now(), commit=commit.sha, rounds=made, seconds=took, failed=failed))

    def _visit(self, sha: str, rounds: int, case: CaseId) -> bool:
        """Measure a commit for some rounds more; every record is on disk before the next step begins.

        Returns whether the budget did not end it.

        Raises:
            UserError: the commit's configuration is wrong, or its tree cannot be made.
            Interrupted: a signal ended it; what was measured stays.
        """
        out = self.folder / sha[:12]
        make_folder(out, own=True)
        # a seed of its own, so that a layout of good is no error that all commits share
        seed = int.from_bytes(hashlib.sha256(f"{self.seed} {sha}".encode()).digest()[:4], "big")
        job = prepare(self._project_at(sha, case), replace(self.options, out=out, seed=seed), out, remembers=False)
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
        left = self.budget - self.seconds
        _, measured = self.measuring.measure(job, seconds=left + Ledger(records, job.session).seconds)
        return measured.stop != "budget"

    def _project_at(self, sha: str, case: CaseId) -> Project:
        ends, sources = self.project, self.project.sources
        overlay = ends.settings.sides["head"].build.overlay
        head = SideSource(Commit(ref=sha[:12], sha=sha), overlaid(ends.repository, sha, sources.head.revision, overlay))
        project = with_head(ends, head, self.rules, [glob.escape(case.benchmark)])
        if overlay:
            revision = overlaid(ends.repository, sources.base.revision, sources.head.revision, overlay)
            base = SideSource(sources.base.commit, revision)
            project = replace(project, sources=replace(project.sources, base=base))
        rules = project.settings.rules
        starts = self.executions * rules.plan.iterations
        plan = msgspec.structs.replace(rules.plan, builds=MOST_ROUNDS, executions=self.executions, starts=starts)
        rules = msgspec.structs.replace(rules, plan=plan)
        return replace(project, settings=replace(project.settings, rules=rules))
