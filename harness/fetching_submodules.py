"""Fetches the commits of submodules that a comparison needs, before any code of the project runs.

Worktrees are filled later (harness.submodules), from the checkout's own submodules and without a token.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harness.fetching import REMOTE, Clone
from harness.git import Git

_ADVICE = "add `submodules: recursive` and `fetch-depth: 0` under `with:` of actions/checkout"
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class _Link:
    name: str
    path: str
    sha: str


def fetch_submodules(clone: Clone, common: Path, revisions: tuple[str, ...]) -> tuple[str, ...]:
    """Fetch the submodules' commits that both sides need and the checkout's submodules lack; return warnings.

    common: the git directory that holds modules/. Nothing is cloned: a submodule that is not checked out is cloned for
    each build, without a token.
    """
    warnings: dict[str, None] = {}
    for revision in revisions:
        _fetch_submodules(clone, common, revision, "", warnings)
    return tuple(warnings)


def _fetch_submodules(clone: Clone, common: Path, revision: str, prefix: str, warnings: dict[str, None]) -> None:
    if prefix.count("/") > _DEEPEST:
        return
    for link in _links(clone.git, revision):
        if clone.git.maybe("config", "--get", f"submodule.{link.name}.update") == "none":
            continue
        directory, place = common / "modules" / link.name, prefix + link.path
        if not (directory / "HEAD").is_file():
            warnings[f"submodule {place} is not in the checkout, each build will clone it: {_ADVICE}"] = None
            continue
        # by name, since its own settings may point to a working tree that this checkout lacks; the project's URLs may
        # not name a transport that runs a command
        git = clone.git.at(directory).seeing(
            GIT_DIR=os.fspath(directory), GIT_WORK_TREE=os.fspath(directory), GIT_PROTOCOL_FROM_USER="0"
        )
        inner = Clone(git, git.maybe("remote", "get-url", REMOTE), clone.access)
        problem = inner.bring(link.sha)
        if problem:
            warnings[f"submodule {place} lacks {link.sha[:12]}, which cannot be fetched ({problem}): {_ADVICE}"] = None
        else:
            _fetch_submodules(inner, directory, link.sha, f"{place}/", warnings)


def _links(git: Git, revision: str) -> list[_Link]:
    """List the submodules of a commit that its .gitmodules names."""
    named = git.attempt("config", "--blob", f"{revision}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    paths = {}
    for setting in os.fsdecode(named.stdout).split("\0") if named.status == 0 else ():
        key, _, path = setting.partition("\n")
        name = key[len("submodule.") : -len(".path")]
        # git's own rule for names: they become directories below .git/modules
        if path and ".." not in name.replace("\\", "/").split("/") and not name.startswith("/"):
            paths[path] = name
    found = []
    for entry in git.entries("ls-tree", "-z", "--full-tree", revision, "--", *paths) if paths else ():
        facts, _, path = entry.partition("\t")
        mode, _, sha = facts.split(" ")
        if mode == "160000" and path in paths:
            found.append(_Link(paths[path], path, sha))
    return found
