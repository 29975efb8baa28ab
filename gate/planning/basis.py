"""The basis of a plan: variance and cost of each finding, from runs."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from gate.cli.groups import RulesOptions
from gate.config.rules import Policy, detectable_of, show_of, threshold_of
from gate.config.types import Config
from gate.decide.design import Subject
from gate.decide.estimates import subjects_of
from gate.decide.policy import policy_of
from gate.evidence.gather import gather
from gate.evidence.lines import Inputs
from gate.evidence.records import read_inputs
from gate.evidence.runs import run_of
from gate.evidence.sameness import are_two_programs
from gate.model import FindingMemory, Layouts, Memory, Record, Remembered, Run, Sample, UserError
from gate.model.case import TYPICAL, CaseId, Center, canonical, case_id, center_of, quantile_of, quantity
from gate.stats.centers import FEWEST_PAIRS, needed_values
from gate.stats.components import (
    PlannedLevel,
    Square,
    correlation_of,
    estimate,
    remember,
    shared_share,
    squares_of,
)
from gate.stats.levels import by_session
from gate.stats.planning import Costs, PlannedCase, build_variance
from gate.stats.prior import prior_of
from gate.store.learning import costs_at_treatments, costs_of
from gate.store.memory import StepCosts as Spent
from gate.writing.phrases import listed


class Known(PlannedCase, frozen=True, kw_only=True, eq=False):
    """One finding to be, before its aim and what its memory is worth are known, with what it was made of."""

    metric: str
    factors: dict[str, Any]
    statistic: str
    signed: dict[PlannedLevel, float]
    """T2 of each level as it was first estimated, the lowest first."""
    levels: tuple[PlannedLevel, ...]
    """Those that were repeated, whose variance could be told apart."""
    builds_df: float
    """Degrees of the variance of builds."""
    worth: Callable[[float, float], float]
    """What its remembered variance is worth in a check with so many executions of so many iterations, 0 for nothing."""
    repeated: tuple[float, float]
    """The executions and iterations that were measured."""
    detectable: float | None
    """The size that must show for no sign of a change to be green; None: it must be shown not to be worse."""

    @property
    def dropped(self) -> list[PlannedLevel]:
        """Levels that add nothing: their T2 was not above 0, so the others were estimated again without them."""
        return [level for level in self.signed if level != "iteration" and not getattr(self.components, level)]


def _planned_costs(spent: Spent | None, iterations: float) -> Costs | None:
    """Return what a plan counts with, given the iterations that were measured."""
    if spent is None or spent.iteration is None:
        return None
    # of an execution whose start is not known all may be its start: a plan that takes longer than it says is worse
    # than one that takes less
    start = spent.iteration * iterations if spent.start is None else spent.start
    start += spent.other or 0.0
    return Costs(build=spent.build or 0.0, start=start, warmup=spent.warmup or 0.0, iteration=spent.iteration)


def _about_costs(used: Mapping[str, Spent]) -> list[str]:
    """Say what of the costs is not known."""
    notes = []
    if all(spent.build is None for spent in used.values()):
        notes.append("the cost of a build is not known: counted as 0")
    hidden = [name for name, spent in used.items() if spent.start is None]
    if hidden:
        notes.append(
            f"{listed([*hidden])}: the time of a value is not in the values, so starting is taken to cost as much as "
            "all values of a start"
        )
    return notes


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that planning goes by."""

    known: tuple[Known, ...]
    size: int
    """Findings of a report."""
    config: Config
    left_out: tuple[str, ...]
    """What is not planned for, and why."""
    notes: tuple[str, ...]
    """What else the reader must know."""
    origin: str
    """In words."""
    untimed: tuple[str, ...] = ()
    """Benchmarks whose starts have no durations, which no plan can count with."""
    once: float = 0.0
    """Seconds of a run that do not depend on the counts."""


@dataclass(slots=True, eq=False)
class _Finding:
    """What has been gathered of one finding so far."""

    benchmark: str
    metric: str
    factors: dict[str, Any]
    statistic: str
    view_of: str | None = None
    sessions: list[Remembered] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    degrees: Callable[[float, float], float] = lambda _executions, _iterations: 0.0
    one_build: bool = False

    @property
    def center(self) -> Center:
        """What is compared."""
        return center_of(self.statistic)

    @property
    def name(self) -> str:
        """Name it for a reader."""
        words = [self.benchmark, quantity(self.metric, self.statistic)]
        return " ".join([*words, *(f"{key}={value}" for key, value in sorted(self.factors.items()))])

    @property
    def squares(self) -> list[tuple[PlannedLevel, Square]]:
        """The variance of each level, as far as it is known."""
        if self.center != TYPICAL:
            return squares_of(self.sessions)
        # half of the variance of rounds is each side's: it is all that there is of a typical value
        rounds = [session.contrast for session in self.sessions]
        halves = [each and msgspec.structs.replace(each, value=each.value / 2) for each in rounds]
        both = zip(self.sessions, halves, strict=True)
        return squares_of([msgspec.structs.replace(session, build=half) for session, half in both])


def from_runs(paths: Sequence[str], options: RulesOptions) -> Gathered:
    """Learn from measured runs; each file is a session of its own, so that they may be of other commits.

    Raises: UserError: files that cannot be read, nothing to plan from, or one build a side only.
    """
    readings = [read_inputs([path]) for path in paths]
    return from_readings(readings, paths, policy_of(run_of(readings[0].records), options), options.benchmarks)


def from_readings(readings: Sequence[Inputs], names: Sequence[str], policy: Policy, select: Sequence[str]) -> Gathered:
    """Learn from runs that are read already.

    Args:
        names: of the readings, for a reader.
        select: globs of benchmarks.

    Raises:
        UserError: nothing to plan from, or one build a side only.
    """
    findings: dict[CaseId, _Finding] = {}
    exact: dict[CaseId, str] = {}
    notes = []
    undecided = False
    for inputs in readings:
        evidence = gather(inputs.records, policy.config, select)
        undecided |= bool(evidence.cases)
        failed = sorted({f.benchmark for f in evidence.failures if f.benchmark})
        notes += [f"{name} is left out: it failed" for name in failed]
        proved = [same.benchmark for same in evidence.identical]
        notes += [f"{listed(proved)}: unaffected, so not measured"] if proved else []
        # one program against itself shares all that its layouts do, and two programs share less
        two = are_two_programs(evidence.run, evidence.builds) if evidence.run else False
        layouts = (evidence.layouts if two else None) or "independent"
        for subject in subjects_of(evidence, policy):
            if not subject.steady:
                # one view a question, the same in every run: a plan for the others would measure in vain
                continue
            own, case = subject.case, case_id(subject.case, subject.statistic)
            begun = _Finding(own.benchmark, own.metric, own.factors, subject.statistic, own.view_of)
            finding = findings.setdefault(case, begun)
            if own.exact and all(side.values.min() == side.values.max() for side in (own.base, own.head)):
                exact[case] = finding.name
            _add_run(finding, subject, evidence.run, layouts)
    records = [located.record for inputs in readings for located in inputs.records]
    origin = ", ".join(names)
    if not findings:
        none = "no metric is decided" if undecided else "both sides have no benchmark in common"
        told = notes[0] if notes else none
        raise UserError(f"{origin}: nothing to plan from: {told}")
    kept = [finding for case, finding in findings.items() if case not in exact]
    if not kept:
        raise UserError(f"{origin}: nothing to plan: exact metrics are compared as numbers")
    if not any(finding.sessions for finding in kept) and any(finding.one_build for finding in kept):
        raise UserError(f"{origin}: one build of each does not show the variance between builds: measure at least two")
    if exact:
        notes.append(f"{listed([*exact.values()])}: exact, compared as numbers whatever the plan")
    return _gathered(kept, records, policy.config, notes, origin)


def _add_run(finding: _Finding, subject: Subject, run: Run | None, layouts: Layouts) -> None:
    case = subject.case
    name, created = (run.id if run else None) or "", (run.created if run else None) or ""
    for base, head in by_session(case.base, case.head).values():
        finding.one_build |= min(len(base.builds), len(head.builds)) < 2
        found = remember(
            base, head, subject.center, session=name, created=created, layouts=layouts, view_of=case.view_of
        )
        if found is not None:
            finding.sessions.append(found)
    finding.samples += [case.base, case.head]
    if subject.memory is not None and run is not None and run.memory is not None:
        finding.degrees = _degrees(subject.memory, run.memory, layouts)


def _degrees(found: FindingMemory, memory: Memory, layouts: Layouts) -> Callable[[float, float], float]:
    now = datetime.datetime.now(tz=datetime.UTC)
    of = partial(prior_of, found, kind="contrast", nu=memory.contrast_nu, now=now, layouts=layouts)

    def degrees(executions: float, iterations: float) -> float:
        prior = of(executions=executions, iterations=iterations)
        return prior.df if prior else 0.0

    return degrees


def _gathered(
    findings: Sequence[_Finding], records: Sequence[Record], config: Config, notes: Sequence[str], origin: str
) -> Gathered:
    spent, at_settings = costs_of(records), costs_at_treatments(records)
    every = [session for finding in findings for session in finding.sessions]
    share = shared_share([session for session in every if session.layouts == config.build.layouts])
    notes = list(dict.fromkeys(notes))
    known, untimed = list[Known](), list[str]()
    silent = [finding for finding in findings if not finding.squares]
    if silent:
        notes.append(f"{listed([f.name for f in silent])}: left out, no spread over builds from which to plan")
    for finding in findings:
        measured = finding.sessions[0].iterations if finding.sessions else 1.0
        own = at_settings.get((finding.benchmark, canonical(finding.factors)))
        costs = _planned_costs(own or spent.get(finding.benchmark), measured)
        if costs is None:
            untimed.append(finding.benchmark)
        if finding not in silent:
            known.append(_known(finding, costs or Costs(0.0, 0.0, 0.0, 0.0), share, config))
    if not known:
        raise UserError(f"{origin}: nothing to plan from: {notes[-1]}")
    used = {k.benchmark: spent[k.benchmark] for k in known if k.benchmark in spent}
    # what both sides take whatever the counts: set-up, what first builds take longer, the probe
    first = [(cost.setup or 0.0) + max(0.0, (cost.first or 0.0) - (cost.build or 0.0)) for cost in used.values()]
    about, sessions = _about_costs(used), config.plan.sessions
    if sessions > 1:
        how = f"gate.sessions = {config.gate.sessions}"
        about.append(f"The plan is for one machine: it cannot show how {sessions} of them differ ({how}).")
    return Gathered(
        known=tuple(known),
        size=len(findings),
        config=config,
        left_out=tuple(notes),
        notes=tuple(about),
        origin=origin,
        untimed=tuple(untimed),
        once=2 * max(first, default=0.0) + sum(cost.probe or 0.0 for cost in used.values()),
    )


def _known(finding: _Finding, costs: Costs, share: float, config: Config) -> Known:
    typical, squares = finding.center == TYPICAL, finding.squares
    components, signed = estimate(squares, correlation_of(finding.samples) if finding.center is None else 0.0)
    newest = finding.sessions[0]
    variance = build_variance(components, newest.executions, newest.iterations)
    values = 1
    if typical and len(squares) > 1:
        values = FEWEST_PAIRS
    elif finding.center is not None:
        # the levels of a quantile are not known apart: no fewer values a build than were measured
        tau = quantile_of(finding.statistic)
        values = max(0 if tau is None else needed_values(tau), round(newest.executions * newest.iterations))
    names = (config, finding.benchmark, finding.metric, finding.statistic, finding.view_of)
    size, threshold = detectable_of(*names), threshold_of(*names)
    return Known(
        benchmark=finding.benchmark,
        components=components,
        costs=costs,
        threshold=threshold,
        aims=(),
        shared=0.0 if typical else share * variance,
        values=values,
        treatment=canonical(finding.factors),
        metric=finding.metric,
        factors=finding.factors,
        statistic=finding.statistic,
        signed=signed,
        levels=tuple(level for level, _ in squares),
        builds_df=squares[-1][1].df,
        worth=finding.degrees,
        repeated=(newest.executions, newest.iterations),
        detectable=size if show_of(*names) == "no-sign" and size > threshold else None,
    )
