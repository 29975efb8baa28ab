"""What a finding says beside its verdict: variances, memory, machines, warnings, floors, and builds that it lacks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from gate.config.types import Accept
from gate.decide.design import FIXED_SESSIONS, ONLY_REPORTS, Design, Estimated, Subject, needed_builds
from gate.decide.futility import POWER, asks_for_no_sign, degrees, edge, in_sight, is_beyond, is_futile, size_at
from gate.decide.looks import Judged
from gate.model import Accepted, MemoryUse, RatioInterval, Sample, Variance, Variances, Verdict
from gate.model.report import SessionRatio
from gate.model.warnings import AnyWarning
from gate.model.warnings import estimates as warn
from gate.model.warnings.base import Said
from gate.stats import diagnostics
from gate.stats.components import level_variances
from gate.stats.diagnostics import carry_over, wider
from gate.stats.fixed_sessions import OneSession
from gate.stats.levels import Tops
from gate.stats.ratio import WITHHELD, Limits, RoundedRatio, rounded, t_quantile
from gate.stats.special import chdtri
from gate.writing.amounts import format_percent


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
            level=level,
            s2=s2,
            t2=None if math.isnan(t2) else t2,
            relative=math.sqrt(s2) / abs(value) if value else None,
        )
        for level, (s2, t2) in level_variances(sample, tops).items()
        # of given machines nothing rests on how they differ
        if not (found.machines and level == "session")
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


def session_ratios(found: Sequence[OneSession], subject: Subject, alpha: float) -> list[SessionRatio]:
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
            method="exact" if exact else FIXED_SESSIONS, df=None if exact or each.trouble or pair is None else pair.df,
            kind=limits.kind,
        )  # fmt: skip
        host = subject.case.hosts.get(each.session)
        described.append(SessionRatio(session=each.session, host=host, rounds=each.rounds, ratio=ratio))
    return described


def accepted_by(accept: Accept) -> Accepted:
    """Return what an [[accept]] entry accepts."""
    return Accepted(up_to=float(accept.up_to), until=accept.until.isoformat(), reason=accept.reason)


def warnings_of(judged: Judged, verdict: Verdict, design: Design) -> list[AnyWarning]:
    """Warn of what the values of a finding show, whatever its verdict."""
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
    if judged.subject.role is not None and judged.subject.settles:
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
    if isinstance(found.ratio, RoundedRatio) and found.ratio.leaves_open(edge(found)):
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
        return size is not None and size <= found.subject.must_detect

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
