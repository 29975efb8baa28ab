"""What is known before measuring: the sides, the rules, the plan, the instruments, and what is remembered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

import msgspec

from gate.model.names import FailureKind
from gate.model.warnings.base import Base, First, Said, Weight
from gate.writing.phrases import joined, none_of, toml_text
from gate.writing.plain import clip, visible
from gate.writing.units import Duration, agree, format_duration, plural

_LONGEST = 60
_SHA = 10

BASE_WITHOUT_CONFIG = Said("base has no perfgate.toml: head's is used for both sides", "base-without-config", "first")
SPAWN_INSTEAD = "spawn-instead"
"""What is said where hyperfine is not there, or not the right one."""


def matches_nothing(place: str, table: str, key: str, glob: str, known: Collection[str]) -> Said:
    """Say that a rule is about nothing: it is misspelt, or what it was about is gone.

    place: where it stands, the file and line.
    """
    text = f"{place}: [[{table}]] {key} = {toml_text(glob)} {none_of(glob, tuple(known))}"
    return Said(text, "matches-nothing", "first")


def quoted(value: str | int | None) -> str:
    """Write a setting that was one way and is another, in short."""
    return "none" if value is None else f"`{clip(visible(str(value)), _LONGEST)}`"


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
    """The first error that it wrote."""
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


class Renamed(First, frozen=True):
    in_headline: ClassVar[bool] = True
    was: str
    now: str

    def _said(self) -> str:
        return f"{self.was} → {self.now} (renamed)"


class Differing(msgspec.Struct, frozen=True):
    """Something that was one way and is another."""

    name: str
    was: str | int | None
    now: str | int | None


def _changes(changes: Sequence[Differing], most: int = 3) -> str:
    more = [f"{len(changes) - most} more"] if len(changes) > most else []
    return joined([*(f"{each.name} from {quoted(each.was)} to {quoted(each.now)}" for each in changes[:most]), *more])


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
            ran = f"base ran {quoted(commands[0].was)}, head {quoted(commands[0].now)}"
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


class BudgetHoldsFew(Base, frozen=True):
    """The budget ends before there are the rounds that a regression needs."""

    placed: ClassVar[Weight] = "later"
    rounds: int
    """That fit, about."""
    needed: int
    seconds: float
    """What those take, with the set-up before the first."""
    budget: float
    enough: float | None
    """A budget that would probably hold them; None: `seconds` ended the last run before one round."""

    def _said(self) -> str:
        seconds, rounds = format_duration(self.seconds), plural(self.rounds, "round") if self.rounds else "no round"
        needed = f"{self.needed} {agree(self.needed, 'is', 'are')} needed"
        said = f"the budget of {format_duration(self.budget)} holds {rounds}, and {needed}"
        if self.enough is None:
            return f"{said}: {seconds} ended the last run before one was complete; raise it as its report says"
        return f"{said} (about {seconds}): set `--set plan.budget={Duration(self.enough)}`, or measure less"
