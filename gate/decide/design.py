"""What findings are judged by: subjects and their estimates as types, and the design, settled before values are seen.

Where base and head took turns, a time has two views that answer one question: the typical value, which does not see a
tail on one side, and the mean, which does. The view with less noise in the first round is the sharp one and settles the
question. Both share one error and give one finding. Source: docs/method.md, views.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from gate.config.instruments import COMMAND_METRICS, command_metrics
from gate.config.rules import (
    Policy,
    benchmark_rules,
    better_of,
    floor_of,
    is_decided,
    metric_rules,
    named_metrics,
    threshold_of,
)
from gate.config.types import Config, Gate, Show
from gate.model import Better, Case, Evidence, FindingMemory, Identical, Layouts, Memory, Sample, Side, reasons
from gate.model.case import Center, center_of
from gate.model.directions import direction
from gate.model.names import Top
from gate.model.warnings import AnyWarning
from gate.stats import prior as priors
from gate.stats.centers import first_round_noise
from gate.stats.fixed_sessions import OneSession, together
from gate.stats.levels import Reduced, Tops
from gate.stats.planning import INDEPENDENT, KEYED, UNKNOWN, is_paired
from gate.stats.prior import remembered_correlation
from gate.stats.ratio import Method, Ratio, Rounds, Tail
from gate.stats.sequential import Spending, spending
from gate.stats.shared_variance import FEWEST_BUILDS, FEWEST_CASES
from gate.writing.units import to_base, when

_SHARPER = 2.0
"""How many times as sharp a view must be for the larger share of the error."""
_WEIGHTS = (0.8, 0.2)
"""Of the sharp view, and of the other."""
_UNITS = COMMAND_METRICS | {"task-clock": "s"}


CaseStatistic = tuple[Case, str]
"""A case, and what of it is compared."""


class Role(msgspec.Struct, frozen=True, eq=False):
    """The part of a view among those of its question."""

    question: int
    """Number of the question in the report."""
    steady: bool
    """Whether it is the view that stands for the question in every run, whatever the noise."""
    weight: float
    """Its share of the question's error."""
    settles: bool
    """Whether this view settles its question: its noise in the first round was the smaller."""
    noise: float | None
    """The standard error of its first round; None: not known."""


class Subject(msgspec.Struct, frozen=True, eq=False):
    """What one finding will be about, and its rules."""

    case: Case
    statistic: str
    center: Center
    """What of the values is compared; None: the mean."""
    threshold: float
    floor: float | None
    """In the base unit."""
    show: Show
    """What it must show to pass."""
    must_detect: float
    """The size of a slowdown, as a share, that the run must be able to show where no sign of one is enough."""
    memory: FindingMemory | None
    """Its variance in earlier sessions on the same machine."""
    shift: float
    """Added to the values of both sides, in the base unit.

    Of a share: what makes base the whole (1, or 100 for %), so that a ratio of 1.02 is 2 percentage points and base may
    be 0. Otherwise 0.
    """
    warn: float | None
    """A change for the worse that is marked, smaller than the threshold."""
    limit: float | None
    """Of head, in the base unit."""
    top: Top
    """The level above its starts."""
    role: Role | None = None
    """Among the views of its question; None: it is the only one."""

    @property
    def weight(self) -> float:
        """Return its share of the error that its question has in the report."""
        return 1.0 if self.role is None else self.role.weight

    @property
    def settles(self) -> bool:
        """Return whether it settles its question; without other views it does."""
        return self.role is None or self.role.settles

    @property
    def steady(self) -> bool:
        """Return whether it stands for its question in every run; without other views it does."""
        return self.role is None or self.role.steady

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
    """How every finding of a report is judged."""

    policy: Policy
    interval: Literal["fieller", "bootstrap", "bootstrap-bca"]
    """The bootstrap that is configured; "fieller": none is, and the interval is that of `method`."""
    scheme: Literal["RRR", "RRN", "RNN", "FLAT"]
    """Which levels a bootstrap resamples, from the highest down: R with replacement, N not; FLAT: without levels."""
    method: Method
    """The interval without memory."""
    shares: bool
    """Whether cases share the variance of their rounds."""
    layouts: Layouts | None
    """Of both sides of a round; None: not known."""
    moderate: bool
    """Whether remembered variance may moderate intervals."""
    looks: tuple[int, ...]
    """The rounds of all looks planned; (): the design is fixed."""
    reached: tuple[int, ...]
    """The rounds of the looks that were reached."""
    complete: bool
    """Whether all planned rounds were measured, or all looks reached."""
    spending: Spending
    """The levels of the looks; one level for a fixed design."""
    questions: int
    """Questions of the report; the views of one count as one."""
    sessions: int
    """Sessions that measured anything, or were planned; where there are several, findings do not go by builds alone."""
    machines: tuple[int, ...]
    """Sessions that are judged one by one; (): sessions are a sample."""
    bound: frozenset[str]
    """Factors of which a session has some settings only."""
    seed: int
    """Of the bootstrap."""
    memory: Memory | None
    now: datetime.datetime
    """When it was measured."""

    @property
    def alpha(self) -> float:
        """The two-sided error of the report."""
        return 1 - self.policy.config.gate.confidence


FEWEST_DEGREES = 3.0
"""Degrees below which a memory moderates, and does not stand in for builds: one calibration gives about 5."""
BOOTSTRAP_BUILDS = 10
"""Below this many builds a bootstrap interval reports and does not decide, with a Holm family."""
FIELLER_MODERATED = "fieller-moderated"
PAIRED_SHARED = "paired-shared"
FIXED_SESSIONS = "fixed-sessions"
FIXED_SESSIONS_SHARED = "fixed-sessions-shared"
"""Names of methods, as reports show them."""
Hold = Literal["", "builds", "bootstrap", "memory"]
ONLY_REPORTS = ("memory", "bootstrap")
"""Intervals that show and never decide: of remembered variance alone, of a bootstrap over few builds."""


class Moderation(msgspec.Struct, frozen=True, eq=False):
    """What memory did to one estimate."""

    prior: priors.Prior
    result: priors.Moderated | None
    """None: the variance is remembered alone, since a side has one build."""
    present: float | None
    """The variance that was measured."""
    without: Ratio
    """The interval's pair as it would be without memory."""

    @property
    def used(self) -> bool:
        """Whether the interval rests on remembered variance, alone or moderated."""
        return self.result is None or self.result.used


class Estimated(msgspec.Struct, frozen=True, eq=False):
    """A subject with its numbers over some rounds; base and head: the samples of those rounds."""

    subject: Subject
    base: Sample
    head: Sample
    reduced: Reduced
    ratio: Ratio
    method: str
    """As reports name it."""
    paired: bool
    """Whether the interval is paired by round, which spends less of alpha at looks."""
    moderation: Moderation | None
    """None: nothing is remembered."""
    hold: Hold
    """Why neither a regression nor an improvement may be called; "": both may."""
    warnings: tuple[AnyWarning, ...]
    rounds: Rounds | None
    """What its complete rounds tell; None: there are none, or a value has no logarithm."""
    machines: tuple[OneSession, ...] = ()
    """Each by itself; (): sessions are a sample."""

    @property
    def builds(self) -> int:
        """Builds of the side that has fewer."""
        return min(len(self.base.builds), len(self.head.builds))

    @property
    def builds_each(self) -> int:
        """Builds of a side on the machine that has fewest; of the only one where they are not judged each by itself."""
        return min((each.rounds for each in self.machines), default=self.builds)

    def top_units(self, side: Side) -> Tops:
        """Return what the interval of a side rests on: its builds, or its sessions where they are a sample.

        Machines judged one by one give all their builds.
        """
        if self.machines and not self.reduced.exact:
            return together(self.machines, side)
        return self.reduced.base if side == "base" else self.reduced.head

    @property
    def units(self) -> int:
        """What intervals rest on, of the side that has fewer: builds, or sessions where there are several."""
        return min(self.reduced.base.n, self.reduced.head.n)

    @property
    def unit(self) -> Literal["session", "build"]:
        """What intervals rest on."""
        return "build" if self.machines or isinstance(self.reduced.base.units[0], tuple) else "session"

    @property
    def exact(self) -> bool:
        """Return whether both sides are compared as numbers."""
        return self.reduced.exact


class HostNoise(msgspec.Struct, frozen=True):
    """How many times as noisy as remembered the host is, at least 1."""

    rounds: float
    """Of the ratio from round to round."""
    sides: float
    """Within each side; drift that both share counts here only."""


AS_REMEMBERED = HostNoise(1.0, 1.0)


def needed_builds(found: Estimated, gate: Gate) -> int:
    """Return the builds a side that a regression needs: fewer where enough memory stands in for them."""
    if found.method == PAIRED_SHARED:
        return min(FEWEST_BUILDS, gate.min_builds)
    moderation = found.moderation
    if moderation is not None and moderation.used and moderation.prior.df >= FEWEST_DEGREES:
        return min(priors.FEWEST_MODERATED, gate.min_builds)
    return gate.min_builds


def by_question(subjects: Sequence[Subject]) -> list[list[int]]:
    """Group the indices of subjects by question, in order; one without a role is a question by itself."""
    found: dict[object, list[int]] = {}
    for i, subject in enumerate(subjects):
        found.setdefault((i,) if subject.role is None else subject.role.question, []).append(i)
    return list(found.values())


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
    questions = max(len(by_question(subjects)), 1)
    # those that measured anything, and those that were to
    every = {session for case in evidence.cases for side in (case.base, case.head) for session, _ in side.builds}
    if run is not None and (run.sessions or 1) > 1:
        every |= set(range(run.sessions or 1))
    sessions = len(every)
    most = max((len(side.builds) for s in subjects for side in (s.case.base, s.case.head)), default=1)
    planned = evidence.looks[-1] if looks else (evidence.rounds.planned or most)
    layouts = evidence.layouts
    remembered = remembered_correlation(memory.findings, layouts) if memory and layouts else None
    method, shares = choose_interval(gate, planned, questions, layouts, sessions=sessions, remembered=remembered)
    now = when(run.created if run else None) or datetime.datetime.now(tz=datetime.UTC)
    return Design(
        policy=policy,
        interval=bootstrap or "fieller",
        scheme=scheme or "RRR",  # type: ignore[arg-type]  # the part of a Literal of names
        method=method,
        shares=shares,
        layouts=layouts,
        moderate=gate.interval == "fieller-moderated" or (gate.interval == "auto" and memory is not None),
        looks=looks,
        reached=reached,
        complete=complete,
        spending=spending(looks or (1,)),
        questions=questions,
        sessions=sessions,
        machines=tuple(sorted(every)) if gate.sessions == "fixed" and sessions > 1 else (),
        bound=evidence.bound,
        seed=(run.seed if run else None) or 0,
        memory=memory,
        now=now,
    )


CORRELATIONS: dict[Layouts | None, float] = {"common": KEYED, "independent": INDEPENDENT, None: UNKNOWN}


def choose_interval(
    gate: Gate, rounds: int, size: int, layouts: Layouts | None, *, sessions: int = 1, remembered: float | None = None
) -> tuple[Method, bool]:
    """Choose the interval without memory, and whether cases share the variance of rounds, by the plan alone.

    rounds: planned at most. size: findings that share the error. layouts: of both sides of a round; None: not known.
    remembered: correlation of base and head over rounds, its lower limit; None: too little is remembered.
    """
    if gate.interval in ("fieller", "fieller-kj", "fieller-paired", "paired"):
        return gate.interval, False
    if gate.interval.startswith("bootstrap") and sessions == 1:
        # both draw each side by itself, and quantiles go with them
        return "fieller", False
    # machines may differ by any factor, which both sides have in common: only within a session is there a ratio
    enough = layouts == "common" and size >= FEWEST_CASES
    if sessions > 1:
        return "paired", enough and gate.sessions == "fixed"
    if gate.interval == "paired-shared" or (gate.interval == "auto" and enough):
        return "paired", True
    correlation = CORRELATIONS[layouts] if remembered is None else remembered
    family = 1 if gate.family == "none" else size
    method: Method = "paired" if is_paired(rounds, 1 - gate.confidence, family, correlation) else "fieller"
    return method, False


# --- what is compared, and which of it answers one question ----------------------------------------------------------


def statistics_of(config: Config, benchmark: str, metric: str) -> list[str]:
    """List the statistics of a case that are compared where no turns were taken."""
    found: dict[Center, str] = {}
    for statistic in metric_rules(config, benchmark, metric).compared:
        center = center_of(statistic)
        # p50 and p50.0 are one: it stands where the last one is, as the first one is written
        found[center] = found.pop(center, statistic)
    return list(found.values())


def roles_of(questions: Sequence[Sequence[CaseStatistic]]) -> list[list[Role | None]]:
    """Give each view its share of the error, by the noise of the first round; None: it is the only one.

    An effect never decides here, nor do the rounds that are tested: that would be a second look at them.
    """
    roles: list[list[Role | None]] = []
    for number, views in enumerate(questions):
        if len(views) == 1:
            roles.append([None])
            continue
        noises = [first_round_noise(case.base, case.head, center_of(statistic)) for case, statistic in views]
        one, other = (math.inf if noise is None else noise for noise in noises)
        weights = (0.5, 0.5)
        if math.isfinite(max(one, other)) and max(one, other) > _SHARPER * min(one, other):
            weights = _WEIGHTS if one < other else _WEIGHTS[::-1]
        first = Role(question=number, steady=True, weight=weights[0], settles=one <= other, noise=noises[0])
        roles.append([first, Role(number, steady=False, weight=weights[1], settles=one > other, noise=noises[1])])
    return roles


def identical_of(evidence: Evidence, policy: Policy) -> list[Identical]:
    """Make the findings of everything that is proved, in the order of the benchmarks."""
    place = {benchmark.name: number for number, benchmark in enumerate(policy.config.benchmark)}
    # the probe takes them in any order
    proofs = sorted(evidence.identical, key=lambda same: place.get(same.benchmark, len(place)))
    found = []
    for same in proofs:
        for metric in _metrics(policy.config, same.benchmark):
            rules = metric_rules(policy.config, same.benchmark, metric)
            unit, _ = to_base(rules.unit if rules.unit is not None else _UNITS.get(metric, ""))
            better = better_of(policy.config, same.benchmark, metric) or direction(metric, unit)
            for statistic in statistics_of(policy.config, same.benchmark, metric):
                names = (policy.config, same.benchmark, metric, statistic)
                reason = reasons.SameProgram(differ=same.differ_count, read=same.read_count)
                found.append(
                    Identical(
                        benchmark=same.benchmark, metric=metric, unit=unit, better=better, statistic=statistic,
                        threshold=threshold_of(*names), floor=floor_of(*names, unit), reason=reason,
                        identical=same.proof,
                    )
                )  # fmt: skip
    return found


def _metrics(config: Config, benchmark: str) -> list[str]:
    """Name the metrics that would have been decided, as far as the rules tell: a suite's own only its tool knows."""
    rules = benchmark_rules(config, benchmark)
    if rules is None:
        return ["time"]
    chief = rules.measured.chief
    default = chief[0] if chief else "time"
    # a value of a benchmark that declares no metric is a time
    own = command_metrics(rules.instrument) or ([] if rules.metric else [default])
    found = [metric for metric in dict.fromkeys([*own, *rules.metric]) if is_decided(config, benchmark, metric)]
    named = named_metrics(config, benchmark)
    if (named is None or "active" not in named) and "active" not in rules.metric and "time" in found:
        # another view of the same question, which has one answer
        found = [metric for metric in found if metric != "active"]
    return found or [default]
