"""Which findings matter most: the order of reports, which have curves and pictures, and which a profile explains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gate.decide.design import Subject
from gate.explain.explain import MetricRatio, explain
from gate.model import Evidence, Finding, QuantileCurve, Verdict
from gate.model.case import canonical
from gate.model.profile import Explanation, Profile, Unprofiled
from gate.stats.centers import quantile_curve

MOST = 20
"""Findings that get curves and pictures."""
EXPLAINED = 40
"""Explanations of a report; those of the findings that come first."""
_EXPLAINED_FIRST = ("regression", "accepted", "inconclusive")
_Place = tuple[str, str]
"""A benchmark, and its factors as text."""


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with those that matter first, and among equals the largest change first."""
    return sorted(findings, key=rank)


def rank(finding: Finding) -> tuple[int, bool, bool, int, float]:
    """Return the place of a finding in that order."""
    # of noise what may be a regression is the worst, and what is shown to be none the best
    noise = 0 if not finding.is_noise or finding.may_regress else 2 if finding.not_worse else 1
    estimate, size = finding.ratio.estimate, math.inf
    if finding.base.value == finding.head.value == 0:
        size = 0.0
    elif estimate is not None and math.isfinite(estimate) and estimate > 0:
        size = abs(math.log(estimate))
    return _ORDER.index(finding.verdict), finding.is_noise, not finding.is_hidden, noise, -size


_ORDER: tuple[Verdict, ...] = (
    "regression", "improvement", "accepted", "inconclusive", "unchanged", "no-sign", "identical",
)  # fmt: skip
"""What changed stands before what noise leaves open."""


def plain(finding: Finding) -> bool:
    """Return whether a finding needs no words of its own: unchanged or no sign of a change, by its threshold alone."""
    return finding.verdict in ("unchanged", "no-sign") and not finding.is_bound_by_floor


def is_changed(finding: Finding) -> bool:
    """Return whether a finding comes before those that noise leaves open: it changed, or something else is missing."""
    return not plain(finding) and not finding.is_noise


def curves_of(subjects: Sequence[Subject], findings: Sequence[Finding]) -> list[QuantileCurve]:
    """Draw up the curves of a report, in the order of its cases.

    subjects, findings: one of each for every statistic that is decided, in the same order.
    """
    most = {id(finding) for finding in ordered(findings)[:MOST]}
    cases = {
        id(subject.case): subject.case
        for subject, finding in zip(subjects, findings, strict=True)
        if isinstance(subject.center, float) or id(finding) in most
    }
    curves = [
        QuantileCurve(
            benchmark=c.benchmark, metric=c.metric, factors=c.factors, effects=[*quantile_curve(c.base, c.head)]
        )
        for c in cases.values()
        # an exact metric has no distribution
        if not c.exact and min(c.base.values.min(), c.head.values.min()) > 0
    ]
    return [curve for curve in curves if curve.effects]


def profiled(evidence: Evidence, findings: Sequence[Finding]) -> tuple[list[Explanation], list[Unprofiled]]:
    """Explain what is slower, or may be; `perfgate explain` may have profiled more, of which it tells itself."""
    slower = {_place(each) for each in findings if each.verdict in _EXPLAINED_FIRST}
    explanations = explanations_of(evidence, findings)
    found = [each for each in explanations if _place(each) in slower]
    return found, [each for each in unprofiled_of(evidence, explanations) if _place(each) in slower]


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
    order = {place: number for number, place in enumerate(dict.fromkeys(_place(f) for f in _worst_first(findings)))}
    found: list[Explanation] = []
    for place in sorted(pairs, key=lambda each: (order.get(each, len(order)), each))[:EXPLAINED]:
        base, head = pairs[place]
        found.append(explain(base, head, _measured(place, findings)))
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


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(
        findings,
        key=lambda f: _EXPLAINED_FIRST.index(f.verdict) if f.verdict in _EXPLAINED_FIRST else len(_EXPLAINED_FIRST),
    )


def _measured(place: _Place, findings: Sequence[Finding]) -> MetricRatio | None:
    """Return the change of the finding that matters most of a benchmark; a profile can show times best."""
    own = [f for f in _worst_first(findings) if _place(f) == place and f.ratio.estimate is not None]
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
    return MetricRatio(best.metric, best.unit, worse[0], min(worse), max(worse))
