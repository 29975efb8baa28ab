"""What follows from a report: whether a finding blocks, and what a reader does now."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gate.codes import Exit
from gate.config.rules import OWN_WORK
from gate.config.types import Gate
from gate.decide.design import BOOTSTRAP_BUILDS
from gate.decide.futility import POWER
from gate.decide.importance import ordered
from gate.model import Finding, RatioInterval, Recorded, Report, reasons
from gate.model import outcomes as steps
from gate.model.history import Control
from gate.model.names import ACTIVE
from gate.model.report import NextPlan
from gate.model.warnings.hosts import HostEvent
from gate.model.warnings.measured import TwoPrograms
from gate.stats.fixed_sessions import FEWEST_ROUNDS
from gate.stats.ratio import t_quantile
from gate.writing.units import Duration

_SLACK = 1.1
_BUDGET_SLACK = 1.25
"""More than what rounds took so far: they differ by so much on a busy host, and a gate ends when all is settled."""
_ROOM = 2
_MOST = 1000
"""Executions that a plan may have of a build."""
_MOST_MACHINES = 16
"""More machines than these are no advice."""
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
        few = report.summary
        plan, why, seconds, needed = _plan(report), few.why, few.seconds, few.needed
        spent = _configured(plan)
        told = max([needed, *_told(f for f in report.findings if f.is_open)])
        settled = _seconds(report, math.ceil(told / _sessions(report)))
        if settled is not None and seconds is not None and settled <= _limit(report, settled):
            # what is needed at least would leave open what the details say needs more
            needed, seconds = told, max(seconds, settled)
        if why == "interrupted" and seconds is not None and spent is not None and seconds > spent:
            # the rest of this run has no more time than it had
            why = "budget"
        if seconds is None and spent is not None and why != "interrupted":
            # what no round tells goes by the budget that was too small
            seconds = spent * needed / max(1, few.builds)
        budget = _budget(seconds, plan) if why != "interrupted" else None
        wanted, planned = math.ceil(needed / _sessions(report)), plan.get("builds")
        most = planned.get("max") if isinstance(planned, dict) else planned
        builds = wanted if why == "plan" or (why == "budget" and (most or wanted) < wanted) else None
        return steps.allow_more_builds(
            needed=needed, why=why, round=few.round, builds=builds, budget=budget, unit=few.unit,
        )  # fmt: skip
    if report.verdict == "error" and report.failures:
        return _after_failures(report)
    crept = [case for case in report.creep.cases if case.verdict == "crept"] if report.creep else []
    if report.verdict == "regression" and report.creep is not None and crept:
        worst = max(crept, key=lambda case: abs(math.log(case.ratio or 1.0)))
        head = (report.run.head.sha if report.run.head else None) or "HEAD"
        return steps.find_creep(pin=report.creep.pin.name, head=head[:12], benchmark=worst.benchmark)
    if report.verdict == "regression":
        return None if any(isinstance(each, TwoPrograms) for each in report.warnings) else _fix_regression(report)
    waiting = [case for case in report.creep.cases if case.verdict == "unconfirmed"] if report.creep else []
    if waiting:
        return steps.wait_for_nights(nights=min((case.more for case in waiting if case.more is not None), default=None))
    return _measure_otherwise(report) or (_settle(report) if report.verdict == "inconclusive" else None)


def raise_budget(ended: steps.BudgetEnded) -> steps.Step:
    """Name a budget with room for what was not seen of one that ended before a round."""
    return steps.raise_budget(
        budget=_rounded(_ROOM * ended.least), least=ended.least, rounds=ended.rounds, executions=ended.spent.executions,
    )  # fmt: skip


def _measure_otherwise(report: Report) -> steps.Step | None:
    """Choose what gives a verdict where there is none, by why there is none."""
    match report.summary:
        case steps.BudgetEnded():
            return raise_budget(report.summary)
        case steps.OnlyAggregates(more=True):
            return steps.import_more(builds=_least(report))
        case steps.NothingMeasured():
            return steps.PLAIN["measure-first"]
        case steps.OneSideMeasured():
            return steps.name_sides(file=report.run.head.ref if report.run.head and len(report.new) > 1 else None)
        case steps.NothingDecided(undirected=[metric, *_]):
            return steps.give_direction(metric=metric)
        case steps.NothingDecided(metrics=[metric, *_]):
            return steps.decide_on(metric=metric)
    return None


def _fix_regression(report: Report) -> steps.Step:
    run = report.run
    found = [f for f in ordered(report.findings) if f.verdict == "regression"]
    zero = next((f for f in found if isinstance(f.reason, reasons.ZeroBaseExceeds)), None)
    if zero is not None:
        # no size of an [[accept]] entry covers what has no ratio
        allowed = zero.head.high or zero.head.value
        if zero.ratio.method != "exact":
            # rounded up to two digits
            step = 10.0 ** (math.floor(math.log10(_SLACK * allowed)) - 1)
            allowed = math.ceil(_SLACK * allowed / step) * step
        return steps.fix_regression(
            from_zero=True, metric=zero.metric, floor=allowed, unit=zero.unit, imported=bool(run.imported)
        )
    if found and isinstance(found[0].reason, reasons.BeyondLimit):
        return steps.fix_regression(limited=True, imported=bool(run.imported))
    if not found or run.imported or not run.builds:
        return steps.fix_regression()
    builds = [build.seconds for build in run.builds if build.build == 0 and build.session == 0]
    known = [seconds for seconds in builds if seconds is not None]
    explained = report.explanations or report.unprofiled
    return steps.fix_regression(
        # of a command that was given without a file no option selects it
        benchmark=None if "--" in (run.typed or ()) else found[0].benchmark,
        sets=report.policy.whose.sets if report.policy.whose else (),
        seconds=run.seconds,
        explain=None if explained or not known else sum(known),
    )


_OF_ONE_KIND = {"output": "fix-output", "tree": "keep-trees", "outside": "build-inside", "unproved": "measure-all"}
"""What a reader does after failures that are all of one kind."""


def _after_failures(report: Report) -> steps.Step:
    kinds = {failure.kind for failure in report.failures}
    hyperfine = all(tool.startswith("hyperfine") for tool in report.run.imported)
    if isinstance(report.summary, steps.NothingInCommon):
        return steps.name_alike(hyperfine=hyperfine)
    if report.run.imported:
        if kinds == {"missing"} and report.new and hyperfine:
            # a command with a path or a version is another benchmark on each side
            return steps.name_alike(hyperfine=True)
        if kinds in ({"repeated"}, {"missing"}):
            return steps.import_others(why="repeated" if "repeated" in kinds else "missing")
        return steps.import_others(why="failed")
    if len(kinds) == 1 and (of_kind := _OF_ONE_KIND.get(report.failures[0].kind)) is not None:
        return steps.PLAIN[of_kind]
    if all(failure.kind == "lock" and failure.seconds is not None for failure in report.failures):
        return steps.PLAIN["run-later"]
    if kinds != {"missing"}:
        return steps.PLAIN["fix-failure"]
    # a part of several has no benchmark
    gone = [failure.benchmark for failure in report.failures if failure.benchmark is not None]
    if len(gone) < len(report.failures):
        return steps.PLAIN["repeat-job"]
    whose, label = report.policy.whose, report.policy.gate.get("accept_label")
    merged = whose is not None and whose.kind in ("base", "target")
    return steps.restore_benchmark(
        benchmark=gone[0], others=len({*gone}) - 1, merged=merged, label=label if merged and label else None
    )


def _plan(report: Report) -> dict[str, Any]:
    """Return [plan] as it was in force; empty: not known."""
    plan: dict[str, Any] = (report.run.settings or {}).get("plan", {})
    return plan


def _configured(plan: dict[str, Any]) -> float | None:
    """Return the budget of a plan in seconds; None: not known."""
    budget = plan.get("budget")
    return float(Duration.parse(budget)) if isinstance(budget, str) else None


def _sessions(report: Report) -> int:
    return max((finding.base.counts.session for finding in report.findings), default=1)


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
        return steps.lower_floor(
            benchmark=hidden[0].benchmark, metric=hidden[0].metric, imported=bool(report.run.imported),
            floor=hidden[0].floor or 0.0, unit=hidden[0].unit,
            wanted=0.0 if hidden[0].base.value or not _spreads(hidden[0]) else hidden[0].head.value / 2,
            share=(hidden[0].floor or 0.0) / abs(hidden[0].base.value) if hidden[0].base.value else None,
        )  # fmt: skip
    if not still_open:
        return steps.PLAIN["nothing-to-do"]
    declared = [step for f in still_open if (step := not_by_builds(f, report)) is not None]
    if len(declared) == len(still_open):
        return declared[0]
    told = _told(still_open)
    least = _least(report)
    # no reasonable number of builds would do, as far as is known
    hopeless = not told and all(
        f.ratio.df is not None
        if f.reason == reasons.UNBOUNDED
        else isinstance(f.reason, (reasons.TooWide, reasons.TooNoisy)) and f.reason.hopeless
        for f in still_open
    )
    if report.run.imported and not hopeless:
        # of what is not known to lack some more, twice as many tell more
        most = max(map(_builds, still_open))
        return steps.import_more(builds=max([least, *(told or ([2 * most] if most >= least else []))]))
    more = None
    if told:
        seconds, left = _seconds(report, told[-1]), len(still_open)
        more = _More(told[-1], len(told), left, len(found) - left, seconds, _budget(seconds, _plan(report)))
    less, other = less_noise(report, still_open, more), _other_plan(report, still_open)
    dear = hopeless if more is None else _is_too_much(report, more)
    dear = dear or (more is not None and other is not None and _CHEAPER * other.seconds < (more.seconds or 0.0))
    if other is not None and dear and (less is None or less.details["metric"] is None):
        # with more starts of each build, where more builds alone would not do, or take much longer
        left, budget = len(still_open), _budget(other.seconds, _plan(report))
        counts = other.executions, other.iterations
        more = _More(other.builds, left, left, len(found) - left, other.seconds, budget, *counts)
        less = less_noise(report, still_open, more)
    if more is not None:
        return less or steps.more_builds(**more._asdict())
    short = any(_needed(f, least, _sessions(report)) for f in still_open)
    if not hopeless and (short or less is None or less.details["metric"] is None):
        # nothing says that twice as many builds would not do
        less = None
    return _more_machines(still_open) or less or _measure_more(still_open, report, least, hopeless=hopeless)


def _other_plan(report: Report, still_open: Sequence[Finding]) -> NextPlan | None:
    """Return the plan that would narrow the intervals, where it measures more than this run did, which left it open."""
    plan = report.run.plan if _sessions(report) == 1 else None
    if plan is None or plan.builds > max(map(_builds, still_open)):
        return plan
    starts = max(min(f.base.counts.execution, f.head.counts.execution) for f in still_open)
    return plan if plan.builds * plan.executions > starts else None


def _told(still_open: Iterable[Finding]) -> list[int]:
    """Return the builds a side that would settle findings, of those of which it is known, without the costliest."""
    needed = sorted(_builds(f) + f.more_builds for f in still_open if f.more_builds)
    return needed[: math.ceil(_SHARE * len(needed))]


def _measure_more(still_open: Sequence[Finding], report: Report, least: int, *, hopeless: bool) -> steps.Step:
    """Ask for the builds without which there is no verdict, otherwise for twice as many: nothing says what would do."""
    if hopeless:
        return steps.measure_more(hopeless=True, unit=still_open[0].top)
    plan, sessions = _plan(report), _sessions(report)
    if str(report.policy.gate.get("interval")).startswith("bootstrap"):
        least = max(least, BOOTSTRAP_BUILDS)
    needed = max((_needed(f, least, sessions) for f in still_open), default=0)
    builds = math.ceil(needed / sessions) if needed else 2 * max(1, *map(_builds, still_open))
    budget = _budget(_seconds(report, builds), plan)
    if needed:
        return steps.allow_more_builds(
            needed=needed, why="plan", round=None, builds=builds, budget=budget, unit=still_open[0].top
        )
    return steps.measure_more(builds=builds, budget=budget)


def _needed(finding: Finding, least: int, sessions: int) -> int:
    """Return the builds a side without which a finding has no verdict, whatever its noise; 0: it has them."""
    reason = finding.reason.why if isinstance(finding.reason, reasons.OnMachine) else finding.reason
    match reason:
        case reasons.FewBuilds(needs=needs) | reasons.FewForBootstrap(needs=needs):
            return needs
        case reasons.FewRoundsThere(needs=needs):
            return needs * sessions
        case reasons.OneUnit() | reasons.FEW_ROUNDS | reasons.MEMORY_ALONE:
            return least
    return 0


def not_by_builds(finding: Finding, report: Report | None = None) -> steps.Step | None:
    """Return what a finding lacks that more builds do not give; None: they may settle it.

    report: of which it is, by which a plan and the tables of metrics are known.
    """
    imported = report is not None and bool(report.run.imported)
    # of one of several machines that alone stands in the way, what it lacks
    reason = finding.reason.why if isinstance(finding.reason, reasons.OnMachine) else finding.reason
    if reason == reasons.NEGATIVE_VALUES:
        return steps.PLAIN["check-values"]
    if reason == reasons.ZERO_VALUE:
        return steps.PLAIN["ask-of-all-machines"]
    if reason == reasons.ZERO_QUANTILE:
        return steps.other_statistic(metric=finding.metric, statistic=finding.statistic)
    if reason == reasons.DIFFERENT_SESSIONS:
        return steps.PLAIN["measure-together"]
    if isinstance(reason, (reasons.OneUnit, reasons.FewForBootstrap)) and reason.unit == "session":
        # two leave one degree of freedom, with which hardly any change can be shown
        wanted = reason.needs if isinstance(reason, reasons.FewForBootstrap) else 3
        return steps.more_machines(sessions=finding.base.counts.session, wanted=wanted, builds=False)
    if reason == reasons.BOTH_ZERO or (isinstance(reason, reasons.ZeroBase) and reason.floor is None):
        floor = finding.head.value / 2 if _spreads(finding) and reason != reasons.BOTH_ZERO else None
        return steps.declare_zero(metric=finding.metric, floor=floor, unit=finding.unit, imported=imported)
    if reason == reasons.NO_SPREAD or isinstance(reason, reasons.Rounded):
        return steps.declare_exact(metric=finding.metric, rounded=isinstance(reason, reasons.Rounded))
    if isinstance(reason, reasons.FewValues):
        plan = {} if report is None or imported else _plan(report)
        executions, iterations = plan.get("executions"), plan.get("iterations")
        budget = None
        if report is not None and isinstance(executions, int) and isinstance(iterations, int):
            pace, times = report.run.pace, math.ceil(reason.needs / max(1, reason.has))
            by_executions = executions * times <= _MOST
            executions, iterations = (executions * times, None) if by_executions else (None, iterations * times)
            # at most: builds take no longer
            budget = _budget(None if pace is None else pace.once + times * pace.round * _least(report), plan)
        else:
            executions = iterations = None
        return steps.more_values(
            statistic=reason.statistic, has=reason.has, needs=reason.needs, unit=reason.unit, executions=executions,
            iterations=iterations, budget=budget,
        )  # fmt: skip
    return None


def _spreads(finding: Finding) -> bool:
    return any(level.s2 for level in finding.variance.head)


def _floor_stands_in_the_way(finding: Finding) -> bool:
    """Return whether the change is beyond the threshold, and more builds would not show it to be above the floor."""
    ratio, floor, edge = finding.ratio.estimate, finding.floor, 1 + finding.threshold
    if (
        isinstance(finding.reason, (reasons.ZeroBase, reasons.BelowFloor))
        and floor is not None
        and not finding.base.value
    ):
        return finding.head.value <= floor
    if ratio is None or floor is None or not finding.is_bound_by_floor or 1 / edge <= ratio <= edge:
        return False
    return not finding.more_builds or abs(finding.head.value - finding.base.value) <= floor


def _budget(seconds: float | None, plan: dict[str, Any]) -> float | None:
    """Return a budget with room for rounds that take longer; None: the configured one has it, or nothing is known."""
    configured = _configured(plan)
    if seconds is None or configured is None:
        return None
    wanted = _BUDGET_SLACK * seconds
    return _rounded(wanted) if wanted > configured else None


def _seconds(report: Report, builds: int) -> float | None:
    """Return what a plan of so many builds takes, if its rounds take as long as those of this run."""
    if report.run.pace is not None:
        return report.run.pace.of(builds)
    done, seconds = report.run.rounds.done, report.run.seconds
    if seconds is None and report.stopped == "budget":
        seconds = _configured(_plan(report))
    return seconds / done * builds if done and seconds is not None and _sessions(report) == 1 else None


def _more_machines(still_open: Sequence[Finding]) -> steps.Step | None:
    """Return how many machines there are, where an interval over them is what is too wide."""
    found = [f for f in still_open if f.base.counts.session > 1 and not f.sessions and f.ratio.df]
    if not found:
        return None
    enough = all(f.base.counts.build >= FEWEST_ROUNDS * f.base.counts.session for f in found)
    sessions = max(f.base.counts.session for f in found)
    wanted = [each for f in found if (each := _machines(f)) is not None]
    return steps.more_machines(sessions=sessions, wanted=max(wanted, default=None), builds=enough)


def _machines(finding: Finding) -> int | None:
    """Return how many machines would probably settle a finding, if they differ as much as those that measured.

    Its interval in logarithms grows narrower with the square root of their number, and its degrees are one fewer. None:
    too many.
    """
    ratio, has = finding.ratio, finding.base.counts.session
    if not ratio.low or not ratio.high or not ratio.estimate or not ratio.df:
        return None
    error = math.log(ratio.high / ratio.low) / 2 / t_quantile(ratio.df, (1 - ratio.confidence) / 2)
    distance = abs(abs(math.log(ratio.estimate)) - math.log1p(finding.threshold))
    for count in range(has + 1, _MOST_MACHINES + 1):
        wanted = t_quantile(count - 1, (1 - ratio.confidence) / 2) + t_quantile(count - 1, 1 - POWER)
        if distance > wanted * error * math.sqrt(has / count):
            return count
    return None


def _builds(finding: Finding) -> int:
    """Count the builds that a plan asked for: those of one machine, where each is judged by itself."""
    whole = min(finding.base.counts.build, finding.head.counts.build)
    return min((each.rounds for each in finding.sessions), default=whole)


_LONGEST = 3600.0
"""Seconds of a check beyond which more builds are no good advice."""
_SHORT = 900.0
"""Seconds of a check that nobody minds who asks for a verdict, however small the budget was."""
_TIMES = 4
"""How many plans more builds may be worth."""
_CHEAPER = 2
"""Times as long that more builds may take as more starts of fewer."""
_BUSY = 0.5
"""Share of the time in which some program waited for a processor, from which the noise is the host's."""
_QUIETER = (ACTIVE, "cpu_time", "user", "instructions")
"""Metrics of a program's own work, which other programs hardly disturb; the best first."""
_PART = 0.5
"""Of a time, that its own work takes at least where it may stand for it."""
_AS_WIDE = 0.7
"""Of an interval, that one of CPU time is wide at least where both vary alike."""
_DETECTABLE = 0.1
"""What gate.detectable is at least where it is not set."""


class _More(NamedTuple):
    """A plan that would settle some of the open findings, as `steps.more_builds` says it."""

    builds: int
    settled: int
    may_be_worse: int
    not_worse: int
    seconds: float | None
    budget: float | None
    executions: int | None = None
    iterations: int | None = None


def less_noise(report: Report, still_open: Sequence[Finding], more: _More | None) -> steps.Step | None:
    """Choose what reduces the noise, where more builds would not within reason; None: they would, or nothing tells.

    more: the plan that would settle some of the open findings; None: none is known.
    """
    busy = _event(report, "cpu pressure")
    waited = busy if busy >= _BUSY else None
    quieter = _quieter(report, still_open)
    loaded = waited is not None or _event(report, "steal") > 0
    itself = sum(_varies_itself(f, report) for f in still_open) > len(still_open) / 2
    too_much = loaded or itself if more is None else _is_too_much(report, more)
    # on a host that others load, what hardly minds them comes first, as it does before more builds than the budget has
    sure = quieter is not None and (quieter[2] or (more is not None and more.budget is not None))
    if not too_much and not sure and not (quieter is not None and (more is None or loaded)):
        return None
    return steps.reduce_noise(
        builds=more.builds if more else None, starts=more.executions if more else None,
        settled=more.settled if more else 0, seconds=more.seconds if more else None, too_much=too_much or more is None,
        metric=quieter[0] if quieter else None,
        tables=tuple(dict.fromkeys(t for f in still_open if (t := report.run.tables.get(f.benchmark)) is not None)),
        findings=quieter[1] if quieter else 0, may_be_worse=len(still_open), unit=still_open[0].top,
        waited=waited,
        # under `nice` root's programs wait too
        itself=itself, shared=waited is not None and (report.run.host or {}).get("priority") == 0,
    )  # fmt: skip


def _event(report: Report, what: str) -> float:
    """Return how bad something was that happened to the host; 0: it did not."""
    return next((w.bad for w in report.warnings if isinstance(w, HostEvent) and w.what == what), 0.0)


def _is_too_much(report: Report, more: _More) -> bool:
    """Return whether a plan takes too long, or settles few of the open findings."""
    if 2 * more.settled < more.may_be_worse:
        return True
    if more.seconds is None:
        planned = report.run.rounds.planned
        return planned is not None and more.builds > _TIMES * planned
    return more.seconds > _limit(report, more.seconds)


def _limit(report: Report, seconds: float) -> float:
    """Return the seconds beyond which a check is no good advice; seconds: what it takes, where no budget is known."""
    return min(_LONGEST, max(_SHORT, _TIMES * (_configured(_plan(report)) or seconds)))


def _quieter(report: Report, still_open: Sequence[Finding]) -> tuple[str, int, bool] | None:
    """Find a metric that the run recorded of every benchmark, and that decides most of the open findings.

    With it: how many, and whether it shows a change, as it was measured.
    """
    if report.run.imported:
        return None
    every = {f.benchmark for f in report.findings}
    invalid = {ACTIVE} if any(f.view is not None and f.view.why == "tasks" for f in report.findings) else set()
    for name in (name for name in _QUIETER if name not in invalid):
        found = [r for r in report.recorded if r.metric == name and r.statistic == "mean" and r.better is not None]
        if not every <= {r.benchmark for r in found}:
            continue
        # of a benchmark that mostly waits, a time of its own work is a small part of what is measured
        times = [(f.benchmark, f.base.value) for f in report.findings if f.unit == "s"]
        if any(r.benchmark == b and r.unit == "s" and r.base.value < _PART * v for r in found for b, v in times):
            continue
        recorded = {_case(r): r.ratio for r in found}
        # whatever its noise, of too few builds nothing is decided
        short = {id(f) for f in still_open if _needed(f, _least(report), _sessions(report))}
        own = [(f, None if id(f) in short else recorded.get(_case(f))) for f in still_open]
        beyond = [by is not None and (by.low or 0.0) > 1 + f.threshold for f, by in own]
        decided = [by is not None and _decides(by, f, report, own_work=name in OWN_WORK) for f, by in own]
        if any(decided) and 2 * sum(decided) >= len(still_open):
            return name, sum(decided), any(beyond)
    return None


def _varies_itself(finding: Finding, report: Report) -> bool:
    """Return whether the program's work differs from start to start, which no other host would change.

    Its CPU time varies as much as what decides, so the noise is no waiting; and starts of one build and side, one after
    the other, differ as much as base and head do, so it is neither layout nor what disturbs both sides of a turn.
    """
    control, width = finding.control, _width(finding.ratio)
    if control is None or not 0 < width <= _width(control) or _event(report, "steal") > 0:
        return False
    cpu = [r.ratio for r in report.recorded if _case(r) == _case(finding) and r.metric in ("user", "cpu", "cpu_time")]
    return finding.metric in ("cpu", "cpu_time") or any(_width(each) >= _AS_WIDE * width for each in cpu)


def _width(interval: RatioInterval | Control) -> float:
    return math.log(interval.high / interval.low) if interval.high and interval.low and interval.low > 0 else 0.0


def _decides(by: RatioInterval, finding: Finding, report: Report, *, own_work: bool) -> bool:
    """Return whether a recorded interval would leave its case open no more, with as many comparisons as the report has.

    In logarithms, by the t distribution: whether it is a regression or an improvement, the same, or so narrow that what
    gate.detectable asks for would have shown.
    """
    if by.method == "exact":
        return True
    if by.kind != "bounded" or not (by.low and by.high and by.estimate) or by.low <= 0:
        return False
    gate, edge, change = report.policy.gate, math.log1p(finding.threshold), math.log(by.estimate)
    df = by.df or max(1, _builds(finding) - 1)
    error = math.log(by.high / by.low) / 2 / t_quantile(df, (1 - by.confidence) / 2)
    comparisons = max(1, report.family.size) if report.family.method != "none" else 1
    needed = t_quantile(df, (1 - by.confidence) / 2 / comparisons)
    if abs(change) - needed * error > edge or max(math.log(by.high), -math.log(by.low)) < edge:
        return True
    wanted = finding.reason.wanted if isinstance(finding.reason, reasons.TooNoisy) else None
    wanted = max(_DETECTABLE, 2 * finding.threshold) if wanted is None else wanted
    if own_work and not gate.get("detectable"):
        # where no size is asked for
        wanted = 2 * finding.threshold
    shown = edge + (needed + t_quantile(df, 1 - POWER)) * error <= math.log1p(wanted)
    green = gate.get("detectable") != "threshold" and gate.get("inconclusive") != "fail"
    return green and shown and math.log(by.low) < edge


def _case(each: Finding | Recorded) -> tuple[str, str]:
    return each.benchmark, repr(sorted(each.factors.items()))
