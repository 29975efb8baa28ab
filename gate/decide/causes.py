"""Why a finding has its verdict, and what the report comes to: facts that say themselves (gate/model/reasons.py)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from gate.config.rules import executions_of, most_builds
from gate.config.types import Config, Gate
from gate.decide.design import BOOTSTRAP_BUILDS, ONLY_REPORTS, Estimated, Subject, needed_builds
from gate.decide.futility import edge
from gate.decide.looks import Judged, Position
from gate.decide.next_steps import not_by_builds
from gate.evidence.aggregates import CENTRAL
from gate.model import (
    SIDES,
    Accepted,
    Case,
    Evidence,
    Finding,
    Identical,
    ReportVerdict,
    Run,
    Unfinished,
    Verdict,
    outcomes,
    reasons,
)
from gate.model.names import OF_BUILDS
from gate.model.report import Limit
from gate.model.warnings.measured import UnknownDirection
from gate.model.warnings.setup import NothingToCompare
from gate.stats.fixed_sessions import FEWEST_ROUNDS, OneSession
from gate.stats.levels import Reduced
from gate.stats.ratio import Limits, RoundedRatio


class ReasonFacts(msgspec.Struct, frozen=True, eq=False):
    """What a reason is made of; decided: the limits at the confidence that decided."""

    verdict: Verdict
    found: Estimated
    plain: Limits
    """As every reader sees them: at the confidence of the rules."""
    nominal: Limits
    decided: Limits
    nominal_confidence: float
    confidence: float
    """Of `nominal`, and of `decided`."""
    corrected: bool
    """Whether that confidence is more than the nominal one."""
    comparisons: int
    """Findings that share the error."""
    position: Position
    hidden: Literal["worse", "better"] | None
    """The direction of a change that the floor alone hides."""
    given_up_by_floor: bool
    unseen: float | None
    """The smallest slowdown that would have shown, where no sign of one is asked for and can be judged."""
    min_builds: int
    more_builds: int | None
    accepted: Accepted | None
    exceeded: Accepted | None
    """An accept entry for a smaller regression than this one."""
    broken: Limit | None
    """The limit of head that it breaks."""

    @property
    def threshold(self) -> float:
        """The threshold of the finding."""
        return self.found.subject.threshold

    @property
    def floor(self) -> float | None:
        """Its floor."""
        return self.found.subject.floor

    @property
    def case(self) -> Case:
        """Its case."""
        return self.found.subject.case


def finding(facts: ReasonFacts) -> reasons.Reason:
    """Say why a finding has its verdict."""
    if facts.accepted is not None:
        entry = facts.accepted
        if entry.up_to is None:
            return reasons.AcceptedByLabel(label=entry.reason, outgrown=facts.exceeded)
        return reasons.AcceptedByEntry(up_to=entry.up_to, until=entry.until or "", reason=entry.reason)
    if facts.broken is not None:
        return reasons.BeyondLimit(
            limit=facts.broken.at,
            unit=facts.case.unit,
            better=facts.found.subject.better,
            confidence=None if facts.found.exact else facts.broken.confidence,
            threshold=facts.threshold if facts.verdict == "regression" else None,
        )
    if facts.found.reduced.trouble:
        if facts.verdict in ("regression", "improvement"):
            return reasons.ZeroBaseExceeds(floor=facts.floor, unit=facts.case.unit)
        if facts.hidden is not None:
            return _inconclusive(facts)
        return trouble_of(facts.found.reduced, facts.found.subject, facts.found.machines)
    if facts.verdict in ("regression", "improvement"):
        if facts.found.exact:
            return reasons.ExactExceeds(threshold=facts.threshold, outgrown=facts.exceeded)
        return reasons.Exceeds(
            threshold=facts.threshold,
            confidence=facts.confidence,
            comparisons=facts.comparisons if facts.corrected else None,
            outgrown=facts.exceeded,
        )
    if facts.verdict == "no-sign" and facts.unseen is not None:
        low, high = facts.nominal.low, facts.nominal.high
        limit, other = (high, low) if facts.found.subject.lower else (low, high)
        real = other is not None and (other > 1 if facts.found.subject.lower else other < 1)
        return reasons.NoSign(
            detectable=facts.unseen, limit=limit or 0.0, real=real, confidence=facts.nominal_confidence,
            unit=facts.case.unit, better=facts.found.subject.better,
        )  # fmt: skip
    return _unchanged(facts) if facts.verdict == "unchanged" else _inconclusive(facts)


def _unchanged(facts: ReasonFacts) -> reasons.Reason:
    low, high = facts.nominal.low, facts.nominal.high
    if facts.position.within_floor and facts.floor is not None:
        return reasons.BelowFloor(threshold=None, floor=facts.floor, unit=facts.case.unit)
    if facts.found.exact:
        same = facts.found.ratio.x == facts.found.ratio.y
        return reasons.SAME_COUNT if same else reasons.ExactWithin(threshold=facts.threshold)
    if low is not None and high is not None and not low <= 1 <= high:
        return reasons.RealWithin(threshold=facts.threshold)
    return reasons.Within(threshold=facts.threshold)


def _inconclusive(facts: ReasonFacts) -> reasons.Reason:
    if facts.plain.kind in ("complement", "line", "half-line"):
        return reasons.UNBOUNDED
    if facts.hidden is not None and facts.floor is not None:
        return reasons.BelowFloor(threshold=facts.threshold, floor=facts.floor, unit=facts.case.unit)
    beyond = _beyond(facts, facts.nominal, worse=True), _beyond(facts, facts.nominal, worse=False)
    if facts.floor is not None and facts.given_up_by_floor and beyond[0]:
        return reasons.FloorOpen(threshold=facts.threshold, floor=facts.floor, unit=facts.case.unit)
    held = _held(facts)
    if held is not None and (any(beyond) or facts.found.hold in ONLY_REPORTS):
        return held
    if facts.position.not_worse and beyond[1]:
        return reasons.BetterUncorrected(threshold=facts.threshold)
    if facts.position.not_worse:
        low, high, e, lower = facts.nominal.low, facts.nominal.high, 1 + facts.threshold, facts.found.subject.lower
        below = low is not None and high is not None and (high < e if lower else low > 1 / e)
        floor = None if below else facts.floor
        return reasons.NotWorse(threshold=facts.threshold, floor=floor, unit=facts.case.unit, confidence=_asked(facts))
    if facts.floor is not None and _beyond(facts, facts.decided, worse=True):
        return reasons.FloorOpen(threshold=facts.threshold, floor=facts.floor, unit=facts.case.unit)
    if any(beyond):
        return reasons.Uncorrected(
            threshold=facts.threshold, confidence=facts.confidence, comparisons=facts.comparisons
        )
    return _unsettled(facts)


def _unsettled(facts: ReasonFacts) -> reasons.Reason:
    """Say why an interval that lies on both sides of the threshold does."""
    ratio = facts.found.ratio
    if isinstance(ratio, RoundedRatio) and ratio.leaves_open(edge(facts.found)):
        step = max(facts.found.base.step, facts.found.head.step)
        low, high = ratio.bounds
        return reasons.Rounded(step=step, unit=facts.case.unit, low=low, high=high)
    if facts.unseen is not None:
        return reasons.TooNoisy(
            detectable=facts.unseen, wanted=facts.found.subject.must_detect, unit=facts.case.unit,
            better=facts.found.subject.better, hopeless=_hopeless(facts),
        )  # fmt: skip
    found, edge_ = facts.found, 1 + facts.threshold
    above, below, _ = _reach(facts, facts.nominal)
    exceeds: Literal["above", "below", "both"] = "both" if above and below else "below" if below else "above"
    return reasons.TooWide(
        threshold=facts.threshold, exceeds=exceeds,
        estimate="within" if 1 / edge_ <= found.ratio.y / found.ratio.x <= edge_ else "beyond", unit=found.unit,
        hopeless=_hopeless(facts), confidence=_asked(facts),
    )  # fmt: skip


def _held(facts: ReasonFacts) -> reasons.Reason | None:
    has, units, unit = facts.found.builds, facts.found.units, facts.found.unit
    if facts.found.hold == "builds":
        return reasons.FewBuilds(needs=facts.min_builds, has=has, unit=facts.found.subject.top)
    if facts.found.hold == "bootstrap":
        return reasons.FewForBootstrap(needs=BOOTSTRAP_BUILDS, has=units, unit=unit)
    return reasons.MEMORY_ALONE if facts.found.hold == "memory" else None


def _asked(facts: ReasonFacts) -> float | None:
    """Return the confidence that the looks ask for, where the interval that is shown would say something else."""
    same = _reach(facts, facts.plain) == _reach(facts, facts.nominal)
    return None if same else facts.nominal_confidence


def _reach(facts: ReasonFacts, limits: Limits) -> tuple[bool, bool, bool]:
    """Return whether limits go beyond the threshold above and below 1, and whether they lie wholly beyond it."""
    low, high, edge = limits.low or 0.0, math.inf if limits.high is None else limits.high, 1 + facts.threshold
    return high >= edge, low <= 1 / edge, low > edge or high < 1 / edge


def _hopeless(facts: ReasonFacts) -> bool:
    # degrees of freedom and the build as the unit are what the count of more builds is computed by
    found = facts.found
    several = not found.machines and max(len(side.counts[2]) for side in (found.base, found.head)) > 1
    return facts.more_builds is None and found.ratio.df is not None and not several


def _beyond(facts: ReasonFacts, limits: Limits, *, worse: bool) -> bool:
    low, high, d = limits.low, limits.high, facts.threshold
    if low is None or high is None:
        return False
    return low > 1 + d if worse == (facts.found.subject.lower) else high < 1 / (1 + d)


def _nothing_decided(evidence: Evidence) -> outcomes.Summary:
    measured = list(dict.fromkeys(case.metric for case in evidence.cases))
    if measured:
        undirected = [m for each in evidence.warnings if isinstance(each, UnknownDirection) for m in each.metrics]
        return outcomes.NothingDecided(metrics=measured, undirected=undirected)
    if evidence.run is not None and evidence.run.apart and (evidence.run.base is None or evidence.run.head is None):
        return outcomes.OneSideMeasured(side="head" if evidence.run.base is None else "base")
    if evidence.aggregates:
        more = any(each.statistic in CENTRAL and each.unit for each in evidence.aggregates)
        return outcomes.OnlyAggregates(count=len(evidence.aggregates), more=more)
    return outcomes.NothingMeasured()


def _nothing_in_common(evidence: Evidence) -> outcomes.NothingInCommon | None:
    """Name what result files hold of each side, where no name is on both and nothing else failed."""
    missing = [f.benchmark for f in evidence.failures if f.kind == "missing" and f.benchmark is not None]
    is_all = evidence.run is not None and evidence.run.apart and len(missing) == len(evidence.failures)
    if not (is_all and missing and evidence.new) or evidence.cases:
        return None
    if any(new.startswith(f"{name}: ") for new in evidence.new for name in missing):
        # a metric of a benchmark that both have
        return None
    return outcomes.NothingInCommon(base=list(dict.fromkeys(missing)), head=list(evidence.new))


def summary(
    verdict: ReportVerdict, findings: Sequence[Finding], evidence: Evidence, identical: Sequence[Identical] = (),
) -> outcomes.Summary:  # fmt: skip
    """Say what the report comes to."""
    counts = Counter(f.verdict for f in findings)
    total = len(findings) + len(identical)
    if verdict == "regression":
        # by how far it is from no change, whichever direction is better; from 0 it is without limit
        regressed = sorted(
            (f for f in findings if f.verdict == "regression"),
            key=lambda f: abs(math.log(f.ratio.estimate)) if f.ratio.estimate else math.inf,
            reverse=True,
        )
        worst = list(dict.fromkeys(f.benchmark for f in regressed))
        return outcomes.Regressed(count=len(regressed), findings=total, worst=worst)
    if verdict == "error":
        if not findings and (found := _nothing_in_common(evidence)) is not None:
            return found
        if findings or evidence.failures:
            same = len({each.benchmark for each in identical})
            return outcomes.Failed(failures=len(evidence.failures), findings=len(findings), unaffected=same)
        return _nothing_decided(evidence)
    if verdict == "inconclusive":
        not_worse = sum(f.not_worse for f in findings if f.verdict == "inconclusive")
        hidden, noisy = sum(f.is_hidden for f in findings), sum(f.is_noise for f in findings)
        return outcomes.SomeInconclusive(
            count=counts["inconclusive"], findings=total, not_worse=not_worse, hidden=hidden, noisy=noisy
        )
    if counts["accepted"]:
        labels = {f.accepted.reason for f in findings if f.accepted is not None and f.accepted.up_to is None}
        return outcomes.SomeAccepted(count=counts["accepted"], findings=total, labels=sorted(labels))
    if identical and not findings:
        return outcomes.AllIdentical(benchmarks=len({each.benchmark for each in identical}))
    sizes = [found_size(f) for f in findings if f.verdict == "no-sign" and f.detectable is not None]
    return outcomes.NothingRegressed(findings=total, no_sign=counts["no-sign"], detectable=max(sizes, default=None))


def found_size(finding: Finding) -> float:
    """Return the size of the change that could be found, as a share of base; of a rate what is lost of it."""
    size = finding.detectable or 0.0
    return size if finding.better == "lower" else size / (1 + size)


_TROUBLES: dict[str, reasons.Reason] = {
    "negative": reasons.NEGATIVE_VALUES,
    "apart": reasons.DIFFERENT_SESSIONS,
    "zero-quantile": reasons.ZERO_QUANTILE,
    "no-rounds": reasons.FEW_ROUNDS,
    "no-spread": reasons.NO_SPREAD,
}


def trouble_of(reduced: Reduced, subject: Subject, machines: Sequence[OneSession] = ()) -> reasons.Reason:
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
        return reasons.OneUnit(unit=subject.top if isinstance(reduced.base.units[0], tuple) else "session", sides=few)
    if reduced.trouble == "few-values" and reduced.shortage is not None:
        has, needs = reduced.shortage
        return reasons.FewValues(statistic=subject.statistic, needs=needs, has=has, unit=subject.top)
    return reasons.BOTH_ZERO if reduced.y == 0 else reasons.ZeroBase(floor=subject.floor, unit=subject.case.unit)


def _on_machine(found: OneSession, subject: Subject) -> reasons.Because | reasons.FewValues | reasons.FewRoundsThere:
    if found.trouble == "few-values" and found.reduced is not None and found.reduced.shortage is not None:
        has, needs = found.reduced.shortage
        return reasons.FewValues(statistic=subject.statistic, needs=needs, has=has)
    few = reasons.FewRoundsThere(needs=FEWEST_ROUNDS, has=found.rounds)
    known: dict[str, reasons.Because] = {
        "negative": reasons.NEGATIVE_VALUES,
        "zero-value": reasons.ZERO_VALUE,
        "no-spread": reasons.NO_SPREAD,
    }
    return known.get(found.trouble, few)


def nothing_to_compare(evidence: Evidence) -> NothingToCompare | None:
    """Return why nothing is compared; None: something is, since of several jobs one may have had something."""
    found = next((each for each in evidence.warnings if isinstance(each, NothingToCompare)), None)
    return found if found is None or found.itself or not (evidence.cases or evidence.identical) else None


def new_benchmarks(evidence: Evidence) -> list[str]:
    """Name the benchmarks that were measured of head alone, or of head against itself; a build is none."""
    own = (case.benchmark for case in evidence.cases if case.metric not in OF_BUILDS)
    return list(dict.fromkeys([*evidence.new, *own]))


def without_base(why: NothingToCompare, itself: Sequence[Finding], benchmarks: int) -> outcomes.NothingToCompare:
    """Say which change the gate could find; itself: the findings of head against itself."""
    noise = [
        outcomes.Noise(benchmark=finding.benchmark, metric=finding.metric, detectable=found_size(finding))
        for finding in sorted(itself, key=lambda finding: finding.detectable or 0.0)
        if finding.detectable is not None
    ]
    quietest, noisiest = (noise[0], noise[-1]) if noise else (None, None)
    return outcomes.NothingToCompare(benchmarks=benchmarks, why=why, quietest=quietest, noisiest=noisiest)


# --- a run that ended before one round was complete, or before a verdict was possible ---------------------------------


def budget_ended(spent: Unfinished, run: Run | None, config: Config) -> outcomes.BudgetEnded:
    """Say what a regression would take, if what was not reached takes as long as what was.

    It is the least: the step that the budget ended would have taken longer. Later builds may be links, and of no length
    where no build was done that tells whether they are.
    """
    cut = spent.cut
    preparing = _each(
        spent.setup, spent.builds + bool(cut.setup), cut.seconds if cut.phase in ("checkout", "setup") else 0.0
    )
    building = _each(spent.building, spent.builds, cut.seconds if cut.phase == "build" else 0.0)
    of_execution = cut.phase in ("service", "comparison", "execution")
    executing = _each(spent.executing, spent.executions, cut.seconds if of_execution else 0.0)
    names = (run.benchmarks if run else None) or {}
    both = {*names.get("base", ())} & {*names.get("head", ())}
    turns = run is not None and run.turns
    executions = sum(spent.turns.get(name) or executions_of(config, name, turns=turns) for name in both)
    rounds = min(config.gate.min_builds, most_builds(config.plan))
    table = config.build
    may_link = table.command is not None and table.relink != "off" and "link-order" in table.perturb
    unknown = 0.0 if may_link else building
    following = unknown if spent.following is None else spent.following
    least = len(SIDES) * (preparing + building + (rounds - 1) * following + rounds * executions * executing)
    # what did not fit takes more than the budget, however little of it was done
    return outcomes.BudgetEnded(spent=spent, least=max(least, spent.budget), rounds=rounds)


def _each(total: float, count: int, ended: float) -> float:
    return max(total / max(1, count), ended)


def not_enough(
    findings: Sequence[Finding], judged: Sequence[Judged], gate: Gate, evidence: Evidence,
    stopped: Literal["budget"] | None,
) -> outcomes.NotEnoughMeasured | None:  # fmt: skip
    """Say that a run ended before there were the builds that a verdict needs; None: what is open is so for its noise.

    findings: in the order of `judged`. Result files of other tools have no plan that they could fall short of.
    """
    planned = planned_rounds(evidence)
    lacking: list[tuple[int, int]] = []
    for finding, each in zip(findings, judged, strict=True):
        found, builds = each.estimated, each.estimated.builds
        few = BOOTSTRAP_BUILDS if found.hold == "bootstrap" and found.unit == "build" else 0
        needed = 0 if found.exact else max(needed_builds(found, gate), few)
        # what was given up would have been measured on, if the plan had the builds
        given_up = finding.stopped is not None and (evidence.rounds.planned or 0) >= needed
        if finding.is_open and builds < needed and not given_up and not_by_builds(finding) is None:
            lacking.append((builds, needed))
    if not lacking or not planned:
        return None
    builds, needed = min(each[0] for each in lacking), max(each[1] for each in lacking)
    # an end is missing where measuring was interrupted
    open_ended = any(state.when == "begin" for state in {s.session: s for s in evidence.states}.values())
    ended: Literal["budget", "interrupted"] | None = stopped or ("interrupted" if open_ended else None)
    # a plan of so few builds is what somebody wants, and a warning says what it cannot show
    why = "plan" if ended is not None and planned < needed else ended
    if why is None:
        return None
    round_ = evidence.slowest_round
    return outcomes.NotEnoughMeasured(
        builds=builds, needed=needed, why=why, round=round_, seconds=_seconds(needed, round_, evidence, stopped),
        unit=judged[0].subject.top,
    )  # fmt: skip


def _seconds(needed: int, round_: float | None, evidence: Evidence, stopped: Literal["budget"] | None) -> float | None:
    """Return what the builds needed take, in one of several jobs, if those to come take as long as the slowest."""
    run, done = evidence.run, evidence.rounds.done
    if round_ is None:
        return None
    budget = evidence.budget or 0.0
    # the round that no longer fitted would have ended half of it later, on average
    least = budget + round_ / 2 if stopped else 0.0
    if evidence.pace is None or evidence.seconds is None:
        return max(least, round_ * math.ceil(needed / ((run.sessions if run else None) or 1)))
    # looks are laid out at the pace of the first round, which will be as slow again
    spent = max(evidence.seconds, budget if evidence.looks and done >= evidence.looks[-1] else 0.0)
    return max(least, spent + max(1, needed - done) * round_)


def planned_rounds(evidence: Evidence) -> int:
    """Count the rounds of the plan, those of all sessions; 0: not known. Looks within a budget may be fewer."""
    return max(evidence.rounds.planned or 0, evidence.most or 0)
