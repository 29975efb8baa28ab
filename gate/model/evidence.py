"""What statistics and decisions work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gate.model.case import Compared
from gate.model.names import Better, Layouts
from gate.model.profile import Profile, Unprofiled
from gate.model.records import Build, Cut, Failure, HostState, Run, Same, Turn
from gate.model.warnings import AnyWarning

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Sample(msgspec.Struct, frozen=True, eq=False):
    """All values of one case on one side, nested by level.

    values: float64, shape (N,), ordered by session, build, execution, iteration.
    counts: children of each unit, from the lowest level: counts[0][e] iterations of execution e, counts[1][b]
    executions of build b, counts[2][s] builds of session s; each sums to the length of the one before (N first).
    builds: (session, build) of each build, in the order of counts[1]. orders: position of each execution in the run,
    shape (len(counts[0]),), None where the files do not say. step: of the last digit that values are written to, 0
    where that is not known, or nothing is rounded.
    """

    values: npt.NDArray[np.float64]
    counts: tuple[npt.NDArray[np.int64], ...]
    builds: tuple[tuple[int, int], ...]
    orders: npt.NDArray[np.int64] | None = None
    step: float = 0.0


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark and one of its metrics (and factor settings), with what was measured of it on each side."""

    benchmark: str
    metric: str
    factors: dict[str, Any]
    unit: str
    better: Better | None
    exact: bool
    decided: bool
    """Whether the policy wants a verdict, or only the numbers shown."""
    base: Sample
    head: Sample
    warnings: list[AnyWarning]
    view_of: str | None = None
    """The metric that this one shows by another clock or statistic; None: it is one of its own."""
    sharp: bool = False
    """Of such a view, where both sides took turns: what else runs on the host disturbs it less, so it is decided."""
    hosts: dict[int, str] = {}
    """The machine of each session by name, where the measurements tell."""
    turns: bool = False
    """Whether both sides took turns: executions of one number of a build are neighbours in time."""
    one_task: bool | None = None
    """Whether one task does the work of the command on both sides; None: not known."""


class LevelCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many units of each level a side's value rests on."""

    session: int
    """Jobs on a runner."""
    build: int
    """Builds of all sessions."""
    execution: int
    """Starts of the instrument's process, of all builds."""
    iteration: int
    """Values, of all executions."""


class SideSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a finding: its value and its own interval, in the metric's base unit."""

    value: float
    """The mean, the typical value or the quantile, in the metric's base unit; None: it is no number."""
    low: float | None
    """Lower end of its own interval, at the confidence of `ratio`; None: there is none."""
    high: float | None
    counts: LevelCounts


class Aggregate(Compared, frozen=True, kw_only=True):
    """A mean, median or quantile that another tool gave without the values behind it, on each side that has it."""

    base: SideSummary | None
    head: SideSummary | None


class RoundsDone(msgspec.Struct, frozen=True, kw_only=True):
    """How far measuring came: rounds that are complete, and rounds the plan wanted (None: not known)."""

    done: int
    """Complete rounds; a round is build k of both sides with its executions."""
    planned: int | None
    """The most rounds that the plan wanted; None: not known."""


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    """A budget that ended before one round was complete, and what took its time, in seconds."""

    budget: float
    cut: Cut
    setup: float
    """What checkout and set-up took."""
    builds: int
    building: float
    following: float | None = None
    """What each build of a later round takes, judging by these: a link, or as long again; None: none was done."""
    executions: int
    """Executions that were measured, or made to compare their output."""
    executing: float
    turns: dict[str, int] = {}
    """Executions of a side in a build, of the benchmarks of which there are more and shorter ones than planned."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a decision rests on, read from any number of measurement files.

    looks: the rounds after which a verdict may be reached, in order; empty: the design is fixed.
    """

    run: Run | None
    cases: list[Case]
    failures: list[Failure]
    new: list[str]
    rounds: RoundsDone
    looks: list[int]
    layouts: Layouts | None = None
    """Whether both sides of a round are laid out alike; None: the measurements do not say."""
    bound: frozenset[str] = frozenset()
    """Factors of a study of which a setting belongs to some sessions or runners."""
    most: int | None = None
    """The rounds that a plan of looks has at most; None: it has none, or names no most."""
    budget: float | None = None
    """Seconds that the plan allows; None: not known."""
    seconds: float | None = None
    """Of the run: all of it where that is known, otherwise its steps."""
    slowest_round: float | None
    """Seconds, but for the first one; None: not known."""
    builds: list[Build]
    states: list[HostState] = []
    warnings: list[AnyWarning]
    identical: list[Same] = []
    """The proofs of benchmarks that are the same on both sides and were measured nowhere."""
    turns: list[Turn] = []
    """How short the executions of benchmarks are, where these are shorter than planned."""
    aggregates: list[Aggregate] = []
    """What other tools gave without values, by case and statistic."""
    cost: Cost | None = None
    pace: Pace | None = None
    unfinished: Unfinished | None = None
    """None: a round is complete, or something else than the budget ended measuring."""
    profiles: list[Profile] = []
    """They explain, and decide nothing."""
    unprofiled: list[Unprofiled] = []
    """Why benchmarks that were to be profiled have no profile."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of all jobs of a run, by what took them; None: not known."""

    setup: float | None
    """Making the trees and the set-up command."""
    compile: float | None
    """Builds that ran the build command, or were a fresh checkout."""
    link: float | None
    """Builds that linked again what an earlier one had compiled, and the check that this gives the same."""
    measure: float | None
    """Executions with their warm-up and their services."""
    decide: float | None
    """The looks between rounds; the report itself is made later."""
    other: float | None
    """The rest: swapping trees, describing the host, perfgate's own work between two steps."""
    total: float | None
    """From when the machine was free until measuring ended, with what was profiled then."""
    compiled: int
    """Builds in `compile`."""
    linked: int
    """Builds in `link`."""
    profile: float | None = None
    """Executions under a profiler, once a benchmark had regressed."""
    start: float | None = None
    """The first starts on base, before anything of head runs, and those that tell how short turns may be."""
    probe: float | None = None
    """Finding out what cannot differ, and comparing outputs."""
    keep: float | None = None
    """Copying first builds that are kept, and those of earlier runs."""
    again: float | None = None
    """Builds that were tried once more, and what was tried in place of a base that is broken."""
    outside: float | None = None
    """Looking for what builds leave outside their trees, building once more among it."""
    trees: float | None = None
    """Comparing trees with their commits."""

    @property
    def between(self) -> float | None:
        """What each round takes beside its builds and executions; None: not known."""
        return None if self.other is None else self.other + (self.decide or 0.0) + (self.trees or 0.0)

    @property
    def before(self) -> float:
        """What a run does once before it measures, whatever it measures; but for its builds."""
        return sum(each or 0.0 for each in (self.probe, self.start, self.outside))


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """What rounds take, judging by those of a run; in seconds."""

    once: float
    """Making the trees and set-up, what first builds take longer than later ones, the probe."""
    round: float
    """A round of both sides with all benchmarks, those that were settled early among them."""

    def of(self, rounds: int) -> float:
        """Return what so many rounds take."""
        return self.once + rounds * self.round


PARTS = (
    "setup", "compile", "link", "again", "keep", "trees", "start", "probe", "outside", "measure", "decide", "profile",
    "other",
)  # fmt: skip
"""The fields that add up to the total, in the order in which they are shown."""
