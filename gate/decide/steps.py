"""What follows from a report: whether a finding blocks, and what a reader does now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gate.codes import Exit
from gate.config.types import Gate
from gate.decide.importance import ordered
from gate.decide.noise import less_noise
from gate.model import Finding, Report, reasons
from gate.model import outcomes as steps
from gate.model.creep import CreepFacts
from gate.stats.fixed_sessions import FEWEST_ROUNDS
from gate.units import Duration

_SLACK = 1.1
_ROOM = 2
_BUDGETS = ((1, 20.0), (10, 120.0), (60, math.inf))
"""The seconds that an advised budget is rounded up to, and the size below which it is."""
_SHARE = 0.8
"""The costliest fifth of the inconclusive findings is no measure for all."""


def blocks(finding: Finding, report: Report) -> bool:
    """Return whether a finding is why a gate fails: of the inconclusive ones only what may be a regression."""
    if finding.verdict == "inconclusive":
        return report.exit_code == Exit.INCONCLUSIVE and finding.is_open
    return finding.verdict == "regression"


def next_step(report: Report) -> steps.Step | None:
    """Choose what a reader does now; None after a pass."""
    if isinstance(report.summary, steps.NotEnoughMeasured):
        return _allow_more_builds(report.summary, report)
    if report.verdict == "error" and report.failures:
        return _after_failures(report)
    if report.verdict == "regression" and report.creep is not None:
        return _find_creep(report, report.creep)
    if report.verdict == "regression":
        return _fix_regression(report)
    waiting = [case for case in report.creep.cases if case.verdict == "unconfirmed"] if report.creep else []
    if waiting:
        return steps.WaitForNights(nights=min((case.more for case in waiting if case.more is not None), default=None))
    return _measure_otherwise(report) or (_settle(report) if report.verdict == "inconclusive" else None)


def _measure_otherwise(report: Report) -> steps.Step | None:
    """Choose what gives a verdict where there is none, by why there is none."""
    match report.summary:
        case steps.BudgetEnded(least=least, rounds=rounds, spent=spent):
            # with room for what was not seen
            budget = _rounded(_ROOM * least)
            return steps.RaiseBudget(budget=budget, least=least, rounds=rounds, executions=spent.executions)
        case steps.OnlyAggregates(more=True):
            return steps.ImportMore(builds=_least(report))
        case steps.NothingMeasured():
            return steps.MeasureFirst()
        case steps.OneSideMeasured():
            return steps.NameSides(file=report.run.head.ref if report.run.head and len(report.new) > 1 else None)
        case steps.NothingDecided(undirected=[metric, *_]):
            return steps.GiveDirection(metric=metric)
    return None


def _find_creep(report: Report, creep: CreepFacts) -> steps.Step:
    crept = [case for case in creep.cases if case.verdict == "crept"]
    if not crept:
        return _fix_regression(report)
    worst = max(crept, key=lambda case: abs(math.log(case.ratio or 1.0)))
    head = (report.run.head.sha if report.run.head else None) or "HEAD"
    return steps.FindCreep(pin=creep.pin.name, head=head[:12], benchmark=worst.benchmark, history=bool(worst.suspects))


def _fix_regression(report: Report) -> steps.FixRegression:
    run = report.run
    found = [f for f in ordered(report.findings) if f.verdict == "regression"]
    if any(isinstance(f.reason, reasons.ZeroBaseExceeds) for f in found):
        # no size of an [[accept]] entry covers what has no ratio
        return steps.FixRegression(from_zero=True)
    if not found or run.imported or not run.builds:
        return steps.FixRegression()
    builds = [build.seconds for build in run.builds if build.build == 0 and build.session == 0]
    known = [seconds for seconds in builds if seconds is not None]
    explained = report.explanations or report.unprofiled
    return steps.FixRegression(
        benchmark=found[0].benchmark, seconds=run.seconds, explain=None if explained or not known else sum(known)
    )


def _after_failures(report: Report) -> steps.Step:
    kinds = {failure.kind for failure in report.failures}
    if isinstance(report.summary, steps.NothingInCommon):
        return steps.NameAlike(hyperfine=all(tool.startswith("hyperfine") for tool in report.run.imported))
    if report.run.imported:
        if kinds == {"repeated"}:
            return steps.ImportOthers(why="repeated")
        return steps.ImportOthers(why="missing" if kinds == {"missing"} else "failed")
    if all(failure.kind == "output" for failure in report.failures):
        return steps.FixOutput()
    if all(failure.kind == "tree" for failure in report.failures):
        return steps.KeepTrees()
    if all(failure.kind == "outside" for failure in report.failures):
        return steps.BuildInside()
    if all(failure.kind == "lock" for failure in report.failures):
        return steps.RunLater()
    if any(failure.kind != "missing" for failure in report.failures):
        return steps.FixFailure()
    # a part of several has no benchmark
    gone = [failure.benchmark for failure in report.failures if failure.benchmark is not None]
    if len(gone) < len(report.failures):
        return steps.RepeatJob()
    whose, label = report.policy.whose, report.policy.gate.get("accept_label")
    merged = whose is not None and whose.kind in ("base", "target")
    return steps.RestoreBenchmark(benchmark=gone[0], merged=merged, label=label if merged and label else None)


def _allow_more_builds(few: steps.NotEnoughMeasured, report: Report) -> steps.AllowMoreBuilds:
    plan = (report.run.settings or {}).get("plan", {})
    sessions = max((finding.base.counts.session for finding in report.findings), default=1)
    budget = _budget(few.seconds, plan.get("budget")) if few.why != "interrupted" else None
    return steps.AllowMoreBuilds(
        needed=few.needed,
        why=few.why,
        round=few.round,
        builds=math.ceil(few.needed / sessions) if few.why == "plan" else None,
        budget=budget,
    )


def _rounded(seconds: float) -> float:
    step = next(step for step, below in _BUDGETS if seconds < below)
    return math.ceil(seconds / step) * step


def _least(report: Report) -> int:
    return int(report.policy.gate.get("min_builds", Gate().min_builds))


def _settle(report: Report) -> steps.Step:
    found = [f for f in report.findings if f.verdict == "inconclusive"]
    still_open = [f for f in found if f.is_open]
    hidden = [f for f in ordered(found) if _floor_stands_in_the_way(f)]
    if hidden and all(f in hidden for f in still_open):
        return steps.LowerFloor(
            benchmark=hidden[0].benchmark,
            floor=hidden[0].floor or 0.0,
            unit=hidden[0].unit,
            share=(hidden[0].floor or 0.0) / abs(hidden[0].base.value) if hidden[0].base.value else None,
        )
    if not still_open:
        return steps.NothingToDo()
    declared = [step for f in still_open if (step := not_by_builds(f, imported=bool(report.run.imported))) is not None]
    if len(declared) == len(still_open):
        return declared[0]
    needed = sorted(_builds(f) + f.more_builds for f in still_open if f.more_builds)
    told = needed[: math.ceil(_SHARE * len(needed))]
    least = _least(report)
    hopeless = not told and all(_is_hopeless(f) for f in still_open)
    if report.run.imported and not hopeless:
        # of what is not known to lack some more, twice as many tell more
        most = max(map(_builds, still_open))
        return steps.ImportMore(builds=max([least, *(told or ([2 * most] if most >= least else []))]))
    if not told:
        quieter = less_noise(report, still_open, None) if hopeless else None
        return _more_machines(still_open) or quieter or steps.MeasureMore(hopeless=hopeless)
    seconds = _seconds(report, told[-1])
    plan = (report.run.settings or {}).get("plan", {})
    more = steps.MoreBuilds(
        builds=told[-1],
        settled=len(told),
        may_be_worse=len(still_open),
        not_worse=len(found) - len(still_open),
        seconds=seconds,
        budget=_budget(seconds, plan.get("budget")),
    )
    return less_noise(report, still_open, more) or more


def not_by_builds(finding: Finding, *, imported: bool = False) -> steps.Step | None:
    """Return what a finding lacks that more builds do not give; None: they may settle it."""
    # of one of several machines that alone stands in the way, what it lacks
    reason = finding.reason.why if isinstance(finding.reason, reasons.OnMachine) else finding.reason
    if isinstance(reason, reasons.NegativeValues):
        return steps.CheckValues()
    if isinstance(reason, reasons.ZeroQuantile):
        return steps.OtherStatistic(metric=finding.metric, statistic=finding.statistic)
    if isinstance(reason, reasons.DifferentSessions):
        return steps.MeasureTogether()
    if isinstance(reason, reasons.OneUnit) and reason.unit == "session":
        return steps.MoreMachines(sessions=finding.base.counts.session, builds=False)
    if isinstance(reason, reasons.BothZero) or (isinstance(reason, reasons.ZeroBase) and reason.floor is None):
        spreads = any(level.s2 for level in finding.variance.head)
        floor = finding.head.value / 2 if spreads and not isinstance(reason, reasons.BothZero) else None
        return steps.DeclareZero(metric=finding.metric, floor=floor, unit=finding.unit)
    if isinstance(reason, (reasons.NoSpread, reasons.Rounded)):
        return steps.DeclareExact(metric=finding.metric, rounded=isinstance(reason, reasons.Rounded))
    if isinstance(reason, reasons.FewValues):
        return steps.MoreValues(statistic=reason.statistic, has=reason.has, needs=reason.needs, imported=imported)
    return None


def _floor_stands_in_the_way(finding: Finding) -> bool:
    """Return whether the change is beyond the threshold, and more builds would not show it to be above the floor."""
    ratio, floor, edge = finding.ratio.estimate, finding.floor, 1 + finding.threshold
    if isinstance(finding.reason, reasons.ZeroBase) and floor is not None:
        return finding.head.value <= floor
    if ratio is None or floor is None or not finding.is_bound_by_floor or 1 / edge <= ratio <= edge:
        return False
    return not finding.more_builds or abs(finding.head.value - finding.base.value) <= floor


def _budget(seconds: float | None, configured: Any) -> float | None:
    """Return a budget with room for rounds that take longer; None: the configured one has it, or nothing is known."""
    if seconds is None or not isinstance(configured, str):
        return None
    wanted = _SLACK * seconds
    return _rounded(wanted) if wanted > Duration.parse(configured) else None


def _seconds(report: Report, builds: int) -> float | None:
    """Return what a plan of so many builds takes, if its rounds take as long as those of this run."""
    if report.run.pace is not None:
        return report.run.pace.of(builds)
    done, seconds = report.run.rounds.done, report.run.seconds
    one_job = not any(finding.base.counts.session > 1 for finding in report.findings)
    return seconds / done * builds if done and seconds is not None and one_job else None


def _is_hopeless(finding: Finding) -> bool:
    """Return whether no reasonable number of builds would do, as far as is known."""
    return isinstance(finding.reason, (reasons.TooWide, reasons.TooNoisy)) and finding.reason.hopeless


def _more_machines(still_open: Sequence[Finding]) -> steps.MoreMachines | None:
    """Return how many machines there are, where an interval over them is what is too wide."""
    found = [f.base.counts for f in still_open if f.base.counts.session > 1 and not f.sessions and f.ratio.df]
    if not found:
        return None
    enough = all(counts.build >= FEWEST_ROUNDS * counts.session for counts in found)
    return steps.MoreMachines(sessions=max(counts.session for counts in found), builds=enough)


def _builds(finding: Finding) -> int:
    """Count the builds that a plan asked for: those of one machine, where each is judged by itself."""
    whole = min(finding.base.counts.build, finding.head.counts.build)
    return min((each.rounds for each in finding.sessions), default=whole)
