"""What stands in the way of a ratio of two sides, as a reason."""

from __future__ import annotations

from gate.decide.design import Subject
from gate.model import SIDES, reasons
from gate.stats.estimate import Reduced

_TROUBLES: dict[str, reasons.Trouble] = {
    "negative": reasons.NegativeValues(),
    "apart": reasons.DifferentSessions(),
    "zero-quantile": reasons.ZeroQuantile(),
    "no-rounds": reasons.FewRounds(),
    "no-spread": reasons.NoSpread(),
}


def trouble_of(reduced: Reduced, subject: Subject) -> reasons.Trouble:
    """Say what stands in the way of a ratio of two sides that are in trouble."""
    if reduced.trouble in _TROUBLES:
        return _TROUBLES[reduced.trouble]
    if reduced.trouble == "one-unit":
        few = [side for side, tops in zip(SIDES, (reduced.base, reduced.head), strict=True) if tops.n < 2]
        return reasons.OneUnit(unit="build" if isinstance(reduced.base.units[0], tuple) else "session", sides=few)
    if reduced.trouble == "few-values" and reduced.shortage is not None:
        return reasons.FewValues(statistic=subject.statistic, needs=reduced.shortage.needs, has=reduced.shortage.has)
    floor = subject.floor if subject.lower else None
    return reasons.BothZero() if reduced.y == 0 else reasons.ZeroBase(floor=floor, unit=subject.case.unit)
