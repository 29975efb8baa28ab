"""What is settled before a value is looked at: the findings of a report, the interval of each, the looks."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import msgspec

from gate.config.rules import Policy, detectable_of, floor_of, limit_of, show_of, threshold_of, warn_of
from gate.config.types import Gate, Show
from gate.decide.views import Role, questions_of, roles_of
from gate.model import Better, Case, Evidence, FindingMemory, Layouts, Memory
from gate.model.case import CaseId, Center, case_id, center_of
from gate.model.names import Top
from gate.stats.estimate import Method
from gate.stats.prior import remembered_correlation
from gate.stats.ratio import Tail
from gate.stats.round_ratio import FEWEST_CASES, INDEPENDENT, KEYED, UNKNOWN, is_paired
from gate.stats.sequential import Spending, spending
from gate.units import whole_of


class Subject(msgspec.Struct, frozen=True, eq=False):
    """What one finding will be about, and its rules.

    center: what of the values is compared. floor: in the base unit. show: what it must show to pass. wanted: the size
    of a slowdown that must have shown, where no sign of one is enough. memory: what earlier sessions on the same
    machine tell of its variance. shift: what is added to the values of both sides; of a share what brings base to the
    whole, so that a ratio of 1.02 is a difference of 2 percentage points, and base may be 0; else 0. warn: the change
    for the worse that is marked. limit: of head, in the base unit. role: among the views of its question; None: it is
    the only one. top: the level above its starts.
    """

    case: Case
    statistic: str
    center: Center
    threshold: float
    floor: float | None
    show: Show
    wanted: float
    memory: FindingMemory | None
    shift: float
    warn: float | None
    limit: float | None
    top: Top
    role: Role | None = None

    @property
    def weight(self) -> float:
        """Return its share of the error that its question has in the report."""
        return 1.0 if self.role is None else self.role.weight

    @property
    def sharp(self) -> bool:
        """Return whether it settles its question."""
        return self.role is None or self.role.sharp

    @property
    def first(self) -> bool:
        """Return whether it stands for its question in every run."""
        return self.role is None or self.role.first

    @property
    def lower(self) -> bool:
        """Return whether lower is better."""
        return self.better == "lower"

    @property
    def better(self) -> Better:
        """Return which direction is better; of what has none, and so is compared and not decided, lower."""
        return self.case.better or "lower"

    @property
    def tails(self) -> tuple[Tail, Tail]:
        """Return the direction of the ratio that is worse, and the one that is better."""
        return ("above", "below") if self.lower else ("below", "above")


class Design(msgspec.Struct, frozen=True, eq=False):
    """How every finding of a report is judged.

    interval: as configured. scheme: which levels a bootstrap resamples, from the highest down: R with replacement, N
    not; FLAT: without levels. method: the interval without memory. shares: whether cases share the variance of their
    rounds. layouts: of both sides of a round; None: not known. moderate: whether memory moderates it. looks: the rounds
    of all looks planned; spending: their levels. reached: the rounds of the looks that were reached; () and one level
    for a fixed design. complete: whether all that was planned was measured, as far as it was not settled before. size:
    questions of the report: the views of one count as one. sessions: that measured, or were to; where they are several
    no finding goes by builds alone. machines: these sessions, where the verdict is over them and each goes by its own
    builds; () where sessions are a sample of others. bound: factors of which some sessions lack a setting. seed: of the
    bootstrap. now: when it was measured.
    """

    policy: Policy
    interval: Literal["fieller", "bootstrap", "bootstrap-bca"]
    scheme: Literal["RRR", "RRN", "RNN", "FLAT"]
    method: Method
    shares: bool
    layouts: Layouts | None
    moderate: bool
    looks: tuple[int, ...]
    reached: tuple[int, ...]
    complete: bool
    spending: Spending
    size: int
    sessions: int
    machines: tuple[int, ...]
    bound: frozenset[str]
    seed: int
    memory: Memory | None
    now: datetime.datetime

    @property
    def alpha(self) -> float:
        """The two-sided error of the report."""
        return 1 - self.policy.config.gate.confidence


def subjects_of(evidence: Evidence, policy: Policy) -> list[Subject]:
    """List what is decided: each question, each of its views."""
    memory = evidence.run.memory if evidence.run else None
    remembered = {case_id(m, m.statistic): m for m in (memory.findings if memory else ())}
    questions = questions_of(evidence.cases, policy.config)
    return [
        msgspec.structs.replace(subject_of(case, statistic, policy, remembered), role=role)
        for views, roles in zip(questions, roles_of(questions), strict=True)
        for (case, statistic), role in zip(views, roles, strict=True)
    ]


def by_question(subjects: Sequence[Subject]) -> list[list[int]]:
    """Sort the numbers of subjects by their questions, in order: most are one by themselves."""
    found: dict[object, list[int]] = {}
    for i, subject in enumerate(subjects):
        found.setdefault((i,) if subject.role is None else subject.role.question, []).append(i)
    return list(found.values())


def subject_of(case: Case, statistic: str, policy: Policy, remembered: dict[CaseId, FindingMemory]) -> Subject:
    """Bring together a case, a statistic and the rules for both."""
    names = (policy.config, case.benchmark, case.metric, statistic)
    threshold, warn = threshold_of(*names, case.view_of), warn_of(*names, case.view_of)
    whole = whole_of(case.metric, case.unit)
    return Subject(
        case=case,
        statistic=statistic,
        center=center_of(statistic),
        threshold=threshold,
        floor=floor_of(*names, case.unit, case.view_of),
        show=show_of(*names, case.view_of),
        wanted=detectable_of(*names, case.view_of),
        memory=remembered.get(case_id(case, statistic)),
        # from the threshold on a change fails
        warn=warn if warn is not None and warn < threshold else None,
        limit=limit_of(*names, case.unit),
        top="round" if any(each.against for each in policy.config.benchmark) else "build",
        shift=0.0 if whole is None else whole - float(case.base.values.mean()),
    )


def design_of(evidence: Evidence, policy: Policy, subjects: list[Subject]) -> Design:
    """Choose the intervals and the looks, from the plan and the number of findings only: never from values."""
    run, gate = evidence.run, policy.config.gate
    name, _, scheme = gate.interval.partition(":")
    bootstrap: Literal["bootstrap", "bootstrap-bca"] | None = (
        name if name in ("bootstrap", "bootstrap-bca") else None  # type: ignore[assignment]  # mypy does not narrow it
    )
    memory = run.memory if run else None
    looks = tuple(evidence.looks) if bootstrap is None else ()
    reached = tuple(rounds for rounds in looks if rounds <= evidence.rounds.done)
    complete = len(reached) == len(looks) if looks else evidence.rounds.done >= (evidence.rounds.planned or 0)
    if looks and not reached:
        # nothing has been spent yet: what there is is judged once
        looks = reached = (max(evidence.rounds.done, 1),)
    size = max(len(by_question(subjects)), 1)
    # those that measured anything, and those that were to
    every = {session for case in evidence.cases for side in (case.base, case.head) for session, _ in side.builds}
    if run is not None and (run.sessions or 1) > 1:
        every |= set(range(run.sessions or 1))
    sessions = len(every)
    most = max((len(side.builds) for s in subjects for side in (s.case.base, s.case.head)), default=1)
    planned = evidence.looks[-1] if looks else evidence.rounds.planned or most
    layouts = evidence.layouts
    remembered = remembered_correlation(memory.findings, layouts) if memory and layouts else None
    chosen = choose(gate, planned, size, layouts, sessions=sessions, remembered=remembered)
    now = datetime.datetime.now(tz=datetime.UTC)
    with suppress(ValueError):
        now = datetime.datetime.fromisoformat((run.created if run else None) or "")
    return Design(
        policy=policy,
        interval=bootstrap or "fieller",
        scheme=scheme or "RRR",  # type: ignore[arg-type]  # the part of a Literal of names
        method=chosen.method,
        shares=chosen.shares,
        layouts=layouts,
        moderate=gate.interval == "fieller-moderated" or (gate.interval == "auto" and memory is not None),
        looks=looks,
        reached=reached,
        complete=complete,
        spending=spending(looks or (1,)),
        size=size,
        sessions=sessions,
        machines=tuple(sorted(every)) if gate.sessions == "fixed" and sessions > 1 else (),
        bound=evidence.bound,
        seed=(run.seed if run else None) or 0,
        memory=memory,
        now=now if now.tzinfo else now.replace(tzinfo=datetime.UTC),
    )


CORRELATIONS: dict[Layouts | None, float] = {"common": KEYED, "independent": INDEPENDENT, None: UNKNOWN}


class Choice(msgspec.Struct, frozen=True):
    """The interval without memory, and whether cases share the variance of their rounds where there are enough."""

    method: Method
    shares: bool


def choose(
    gate: Gate, rounds: int, size: int, layouts: Layouts | None, *, sessions: int = 1, remembered: float | None = None
) -> Choice:
    """Choose the interval by the plan alone.

    rounds: planned at most. size: findings that share the error. layouts: of both sides of a round; None: not known.
    remembered: correlation of base and head over rounds, its lower limit; None: too little is remembered.
    """
    if gate.interval in ("fieller", "fieller-kj", "fieller-paired", "paired"):
        return Choice(gate.interval, shares=False)
    if gate.interval.startswith("bootstrap") and sessions == 1:
        # both draw each side by itself, and quantiles go with them
        return Choice("fieller", shares=False)
    # machines may differ by any factor, which both sides have in common: only within a session is there a ratio
    enough = layouts == "common" and size >= FEWEST_CASES
    if sessions > 1:
        return Choice("paired", shares=enough and gate.sessions == "fixed")
    if gate.interval == "paired-shared" or (gate.interval == "auto" and enough):
        return Choice("paired", shares=True)
    correlation = CORRELATIONS[layouts] if remembered is None else remembered
    family = 1 if gate.family == "none" else size
    return Choice("paired" if is_paired(rounds, 1 - gate.confidence, family, correlation) else "fieller", shares=False)
