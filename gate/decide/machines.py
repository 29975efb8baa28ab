"""A subject over given machines: each reduced by itself, and what all come to (docs/method.md, fixed sessions)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.decide.design import Design, Subject
from gate.model import Case, RatioInterval, Sample
from gate.model.report import SessionRatio
from gate.model.warnings import AnyWarning
from gate.model.warnings.estimates import DependsOnMachine, OnSession, RoundsLeftOut
from gate.stats.diagnostics import LEVEL, SMALLEST
from gate.stats.estimate import Reduced, reduce
from gate.stats.fixed_sessions import Machine, effect, machine, over_machines, p_alike, stacked
from gate.stats.ratio import WITHHELD, Limits, LogPair, MeanPair, Ratio, rounded
from gate.stats.subsample import measured_together, of_complete_rounds

METHOD = "fixed-sessions"
SHARED_METHOD = "fixed-sessions-shared"
"""The same, with the variance that the cases of a machine share."""


class OverMachines(msgspec.Struct, frozen=True, eq=False):
    """What a subject comes to over its machines, by the rounds that both sides have."""

    base: Sample
    head: Sample
    reduced: Reduced
    """By session."""
    ratio: Ratio
    machines: tuple[Machine, ...]
    warnings: tuple[AnyWarning, ...]


def machines_of(case: Case, design: Design) -> tuple[int, ...]:
    """Return the sessions that must have measured a case: all, unless a setting of it is bound to some."""
    if not design.bound & case.factors.keys():
        return design.machines
    return tuple(sorted({session for session, _ in (*case.base.builds, *case.head.builds)}))


def over_its_machines(subject: Subject, design: Design, base: Sample, head: Sample) -> OverMachines:
    """Judge a subject by each of its machines; in trouble where one of them is."""
    case, sessions = subject.case, machines_of(subject.case, design)
    x, y, lacking = of_complete_rounds(base, head)
    if not measured_together(base, head):
        # no machine has a round; of machines that measured one side each, that is what is wrong
        plain = reduce(base, head, subject.center, exact=case.exact, sessions=True)
        none = tuple(Machine(session, 0, None, None, "few-rounds") for session in sessions)
        trouble = plain if plain.trouble == "apart" else msgspec.structs.replace(plain, trouble="machine", exact=False)
        return OverMachines(base, head, trouble, _nothing(), none, ())
    found = tuple(machine(session, x, y, subject.center, exact=case.exact) for session in sessions)
    left_out = len(set(base.builds) ^ set(head.builds))
    warnings = (RoundsLeftOut(left_out, lacking),) if lacking else ()
    same = _the_same_count(x, y, found) if case.exact else None
    if same is not None:
        number = MeanPair(same.x, same.y, 0.0, 0.0, 0.0, None)
        return OverMachines(x, y, same, number, found, (*same.warnings, *warnings))
    reduced = stacked(found)
    told = (*reduced.warnings, *warnings, *_depends(found, case))
    pair = over_machines(found)
    ratio = _nothing() if pair is None else rounded(pair, *reduced.rounding)
    return OverMachines(x, y, reduced, ratio, found, told)


def _nothing() -> MeanPair:
    return MeanPair(0.0, 0.0, 0.0, 0.0, 0.0, None)


def _the_same_count(base: Sample, head: Sample, found: Sequence[Machine]) -> Reduced | None:
    """Return both sides as numbers where every machine has one value a side and all have one ratio, 0 or not."""
    if not all(each.rounds for each in found):
        return None
    whole = reduce(base, head, None, exact=True, sessions=True)
    return whole if whole.exact else None


def _depends(found: Sequence[Machine], case: Case) -> tuple[DependsOnMachine, ...]:
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
    return (DependsOnMachine(*(OnSession(at, case.hosts.get(at), ratios[at]) for at in (least, most))),)


def session_ratios(found: Sequence[Machine], subject: Subject, alpha: float) -> list[SessionRatio]:
    """Describe each machine with its own interval at confidence 1 - alpha."""
    return [
        SessionRatio(
            session=each.session,
            host=subject.case.hosts.get(each.session),
            rounds=each.rounds,
            ratio=_own_interval(each, each.pair, alpha),
        )
        for each in found
    ]


def _own_interval(found: Machine, pair: LogPair | None, alpha: float) -> RatioInterval:
    reduced = found.reduced
    exact = reduced is not None and reduced.exact
    estimate = pair.y / pair.x if pair is not None else None
    limits = WITHHELD
    if estimate is not None and pair is not None and reduced is not None and not found.trouble:
        limits = Limits("bounded", estimate, estimate) if exact else rounded(pair, *reduced.rounding).limits(alpha)
    return RatioInterval(
        estimate=estimate, low=limits.low, high=limits.high, confidence=1 - alpha, method="exact" if exact else METHOD,
        df=None if exact or found.trouble or pair is None else pair.df, kind=limits.kind,
    )  # fmt: skip
