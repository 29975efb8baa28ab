"""The tests of every finding at a look: what is rejected, what is settled, and at which level.

Source: docs/method.md, verdicts, family and early stopping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from gate.decide.design import ONLY_REPORTS, Design, Estimated, Subject, by_question
from gate.decide.estimates import limits_of, side_summary
from gate.decide.futility import in_sight, is_futile
from gate.model.report import Limit
from gate.stats.ratio import Limits, Tail
from gate.stats.sequential import Tested, share, within

_NOT_TESTED = Tested(1.0, 1.0, rejected=False)


class Position(msgspec.Struct, frozen=True):
    """Where the nominal interval lies: what it shows."""

    not_worse: bool
    not_better: bool
    within_floor: bool
    promising: bool
    """An improvement is in sight, which the look, min_builds or the family may still forbid."""


class Judged(msgspec.Struct, frozen=True, eq=False):
    """A subject with what was found of it at the look that settled it, or at the last one."""

    estimated: Estimated
    look: int
    """Number of that look, from 0."""
    p: float | None
    """p of "worse than the threshold", two-sided, at this look; None: it cannot be tested."""
    p_improvement: float | None
    """The same of "better than the threshold"."""
    regression: Tested
    """The test after correction for multiple comparisons; its alpha is what all looks spend together."""
    improvement: Tested
    nominal_alpha: float
    """The level that this look has of the whole alpha, before the correction."""
    nominal: Limits
    """The interval at that level."""
    position: Position
    settled: bool
    """More data cannot change the verdict, or, with futile, probably would not."""
    futile: bool

    @property
    def subject(self) -> Subject:
        """What it is about."""
        return self.estimated.subject


def judge(found: Estimated, design: Design, look: int) -> Judged:
    """Test one subject at a look, by itself; the correction for multiple comparisons and limits come after."""
    subject, reduced, ratio = found.subject, found.reduced, found.ratio
    d = subject.threshold
    worse, better = (1 + d, 1 / (1 + d)) if subject.lower else (1 / (1 + d), 1 + d)
    worse_tail, better_tail = subject.tails
    p: float | None = None
    p_improvement: float | None = None
    if found.exact and not reduced.trouble:
        value = ratio.y / ratio.x
        p = float(not (beyond(value, worse, worse_tail) and _beyond_floor(found)))
        p_improvement = float(not (beyond(value, better, better_tail) and _beyond_floor(found, improvement=True)))
    elif not reduced.trouble:
        p, p_improvement = ratio.p(worse, worse_tail), ratio.p(better, better_tail)
    elif reduced.trouble == "zero-base" and ratio.y > 0:
        above = _from_zero(found)
        if above is not None:
            p, p_improvement = (above, 1.0) if subject.lower else (1.0, above)
    nominal_alpha = design.spending.nominal(look, design.alpha, paired=found.paired)
    nominal = limits_of(found, nominal_alpha)
    return Judged(
        estimated=found, look=look, p=p, p_improvement=p_improvement, regression=_NOT_TESTED, improvement=_NOT_TESTED,
        nominal_alpha=nominal_alpha, nominal=nominal,
        position=_position(found, p, p_improvement, nominal, nominal_alpha, design.alpha), settled=False, futile=False,
    )  # fmt: skip


def _from_zero(found: Estimated) -> float | None:
    """Return the p of "head is above 0, and above the floor", where base is 0; None: nothing can tell.

    A count that is 0 in every build of base and above it in every build of head is beyond any threshold. What is
    measured may be 0 because the clock is coarse, so only a floor can say what counts as a change.
    """
    floor, declared = found.subject.floor, found.subject.case.exact
    if declared and found.base.values.max() == 0 < found.head.values.min():
        return float(not found.head.values.min() > (floor or 0.0))
    return None if floor is None else found.ratio.p_difference(floor, "above")


def beyond(value: float, limit: float, tail: Tail) -> bool:
    """Return whether an exact ratio lies beyond a limit; of numbers written in decimals a hair of rounding is not."""
    hair = 1e-12 * limit
    return value > limit + hair if tail == "above" else value < limit - hair


def _beyond_floor(found: Estimated, *, improvement: bool = False) -> bool:
    """Return whether the change exceeds the floor in the direction asked for; without a floor it does."""
    increase = found.ratio.y - found.ratio.x
    size = increase if found.subject.lower != improvement else -increase
    return found.subject.floor is None or size > found.subject.floor


def _p_for_correction(judged: Judged, *, improvement: bool) -> float:
    """Return the p that is corrected: 1 where nothing may be called; with a floor, the larger of its p and this one.

    The floor is an intersection of tests, so the larger p stands for both (docs/method.md).
    """
    found, subject = judged.estimated, judged.subject
    p = judged.p_improvement if improvement else judged.p
    if p is None or found.hold:
        return 1.0
    if subject.floor is not None and not found.exact and not found.reduced.trouble:
        worse, better = subject.tails
        tail = better if improvement else worse
        p_floor = found.ratio.p_difference(subject.floor if tail == "above" else -subject.floor, tail)
        return 1.0 if p_floor is None else max(p, p_floor)
    return p


def correct_and_settle(judged: Sequence[Judged], design: Design) -> list[Judged]:
    """Correct the tests of a look for multiple comparisons, and mark what is settled or futile.

    A finding that was rejected stays so and is the first of its family; one that was settled as not worse keeps its
    place and can no longer regress. Exact ones decide as numbers and take no share. The views of a question are settled
    together.
    """
    found = []
    regressions = _corrected(judged, design, improvement=False)
    improvements = _corrected(judged, design, improvement=True)
    for j, regression, improvement in zip(judged, regressions, improvements, strict=True):
        if j.settled:
            # its improvement may still come, when others of that family are found
            found.append(msgspec.structs.replace(j, improvement=improvement))
            continue
        futile = is_futile(j.estimated, j.look, regression.alpha, design)
        found.append(msgspec.structs.replace(j, regression=regression, improvement=improvement, futile=futile))
    limits = absolute_limits([j.estimated for j in found], [j.look for j in found], design)
    for views in by_question([j.subject for j in found]):
        # whether head keeps an absolute limit is asked as well, whatever the ratio shows
        states = [limit.state for limit in (limits[i] for i in views) if limit is not None]
        if "open" not in states and _is_settled([found[i] for i in views], design):
            for i in views:
                found[i] = msgspec.structs.replace(found[i], settled=True)
    return found


def _is_settled(views: Sequence[Judged], design: Design) -> bool:
    """Return whether more data of a question can change nothing.

    The sharp view alone settles it: a dull one would often keep it open to the end. But it waits for a dull one that
    has a slowdown in sight, which min_builds or the look may still forbid; without any change that is rare.
    """
    if any(each.settled or each.regression.rejected for each in views):
        return True
    sharp = next(each for each in views if each.subject.settles)
    position, found = sharp.position, sharp.estimated
    # a promising one waits for its verdict: it costs time only where head is faster
    shown = sharp.improvement.rejected or (position.not_worse and not position.promising)
    is_settled = found.exact or (shown and found.hold not in ONLY_REPORTS) or (sharp.futile and not position.promising)
    return is_settled and not any(in_sight(each.estimated, design.alpha) for each in views if each is not sharp)


def _corrected(judged: Sequence[Judged], design: Design, *, improvement: bool) -> list[Tested]:
    """Share the error over all findings in one direction, in their order; alphas are what all looks spend together.

    What was rejected at a look before stays so, and exact findings take no share. The views of a question share what
    the family gives it by their weights (Bonferroni): it is tested with the smallest of its p over their weights.
    """
    ps = [_p_for_correction(j, improvement=improvement) for j in judged]
    before = [j.improvement if improvement else j.regression for j in judged]
    sharing = [i for i, j in enumerate(judged) if not j.estimated.exact]
    spent = []
    for i in sharing:
        if before[i].rejected:
            spent.append(0.0)
        elif judged[i].settled and not improvement:
            spent.append(1.0)
        else:
            spent.append(design.spending.spent(judged[i].look, ps[i], paired=judged[i].estimated.paired))
    found = [Tested(p, design.alpha, p < design.alpha) for p in ps]
    questions = [[sharing[k] for k in views] for views in by_question([judged[i].subject for i in sharing])]
    p_of = dict(zip(sharing, spent, strict=True))
    weight = {i: judged[i].subject.weight for i in sharing}
    smallest = [min(1.0, *(p_of[i] / weight[i] for i in views)) for views in questions]
    shares = share(design.policy.config.gate.family, smallest, design.alpha)
    for views, of_question in zip(questions, shares, strict=True):
        own = within(of_question, [p_of[i] for i in views], [weight[i] for i in views], design.alpha)
        for i, each in zip(views, own, strict=True):
            found[i] = before[i] if before[i].rejected else each
    return found


def _position(
    found: Estimated, p: float | None, p_improvement: float | None, nominal: Limits, nominal_alpha: float, alpha: float
) -> Position:
    """Say where the nominal interval lies: against the threshold, and against the floor where there is one."""
    subject, reduced = found.subject, found.reduced
    if found.exact and not reduced.trouble and p is not None and p_improvement is not None:
        # numbers: what is not beyond is within, the threshold itself included
        value, edge = found.ratio.y / found.ratio.x, 1 + subject.threshold
        outside = beyond(value, edge, "above") or beyond(value, 1 / edge, "below")
        below_floor = subject.floor is not None and abs(found.ratio.y - found.ratio.x) <= subject.floor
        return Position(
            not_worse=p > 0, not_better=p_improvement > 0, within_floor=outside and below_floor, promising=False
        )
    if reduced.trouble == "zero-base" and found.ratio.y == 0 and found.exact:
        return Position(not_worse=True, not_better=True, within_floor=False, promising=False)
    floor, most = subject.floor, found.head.values.max()
    counted = reduced.trouble == "zero-base" and subject.case.exact
    if counted and floor is not None and found.base.values.max() == 0 < most <= floor:
        return Position(not_worse=True, not_better=True, within_floor=True, promising=False)
    if nominal.kind != "bounded" or nominal.low is None or nominal.high is None or found.hold in ONLY_REPORTS:
        return Position(not_worse=False, not_better=False, within_floor=False, promising=False)
    d = subject.threshold
    below, above = nominal.high < 1 + d, nominal.low > 1 / (1 + d)
    not_worse, not_better = (below, above) if subject.lower else (above, below)
    within_floor = False
    if subject.floor is not None:
        difference = found.ratio.difference_limits(nominal_alpha)
        if difference.low is not None and difference.high is not None:
            up, down = difference.high < subject.floor, difference.low > -subject.floor
            # a change must be beyond threshold and floor to be worth failing for: below the floor it is not worse
            not_worse = not_worse or (up if subject.lower else down)
            within_floor = up and down and not (below and above)
            not_better = not_better or within_floor
    # one-sided, at the plain level: at that of an early look no improvement would be promising: all would be given up
    promising = in_sight(found, 2 * alpha, improvement=True)
    return Position(not_worse, not_better, within_floor, promising)


def deciding_alpha(judged: Judged, alpha: float, design: Design) -> float:
    """Return the two-sided level of the interval that decides, at the look that was the last of this finding."""
    return design.spending.nominal(judged.look, alpha, paired=judged.estimated.paired)


def absolute_limits(found: Sequence[Estimated], looks: Sequence[int], design: Design) -> list[Limit | None]:
    """Say of each subject whether head keeps its limit, at the look that it was judged at; None: it has none.

    A limit is no other test: it is broken where head's interval lies beyond it (docs/method.md, limits).

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
            # with the sign turned where higher is better, worse is always larger
            bound, least, most = (limit, low, high) if each.subject.lower else (-limit, -high, -low)
            hair = 1e-12 * abs(limit)  # of numbers written in decimals
            if least > bound + hair:
                state = "broken"
            elif most <= bound + hair:
                state = "kept"
        found_limits.append(Limit(at=limit, state=state, low=low, high=high, confidence=1 - level))
    return found_limits
