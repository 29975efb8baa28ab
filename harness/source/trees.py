"""The trees that are built and measured: the files of base and head, which stand at one path by turns."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gate.model import SIDES, Side
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.removal import remove_tree
from gate.walking import walk
from harness.errors import SourceError
from harness.process.budget import Budget
from harness.source import submodules
from harness.source.base_and_head import Sources
from harness.source.fetching import lfs_files, pointers
from harness.source.repository import CONFIG_FILE, Repository, files_at, link, shared_paths
from harness.source.store import lacking_file
from harness.source.tracked import Commits, Facts, Parts, facts_of, known, restore, suspects, updated


def _stamp(tree: Path, moment: int) -> None:
    """Give all files of a tree one time of change, so that make finds a generated file that is committed up to date.

    It is the time at which the tree is made, not one for both sides: what a build leaves in a shared place must be
    older than the files of the other side, which are built next.

    Raises: OSError: a file cannot be changed.
    """
    for parent, folders, files in walk(tree):
        if ".git" in folders:
            folders.remove(".git")  # git knows its own files by their times
        for name in files:
            path = f"{parent}/{name}"
            # changed once only: git looks at the time of that, too
            if os.lstat(path).st_mtime_ns != moment:
                os.utime(path, ns=(moment, moment), follow_symlinks=False)


@dataclass(frozen=True, slots=True)
class Made:
    """A tree as it was made.

    path: where it is. place: where it stands when it is used. facts: of its files; None: it is not made whole, or of an
    earlier run. tracked: of those of its files that are known to be the commit's; None: that is not known.
    """

    path: Path
    place: Path
    git: bool
    facts: Facts | None = None
    tracked: Facts | None = None


_POINTERS = Said(
    "the checkout has Git LFS pointers instead of files, and so do both sides: run `git lfs pull`, or write "
    "`lfs: true` under `with:` of actions/checkout",
    "lfs-pointers",
    "first",
)


class Trees:
    """The trees of a run, made one by one in its work directory: the files of a commit, exported from the store.

    A tree is put where it stands when it is used, and the one of the other side is set aside: what a build writes of
    its path into a program is the same on both sides. Where the sides must stand at once, their paths are equally long.

    directory: the work directory, outside the checkout. one_path: whether the sides stand at one path. folder: in which
    two given programs run, as the tree of both sides, and which is never made, emptied or removed; None: there is none.
    warnings: what the report must tell about what was checked out.
    """

    def __init__(
        self, repository: Repository, sources: Sources, shared: Mapping[Side, Sequence[str]], budget: Budget, *,
        one_path: bool = True, folder: Path | None = None,
    ) -> None:  # fmt: skip
        self.repository = repository
        self.folder = folder
        self.sources = sources
        self.directory = repository.store.work.path
        self.one_path = one_path
        self._shared = shared
        self._made: dict[tuple[Side, str], Made] = {}
        self.own: Callable[[Path], None] = lambda _: None
        """Gives a tree to the user that commands run as."""
        self._parts: dict[Side, Parts] = {}
        # where the checkout was made without files of git lfs (checkout's `lfs: false`), trees are so, too
        uses_lfs = any(key.startswith("filter.lfs.") for key, _, _ in repository.store.configured())
        self._skip_lfs = uses_lfs and bool(pointers(repository, lfs_files(repository)))
        self._commits = Commits(repository.store, skip_lfs=self._skip_lfs)
        self.warnings: tuple[AnyWarning, ...] = (_POINTERS,) if self._skip_lfs else ()
        repository.store.budget = budget

    def begin_again(self, sources: Sources, share_paths: Mapping[Side, Sequence[str]], *, one_path: bool) -> None:
        """Remove every tree, and make those of other sides from now on; as open_trees takes them.

        Raises: SourceError: a shared path is missing or tracked.
        """
        for side, variant in list(self._made):
            self.remove(side, variant)
        self._shared = {side: shared_paths(self.repository, share_paths[side]) for side in SIDES}
        self.sources, self.one_path = sources, one_path

    def make(self, side: Side, name: str = "", variant: str = "", *, git: bool = False) -> Path:
        """Check a side out afresh, in place of its tree so far, and give its project directory, where it stands.

        That is directory/name/variant/tree; with two paths the name of the side is the last. A side has one tree of
        each variant. One whose files nobody changed is moved there, without what was added to it.

        git: it gets a .git of its own.

        Raises:
            SourceError: git cannot check it out, a submodule cannot be had, or the side has no such project directory.
            BudgetEndedError: the budget has ended.
        """
        if self.folder is not None:
            # of what is in it nothing is known, so nothing of it is watched
            self._made[side, variant] = Made(self.folder, self.folder, git)
            return self.folder
        place = self.directory / name / variant / ("tree" if self.one_path else side)
        made = self._made.get((side, variant))
        try:
            if made is not None and made.git == git and made.facts is not None and restore(made.path, made.facts):
                self._made[side, variant] = replace(made, place=place, tracked=made.facts)
                self._stand(side, variant)
            else:
                self.remove(side, variant)
                self._set_aside(place)
                self._made[side, variant] = Made(place, place, git)
                self._fill(side, place, git=git)
                facts = facts_of(place)
                self._made[side, variant] = Made(place, place, git, facts, facts)
        except OSError as error:
            raise SourceError(f"{place} cannot be made: {error.strerror or error}") from None
        if not self.project(side, variant).is_dir():
            commit = self.sources.of(side).commit
            where = f"{commit.ref} ({(commit.sha or '')[:12]})"
            raise SourceError(f"{side}, {where}, has no directory {self.repository.prefix}: choose another --{side}")
        return self.project(side, variant)

    def take(self, side: Side, copy: Callable[[Path], bool], excused: Callable[[str], bool]) -> bool:
        """Make a side's only tree by a copy of an earlier one, to where it stands; return whether there was one.

        excused: says of tracked files, by paths of the repository, that they need not be as the commit has them. A
        tree in which another one is not is as none.
        """
        place = self.directory / ("tree" if self.one_path else side)
        self._set_aside(place)
        if not copy(place):
            return False
        # what the commit has: a build that is found again may be of another one (see files); a build may also have
        # left a link in place of the folder
        repository, revision, file = self.repository, self.sources.of(side).revision, place / self._config
        if file.parent.resolve() == place.resolve() / repository.prefix:
            with suppress(OSError, SourceError):
                entry = next(iter(files_at(repository, revision, self._config)), None)
                if entry is None or entry.mode.startswith("100"):
                    file.unlink(missing_ok=True)
                if entry is not None and entry.mode.startswith("100"):
                    file.write_bytes(repository.store.blob(entry.object))
                    file.chmod(int(entry.mode, 8) & 0o777)
        self.own(place)
        self._made[side, ""] = Made(place, place, git=False)
        try:
            inner = submodules.parts(repository.store, revision, submodules.of_checkout(repository))
            parts = self._parts[side] = {"": revision, **inner}
            facts, paths = facts_of(place), set(self._commits.files(parts))
            if all(map(excused, self._commits.unlike(parts, place, paths))):
                self._made[side, ""] = Made(place, place, git=False, tracked=known(facts, paths))
                return True
        except (OSError, SourceError):
            pass  # what cannot be compared is as none
        self.remove(side)
        return False

    @property
    def _config(self) -> str:
        return self.repository.inside(CONFIG_FILE)

    def changed(self, excused: Callable[[Side, str], bool]) -> dict[tuple[Side, str], list[str]]:
        """Give the tracked files that something changed in any tree since it was made, or since this was last asked.

        By side and variant: paths of the repository that are not as the commit has them, or no longer there.

        A tree of which some are given is not looked at again until it is made anew.

        excused: says of a file of a side that this change is meant; as it is now, it counts as known.
        """
        found = {}
        for (side, variant), made in list(self._made.items()):
            if made.tracked is None:
                continue
            now = suspects(made.path, made.tracked)
            asked = [path for path in now if not excused(side, path)]
            unlike = set(asked)
            with suppress(OSError, SourceError):  # what cannot be shown to be the same may differ
                unlike = self._commits.unlike(self._parts[side], made.path, asked) if asked else unlike
            if unlike:
                found[side, variant] = sorted(unlike)
            if now:
                tracked = None if unlike else updated(made.tracked, now)
                self._made[side, variant] = replace(made, tracked=tracked)
        return found

    def committed(self, sides: Sequence[Side] = SIDES) -> frozenset[str]:
        """Return what the commits of sides hold: files, of submodules too, and the folders that they are in."""
        found: set[str] = set()
        for path in {path for side in sides for path in self._commits.files(self._parts[side])}:
            while path and path not in found:
                found.add(path)
                path = path.rpartition("/")[0]
        return frozenset(found)

    def files(self, side: Side) -> str:
        """Name the files of a side, as git's tree has them, but for perfgate's own: no build reads that.

        Raises: SourceError: git does not know it.
        """
        listed = self.repository.git.run("ls-tree", "-r", "-z", "--full-tree", self.sources.of(side).revision)
        own = f"\t{self._config}".encode()
        kept = [each for each in listed.split(b"\0") if not (each.startswith(b"100") and each.endswith(own))]
        return hashlib.sha256(b"\0".join(kept)).hexdigest()

    def _fill(self, side: Side, tree: Path, *, git: bool) -> None:
        source, store, begun = self.sources.of(side), self.repository.store, time.time_ns()
        tree.mkdir(parents=True)
        answer = store.export(source.revision, tree, skip_lfs=self._skip_lfs)
        if answer.status != 0:
            lacking = lacking_file(answer)
            if lacking is not None:
                advice = f"run `git lfs fetch origin {source.commit.sha}`"
                raise SourceError(f"{side} needs {lacking} of git lfs, which cannot be downloaded: {advice}")
            raise SourceError(f"{side} cannot be checked out to {tree}: {answer.reason}")
        _stamp(tree, begun)
        if git:
            store.attach(source.revision, tree)
        of_user = submodules.of_checkout(self.repository)
        inner = submodules.parts(store, source.revision, of_user, tree, skip_lfs=self._skip_lfs)
        self._parts[side] = {"": source.revision, **inner}
        _stamp(tree, begun)
        link(self.repository, tree, self._shared[side])
        self.own(tree)

    def _stand(self, side: Side, variant: str) -> None:
        """Put a tree where it stands, and set aside what stands there."""
        made = self._made[side, variant]
        if made.path != made.place:
            self._set_aside(made.place)
            self._move(side, variant, made.place)

    def _set_aside(self, place: Path) -> None:
        for (side, variant), made in self._made.items():
            if made.path == place:
                return self._move(side, variant, self._aside(side, variant))
        return None

    def _move(self, side: Side, variant: str, to: Path) -> None:
        made = self._made[side, variant]
        to.parent.mkdir(parents=True, exist_ok=True)
        made.path.rename(to)
        self._made[side, variant] = replace(made, path=to)
        self._remove_empty(made.path.parent)

    def _aside(self, side: Side, variant: str) -> Path:
        return self.directory / side / (variant or "tree")

    def project(self, side: Side, variant: str = "") -> Path:
        """Put a side's tree where it stands, and give its project directory: where its commands run.

        Raises: SourceError: something removed it.
        """
        try:
            self._stand(side, variant)
        except OSError as error:
            path = self._made[side, variant].path
            raise SourceError(f"the tree of {side} in {path} cannot be moved: {error.strerror}") from None
        return self._made[side, variant].path / self.repository.prefix

    def made(self, side: Side, variant: str = "") -> Made:
        """Give a side's tree as it was made last: its root now, and where that is when it is used."""
        return self._made[side, variant]

    def found(self, side: Side, variant: str = "") -> Path:
        """Give where a side's project directory is now."""
        made = self._made.get((side, variant))
        return (made.path if made is not None else self._aside(side, variant)) / self.repository.prefix

    @contextmanager
    def taking_turns(self) -> Iterator[Mapping[Side, Path]]:
        """Set both trees aside, and give where they are; meanwhile another process lets them stand by turns.

        It renames a tree to where it stands, and back before it takes the other one.

        Raises: SourceError: a tree cannot be moved, or found again.
        """
        place = self._made[SIDES[0], ""].place
        try:
            self._set_aside(place)
            place.parent.mkdir(parents=True, exist_ok=True)
            aside = self.roots()
            for path in aside.values():
                path.stat()
        except OSError as error:
            raise SourceError(f"the trees of both sides cannot be moved: {error.strerror or error}") from None
        try:
            yield aside
        finally:
            for side in SIDES:
                if not os.path.lexists(aside[side]):
                    self._made[side, ""] = replace(self._made[side, ""], path=place)

    def roots(self) -> Mapping[Side, Path]:
        """Give the roots of both sides' trees, wherever they are."""
        return {side: self._made[side, ""].path for side in SIDES}

    def kept(self, side: Side, variant: str = "") -> Path:
        """Give the project directory of a side as it is when the trees are left."""
        return self._aside(side, variant) / self.repository.prefix if self.one_path else self.found(side, variant)

    def leave(self) -> None:
        """Set every tree aside, under the name of its side, for a person to look at."""
        for (side, variant), made in list(self._made.items()):
            if self.one_path and made.path == made.place:
                with suppress(OSError):  # something removed it
                    self._move(side, variant, self._aside(side, variant))

    def remove(self, side: Side, variant: str = "") -> None:
        """Remove a side's tree."""
        made = self._made.pop((side, variant), None)
        if made is not None and self.folder is None:
            remove_tree(made.path)
            self._remove_empty(made.path.parent)

    def _remove_empty(self, above: Path) -> None:
        with suppress(OSError):  # the other side may still be in it
            while above != self.directory:
                above.rmdir()
                above = above.parent


@contextmanager
def open_trees(
    repository: Repository, sources: Sources, *, share_paths: Mapping[Side, Sequence[str]],
    budget: Budget | None = None, keep: bool = False, one_path: bool = True, folder: Path | None = None,
) -> Iterator[Trees]:  # fmt: skip
    """Give the trees of a run, removed whatever happens; keep leaves them in trees.directory.

    share_paths: [build] share of each side. budget: what making a tree keeps to; None: it takes what it takes.
    one_path: see Trees. folder: where both sides run as they are; None: in trees of their own.

    Raises: SourceError: a shared path is missing or tracked, or there is no place for the trees.
    """
    with ExitStack() as stack:
        stack.callback(repository.store.work.close, keep=keep)
        shared = {side: shared_paths(repository, share_paths[side]) for side in SIDES}
        trees = Trees(repository, sources, shared, budget or Budget(), one_path=one_path, folder=folder)
        if keep:
            stack.callback(trees.leave)
        yield trees
