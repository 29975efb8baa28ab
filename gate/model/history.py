"""The past: a commit against its parent, the nights of a creep check against a pin, and what controls prove."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from gate.model.case import Compared, OfCase
from gate.model.names import Better, Verdict
from gate.model.reasons import Accepted
from gate.writing.amounts import format_number
from gate.writing.units import plural

HISTORY_SCHEMA = 1
"""Version of a record; a newer one is refused in one line."""


class Spread(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The variance of one level, divided by the squared mean, and its degrees of freedom; a side's own."""

    level: Literal["iteration", "execution", "build", "session"]
    relative: float
    """Relative variance component T2 of the level (not a standard deviation)."""
    df: float


class PastSide(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One side of one case and statistic: its value, and how much of it was measured."""

    value: float
    """In the base unit; the mean, the typical value, or the quantile that `statistic` names."""
    builds: int
    executions: int
    iterations: int
    spread: list[Spread]


class Change(Compared, frozen=True, kw_only=True, gc=False):
    """One case and statistic: head against its parent, measured at the same time on the same machine."""

    benchmark: str
    """Of a suite that is identical its [[benchmark]], "suite", which stands for all its lines, "suite/line"."""
    better: Better
    log_ratio: Annotated[float, msgspec.Meta(ge=-700, le=700)]
    """ln(head/base); 0 of a benchmark that was proved to be the same program."""
    variance: Annotated[float, msgspec.Meta(ge=0)] | None
    """Of log_ratio itself (not of a build), over builds, or over sessions where there are several, without remembered
    variance; 0 if identical or compared as numbers. None: unknown, of one build or of builds without any spread."""
    df: Annotated[float, msgspec.Meta(gt=0)] | None
    """Degrees of freedom of that variance; None where it is 0 or unknown."""
    method: str
    """How both came about, as the report names it: "paired", "paired-shared", "fieller", "exact", "identical"."""
    base: PastSide | None
    head: PastSide | None
    """None of both: identical, so not measured."""
    verdict: Verdict
    accepted: Accepted | None
    """The [[accept]] entry that covered a regression."""
    decided_by: tuple[str, str] | None = None
    """Metric and statistic of the view of the benchmark that decided instead of this one; None: this one did."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The class of machine: what must be alike for absolute values to be comparable, by no name of a host."""

    id: str
    """Hash of the facts below: of equal ones it is equal."""
    facts: dict[str, Any]
    """Processor, kernel, memory as it is sold (B), governor, versions of the instruments: what changed is named."""


class HistoryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One commit, immutable: written once under its sha, its parent's sha and the run's id."""

    schema: Annotated[int, msgspec.Meta(ge=1)] = HISTORY_SCHEMA
    commit: str
    """sha of head."""
    parent: str
    """sha of base: what it was compared with. Equal to `commit`: a control, which shows what the machine does."""
    subject: str = ""
    """First line of the commit's message."""
    committed: str | None
    """When, by git (committer date), ISO 8601 in UTC."""
    measured: str | None
    """When, by the run."""
    run: str
    """Id of the run."""
    perfgate: str | None
    machine: Machine
    controls: Controls | None = None
    """Base's odd starts against its even ones; None: there were none, or an older perfgate wrote the record."""
    raw: list[str]
    """"sha256:..." of each measurements file, unpacked, without its profiles (`perfgate explain` adds them later), so
    that who keeps them can prove which they are."""
    changes: list[Change]

    @property
    def decided(self) -> list[Change]:
        """Its changes without the views of a benchmark that did not decide."""
        return [change for change in self.changes if change.decided_by is None]

    @property
    def control(self) -> bool:
        """Whether one commit was measured against itself."""
        return self.commit == self.parent


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """What one night showed of one case: head against the pin, measured at the same time on this machine."""

    run: str
    """Id of the run."""
    day: str
    """In UTC, such as 2026-11-26."""
    pin: str
    """sha of base."""
    commit: str
    """sha of head."""
    log_ratio: float
    """ln(head/base)."""
    variance: float
    """Of log_ratio, over builds."""


class CaseNights(OfCase, frozen=True, kw_only=True):
    """The nights of one case and statistic on this machine, the oldest first, whatever the pin was."""

    nights: list[Night]
    """One for each check."""


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """What head is compared with, and why."""

    against: str
    """As [creep] says."""
    tag: str | None
    """The tag that was found; None: a commit is named."""
    sha: str
    commits: int | None
    """Of head that the pin does not have; None: the clone is too shallow to say."""

    @property
    def name(self) -> str:
        """The tag, or what [creep] names."""
        return self.tag or self.against


class CreepRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a creep check knows before it measures; kept in the run line, so that a report can be made again."""

    pin: Pin
    """What head is compared with."""
    cases: list[CaseNights]
    """The nights of each, as remembered before this one."""
    unused: str | None
    """Why earlier nights could not be read, in a line; None: they were, or there are none."""


CreepVerdict = Literal["crept", "accepted", "unconfirmed", "none"]


class CreepCase(OfCase, frozen=True, kw_only=True):
    """What all nights together say about one case and statistic."""

    better: Better
    verdict: CreepVerdict
    """crept: beyond the threshold by all nights together. unconfirmed: by this night alone."""
    threshold: float
    nights: int
    """Against this pin, with this one."""
    window: int
    """The latest of them that were averaged; 0: too few for an average that decides."""
    ratio: float | None
    """head/base, the geometric mean over these nights; this night's where there are too few."""
    tonight: float | None
    """head/base of this night alone."""
    p: float | None
    """Of the threshold, corrected for the nights of a year, the averages and the cases."""
    more: int | None
    """About so many more nights would confirm it, if ratio and noise stay as they are; None: unknown, or none."""


class CreepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a report that of a creep check."""

    pin: Pin
    """What head is compared with."""
    nights: int
    """Against this pin that are known on this machine, with this one; of the case that has the most."""
    error: float
    """The chance of any false alarm in a year of nights."""
    unused: str | None
    """Why earlier nights could not be read."""
    cases: list[CreepCase]
    """What all nights say of each."""


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


class ControlsProof(msgspec.Struct, frozen=True, kw_only=True):
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
