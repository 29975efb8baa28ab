"""The pin of a creep check, and the tip of the default branch that is compared with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gate.model import Commit
from gate.model.choice import AnyHow, Choice, DefaultTip, Given, LatestTag, PinnedCommit
from gate.model.creep import Pin
from harness.errors import SourceError
from harness.source.base_and_head import Source, Sources, default_branch, fetch_all, find
from harness.source.repository import Repository

LATEST = "latest-tag"
_ADVICE = "name a tag or a commit with `--set creep.against=REF`"


class SamePinError(SourceError):
    """Head is the pin itself: nothing was merged since."""


@dataclass(frozen=True, slots=True)
class Tip:
    """The tip of the default branch, which is head unless another one is named, and always has the rules."""

    branch: str
    source: Source


@dataclass(frozen=True, slots=True)
class Pinned:
    """Both sides of a creep check."""

    pin: Pin
    sources: Sources


def default_tip(repository: Repository, environment: Mapping[str, str]) -> Tip:
    """Find the last commit of the default branch: of this checkout where it is on it, otherwise of the remote.

    Raises:
        SourceError: no default branch is known.
    """
    git = repository.git
    # a scheduled workflow runs on the default branch, and its checkout may name no remote
    names = default_branch(repository, {**environment, "GITHUB_BASE_REF": ""})
    branch = names[0].removeprefix("origin/")
    here = git.maybe("symbolic-ref", "--short", "--quiet", "HEAD") == branch
    name = branch if here else names[0]
    sha = git.line("rev-parse", "--verify", f"{name}^{{commit}}")
    return Tip(name, Source(Commit(ref=name, sha=sha), sha))


def pinned(repository: Repository, tip: Tip, head: str | None, against: str, tags: str) -> Pinned:
    """Choose both sides of a creep check.

    Args:
        head: a ref; None: the tip.
        against: a commit, a tag, or "latest-tag".
        tags: glob of the tags that count.

    Raises:
        SourceError: there is no such commit, or no tag that head has; SamePinError: it is head itself.
    """
    end = tip.source if head is None else find(repository, head, "head")
    sha = end.commit.sha or end.revision
    tag = _nearest(repository, sha, tags) if against == LATEST else None
    try:
        start = find(repository, tag or against, "set creep.against")
    except SourceError as error:
        raise SourceError(f"[creep] against: {error.why}") from None
    if start.commit.sha == sha:
        raise SamePinError(f"[creep]: {tag or against} is head itself ({sha[:12]}): nothing was merged since")
    base = Source(Commit(ref=tag or against, sha=start.commit.sha), start.revision)
    pin = Pin(against=against, tag=tag, sha=base.revision, commits=_between(repository, base.revision, sha))
    how: AnyHow = PinnedCommit(against) if tag is None else LatestTag(tag, tags)
    of_head = DefaultTip(tip.branch) if head is None else Given(head)
    return Pinned(pin, Sources(base, end, Choice(how, of_head), ()))


def _nearest(repository: Repository, head: str, tags: str) -> str:
    """Find the tag with the fewest commits between it and head, annotated or not."""
    found = repository.git.maybe("describe", "--tags", "--abbrev=0", f"--match={tags}", head)
    if found is not None:
        return found
    which = "tag" if tags == "*" else f"tag {tags}"
    if repository.shallow:
        fetch = fetch_all(repository) or "fetch the history"
        raise SourceError(f"[creep]: no {which} in the history of head, which this shallow clone cuts off: {fetch}")
    fetch = f", fetch them with {fetch_all(repository)}" if fetch_all(repository) else ""
    raise SourceError(f"[creep]: no {which} in the history of head{fetch}, or {_ADVICE}")


def _between(repository: Repository, pin: str, head: str) -> int | None:
    if repository.shallow:
        return None
    found = repository.git.maybe("rev-list", "--count", f"{pin}..{head}")
    return int(found) if found is not None else None
