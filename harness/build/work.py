"""What is run in a tree to set it up and to build it, and what is known of the tree from that."""

import hashlib
import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import msgspec

from gate.config.commands import by_hand
from gate.config.study import Setting
from gate.config.types import BuildTable
from gate.formats.parts.output import OutputError
from gate.model import Build, Failure, Side
from gate.model.case import canonical
from gate.model.records import FullKind, Ordered, WhyNotRelinked
from gate.removal import remove_tree
from harness.build import relink_check, replay
from harness.build.archives import TREE
from harness.build.conditions import Conditions, Recipe
from harness.build.perturb import build_environment
from harness.build.record import LINKS
from harness.instruments.protocol import arguments
from harness.instruments.values import TAIL, both_outputs, read_regular, tail
from harness.process.execute import Command, ProcessEnd
from harness.sandbox.sandbox import outputs
from harness.source.repository import Hint
from harness.source.trees import Trees

_EPOCH = "315619200"
"""2 January 1980, which zip archives can hold in all time zones: the time that builds write into what they make."""

_VARIANT_NAME = 8

_LARGEST = 1 << 16
"""Bytes of an answer."""
_SEEDS = ("{seed}", "PERFGATE_SEED", "PERFGATE_BUILD")

Tree = tuple[Side, str]
"""A side, and a variant of it: "" where there is one only."""


def refused(table: BuildTable) -> WhyNotRelinked | None:
    """Say why no link of a build need be recorded; None: they are."""
    if table.relink == "off":
        return WhyNotRelinked(kind="off")
    if "link-order" not in table.perturb:
        # then a build has its variety from elsewhere, or is to have none
        return WhyNotRelinked(kind="unperturbed")
    command = table.command or ""
    text = command if isinstance(command, str) else "\n".join(command)
    return WhyNotRelinked(kind="seed-used") if any(seed in text for seed in _SEEDS) else None


class Recording:
    """The links of a tree's first build, in a folder of the run's work directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self) -> dict[str, str]:
        """Make room for records; return what a build's environment needs for them.

        Raises: OSError: there is no room.
        """
        self.remove()
        self._folder.mkdir(parents=True)
        # what the build makes is younger than this file
        (self._folder / "began").touch()
        return {LINKS: str(self._folder)}

    def command(self, prefix: str, check: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the command that links again, to be run in place of a build's.

        check: artifacts of the first build, which has just been made: the command checks its records instead.
        """
        program = replay.__file__ if check is None else relink_check.__file__
        # relative to where builds run, whatever that is called there
        up = os.path.relpath(".", prefix)
        return (sys.executable, "-I", "-S", program, str(self._folder), up, *(check or ()))

    def found(self) -> tuple[WhyNotRelinked | None, Ordered | None]:
        """Read what the check, or a link that failed, has left: why later builds are full ones, or what links order.

        A build can write there what it likes.
        """
        try:
            told = os.fsdecode(read_regular(self._folder / replay.ANSWER, _LARGEST) or b"failed")
        except OutputError:
            told = "failed"
        kind, _, said = told.partition("\0")
        ordered: Ordered | None = next((each for each in get_args(Ordered) if not kind and each == said), None)
        if ordered is not None:
            return None, ordered
        self.remove()
        known: FullKind = next((each for each in get_args(FullKind) if each == kind), "failed")
        # a name that is no UTF-8 is no JSON either
        return WhyNotRelinked(kind=known, path=said.encode(errors="replace").decode()), None

    def remove(self) -> None:
        """Remove the records."""
        remove_tree(self._folder)


@dataclass(frozen=True, slots=True)
class WantedBuild:
    """What is built."""

    side: Side
    build: int
    seed: int
    factors: Mapping[str, Setting] = field(hash=False)
    recipe: Recipe = field(hash=False)

    @property
    def tree(self) -> Tree:
        """The tree that it is built in."""
        return self.side, variant_name(self.factors)


def links(work: Path, side: Side) -> Path:
    """Return where the links of a side's first builds are recorded, in a run's work directory."""
    return work / "links" / side


def variant_name(factors: Mapping[str, Setting]) -> str:
    """Name the directory of the trees that are built with these settings: equally long for all; "" without any."""
    if not factors:
        return ""
    digest = hashlib.sha256(canonical(factors).encode()).digest()
    return "".join("abcdefghijklmnopqrstuvwxyz"[byte % 26] for byte in digest[:_VARIANT_NAME])


@dataclass(slots=True)
class State:
    """What is known of a tree.

    made: it stands. built: once, at least. exited: a command in it ended by itself, and failed. fault: see
    Outcome.fault, of the last command that failed in it. recording: how its first build can be linked again. ordered:
    see Build. kept: of one that an earlier run made, why later builds are full ones. with_git: it has a .git because a
    first build failed without one. read: by benchmarks, paths below its project.
    """

    made: bool = False
    built: bool = False
    exited: bool = False
    fault: int | None = None
    setup_failure: Failure | None = None
    recording: Recording | None = None
    ordered: Ordered | str | None = None
    kept: WhyNotRelinked | None = None
    with_git: bool = False
    read: set[str] = field(default_factory=set)


class Works:
    """The works of a run, and what is known of its trees."""

    def __init__(self, conditions: Conditions, trees: Trees, hint: Hint) -> None:
        """hint: says what a failed build may lack."""
        self._conditions = conditions
        self._trees = trees
        self._hint = hint
        self.states: defaultdict[Tree, State] = defaultdict(State)
        self._ran = False

    def has_run(self) -> bool:
        """Return whether a command was run since this was last asked."""
        ran, self._ran = self._ran, False
        return ran

    def forget(self, tree: Tree) -> None:
        """Know nothing of a tree, which is removed, but what its next build needs, and what reads it."""
        self.states[tree] = State(with_git=self.states[tree].with_git, read=self.states[tree].read)

    def links(self, tree: Tree) -> Path:
        """Give where the links of a tree's first build are recorded."""
        side, variant = tree
        return links(self._trees.directory, side) / (variant or "tree")

    def work(self, wanted: WantedBuild, checkout: float | None) -> Build | Failure:
        """Set a tree up and build it; what came out of it is not looked at.

        checkout: seconds that making the tree took; None: it was there, set up.
        """
        table, prepared = wanted.recipe.table, checkout or 0.0
        if checkout is not None and table.setup is not None:
            begin = time.perf_counter()
            with self._conditions.budget.phase("setup"):
                outcome = self._run(wanted, arguments(table.setup, {}), by_hand(table.setup, {}), {})
            if isinstance(outcome, Failure):
                # all that follows in this tree would fail of it
                failure = msgspec.structs.replace(outcome, kind="setup", status=f"set-up: {outcome.status}")
                self.states[wanted.tree].setup_failure = failure
                return failure
            prepared += time.perf_counter() - begin
        stays = wanted.recipe.stays
        made = Build(
            side=wanted.side, session=self._conditions.session, build=wanted.build, seed=wanted.seed,
            seconds=0.0 if stays else prepared, setup=prepared if stays and prepared else None,
            factors=dict(wanted.factors), needs_git=self.states[wanted.tree].with_git,
        )  # fmt: skip
        if table.command is None:
            return made
        with self._conditions.budget.phase("build", prepared):
            return self._make(wanted, table.command, made)

    def _make(self, wanted: WantedBuild, command: str | list[str], made: Build) -> Build | Failure:
        """Run the build command, or link again what the tree's first build has compiled."""
        table, seed, values = wanted.recipe.table, wanted.seed, {"seed": str(wanted.seed)}
        laid_out = build_environment(table.perturb, seed, wanted.recipe.environment, self._conditions.shims)
        place = self._trees.made(*wanted.tree).place
        added = {**laid_out, "PERFGATE_SEED": str(seed), "PERFGATE_BUILD": str(wanted.build), TREE: str(place)}
        state = self.states[wanted.tree]
        first, prefix = not state.built, self._trees.repository.prefix.as_posix()
        relink = table.relink if table.relink not in ("auto", "off") else None
        command = command if relink is None or first else relink
        full = refused(table) if first and relink is None else None
        checked: float | None = None
        recording = state.recording
        if recording is not None and not first:
            outcome = self._run(wanted, recording.command(prefix), "", added)
            if isinstance(outcome, ProcessEnd):
                return msgspec.structs.replace(made, seconds=outcome.seconds, relinked=True, ordered=state.ordered)
            full = recording.found()[0] or WhyNotRelinked(kind="failed")
            state.recording = None
        elif first and relink is None and full is None:
            recording = Recording(self.links(wanted.tree))
            try:
                added |= recording.begin()
                self._conditions.sandbox.own(self.links(wanted.tree))
            except OSError:
                full, recording = WhyNotRelinked(kind="failed"), None
        outcome = self._run(wanted, arguments(command, values), by_hand(command, values), added)
        if isinstance(outcome, Failure):
            return outcome
        if first and recording is not None:
            check = self._run(wanted, recording.command(prefix, table.artifacts or ()), "", added)
            checked = check.seconds
            full, state.ordered = recording.found()
            if full is None:
                state.recording = recording
        return msgspec.structs.replace(
            made,
            seconds=outcome.seconds,
            relinked=relink is not None and not first,
            checked=checked,
            full=full,
            ordered=state.ordered,
        )

    def _run(
        self, wanted: WantedBuild, argv: tuple[str, ...], shown: str, added: Mapping[str, str]
    ) -> ProcessEnd | Failure:
        recipe, side = wanted.recipe, wanted.side
        environment = {"SOURCE_DATE_EPOCH": _EPOCH, **recipe.environment, "PERFGATE_SIDE": side, **added}
        sandbox = self._conditions.sandbox
        environment |= sandbox.environment(side)
        output = outputs(self._conditions.scratch, side) / "build"
        output.parent.mkdir(parents=True, exist_ok=True)
        made = self._trees.made(*wanted.tree)
        confined = sandbox.confined(side, made.path, building=True)
        self._ran = True
        limit = float(recipe.table.timeout)
        self._trees.project(*wanted.tree)
        command = Command(
            argv, made.place / self._trees.repository.prefix, environment, limit, stdout=output, confined=confined
        )
        outcome = self._conditions.executor.run(command)
        if not outcome.status:
            return outcome
        state = self.states[wanted.tree]
        state.fault = outcome.fault
        state.exited = state.exited or (outcome.code is not None and not outcome.unstarted)
        # compilers' drivers and test runners often tell on standard output what went wrong
        told = both_outputs(tail(output), outcome.stderr.strip("\n")[-TAIL:])
        failure = self.failure(wanted, outcome, stderr=told, command=shown, environment=environment)
        return msgspec.structs.replace(failure, seconds=outcome.seconds)

    def failure(
        self, wanted: WantedBuild, why: str | ProcessEnd, *, stderr: str = "", command: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Failure:  # fmt: skip
        """Say that a build failed, and where a person finds its tree; environment: of the command."""
        changed = None if environment is None else self._conditions.difference(wanted.side, environment)
        failure = Failure(
            kind="build", side=wanted.side, session=self._conditions.session, build=wanted.build,
            factors=dict(wanted.factors), status=why if isinstance(why, str) else why.status, stderr=stderr,
            command=command, directory=str(self._trees.found(*wanted.tree)), environment=changed,
        )  # fmt: skip
        unstarted = isinstance(why, ProcessEnd) and why.unstarted
        hint, kept = self._hint(failure, unstarted), self._trees.kept(*wanted.tree)
        return msgspec.structs.replace(failure, hint=hint, directory=str(kept))
