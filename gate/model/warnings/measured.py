"""What was measured, beside what was to be measured."""

from __future__ import annotations

from typing import ClassVar, Literal

from gate.model.warnings.base import Base, First, Said, Weight
from gate.writing.phrases import listed
from gate.writing.sentences import say_direction
from gate.writing.units import agree, format_share, plural

SAME_VALUES = Said(
    "base and head have the same values, so every ratio is 1: are they the same measurements?", "same-values", "first"
)
MEASURED_SEPARATELY = Said(
    "measured separately: changes of the machine between the runs are part of every ratio, and no interval includes "
    "them; `perfgate check` measures both in turns",
    "measured-separately",
    "first",
)
IDENTICAL_SIDES = Said("base and head are byte-identical: any difference is noise", "identical-sides", "first")
SAME_COMMIT = Said(
    "base and head are one commit: this is an A/A run, which is measured in any case, and any difference is noise",
    "same-commit",
    "first",
)


def torn_line(file: str) -> Said:
    """Say that the last line of a file was cut off in the middle of a write."""
    return Said(f"{file}: the last line is incomplete and is left out", "torn-line", "first")


class SelectedOnly(First, frozen=True):
    selected: int
    measured: int

    def _said(self) -> str:
        some = f"{self.selected} of {plural(self.measured, 'measured benchmark')} {agree(self.selected, 'is', 'are')}"
        return f"{some} decided (--benchmark): the verdict and the false-alarm limit cover only these"


class RoundsShort(First, frozen=True):
    done: int
    planned: int

    def _said(self) -> str:
        return f"{self.done} of {plural(self.planned, 'planned round')} {agree(self.done, 'was', 'were')} measured"


class BudgetRounds(Base, frozen=True):
    rounds: int
    planned: int

    def _said(self) -> str:
        fit = f"{self.rounds} of {plural(self.planned, 'round')} {agree(self.rounds, 'fits', 'fit')}"
        return f"only {fit} the budget, judging by the first two"


class ExecutionsShort(Base, frozen=True):
    benchmark: str
    settings: str
    """Of its factors, as "load=busy"; empty: it has none."""
    base: int
    head: int
    wanted: int

    def _said(self) -> str:
        at = f" at {self.settings}" if self.settings else ""
        return f"{self.benchmark}{at}: base has {self.base} and head {self.head} of {plural(self.wanted, 'start')}"


class UnknownDirection(First, frozen=True):
    """Metrics are not decided, since neither their tool nor their name or unit tells which direction is better."""

    metrics: tuple[str, ...]
    benchmarks: tuple[str, ...]

    def _said(self) -> str:
        names = f"{listed(self.metrics)} ({listed(self.benchmarks)})"
        they_are = agree(len(self.metrics), "it is", "they are")
        unknown = f"direction unknown: nothing says which values of {names} are better"
        return f"{unknown}, so {they_are} shown and not decided. {say_direction(self.metrics[0])}"


class MetricMissing(First, frozen=True):
    benchmark: str
    metric: str
    factors: str
    """As canonical JSON."""
    session: int

    def _said(self) -> str:
        at = "" if self.factors == "{}" else f" at {self.factors}"
        return f"{self.benchmark}: metric {self.metric}{at} gave no values in session {self.session}"


def some_starts(base: int, head: int, of: int) -> tuple[str, str]:
    """Count starts, together and by side: "3 of 10 starts", "1 of base and 2 of head"."""
    by_side = " and ".join(f"{count} of {side}" for side, count in (("base", base), ("head", head)) if count)
    return f"{base + head} of {plural(of, 'start')}", by_side


class Outlived(First, frozen=True):
    """A process that a command had started was still there when the command had ended."""

    base: int
    head: int
    of: int

    def _said(self) -> str:
        some, sides = some_starts(self.base, self.head, self.of)
        return f"after {some} ({sides}) a process that the command had started still ran: no value includes its work"


class ClockStood(Base, frozen=True):
    placed: ClassVar[Weight] = "later"
    share: float
    """Of what its executions took."""

    def _said(self) -> str:
        share = format_share(self.share)
        return f"its clock stood still while it waited for a processor, {share} of the time: it tells active time"


class MissingAllowed(First, frozen=True):
    in_headline: ClassVar[bool] = True
    benchmarks: tuple[str, ...]
    label: str | None
    """What allows it for this pull request, in words; None: the rules do."""

    def _said(self) -> str:
        are = agree(len(self.benchmarks), "is", "are")
        return f"{listed(self.benchmarks)} {are} missing, allowed by {self.label or 'the rules'}"


class TwoPrograms(Base, frozen=True):
    placed: ClassVar[Weight] = "later"

    def _said(self) -> str:
        return "the verdict is of these two programs: another build of either may differ"


class NotComparable(First, frozen=True):
    """A metric has another unit or direction on each side."""

    metric: str
    of: Literal["unit", "direction"]
    base: tuple[str, ...]
    head: tuple[str, ...]
    names: tuple[str, ...]

    def _said(self) -> str:
        base, head = map(self._in, (self.base, self.head))
        return f"not comparable: {self.metric} is {base} in base and {head} in head: {listed(self.names, most=20)}"

    def _in(self, found: tuple[str, ...]) -> str:
        if self.of == "direction":
            return f"better when {' and '.join(found)}"
        return " and ".join(f"in {unit}" if unit else "without a unit" for unit in found)
