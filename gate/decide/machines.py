"""What given machines show each by itself, and whether it depends on them (docs/method.md, fixed sessions)."""

from __future__ import annotations

from collections.abc import Sequence

from gate.decide.design import Subject
from gate.model import Case, RatioInterval
from gate.model.report import SessionRatio
from gate.model.warnings.estimates import DependsOnMachine, OnSession
from gate.stats.diagnostics import LEVEL, SMALLEST
from gate.stats.fixed_sessions import Machine, effect, p_alike
from gate.stats.ratio import WITHHELD, Limits, LogPair, rounded

METHOD = "fixed-sessions"
SHARED_METHOD = "fixed-sessions-shared"
"""The same, with the variance that the cases of a machine share."""


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
