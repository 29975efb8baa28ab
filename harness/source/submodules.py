"""Fills the submodules of a tree, from what the user's checkout has before anything is fetched.

Not `git submodule update`: that writes to the user's configuration, and fetches again what the checkout already has.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SourceError
from harness.source.git import Git, git_of, without_userinfo
from harness.source.repository import Repository, TreeEntry, entry
from harness.source.store import Store, lacking_file


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


def submodules_at(git: Git, revision: str) -> list[tuple[str, TreeEntry]]:
    """List the links of a commit to others, each with the name that its .gitmodules gives it."""
    paths: dict[str, str] = {}
    named = git.attempt("config", "--blob", f"{revision}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    for setting in os.fsdecode(named.stdout).split("\0") if named.status == 0 else []:
        key, _, path = setting.partition("\n")
        name = key[len("submodule.") : -len(".path")]
        # git's own rule for names: they become directories below .git/modules
        if path and key.endswith(".path") and ".." not in name.replace("\\", "/").split("/") and name[:1] != "/":
            paths[path] = name
    lines = git.entries("ls-tree", "-z", "--full-tree", revision, "--", *paths) if paths else ()
    links = (each for each in map(entry, lines) if each.mode == "160000" and each.path in paths)
    return [(paths[each.path], each) for each in links]


def parts(
    store: Store, revision: str, owner: Owner, tree: Path | None = None, *, skip_lfs: bool = False, within: str = ""
) -> dict[str, str]:
    """Make the commits of a commit's submodules available, recursively, and name them as parts of its tree.

    One that git config turns off (submodule.NAME.update none, submodule.NAME.active false) stays empty, as in git.

    tree: where each is checked out at its recorded commit, in a tree that was exported from the revision; None:
    nowhere. skip_lfs: pointers of git lfs stay pointers. within: the part that has them, "" for the tree itself.

    Raises: SourceError: a submodule's commit is neither here nor at its URL.
    """
    found: dict[str, str] = {}
    for name, submodule, url in _declared(store, revision, owner):
        place, commit = f"{within}{submodule.path}/", submodule.object
        inner = _inner(owner, name, submodule.path, url)
        if (objects := inner.directory / "objects").is_dir():
            store.borrow(objects)
        problem = ""
        if not store.has(commit):
            problem = "it declares no URL" if url is None else store.fetch(url, commit)
        if tree is not None and not problem:
            answer = store.export(commit, tree / place, skip_lfs=skip_lfs)
            file = lacking_file(answer)
            if answer.status != 0 and file is not None:
                where = f"run `git lfs fetch origin {commit}` in {place.rstrip('/')}"
                raise SourceError(f"{tree / place / file} of git lfs cannot be downloaded: {where}")
            problem = answer.reason if answer.status != 0 else ""
        if problem:
            what = f"submodule {place.rstrip('/')} at {commit[:12]} cannot be fetched"
            source = f" from {without_userinfo(url)}" if url else ""
            advice = "run `git submodule update --init --recursive` (actions/checkout: submodules and fetch-depth: 0)"
            leave = f"`git config submodule.{name}.update none` to leave it out"
            raise SourceError(f"{what}{source} ({problem}): {advice}, or {leave}")
        found |= {place: commit, **parts(store, commit, inner, tree, skip_lfs=skip_lfs, within=place)}
    return found


def _declared(store: Store, revision: str, owner: Owner) -> Iterator[tuple[str, TreeEntry, str | None]]:
    """Give the submodules of a commit that are not turned off: their names, what the commit has, and their URLs."""
    git, checkout = store.isolated, owner.checkout
    if revision not in store.submodules:
        listed = store.files.get((revision,))
        has_none = listed is not None and all(each.mode != "160000" for each in listed)
        store.submodules[revision] = [] if has_none else submodules_at(git, revision)
    for name, submodule in store.submodules[revision]:
        said: dict[str, str | None] = {}
        for key in ("update", "url"):
            # the user's configuration, else .gitmodules
            setting = f"submodule.{name}.{key}"
            own = checkout.maybe("config", "--get", setting) if checkout else None
            said[key] = own or git.maybe("config", "--blob", f"{revision}:.gitmodules", "--get", setting)
        active = checkout and checkout.maybe("config", "--type=bool", "--get", f"submodule.{name}.active")
        if said["update"] != "none" and active != "false":
            url = said["url"]
            yield name, submodule, relative_url(owner.remote, url) if url and url.startswith(("./", "../")) else url


def _inner(owner: Owner, name: str, path: str, url: str | None) -> Owner:
    """Find what the user has of a submodule: its checkout, else the git directory kept from an earlier one."""
    kept = owner.directory / "modules" / name
    if owner.checkout is not None:
        place = owner.checkout.directory / path
        # an empty directory would answer for the repository around it
        with suppress(SourceError):
            if (place / ".git").exists():
                inside = git_of(place)
                remote = inside.maybe("config", "--get", "remote.origin.url") or str(inside.directory)
                return Owner(inside, remote, Path(inside.environment["GIT_DIR"]))
    return Owner(None, url or str(kept), kept)


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
