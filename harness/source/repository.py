"""The user's repository: its place, the project in it, the files of its commits; hints at those that a tree lacks."""

import hashlib
import json
import os
import posixpath
import re
import shlex
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

from gate.checkout import text_of
from gate.model import Failure
from harness.errors import SourceError
from harness.source.git import Git, checkout_of
from harness.source.store import Store
from harness.source.workdir import WorkDirectory

CONFIG_FILE = "perfgate.toml"
_SHARED = "pyproject.toml"
"""Holds the project's own tables beside perfgate's."""

_ID = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")

Untracked = Literal["ignored", "untracked"]
"""Why git does not track a file."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout and the project that is measured in it."""

    top: Path
    """The checkout's root."""
    prefix: PurePosixPath
    """The project's directory in it, "." for the root itself."""
    store: Store
    """What perfgate makes of it."""
    common: Path
    """The git directory that all worktrees share."""
    shallow: bool
    """History was cut off by a shallow clone."""
    origin: str | None
    """The URL of its remote origin."""

    @property
    def git(self) -> Git:
        """Git in the checkout, which also sees what perfgate made."""
        return self.store.git

    @property
    def project(self) -> Path:
        """The directory that holds perfgate.toml."""
        return self.top / self.prefix

    def inside(self, path: str) -> str:
        """Turn a path of the project into one of the repository: what git calls it, without a trailing slash."""
        return posixpath.normpath(posixpath.join(self.prefix.as_posix(), path))


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a commit; mode as git writes it: 100644, 100755, 120000 (link), 160000 (submodule)."""

    mode: str
    object: str
    path: str


def find_repository(directory: Path) -> Repository:
    """Find the checkout around a directory, and the project: the nearest perfgate.toml upwards, else the top level.

    Raises: SourceError: no repository, or one that perfgate cannot measure (bare, without a commit, of another owner).
    """
    found = checkout_of(directory)
    directory, top = found.git.directory, Path(found.git.environment["GIT_WORK_TREE"])
    if not found.begun:
        raise SourceError(f"{top} has no commit yet: commit first; perfgate compares two states of a repository")
    work = WorkDirectory(top, found.common / "perfgate")
    store = Store(replace(found.git, directory=top), found.common, work)
    origins = [value for key, _, value in store.configured() if key == "remote.origin.url"]
    prefix = PurePosixPath()
    for each in (directory, *directory.parents):
        if not each.is_relative_to(top):
            break
        has_config = (each / CONFIG_FILE).is_file()
        with suppress(OSError):
            has_config = has_config or "[tool.perfgate" in text_of(each / _SHARED)
        if has_config:
            prefix = PurePosixPath(each.relative_to(top).as_posix())
            break
    return Repository(top, prefix, store, found.common, found.shallow, origins[-1] or None if origins else None)


def files_at(repository: Repository, revision: str, *paths: str) -> list[TreeEntry]:
    """List what a commit holds at paths of the repository: one entry of a file, many of a directory, none if absent.

    paths: none for all files.
    """
    where = () if not paths or {"", "."} & set(paths) else ("--", *paths)
    known = repository.store.files.get((revision, *where))
    if known is None:
        known = [*map(entry, repository.git.entries("ls-tree", "-r", "-z", "--full-tree", revision, *where))]
        # what a name such as HEAD stands for may change
        if _ID.fullmatch(revision):
            repository.store.files[revision, *where] = known
    return known


def entry(line: str) -> TreeEntry:
    """Read a line of `git ls-tree`."""
    facts, _, path = line.partition("\t")
    mode, _, object_ = facts.split(" ")
    return TreeEntry(mode, object_, path)


def texts_at(repository: Repository, revision: str, *paths: str) -> list[str | None]:
    """Read text files of the project at a commit; None for each that the commit does not have.

    A link is followed inside the repository.

    Raises: SourceError: git failed, a file is not UTF-8, or a link leads out of the repository.
    """
    names = [repository.inside(path) for path in paths]
    entries = files_at(repository, revision, *names)
    return [_text(repository, revision, name, entries) for name in names]


def _text(repository: Repository, revision: str, given: str, entries: list[TreeEntry]) -> str | None:
    name = given
    for _ in range(10):  # more links in a row are a circle
        entry = next((entry for entry in entries if entry.path == name), None)
        if entry is None or entry.mode == "160000":
            return None
        content = repository.store.blob(entry.object)
        if entry.mode != "120000":
            try:
                return content.decode()
            except UnicodeDecodeError:
                raise SourceError(f"{name} at {revision[:12]} is not UTF-8: save it as UTF-8") from None
        name = posixpath.normpath(posixpath.join(posixpath.dirname(name), os.fsdecode(content)))
        if name.startswith(("/", "../")):
            raise SourceError(
                f"{given} at {revision[:12]} is a link that leads out of the repository: commit the file itself"
            )
        entries = files_at(repository, revision, name)
    return None


def kept_out(repository: Repository, path: str) -> Untracked | None:
    """Tell why a file of the checkout is in no commit: git ignores it, or nobody added it.

    path: absolute, or relative to the project. None: git tracks it, it does not exist or it lies outside the checkout.
    """
    place = Path(os.path.normpath(repository.project / path))
    if place == repository.top or not place.is_relative_to(repository.top) or not os.path.lexists(place):
        return None
    name = place.relative_to(repository.top).as_posix()
    # check-ignore says 128 for a path behind a link or in a submodule: nothing that share could bring
    # it refuses literal pathspecs, but takes paths literally; ./ keeps ":" at the beginning from meaning anything
    git = repository.git.seeing(GIT_LITERAL_PATHSPECS="0")
    ignored = git.attempt("check-ignore", "--quiet", "--", f"./{name}").status
    if ignored == 0:
        return "ignored"
    if ignored == 1 and not repository.git.attempt("ls-files", "-z", "--", name).stdout:
        return "untracked"
    return None


def commit_of(git: Git, revision: str) -> str | None:
    """Return the commit that a revision means; None where there is none."""
    # what follows a name could change what it means, such as a search for words
    plain = re.fullmatch(r"[\w./-]+([~^]\d*)*", revision, re.ASCII)
    object_ = revision if plain else git.maybe("rev-parse", "--verify", "--quiet", revision)
    return object_ and git.maybe("rev-parse", "--verify", "--quiet", object_ + "^{commit}")


def parents_of(git: Git, revision: str) -> list[str]:
    """Return the parents that a commit names, also those that a shallow clone lacks, which git hides.

    Raises: SourceError: there is no such commit.
    """
    header = git.run("cat-file", "commit", revision).decode(errors="replace").partition("\n\n")[0]
    return [line.removeprefix("parent ") for line in header.splitlines() if line.startswith("parent ")]


def names_one(revision: str) -> bool:
    """Return whether a revision can name one commit, such as main, main~1 or 1a2b3c4; git decides whether it does."""
    return re.search(r"^[-^]|\.\.|[:\s\0]", revision) is None


def refuse_several(revision: str, option: str | None = None) -> None:
    """Refuse a revision that cannot name one commit.

    option: of the command line that asks for it.

    Raises: SourceError: it cannot.
    """
    if not names_one(revision):
        raise SourceError(
            f"{revision}: does not name one commit: write a branch, a tag or a commit, such as main or main~1",
            option=option,
        )


def shared_paths(repository: Repository, paths: Sequence[str]) -> list[str]:
    """Find what git does not track at or below paths of the project: paths of the repository, directories whole.

    A path that git tracks in part (data/ with a .gitkeep) gives what it does not track of it: what is tracked, each
    side has from its own commit.

    Raises: SourceError: a path does not exist in the checkout, or is tracked throughout.
    """
    found = []
    for path in paths:
        inner = posixpath.normpath(path)
        place = repository.project / inner
        if not os.path.lexists(place):
            where = repository.project
            raise SourceError(f"[build] share: {path} does not exist in {where}: make it, or remove it from share")
        name = repository.inside(inner)
        # all that is not tracked, ignored or not; --directory: whole directories in one entry
        others = repository.git.entries("ls-files", "--others", "--directory", "-z", "--", name)
        if not others:
            advice = "take it out of share (overlay gives both sides head's)"
            raise SourceError(f"[build] share: git tracks {path}, so each side has its own: {advice}")
        found += [other.rstrip("/") for other in others]
    return found


def link(repository: Repository, tree: Path, shared: Sequence[str]) -> None:
    """Link paths of the repository from the checkout into a tree; what the tree's commit has stays.

    Raises: SourceError: a link cannot be made.
    """
    for name in shared:
        try:
            _link(repository.top / name, tree / name, tree)
        except OSError as error:
            raise SourceError(f"[build] share: {name} cannot be linked: {error.strerror}: {error.filename}") from None


def _link(source: Path, target: Path, tree: Path) -> None:
    if not os.path.lexists(target):
        # never through a link of the commit to a place outside the tree
        if not target.parent.resolve().is_relative_to(tree.resolve()):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source)
    elif target.is_dir() and not target.is_symlink() and source.is_dir():
        for child in sorted(source.iterdir()):
            _link(child, target / child.name, tree)


def sources_of(repository: Repository, revision: str, configs: Collection[str] = ()) -> str:
    """Hash all files of a commit but perfgate's own configuration, of which others compare the keys.

    configs: further files of the repository that hold nothing else.
    """
    own = {repository.inside(CONFIG_FILE), *configs}
    shared = repository.inside(_SHARED)
    digest = hashlib.sha256()
    for entry in files_at(repository, revision):
        if entry.path in own:
            continue
        content = entry.object
        if entry.path == shared:
            # its tables but perfgate's, if it has one of those
            with suppress(ValueError, RecursionError):
                tables = tomllib.loads(texts_at(repository, revision, _SHARED)[0] or "")
                tools = tables.get("tool")
                if isinstance(tools, dict) and tools.pop("perfgate", None) is not None:
                    content = json.dumps(tables, default=str)
        digest.update(json.dumps([entry.mode, content, entry.path]).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


Hint = Callable[[Failure, bool], str | None]
"""What probably went wrong with a failure, and what to do; None when that is not known.

The flag tells whether a program could not be started.
"""

_MISSING = re.compile(
    r"no such file|not found|cannot find|can't find|can not find|could not find|cannot open|can't open|could not open|"
    r"does not exist|doesn't exist|no rule to make target|ENOENT|FileNotFound|ModuleNotFound|no module named",
    re.IGNORECASE,
)
_MOST, _LONGEST = 400, 1000
_INSTALLED = ("node_modules", ".venv", "venv", "vendor", "target", "third_party")


def no_hint(failure: Failure, unstarted: bool) -> None:
    """Know nothing."""


def checkout_hint(repository: Repository) -> Hint:
    """Return hints that name a path which a failed command needs, and which only the user's checkout has.

    The failure's directory stands for the project: absolute paths below either are taken as paths in it.
    """
    return partial(_missing_file, repository)


def _missing_file(repository: Repository, failure: Failure, unstarted: bool) -> str | None:
    if failure.directory is None or not Path(failure.directory).is_dir():
        return None
    directory, stderr = Path(failure.directory), failure.stderr
    command = failure.command or ""
    try:
        given = shlex.split(command)
    except ValueError:
        given = command.split()
    # sh -c '...' and --data=path
    words = [piece for word in given for piece in re.split(r"[\s=;|&<>()]+", word) if piece]
    without = not any((above / ".git").exists() for above in (directory, *directory.parents))
    if without and "not a git repository" in stderr:
        return 'the tree that is built and measured has no .git: set git = "on" under [build]'
    missing = unstarted or bool(_MISSING.search(stderr))
    for path in _paths(words, stderr, (directory, repository.project), missing=missing):
        found = None if os.path.lexists(directory / path) else kept_out(repository, path)
        if found is None:
            continue
        lacks = f'the checkout has only files that git tracks; "{path}" is'
        if found == "untracked":
            return f"{lacks} not tracked by git: commit it, add it to [build] share, or make it in [build] setup"
        parts = path.split("/")
        if words and path == posixpath.normpath(words[0]) and parts[0] not in _INSTALLED:
            # sharing it would measure one and the same program on both sides
            return f"{lacks} ignored by git: make it in [build] command"
        # the folder that is ignored, so that the next file in it is not the next failure
        above = ("/".join(parts[: i + 1]) for i in range(len(parts)))
        folder = next((each for each in above if kept_out(repository, each) == "ignored"), path)
        what = "it" if folder == path else f'"{folder}/"'
        return f"{lacks} ignored by git: add {what} to [build] share, or make it in [build] setup"
    return None


def _paths(words: list[str], stderr: str, roots: Iterable[Path], *, missing: bool) -> list[str]:
    """Give what may be paths of the project, in the words of a command and in what it said; missing: a file is."""
    # a word such as "build" in `make build` is a path only if something says that a file is missing
    candidates = [word for word in words if missing or "/" in word]
    if missing:
        quotes = r"'([^'\n]+)'|\"([^\"\n]+)\"|`([^`'\n]+)['`]|‘([^’\n]+)’"
        candidates += [found for groups in re.findall(quotes, stderr) for found in groups]
        bare = [word.strip("'\"`,:;()[]{}<>‘’.") for word in stderr.split()]
        # ./run.sh: line 3: data/x.json: No such file
        candidates += [*bare, *(piece for word in bare if ":" in word for piece in word.split(":"))]
        candidates += [f"{name}.py" for name in re.findall(r"No module named '?([\w]+)", stderr)]
        candidates += ["node_modules"] if re.search(r"Cannot find (module|package) '", stderr) else []
    paths: dict[str, None] = {}
    for candidate in candidates:
        if not candidate or candidate.startswith("-") or "\0" in candidate or len(candidate) > _LONGEST:
            continue
        path = candidate
        for root in roots:
            path = path.removeprefix(f"{root}/")
        path = posixpath.normpath(path)
        if not path.startswith(("/", "../", ".git/")) and path not in (".", "..", ".git"):
            paths[path] = None
    return list(paths)[:_MOST]
