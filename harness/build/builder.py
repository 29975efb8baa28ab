"""Makes a side ready for a round: set-up, build command or fresh checkout, and what came out of it."""

import hashlib
import math
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import msgspec

from gate.config import treatments
from gate.config.commands import by_hand
from gate.config.study import Setting
from gate.model import SIDES, Build, Failure, Side
from harness.build.cache import BuildCache, KeptBuild, name_of
from harness.build.changed_files import ArtifactError, Artifacts, ProjectPlace, Watch, hash_artifacts
from harness.build.conditions import Conditions, Standing
from harness.build.functions import layout_of
from harness.build.work import Recording, State, WantedBuild, Works, variant_name
from harness.errors import SourceError
from harness.source.repository import Hint, no_hint
from harness.source.trees import Trees

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
        self._since = math.inf
        self._conditions = conditions
        self._trees = trees
        self._seed = seed
        self._works = Works(conditions, trees, hint)
        self._ahead: dict[WantedBuild, Build] = {}
        self._others: list[Failure] = []
        self._watch = Watch(conditions, trees)

    def build(
        self, side: Side, build: int, seed: int, factors: Mapping[str, Setting] = MappingProxyType({})
    ) -> Build | Failure:
        """Make a side ready for round `build`, with the settings of the factors that builds depend on.

        A first build that fails is tried once more with a .git in its tree, which keeps it, unless [build] git says
        otherwise. A set-up that failed is not tried again: every later build of that tree fails with it. One that
        changed tracked files of its tree has failed, unless the recipe declares them.

        Raises: SourceError: the side's first tree cannot be made. A later one that cannot is a failure.
        """
        wanted = self._wanted(side, build, seed, factors)
        if wanted in self._ahead:
            return self._ahead.pop(wanted)
        state = self._works.states[wanted.tree]
        key = None if state.made else self._key(wanted)
        begun = time.time_ns()
        budget = self._conditions.budget
        if key is not None and self._take(wanted, key):
            made = self._checked(wanted, self._attempt(wanted))
            if isinstance(made, Build):
                return msgspec.structs.replace(made, cached=True, full=made.full or state.kept)
            # what is kept is of no use: as if it were not there
            budget.note("again", made.seconds or 0.0)
            state = self._forget(wanted)
        made = self._checked(wanted, self._attempt(wanted))
        if isinstance(made, Build) and key is not None and self._cache is not None and side in self._cache.keeps:
            # where a build's command runs again all the same, only what set-up made is worth it
            saved = (made.setup or 0.0) + ((made.seconds or 0.0) if made.full is None else 0.0)
            if saved >= _WORTH and not made.needs_git:
                self._trees.project(side)
                seconds = (made.setup or 0.0) + (made.seconds or 0.0) + (made.checked or 0.0)
                about = KeptBuild(made.full, made.ordered, begun, seconds)
                with budget.timed("keep"):
                    self._cache.keep(key, self._trees.made(side).place, self._works.links(wanted.tree), about)
        may_lack_git = wanted.recipe.table.git == "auto" and state.exited and not (state.built or state.with_git)
        if isinstance(made, Failure) and may_lack_git:
            budget.note("again", made.seconds or 0.0)
            state.with_git, state.made, state.setup_failure = True, False, None
            made = self._checked(wanted, self._attempt(wanted))
        state.built = state.built or isinstance(made, Build)
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
        return self._works.states[side, variant_name(factors)].fault

    def afresh(
        self, side: Side, build: int, seed: int, factors: Mapping[str, Setting] = MappingProxyType({})
    ) -> Build | Failure:
        """Build a side once more, alone and in a fresh tree, and keep nothing of it for later runs."""
        wanted = self._wanted(side, build, seed, factors)
        key = self._key(wanted)
        if self._cache is not None and key is not None:
            self._cache.drop(key)
        state = self._forget(wanted)
        made = self._checked(wanted, self._attempt(wanted))
        state.built = isinstance(made, Build)
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

    def _checked(self, wanted: WantedBuild, made: Build | Failure) -> Build | Failure:
        """Compare all trees with their commits after a build, if it ran anything."""
        if not self._works.has_run():
            return made
        found = self._watch.unlike(wanted.build, wanted.side, f"the build of {wanted.side} in round {wanted.build + 1}")
        self._others += [each for each in found if self._watch.tree_of(each) != wanted.tree]
        if isinstance(made, Failure):
            return made
        return next((each for each in found if self._watch.tree_of(each) == wanted.tree), made)

    def _wanted(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> WantedBuild:
        recipe, study = self._conditions.recipes[side], self._conditions.study
        if study is not None and factors:
            environment = {**recipe.environment, **treatments.build_environment(study, factors)}
            table = treatments.build_command(recipe.table, study, factors)
            recipe = replace(recipe, table=table, environment=environment)
        return WantedBuild(side, build, seed, factors, recipe)

    def _key(self, wanted: WantedBuild) -> str | None:
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
        return name_of(files, table, wanted.recipe.environment, place, sandboxed)

    def known(self, side: Side) -> KeptBuild | None:
        """Return what is known of the first build of a side that later runs find; None: they find none."""
        key = self._key(self._wanted(side, 0, 0, {}))
        return None if key is None or self._cache is None else self._cache.about(key)

    def _take(self, wanted: WantedBuild, key: str) -> bool:
        """Take the tree of an earlier run, in the state after its first build."""
        cache, links = self._cache, self._works.links(wanted.tree)
        if cache is None:
            return False
        found: list[KeptBuild] = []

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
        recording = Recording(links) if about.full is None else None
        state = self._works.states[wanted.tree]
        state.made = state.built = True
        state.kept, state.ordered, state.recording = about.full, about.ordered, recording
        self._since = min(self._since, about.begun)
        return True

    def _forget(self, wanted: WantedBuild) -> State:
        """Leave nothing of a tree; return what is known of it from now on."""
        self._trees.remove(*wanted.tree)
        self._watch.artifacts.pop(wanted.tree, None)
        self._works.forget(wanted.tree)
        return self._works.states[wanted.tree]

    def _attempt(self, wanted: WantedBuild) -> Build | Failure:
        begin = time.perf_counter()
        state = self._works.states[wanted.tree]
        stands = state.made and wanted.recipe.stays
        failure = self._make_tree(wanted)
        if failure is not None:
            return failure
        built = self._works.work(wanted, None if stands else time.perf_counter() - begin)
        if isinstance(built, Failure):
            return built
        table = wanted.recipe.table
        self.directory(wanted.side, wanted.factors)
        project, budget = self._watch.project(wanted.tree), self._conditions.budget
        try:
            with budget.phase("build"):
                hashes = hash_artifacts(project, self._artifacts(wanted, project), budget)
        except ArtifactError as error:
            shown = by_hand(table.command, {"seed": str(wanted.seed)}) if table.command is not None else None
            state.fault = 0
            return self._works.failure(wanted, str(error), command=shown)
        made = Artifacts.of(project, hashes)
        if table.artifacts is not None:  # a benchmark may write anew what nobody has named
            self._watch.artifacts[wanted.tree] = made
        layout = layout_of(project.open, [*hashes])
        return msgspec.structs.replace(built, artifacts=hashes, sizes=made.sizes, layout=layout)

    def _artifacts(self, wanted: WantedBuild, project: ProjectPlace) -> list[str]:
        """Name what [build] artifacts names, else what the build made of that which benchmarks name or read."""
        table = wanted.recipe.table
        if table.artifacts is not None or table.command is None:
            return table.artifacts or []
        found = []
        for path in sorted({*wanted.recipe.named, *self._works.states[wanted.tree].read}):
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
        top = f"{self._trees.made(*tree).place / self._trees.repository.prefix}/"
        self._works.states[tree].read.update(path.removeprefix(top) for path in paths if path.startswith(top))

    def directory(self, side: Side, factors: Mapping[str, Setting] = MappingProxyType({})) -> Path:
        """Put a side's tree where its benchmarks run, for its latest build with these settings, and give that."""
        return self._trees.project(side, variant_name(factors))

    @contextmanager
    def taking_turns(self) -> Iterator[Mapping[Side, Standing]]:
        """Have both sides' latest builds ready, so that another process lets them stand by turns.

        Raises: SourceError: a tree cannot be moved.
        """
        trees, sandbox = self._trees, self._conditions.sandbox
        if not trees.one_path:
            yield {side: Standing(trees.made(side).path, trees.project(side)) for side in SIDES}
            return
        with trees.taking_turns() as aside, sandbox.taking_turns():
            found = {}
            for side, root in aside.items():
                place = trees.made(side).place
                found[side] = Standing(root, place / trees.repository.prefix, {root: place, **sandbox.standing(side)})
            yield found

    def kept(self, side: Side, factors: Mapping[str, Setting] = MappingProxyType({})) -> Path:
        """Give where a person finds that directory after the run, if the trees are kept."""
        return self._trees.kept(side, variant_name(factors))

    def roots(self) -> Mapping[Side, Path] | None:
        """Give the trees of both sides, wherever they are; None: they do not stand at one path."""
        places = {each.stays for each in self._conditions.recipes.values()}
        return self._trees.roots() if self._trees.one_path and len(places) == 1 else None

    def committed(self) -> frozenset[str]:
        """Return the paths in the trees that the commits hold; all else was made there.

        Raises: SourceError: git failed.
        """
        return self._trees.committed()

    def root(self) -> Path:
        """Give the path at which the trees of both sides stand by turns."""
        return self._trees.made("head").place

    def since(self) -> float:
        """Give when the first of the builds that are used began, in nanoseconds; infinity where none is kept.

        What it left outside its tree is as old as that.
        """
        return self._since

    def _make_tree(self, wanted: WantedBuild) -> Failure | None:
        """Give a build the tree that it wants, which is to be set up where it is new."""
        recipe = wanted.recipe
        state = self._works.states[wanted.tree]
        if state.setup_failure is not None:
            return msgspec.structs.replace(state.setup_failure, build=wanted.build)
        if state.made and recipe.stays:
            return None
        # a new path for one side alone would make the paths differ
        moves = all(not each.stays and "path" in each.table.perturb for each in self._conditions.recipes.values())
        try:
            name = layout_name(self._seed, wanted.build) if moves else ""
            git = recipe.table.git == "on" or state.with_git
            with self._conditions.budget.phase("checkout"):
                self._trees.make(wanted.side, name, wanted.tree[1], git=git)
        except SourceError as error:
            if not any(each.made for (side, _), each in self._works.states.items() if side == wanted.side):
                raise
            return self._works.failure(wanted, str(error))
        state.made = True
        self._watch.factors[wanted.tree] = wanted.factors
        return None


def layout_name(seed: int, build: int) -> str:
    """Name the directory of the fresh checkouts of a round: random letters, of random number."""
    digest = hashlib.sha256(f"{seed} {build}".encode()).digest()
    length = 1 + digest[0] % _LONGEST_NAME
    return "".join("abcdefghijklmnopqrstuvwxyz"[byte % 26] for byte in (digest * 2)[1 : 1 + length])
