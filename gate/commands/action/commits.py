"""Base and head of an event, and the commits, submodules and files that they need, fetched before project code runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.checkout import is_sha, top_of, tracked_link
from gate.codes import Exit
from gate.github.event import Event, on_default_branch
from gate.model.records import FIRST_PARENT, SideChoice, merge_base
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible
from gate.writing.units import agree
from harness.errors import SourceError
from harness.source import fetching
from harness.source.git import Access, git_of, persisted_token
from harness.source.repository import Repository, find_repository, refuse_several

_ZEROS = frozenset("0")
_NAME = 80
_KNOWN = ("merge_group", "push", "schedule")
"""Events of which it is known what a checkout is compared with."""


class ElsewhereError(SourceError):
    """What is checked out is not what the event is about."""

    exit_code = Exit.ERROR


def refuse_another_checkout(directory: Path, workspace: Path, base: str | None, head: str | None) -> None:
    """Refuse a project behind a link of the commit, or in a submodule if not both inputs name a commit by its id.

    Which folder or repository that is, and what its branches and HEAD are, is for the pull request to say. Where a link
    leads, base may have no project: nothing to compare, and green.

    Raises:
        ElsewhereError: it lies in a submodule.
        SourceError: it lies behind a link.
    """
    link = tracked_link(directory)
    if link is not None:
        raise SourceError(
            f"input working-directory leads through {os.path.relpath(link, workspace)}, a link that git tracks (to "
            f"{link.readlink()}): name the folder itself"
        )
    if base and head and is_sha(base) and is_sha(head):
        return
    top = top_of(directory.resolve())
    while top is not None and top.parent.is_relative_to(workspace):
        outer = top_of(top.parent)
        if (
            outer is not None
            and git_of(outer).attempt("ls-files", "--stage", "--", top.relative_to(outer).as_posix()).stdout
        ):
            raise ElsewhereError(
                f"{os.path.relpath(top, workspace)} is a submodule of the checkout in {outer}, which is what the event "
                "is about: gate it in a workflow of its own repository, or give the inputs base and head the ids of "
                "two of its commits"
            )
        top = outer


@dataclass(frozen=True, slots=True)
class Sides:
    """What head is compared with: a check's --base; None: its own choice.

    how: why this base; None where the check says so itself. warnings: for the reader of the report. compared: the
    commit that it will be, None where unknown.
    """

    base: str | None
    how: SideChoice | None = None
    warnings: tuple[AnyWarning, ...] = ()
    compared: str | None = field(default=None, compare=False)


def fetch_missing(event: Event, token: str | None, directory: Path, base: str | None, head: str | None) -> Sides:
    """Decide what is compared, and fetch what the clone lacks of it: commits, history between them, submodules, files.

    Args:
        token: for the server of the workflow, given to nothing but the git process that asks it; callers take it out of
            their own environment first, since find_repository starts git too.
        directory: in the checkout.
        base, head: the inputs; they win over what the event says.

    Raises:
        SourceError: there is no repository, base is needed, or an input names no one commit; FetchError where something
            is missing and cannot be fetched.
    """
    repository = find_repository(directory)
    clone = fetching.open_clone(repository, Access(event.server_url, token) if token else None)
    branch = event.default_branch
    if event.name == "schedule":
        branch = event.ref.removeprefix("refs/heads/")
    if branch and event.pull is None:
        _name_default(clone, branch)
    tip = _given(clone, head, "head") if head else clone.git.line("rev-parse", "--verify", "HEAD^{commit}")
    if tip is not None and (head is None or base is None):
        _refuse_other_tip(clone, event, tip, chosen=head is None and base is None)
    if base is not None:
        choice = Sides(base, compared=_given(clone, base, "base"))
    elif tip is None:
        choice = Sides(None)
    else:
        choice = _by_event(clone, event, tip, branch, given=head is not None)
    needed = tuple(sha for sha in (tip, choice.compared) if sha)
    clone.bring_files(*needed)
    submodules = fetching.fetch_submodules(clone, repository.common, needed)
    warnings = (*choice.warnings, *submodules, *checkout_warnings(event, repository, clone, choice.compared))
    return replace(choice, warnings=warnings)


def checkout_warnings(
    event: Event, repository: Repository, clone: fetching.Clone | None = None, base: str | None = None
) -> list[AnyWarning]:
    """Tell what is wrong with a checkout: pointers of git lfs, a token left in it.

    base: a commit whose large files are fetched into the clone.
    """
    found: list[AnyWarning] = []
    if files := fetching.lfs_files(repository):
        if empty := fetching.pointers(repository, files):
            is_one = agree(len(empty), "is a Git LFS pointer", "are Git LFS pointers")
            where = "not the content, on both sides: add `lfs: true` under `with:` of actions/checkout"
            found.append(Said(f"{_named(empty)} {is_one}, {where}", "pointers-checked-out", "first"))
        elif clone and base and (problem := fetching.fetch_lfs(clone, base)):
            found.append(Said(f"base's Git LFS files cannot be fetched ({problem})", "lfs-not-fetched"))
    place = persisted_token(repository.git, event.server_url)
    if place:
        left = f"a token for the repository is in {place}, where the benchmarks can read it"
        cure = "add `persist-credentials: false` under `with:` of actions/checkout"
        found.append(Said(f"{left}: {cure}", "token-left", "first"))
    return found


def _named(files: Sequence[str]) -> str:
    return listed([clip(visible(name), _NAME) for name in files])


def name_default_branch(event: Event, directory: Path) -> None:
    """Note which branch is the default of a checkout. Raises SourceError: there is no repository."""
    branch = event.ref.removeprefix("refs/heads/") if event.name == "schedule" else event.default_branch
    if branch:
        _name_default(fetching.open_clone(find_repository(directory), None), branch)


def _name_default(clone: fetching.Clone, branch: str) -> None:
    """Note which branch is the default, as `git clone` does and actions/checkout does not."""
    pointer, target = f"refs/remotes/{fetching.REMOTE}/HEAD", f"refs/remotes/{fetching.REMOTE}/{branch}"
    if clone.git.maybe("symbolic-ref", "--quiet", pointer) is None and clone.find(target):
        clone.git.attempt("symbolic-ref", pointer, target)


def _given(clone: fetching.Clone, ref: str, side: str) -> str | None:
    """Return the commit of an input; None where the check will say what is wrong with it."""
    refuse_several(ref, side)
    found = clone.find(ref) or clone.find(f"{fetching.REMOTE}/{ref}") or _fetched(clone, ref)
    if found is None and clone.shallow:
        raise fetching.FetchError(
            f"{side} {ref} is not in this shallow clone and cannot be fetched: check the name, or {fetching.ADVICE}"
        )
    return found


def _fetched(clone: fetching.Clone, ref: str) -> str | None:
    if is_sha(ref):
        clone.bring(ref)
        return clone.find(ref)
    start = min((ref.find(mark) for mark in "~^@" if mark in ref), default=len(ref))
    name, further = ref[:start], ref[start:]
    if clone.git.attempt("check-ref-format", "--allow-onelevel", name).status != 0:
        return None
    if not (clone.find(name) or clone.find(f"{fetching.REMOTE}/{name}")):
        short = name.removeprefix(f"{fetching.REMOTE}/").removeprefix("refs/heads/").removeprefix("refs/tags/")
        if clone.bring_branch(short):
            clone.bring_tag(short)
    for full in (name, f"{fetching.REMOTE}/{name}"):
        tip = clone.find(full)
        if tip is not None:
            return clone.find_deeper(full + further, tip) if further else tip
    return None


# --- by event ---------------------------------------------------------------------------------------------------------


def _by_event(clone: fetching.Clone, event: Event, tip: str, branch: str | None, *, given: bool) -> Sides:
    """Choose by the event; branch: the default one, None where unknown. given: whether the tip was asked for."""
    if (pull := event.pull) is not None:
        if tip != pull.head_sha:
            base = clone.need(clone.parents(tip)[0], "the first parent of the pull request's merge commit")
            return Sides(base, FIRST_PARENT, (), base)
        clone.need(pull.base_sha, "base of the pull request")
        found = clone.merge_base(pull.base_sha, tip)
        if found is None:
            apart = f"head and the pull request's base ({pull.base_sha[:12]}) have no common commit"
            return Sides(
                pull.base_sha, SideChoice("the pull request's base"), (Said(apart, "no-common-commit"),), pull.base_sha
            )
        return Sides(found, merge_base(pull.base_ref), (), found)
    if event.merge_base is not None:
        base = clone.need(event.merge_base, "base of the merge group")
        return Sides(base, SideChoice("the commit that the merge queue builds on"), (), base)
    if on_default_branch(event):
        if event.name == "push":
            before = event.before
            brought = before and not set(before) <= _ZEROS and before != tip and not clone.bring(before)
            # after a forced push it need not lead to the tip
            if before and brought and (before in clone.parents(tip) or clone.merge_base(before, tip) == before):
                return Sides(before, SideChoice("the commit before this push"), (), before)
            return _before(clone, tip, given=True)
        if not given:
            return _before(clone, tip)
    return Sides(None) if branch is None else _of_default(clone, branch, tip)


def _of_default(clone: fetching.Clone, branch: str, tip: str) -> Sides:
    """Make the check's own choice possible: the merge base with the default branch."""
    target = clone.find(f"refs/remotes/{fetching.REMOTE}/{branch}") or clone.find(f"refs/heads/{branch}")
    if target is None:
        problem = clone.bring_branch(branch)
        target = clone.find(f"refs/remotes/{fetching.REMOTE}/{branch}")
        if target is None:
            raise fetching.FetchError(
                f"the default branch, {branch}, is not here and cannot be fetched ({problem}): {fetching.ADVICE}"
            )
        _name_default(clone, branch)
    found = clone.merge_base(target, tip)
    return _before(clone, tip) if found == tip else Sides(None, compared=found)


def _refuse_other_tip(clone: fetching.Clone, event: Event, tip: str, *, chosen: bool) -> None:
    """Refuse to judge a commit that is not what the event is about; chosen: no input names either side.

    Raises:
        ElsewhereError: of a pull request, it is neither its head nor its merge with the target.
        SourceError: a workflow checked out of its own accord what only its author knows.
    """
    pull = event.pull
    if pull is not None:
        parents = clone.parents(tip)
        if tip != pull.head_sha and (len(parents) != 2 or parents[1] != pull.head_sha):
            raise ElsewhereError(
                f"HEAD ({tip[:12]}) is neither the pull request's head ({pull.head_sha[:12]}) nor its merge with the "
                "target: check out the pull request (actions/checkout without `ref:`), or name both commits in the "
                "inputs base and head"
            )
    if pull is not None or not chosen or event.name in _KNOWN:
        return
    own = [event.sha, clone.find(f"refs/remotes/{fetching.REMOTE}/{event.ref.removeprefix('refs/heads/')}")]
    if tip in own or any(sha and clone.git.attempt("merge-base", "--is-ancestor", tip, sha).status == 0 for sha in own):
        return
    raise SourceError(
        f"is needed: HEAD ({tip[:12]}) is not what {event.name} runs on ({event.sha[:12]}); for a pull request, let "
        "members ask (perfgate init --workflow comment)",
        option="base",
    )


def _before(clone: fetching.Clone, tip: str, *, given: bool = False) -> Sides:
    """Choose the commit before, or with changes in the working tree HEAD itself, as a check does at home."""
    parents = clone.parents(tip)
    if not parents:
        return Sides(None)
    parent = clone.need(parents[0], "the commit before head")
    return Sides(parent, SideChoice("the commit before head"), (), parent) if given else Sides(None, compared=parent)


def checked_out(directory: Path) -> tuple[str, tuple[AnyWarning, ...]]:
    """Read which commit is checked out, and warn where the checkout holds more than it.

    On a person's machine a check judges the working tree. In a workflow that holds what earlier steps left, which base
    would lack: a cache or a built file would decide the verdict.

    Raises: SourceError: there is no repository, or it has no commit.
    """
    git = find_repository(directory).git
    sha = git.line("rev-parse", "--verify", "HEAD^{commit}")
    changed = [
        entry[3:] for entry in git.entries("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")
    ]
    if not changed:
        return sha, ()
    said = f"the checkout has changes that are not in its commit ({_named(changed)}), so they are not measured"
    cure = "make what benchmarks need in [build], or link it with `share`"
    return sha, (Said(f"{said}: {cure}", "checkout-changed", "first"),)
