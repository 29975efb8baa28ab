"""One side of a finding by itself: its value and interval, the limit that head is held to, and base against itself.

A limit is no other test: it is broken where head's interval lies beyond it. Source: docs/method.md, limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from gate.decide.design import Design, Subject
from gate.decide.estimates import Estimated, estimates
from gate.model import Counts, Finding, Side, SideSummary
from gate.model.history import Control, Controls
from gate.model.report import Limit
from gate.stats.fixed_sessions import side_over_machines, sides_of
from gate.stats.levels import EXPECTED, e_value, halves
from gate.stats.ratio import WITHHELD, side_limits


def side_summary(found: Estimated, side: Side, alpha: float) -> SideSummary:
    """Describe one side: its value, its own interval at confidence 1 - alpha, and its counts."""
    reduced = found.reduced
    sample, tops, value = (
        (found.base, reduced.base, reduced.x) if side == "base" else (found.head, reduced.head, reduced.y)
    )
    limits = WITHHELD
    # a mean stands in for a quantile that has no logarithm; its interval is not the quantile's
    if tops.log or math.isclose(tops.mean, value):
        machines = sides_of(found.machines, side)
        limits = side_over_machines(machines, alpha) if machines else side_limits(tops, alpha)
    shift, unknown = found.subject.shift, reduced.rounding[side == "head"]
    return SideSummary(
        value=value - shift,
        low=None if limits.low is None else limits.low - unknown - shift,
        high=None if limits.high is None else limits.high + unknown - shift,
        counts=Counts(
            session=len(sample.counts[2]),
            build=len(sample.builds),
            execution=len(sample.counts[0]),
            iteration=len(sample.values),
        ),
    )


def limits_of_heads(found: Sequence[Estimated], looks: Sequence[int], design: Design) -> list[Limit | None]:
    """Say of each subject whether head keeps its limit, at the look that it was judged at; None: it has none.

    All limits of a report, and their looks, share half its error, as regressions do (Bonferroni): if every head were
    exactly at its limit, at most that share of reports would say that one is broken.
    """
    limited = sum(each.subject.limit is not None for each in found if not each.exact)
    shared = 1 if design.policy.config.gate.family == "none" else max(1, limited)
    found_limits: list[Limit | None] = []
    for each, look in zip(found, looks, strict=True):
        limit = each.subject.limit
        if limit is None:
            found_limits.append(None)
            continue
        # one side over its builds: the degrees of freedom of a paired interval
        level = design.spending.nominal(look, design.alpha / shared, paired=True)
        head = side_summary(each, "head", level)
        low, high = (head.value, head.value) if each.exact else (head.low, head.high)
        held = (each.hold or each.reduced.trouble == "no-spread") and not each.exact
        state: Literal["kept", "open", "broken"] = "open"
        if held or low is None or high is None:
            low = high = None
        else:
            # of numbers written in decimals a hair of rounding is not beyond; what is worse is above here
            hair, least, most = 1e-12 * abs(limit), *((low, high) if each.subject.lower else (-high, -low))
            bound = limit if each.subject.lower else -limit
            state = "broken" if least > bound + hair else "kept" if most <= bound + hair else "open"
        found_limits.append(Limit(at=limit, state=state, low=low, high=high, confidence=1 - level))
    return found_limits


def controls_of(subjects: Sequence[Subject], design: Design) -> list[Control | None]:
    """Judge the halves of each subject's base; None where one cannot be: too few starts or builds, or counts.

    By the gate's own intervals without memory, which is of builds, and without looks: what a stop goes by is head.
    """
    dealt = [halves(subject.case.base) for subject in subjects]
    asked = [
        msgspec.structs.replace(
            subject,
            case=msgspec.structs.replace(subject.case, base=half[0], head=half[1], hosts={}),
            threshold=0.0,
            memory=None,
        )
        for subject, half in zip(subjects, dealt, strict=True)
        if half is not None
    ]
    plain = msgspec.structs.replace(
        design, interval="fieller", method="paired", moderate=False, memory=None, sessions=1, machines=()
    )
    halved = iter(estimates(asked, plain, None).found)
    controls: list[Control | None] = [None] * len(dealt)
    alpha = 2 * EXPECTED
    for number, found in ((number, next(halved)) for number, half in enumerate(dealt) if half is not None):
        ratio = found.ratio
        limits, p = ratio.limits(alpha), ratio.p(1.0, found.subject.tails[0])
        usable = not (found.exact or found.reduced.trouble or found.hold)
        if usable and limits.low is not None and limits.high is not None and p is not None:
            controls[number] = Control(
                ratio=ratio.y / ratio.x, low=limits.low, high=limits.high, rounds=found.units, alarmed=p < alpha
            )
    return controls


def counted(findings: Sequence[Finding]) -> Controls | None:
    """Count the controls of a run; None: it has none."""
    known = [each.control for each in findings if each.control is not None]
    if not known:
        return None
    alarmed = sum(each.alarmed for each in known)
    return Controls(count=len(known), alarmed=alarmed, e_value=e_value(alarmed, len(known)))
