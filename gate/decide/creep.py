"""All nights together -> the verdict of a creep check: no night raises an alarm by itself, an average of nights may."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from gate.config.rules import Policy, accepts_of
from gate.decide.details import accepted_by
from gate.model import Accepted, DecidedAt, Finding, RatioInterval, Run, Verdict, reasons
from gate.model.case import CaseId, case_id
from gate.model.history import CreepCase, CreepFacts, CreepRun, CreepVerdict, Night
from gate.model.report import View
from gate.stats.creep import Creeping, NightSpread, creeping, more_nights, spread_of
from gate.stats.rounding import Array
from gate.stats.special import stdtrit

OVER_NIGHTS = "nights"
"""The method of an interval over nights, as reports show it."""
_EXACT = "exact"


def crept_of(findings: Sequence[Finding], run: Run | None, policy: Policy) -> tuple[list[Finding], CreepFacts] | None:
    """Judge the findings of a creep check by all nights, and say what these show; None: this is none.

    A regression of this night alone becomes inconclusive; what the nights show together becomes a regression, or
    accepted. All other findings stay as they are.
    """
    if run is None or run.creep is None:
        return None
    measured = [finding for finding in findings if night_of(finding, run) is not None]
    judge = _Judge(run, run.creep, policy, max(len(measured), 1))
    judged = [judge.judged(judge.followed(finding)) for finding in findings]
    cases = [case for _, case in judged]
    facts = CreepFacts(
        pin=run.creep.pin, nights=max((case.nights for case in cases), default=0), error=judge.alpha,
        unused=run.creep.unused, cases=cases,
    )  # fmt: skip
    return [finding for finding, _ in judged], facts


def night_of(finding: Finding, run: Run) -> Night | None:
    """Reduce a finding to what later nights need of it; None: there is no interval of it, or it is a number."""
    ratio, found = finding.ratio, _variance(finding.ratio)
    if found is None or not ratio.estimate or ratio.method in (_EXACT, OVER_NIGHTS):
        return None
    if run.base is None or run.head is None:
        return None
    return Night(
        run=run.id or "", day=(run.created or "")[:10], pin=run.base.sha or "", commit=run.head.sha or "",
        log_ratio=math.log(ratio.estimate), variance=found,
    )  # fmt: skip


def _variance(ratio: RatioInterval) -> float | None:
    """Return the variance of the logarithm of a ratio, as its interval has it; None: there is none."""
    low, high = ratio.low, ratio.high
    if ratio.kind != "bounded" or not low or not high or low <= 0 or not math.isfinite(high):
        return None
    # without degrees of freedom it is an interval of a bootstrap
    quantile = float(stdtrit(ratio.df or 1e9, (1 + ratio.confidence) / 2))
    return float((math.log(high / low) / (2 * quantile)) ** 2)


class _Series(NamedTuple):
    """The nights of a case as numbers, with worse above 0: against this pin, and the noise of those against others."""

    ratios: Array
    variances: Array
    before: NightSpread
    days: list[str]


class _Judge:
    """Judges one finding after the other by the nights that a run knows."""

    def __init__(self, run: Run, creep: CreepRun, policy: Policy, cases: int) -> None:
        self.run = run
        self.creep = creep
        self.policy = policy
        self.cases = cases
        self.alpha = 1 - policy.config.gate.confidence
        self.known = {case_id(each, each.statistic): each.nights for each in creep.cases}

    def followed(self, finding: Finding) -> Finding:
        """Return the view of the benchmark that has the most nights against this pin; of equals the one that decides.

        What tonight shows does not choose it. A view that some nights lack does not begin anew.
        """
        pinned = {
            id(view): sum(n.pin == self.creep.pin.sha for n in self.known.get(case_id(view, view.statistic), ()))
            for view in finding.views
        }
        best = max(finding.views, key=lambda view: pinned[id(view)])
        if best is finding:
            return finding
        alone = msgspec.structs.replace(finding, view=None, beside=[])
        others = [alone if each is finding else each for each in finding.views if each is not best]
        return msgspec.structs.replace(best, view=View(why="nights", times=None), beside=others)

    def judged(self, finding: Finding) -> tuple[Finding, CreepCase]:
        """Return the finding as all nights have it, and the nights."""
        key = case_id(finding, finding.statistic)
        tonight = night_of(finding, self.run)
        if tonight is None:
            # a count needs no nights: its own verdict stands
            verdict: CreepVerdict = "crept" if finding.verdict == "regression" else "none"
            return finding, self._case(finding, verdict, None, None)
        series = self._series(finding, key, tonight)
        found = self._creeping(series, finding.threshold)
        if not found.alarm[-1]:
            if finding.verdict != "regression":
                return finding, self._case(finding, "none", series, found)
            edge = math.log1p(finding.threshold)
            more = more_nights(series.ratios, series.variances, edge, self.alpha, self.cases, series.before)
            why = reasons.Unconfirmed(threshold=finding.threshold, nights=len(series.days), more=more)
            # its own interval is beyond the threshold at the nominal level; it is the alarm that waits
            waiting = msgspec.structs.replace(
                finding, verdict="inconclusive", reason=why, shown="ratio", not_worse=False
            )
            return waiting, self._case(finding, "unconfirmed", series, found, more)
        accept: Accepted | None = None
        exceeded: Accepted | None = None
        for entry in accepts_of(self.policy.config, finding.benchmark, finding.metric, finding.statistic):
            if entry.until >= self.policy.today and accept is None:
                covers = not self._creeping(series, float(entry.up_to)).alarm[-1]
                accept, exceeded = (accepted_by(entry), None) if covers else (None, accepted_by(entry))
        confirmed = self._confirmed(finding, series, found, accept, exceeded)
        return confirmed, self._case(finding, "accepted" if accept else "crept", series, found)

    def _series(self, finding: Finding, key: CaseId, tonight: Night) -> _Series:
        sign = 1.0 if finding.better == "lower" else -1.0
        pins: dict[str, list[Night]] = {}
        for night in [*self.known.get(key, ()), tonight]:
            pins.setdefault(night.pin, []).append(night)
        now = pins.pop(tonight.pin)
        earlier = [_numbers(nights, sign) for nights in map(_by_day, pins.values())]
        days = _by_day(now)
        ratios, variances = _numbers(days, sign)
        return _Series(ratios, variances, spread_of(earlier), list(days))

    def _creeping(self, series: _Series, threshold: float) -> Creeping:
        edge = math.log1p(threshold)
        return creeping(series.ratios, series.variances, edge, self.alpha, self.cases, series.before)

    def _confirmed(
        self, finding: Finding, series: _Series, found: Creeping, accept: Accepted | None, exceeded: Accepted | None
    ) -> Finding:
        window = int(found.window[-1])
        confidence = 1 - self.alpha
        since = series.days[-window]
        verdict: Verdict = "accepted" if accept else "regression"
        why: reasons.Reason = reasons.Crept(
            threshold=finding.threshold, nights=window, since=since, confidence=confidence, outgrown=exceeded
        )
        if accept is not None and accept.up_to is not None:
            why = reasons.AcceptedByEntry(up_to=accept.up_to, until=accept.until or "", reason=accept.reason)
        lower = finding.better == "lower"
        estimate, least = (math.exp(value if lower else -value) for value in (found.mean[-1], found.low[-1]))
        ends = (least, None) if lower else (None, least)
        decided = DecidedAt(confidence=confidence, low=ends[0], high=ends[1], look=1, looks=1)
        ratio = RatioInterval(
            estimate=estimate, low=ends[0], high=ends[1], confidence=confidence, method=OVER_NIGHTS, df=None,
            kind="half-line",
        )  # fmt: skip
        return msgspec.structs.replace(
            finding, ratio=ratio, decided_at=decided, shown="decided_at", verdict=verdict, accepted=accept, reason=why,
            p=None, p_adjusted=float(found.p[-1]), not_worse=False, more_builds=None, detectable=None,
        )  # fmt: skip

    def _case(
        self, finding: Finding, verdict: CreepVerdict, series: _Series | None, found: Creeping | None,
        more: int | None = None,
    ) -> CreepCase:  # fmt: skip
        window = int(found.window[-1]) if found is not None else 0
        sign = 1.0 if finding.better == "lower" else -1.0
        return CreepCase(
            benchmark=finding.benchmark, metric=finding.metric, statistic=finding.statistic, factors=finding.factors,
            better=finding.better, verdict=verdict, threshold=finding.threshold,
            nights=len(series.days) if series is not None else 1, window=window,
            ratio=math.exp(sign * found.mean[-1]) if found is not None else finding.ratio.estimate,
            tonight=finding.ratio.estimate, p=float(found.p[-1]) if window and found is not None else None, more=more,
        )  # fmt: skip


def _by_day(nights: Sequence[Night]) -> dict[str, list[Night]]:
    """Bring the runs of one day together: they are one night, so that a repeated job buys no second chance."""
    days: dict[str, list[Night]] = {}
    for night in nights:
        days.setdefault(night.day, []).append(night)
    return days


def _numbers(days: Mapping[str, Sequence[Night]], sign: float) -> tuple[Array, Array]:
    """Give the log ratio of each day, worse above 0, and its variance."""
    ratios = [sign * math.fsum(each.log_ratio for each in own) / len(own) for own in days.values()]
    variances = [math.fsum(each.variance for each in own) / len(own) ** 2 for own in days.values()]
    return np.array(ratios), np.array(variances)
