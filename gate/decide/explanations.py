"""Which functions the profiles of a run name, benchmark by benchmark; no verdict rests on them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gate.explain.explain import Measured, explain
from gate.model import Evidence, Finding
from gate.model.case import canonical
from gate.model.explanation import Explanation
from gate.model.profile import Profile, Unprofiled

MOST = 40
"""Explanations of a report; those of the findings that come first."""
PICTURED = 10
"""Explanations with a call tree, which a picture needs."""
_ORDER = ("regression", "accepted", "inconclusive")


_Place = tuple[str, str]
"""A benchmark, and its factors as text."""


def explanations_of(evidence: Evidence, findings: Sequence[Finding]) -> list[Explanation]:
    """Explain each benchmark that has a profile of both sides, regressions first; pure.

    Of several sessions the first that profiled both sides explains: each is one execution, and they are not averaged.
    """
    pairs: dict[_Place, tuple[Profile, Profile]] = {}
    heads = {(_place(p), p.session, p.profiler, p.unit): p for p in evidence.profiles if p.side == "head"}
    for base in sorted((p for p in evidence.profiles if p.side == "base"), key=lambda p: p.session):
        head = heads.get((_place(base), base.session, base.profiler, base.unit))
        if head is not None:
            pairs.setdefault(_place(base), (base, head))
    order = {place: number for number, place in enumerate(dict.fromkeys(_place(f) for f in _ordered(findings)))}
    found: list[Explanation] = []
    for place in sorted(pairs, key=lambda each: (order.get(each, len(order)), each))[:MOST]:
        base, head = pairs[place]
        found.append(explain(base, head, _measured(place, findings), pictured=len(found) < PICTURED))
    return found


def unprofiled_of(evidence: Evidence, explanations: Sequence[Explanation]) -> list[Unprofiled]:
    """Return why benchmarks have no profile, one line each; not of those that another session profiled."""
    explained = {_place(each) for each in explanations}
    found: dict[_Place, Unprofiled] = {}
    for each in evidence.unprofiled:
        if _place(each) not in explained:
            found.setdefault(_place(each), each)
    return list(found.values())


def _place(found: Profile | Unprofiled | Finding | Explanation) -> _Place:
    return found.benchmark, canonical(found.factors)


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: _ORDER.index(f.verdict) if f.verdict in _ORDER else len(_ORDER))


def _measured(place: _Place, findings: Sequence[Finding]) -> Measured | None:
    """Return the change of the finding that matters most of a benchmark; a profile can show times best."""
    own = [f for f in _ordered(findings) if _place(f) == place and f.ratio.estimate is not None]
    worst = [f for f in own if f.verdict == own[0].verdict]
    best = next((f for f in worst if f.unit == "s"), worst[0] if worst else None)
    if best is None or not best.ratio.estimate or best.ratio.estimate <= 0:
        return None
    found, ends = best.ratio, [best.ratio.estimate]
    if found.kind == "bounded":
        ends += [end for end in (found.low, found.high) if end is not None]
    elif found.kind != "withheld":
        ends += [0.0, math.inf]
    worse = [x if best.better == "lower" else 1 / x if x > 0 else math.inf for x in ends]
    return Measured(best.metric, best.unit, worse[0], min(worse), max(worse))
