"""The commits of a range by first parents, and the search among them until one holds 95% or the budget ends."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gate.codes import Exit
from gate.commands.bisect.against_good import ENDS, Line, MeasuringError, Pace, Pairs, Seen, Visited, note, seen_in
from gate.model import Commit, UserError
from gate.model.case import CaseId
from gate.run.job import now
from gate.stats.bisection import ENOUGH, Costs, Posterior, Visit, entropy, next_visit, posterior, sets_of
from gate.words.failures import title
from harness.errors import SourceError
from harness.source.repository import Repository

MOST = 5000
"""Commits of a range: of more, git's answer alone takes long."""
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

    Raises:
        SourceError: good is no ancestor of bad; the message says which of several reasons.
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


def parents_of(repository: Repository, sha: str) -> Sequence[str]:
    """Return the parents of a commit."""
    return repository.git.line("rev-list", "--parents", "--max-count=1", sha).split()[1:]


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
    """A search over the commits of a range for the culprit of one case."""

    commits: Sequence[RangeCommit]
    """After good, bad the last."""
    pairs: Pairs
    case: CaseId
    folder: Path
    pace: Pace
    seconds: float
    """Spent so far, the gate over both ends included."""
    budget: float
    rounds: int = 0
    """After that gate."""
    seen: dict[int, Seen] = field(default_factory=dict)
    """By number, from 1."""
    unmeasurable: dict[int, str] = field(default_factory=dict)
    overheads: list[float] = field(default_factory=list)

    def recall(self, past: Sequence[Line]) -> None:
        """Take what an interrupted search measured."""
        numbers = {commit.sha: number for number, commit in enumerate(self.commits, 1)}
        self.seen[len(self.commits)] = seen_in(self.folder / ENDS, self.case)
        for line in past:
            if isinstance(line, Visited) and numbers.get(line.commit, len(self.commits)) < len(self.commits):
                self.rounds += line.rounds
                if line.failed:
                    self.unmeasurable[numbers[line.commit]] = line.failed
        for commit in self.commits[:-1]:
            seen = seen_in(self.pairs.folder_of(commit.sha), self.case)
            if seen.ratios or seen.same:
                self.seen[numbers[commit.sha]] = seen

    def prior(self) -> list[float]:
        """Return what each commit is worth before anything is measured."""
        return [NOTHING if not commit.paths else HARDLY if commit.inert else 1.0 for commit in self.commits]

    def stand(self) -> Stand:
        """Weigh all that was measured."""
        measured = [each for number, seen in self.seen.items() if (each := seen.measured(number)) is not None]
        same = [number for number, seen in self.seen.items() if seen.same]
        found = posterior(self.prior(), measured, same)
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
        costs = Costs(
            float(np.mean(self.overheads or [_OVERHEAD])), self.pace.build, self.pace.round(self.pairs.executions)
        )
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
        commit, begin = self.commits[visit.commit - 1], time.monotonic()
        failed, whole = "", True
        try:
            whole = self.pairs.visit(commit.sha, visit.rounds, self.budget - self.seconds)
        except UserError as error:
            if error.exit_code == Exit.ERROR:
                raise
            failed = str(error)
        seen = seen_in(self.pairs.folder_of(commit.sha), self.case)
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
        self.overheads.append(max(0.0, took - made * self.pace.round(self.pairs.executions)))
        if failed:
            self.unmeasurable[visit.commit] = failed
        if seen.ratios or seen.same:
            self.seen[visit.commit] = seen
        note(self.folder, Visited(time=now(), commit=commit.sha, rounds=made, seconds=took, failed=failed))
