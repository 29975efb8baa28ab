"""The commits of a range: the first parents from bad back to good, with what each of them changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gate.model import Commit
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
_MOVED = re.compile(r" (?:create|delete) mode \d{6} (.*)$")


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
    moved: frozenset[str]
    """Of these what it adds or removes as a file."""
    added: int
    """Lines."""
    removed: int

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
        "log", "--first-parent", "-m", "--reverse", "--no-renames", "--numstat", "--summary",
        f"--format={_RECORD}%H{_FIELD}%an{_FIELD}%aI{_FIELD}%s{_FIELD}", span, config=("core.quotePath=false",),
    ).decode(errors="replace")  # fmt: skip
    found = [commit for record in text.split(_RECORD)[1:] if (commit := _commit(record)).sha in after]
    if len(found) > MOST:
        raise SourceError(f"{len(found)} commits are between good and bad: name a nearer one with --good")
    return tuple(found)


def _commit(record: str) -> RangeCommit:
    sha, author, date, subject, rest = record.split(_FIELD, 4)
    lines = [line.split("\t", 2) for line in rest.splitlines() if line.count("\t") >= 2]
    counts = [(_count(added), _count(removed)) for added, removed, _ in lines]
    paths = tuple(path for _, _, path in lines)
    moved = frozenset(found[1] for line in rest.splitlines() if (found := _MOVED.match(line)))
    return RangeCommit(sha, author, date, subject, paths, moved, sum(a for a, _ in counts), sum(r for _, r in counts))


def _count(text: str) -> int:
    # "-" of a binary file
    return int(text) if text.isdecimal() else 0


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
