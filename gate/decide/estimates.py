"""Subjects -> estimates over the first rounds of a run: reduced, with the interval the design gives them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from gate.config.types import Gate
from gate.decide.design import Design, Subject
from gate.model import Case, Sample, Side
from gate.model.case import TYPICAL, Center
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.model.warnings.estimates import DependsOnMachine
from gate.stats import prior as priors
from gate.stats.centers import reduce_to
from gate.stats.diagnostics import LEVEL, SMALLEST
from gate.stats.fixed_sessions import (
    Machine,
    effect,
    machine,
    of_pairs,
    over_machines,
    p_alike,
    stacked,
    together,
)
from gate.stats.levels import (
    Reduced,
    Tops,
    measured_together,
    of_complete_rounds,
    of_rounds,
    of_shared_sessions,
    paired_units,
    reduce,
)
from gate.stats.ratio import PAIRED, LogPair, MeanPair, Ratio, Rounds, ratio_of, rounded, rounds_of
from gate.stats.shared_variance import FEWEST_BUILDS, shared_of
from gate.units import agree, format_share, plural
from gate.writing import phrases

FEWEST_DEGREES = 3.0
"""Degrees below which a memory moderates, and does not stand in for builds: one calibration gives about 5."""
BOOTSTRAP_BUILDS = 10
"""Below this many builds a bootstrap interval reports and does not decide, with a Holm family."""

MODERATED = "fieller-moderated"
SHARED = "paired-shared"
METHOD = "fixed-sessions"
"""Of given machines, each judged by itself."""
FEWEST_SHARED = 5
"""Rounds of each given machine from which on cases share their variance."""


LEAST_COMPLETE = 2 / 3
"""The share of rounds that both sides must have for the others to be left out."""


SHARED_METHOD = "fixed-sessions-shared"
"""The same, with the variance that the cases of a machine share."""

Hold = Literal["", "builds", "bootstrap", "memory"]
ONLY_REPORTS = ("memory", "bootstrap")
"""Intervals that show and never decide: of remembered variance alone, of a bootstrap over few builds."""


class Moderation(msgspec.Struct, frozen=True, eq=False):
    """What memory did to one estimate. without: the interval's pair as it would be without it."""

    prior: priors.Prior
    result: priors.Moderated | None
    present: float | None
    without: Ratio


class Estimated(msgspec.Struct, frozen=True, eq=False):
    """A subject with its numbers over some rounds.

    base, head: the samples of those rounds. method: as reports name it. paired: whether the interval is paired by
    round, which spends less of alpha at looks. moderation: None where nothing is remembered. hold: why neither a
    regression nor an improvement may be called, "" when one may. machines: each by itself, where the verdict is over
    these machines.
    """

    subject: Subject
    base: Sample
    head: Sample
    reduced: Reduced
    ratio: Ratio
    method: str
    paired: bool
    moderation: Moderation | None
    hold: Hold
    warnings: tuple[AnyWarning, ...]
    rounds: Rounds | None
    """What its complete rounds tell; None: there are none, or a value has no logarithm."""
    machines: tuple[Machine, ...] = ()

    @property
    def builds(self) -> int:
        """Builds of the side that has fewer."""
        return min(len(self.base.builds), len(self.head.builds))

    @property
    def builds_each(self) -> int:
        """Builds of a side on the machine that has fewest; of the only one where they are not judged each by itself."""
        return min((each.rounds for each in self.machines), default=self.builds)

    def by_build(self, side: Side) -> Tops:
        """Return a side's top units: builds, also where machines are judged each by itself; sessions where sampled."""
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


class Factors(msgspec.Struct, frozen=True):
    """How much noisier than remembered the host is, 1 or more: over rounds, and within the sides.

    Two, since drift that both sides share is in the second only.
    """

    rounds: float
    sides: float


AS_REMEMBERED = Factors(1.0, 1.0)


class Estimates(msgspec.Struct, frozen=True, eq=False):
    """All subjects estimated over the same rounds, on a host that is so much noisier than remembered."""

    found: list[Estimated]
    factors: Factors


def estimates(
    subjects: Sequence[Subject], design: Design, rounds: int | None, least: Factors = AS_REMEMBERED,
    settled: Sequence[Estimated] = (),
) -> Estimates:  # fmt: skip
    """Estimate subjects over their first rounds; None: over all there is.

    least: what the host was found to be at an earlier look, by more findings than may be open now. settled: other
    findings of the report, over the rounds that they have, which tell of the variance of these.
    """
    plain = [_plain(subject, design, rounds) for subject in subjects]
    known = plain
    if design.shares:
        known = (_over_sharing_machines if design.machines else _with_shared_variance)(plain, settled)
    if not design.moderate:
        return Estimates([_held(found, design) for found in known], least)
    recalled = [_recalled(found, design) for found in plain]
    known_of = [each for each in recalled if each is not None]
    rounds_of_all, sides_of_all = (
        priors.host_factor([each for each in compared if each is not None])
        for compared in ([each.decisive for each in known_of], [each.within for each in known_of])
    )
    factors = Factors(max(rounds_of_all, least.rounds), max(sides_of_all, least.sides))
    moderated = [
        shared if each is None else _moderated(found, each, factors)
        for found, shared, each in zip(plain, known, recalled, strict=True)
    ]
    return Estimates([_held(found, design) for found in moderated], factors)


def _with_shared_variance(found: Sequence[Estimated], settled: Sequence[Estimated]) -> list[Estimated]:
    """Give cases whose rounds are paired the variance that they share with the others of the same statistic."""
    every = {id(each): each for each in (*found, *settled) if not _hides_variance(each)}
    rounds = {at: of for at, each in every.items() if (of := each.rounds) is not None and of.df > 0 < of.contrast}
    shared = shared_of(rounds, lambda at: _kind(every[at]))
    made = []
    for each in found:
        own, of = shared.get(id(each)), each.rounds
        if own is not None and of is not None and each.method == "paired":
            ratio = rounded(of.pair(own.variance, own.df), *each.reduced.rounding)
            each = msgspec.structs.replace(each, ratio=ratio, method=SHARED)
        made.append(each)
    return made


def _over_sharing_machines(found: Sequence[Estimated], settled: Sequence[Estimated]) -> list[Estimated]:
    """Do the same on each of given machines, and combine what they say.

    A case goes by its own rounds where a machine is in trouble or has fewer than FEWEST_SHARED rounds, or nothing is
    shared on any of them.
    """
    every = {id(each): each for each in (*found, *settled) if not _hides_variance(each)}
    rounds = {
        (at, own.session): of
        for at, each in every.items()
        if all(not own.trouble and own.rounds >= FEWEST_SHARED for own in each.machines)
        for own in each.machines
        if own.reduced is not None and not own.reduced.exact
        if (of := rounds_of(own.reduced.base, own.reduced.head)) is not None and of.contrast > 0
    }
    shared = shared_of(rounds, lambda place: (_kind(every[place[0]]), place[1]))
    made = []
    for each in found:
        pairs: list[MeanPair] = []
        for own in each.machines:
            weighed = shared.get((id(each), own.session))
            if weighed is not None:
                pairs.append(rounds[id(each), own.session].pair(weighed.variance, weighed.df).logs)
            elif own.pair is not None:
                pairs.append(own.pair.logs)
        if any((id(each), own.session) in shared for own in each.machines) and len(pairs) == len(each.machines):
            each = msgspec.structs.replace(each, ratio=LogPair(of_pairs(pairs)), method=SHARED_METHOD)
        made.append(each)
    return made


def _kind(found: Estimated) -> tuple[Center, str]:
    """Return what cases must have in common to share a variance: the metric too, where there are several views."""
    subject = found.subject
    return subject.center, subject.case.metric if subject.case.turns else ""


def _hides_variance(found: Estimated) -> bool:
    """Return whether a variance is none that was estimated: of counts, without an interval, of values rounded alike."""
    reduced = found.reduced
    return bool(found.exact or reduced.trouble or any(reduced.rounding))


def _plain(subject: Subject, design: Design, rounds: int | None) -> Estimated:
    if design.machines:
        return _over_machines(subject, design, rounds)
    base, head, lacking = of_shared_sessions(*_first_rounds(subject, rounds))
    center, exact, several = subject.center, subject.case.exact, design.sessions > 1
    if center is None:
        reduced = reduce(base, head, exact=exact, sessions=several)
    else:
        reduced = reduce_to(base, head, center, exact=exact, sessions=several)
    method = design.method
    gate = design.policy.config.gate
    if center == TYPICAL:
        # of both sides together: there is no other interval of it
        method = "paired"
    elif method == "paired" and gate.interval == "auto" and _too_few_complete(reduced):
        # a pairing chosen for rounds that are complete does not throw away most of what has no partner; a session on
        # another machine is no part of a ratio without one
        method = "fieller"
    pairs = None if reduced.exact or reduced.trouble in _NO_ROUNDS else rounds_of(reduced.base, reduced.head)
    if method == "paired" and pairs is None:
        # a value has no logarithm
        method = "fieller-paired"
    found = Estimated(
        subject=subject, base=base, head=head, reduced=reduced, ratio=ratio_of(reduced, method, pairs),
        method="exact" if reduced.exact else method, paired=method in PAIRED, moderation=None, hold="", rounds=pairs,
        warnings=(*reduced.warnings, *([_one_sided(lacking)] if lacking else [])),
    )  # fmt: skip
    if not reduced.trouble and not reduced.exact and found.ratio.df is None:
        return msgspec.structs.replace(found, reduced=msgspec.structs.replace(reduced, trouble="no-rounds"))
    if design.interval != "fieller" and subject.center is None and not _hides_variance(found):
        return _bootstrap(found, design)
    return found


def _one_sided(sessions: Sequence[int]) -> Said:
    named, are = agree(len(sessions), "session", "sessions"), agree(len(sessions), "is", "are")
    text = f"{named} {', '.join(map(str, sessions))} measured only one side and {are} left out"
    return Said(text, "one-sided-sessions", "first")


_NO_ROUNDS = ("negative", "zero-base", "zero-quantile")


def _too_few_complete(reduced: Reduced) -> bool:
    """Return whether so many rounds are of one side only that pairing would leave out too much."""
    base, head = reduced.base.units, reduced.head.units
    if base == head or not all(isinstance(unit, tuple) for unit in (*base, *head)):
        return False
    return len(set(base) & set(head)) < LEAST_COMPLETE * max(len(base), len(head))


def _first_rounds(subject: Subject, rounds: int | None) -> tuple[Sample, Sample]:
    """Return base and head in the first rounds of each session (None: in all there are), shares as differences."""
    base, head = (of_rounds(side, rounds) for side in (subject.case.base, subject.case.head))
    if subject.shift:
        base, head = (msgspec.structs.replace(side, values=side.values + subject.shift) for side in (base, head))
    return base, head


def _over_machines(subject: Subject, design: Design, rounds: int | None) -> Estimated:
    """Judge a subject by each of its machines; in trouble where one of them is."""
    case, center = subject.case, subject.center
    base, head = _first_rounds(subject, rounds)
    # all must have measured it, unless a setting of it is bound to some
    some = sorted({session for session, _ in (*case.base.builds, *case.head.builds)})
    sessions = some if design.bound & case.factors.keys() else design.machines
    warnings: tuple[AnyWarning, ...] = ()
    nothing = MeanPair(0.0, 0.0, 0.0, 0.0, 0.0, None)
    ratio: Ratio = nothing
    if not measured_together(base, head):
        # no machine has a round; of machines that measured one side each, that is what is wrong
        machines = tuple(Machine(session, 0, None, None, "few-rounds") for session in sessions)
        reduced = reduce_to(base, head, center, exact=case.exact, sessions=True)
        if reduced.trouble != "apart":
            reduced = msgspec.structs.replace(reduced, trouble="machine", exact=False)
    else:
        left_out = len(set(base.builds) ^ set(head.builds))
        base, head, lacking = of_complete_rounds(base, head)
        if lacking:
            where = f"{agree(len(lacking), 'session', 'sessions')} {phrases.joined([*map(str, lacking)])}"
            left = f"{plural(left_out, 'round')} of {where} {agree(left_out, 'is', 'are')} left out"
            text = f"{left}: only one side has values there"
            warnings = (Said(text, "rounds-left-out"),)
        machines = tuple(machine(session, base, head, center, exact=case.exact) for session in sessions)
        counted = case.exact and all(each.rounds for each in machines)
        whole = reduce(base, head, exact=True, sessions=True) if counted else None
        if whole is not None and whole.exact:
            # one value a side on every machine, and one ratio on all, 0 or not
            reduced, ratio = whole, msgspec.structs.replace(nothing, x=whole.x, y=whole.y)
            warnings = (*reduced.warnings, *warnings)
        else:
            reduced, pair = stacked(machines), over_machines(machines)
            ratio = nothing if pair is None else rounded(pair, *reduced.rounding)
            warnings = (*reduced.warnings, *warnings, *depends(machines, case))
    return Estimated(
        subject=subject, base=base, head=head, reduced=reduced, ratio=ratio,
        method="exact" if reduced.exact else METHOD, paired=True, moderation=None, hold="", rounds=None,
        warnings=warnings, machines=machines,
    )  # fmt: skip


def depends(found: Sequence[Machine], case: Case) -> tuple[DependsOnMachine, ...]:
    """Warn where the change differs from machine to machine, by Welch's F; of counts, where it does at all."""
    pairs = {each.session: each.pair for each in found if each.pair is not None and not each.trouble}
    if len(pairs) < len(found):
        return ()
    p = p_alike([effect(pair.logs) for pair in pairs.values()])
    exact = all(each.reduced is not None and each.reduced.exact for each in found)
    ratios = {session: pair.y / pair.x for session, pair in pairs.items()}
    least, most = (choose(ratios, key=ratios.__getitem__) for choose in (min, max))
    if not (exact or (p is not None and p < LEVEL)) or ratios[most] < ratios[least] * (1 + SMALLEST):
        return ()
    shown = (format_share(ratios[at] - 1, sign=True) for at in (least, most))
    where = (phrases.machine(at, case.hosts.get(at)) for at in (least, most))
    return (DependsOnMachine(*(f"{ratio} on {at}" for ratio, at in zip(shown, where, strict=True))),)


def _bootstrap(found: Estimated, design: Design) -> Estimated:
    from gate.stats.bootstrap import bootstrap_ratio

    case = found.subject.case
    name = f"{case.benchmark}\0{case.metric}\0{sorted(case.factors.items())}"
    ratio = bootstrap_ratio(
        found.base, found.head, scheme=design.scheme, bca=design.interval == "bootstrap-bca",
        seed=zlib.crc32(name.encode(), design.seed & 0xFFFFFFFF),
        alphas=tuple(dict.fromkeys((design.alpha, design.alpha / design.size * found.subject.weight))),
        sessions=design.sessions > 1,
    )  # fmt: skip
    return msgspec.structs.replace(
        found, ratio=ratio, method=design.interval, paired=False,
        warnings=(*found.warnings, *dict.fromkeys(ratio.warnings)),
    )  # fmt: skip


def _held(found: Estimated, design: Design) -> Estimated:
    gate = design.policy.config.gate
    hold: Hold = ""
    if found.exact:
        return found
    if found.moderation is not None and found.moderation.result is None:
        hold = "memory"
    elif found.builds < needed_builds(found, gate):
        hold = "builds"
    elif found.method.startswith("bootstrap") and gate.family == "holm" and found.units < BOOTSTRAP_BUILDS:
        hold = "bootstrap"
    return msgspec.structs.replace(found, hold=hold)


def needed_builds(found: Estimated, gate: Gate) -> int:
    """Return the builds a side that a regression needs: fewer where enough memory stands in for them."""
    if found.method == SHARED:
        return min(FEWEST_BUILDS, gate.min_builds)
    moderation = found.moderation
    used = moderation is not None and (moderation.result is None or moderation.result.used)
    if used and moderation is not None and moderation.prior.df >= FEWEST_DEGREES:
        return min(priors.FEWEST_MODERATED, gate.min_builds)
    return gate.min_builds


# --- memory -----------------------------------------------------------------------------------------------------------


_Compared = tuple[float, float, priors.Prior]
"""A present variance with its degrees, and what is remembered of it."""


class _Recalled(NamedTuple):
    """What is remembered of a finding; None with one build on a side, where there is nothing to compare it with."""

    prior: priors.Prior
    decisive: _Compared | None = None
    """Of what the interval rests on: the round contrast where rounds are complete, otherwise a build's mean."""
    within: _Compared | None = None
    """Of a build's mean, beside a contrast."""


def _recalled(found: Estimated, design: Design) -> _Recalled | None:
    if found.exact or found.reduced.trouble not in ("", "one-unit") or any(found.reduced.rounding):
        return None
    base, head = found.reduced.base, found.reduced.head
    by_round = paired_units(base, head)
    prior = _prior(found, design, "contrast" if by_round else "build")
    if prior is None:
        return None
    if min(base.n, head.n) < 2:
        return _Recalled(prior)
    of_builds = priors.sides_variance(base, head), base.n + head.n - 2
    if not by_round:
        return _Recalled(prior, (*of_builds, prior))
    within = _prior(found, design, "build")
    contrast = priors.contrast_variance(base, head), base.n - 1, prior
    return _Recalled(prior, contrast, None if within is None else (*of_builds, within))


def _prior(found: Estimated, design: Design, kind: priors.Kind) -> priors.Prior | None:
    memory, subject = design.memory, found.subject
    if memory is None or subject.memory is None:
        return None
    sides = (found.base, found.head)
    builds = sum(len(side.builds) for side in sides)
    executions = sum(len(side.counts[0]) for side in sides)
    return priors.prior_of(
        subject.memory, kind=kind, executions=executions / builds,
        iterations=sum(len(side.values) for side in sides) / executions,
        nu=memory.contrast_nu if kind == "contrast" else memory.build_nu, now=design.now,
        layouts=design.layouts or "independent",
    )  # fmt: skip


def _moderated(found: Estimated, recalled: _Recalled, factors: Factors) -> Estimated:
    base, head = found.reduced.base, found.reduced.head
    prior, present, within = recalled
    if present is None:
        # one build a side: from memory alone, to be shown and never to decide
        pair = priors.prior_pair(base, head, factors.rounds * prior.variance, prior.df)
        moderation = Moderation(prior, None, None, found.ratio)
        reduced = msgspec.structs.replace(found.reduced, trouble="")
        return msgspec.structs.replace(
            found, reduced=reduced, ratio=_scaled(pair, reduced), method=MODERATED, moderation=moderation
        )
    # the variance within the sides has twice the degrees of the contrast, and so sees a noisy case better
    p_sides = None if within is None else priors.surprise(*within, factors.sides)
    # of a build's mean, which is what decides where rounds are not complete
    by_round, builds, factor = paired_units(base, head), None if within is None else within[2], factors.sides
    if not by_round:
        builds, factor = prior, factors.rounds
    p_unlike = priors.unlike_sides(base, head, builds, factor)
    variance, df, _ = present
    result = priors.moderate(variance, df, prior, factors.rounds, p_sides=p_sides, p_unlike=p_unlike)
    moderation = Moderation(prior, result, variance, found.ratio)
    if not result.used:
        return msgspec.structs.replace(found, moderation=moderation)
    pair = (priors.moderated_pair if by_round else priors.moderated_sides)(base, head, result.variance, result.df)
    return msgspec.structs.replace(
        found, ratio=_scaled(pair, found.reduced), method=MODERATED, paired=False, moderation=moderation
    )


def _scaled(pair: MeanPair, reduced: Reduced) -> Ratio:
    return rounded(LogPair(pair) if reduced.base.log else pair, *reduced.rounding)
