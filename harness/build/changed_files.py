"""Files that builds and benchmarks change: what the recipe declares, and the failure of a tree with others."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import posixpath
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gate.config.study import Setting
from gate.config.types import BuildTable
from gate.model import Failure, Side
from gate.walking import descend, open_beneath
from gate.writing.plain import visible
from harness.build.conditions import Conditions
from harness.build.work import Tree, variant_name
from harness.process.budget import Budget
from harness.source.tracked import fact
from harness.source.trees import Trees


class ArtifactError(Exception):
    """An artefact that the build did not make, or that cannot be read."""


class ProjectPlace(NamedTuple):
    """A project's directory in a tree, wherever that is; standing: where the tree is when its commands run."""

    tree: Path
    prefix: PurePosixPath
    standing: Path

    def open(self, path: str) -> int:
        """Open a file or directory of the project, through no link out of the tree. Raises: OSError: that cannot be."""
        return open_beneath(self.tree, self.prefix / path, self.standing)


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What a build made, by hash, and the facts of its files: what they are until something changes them."""

    hashes: Mapping[str, str]
    facts: Mapping[str, Mapping[str, tuple[int, ...]]]
    """By artifact, of each of its files."""

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes of each artifact, of a directory those of its files."""
        return {path: sum(known[2] for known in files.values()) for path, files in self.facts.items()}

    @classmethod
    def of(cls, project: ProjectPlace, hashes: Mapping[str, str]) -> Artifacts:
        """Take down what is there."""
        return cls(hashes, {path: _facts(project, path) for path in hashes})

    def changed(self, project: ProjectPlace) -> list[str]:
        """Name the artifacts that are no longer what the build made; what was added to a directory does not count."""
        found = []
        for path, known in self.facts.items():
            now = _facts(project, path)
            differ = [name for name, each in known.items() if now.get(name) != each]
            # of another size: nothing must be read, however much it is
            same = not any(name not in now or now[name][2] != known[name][2] for name in differ)
            if differ and same:
                try:
                    same = hash_artifacts(project, [path])[path] == self.hashes[path]
                except ArtifactError:
                    same = False
            if not same:
                found.append(path)
        return found


def _facts(project: ProjectPlace, path: str) -> dict[str, tuple[int, ...]]:
    found = {}
    with suppress(OSError):
        fd = project.open(path)
        try:
            if not stat.S_ISDIR(os.fstat(fd).st_mode):
                return {"": fact(os.fstat(fd))}
            for stop in descend(".", dir_fd=fd):
                for name in stop.files:
                    with suppress(OSError):
                        known = fact(os.stat(name, dir_fd=stop.fd, follow_symlinks=False))
                        found["/".join((*stop.names, name))] = known
        finally:
            os.close(fd)
    return found


def hash_artifacts(project: ProjectPlace, paths: Sequence[str], budget: Budget | None = None) -> dict[str, str]:
    """Hash each path of a project: "sha256:...", of a directory over its files in order.

    Raises: ArtifactError: a path does not exist, leads out of the tree, or cannot be read.
    """
    hashes = {}
    for path in paths:
        try:
            fd = project.open(posixpath.normpath(path))
        except (FileNotFoundError, NotADirectoryError):
            raise ArtifactError(f"the build did not make {path}, which [build] artifacts names") from None
        except OSError as error:
            why = "a link in it leads out of its tree" if error.errno == errno.EXDEV else error.strerror
            raise ArtifactError(f"artifact {path} cannot be read: {why}") from None
        try:
            is_directory = stat.S_ISDIR(os.fstat(fd).st_mode)
            hashes[path] = f"sha256:{_hash_directory(fd, budget) if is_directory else _hash_file(fd, budget)}"
        except OSError as error:
            raise ArtifactError(f"artifact {path} cannot be read: {error.strerror}") from None
        finally:
            os.close(fd)
    return hashes


def _hash_file(fd: int, budget: Budget | None) -> str:
    digest = hashlib.sha256()
    with open(fd, "rb", closefd=False) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            if budget is not None:
                budget.require()
    return digest.hexdigest()


def _hash_directory(directory: int, budget: Budget | None) -> str:
    def refused(_: list[str], error: OSError) -> None:
        raise error

    found: dict[bytes, str] = {}
    for stop in descend(".", dir_fd=directory, failed=refused):
        for name in stop.files:
            mode = os.stat(name, dir_fd=stop.fd, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                target = os.fsencode(os.readlink(name, dir_fd=stop.fd))
                content = f"link {hashlib.sha256(target).hexdigest()}"
            elif stat.S_ISREG(mode):
                fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=stop.fd)
                try:
                    content = _hash_file(fd, budget)
                finally:
                    os.close(fd)
            else:
                continue  # a socket or a pipe is nothing that was built
            found[os.fsencode("/".join((*stop.names, name)))] = content
    digest = hashlib.sha256()
    # by directories; NUL ends a name: no file name holds one
    for path in sorted(found, key=lambda each: (each.split(b"/")[:-1], each)):
        digest.update(path + b"\0" + found[path].encode() + b"\0")
    return digest.hexdigest()


_FIRST = 5
_MOST = 20


@dataclass(frozen=True, slots=True)
class DeclaredChanges:
    """What the builds and benchmarks of a side may change. prefix: the project's directory in the repository."""

    table: BuildTable
    prefix: PurePosixPath

    def __contains__(self, path: object) -> bool:
        """Return whether a path of the repository is declared, or lies in a directory that is."""
        return self._covers(str(path), [*(self.table.artifacts or ()), *self.table.changes])

    def is_change(self, path: str) -> bool:
        """Return whether a path of the repository is declared as one that benchmarks may change, too."""
        return self._covers(path, self.table.changes)

    def inside(self, path: str) -> str:
        """Turn a path of the project into one of the repository."""
        return posixpath.normpath(posixpath.join(self.prefix.as_posix(), path))

    def _covers(self, path: str, patterns: Iterable[str]) -> bool:
        parts = tuple(path.split("/"))
        return any(_matches(tuple(self.inside(pattern).split("/")), parts) for pattern in patterns)

    def hint(self, side: Side, paths: Collection[str]) -> str:
        """Say how to declare paths of the repository."""
        found = sorted({posixpath.relpath(path, self.prefix.as_posix()) for path in paths})
        # TOML has no surrogates; in a glob this stands for any one character
        globs = ["".join(c if c.isprintable() else "?" for c in glob.escape(path)) for path in found[:_MOST]]
        line = json.dumps([*self.table.changes, *globs], ensure_ascii=False)
        hint = f"if this is meant, write `changes = {line}` in [build] of perfgate.toml"
        if side == "head":
            return hint
        return f"{hint} on the default branch first, since base has its own; or use head's file for both: `--config`"


class Watch:
    """Compares the trees of a run with their commits, and what was built in them with what the builds made.

    factors, artifacts: of each tree, by its latest build.
    """

    def __init__(self, conditions: Conditions, trees: Trees) -> None:
        self._session = conditions.session
        self._trees = trees
        self._timed = conditions.budget.timed
        self.declared = {
            side: DeclaredChanges(recipe.table, trees.repository.prefix) for side, recipe in conditions.recipes.items()
        }
        self.factors: dict[Tree, Mapping[str, Setting]] = {}
        self.artifacts: dict[Tree, Artifacts] = {}

    def unlike(self, build: int, builder: Side | None, by: str) -> list[Failure]:
        """Fail for each tree that something changed which may not; one that failed is not compared again.

        What a side declares is excused in its own tree only, and not while the other one is built.

        build: the round. builder: the side that was built; None: benchmarks ran. by: says what
        ran.
        """

        def excused(side: Side, path: str) -> bool:
            return builder in (side, None) and path in self.declared[side]

        with self._timed("trees"):
            found = self._trees.changed(excused)
        for tree, artifacts in list(self.artifacts.items()):
            if tree[0] == builder:
                continue
            declared = self.declared[tree[0]]
            changed = map(declared.inside, artifacts.changed(self.project(tree)))
            paths = [path for path in changed if builder is not None or not declared.is_change(path)]
            if paths:
                found[tree] = sorted({*found.get(tree, ()), *paths})
                del self.artifacts[tree]
        failures = []
        for tree, paths in found.items():
            side, hint = tree[0], self.declared[tree[0]].hint(tree[0], paths)
            if builder not in (side, None):
                only = f"the build of {builder} must write into its own tree only"
                hint = f"{only}: nothing of it may reach the one of {side}"
            failures.append(Failure(
                kind="tree", side=side, session=self._session, build=build, factors=dict(self.factors.get(tree, {})),
                status=f"{named(paths)}, by {by}", directory=str(self._trees.kept(*tree)), hint=hint,
            ))  # fmt: skip
        return failures

    def project(self, tree: Tree) -> ProjectPlace:
        """Return a side's project, wherever its tree is."""
        made = self._trees.made(*tree)
        return ProjectPlace(made.path, self._trees.repository.prefix, made.place)

    def tree_of(self, failure: Failure) -> Tree:
        """Return the tree of which a failure is."""
        return failure.side or "head", variant_name(failure.factors)


def named(paths: Sequence[str]) -> str:
    """Name the first of some paths, and how many there are."""
    more = len(paths) - _FIRST
    return ", ".join(map(visible, paths[:_FIRST])) + (f" and {more:,} more" if more > 0 else "")


def _matches(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if not pattern:
        return True  # all that is in a directory
    if pattern[0] == "**":
        return any(_matches(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(pattern[1:], path[1:])
