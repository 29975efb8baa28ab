"""What a search found: data that text, Markdown, JSON and the page are written from."""

from __future__ import annotations

from typing import Literal

import msgspec

from gate.model.case import CaseId

SCHEMA = 1
Outcome = Literal["culprit", "set", "open", "no-difference", "failed"]
"""culprit: one commit at 95%. set: several at 95% that cannot be told from each other. open: the budget ended before.
no-difference: the ends do not differ, so that nothing was searched. failed: an end cannot be measured."""
State = Literal["measured", "same", "unmeasurable", "inert", "untouched", "inferred"]
"""measured: its rounds. same: proved to run what good runs. unmeasurable: does not build or run. inert: changes
documentation only. untouched: changes nothing that bad's build or benchmark reads. inferred: from its neighbours."""


class Change(msgspec.Struct, frozen=True):
    """A change in percent of good: a ratio, above 1 slower whatever the metric, with a 95% interval."""

    ratio: float
    low: float | None
    high: float | None


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the range."""

    number: int
    """From 1, the first after good."""
    sha: str
    subject: str
    author: str
    date: str
    files: int
    added: int
    removed: int
    probability: float
    """That it brought the largest slowdown."""
    state: State
    rounds: int
    change: Change | None
    """Against good; None where it was not measured."""
    why: str = ""
    """Of unmeasurable: what failed."""
    folder: str = ""
    """Where its measurements are; empty: there are none."""


class End(msgspec.Struct, frozen=True, kw_only=True):
    """Good or bad."""

    ref: str
    sha: str


class Along(msgspec.Struct, frozen=True, kw_only=True):
    """Another case that regressed between the ends."""

    benchmark: str
    metric: str
    statistic: str
    factors: str
    change: Change


class Several(msgspec.Struct, frozen=True):
    """A second change in the range."""

    probability: float
    sha: str
    """The commit at which, or at the latest before which, it is most probably."""
    ratio: float


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What the search took, in seconds."""

    seconds: float
    gate: float
    """Of that, the gate over both ends."""
    rounds: int
    """After that gate."""
    executions: int
    """Of a round and side."""
    budget: float
    planned: int = 0
    """Rounds that the gate over both ends may take; 0: not known."""
    limit: float = 0.0
    """What that gate may take, plan.budget; 0: not known."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a command that continues from here has to repeat, since other rules and benchmarks are another search."""

    benchmarks: list[str] = []
    """Each with its flag, as are the others."""
    rules: list[str] = []
    out: list[str] = []


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A search."""

    schema: int
    outcome: Outcome
    exit_code: int
    good: End
    bad: End
    case: CaseId | None
    """What was searched for; None: nothing regressed, or nothing was measured."""
    unit: str
    threshold: float | None
    ends: Change | None
    """Bad against good, of the gate over both."""
    ends_verdict: str
    step: Change | None
    """The size of the slowdown by all rounds."""
    noise: float | None
    """Standard deviation of the logarithm of a round's ratio."""
    commits: list[Member]
    remaining: list[str]
    """The fewest commits that hold 95%, in the order of the range."""
    several: Several | None
    along: list[Along]
    failures: list[str]
    parents: list[str]
    """Of the culprit: more than one, it is a merge."""
    cost: Cost
    seed: int
    asked: Asked = Asked()
    detectable: float | None
    """The smallest change that the gate over both ends would probably have shown, as a share."""
    folder: str
