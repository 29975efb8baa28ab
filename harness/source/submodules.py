"""Fills the submodules of a worktree, from what the user's checkout has before anything is fetched.

Not `git submodule update`: in a worktree that writes to the user's configuration, and a clone into the worktree's git
directory fetches again what the checkout already has.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SourceError
from harness.source.git import Git, without_userinfo


@dataclass(frozen=True, slots=True)
class _Submodule:
    name: str
    path: str
    sha: str


def fill(tree: Git, checkout: Git, common: Path) -> None:
    """Check out each submodule of a worktree at its recorded commit, recursively.

    One that git config turns off (submodule.NAME.update none, submodule.NAME.active false) stays empty, as in git.

    Args:
        tree: git in the worktree.
        checkout: git where the user has the same repository, else in the worktree.
        common: the git directory that may hold modules/.

    Raises:
        SourceError: a submodule's commit is neither here nor at its URL.
    """
    for submodule in _listed(tree):
        if _is_off(tree, checkout, submodule):
            continue
        target = tree.at(tree.directory / submodule.path)
        local = _local(checkout.at(checkout.directory / submodule.path), common / "modules" / submodule.name)
        url = _url(tree, checkout, submodule)
        # worktree add made the empty directory; clone wants none
        shutil.rmtree(target.directory, ignore_errors=True)
        problem = _clone(tree, target, local, url, submodule.sha)
        if problem:
            what = f"submodule {submodule.path} at {submodule.sha[:12]} cannot be fetched"
            source = f" from {without_userinfo(url)}" if url else ""
            advice = "run `git submodule update --init --recursive`"
            leave = f"`git config submodule.{submodule.name}.update none` to leave it out"
            raise SourceError(f"{what}{source} ({problem}): {advice}, or {leave}")
        inside = checkout.at(checkout.directory / submodule.path)
        # an empty directory would answer for the repository around it
        owner = inside if (inside.directory / ".git").exists() else target
        fill(target, owner, local or common / "modules" / submodule.name)


def _listed(tree: Git) -> list[_Submodule]:
    """List the links to commits that .gitmodules gives a name."""
    links = {}
    for entry in tree.entries("ls-files", "--stage", "-z"):
        facts, _, path = entry.partition("\t")
        mode, sha, _ = facts.split(" ")
        if mode == "160000":
            links[path] = sha
    if not links:
        return []
    named = tree.attempt("config", "--file", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    found = []
    for setting in named.stdout.decode(errors="surrogateescape").split("\0"):
        key, _, path = setting.partition("\n")
        name = key[len("submodule.") : -len(".path")]
        # git's own rule for names: they become directories below .git/modules
        if path in links and ".." not in name.replace("\\", "/").split("/"):
            found.append(_Submodule(name, path, links[path]))
    return found


def _is_off(tree: Git, checkout: Git, submodule: _Submodule) -> bool:
    update = _setting(tree, checkout, submodule, "update")
    active = checkout.maybe("config", "--type=bool", "--get", f"submodule.{submodule.name}.active")
    return update == "none" or active == "false"


def _setting(tree: Git, checkout: Git, submodule: _Submodule, key: str) -> str | None:
    name = f"submodule.{submodule.name}.{key}"
    return checkout.maybe("config", "--get", name) or tree.maybe("config", "--file", ".gitmodules", "--get", name)


def _local(checkout: Git, modules: Path) -> Path | None:
    """Find the git directory the user has of a submodule: behind its checkout, else kept from an earlier one."""
    if (checkout.directory / ".git").exists():
        found = checkout.maybe("rev-parse", "--absolute-git-dir")
        if found is not None:
            return Path(found)
    return modules if (modules / "HEAD").is_file() else None


def _url(tree: Git, checkout: Git, submodule: _Submodule) -> str | None:
    url = _setting(tree, checkout, submodule, "url")
    if url is None or not url.startswith(("./", "../")):
        return url
    return relative_url(checkout.maybe("config", "--get", "remote.origin.url") or str(checkout.directory), url)


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


def _clone(parent: Git, target: Git, local: Path | None, url: str | None, sha: str) -> str:
    """Clone and check out; give what went wrong, "" for nothing."""
    directory = str(target.directory)
    # As `git submodule` does: a URL of the repository may not name a transport that runs a command or reads local files
    declared = parent.seeing(GIT_PROTOCOL_FROM_USER="0")
    if local is not None:
        # --shared: all objects of the user's clone, also those no branch reaches
        shared = ("clone", "--quiet", "--shared", "--no-checkout", "--", str(local), directory)
        answer = parent.attempt(*shared, config=("protocol.file.allow=always",))
        if answer.status != 0:
            return answer.reason
        if url is not None:
            # for the relative URLs of its own submodules
            target.run("config", "remote.origin.url", url)
        if target.attempt("cat-file", "-e", sha + "^{commit}").status != 0:
            answer = declared.at(target.directory).attempt("fetch", "--quiet", "--no-tags", "--", url or "origin", sha)
    elif url is None:
        return "it declares no URL"
    else:
        answer = declared.attempt("clone", "--quiet", "--no-checkout", "--", url, directory)
        if answer.status == 0 and target.attempt("cat-file", "-e", sha + "^{commit}").status != 0:
            answer = declared.at(target.directory).attempt("fetch", "--quiet", "--no-tags", "origin", sha)
    if answer.status == 0:
        answer = target.attempt("checkout", "--quiet", "--detach", "--force", sha)
    return answer.reason if answer.status != 0 else ""
