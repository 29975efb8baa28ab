"""A judged subject -> its finding: the verdict, the interval that decided, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from gate.config.rules import accepts_of
from gate.config.types import Accept
from gate.decide import reasons
from gate.decide.design import Design, Subject, by_question
from gate.decide.estimates import METHOD, ONLY_REPORTS, Estimated, needed_builds
from gate.decide.futility import (
    POWER,
    asks_for_no_sign,
    degrees,
    detectable,
    edge,
    in_sight,
    is_beyond,
    is_futile,
    size_at,
    unseen,
)
from gate.decide.looks import Judged, beyond, decided_alpha, limits_of, limits_of_heads, side_summary
from gate.model import Accepted, DecidedAt, Finding, MemoryUse, RatioInterval, Sample, Variance, Variances, Verdict
from gate.model.report import Limit, SessionRatio, View
from gate.model.warnings import AnyWarning
from gate.model.warnings import estimates as warn
from gate.model.warnings.base import Said
from gate.stats import diagnostics
from gate.stats.diagnostics import carry_over
from gate.stats.estimate import level_variances
from gate.stats.fixed_sessions import Machine
from gate.stats.levels import Tops
from gate.stats.ratio import WITHHELD, Limits, Rounded, rounded, t_quantile
from gate.stats.round_ratio import wider
from gate.stats.special import chdtri
from gate.writing.amounts import format_percent

_WITH_A_RATIO = ("", "one-unit", "no-spread", "apart", "few-values", "no-rounds", "machine")


def ratio_interval(found: Estimated, alpha: float) -> RatioInterval:
    """Describe the interval of the ratio at confidence 1 - alpha."""
    ratio, limits = found.ratio, limits_of(found, alpha)
    return RatioInterval(
        estimate=ratio.y / ratio.x if found.reduced.trouble in _WITH_A_RATIO and ratio.x else None, low=limits.low,
        high=limits.high, confidence=1 - alpha, method=found.method, df=ratio.df if not found.exact else None,
        kind=limits.kind,
    )  # fmt: skip


def variances(found: Estimated) -> Variances:
    """Describe the variance by level of both sides of a finding."""
    reduced = found.reduced
    return Variances(
        base=_variance(found, found.base, reduced.base, reduced.x),
        head=_variance(found, found.head, reduced.head, reduced.y),
    )


def _variance(found: Estimated, sample: Sample, tops: Tops, value: float) -> list[Variance]:
    return [
        Variance(
            level=item.level,
            s2=item.s2,
            t2=None if math.isnan(item.t2) else item.t2,
            relative=math.sqrt(item.s2) / abs(value) if value else None,
        )
        for item in level_variances(sample, tops)
        # of given machines nothing rests on how they differ
        if not (found.machines and item.level == "session")
    ]


def memory_use(found: Estimated, alpha: float, design: Design) -> MemoryUse | None:
    """Describe what remembered variance did for a finding, with the interval as it would be without it."""
    moderation = found.moderation
    if moderation is None:
        return None
    prior, result, without = moderation.prior, moderation.result, moderation.without.limits(alpha)
    kind: Literal["alone", "moderated", "noisier", "disagrees", "unlike"] = "alone"
    if result is not None:
        unused: Literal["noisier", "unlike", "disagrees"] = "unlike" if result.unlike else "disagrees"
        kind = "moderated" if result.used else "noisier" if result.noisier else unused
    return MemoryUse(
        kind=kind,
        used=kind in ("alone", "moderated"),
        df=prior.df,
        sessions=prior.sessions,
        first=prior.first,
        last=prior.last,
        remembered=math.sqrt(prior.variance),
        present=None if moderation.present is None else math.sqrt(moderation.present),
        without=RatioInterval(
            estimate=moderation.without.y / moderation.without.x, low=without.low, high=without.high,
            confidence=1 - alpha, method=design.method, df=moderation.without.df, kind=without.kind,
        ),
    )  # fmt: skip


def findings_of(judged: Sequence[Judged], design: Design, comparisons: int) -> list[Finding]:
    """Give judged subjects their verdicts and describe them; comparisons: all views that share the error."""
    limits = limits_of_heads([each.estimated for each in judged], [each.look for each in judged], design)
    return [_finding(each, limit, design, comparisons) for each, limit in zip(judged, limits, strict=True)]


class Answer(NamedTuple):
    """The finding that stands for a question, and what was judged of it."""

    finding: Finding
    judged: Judged


def answers_of(judged: Sequence[Judged], design: Design, comparisons: int, *, steady: bool) -> list[Answer]:
    """Give every question one finding: of the view that shows a regression, otherwise of the sharp one.

    comparisons: all views that share the error. steady: of the view that is the same in every run, whatever each shows:
    nights are judged together.
    """
    every = [Answer(*each) for each in zip(findings_of(judged, design, comparisons), judged, strict=True)]
    return [_answer([every[i] for i in views], steady=steady) for views in by_question([j.subject for j in judged])]


def _answer(views: Sequence[Answer], *, steady: bool) -> Answer:
    chosen = _chosen(views, steady=steady)
    others = [each for each in views if each is not chosen]
    if not others:
        return chosen
    subject = chosen.judged.subject
    tasks = any(each.judged.subject.case.one_task is False for each in views)
    own, other = subject.role, others[0].judged.subject.role
    times = None
    if own is not None and other is not None and own.noise and other.noise is not None:
        times = other.noise / own.noise
    view = View(
        why="regression" if not (steady or subject.sharp) else "tasks" if tasks else "nights" if steady else "sharper",
        times=times,
    )
    beside = [each.finding for each in others]
    return Answer(msgspec.structs.replace(chosen.finding, view=view, beside=beside), chosen.judged)


def _chosen(views: Sequence[Answer], *, steady: bool) -> Answer:
    subjects = [each.judged.subject for each in views]
    first = next(i for i, subject in enumerate(subjects) if (subject.first if steady else subject.sharp))
    verdicts: tuple[Verdict, ...] = () if steady else ("regression", "accepted")
    for verdict in verdicts:
        for each in (views[first], *views):
            if each.finding.verdict == verdict:
                return each
    return views[first]


def session_ratios(found: Sequence[Machine], subject: Subject, alpha: float) -> list[SessionRatio]:
    """Describe each of given machines with its own interval at confidence 1 - alpha."""
    described = []
    for each in found:
        pair, reduced = each.pair, each.reduced
        exact = reduced is not None and reduced.exact
        estimate = pair.y / pair.x if pair is not None else None
        limits = WITHHELD
        if estimate is not None and pair is not None and reduced is not None and not each.trouble:
            limits = Limits("bounded", estimate, estimate) if exact else rounded(pair, *reduced.rounding).limits(alpha)
        ratio = RatioInterval(
            estimate=estimate, low=limits.low, high=limits.high, confidence=1 - alpha,
            method="exact" if exact else METHOD, df=None if exact or each.trouble or pair is None else pair.df,
            kind=limits.kind,
        )  # fmt: skip
        host = subject.case.hosts.get(each.session)
        described.append(SessionRatio(session=each.session, host=host, rounds=each.rounds, ratio=ratio))
    return described


def _finding(judged: Judged, limit: Limit | None, design: Design, comparisons: int) -> Finding:
    found, subject, case = judged.estimated, judged.subject, judged.subject.case
    ruled = verdict_of(judged, limit, design)
    verdict, by_floor = ruled.change, ruled.hidden
    # of what was given up the plain interval says why: a repeated one so early is too wide to tell a reader anything
    plain = verdict == "no-sign" or (verdict == "inconclusive" and (judged.futile or by_floor is not None))
    nominal_alpha = design.alpha if plain else judged.nominal_alpha
    # "unchanged" is decided at the level of its look, without the family
    shared = {"improvement": judged.improvement.alpha, "unchanged": design.alpha}
    alpha = decided_alpha(judged, shared.get(verdict, judged.regression.alpha), design)
    decided = limits_of(found, alpha)
    broken = limit is not None and limit.state == "broken"
    called = not found.hold and judged.p is not None
    more = more_builds(judged, design) if verdict == "inconclusive" else None
    called_either = verdict in ("regression", "improvement")
    # `ratio` has one confidence for all findings, whatever their look
    shown: Literal["ratio", "decided_at"] | None = "ratio"
    if found.exact or found.reduced.trouble:
        shown = None
    elif called_either or (verdict == "unchanged" and alpha < design.alpha):
        shown = "decided_at"
    early = judged.settled and judged.look + 1 < len(design.looks)
    proved = judged.regression.rejected or judged.improvement.rejected or judged.position.not_worse
    facts = reasons.Facts(
        verdict=verdict, found=found, plain=limits_of(found, design.alpha), nominal=limits_of(found, nominal_alpha),
        nominal_confidence=1 - nominal_alpha, decided=decided, confidence=1 - alpha, corrected=alpha < nominal_alpha,
        comparisons=comparisons, position=judged.position, hidden=by_floor, given_up_by_floor=gives_up(judged, design),
        unseen=None if ruled.has_sign else ruled.size,
        min_builds=needed_builds(found, design.policy.config.gate), more_builds=more,
        accepted=ruled.accepted, exceeded=ruled.exceeded, broken=limit if broken else None,
    )  # fmt: skip
    return Finding(
        benchmark=case.benchmark, metric=case.metric, unit=case.unit, better=subject.better,
        statistic=subject.statistic, factors=case.factors, base=side_summary(found, "base", design.alpha),
        head=side_summary(found, "head", design.alpha), ratio=ratio_interval(found, design.alpha),
        sessions=session_ratios(found.machines, subject, design.alpha),
        decided_at=DecidedAt(
            confidence=1 - alpha, low=decided.low, high=decided.high, look=judged.look + 1,
            looks=max(len(design.looks), 1),
        ),
        shown=shown,
        threshold=subject.threshold, floor=subject.floor, p=judged.p,
        p_adjusted=judged.regression.p_adjusted if called else None, p_improvement=judged.p_improvement,
        p_improvement_adjusted=judged.improvement.p_adjusted if called else None,
        verdict=ruled.verdict, accepted=ruled.accepted,
        reason=reasons.finding(facts), warnings=_warnings(judged, verdict, design),
        not_worse=judged.position.not_worse and by_floor != "worse" and not broken, more_builds=more,
        stopped=None if not early else "futility" if judged.futile and not proved else "settled",
        detectable=None if called_either else detectable(found, design) if ruled.size is None else ruled.size,
        variance=variances(found), memory=memory_use(found, design.alpha, design), warn=subject.warn, limit=limit,
        top=subject.top,
    )  # fmt: skip


class Ruling(NamedTuple):
    """The verdict of a finding, and what it rests on."""

    verdict: Verdict
    change: Verdict
    """The same by the change alone: whatever is accepted, and whatever limit head has."""
    accepted: Accepted | None
    exceeded: Accepted | None
    """An entry for a smaller regression than this one."""
    size: float | None
    """Of a slowdown that would have shown, where no sign of one can be told."""
    has_sign: bool
    """Whether it has a sign of a slowdown, though it is no regression."""
    hidden: Literal["worse", "better"] | None
    """The direction of a change that the floor hides."""


def verdict_of(judged: Judged, limit: Limit | None, design: Design) -> Ruling:
    """Give a judged subject its verdict: all of the rule (docs/method.md, verdicts).

    judged: what the looks tested of the interval against threshold and floor. limit: of head, where it has one.
    """
    position, by_floor = judged.position, hidden(judged, design.alpha)
    size = unseen(judged.estimated, judged.look, futile=judged.futile, design=design)
    shown = judged.p is not None and judged.p < judged.nominal_alpha
    has_sign = shown or in_sight(judged.estimated, design.alpha, floor=False)
    change: Verdict = "inconclusive"
    if judged.regression.rejected:
        # the interval at the level of the family lies beyond the threshold, and there are builds enough to call it
        change = "regression"
    elif judged.improvement.rejected:
        change = "improvement"
    elif position.not_worse and position.not_better:
        # the nominal interval lies within; what a floor alone hides is not green: that is no proof of anything
        change = "unchanged" if by_floor is None else "inconclusive"
    elif size is not None and size <= judged.subject.wanted and not has_sign:
        change = "no-sign"
    accepted, exceeded = _acceptance(judged, design) if change == "regression" else (None, None)
    if limit is not None and limit.state == "broken":
        # what an entry accepts is a change, not a value beyond what is allowed; a label accepts anything
        accepted = _label_of(design)
        verdict: Verdict = "accepted" if accepted else "regression"
    else:
        verdict = "accepted" if accepted else change
    return Ruling(verdict, change, accepted, exceeded, size, has_sign, by_floor)


def _acceptance(judged: Judged, design: Design) -> tuple[Accepted | None, Accepted | None]:
    """Return what covers a regression, an accept entry or else a label, and an entry that it exceeds.

    An entry covers what is not shown, at the deciding level, to exceed its size.
    """
    found, subject, policy = judged.estimated, judged.subject, design.policy
    exceeded: Accept | None = None
    case = subject.case
    for accept in accepts_of(policy.config, case.benchmark, case.metric, subject.statistic, case.view_of):
        if accept.until < policy.today or found.reduced.trouble:
            continue
        limit = 1 + float(accept.up_to) if subject.lower else 1 / (1 + float(accept.up_to))
        tail, p = subject.tails[0], None if found.exact else found.ratio.p(limit, subject.tails[0])
        exceeds = p is not None and p < decided_alpha(judged, judged.regression.alpha, design)
        if not (beyond(found.ratio.y / found.ratio.x, limit, tail) if found.exact else exceeds):
            return accepted_by(accept), None
        if exceeded is None or accept.up_to > exceeded.up_to:
            exceeded = accept
    return _label_of(design), accepted_by(exceeded) if exceeded is not None else None


def _label_of(design: Design) -> Accepted | None:
    """Return what the label of a pull request accepts: everything; None: there is none."""
    label = design.policy.label
    return None if label is None else Accepted(up_to=None, until=None, reason=label)


def accepted_by(accept: Accept) -> Accepted:
    """Return what an [[accept]] entry accepts."""
    return Accepted(up_to=float(accept.up_to), until=accept.until.isoformat(), reason=accept.reason)


def _warnings(judged: Judged, verdict: Verdict, design: Design) -> list[AnyWarning]:
    found = judged.estimated
    marked = _beyond_warn(judged) if verdict != "regression" else None
    told = [*judged.subject.case.warnings, *found.warnings, *([marked] if marked is not None else [])]
    if found.exact:
        return told
    if verdict in ("regression", "improvement") and judged.look + 1 < len(design.looks):
        told.append(warn.EarlyStop(design.looks[judged.look], design.looks[-1]))
    spread = None if found.reduced.trouble else wider(found.reduced.base, found.reduced.head)
    if spread is not None:
        told.append(warn.UnlikeSpreads(*spread, found.unit))
    if found.moderation is not None and found.moderation.result is not None and found.moderation.result.noisier:
        told.append(Said("noisier than calibrated: the remembered variance is not used", "noisier-than-remembered"))
    if judged.subject.role is not None and judged.subject.sharp:
        carried = carry_over(found.base, found.head)
        told += [carried] if carried is not None else []
    if judged.subject.center is None:
        told += diagnostics.warnings(found.base, found.head, judged.subject.case.unit)
    return told


def _beyond_warn(judged: Judged) -> Said | None:
    """Mark a change for the worse whose interval lies beyond `warn`, at the level of its look; the floor holds too."""
    found, subject, nominal = judged.estimated, judged.subject, judged.nominal
    if subject.warn is None or nominal.low is None or nominal.high is None or found.hold in ONLY_REPORTS:
        return None
    edge, change = 1 + subject.warn, abs(found.ratio.y - found.ratio.x)
    near = nominal.low if subject.lower else 1 / nominal.high if nominal.high > 0 else 0.0
    if near <= edge * (1 + 1e-12) or (subject.floor is not None and change <= subject.floor):
        return None
    return Said(f"worse by more than the {format_percent(subject.warn)} from which the rules warn", "beyond-warn")


# --- what a floor alone decides ---------------------------------------------------------------------------------------


def hidden(judged: Judged, alpha: float) -> Literal["worse", "better"] | None:
    """Return the direction of a change that is shown to be beyond the threshold and below the floor; None: none is.

    Beyond the threshold is tested at alpha, without looks, family and min_builds: by its threshold alone the finding
    would be a regression, an improvement, or inconclusive since it may be one, and nothing more is measured of it.
    """
    found, ratio = judged.estimated, judged.estimated.ratio
    if not judged.position.within_floor or found.hold in ONLY_REPORTS:
        return None
    if found.exact or found.reduced.trouble:
        return "worse" if (ratio.y > ratio.x) == judged.subject.lower else "better"
    if judged.p is not None and judged.p < alpha:
        return "worse"
    return "better" if judged.p_improvement is not None and judged.p_improvement < alpha else None


def gives_up(judged: Judged, design: Design) -> bool:
    """Return whether a case was given up because of its floor: by its threshold alone it would be measured on."""
    if not judged.futile or judged.subject.floor is None:
        return False
    found, alpha = judged.estimated, judged.regression.alpha
    return is_futile(found, judged.look, alpha, design) and not is_futile(
        found, judged.look, alpha, design, floor=False
    )


MOST = 100
"""More builds than this are no advice."""


def more_builds(judged: Judged, design: Design) -> int | None:
    """Return how many builds a side, beyond those measured, would probably settle an inconclusive finding.

    Settled for the gate is a regression or "not worse" (where no sign of a slowdown is enough: that one of the wanted
    size would have shown), whichever the estimate lies on the side of, in a design of so many builds without looks. A
    test statistic grows with the square root of the builds and its degrees with their number; it is to be beyond its
    limit with POWER if estimate and noise are true. They are not, and so it is less often, but more often than not
    (tests/gate/decide/test_lacking.py). None: settled already, nothing is known of the noise, builds are not what it
    lacks, or it takes more than MOST.
    """
    found = judged.estimated
    df, builds = found.ratio.df, found.builds_each
    settled = (judged.settled and not judged.futile) or judged.position.not_worse
    if settled or found.exact or found.reduced.trouble or df is None:
        return None
    if isinstance(found.ratio, Rounded) and found.ratio.leaves_open(edge(found)):
        return None
    if design.sessions > 1 and not design.machines:
        # the unit is the session: builds of the same sessions tell little more
        return None
    beyond = is_beyond(found)
    given_up = judged.futile and not in_sight(found, design.alpha)
    if asks_for_no_sign(found) and (given_up or not beyond):
        return _until_seen(found, design)
    p = _p(found, beyond=beyond)
    if p is None:
        return None
    alpha = judged.regression.alpha if beyond else design.alpha
    # below it the rules would not call it, however clear it were; of each machine, where there are several
    needed = math.ceil(needed_builds(found, design.policy.config.gate) / max(1, len(found.machines)))
    least = {"memory": needed if beyond else 2, "builds": needed if beyond else 0}.get(found.hold, 0)
    statistic = t_quantile(df, p / 2)
    for more in range(max(1, least - builds), MOST + 1):
        grown = builds + more
        grown_df = degrees(found, df, grown)
        wanted = t_quantile(grown_df, alpha / 2) + t_quantile(grown_df, 1 - POWER)
        if statistic * math.sqrt(grown / builds) > wanted:
            return more
    return None


def _until_seen(found: Estimated, design: Design) -> int | None:
    """Return how many more builds a side show a slowdown of the wanted size in POWER of such runs.

    By the noise that was estimated half of them would be too noisy again, so it is taken as large as it is in no more
    than POWER of the cases.
    """
    look, builds, df = max(len(design.looks) - 1, 0), found.builds_each, found.ratio.df or 1.0
    noise = df / float(chdtri(df, POWER))
    least = math.ceil(needed_builds(found, design.policy.config.gate) / max(1, len(found.machines)))

    def seen(more: int) -> bool:
        size = size_at(found, design, builds + more, look, noise)
        return size is not None and size <= found.subject.wanted

    few, many = max(1, least - builds), MOST
    if not seen(many):
        return None
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if seen(middle) else (middle + 1, many)
    return many


def _p(found: Estimated, *, beyond: bool) -> float | None:
    """Return the p of what is to be shown: beyond needs threshold and floor, not worse is either of them."""
    subject, ratio = found.subject, found.ratio
    worse, better = subject.tails
    tail = worse if beyond else better
    p = ratio.p(edge(found), tail)
    if subject.floor is None or p is None:
        return p
    p_floor = ratio.p_difference(subject.floor if subject.lower else -subject.floor, tail)
    return p if p_floor is None else max(p, p_floor) if beyond else min(p, p_floor)
