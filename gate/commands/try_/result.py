"""What a trial found, as data."""

from __future__ import annotations

from typing import Literal

import msgspec

from gate.codes import Exit
from gate.model import Better, Commit, Failure
from gate.model.records import WhyNotRelinked
from gate.model.warnings import AnyWarning


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """How head was built, and what building costs."""

    command: str | None
    """As one would type it; None: a fresh checkout is the build."""
    setup: float | None
    """Seconds of the checkout and set-up before it; None: the checkout is the build."""
    seconds: float
    later: float
    """Seconds that each later build takes, about."""
    relinks: bool
    """Whether later builds link again what this one compiled."""
    full: WhyNotRelinked | None
    """Why they do not, where there is something to link."""
    artifacts: tuple[str, ...]
    needs_git: bool
    compiled: float | None
    """Seconds of the first build, with checkout and set-up, in the earlier run that kept it; None: it was made now."""
    kept: bool
    """A later check of this head finds it, and compiles base only."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of a benchmark, by the values of one execution."""

    benchmark: str
    metric: str
    unit: str
    mean: float
    spread: float | None
    """Standard deviation over the mean; None: of one value."""
    start: float | None = None
    """The share that one start adds to the error of a typical value, or an execution of several values to that of a
    mean; None: not known."""

    values: int
    executions: int = 1
    """That the values are of: several where one gives one value."""
    better: Better = "lower"
    decided: bool
    exact: bool

    @property
    def unknown(self) -> bool:
        """Return whether nothing is known of its noise: one value shows no spread."""
        return not self.exact and self.spread is None

    @property
    def noise(self) -> float | None:
        """Return what a value adds to the error of what decides, as a share; None: not known."""
        return self.spread if self.start is None else self.start


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one [[benchmark]]; without cases and failures it took longer than its share, or named nothing."""

    benchmark: str
    instrument: str
    cases: tuple[Case, ...] = ()
    """Of a first start that was ended: those that it had printed."""
    failures: tuple[Failure, ...] = ()
    longer_than: float | None = None
    """Seconds after which its first start was ended; None: it was not."""
    names: tuple[str, ...] = ()
    """Of a suite that took so long: its benchmarks, as it lists them itself, where it does."""
    hurried: bool = False
    """Its first start took so long that nobody waited for another, which would tell how they vary."""
    in_service: bool = False
    """It was its service that took so long to be ready."""
    execution: float | None = None
    """Seconds that one execution of the plan takes, about; longer_than: at least. None: it failed."""
    iteration: float = 0.0
    """Seconds that each of its iterations adds to that; 0: it takes as long with any number."""

    @property
    def refused(self) -> bool:
        """Whether a check would end with an error for it."""
        return bool(self.failures) or (not self.cases and self.longer_than is None)


class RoundCost(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that rounds take, of both sides together, if base is like head."""

    once: float
    """Checkout, set-up, and what the first builds take longer than later ones."""
    builds: float
    executions: float
    least: bool
    """A benchmark takes longer than could be waited for: it is at least that much."""
    starts: dict[str, int] = {}
    """Starts of a side in a round, of the commands that base and head start by turns."""

    @property
    def round(self) -> float:
        """Return the seconds of every round but the first."""
        return self.builds + self.executions

    def of(self, rounds: int) -> float:
        """Return the seconds of so many rounds."""
        return self.once + rounds * self.round


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """What a budget is enough for."""

    budget: float
    """Seconds, as configured."""
    builds: int
    """0: not even one round fits."""
    executions: int
    iterations: int
    seconds: float
    """Of that many rounds."""
    first: int
    """Rounds until the first look, where most that has not changed ends; `builds` where there is none before."""
    sooner: float
    """Seconds until then."""
    finds: float | None
    """The smallest change for the worse that 80% of such checks call, of the noisiest finding; None: none, or unknown.
    """
    hardest: str | None
    """That finding."""
    unknown: bool = False
    """Whether nothing is known of the noise of that finding: one value shows no spread."""
    better: Better = "lower"
    """Of that finding."""


class Plans(msgspec.Struct, frozen=True, kw_only=True):
    """How many rounds of the configured executions fit the budget."""

    basis: Literal["one-build", "exact"]
    """Of what a plan finds. one-build: how builds differ is not known, so that it is at least that large. exact: there
    is no noise."""
    fit: Fit
    leaner: Fit | None = None
    """With fewer executions or iterations, where no more builds fit plan.budget than a regression needs; None: they
    are enough, or there is no such plan."""
    enough: float | None = None
    """Seconds of a budget that finds something with the configured executions and builds, where the plan finds nothing;
    None: it does, or none would."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    head: Commit | None
    built: Built | None = None
    failure: Failure | None = None
    """Of the build, or that a benchmark changed tracked files."""
    benchmarks: tuple[Tried, ...] = ()
    host: dict[str, str]
    """What makes it unfit, by the name of the check."""
    cost: RoundCost | None = None
    plans: Plans | None = None
    notes: tuple[str, ...] = ()
    """What to mind about benchmarks, in words."""
    warnings: tuple[AnyWarning, ...]
    """Those that a check would give too."""

    @property
    def exit_code(self) -> Exit:
        """Return what the command ends with."""
        refused = self.failure is not None or any(each.refused for each in self.benchmarks)
        return Exit.ERROR if refused else Exit.PASS
