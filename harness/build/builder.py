"""Makes a side ready for a round: set-up, build command or fresh checkout, and what came out of it."""

from __future__ import annotations

import hashlib
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType

import msgspec

from gate.config import treatments
from gate.config.commands import by_hand
from gate.config.study import Setting
from gate.model import SIDES, Build, Failure, Side
from gate.model.records import FullBuilds
from gate.walking import open_beneath, walk
from harness.build.cache import About, BuildCache, Subject
from harness.build.changed_files import ArtifactError, Artifacts, Project, Watch, hash_artifacts, kept_apart
from harness.build.conditions import Conditions, Recipe, Standing
from harness.build.functions import layout_of
from harness.build.relink import Recording
from harness.build.work import Done, Tree, Wanted, Works, variant_name
from harness.errors import SourceError
from harness.process.execute import Command, Outcome
from harness.process.together import LeftBehindError, alone, standing, together
from harness.sandbox.sandbox import namespaces
from harness.source.trees import Trees
from harness.source.untracked import Hint, no_hint

_LONGEST_NAME = 32  # a socket's path below it stays under the 108 bytes of unix(7)
_WORTH = 1.0
"""Seconds of building that are worth a copy of the tree."""


class TreeBuilder:
    """Builds in the trees of a run.

    With a build command a side keeps its tree, and the command runs in it for every build. Without, and without
    set-up, every build is a fresh checkout, under a path that is new in each round (under the same path when the other
    side keeps its tree, or one of them does not perturb "path"). With set-up only, the tree stays
    and a build does nothing. Where builds depend on factors a side has a tree, set up of its own, for each of their
    settings, since the executions of all are interleaved.

    seed: of the run; lays out the paths. hint: says what a failed build may lack. cache: of first builds; None: none is
    kept.
    """

    def __init__(
        self, conditions: Conditions, trees: Trees, seed: int, hint: Hint = no_hint, cache: BuildCache | None = None
    ) -> None:
        self._cache = cache
        self._cached: dict[Tree, FullBuilds | None] = {}
        self._since = math.inf
        self._conditions = conditions
        self._trees = trees
        self._seed = seed
        self._works = Works(conditions, trees, hint)
        self._made: set[Tree] = set()
        self._with_git: set[Tree] = set()
        self._ahead: dict[Wanted, Build] = {}
        self._disturbed: dict[Tree, Failure] = {}
        self._others: list[Failure] = []
        self._watch = Watch(conditions, trees)
        self._read: dict[Tree, set[str]] = {}

    def build(
        self, side: Side, build: int, seed: int, factors: Mapping[str, Setting] = MappingProxyType({})
    ) -> Build | Failure:
        """Make a side ready for round `build`, with the settings of the factors that builds depend on.

        A first build that fails is tried once more with a .git in its tree, which keeps it, unless [build] git says
        otherwise. A set-up that failed is not tried again: every later build of that tree fails with it. One that
        changed tracked files of its tree has failed, unless the recipe declares them.

        Raises:
            SourceError: the side's first tree cannot be made. A later one that cannot is a failure.
        """
        wanted = self._wanted(side, build, seed, factors)
        if wanted in self._ahead:
            return self._ahead.pop(wanted)
        first = wanted.tree not in self._made
        key = self._key(wanted) if first else None
        begun = time.time_ns()
        budget = self._conditions.budget
        if key is not None and self._take(wanted, key):
            made = self._checked(wanted, self._attempt(wanted))
            if isinstance(made, Build):
                return msgspec.structs.replace(made, cached=True, full=made.full or self._cached[wanted.tree])
            # what is kept is of no use: as if it were not there
            budget.note("again", made.seconds or 0.0)
            self._forget(wanted)
        made = self._checked(wanted, self._attempt(wanted))
        if isinstance(made, Build) and key is not None:
            self._keep(wanted, key, made, begun)
        if isinstance(made, Failure) and self._may_lack_git(wanted):
            budget.note("again", made.seconds or 0.0)
            self._with_git.add(wanted.tree)
            self._made.discard(wanted.tree)
            self._works.setup_failures.pop(wanted.tree, None)
            made = self._checked(wanted, self._attempt(wanted))
        if isinstance(made, Build):
            self._works.built.add(wanted.tree)
        return made

    def build_ahead(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> Build | Failure:
        """Make a build before its round, which then takes it as it stands. Raises as `build` does."""
        # what it leaves outside its tree is not older than this
        self._since = min(self._since, time.time_ns())
        made = self.build(side, build, seed, factors)
        if isinstance(made, Build):
            self._ahead[self._wanted(side, build, seed, factors)] = made
        return made

    def is_ahead(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> bool:
        """Return whether a build was made before its round, and stands."""
        return self._wanted(side, build, seed, factors) in self._ahead

    def fault(self, side: Side, factors: Mapping[str, Setting]) -> int | None:
        """Return what a side's failed build ended with by itself, see Outcome.fault."""
        return self._works.faults.get((side, variant_name(factors)))

    def afresh(
        self, side: Side, build: int, seed: int, factors: Mapping[str, Setting] = MappingProxyType({})
    ) -> Build | Failure:
        """Build a side once more, alone and in a fresh tree, and keep nothing of it for later runs."""
        wanted = self._wanted(side, build, seed, factors)
        key = self._key(wanted)
        if self._cache is not None and key is not None:
            self._cache.drop(key)
        self._forget(wanted)
        made = self._checked(wanted, self._attempt(wanted))
        if isinstance(made, Build):
            self._works.built.add(wanted.tree)
        return made

    @property
    def work(self) -> Path:
        """The directory of the run: all that is in it is one side's own, or perfgate's."""
        return self._trees.directory

    def changed(self, build: int, *, executed: bool) -> list[Failure]:
        """Give a failure for each tree that is no longer what git says, beside the one that was built last.

        A tree is given once; nothing of it is to be trusted until it is made anew.

        build: the round. executed: whether benchmarks ran in the trees since.
        """
        found, self._others = self._others, []
        if executed:
            found += self._watch.unlike(build, None, f"starts of round {build + 1}")
        return found

    def _checked(self, wanted: Wanted, made: Build | Failure) -> Build | Failure:
        """Compare all trees with their commits after a build, if it ran anything."""
        if not self._works.has_run():
            return made
        found = self._watch.unlike(wanted.build, wanted.side, f"the build of {wanted.side} in round {wanted.build + 1}")
        self._others += [each for each in found if self._watch.tree_of(each) != wanted.tree]
        if isinstance(made, Failure):
            return made
        disturbed = self._disturbed.pop(wanted.tree, None)
        own = next((each for each in found if self._watch.tree_of(each) == wanted.tree), None)
        # what its own build does not do again was the other one's
        return own or (kept_apart(disturbed) if disturbed else made)

    def both(
        self, build: int, seed: int, factors: Mapping[str, Setting] = MappingProxyType({}),
        started: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """Make the first builds of both sides at once if that can be; `build` then gives what came of them.

        Each is made in a mount namespace where its own tree stands at the common path. One that fails there is made by
        `build`, alone: sudo does not work in a namespace, for one. So are both if one leaves a process behind, which
        the other may have used, or links to a place outside its tree, where both may have been.
        started: is called before they begin.

        Raises:
            SourceError: a tree cannot be made.
        """
        pair = [self._wanted(side, build, seed, factors) for side in SIDES]
        trees, recipes = {wanted.tree for wanted in pair}, [wanted.recipe for wanted in pair]
        if not self._trees.one_path or trees & self._made or not may_be_at_once(recipes):
            return
        keys = [self._key(wanted) for wanted in pair]
        if any(self._cache is not None and key is not None and self._cache.about(key) for key in keys):
            return
        begun = time.time_ns()
        results = self._together(pair, started)
        changed = self._watch.unlike(build, None, "the builds of base and head, which ran at once") if results else ()
        # either may have done it; what the side's own build does again when it is alone has its own failure
        for each in changed:
            if self._watch.tree_of(each) in trees:
                self._disturbed[self._watch.tree_of(each)] = each
            else:
                self._others.append(each)
        for wanted, key, done in zip_longest(pair, keys, results):
            usable = isinstance(done, Done) and wanted.tree not in self._disturbed
            record = self._record(wanted, done) if isinstance(done, Done) and usable else None
            if isinstance(record, Build):
                self._works.built.add(wanted.tree)
                self._ahead[wanted] = msgspec.structs.replace(record, at_once=True)
                if key is not None:
                    self._keep(wanted, key, record, begun)
            else:
                self._forget(wanted)

    def _together(self, pair: Sequence[Wanted], started: Callable[[], None]) -> Sequence[Done | Failure]:
        """Build at once; return nothing where one may have seen the other."""
        begin = time.perf_counter()
        if any(self._make_tree(wanted) for wanted in pair):
            return ()
        if any(works_elsewhere(self._trees.found(*wanted.tree)) for wanted in pair):
            return ()
        started()
        prepared = (time.perf_counter() - begin) / len(pair)
        variant, sandbox = pair[0].variant, self._conditions.sandbox
        try:
            with self._trees.apart(variant) as places, sandbox.apart():
                path = self._trees.place(pair[0].side, variant)
                works = [
                    (
                        self._works.work(each, prepared),
                        partial(standing, places={places[each.side]: path, **sandbox.standing(each.side)}),
                    )
                    for each in pair
                ]
                found = together(works, self._conditions.executor, self._conditions.budget)
        except (SourceError, LeftBehindError):
            return ()
        outside = any(isinstance(done, Done) and done.full and done.full.kind == "outside" for done in found)
        return () if outside else found

    def _wanted(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> Wanted:
        return Wanted(side, build, seed, factors, variant_name(factors), self._recipe(side, factors))

    def _key(self, wanted: Wanted) -> str | None:
        """Name a first build that may be kept; None: it may not be, or it makes nothing that is worth it."""
        table, cache = wanted.recipe.table, self._cache
        if cache is None or table.command is None or table.cache == "off" or wanted.factors:
            return None
        # what is shared or has a history is not only what the commit says
        if table.share or table.git == "on" or not self._trees.one_path:
            return None
        try:
            files = self._trees.files(wanted.side)
        except SourceError:
            return None
        place = self._trees.directory / "tree"
        sandboxed = self._conditions.sandbox.environment(wanted.side)
        return Subject(files, table, wanted.recipe.environment, place, sandboxed).key()

    def known(self, side: Side) -> About | None:
        """Return what is known of the first build of a side that later runs find; None: they find none."""
        key = self._key(self._wanted(side, 0, 0, {}))
        return None if key is None or self._cache is None else self._cache.about(key)

    def _take(self, wanted: Wanted, key: str) -> bool:
        """Take the tree of an earlier run, in the state after its first build."""
        cache, links = self._cache, self._works.links(wanted.tree)
        if cache is None:
            return False
        found: list[About] = []

        def copy(place: Path) -> bool:
            about = cache.take(key, place, links)
            found.extend([about] if about is not None else [])
            self._conditions.sandbox.own(links)
            return about is not None

        declared = self._watch.declared[wanted.side]
        budget = self._conditions.budget
        with budget.phase("checkout"), budget.timed("keep"):
            if not self._trees.take(wanted.side, copy, declared.__contains__):
                if found:
                    cache.drop(key)
                return False
        (about,) = found
        self._made.add(wanted.tree)
        self._works.built.add(wanted.tree)
        self._cached[wanted.tree] = about.full
        self._since = min(self._since, about.begun)
        self._works.ordered[wanted.tree] = about.ordered
        if about.full is None:
            self._works.recordings[wanted.tree] = Recording(links)
        return True

    def _keep(self, wanted: Wanted, key: str, made: Build, begun: int) -> None:
        # where a build's command runs again all the same, only what set-up made is worth it
        saved = (made.setup or 0.0) + ((made.seconds or 0.0) if made.full is None else 0.0)
        kept = self._cache is not None and wanted.side in self._cache.keeps
        if self._cache is not None and kept and not made.needs_git and saved >= _WORTH:
            self._trees.project(wanted.side)
            seconds = (made.setup or 0.0) + (made.seconds or 0.0) + (made.checked or 0.0)
            about = About(made.full, made.ordered, begun, seconds)
            with self._conditions.budget.timed("keep"):
                self._cache.keep(key, self._trees.place(wanted.side), self._works.links(wanted.tree), about)

    def _forget(self, wanted: Wanted) -> None:
        """Leave nothing of a tree."""
        self._trees.remove(wanted.side, wanted.variant)
        self._made.discard(wanted.tree)
        self._cached.pop(wanted.tree, None)
        self._watch.artifacts.pop(wanted.tree, None)
        self._works.forget(wanted.tree)

    def _may_lack_git(self, wanted: Wanted) -> bool:
        """Return whether a build may have failed because its tree has no .git; asked once for each tree."""
        untried = wanted.tree not in self._works.built | self._with_git
        return wanted.recipe.table.git == "auto" and untried and wanted.tree in self._works.exited

    def _attempt(self, wanted: Wanted) -> Build | Failure:
        begin = time.perf_counter()
        stands = wanted.tree in self._made and wanted.recipe.stays
        failure = self._make_tree(wanted)
        if failure is not None:
            return failure
        work = self._works.work(wanted, None if stands else time.perf_counter() - begin)
        done = alone(work, partial(self._in_place, wanted))
        return done if isinstance(done, Failure) else self._record(wanted, done)

    def _in_place(self, wanted: Wanted, command: Command) -> Outcome:
        self._trees.project(*wanted.tree)
        return self._conditions.executor.run(command)

    def _record(self, wanted: Wanted, done: Done) -> Build | Failure:
        recipe, table = wanted.recipe, wanted.recipe.table
        self.directory(wanted.side, wanted.factors)
        project, budget = self._watch.project(wanted.tree), self._conditions.budget
        try:
            with budget.phase("build"):
                hashes = hash_artifacts(project, self._artifacts(wanted, project), budget)
        except ArtifactError as error:
            shown = by_hand(table.command, {"seed": str(wanted.seed)}) if table.command is not None else None
            self._works.faults[wanted.tree] = 0
            return self._works.failure(wanted, str(error), command=shown)
        made = Artifacts.of(project, hashes)
        if table.artifacts is not None:  # a benchmark may write anew what nobody has named
            self._watch.artifacts[wanted.tree] = made
        return Build(
            side=wanted.side, session=self._conditions.session, build=wanted.build, seed=wanted.seed,
            seconds=done.seconds if recipe.stays else done.prepared,
            setup=done.prepared if recipe.stays and done.prepared else None, factors=dict(wanted.factors),
            artifacts=hashes, sizes=made.sizes, needs_git=wanted.tree in self._with_git, relinked=done.relinked,
            checked=done.checked, full=done.full, ordered=done.ordered, layout=layout_of(project.open, [*hashes]),
        )  # fmt: skip

    def _artifacts(self, wanted: Wanted, project: Project) -> list[str]:
        """Name what [build] artifacts names, else what the build made of that which benchmarks name or read."""
        table = wanted.recipe.table
        if table.artifacts is not None or table.command is None:
            return table.artifacts or []
        found = []
        for path in sorted({*wanted.recipe.named, *self._read.get(wanted.tree, ())}):
            with suppress(OSError):
                fd = project.open(path)
                if stat.S_ISREG(os.fstat(fd).st_mode):
                    found.append(path)
                os.close(fd)
        with suppress(SourceError):
            committed = self._trees.committed([wanted.side]) if found else frozenset()
            return [each for each in found if self._trees.repository.inside(each) not in committed]
        return []

    def read(self, side: Side, factors: Mapping[str, Setting], paths: Iterable[str]) -> None:
        """Know what a benchmark was seen to read, of the latest build of a side with these settings."""
        tree = side, variant_name(factors)
        top = f"{self._trees.place(*tree) / self._trees.repository.prefix}/"
        self._read.setdefault(tree, set()).update(path.removeprefix(top) for path in paths if path.startswith(top))

    def directory(self, side: Side, factors: Mapping[str, Setting] = MappingProxyType({})) -> Path:
        """Put a side's tree where its benchmarks run, for its latest build with these settings, and give that."""
        return self._trees.project(side, variant_name(factors))

    @contextmanager
    def taking_turns(self) -> Iterator[Mapping[Side, Standing]]:
        """Have both sides' latest builds ready, so that another process lets them stand by turns.

        Raises:
            SourceError: a tree cannot be moved.
        """
        trees, sandbox = self._trees, self._conditions.sandbox
        if not trees.one_path:
            yield {side: Standing(trees.root(side), trees.project(side)) for side in SIDES}
            return
        with trees.taking_turns() as aside, sandbox.taking_turns():
            yield {
                side: Standing(
                    aside[side], trees.stands(side), {aside[side]: trees.place(side), **sandbox.standing(side)}
                )
                for side in SIDES
            }

    def kept(self, side: Side, factors: Mapping[str, Setting] = MappingProxyType({})) -> Path:
        """Give where a person finds that directory after the run, if the trees are kept."""
        return self._trees.kept(side, variant_name(factors))

    def roots(self) -> Mapping[Side, Path] | None:
        """Give the trees of both sides, wherever they are; None: they do not stand at one path."""
        places = {each.stays for each in self._conditions.recipes.values()}
        return self._trees.roots() if self._trees.one_path and len(places) == 1 else None

    def committed(self) -> frozenset[str]:
        """Return the paths in the trees that the commits hold; all else was made there.

        Raises:
            SourceError: git failed.
        """
        return self._trees.committed()

    def root(self) -> Path:
        """Give the path at which the trees of both sides stand by turns."""
        return self._trees.place("head")

    def since(self) -> float:
        """Give when the first of the builds that are used began, in nanoseconds; infinity where none is kept.

        What it left outside its tree is as old as that.
        """
        return self._since

    def _recipe(self, side: Side, factors: Mapping[str, Setting]) -> Recipe:
        recipe, study = self._conditions.recipes[side], self._conditions.study
        if study is None or not factors:
            return recipe
        environment = {**recipe.environment, **treatments.build_environment(study, factors)}
        return replace(recipe, table=treatments.build_command(recipe.table, study, factors), environment=environment)

    def _make_tree(self, wanted: Wanted) -> Failure | None:
        """Give a build the tree that it wants, which is to be set up where it is new."""
        recipe = wanted.recipe
        if wanted.tree in self._works.setup_failures:
            return msgspec.structs.replace(self._works.setup_failures[wanted.tree], build=wanted.build)
        if wanted.tree in self._made and recipe.stays:
            return None
        # a new path for one side alone would make the paths differ
        moves = all(not each.stays and "path" in each.table.perturb for each in self._conditions.recipes.values())
        try:
            name = layout_name(self._seed, wanted.build) if moves else ""
            git = recipe.table.git == "on" or wanted.tree in self._with_git
            with self._conditions.budget.phase("checkout"):
                self._trees.make(wanted.side, name, wanted.variant, git=git)
        except SourceError as error:
            if not any(side == wanted.side for side, _ in self._made):
                raise
            return self._works.failure(wanted, str(error))
        self._made.add(wanted.tree)
        self._watch.factors[wanted.tree] = wanted.factors
        return None


def layout_name(seed: int, build: int) -> str:
    """Name the directory of the fresh checkouts of a round: random letters, of random number."""
    digest = hashlib.sha256(f"{seed} {build}".encode()).digest()
    length = 1 + digest[0] % _LONGEST_NAME
    return "".join("abcdefghijklmnopqrstuvwxyz"[byte % 26] for byte in (digest * 2)[1 : 1 + length])


# A server that compiles, and lives longer than the command that asks it, works in the namespace of whoever started it:
# it would compile one side's files for the other.
_SERVERS = re.compile(
    r"\b(gradlew?|mvnd|sbt|mill|bloop|bazel(isk)?|buck2?|pants|sccache|distcc|icecc|docker|podman|nerdctl|buildah|"
    r"nix(-build|-shell)?|dotnet|msbuild|watchman|systemd-run|tmux|screen|sudo|flatpak|snap)\b"
)
# Both would write there at once.
_ELSEWHERE = re.compile(r"~/|\.\./|\$\{?HOME\b|(?<![\w.])/(tmp|var|home|root|srv|mnt|opt|usr/local)\b")
# In a script of the project; what a compiler or tempfile puts into /tmp has a name of its own.
_ELSEWHERE_IN_SCRIPTS = re.compile(rb"/tmp/|/dev/shm|~/|\$[({]?HOME\b")
_SCRIPT = re.compile(
    r"(GNU)?[Mm]akefile.*|.*\.(mk|mak|sh|bash|zsh|py|pl|rb|js|mjs|cmake|just|toml|gyp)|[Jj]ustfile|CMakeLists\.txt|"
    r"build\.(rs|zig|xml)|meson\.build|package\.json|SConstruct|SConscript|wscript|configure(\.ac|\.in)?|Rakefile"
)
_UNUSED = re.compile(r"\..*|tests?|docs?|examples?|node_modules")
_LARGEST = 2_000_000
_COMPILERS = ("CC", "CXX", "RUSTC", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER")
_LAUNCHER = "_LAUNCHER"
_FOLDERS = ("CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR")


def may_be_at_once(recipes: Sequence[Recipe]) -> bool:
    """Return whether two builds by these recipes may be made at once: nothing tells that one would see the other."""
    if len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()) < len(recipes):
        return False
    return all(map(_keeps_to_itself, recipes)) and "files" in namespaces()


def works_elsewhere(tree: Path) -> bool:
    """Return whether a script of a fresh tree names a place outside of it, where both builds would be at once."""
    for parent, folders, names in walk(tree):
        folders[:] = [name for name in folders if not _UNUSED.fullmatch(name)]
        for name in filter(_SCRIPT.fullmatch, names):
            inner = os.path.relpath(f"{parent}/{name}", tree)
            with suppress(OSError), os.fdopen(open_beneath(tree, inner), "rb") as file:
                if _ELSEWHERE_IN_SCRIPTS.search(file.read(_LARGEST)):
                    return True
    return False


def _keeps_to_itself(recipe: Recipe) -> bool:
    table = recipe.table
    if not recipe.stays or table.share:
        return False
    commands = [command for command in (table.setup, table.command) if command is not None]
    texts = [command if isinstance(command, str) else " ".join(command) for command in commands]
    environment = recipe.environment
    texts += [value for name, value in environment.items() if name in _COMPILERS or name.endswith(_LAUNCHER)]
    if any(os.path.isabs(environment.get(name, "")) for name in _FOLDERS):  # noqa: PTH117
        return False
    return not any(_SERVERS.search(text) or _ELSEWHERE.search(text) for text in texts)
