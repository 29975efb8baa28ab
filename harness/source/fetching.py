"""Fetches what a shallow or partial clone lacks for a comparison, before any code of the project runs.

As little as possible, and never in a way that makes a whole clone shallow: a missing commit comes alone (depth 1), and
a merge base is looked for deeper step by step.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gate.codes import Exit
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.walking import beginning
from gate.writing.plain import visible
from harness.errors import SourceError
from harness.source.git import Access, Git, authorised, holds_password, plain
from harness.source.repository import Repository, commit_of, names_one, parents_of
from harness.source.submodules import submodules_at

REMOTE = "origin"
ADVICE = "add `fetch-depth: 0` under `with:` of actions/checkout"
_DEEPER = (32, 256, 2048, None)
"""Commits more of history, step by step; None: all of it."""
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules")
_PATIENCE = ("http.lowSpeedLimit=1", "http.lowSpeedTime=120")
_DEEPEST = 100


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

        Raises: SourceError: there is no such commit.
        """
        return parents_of(self.git, sha)

    def fetch(self, *refspecs: str, options: tuple[str, ...] = (), stdin: bytes = b"") -> str:
        """Fetch from origin; return what went wrong, "" for nothing.

        With the token where it is for origin's server, and otherwise, or when that fails, with what the clone has.
        """
        if self.url is None:
            return f"there is no remote {REMOTE}"
        words = (*_FETCH, *options, "--", REMOTE, *refspecs)
        return _tried(self.gits(self.url), *words, stdin=stdin, config=_PATIENCE)

    def gits(self, url: str) -> list[Git]:
        """Return git with the token for a URL and git without it, in the order to try them; only the latter elsewhere.

        A password in the URL was put there to be used.
        """
        if self.access is None or not self.access.covers(url):
            return [self.git]
        ways = [authorised(self.git, url, self.access), self.git]
        return ways[::-1] if holds_password(url) else ways

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

        Raises: FetchError: it cannot be had.
        """
        problem = self.bring(sha)
        if problem:
            raise FetchError(f"{what} ({sha[:12]}) is not in this clone and cannot be fetched ({problem}): {ADVICE}")
        return sha

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the merge base of two commits that are here, as the whole history has it; None when there is none.

        Raises: FetchError: history is missing and cannot be fetched.
        """
        for steps in (0, *_DEEPER):
            if steps != 0:
                self._deepen(steps, one, other)
            found = self.git.maybe("merge-base", one, other)
            if not self.shallow:
                return found
            if found is not None:
                # where history is cut off between them, a nearer one may be hidden
                listed = set(self.git.line("rev-list", one, other, "--not", found).splitlines())
                cuts = self.git.directory / self.git.line("rev-parse", "--git-path", "shallow")
                if listed.isdisjoint(cuts.read_text(encoding="ascii").splitlines() if cuts.exists() else ()):
                    return found
        return self.git.maybe("merge-base", one, other)

    def find_deeper(self, revision: str, tip: str) -> str | None:
        """Return the commit of a revision such as HEAD~3, fetching history behind a tip until it is there.

        Raises: FetchError: history is missing and cannot be fetched.
        """
        for steps in _DEEPER:
            found = self.find(revision)
            if found is not None or not self.shallow:
                return found
            self._deepen(steps, tip)
        return self.find(revision)

    def bring_files(self, *revisions: str) -> None:
        """Fetch what a partial clone lacks of the files of commits. Raises: FetchError: they cannot be had."""
        if self.git.maybe("config", "--get-regexp", r"^remote\..*\.promisor$") is None:
            return
        for _ in range(_DEEPEST):  # a folder may be missing before what is in it is known
            listed = self.git.run("rev-list", "--objects", "--no-walk", "--missing=print", *revisions).splitlines()
            missing = [line[1:] for line in listed if line.startswith(b"?")]
            if not missing:
                return
            options = ("--filter=blob:none", "--no-write-fetch-head", "--stdin")
            problem = self.fetch(options=options, stdin=b"\n".join(missing) + b"\n")
            if problem:
                advice = f"{ADVICE}, without `filter` and `sparse-checkout`"
                raise FetchError(f"files that this partial clone lacks cannot be fetched ({problem}): {advice}")

    def _alone(self) -> tuple[str, ...]:
        # in a clone that has all history --depth would cut it off
        return ("--depth=1",) if self.shallow else ()

    def _deepen(self, steps: int | None, *tips: str) -> None:
        if not self.shallow:
            return
        option = "--unshallow"
        if steps is not None:
            # git counts from where history is cut off: on the way from one tip that could cut off what another one has
            option = f"--deepen={max(steps, int(self.git.line('rev-list', '--count', *tips)))}"
        problem = self.fetch(*tips, options=(option,))
        if problem and len(tips) > 1:
            # one that was never pushed is no reason to miss the history of the other
            problems = [self.fetch(tip, options=(option,)) for tip in tips]
            problem = problem if all(problems) else ""
        if problem:
            raise FetchError(f"history that this shallow clone lacks cannot be fetched ({problem}): {ADVICE}")


def open_clone(repository: Repository, access: Access | None) -> Clone:
    """Return the clone that a checkout belongs to; access: the token and its server."""
    git = plain(repository.git)
    return Clone(git, git.maybe("remote", "get-url", REMOTE), access)


_DEEPEST_SUBMODULE = 20
_OF_SUBMODULES = "add `submodules: recursive` and `fetch-depth: 0` under `with:` of actions/checkout"


def fetch_submodules(clone: Clone, common: Path, revisions: tuple[str, ...]) -> tuple[AnyWarning, ...]:
    """Fetch the submodules' commits that both sides need and the checkout's submodules lack; return warnings.

    Nothing is cloned: a submodule that is not checked out is fetched when its tree is made, without a token.

    common: the git directory that holds modules/.
    """
    warnings: dict[AnyWarning, None] = {}
    for revision in revisions:
        _fetch_submodules(clone, common, revision, "", warnings)
    return tuple(warnings)


def _fetch_submodules(clone: Clone, common: Path, revision: str, prefix: str, warnings: dict[AnyWarning, None]) -> None:
    if prefix.count("/") > _DEEPEST_SUBMODULE:
        return
    for name, link in submodules_at(clone.git, revision):
        if clone.git.maybe("config", "--get", f"submodule.{name}.update") == "none":
            continue
        directory, place = common / "modules" / name, prefix + link.path
        if not (directory / "HEAD").is_file():
            absent = f"submodule {visible(place)} is not in the checkout, so perfgate fetches it"
            warnings[Said(f"{absent}: {_OF_SUBMODULES}", "submodule-absent")] = None
            continue
        # by name, since its own settings may point to a working tree that this checkout lacks; the project's URLs may
        # not name a transport that runs a command
        git = replace(clone.git, directory=directory).seeing(
            GIT_DIR=os.fspath(directory), GIT_WORK_TREE=os.fspath(directory), GIT_PROTOCOL_FROM_USER="0"
        )
        inner = Clone(git, git.maybe("remote", "get-url", REMOTE), clone.access)
        problem = inner.bring(link.object)
        if problem:
            lacks = f"submodule {visible(place)} lacks {link.object[:12]}, which cannot be fetched ({problem})"
            warnings[Said(f"{lacks}: {_OF_SUBMODULES}", "submodule-lacks-commit")] = None
        else:
            _fetch_submodules(inner, directory, link.object, f"{place}/", warnings)


POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LONGEST = 1024
"""Bytes that a pointer has at most, says git lfs."""


def lfs_files(repository: Repository) -> list[str]:
    """List the files that .gitattributes gives to git lfs, as paths of the repository."""
    # pathspecs are taken literally elsewhere
    git = repository.git.seeing(GIT_LITERAL_PATHSPECS="0")
    return git.entries("ls-files", "-z", "--", ":(attr:filter=lfs)")


def pointers(repository: Repository, files: Sequence[str]) -> list[str]:
    """Return those of a checkout's files that are pointers: git lfs did not put the content in their place."""
    found = []
    for each in files:
        path = repository.top / each
        start = b"" if path.is_symlink() else beginning(path, _LONGEST + 1)
        if start.startswith(POINTER) and len(start) <= _LONGEST:
            found.append(each)
    return found


def fetch_lfs(clone: Clone, revision: str) -> str:
    """Fetch the content that a commit needs into the local store of git lfs; return what went wrong, "" for nothing.

    Trees take it from there; without it git lfs would ask the server for it, later and without a token. Where git
    lfs is not installed nothing is asked for: such a checkout holds pointers.
    """
    if clone.url is None or clone.git.attempt("lfs", "version").status != 0:
        return ""
    gits = [clone.git]
    if clone.access is not None and clone.access.covers(clone.url):
        # its server is another path of the same host
        gits.insert(0, authorised(clone.git, clone.access.server_url + "/", clone.access))
    return _tried(gits, "lfs", "fetch", REMOTE, revision)


def _tried(gits: Iterable[Git], *words: str, stdin: bytes = b"", config: tuple[str, ...] = ()) -> str:
    """Run git in one way after the other until one works; return why the first did not, "" where one did."""
    problems = []
    for git in gits:
        answer = git.attempt(*words, stdin=stdin, config=config)
        if answer.status == 0:
            return ""
        problems.append(answer.reason)
    return problems[0]
