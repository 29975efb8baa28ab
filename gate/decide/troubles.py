"""What stands in the way of a ratio -> the reason that says it."""

from __future__ import annotations

from collections.abc import Sequence

from gate.decide.design import Subject
from gate.model import SIDES, reasons
from gate.stats.estimate import Reduced
from gate.stats.fixed_sessions import FEWEST_ROUNDS, Machine

_TROUBLES: dict[str, reasons.Trouble] = {
    "negative": reasons.NegativeValues(),
    "apart": reasons.DifferentSessions(),
    "zero-quantile": reasons.ZeroQuantile(),
    "no-rounds": reasons.FewRounds(),
    "no-spread": reasons.NoSpread(),
}


def trouble_of(reduced: Reduced, subject: Subject, machines: Sequence[Machine] = ()) -> reasons.Trouble:
    """Say what stands in the way of a ratio of two sides that are in trouble.

    machines: each judged by itself; the first of them that has no interval is named.
    """
    if reduced.trouble == "machine":
        found = next(each for each in machines if each.trouble)
        return reasons.OnMachine(
            session=found.session, host=subject.case.hosts.get(found.session), why=_on_machine(found, subject)
        )
    if reduced.trouble in _TROUBLES:
        return _TROUBLES[reduced.trouble]
    few = [side for side, tops in zip(SIDES, (reduced.base, reduced.head), strict=True) if tops.n < 2]
    # of two sides that are 0, too, it is the lack of builds that leaves them open
    if reduced.trouble == "one-unit" or (reduced.trouble == "zero-base" and reduced.y == 0 and few):
        return reasons.OneUnit(unit="build" if isinstance(reduced.base.units[0], tuple) else "session", sides=few)
    if reduced.trouble == "few-values" and reduced.shortage is not None:
        return reasons.FewValues(statistic=subject.statistic, needs=reduced.shortage.needs, has=reduced.shortage.has)
    return reasons.BothZero() if reduced.y == 0 else reasons.ZeroBase(floor=subject.floor, unit=subject.case.unit)


def _on_machine(
    found: Machine, subject: Subject
) -> reasons.NegativeValues | reasons.ZeroValue | reasons.NoSpread | reasons.FewValues | reasons.FewRoundsThere:
    if found.trouble == "few-values" and found.shortage is not None:
        return reasons.FewValues(statistic=subject.statistic, needs=found.shortage.needs, has=found.shortage.has)
    if found.trouble == "negative":
        return reasons.NegativeValues()
    if found.trouble == "zero-value":
        return reasons.ZeroValue()
    if found.trouble == "no-spread":
        return reasons.NoSpread()
    return reasons.FewRoundsThere(needs=FEWEST_ROUNDS, has=found.rounds)
