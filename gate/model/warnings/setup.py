"""What is known before measuring: the sides, the rules, the plan, the instruments, and what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec

from gate.model.history import Proof
from gate.model.names import FailureKind
from gate.model.warnings.base import Base, First, Later
from gate.units import Duration, agree, format_duration, plural
from gate.writing.phrases import joined, listed, none_of, toml_text
from gate.writing.plain import clip, visible

_LONGEST = 60
_SHA = 10

# --- the sides and the rules ------------------------------------------------------------------------------------------


class BaseAhead(Base, frozen=True):
    says = "base ({ref}) has {commits:commit} that head lacks: their effect counts as a change by head"
    ref: str
    commits: int


class DirtySubmodule(First, frozen=True):
    says = "submodule {path} has uncommitted changes: its commit is measured without them"
    path: str


class EmbeddedRepository(First, frozen=True):
    says = "{path} is a nested repository, not a submodule: neither side includes it"
    path: str


class LfsPointers(First, frozen=True):
    says = "the checkout has Git LFS pointers instead of files, and so do both sides: run `git lfs pull`"


class LeftBehind(Base, frozen=True):
    says = "perfgate cannot remove its directory {directory} ({why}): remove it yourself"
    directory: str
    why: str


class BaseWithoutConfig(First, frozen=True):
    says = "base has no perfgate.toml: head's is used for both sides"


class BaseBroken(First, frozen=True):
    """Base does not build, or a benchmark does not start there: it failed twice alike before anything of head ran."""

    in_headline: ClassVar[bool] = True
    base: str | None
    failed: FailureKind
    """What failed: its build, or an execution."""
    benchmark: str | None
    """Which does not start; None: its build failed."""
    status: str
    output: tuple[str, ...]
    """The first error that it wrote; of an older perfgate its last two lines."""
    tried: int
    """How many of its first-parent ancestors were tried."""
    compared: str | None
    """The commit that head is compared with: an ancestor, or base in the benchmarks that start there; None: none."""

    def _said(self) -> str:
        if self.compared is None or self.compared == self.base:
            return f"{self.with_ancestors()}: what does not start there is not compared"
        # that head runs is the repair
        return f"{self._broken()}: head is compared with its ancestor {self.compared[:_SHA]}"

    def with_ancestors(self) -> str:
        """Say how base is broken, and how many ancestors are: "base 1a2b3c4d5e does not build (exit 1), nor ..."."""
        nor = "" if self.tried == 0 else f", nor do its {self.tried} nearest ancestors"
        return f"{self._broken()}{', nor does its parent' if self.tried == 1 else nor}"

    def _broken(self) -> str:
        what = "does not build" if self.benchmark is None else f"does not start {self.benchmark}"
        said = " / ".join(clip(visible(line.strip()), 200) for line in self.output)
        why = ": ".join(text for text in (self.status, said) if text)
        return f"base {(self.base or 'unknown')[:_SHA]} {what} ({why})"


class NothingToCompare(First, frozen=True):
    """Base runs none of head's benchmarks, so that there is nothing to compare with.

    It has no configuration, or it is broken and so are its ancestors, or its suites have no benchmark.
    """

    base: str | None
    """The commit of base, whatever was measured in its place."""
    itself: bool
    """Whether head was measured against itself."""
    failed: FailureKind
    """What failed in base first; missing: it does not have the folder of the project."""
    benchmark: str | None = None
    """Whose execution failed; None: no execution did."""
    status: str = ""
    """How it ended; empty: nothing failed to run."""
    broken: BaseBroken | None = None
    """How base is broken; None: it has no configuration."""
    empty: bool = False
    """Whether it has one, and `benchmark` is a suite in which it has no benchmark yet."""

    @property
    def lacks(self) -> str:
        """Say what base lacks: "base has no perfgate.toml, and head's build fails there (exit 2)"."""
        if self.broken is not None:
            return self.broken.with_ancestors()
        if self.empty:
            return f"{self.benchmark} has no benchmark in base"
        first = "base has no perfgate.toml"
        if self.failed == "missing":
            return f"{first}, nor the folder of the project"
        if self.benchmark is not None:
            return f"{first}, and none of head's benchmarks runs there"
        return f"{first}, and head's build fails there{f' ({self.status})' if self.status else ''}"

    def _said(self) -> str:
        how = "against itself" if self.itself else "alone"
        return (
            f"{self.lacks}: head is measured {how}. Once head runs and is merged, the next change is compared with it"
        )


class HeadWithoutConfig(First, frozen=True):
    says = "head has no perfgate.toml: base's is used for both sides"


class RulesChanged(First, frozen=True):
    says = "head changes the rules ({keys}); the rules of {in_force} apply"
    keys: tuple[str, ...]
    """Those that differ, such as gate.threshold."""
    in_force: str
    """Whose rules count: a side, or the name of a file."""


class ReadOn(First, frozen=True):
    says = 'the key show at {place} is read on: write detectable = "threshold", or a size that must show'
    place: str


class Renamed(First, frozen=True):
    says = "{was} → {now} (renamed)"
    in_headline: ClassVar[bool] = True
    was: str
    now: str


class Differing(msgspec.Struct, frozen=True):
    """Something that was one way and is another."""

    name: str
    was: str | int | None
    now: str | int | None


def _changes(changes: Sequence[Differing], most: int = 3) -> str:
    more = [f"{len(changes) - most} more"] if len(changes) > most else []
    return joined([*(f"{each.name} from {_side(each.was)} to {_side(each.now)}" for each in changes[:most]), *more])


def _side(value: str | int | None) -> str:
    return "none" if value is None else f"`{clip(visible(str(value)), _LONGEST)}`"


class MeasuringChanged(First, frozen=True):
    """Head changes how a benchmark is measured."""

    in_headline: ClassVar[bool] = True
    benchmark: str
    changes: tuple[Differing, ...] = ()
    """By key; empty: of an older perfgate."""

    def _said(self) -> str:
        commands = [each for each in self.changes if each.name == "command"]
        others = [each for each in self.changes if each.name != "command"]
        if commands:
            also = f"; head also changes {_changes(others)}" if others else ""
            ran = f"base ran {_side(commands[0].was)}, head {_side(commands[0].now)}"
            return f"not the same command for {self.benchmark}: {ran}{also}"
        what = f" ({_changes(others)})" if others else ""
        return f"head changes how {self.benchmark} is measured{what}: the sides may not be comparable"


class BuildChanged(First, frozen=True):
    """Head changes how both sides are built, or the environment that they run in, so that each does it its own way."""

    in_headline: ClassVar[bool] = True
    changes: tuple[Differing, ...]
    """By key: build.command, env.set.LC_ALL."""

    def _said(self) -> str:
        return f"base and head are not built alike: head changes {_changes(self.changes)}"


class ExpiredAccept(Base, frozen=True):
    says = "the [[accept]] entry of {benchmark} expired on {until}: remove it ({reason})"
    benchmark: str
    until: str
    """The last day, as 2026-12-31."""
    reason: str


class MatchesNothing(First, frozen=True):
    """A rule is about no benchmark, or about none of their metrics: it is misspelt, or what it was about is gone."""

    place: str
    """Where it stands: the file and line."""
    table: str
    key: str
    glob: str
    known: tuple[str, ...]

    def _said(self) -> str:
        return f"{self.place}: [[{self.table}]] {self.key} = {toml_text(self.glob)} {none_of(self.glob, self.known)}"


# --- the plan ---------------------------------------------------------------------------------------------------------


class FewBuilds(Base, frozen=True):
    says = (
        "plan.builds = {builds} is below gate.min_builds = {min_builds}: {counts:?only exact counts{remembers:? and "
        "benchmarks remembered on this host}|{remembers:?only benchmarks remembered on this host|nothing}} can show a "
        "change"
    )
    builds: int
    min_builds: int
    remembers: bool
    """Whether what is remembered of the host can take their place."""
    counts: bool
    """Whether something is counted exactly, which needs no builds."""


class FewBuildsPerMachine(Base, frozen=True):
    says = (
        "plan.builds = {builds} is below the {needed} that each machine needs with gate.sessions = "
        '"fixed": nothing can show a change'
    )
    builds: int
    needed: int


class FewBuildsForBootstrap(Base, frozen=True):
    says = "a bootstrap interval needs {needed:build} for a verdict, the plan has {builds}"
    builds: int
    needed: int


class NoLooksByBootstrap(Base, frozen=True):
    says = "bootstrap intervals do not stop early: the whole plan is measured, {builds:round}"
    builds: int


class FewIterationsForSteady(Base, frozen=True):
    says = (
        '{benchmarks}: warmup = "auto": plan.iterations = {iterations} cannot show a steady state, which needs {needed}'
    )
    benchmarks: tuple[str, ...]
    iterations: int
    needed: int


class NoEarlyStop(Base, frozen=True):
    says = "several jobs do not stop early: each measures up to {builds:round}, as its budget allows"
    builds: int


class DuetOnOneProcessor(Base, frozen=True):  # of runs of an older perfgate
    says = "{benchmarks}: base and head run on one processor by turns and share its caches"
    benchmarks: tuple[str, ...]


# --- the instruments --------------------------------------------------------------------------------------------------


class Lack(msgspec.Struct, frozen=True):
    """What an instrument lacks, as measurements held it before it was a text."""

    kind: str = ""
    tool: str = ""
    because: str = ""

    def __str__(self) -> str:
        """Say it in short."""
        return self.kind.replace("-", " ") or f"{self.tool} is {self.because}"


class SpawnInstead(First, frozen=True):
    says = "{why}: measured with the built-in spawn"
    why: str | Lack
    """What is wrong with hyperfine."""


class InstrumentLimits(Base, frozen=True):
    """What an instrument cannot do on this machine."""

    instrument: str
    limits: tuple[str | Lack, ...]

    def _said(self) -> str:
        return f"{self.instrument}: {'; '.join(map(str, self.limits))}"


class StartedByShim(Base, frozen=True):
    says = (
        "{benchmarks}: {path} is a shim of {manager}, whose own time is part of every start: name "
        "{program:?{program} in the command|the program behind it}"
    )
    benchmarks: tuple[str, ...]
    manager: str
    path: str
    program: str
    """The path of the program behind it; empty: the manager does not tell."""


class BudgetHoldsFew(Later, frozen=True):
    """The budget ends before there are the rounds that a regression needs."""

    rounds: int
    """That fit, about."""
    needed: int
    seconds: float
    """What those take, with the set-up before the first; of "ended" the budget that was not enough for one."""
    budget: float
    enough: float
    """A budget that would probably hold them."""
    basis: Literal["last-run", "ended", "memory", "first", "trial"]
    """The last run, the budget that ended it before one round, what is remembered, or round 1; of an older perfgate
    `perfgate try`."""

    def _said(self) -> str:
        seconds, rounds = format_duration(self.seconds), plural(self.rounds, "round") if self.rounds else "no round"
        needed = f"{self.needed} {agree(self.needed, 'is', 'are')} needed"
        said = f"the budget of {format_duration(self.budget)} holds {rounds}, and {needed}"
        if self.basis == "ended":
            return f"{said}: {seconds} ended the last run before one was complete; raise it as its report says"
        why = {
            "last-run": "by the last run",
            "memory": "as remembered of this host",
            "trial": "by `perfgate try`",
            "first": "judging by the first one",
        }[self.basis]
        return f"{said}, {why} ({seconds}): set `--set plan.budget={Duration(self.enough)}`, or measure less"


# --- what is remembered -----------------------------------------------------------------------------------------------


class ZeroThreshold(Later, frozen=True):
    says = (
        "threshold 0: if a layout slows only some builds of one side, 5% to 34% of reports fail though the means are "
        "the same; with a threshold of 2% at most 1.2%"
    )


class NothingRemembered(Later, frozen=True):
    says = "this host is not calibrated, so intervals use {method}: run `perfgate calibrate`"
    method: str


class ControlsAlarm(First, frozen=True):
    """More controls of the history alarm than chance explains."""

    proof: Proof

    def _said(self) -> str:
        return f"{self.proof.sentence()}, {self.proof.warning()}"


class HistoryUnusable(Later, frozen=True):
    says = "the memory of this host is not used: {error}"
    error: str


class MemoryOfOneSession(Later, frozen=True):
    says = "the memory of this host is not used: it holds one session, and this run has several"


class MemoryOfOneFile(Later, frozen=True):
    says = "the memory of this host is not used: the files were measured separately"


class MemoryOfOtherMachine(Later, frozen=True):
    """What is remembered of benchmarks was measured on another machine."""

    benchmarks: tuple[str, ...]
    differing: tuple[Differing, ...]

    def _said(self) -> str:
        differing = "; ".join(f"{each.name} was {each.was}, is {each.now}" for each in self.differing)
        why = f"measured on another machine ({differing or 'a different model'})"
        return f"the memory of {listed(self.benchmarks)} is not used: {why}"


_SETUP = {
    "command": "its command",
    "instrument": "its instrument",
    "warmup": "its warm-up",
    "build": "[build] command",
    "conditions": "its conditions",
}


class MemoryOfOtherSetup(Later, frozen=True):
    """What is remembered of benchmarks was measured in another way."""

    benchmarks: tuple[str, ...]
    differing: tuple[Differing, ...]
    """By the names of gate.store.memory.Setup; empty: base and head are measured in different ways."""

    def _said(self) -> str:
        why = "; ".join(
            f"{_SETUP.get(each.name, each.name)} was {_side(each.was)}, is {_side(each.now)}" for each in self.differing
        )
        differing = why or "base and head are measured in different ways"
        return f"the memory of {listed(self.benchmarks)} is not used: {differing}"


# --- the design of a study: what it leaves out, or cannot tell --------------------------------------------------------


class OnOneSide(Base, frozen=True):
    says = "{benchmark} is on one side only: it is not measured"
    benchmark: str


class ResponseUndeclared(Base, frozen=True):
    says = "study.responses: no benchmark declares {response}, only {declared}"
    response: str
    declared: tuple[str, ...]


class FactorUnused(Base, frozen=True):
    says = "{factor}: no command has {{{factor}}}, so it changes nothing unless a program reads {variable}"
    factor: str
    variable: str


class OneReplicate(Base, frozen=True):
    says = (
        "study.replicates = 1: each treatment is measured once, so the noise shows only in interactions "
        "that the model leaves out; set study.replicates = 3 or more to measure it"
    )


class ReplicatesAdded(Base, frozen=True):
    says = (
        "replicates were added after the study had begun ({planned} planned, now {now}): if its first results were the "
        "reason, claims are wrong more often than the p values say"
    )
    planned: int
    now: int


class BuiltOnce(Base, frozen=True):
    says = (
        "{factors:joined}: differs between builds, and each setting is built once: its effect cannot be separated from "
        "the luck of one build; set study.builds = 5"
    )
    factors: tuple[str, ...]


class OneSessionEach(Base, frozen=True):
    says = (
        "{factors:joined}: a setting is measured in one session only: its effect cannot be separated from that "
        "session's; measure two sessions for each setting"
    )
    factors: tuple[str, ...]
