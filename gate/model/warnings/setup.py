"""What is known before measuring: the sides, the rules, the plan, the instruments, and what is remembered."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from gate.model.names import FailureKind
from gate.model.warnings.base import Base, Weight, tag

# --- the sides and the rules ------------------------------------------------------------------------------------------


class BaseAhead(Base, frozen=True):
    """Base has commits that head lacks."""

    ref: str
    """Name of base."""
    commits: int
    """How many."""


class DirtySubmodule(Base, frozen=True):
    """A submodule has changes that are not committed."""

    path: str


class EmbeddedRepository(Base, frozen=True):
    """A folder is a repository of its own and no submodule."""

    path: str


class LfsPointers(Base, frozen=True):
    """The checkout holds pointers in place of the files of git lfs."""


class LeftBehind(Base, frozen=True):
    """A directory of perfgate's own cannot be removed."""

    directory: str
    """Its path."""
    why: str
    """What the system said."""


class BaseWithoutConfig(Base, frozen=True):
    """Base has no configuration, so that head's counts for both sides."""

    weight: ClassVar[Weight] = "first"


class BaseBroken(Base, frozen=True):
    """Base does not build, or a benchmark does not start there: it failed twice alike before anything of head ran."""

    weight: ClassVar[Weight] = "first"
    in_headline: ClassVar[bool] = True
    base: str | None
    """The commit of base."""
    failed: FailureKind
    """What failed: its build, or an execution."""
    benchmark: str | None
    """Which does not start; None: its build failed."""
    status: str
    """How it ended."""
    output: tuple[str, ...]
    """The last lines of what it printed."""
    tried: int
    """How many of its first-parent ancestors were tried."""
    compared: str | None
    """The commit that head is compared with: an ancestor, or base in the benchmarks that start there; None: none."""


class NothingToCompare(Base, frozen=True):
    """Base runs none of head's benchmarks, so that there is nothing to compare with.

    It has no configuration, or it is broken and so are its ancestors, or its suites have no benchmark.
    """

    weight: ClassVar[Weight] = "first"
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


class HeadWithoutConfig(Base, frozen=True):
    """Head has no configuration, so that base's counts for both sides."""

    weight: ClassVar[Weight] = "first"


class RulesChanged(Base, frozen=True):
    """Head changes the rules."""

    weight: ClassVar[Weight] = "first"
    keys: tuple[str, ...]
    """Those that differ, such as gate.threshold."""
    in_force: str
    """Whose rules count: a side, or the name of a file."""


class Renamed(Base, frozen=True):
    """Head runs a benchmark of base under another name: both are measured under the name that the rules know."""

    weight: ClassVar[Weight] = "first"
    in_headline: ClassVar[bool] = True
    was: str
    """Its name in base."""
    now: str
    """Its name in head."""


class Differing(msgspec.Struct, frozen=True):
    """Something that was one way and is another."""

    name: str
    """What it is."""
    was: str | int | None
    """What it was; None: not there, or not known."""
    now: str | int | None
    """What it is now; None: not there, or not known."""


class MeasuringChanged(Base, frozen=True):
    """Head changes how a benchmark is measured."""

    weight: ClassVar[Weight] = "first"
    in_headline: ClassVar[bool] = True
    benchmark: str
    changes: tuple[Differing, ...] = ()
    """By key; empty: of an older perfgate."""


class BuildChanged(Base, frozen=True):
    """Head changes how both sides are built, or the environment that they run in, so that each does it its own way."""

    weight: ClassVar[Weight] = "first"
    in_headline: ClassVar[bool] = True
    changes: tuple[Differing, ...]
    """By key: build.command, env.set.LC_ALL."""


class ExpiredAccept(Base, frozen=True):
    """An [[accept]] entry has ended."""

    benchmark: str
    until: str
    """The last day, as 2026-12-31."""
    reason: str
    """As the entry gives it."""


# --- the plan ---------------------------------------------------------------------------------------------------------


class FewBuilds(Base, frozen=True):
    """The plan has fewer builds than the gate wants before it calls a change."""

    builds: int
    """Builds of the plan, at most."""
    min_builds: int
    """Builds that `gate.min_builds` asks for."""
    remembers: bool
    """Whether what is remembered of the host can take their place."""
    counts: bool
    """Whether something is counted exactly, which needs no builds."""


class FewBuildsPerMachine(Base, frozen=True):
    """The plan has fewer builds on each machine than a verdict over these machines needs."""

    builds: int
    """Builds of the plan."""
    needed: int
    """Builds that it needs."""


class FewBuildsForBootstrap(Base, frozen=True):
    """The plan has fewer builds than a bootstrap interval needs to decide."""

    builds: int
    """Builds of the plan."""
    needed: int
    """Builds that it needs."""


class NoLooksByBootstrap(Base, frozen=True):
    """The plan may stop early, which bootstrap intervals do not."""

    builds: int
    """Builds that are made, the most of the plan."""


class FewIterationsForSteady(Base, frozen=True):
    """A steady state is looked for in fewer iterations than can show one."""

    benchmarks: tuple[str, ...]
    iterations: int
    """Iterations of the plan."""
    needed: int
    """Iterations that can show one."""


class NoEarlyStop(Base, frozen=True):
    """Several jobs measure, and they cannot stop early together."""

    builds: int
    """Builds that are made."""


class NoAutoPlan(Base, frozen=True):
    """Several jobs measure, and each goes by the configured plan."""


class DuetOnOneProcessor(Base, frozen=True):
    """Base and head run on one processor by turns, and share its caches."""

    benchmarks: tuple[str, ...]


class PlannedFromMemory(Base, frozen=True):
    """The plan is what the memory of this host says."""

    first: int
    """Builds of a side before it may stop, and at most."""
    last: int
    """The most builds of a side."""
    executions: int
    """Executions a build."""
    iterations: int
    """Iterations an execution."""
    reached: bool
    """Whether it is expected to reach what is wanted, within the budget."""
    notes: tuple[str, ...]
    """What is not known of some benchmarks, as the planner says it."""
    detectable: float | None = None
    """The size of a change that it is to find, as a share; None: half-widths of half the thresholds."""


class PlannedAsConfigured(Base, frozen=True):
    """The plan was to come from memory, and is the configured one."""

    why: str
    """As the planner says it; empty: nothing is remembered about this host."""


# --- the instruments --------------------------------------------------------------------------------------------------


class ToolUnusable(msgspec.Struct, frozen=True):
    """A tool that is not there, or not the one that is meant."""

    tool: str
    """Its name."""
    because: Literal["missing", "silent", "foreign", "old"]
    """missing: not there. silent: it does not tell its version. foreign: another program of that name. old: too old."""
    path: str = ""
    """Where it was found; empty: nowhere."""
    error: str = ""
    """What the system said, where it does not tell its version."""
    version: str = ""
    """As it tells; empty: it does not."""
    oldest: str = ""
    """The oldest version that can be used, where it is older."""


class SpawnInstead(Base, frozen=True):
    """The built-in spawn measures in place of hyperfine."""

    why: ToolUnusable | str
    """What is wrong with hyperfine; a text is of an older perfgate."""


class Limit(msgspec.Struct, frozen=True, tag_field="kind", tag=tag):
    """Something that an instrument cannot do on this machine."""


class MovingAddresses(Limit, frozen=True):
    """Addresses cannot be fixed."""


class EventsAbsent(Limit, frozen=True):
    """Events that are not counted."""

    events: tuple[str, ...]
    """Names of the events."""
    word: str
    """What perf says of them; empty: they need the right to count the kernel."""


class EventsOutsideKernel(Limit, frozen=True):
    """Events that are counted outside the kernel only."""

    events: tuple[str, ...]
    """Names of the events."""
    paranoid: str | None
    """The value of kernel.perf_event_paranoid; None: not known."""


class SharedCounters(Limit, frozen=True):
    """Events whose counters ran part of the time."""

    events: tuple[str, ...]
    """Names of the events."""


AnyLimit = MovingAddresses | EventsAbsent | EventsOutsideKernel | SharedCounters


class InstrumentLimits(Base, frozen=True):
    """What an instrument cannot do on this machine."""

    instrument: str
    """Its name."""
    limits: tuple[AnyLimit, ...] | str
    """What it cannot do; a text is of an older perfgate."""


class StartedByShim(Base, frozen=True):
    """The command of benchmarks is a shim of a version manager, which starts the program that is meant."""

    benchmarks: tuple[str, ...]
    manager: str
    """Name of the version manager."""
    path: str
    """Path of the shim."""
    program: str
    """The path of the program behind it; empty: the manager does not tell."""
    seconds: float | None
    """What the shim adds to each start; None: not known."""


class RoundBeyondBudget(Base, frozen=True):
    """One round, with the set-up before it, will not fit the budget; both in seconds."""

    weight: ClassVar[Weight] = "later"
    seconds: float
    """What the round takes."""
    budget: float
    """What there is."""
    basis: Literal["last-run", "ended", "memory"]
    """What the last run took, the budget that ended it before one round, or what is remembered of the host."""


# --- what is remembered -----------------------------------------------------------------------------------------------


class ZeroThreshold(Base, frozen=True):
    """Any change fails, and builds that are spread in another way are a change to a mean of few of them."""

    weight: ClassVar[Weight] = "later"


class NothingRemembered(Base, frozen=True):
    """Moderated intervals are wanted, and nothing is remembered about this host."""

    weight: ClassVar[Weight] = "later"
    method: str
    """Name of the method whose intervals take their place."""


class HistoryUnusable(Base, frozen=True):
    """The history cannot be read."""

    weight: ClassVar[Weight] = "later"
    error: str
    """What is wrong with it."""


class MemoryOfOneSession(Base, frozen=True):
    """What is remembered is of one session, and several measured."""

    weight: ClassVar[Weight] = "later"


class MemoryOfOneFile(Base, frozen=True):
    """The files were measured apart, and what they remember does not agree."""

    weight: ClassVar[Weight] = "later"


class MemoryOfOtherMachine(Base, frozen=True):
    """What is remembered of benchmarks was measured on another machine."""

    weight: ClassVar[Weight] = "later"
    benchmarks: tuple[str, ...]
    differing: tuple[Differing, ...]
    """What differs between the machines."""


class MemoryOfOtherSetup(Base, frozen=True):
    """What is remembered of benchmarks was measured in another way."""

    weight: ClassVar[Weight] = "later"
    benchmarks: tuple[str, ...]
    differing: tuple[Differing, ...]
    """By the names of gate.memory.entries.Setup; empty: base and head are measured in different ways."""
