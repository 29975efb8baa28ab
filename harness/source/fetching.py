"""Fetches what a shallow clone lacks for a comparison, before any code of the project runs.

Never so that a whole clone becomes shallow: a missing commit comes alone (depth 1), for a merge base all of history.
"""

from __future__ import annotations

from dataclasses import dataclass

from gate.codes import Exit
from gate.walking import beginning
from harness.errors import SourceError
from harness.source.git import Access, Git, authorised, plain
from harness.source.repository import Repository, commit_of, names_one, parents_of

REMOTE = "origin"
ADVICE = "add `fetch-depth: 0` under `with:` of actions/checkout"
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules")
_PATIENCE = ("http.lowSpeedLimit=1", "http.lowSpeedTime=120")


class FetchError(SourceError):
    """A commit that is needed is not here and cannot be fetched; a command ends with `exit_code`."""

    exit_code = Exit.ERROR


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone and its origin."""

    git: Git
    """Asks nobody, and has no token."""
    url: str | None
    access: Access | None
    """Who may see which token."""

    @property
    def shallow(self) -> bool:
        """Whether history is cut off somewhere."""
        return self.git.line("rev-parse", "--is-shallow-repository") == "true"

    def find(self, revision: str) -> str | None:
        """Return the commit of a revision; None when it is not here."""
        return commit_of(self.git, revision) if names_one(revision) else None

    def parents(self, sha: str) -> list[str]:
        """Return the parents that a commit names, also those that a shallow clone lacks.

        Raises:
            SourceError: there is no such commit.
        """
        return parents_of(self.git, sha)

    def fetch(self, *refspecs: str, options: tuple[str, ...] = ()) -> str:
        """Fetch from origin; return what went wrong, "" for nothing.

        With the token where it is for origin's server, and otherwise, or when that fails, with what the clone has.
        """
        if self.url is None:
            return f"there is no remote {REMOTE}"
        ways = [self.git]
        if self.access is not None and self.access.covers(self.url):
            ways.insert(0, authorised(self.git, self.url, self.access))
        problems = []
        for git in ways:
            answer = git.attempt(*_FETCH, *options, "--", REMOTE, *refspecs, config=_PATIENCE)
            if answer.status == 0:
                return ""
            problems.append(answer.reason)
        return problems[0]

    def bring(self, sha: str) -> str:
        """Make a commit and its files available; return what went wrong, "" for nothing."""
        return "" if self.find(sha) else self.fetch(sha, options=self._alone())

    def bring_branch(self, name: str) -> str:
        """Make a branch of origin known as origin/name; return what went wrong, "" for nothing."""
        return self.fetch(f"+refs/heads/{name}:refs/remotes/{REMOTE}/{name}", options=self._alone())

    def bring_tag(self, name: str) -> str:
        """Make a tag of origin known; return what went wrong, "" for nothing."""
        return self.fetch(f"refs/tags/{name}:refs/tags/{name}", options=self._alone())

    def need(self, sha: str, what: str) -> str:
        """Make a commit available and return it.

        what: what it is, in words.

        Raises:
            FetchError: it cannot be had.
        """
        problem = self.bring(sha)
        if problem:
            raise FetchError(f"{what} ({sha[:12]}) is not in this clone and cannot be fetched ({problem}): {ADVICE}")
        return sha

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the merge base of two commits that are here, as the whole history has it; None when there is none.

        Raises:
            FetchError: history is missing and cannot be fetched.
        """
        # where history is cut off a nearer one may be hidden; a tip that was never pushed has none to be fetched
        problems = [self.fetch(tip, options=("--unshallow",)) for tip in (one, other) if self.shallow]
        if problems and all(problems):
            raise FetchError(f"history that this shallow clone lacks cannot be fetched ({problems[0]}): {ADVICE}")
        return self.git.maybe("merge-base", one, other)

    def _alone(self) -> tuple[str, ...]:
        # in a clone that has all history --depth would cut it off
        return ("--depth=1",) if self.shallow else ()


def open_clone(repository: Repository, access: Access | None) -> Clone:
    """Return the clone that a checkout belongs to; access: the token and its server."""
    git = plain(repository.git)
    return Clone(git, git.maybe("remote", "get-url", REMOTE), access)


POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LONGEST = 1024
"""Bytes that a pointer has at most, says git lfs."""


def has_pointers(repository: Repository) -> bool:
    """Return whether a checkout has pointers of git lfs in place of files that .gitattributes gives to it."""
    # pathspecs are taken literally elsewhere
    git = repository.git.seeing(GIT_LITERAL_PATHSPECS="0")
    for each in git.entries("ls-files", "-z", "--", ":(attr:filter=lfs)"):
        path = repository.top / each
        start = b"" if path.is_symlink() else beginning(path, _LONGEST + 1)
        if start.startswith(POINTER) and len(start) <= _LONGEST:
            return True
    return False
