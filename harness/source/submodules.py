"""Fills the submodules of a tree, from what the user's checkout has before anything is fetched.

Not `git submodule update`: that writes to the user's configuration, and fetches again what the checkout already has.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SourceError
from harness.source.git import Git, without_userinfo
from harness.source.repository import Repository
from harness.source.store import Store, lacking_file


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
    return Owner(repository.git, _remote(repository.git), repository.common)


def submodules_at(git: Git, revision: str) -> list[Submodule]:
    """List the submodules of a commit that its .gitmodules names."""
    paths: dict[str, str] = {}
    for setting in _settings(git, revision):
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


def fill(store: Store, tree: Path, revision: str, owner: Owner, *, skip_lfs: bool = False) -> None:
    """Check out each submodule of a tree at its recorded commit, recursively.

    One that git config turns off (submodule.NAME.update none, submodule.NAME.active false) stays empty, as in git.

    Args:
        revision: the commit that the tree was exported from.
        skip_lfs: pointers of git lfs stay pointers.

    Raises:
        SourceError: a submodule's commit is neither here nor at its URL.
    """
    git = store.isolated
    for submodule in submodules_at(git, revision):
        declared = _Declared(git, revision, owner, submodule.name)
        if declared.off:
            continue
        inner = _inner(owner, submodule, declared)
        target = tree / submodule.path
        problem = _bring(store, submodule.sha, inner, declared.url)
        if not problem:
            answer = store.export(submodule.sha, target, skip_lfs=skip_lfs)
            problem = "" if answer.status == 0 else answer.reason
            lacking = lacking_file(answer) if problem else None
            if lacking is not None:
                where = f"run `git lfs fetch origin {submodule.sha}` in {submodule.path}"
                raise SourceError(f"{target / lacking} of git lfs cannot be downloaded: {where}")
        if problem:
            what = f"submodule {submodule.path} at {submodule.sha[:12]} cannot be fetched"
            source = f" from {without_userinfo(declared.url)}" if declared.url else ""
            advice = "run `git submodule update --init --recursive`"
            leave = f"`git config submodule.{submodule.name}.update none` to leave it out"
            raise SourceError(f"{what}{source} ({problem}): {advice}, or {leave}")
        fill(store, target, submodule.sha, inner, skip_lfs=skip_lfs)


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


def _settings(git: Git, revision: str) -> list[str]:
    named = git.attempt("config", "--blob", f"{revision}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    return os.fsdecode(named.stdout).split("\0") if named.status == 0 else []


def _inner(owner: Owner, submodule: Submodule, declared: _Declared) -> Owner:
    """Find what the user has of a submodule: its checkout, else the git directory kept from an earlier one."""
    kept = owner.directory / "modules" / submodule.name
    if owner.checkout is not None:
        inside = owner.checkout.at(owner.checkout.directory / submodule.path)
        # an empty directory would answer for the repository around it
        found = (inside.directory / ".git").exists() and inside.maybe("rev-parse", "--absolute-git-dir")
        if found:
            return Owner(inside, _remote(inside), Path(found))
    return Owner(None, declared.url or str(kept), kept)


def _remote(git: Git) -> str:
    return git.maybe("config", "--get", "remote.origin.url") or str(git.directory)


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
