"""The error shared over a report at a look: all its findings, each in two one-sided families."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.decide.design import Design, Subject
from gate.stats.family import Tested, share
from gate.stats.ratio import Tail

NOT_TESTED = Tested(1.0, 1.0, rejected=False)


class Share(msgspec.Struct, frozen=True):
    """What one member gets in each family."""

    regression: Tested
    improvement: Tested


class Member(msgspec.Struct, frozen=True):
    """What of a finding the families share.

    p, p_improvement: two-sided, at its last look, 1 where nothing may be called. look: number of that look, from 0.
    settled: more data of it can change nothing. before: what it got at the look before.
    """

    p: float
    p_improvement: float
    look: int
    paired: bool
    exact: bool
    settled: bool
    before: Share


def shared(members: Sequence[Member], design: Design) -> list[Share]:
    """Share the error over all members, in their order; alphas are what all looks spend together."""
    regressions = _shared(members, design, improvement=False)
    improvements = _shared(members, design, improvement=True)
    return [Share(*both) for both in zip(regressions, improvements, strict=True)]


def _shared(members: Sequence[Member], design: Design, *, improvement: bool) -> list[Tested]:
    family = design.policy.config.gate.family
    sharing = [i for i, member in enumerate(members) if not member.exact]
    spent = [_spent(members[i], design, improvement=improvement) for i in sharing]
    tested = [_exactly(member, design, improvement=improvement) for member in members]
    for i, result in zip(sharing, share(family, spent, design.alpha), strict=True):
        before = _before(members[i], improvement=improvement)
        tested[i] = before if before.rejected else result
    return tested


def _before(member: Member, *, improvement: bool) -> Tested:
    return member.before.improvement if improvement else member.before.regression


def _p(member: Member, *, improvement: bool) -> float:
    return member.p_improvement if improvement else member.p


def _spent(member: Member, design: Design, *, improvement: bool) -> float:
    if _before(member, improvement=improvement).rejected:
        return 0.0
    if member.settled and not improvement:
        return 1.0
    return design.spending.spent(member.look, _p(member, improvement=improvement), paired=member.paired)


def _exactly(member: Member, design: Design, *, improvement: bool) -> Tested:
    p = _p(member, improvement=improvement)
    return Tested(p, design.alpha, p < design.alpha)


def tails(subject: Subject) -> tuple[Tail, Tail]:
    """Give the direction of the ratio that is worse, and the one that is better."""
    return ("above", "below") if subject.lower else ("below", "above")


def beyond(value: float, limit: float, tail: Tail) -> bool:
    """Return whether an exact ratio lies beyond a limit; of numbers written in decimals a hair of rounding is not."""
    hair = 1e-12 * limit
    return value > limit + hair if tail == "above" else value < limit - hair
