"""Controls: base's odd starts against its even ones, which show without any change how often the gate calls one."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gate.units import format_number, plural


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """One control: the ratio of one half of base's starts to the other, judged at threshold 0."""

    ratio: float
    """Even starts over odd ones; the halves change places from round to round."""
    low: float
    """Lower end of its 95% interval."""
    high: float
    """Upper end of it."""
    rounds: int
    """Builds of base that had both halves."""
    alarmed: bool
    """Whether a regression showed, where there is none: in 2.5% of controls by chance."""


class Controls(msgspec.Struct, frozen=True, kw_only=True):
    """All controls of a run."""

    count: Annotated[int, msgspec.Meta(ge=1)]
    """How many there were, one for each benchmark that had enough starts."""
    alarmed: Annotated[int, msgspec.Meta(ge=0)]
    """How many of them showed a regression."""
    e_value: Annotated[float, msgspec.Meta(gt=0)]
    """Evidence that more than 2.5% alarm, 1 on the average or less where they do not; of several runs it multiplies."""

    def sentence(self) -> str:
        """Say how many showed a regression."""
        of = f"{self.alarmed} of {plural(self.count, 'control')}"
        return f"{of} showed a regression where nothing differs, 2.5% do by chance"


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What the controls of all runs of a history prove together, valid whenever it is read."""

    runs: int
    count: int
    alarmed: int
    expected: float
    """Of count, by chance at most."""
    e_value: float
    """Product of the runs' e-values."""
    since: str | None
    """Beyond the bound of warnings: the run since which it is, with its day; None: it is not."""

    def sentence(self) -> str:
        """Say how many showed one: "9 of 640 controls of the last 80 runs showed a regression, 16 would by chance"."""
        runs = "run" if self.runs == 1 else f"{self.runs} runs"
        of = f"{self.alarmed} of {plural(self.count, 'control')} of the last {runs} showed a regression"
        expected = round(self.expected, 1 if self.expected >= 1 else 3)
        return f"{of}, {expected:g} would by chance"

    def warning(self) -> str:
        """Say that more alarm than chance explains, and since which run; empty where they do not."""
        if self.since is None:
            return ""
        return (
            f"more than chance explains since run {self.since} (e-value {format_number(self.e_value, 3)}): "
            "this machine's values are less independent than intervals assume, so do not trust a close verdict: "
            "find what disturbs it with `perfgate doctor`, or measure elsewhere"
        )


UNTESTED = "Base's odd starts against its even ones, at threshold 0: they test no builds, layouts or head itself."
"""What a control is, and what it cannot show."""
