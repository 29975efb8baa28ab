"""Makes a side ready for a round: set-up, build command or fresh checkout, and what came out of it."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

from gate.config import treatments
from gate.config.study import Setting
from gate.model import Build, Failure, Side
from gate.model.case import canonical
from gate.model.records import FullBuilds, Ordered
from harness.build.artifacts import ArtifactError, hash_artifacts
from harness.build.cache import About, BuildCache, Subject
from harness.build.conditions import Conditions, Recipe
from harness.build.perturb import build_environment, without_shims
from harness.build.relink import Recording, refused
from harness.errors import SourceError
from harness.instruments.protocol import TAIL, arguments, both_outputs, by_hand, tail
from harness.process.execute import Command, Outcome, environment_difference
from harness.source.trees import EPOCH, Trees
from harness.source.untracked import Hint, no_hint

_LONGEST_NAME = 32  # a socket's path below it stays under the 108 bytes of unix(7)
_VARIANT_NAME = 8
_WORTH = 1.0
"""Seconds of building that are worth a copy of the tree."""


@dataclass(frozen=True, slots=True)
class _Build:
    """What is built. variant: the directory of its tree among those of its side; "" where there is one only."""

    side: Side
    build: int
    factors: Mapping[str, Setting]
    variant: str
    recipe: Recipe

    @property
    def tree(self) -> tuple[Side, str]:
        return self.side, self.variant


@dataclass(frozen=True, slots=True)
class _Done:
    """How a build was made: the fields of its record."""

    seconds: float = 0.0
    relinked: bool = False
    checked: float | None = None
    full: FullBuilds | None = None
    ordered: Ordered | str | None = None


class TreeBuilder:
    """Builds in the trees of a run: the Builder of harness.loop.measure.

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
        """See the class."""
        self._cache = cache
        self._cached: dict[tuple[Side, str], FullBuilds | None] = {}
        self._since = math.inf
        self._conditions = conditions
        self._trees = trees
        self._seed = seed
        self._hint = hint
        self._made: set[tuple[Side, str]] = set()
        self._setup_failures: dict[tuple[Side, str], Failure] = {}
        self._built: set[tuple[Side, str]] = set()
        self._with_git: set[tuple[Side, str]] = set()
        self._exited: set[tuple[Side, str]] = set()
        self._recordings: dict[tuple[Side, str], Recording] = {}
        self._ordered: dict[tuple[Side, str], Ordered | str | None] = {}

    def build(
        self, side: Side, build: int, seed: int, factors: Mapping[str, Setting] = MappingProxyType({})
    ) -> Build | Failure:
        """Make a side ready for round `build`, with the settings of the factors that builds depend on.

        A first build that fails is tried once more with a .git in its tree, which keeps it, unless [build] git says
        otherwise. A set-up that failed is not tried again: every later build of that tree fails with it.

        Raises:
            SourceError: the side's first tree cannot be made. A later one that cannot is a failure.
            BudgetEndedError: the budget has ended.
        """
        wanted = _Build(side, build, factors, variant_name(factors), self._recipe(side, factors))
        first = wanted.tree not in self._made
        key = self._key(wanted) if first else None
        begun = time.time_ns()
        if key is not None and self._take(wanted, key):
            made = self._attempt(wanted, seed)
            if isinstance(made, Build):
                return msgspec.structs.replace(made, cached=True, full=self._cached[wanted.tree])
            # what is kept is of no use: as if it were not there
            self._forget(wanted)
        made = self._attempt(wanted, seed)
        if isinstance(made, Build) and key is not None:
            self._keep(wanted, key, made, begun)
        if isinstance(made, Failure) and self._may_lack_git(wanted):
            self._with_git.add(wanted.tree)
            self._made.discard(wanted.tree)
            self._setup_failures.pop(wanted.tree, None)
            made = self._attempt(wanted, seed)
        if isinstance(made, Build):
            self._built.add(wanted.tree)
        return made

    def _key(self, wanted: _Build) -> str | None:
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
        return Subject(files, table, wanted.recipe.environment, place).key()

    def _take(self, wanted: _Build, key: str) -> bool:
        """Take the tree of an earlier run, in the state after its first build."""
        cache, links = self._cache, self._links(wanted)
        if cache is None:
            return False
        found: list[About] = []

        def copy(place: Path) -> bool:
            about = cache.take(key, place, links)
            found.extend([about] if about is not None else [])
            return about is not None

        with self._conditions.budget.phase("checkout"):
            if not self._trees.take(wanted.side, copy):
                return False
        (about,) = found
        self._made.add(wanted.tree)
        self._built.add(wanted.tree)
        self._cached[wanted.tree] = about.full
        self._since = min(self._since, about.begun)
        self._ordered[wanted.tree] = about.ordered
        if about.full is None:
            self._recordings[wanted.tree] = Recording(links)
        return True

    def _keep(self, wanted: _Build, key: str, made: Build, begun: int) -> None:
        # where a build's command runs again all the same, only what set-up made is worth it
        saved = (made.setup or 0.0) + ((made.seconds or 0.0) if made.full is None else 0.0)
        if self._cache is not None and not made.needs_git and saved >= _WORTH:
            self._trees.project(wanted.side)
            about = About(made.full, made.ordered, begun)
            self._cache.keep(key, self._trees.place(wanted.side), self._links(wanted), about)

    def _forget(self, wanted: _Build) -> None:
        self._trees.remove(wanted.side, wanted.variant)
        self._made.discard(wanted.tree)
        self._built.discard(wanted.tree)
        self._recordings.pop(wanted.tree, None)
        self._setup_failures.pop(wanted.tree, None)

    def _links(self, wanted: _Build) -> Path:
        return self._trees.directory / "links" / f"{wanted.side}-{wanted.variant}"

    def _may_lack_git(self, wanted: _Build) -> bool:
        """Return whether a build may have failed because its tree has no .git; asked once for each tree."""
        untried = wanted.tree not in self._built | self._with_git
        return wanted.recipe.table.git == "auto" and untried and wanted.tree in self._exited

    def _attempt(self, wanted: _Build, seed: int) -> Build | Failure:
        side, build, factors, recipe = wanted.side, wanted.build, wanted.factors, wanted.recipe
        table = recipe.table
        begin = time.perf_counter()
        standing = wanted.tree in self._made and recipe.stays
        failure = self._make_tree(wanted)
        if failure is not None:
            return failure
        prepared = time.perf_counter() - begin
        seconds = 0.0 if recipe.stays else prepared
        shown, done = None, _Done()
        if table.command is not None:
            shown = by_hand(table.command, {"seed": str(seed)})
            with self._conditions.budget.phase("build", prepared):
                made = self._make(wanted, seed)
            if isinstance(made, Failure):
                return made
            done, seconds = made, made.seconds
        try:
            hashes = hash_artifacts(self.directory(side, factors), table.artifacts)
        except ArtifactError as error:
            return self._failure(wanted, str(error), command=shown)
        return Build(
            side=side,
            session=self._conditions.session,
            build=build,
            seed=seed,
            seconds=seconds,
            setup=prepared if recipe.stays and not standing else None,
            factors=dict(factors),
            artifacts=hashes,
            needs_git=wanted.tree in self._with_git,
            relinked=done.relinked,
            checked=done.checked,
            full=done.full,
            ordered=done.ordered,
        )

    def _make(self, wanted: _Build, seed: int) -> _Done | Failure:
        """Run the build command, or link again what the tree's first build has compiled."""
        table, command, values = wanted.recipe.table, wanted.recipe.table.command or [], {"seed": str(seed)}
        laid_out = build_environment(table.perturb, seed, wanted.recipe.environment, self._conditions.shims)
        added = {**laid_out, "PERFGATE_SEED": str(seed), "PERFGATE_BUILD": str(wanted.build)}
        first = wanted.tree not in self._built
        if table.relink not in ("auto", "off"):
            command = command if first else table.relink
            outcome = self._run(wanted, arguments(command, values), by_hand(command, values), added)
            return outcome if isinstance(outcome, Failure) else _Done(outcome.seconds, not first)
        full: FullBuilds | None = None
        checked: float | None = None
        recording = self._recordings.get(wanted.tree)
        if recording is not None and not first:
            outcome = self._run(wanted, recording.replaying(self._prefix), "", added)
            if isinstance(outcome, Outcome):
                return _Done(outcome.seconds, True, ordered=self._ordered.get(wanted.tree))
            full = recording.found().full or FullBuilds(kind="failed")
            del self._recordings[wanted.tree]
        if first:
            full, recording = self._begin(wanted, added)
        outcome = self._run(wanted, arguments(command, values), by_hand(command, values), added)
        if isinstance(outcome, Failure):
            return outcome
        if first and recording is not None:
            check = self._run(wanted, recording.checking(self._prefix, table.artifacts), "", added)
            checked = check.seconds
            found = recording.found()
            full = found.full
            if full is None:
                self._recordings[wanted.tree] = recording
            self._ordered[wanted.tree] = found.ordered
        return _Done(outcome.seconds, False, checked, full, self._ordered.get(wanted.tree))

    def _begin(self, wanted: _Build, added: dict[str, str]) -> tuple[FullBuilds | None, Recording | None]:
        """Have the links of a tree's first build recorded, unless there is a reason against it."""
        full = refused(wanted.recipe.table)
        if full is not None:
            return full, None
        recording = Recording(self._links(wanted))
        try:
            added |= recording.begin()
        except OSError:
            return FullBuilds(kind="failed"), None
        return None, recording

    @property
    def _prefix(self) -> str:
        return self._trees.repository.prefix.as_posix()

    def directory(self, side: Side, factors: Mapping[str, Setting] = MappingProxyType({})) -> Path:
        """Put a side's tree where its benchmarks run, for its latest build with these settings, and give that."""
        return self._trees.project(side, variant_name(factors))

    def kept(self, side: Side, factors: Mapping[str, Setting] = MappingProxyType({})) -> Path:
        """Give where a person finds that directory after the run, if the trees are kept."""
        return self._trees.kept(side, variant_name(factors))

    def roots(self) -> Mapping[Side, Path] | None:
        """Give the trees of both sides, wherever they are; None: they do not stand at one path."""
        places = {each.stays for each in self._conditions.recipes.values()}
        return self._trees.roots() if self._trees.one_path and len(places) == 1 else None

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
        return Recipe(treatments.build_command(recipe.table, study, factors), environment)

    def _make_tree(self, wanted: _Build) -> Failure | None:
        """Give a build the tree that it wants, set up."""
        recipe = wanted.recipe
        if wanted.tree in self._setup_failures:
            return msgspec.structs.replace(self._setup_failures[wanted.tree], build=wanted.build)
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
            return self._failure(wanted, str(error))
        self._made.add(wanted.tree)
        if recipe.table.setup is None:
            return None
        setup = recipe.table.setup
        with self._conditions.budget.phase("setup"):
            outcome = self._run(wanted, arguments(setup, {}), by_hand(setup, {}), {})
        if isinstance(outcome, Failure):
            # all that follows in this tree would fail of it
            failure = msgspec.structs.replace(outcome, status=f"set-up: {outcome.status}")
            self._setup_failures[wanted.tree] = failure
            return failure
        return None

    def _run(self, wanted: _Build, argv: tuple[str, ...], shown: str, added: Mapping[str, str]) -> Outcome | Failure:
        recipe, side = wanted.recipe, wanted.side
        environment = {"SOURCE_DATE_EPOCH": str(EPOCH), **recipe.environment, "PERFGATE_SIDE": side, **added}
        output = self._trees.directory / f"output-{side}"
        directory = self.directory(side, wanted.factors)
        command = Command(argv, directory, environment, float(recipe.table.timeout), stdout=output)
        outcome = self._conditions.executor.run(command)
        if not outcome.status:
            return outcome
        if outcome.code is not None and not outcome.unstarted:
            self._exited.add(wanted.tree)
        # compilers' drivers and test runners often tell on standard output what went wrong
        told = both_outputs(tail(output), outcome.stderr.strip("\n")[-TAIL:])
        failure = self._failure(wanted, outcome, stderr=told, command=shown, environment=environment)
        return msgspec.structs.replace(failure, seconds=outcome.seconds)

    def _failure(
        self,
        wanted: _Build,
        why: str | Outcome,
        *,
        stderr: str = "",
        command: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Failure:
        changed = None
        if environment is not None:
            changed = environment_difference(
                self._conditions.caller, without_shims(environment, self._conditions.shims)
            )
        failure = Failure(
            kind="build",
            side=wanted.side,
            session=self._conditions.session,
            build=wanted.build,
            factors=dict(wanted.factors),
            status=why if isinstance(why, str) else why.status,
            stderr=stderr,
            command=command,
            directory=str(self.directory(wanted.side, wanted.factors)),
            environment=changed,
        )
        unstarted = isinstance(why, Outcome) and why.unstarted
        hint, kept = self._hint(failure, unstarted), self.kept(wanted.side, wanted.factors)
        return msgspec.structs.replace(failure, hint=hint, directory=str(kept))


def layout_name(seed: int, build: int) -> str:
    """Name the directory of the fresh checkouts of a round: random letters, of random number."""
    digest = hashlib.sha256(f"{seed} {build}".encode()).digest()
    length = 1 + digest[0] % _LONGEST_NAME
    return "".join("abcdefghijklmnopqrstuvwxyz"[byte % 26] for byte in (digest * 2)[1 : 1 + length])


def variant_name(factors: Mapping[str, Setting]) -> str:
    """Name the directory of the trees that are built with these settings: equally long for all; "" without any."""
    if not factors:
        return ""
    digest = hashlib.sha256(canonical(factors).encode()).digest()
    return "".join("abcdefghijklmnopqrstuvwxyz"[byte % 26] for byte in digest[:_VARIANT_NAME])
