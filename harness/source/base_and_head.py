"""Base and head of a run: chosen with the reason, the working tree as it is, and commits that differ in some files.

Commits that no branch sees are made in perfgate's own store: nothing of the user's repository changes.
"""

import difflib
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.model import Commit, Side
from gate.model.history import Pin
from gate.model.records import FIRST_PARENT, Choice, SideChoice, given, merge_base
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.writing.phrases import listed
from gate.writing.units import plural
from harness.errors import SourceError
from harness.source.git import Git
from harness.source.repository import CONFIG_FILE, Repository, commit_of, files_at, parents_of, refuse_several

DEFAULT_BRANCHES = ("main", "master")
_EVERY = "+refs/heads/*:refs/remotes/origin/*"
"""What a whole clone fetches."""


@dataclass(frozen=True, slots=True)
class SideSource:
    """One side: the commit as reports name it, and the revision that is checked out.

    revision is commit.sha, or the commit that perfgate made of the working tree or with overlaid paths.
    """

    commit: Commit
    revision: str


@dataclass(frozen=True, slots=True)
class Sources:
    """Both sides, and how they were chosen."""

    base: SideSource
    head: SideSource
    choice: Choice
    warnings: tuple[AnyWarning, ...]

    def of(self, side: Side) -> SideSource:
        """Give one side."""
        return self.base if side == "base" else self.head


def resolve(
    repository: Repository, *, base: str | None, head: str | None, environment: Mapping[str, str],
    leave_out: Collection[str] = (),
) -> Sources:  # fmt: skip
    """Choose base and head.

    base: a ref; None: the merge base with the default branch, on that branch what its remote has or else the commit
    before, in a pull request's merge commit its first parent. head: a ref; None: the working tree as it is.
    environment: tells of CI. leave_out: untracked paths that are no part of head.

    Raises: SourceError: a ref is unknown, or there is nothing to compare with.
    """
    warnings: list[AnyWarning] = []
    if head is not None:
        end = find(repository, head, "head")
        of_head = given(end.commit.ref or head)
    else:
        end, of_head = _checkout(repository, leave_out, warnings)
    if base is None:
        start, of_base = _default_base(repository, end, environment, named=head is not None)
        return Sources(start, end, Choice(of_base, of_head), tuple(warnings))
    start = find(repository, base, "base")
    if not repository.shallow and start.commit.sha != end.commit.sha:
        extra = repository.git.line("rev-list", "--count", f"{end.commit.sha}..{start.commit.sha}")
        if extra != "0":
            ahead = f"base ({base}) has {plural(int(extra), 'commit')} that head lacks"
            warnings.append(Said(f"{ahead}: their effect counts as a change by head", "base-ahead"))
    return Sources(start, end, Choice(given(start.commit.ref or base), of_head), tuple(warnings))


def _checkout(
    repository: Repository, leave_out: Collection[str], warnings: list[AnyWarning]
) -> tuple[SideSource, SideChoice]:
    """Take the checkout as it is: the last commit, with tracked changes and untracked files that are not ignored.

    They go through a temporary index into perfgate's own store, as a commit that no branch sees.

    leave_out: paths of the repository that are left out where git does not track them (perfgate's own outputs).
    warnings: what is to be said is added.

    Raises: SourceError: the tree has unmerged files, or git cannot read a file.
    """
    git = repository.store.reading_files
    listing = ("-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
    told = git.entries("status", "--porcelain=v2", "--branch", "--no-ahead-behind", *listing)
    headers = dict(entry.split(" ")[1:3] for entry in told if entry.startswith("# "))
    sha, ref = headers["branch.oid"], headers["branch.head"]
    where = f"on {ref}" if ref != "(detached)" else f"at the detached {sha[:12]}"
    ref = ref if ref != "(detached)" else "HEAD"
    last = SideSource(Commit(ref=ref, sha=sha), sha), SideChoice(f"the last commit {where}")
    others = [entry.removeprefix("? ") for entry in told if entry.startswith("? ")]
    status = [entry for entry in told if not entry.startswith(("# ", "? "))]
    unmerged = [entry.split(" ", 10)[-1] for entry in status if entry.startswith("u ")]
    if unmerged:
        advice = "resolve and `git add` them, or name a commit with --head"
        raise SourceError(f"the checkout has unmerged files ({listed(unmerged)}): {advice}")
    # 1 XY S<commit><modified><untracked> mH mI mW hH hI path
    fields = [each for entry in status if len(each := entry.split(" ", 8)) == 9]
    warnings += [
        Said(f"submodule {each[8]} has uncommitted changes: its commit is measured without them", place="first")
        for each in fields
        if each[2].startswith("S") and each[2][2:] != ".."
    ]
    left_out = tuple(f"{path}/" for path in leave_out)
    # a folder is a repository of its own, which git leaves out
    untracked = [name for name in others if not (name.endswith("/") or f"{name}/".startswith(left_out))]
    if not status and not untracked:
        return last
    with repository.store.index() as index:
        # The user's index rather than HEAD's tree: it knows sparse paths and makes the comparison fast. copy2 keeps
        # its time, by which git tells entries that may have changed since ("racy git").
        own = Path(git.environment["GIT_DIR"], "index")
        if own.exists():
            shutil.copy2(own, index.environment["GIT_INDEX_FILE"])
        answer = index.attempt("add", "--update")
        if answer.status == 0 and untracked:
            # --remove: a file that vanished since it was listed is no error
            names = b"".join(os.fsencode(name) + b"\0" for name in untracked)
            answer = index.attempt("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names)
        if answer.status != 0:
            advice = "make it readable, or name it in .gitignore; --head HEAD measures the last commit"
            raise SourceError(f"the working tree cannot be taken as it is: {answer.reason}: {advice}")
        tree = index.line("write-tree")
    revision = _commit(repository.store.writing, tree, sha, "perfgate: the working tree")
    if revision == sha:
        return last
    changes = repository.git.entries("diff-tree", "-r", "-z", "--name-only", sha, revision)
    count = plural(len(changes), "file") + (f", {len(untracked)} untracked" if untracked else "")
    commit = Commit(ref=ref, sha=sha, dirty=True, tree=tree)
    return SideSource(commit, revision), SideChoice(f"the working tree {where} with uncommitted changes ({count})")


def find(repository: Repository, ref: str, option: str) -> SideSource:
    """Find the commit of a ref; a branch that only the remote has is found there.

    Raises: SourceError: there is none, or several are named; option: where the ref was given.
    """
    git = repository.git
    if not ref.strip():
        raise SourceError("is empty: write a branch, a tag or a commit", option=option)
    refuse_several(ref, option)
    for name in (ref, f"origin/{ref}"):
        sha = commit_of(git, name)
        if sha is not None:
            return SideSource(Commit(ref=name, sha=sha), sha)
    names = git.line("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
    near = difflib.get_close_matches(ref, names.splitlines(), n=3)
    similar = f"; similar names: {', '.join(near)}" if near else ""
    fetch = fetch_all(repository)
    where = "in this shallow clone" if repository.shallow else "here"
    # what the clone left out is looked for before a misspelling
    if fetch and (repository.shallow or _narrow(repository)):
        raise SourceError(f"{ref}: no such commit {where}: {fetch}{similar}", option=option)
    check = f": check the name{f', or {fetch}' if fetch else ''}"
    raise SourceError(f"{ref}: no such commit {where}{similar or check}", option=option)


def fetch_all(repository: Repository) -> str:
    """Name the command that fetches whatever a base may be: every branch and tag, whole; "" without a remote.

    Whoever cloned one branch only, as --depth does, gets no other one by a plain `git fetch`.
    """
    git = repository.git
    if not git.maybe("remote", "get-url", "origin"):
        return ""
    unshallow = " --unshallow" if repository.shallow else ""
    branches = f" '{_EVERY}'" if _narrow(repository) else ""
    command = f"`git fetch{unshallow} --tags origin{branches}`"
    return f"{command} (actions/checkout: fetch-depth: 0)" if repository.shallow else command


def _narrow(repository: Repository) -> bool:
    """Return whether a plain `git fetch` leaves out branches of the remote."""
    return _EVERY not in (repository.git.maybe("config", "--get-all", "remote.origin.fetch") or "").splitlines()


def _default_base(
    repository: Repository, head: SideSource, environment: Mapping[str, str], *, named: bool
) -> tuple[SideSource, SideChoice]:
    git, sha = repository.git, head.commit.sha or "HEAD"
    if not named and _is_pull_merge(repository, sha, environment):
        parent = parents_of(git, sha)[0]
        _require(repository, parent, f"the first parent of the pull request's merge commit ({parent[:12]})")
        name = environment.get("GITHUB_BASE_REF") or environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or "HEAD^1"
        return SideSource(Commit(ref=name, sha=parent), parent), FIRST_PARENT
    tips = default_branch(repository, environment)
    names = list(tips)
    branch = names[0].removeprefix("origin/")
    here = not named and head.commit.ref == branch
    common = {each: git.maybe("merge-base", sha, each) for each in names}
    nearest = git.maybe("merge-base", sha, *names) if len(names) > 1 else common[names[0]]
    if nearest is None and not here:
        cut = "the clone is shallow: " if repository.shallow else ""
        fetch = f"{fetch_all(repository)}, or " if cut and fetch_all(repository) else ""
        raise SourceError(f"head and {names[0]} have no common commit: {cut}{fetch}name the base with --base REF")
    # the one of them that it is the merge base with
    name = next((each for each in names if common[each] == nearest), names[0])
    if nearest is not None and not here and nearest != sha:
        return _merge_base(nearest, name, tips), merge_base(name)
    why = f"head is on {branch} itself" if here else f"{name} has all commits of head"
    parents = parents_of(git, sha)
    if head.commit.dirty:
        changed = git.entries("diff-tree", "-r", "-z", "--name-only", sha, head.revision)
        config = repository.inside(CONFIG_FILE)
        # as `init` leaves it, a configuration that the commit lacks is no change to measure
        if not parents or changed != [config] or files_at(repository, sha, config):
            return SideSource(Commit(ref="HEAD", sha=sha), sha), SideChoice(
                f"HEAD, because {why} and the tree has changes"
            )
    remote = names[0]
    pushed = common[remote]
    if pushed is not None and pushed != sha and remote != branch:
        lacks = plural(int(git.line("rev-list", "--count", f"{remote}..{sha}")), "commit")
        has = f"is on {branch} with {lacks}" if here else f"has {lacks} of {branch}"
        text = f"the merge base with {remote}, because head {has} that {remote} does not have"
        return _merge_base(pushed, remote, tips), SideChoice(text)
    if not parents:
        raise SourceError(
            "nothing to compare: head is the first commit and the tree is clean: "
            "change or commit something, or name two commits with --base and --head"
        )
    _require(repository, parents[0], f"the commit before head ({parents[0][:12]})")
    before = Commit(ref=f"{head.commit.ref or 'HEAD'}~1", sha=parents[0])
    return SideSource(before, parents[0]), SideChoice(f"the commit before head, because {why}")


def _merge_base(sha: str, branch: str, tips: Mapping[str, str]) -> SideSource:
    """Name the merge base with a branch: as that branch where it is its tip."""
    return SideSource(Commit(ref=branch if tips[branch] == sha else f"merge base with {branch}", sha=sha), sha)


def _require(repository: Repository, sha: str, what: str) -> None:
    if repository.git.attempt("cat-file", "-e", sha + "^{commit}").status != 0:
        cause = "the clone is shallow" if repository.shallow else "the object is missing"
        advice = fetch_all(repository) or "name the base with --base REF"
        raise SourceError(f"{what} is not here, {cause}: {advice}")


def _is_pull_merge(repository: Repository, sha: str, environment: Mapping[str, str]) -> bool:
    """Return whether a commit is the merge that CI made of a pull request and its target.

    A push of a branch whose last commit is a merge looks the same but for the ref: its first parent is no base.
    """
    if not environment.get("CI") or len(parents_of(repository.git, sha)) != 2:
        return False
    if environment.get("CI_MERGE_REQUEST_EVENT_TYPE") in ("merged_result", "merge_train"):  # GitLab
        return environment.get("CI_COMMIT_SHA", sha) == sha
    if re.fullmatch(r"refs/pull/\d+/merge", environment.get("GITHUB_REF", "")):
        return environment.get("GITHUB_SHA", sha) == sha
    names = repository.git.line("for-each-ref", "--points-at", sha, "--format=%(refname)")
    return any(re.search(r"/pull/\d+/merge$", name) for name in names.splitlines())


def default_tips(git: Git, environment: Mapping[str, str]) -> dict[str, str]:
    """Find the branch that changes go to: its last commit as the remote and as this clone have it, by name.

    Empty: none is known.
    """
    target = environment.get("GITHUB_BASE_REF", "") if environment.get("CI") else ""
    pointer = git.maybe("symbolic-ref", "--short", "--quiet", "refs/remotes/origin/HEAD") or ""
    names = [*filter(None, (target, pointer.removeprefix("origin/"))), *DEFAULT_BRANCHES]
    places = (("origin/", "refs/remotes/origin/"), ("", "refs/heads/"))
    refs = [full + name for name in names for _, full in places]
    listed = git.line("for-each-ref", "--format=%(refname) %(objectname)", *refs)
    known = dict(line.split(" ") for line in listed.splitlines())
    every = ({short + name: known[full + name] for short, full in places if full + name in known} for name in names)
    return next(filter(None, every), {})


def default_branch(repository: Repository, environment: Mapping[str, str]) -> dict[str, str]:
    """Give default_tips. Raises: SourceError: no default branch is known."""
    found = default_tips(repository.git, environment)
    if found:
        return found
    fetch = fetch_all(repository)
    looked = ", ".join(("origin/HEAD", *DEFAULT_BRANCHES))
    known = f", or {fetch}, then `git remote set-head origin --auto`" if fetch else ""
    raise SourceError(f"no default branch found (looked for {looked}): name the base with --base REF{known}")


LATEST = "latest-tag"


class SamePinError(SourceError):
    """Head is the pin itself: nothing was merged since."""


def default_tip(repository: Repository, environment: Mapping[str, str]) -> SideSource:
    """Find the last commit of the default branch: of this checkout where it is on it, otherwise of the remote.

    It has the rules of a creep check, and is head unless another commit is named.

    Raises: SourceError: no default branch is known.
    """
    # a scheduled workflow runs on the default branch, and its checkout may name no remote
    tips = default_branch(repository, {**environment, "GITHUB_BASE_REF": ""})
    first = next(iter(tips))
    branch = first.removeprefix("origin/")
    here = repository.git.maybe("symbolic-ref", "--quiet", "HEAD") == f"refs/heads/{branch}"
    name = branch if here else first
    return SideSource(Commit(ref=name, sha=tips[name]), tips[name])


def pinned(repository: Repository, tip: SideSource, head: str | None, against: str, tags: str) -> tuple[Pin, Sources]:
    """Choose both sides of a creep check.

    head: a ref; None: the tip. against: a commit, a tag, or "latest-tag". tags: glob of the tags that count.

    Raises: SourceError: there is no such commit, or no tag that head has; SamePinError: it is head itself.
    """
    end = tip if head is None else find(repository, head, "head")
    sha = end.commit.sha or end.revision
    tag = None
    if against == LATEST:
        # the one with the fewest commits between it and head, annotated or not
        tag = repository.git.maybe("describe", "--tags", "--abbrev=0", f"--match={tags}", sha)
        none = f"[creep]: no {'tag' if tags == '*' else f'tag {tags}'} in the history of head"
        fetch = fetch_all(repository) if tag is None else ""
        if tag is None and repository.shallow:
            raise SourceError(f"{none}, which this shallow clone cuts off: {fetch or 'fetch the history'}")
        if tag is None:
            named = "name a tag or a commit with `--set creep.against=REF`"
            raise SourceError(f"{none}{f', fetch them with {fetch}' if fetch else ''}, or {named}")
    try:
        start = find(repository, tag or against, "set creep.against")
    except SourceError as error:
        raise SourceError(f"[creep] against: {error.why}") from None
    if start.commit.sha == sha:
        raise SamePinError(f"[creep]: {tag or against} is head itself ({sha[:12]}): nothing was merged since")
    base = SideSource(Commit(ref=tag or against, sha=start.commit.sha), start.revision)
    count = None if repository.shallow else repository.git.maybe("rev-list", "--count", f"{base.revision}..{sha}")
    pin = Pin(against=against, tag=tag, sha=base.revision, commits=None if count is None else int(count))
    how = SideChoice(f"{against}, pinned by [creep]")
    if tag is not None:
        how = SideChoice(f"{tag}, the tag nearest to head{'' if tags == '*' else f' of {tags}'}")
    of_head = SideChoice(f"the tip of {tip.commit.ref or 'HEAD'}") if head is None else given(head)
    return pin, Sources(base, end, Choice(how, of_head), ())


def overlaid(repository: Repository, revision: str, head: str, paths: Sequence[str]) -> str:
    """Give a commit like a revision, but with paths of the project as head has them, extra files below them removed.

    Raises: SourceError: head has nothing at a path.
    """
    if not paths:
        return revision
    with repository.store.index() as index:
        index.run("read-tree", revision)
        for path in paths:
            name = repository.inside(path)
            entries = files_at(repository, head, name)
            if not entries:
                raise SourceError(f"[build] overlay: head has no {path}: commit it, or remove it from overlay")
            index.run("rm", "-r", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", name)
            lines = b"".join(os.fsencode(f"{entry.mode} {entry.object}\t{entry.path}\0") for entry in entries)
            index.run("update-index", "-z", "--index-info", stdin=lines)
        tree = index.line("write-tree")
    return _commit(repository.store.writing, tree, revision, "perfgate: overlaid with " + ", ".join(paths))


def changed(repository: Repository, revision: str, files: Mapping[str, bytes], message: str) -> str:
    """Give a commit like a revision, but with these files, by their paths in the repository."""
    with repository.store.index() as index:
        index.run("read-tree", revision)
        for path, content in files.items():
            known = [entry.mode for entry in files_at(repository, revision, path) if entry.path == path]
            blob = repository.store.writing.run("hash-object", "-w", "--stdin", stdin=content).decode().strip()
            line = os.fsencode(f"{known[0] if known else '100644'} {blob}\t{path}\0")
            index.run("update-index", "-z", "--index-info", stdin=line)
        tree = index.line("write-tree")
    return _commit(repository.store.writing, tree, revision, message)


def patched(repository: Repository, revision: str, patch: bytes) -> str:
    """Give a commit like a revision, with a patch applied.

    Raises: SourceError: it does not apply, or changes nothing.
    """
    with repository.store.index() as index:
        index.run("read-tree", revision)
        answer = index.attempt("apply", "--cached", "-", stdin=patch)
        if answer.status != 0:
            raise SourceError(f"does not apply to head: {answer.reason}", option="patch")
        tree = index.line("write-tree")
    made = _commit(repository.store.writing, tree, revision, "perfgate drill: patched")
    if made == revision:
        raise SourceError("changes nothing in head", option="patch")
    return made


def _commit(git: Git, tree: str, parent: str, message: str) -> str:
    """Give a commit with a tree after another; that one itself where its tree is the same."""
    known, date = git.line("show", "--no-patch", "--no-show-signature", "--format=%T %ct", parent + "^{commit}").split()
    if known == tree:
        return parent
    # the parent's date makes the commit a function of its content, so that a resumed run finds the same one
    identity = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "perfgate"), ("EMAIL", "perfgate@localhost"), ("DATE", f"{date} +0000"))
    }
    return git.seeing(**identity).line("commit-tree", tree, "-p", parent, "-m", message)
