"""Fills the submodules of a tree, from what the user's checkout has before anything is fetched.

Not `git submodule update`: that writes to the user's configuration, and fetches again what the checkout already has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SourceError
from harness.source.git import Git, git_of, without_userinfo
from harness.source.repository import Repository
from harness.source.store import Store, lacking_file
from harness.source.tracked import Part


@dataclass(frozen=True, slots=True)
class Submodule:
    """A link to a commit that .gitmodules gives a name."""

    name: str
    path: str
    sha: str


@dataclass(frozen=True, slots=True)
class Owner:
    """The repository that has submodules, as the user has it."""

    checkout: Git | None
    """git where it is checked out; None: nowhere."""
    remote: str
    """Its URL, to which those of its submodules may be relative."""
    directory: Path
    """Its git directory, which may hold modules/; need not exist."""


def of_checkout(repository: Repository) -> Owner:
    """Give the checkout as the owner of its submodules."""
    return Owner(repository.git, repository.origin or str(repository.git.directory), repository.common)


def submodules_at(git: Git, revision: str) -> list[Submodule]:
    """List the submodules of a commit that its .gitmodules names."""
    paths: dict[str, str] = {}
    named = git.attempt("config", "--blob", f"{revision}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    for setting in os.fsdecode(named.stdout).split("\0") if named.status == 0 else []:
        key, _, path = setting.partition("\n")
        name = key[len("submodule.") : -len(".path")]
        # git's own rule for names: they become directories below .git/modules
        if path and key.endswith(".path") and ".." not in name.replace("\\", "/").split("/") and name[:1] != "/":
            paths[path] = name
    found = []
    for entry in git.entries("ls-tree", "-z", "--full-tree", revision, "--", *paths) if paths else ():
        facts, _, path = entry.partition("\t")
        mode, _, sha = facts.split(" ")
        if mode == "160000" and path in paths:
            found.append(Submodule(paths[path], path, sha))
    return found


def fill(store: Store, tree: Path, revision: str, owner: Owner, *, skip_lfs: bool = False) -> list[Part]:
    """Check out each submodule of a tree at its recorded commit, recursively, and name them.

    One that git config turns off (submodule.NAME.update none, submodule.NAME.active false) stays empty, as in git.

    revision: the commit that the tree was exported from. skip_lfs: pointers of git lfs stay pointers.

    Raises:
        SourceError: a submodule's commit is neither here nor at its URL.
    """
    found = []
    for each in _each(store, revision, owner):
        target = tree / each.part.path
        answer = store.export(each.part.revision, target, skip_lfs=skip_lfs)
        if answer.status != 0:
            lacking = lacking_file(answer)
            if lacking is not None:
                where = f"run `git lfs fetch origin {each.part.revision}` in {each.part.path.rstrip('/')}"
                raise SourceError(f"{target / lacking} of git lfs cannot be downloaded: {where}")
            raise each.lacking(answer.reason)
        found.append(each.part)
    return found


def parts(store: Store, revision: str, owner: Owner) -> list[Part]:
    """Name the submodules that `fill` checks out, and make their commits available.

    Raises:
        SourceError: a submodule's commit is neither here nor at its URL.
    """
    return [each.part for each in _each(store, revision, owner)]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A submodule that is checked out, as a part of the tree. url: where it is fetched from."""

    part: Part
    name: str
    url: str | None

    def lacking(self, problem: str) -> SourceError:
        what = f"submodule {self.part.path.rstrip('/')} at {self.part.revision[:12]} cannot be fetched"
        source = f" from {without_userinfo(self.url)}" if self.url else ""
        advice = "run `git submodule update --init --recursive`"
        leave = f"`git config submodule.{self.name}.update none` to leave it out"
        return SourceError(f"{what}{source} ({problem}): {advice}, or {leave}")


def _each(store: Store, revision: str, owner: Owner, within: str = "") -> Iterator[_Wanted]:
    git = store.isolated
    if revision not in store.submodules:
        store.submodules[revision] = submodules_at(git, revision)
    for submodule in store.submodules[revision]:
        declared = _Declared(git, revision, owner, submodule.name)
        if declared.off:
            continue
        inner = _inner(owner, submodule, declared)
        part = Part(f"{within}{submodule.path}/", submodule.sha)
        wanted = _Wanted(part, submodule.name, declared.url)
        problem = _bring(store, submodule.sha, inner, declared.url)
        if problem:
            raise wanted.lacking(problem)
        yield wanted
        yield from _each(store, submodule.sha, inner, part.path)


@dataclass(frozen=True, slots=True)
class _Declared:
    """What the user's configuration and .gitmodules say of a submodule."""

    git: Git
    revision: str
    owner: Owner
    name: str

    @property
    def off(self) -> bool:
        checkout = self.owner.checkout
        active = checkout and checkout.maybe("config", "--type=bool", "--get", f"submodule.{self.name}.active")
        return self._setting("update") == "none" or active == "false"

    @property
    def url(self) -> str | None:
        url = self._setting("url")
        return relative_url(self.owner.remote, url) if url and url.startswith(("./", "../")) else url

    def _setting(self, key: str) -> str | None:
        name = f"submodule.{self.name}.{key}"
        checkout = self.owner.checkout
        blob = f"{self.revision}:.gitmodules"
        own = checkout.maybe("config", "--get", name) if checkout else None
        return own or self.git.maybe("config", "--blob", blob, "--get", name)


def _inner(owner: Owner, submodule: Submodule, declared: _Declared) -> Owner:
    """Find what the user has of a submodule: its checkout, else the git directory kept from an earlier one."""
    kept = owner.directory / "modules" / submodule.name
    if owner.checkout is not None:
        place = owner.checkout.directory / submodule.path
        # an empty directory would answer for the repository around it
        with suppress(SourceError):
            if (place / ".git").exists():
                inside = git_of(place)
                remote = inside.maybe("config", "--get", "remote.origin.url") or str(inside.directory)
                return Owner(inside, remote, Path(inside.environment["GIT_DIR"]))
    return Owner(None, declared.url or str(kept), kept)


def _bring(store: Store, sha: str, inner: Owner, url: str | None) -> str:
    """Make a submodule's commit available; return what went wrong, "" for nothing."""
    objects = inner.directory / "objects"
    if objects.is_dir():
        store.borrow(objects)
    if store.has(sha):
        return ""
    return store.fetch(url, sha) if url is not None else "it declares no URL"


def relative_url(remote: str, url: str) -> str:
    """Resolve a URL that .gitmodules gives relative to the superproject's remote (gitmodules(5))."""
    remote, separator = remote.rstrip("/"), "/"
    while url.startswith(("./", "../")):
        step, _, url = url.partition("/")
        if step == "..":
            # "host:repository" has no slash: what is before the colon stays
            separator = "/" if "/" in remote else ":"
            remote = remote.rpartition(separator)[0]
    return f"{remote}{separator}{url}".rstrip("/")
