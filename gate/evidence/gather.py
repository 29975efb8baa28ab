"""Records of any number of measurement files -> Evidence: samples, failures, what is missing, what is new."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar

import msgspec

from gate.config.rules import better_of, decides, is_decided, is_exact, matches
from gate.config.types import Builds, Config
from gate.evidence.aggregates import (
    Figures,
    absent_of_builds,
    aggregates,
    decided_by_name,
    figure_warnings,
    figures_of,
    known_of_builds,
    of_builds,
    with_figures,
)
from gate.evidence.completeness import (
    at,
    bound_factors,
    build_warnings,
    case_warnings,
    failed_at,
    look_warnings,
    part_warnings,
    partial_suites,
    presence,
    round_warnings,
    rounds_of,
    says,
    settled_of,
    slowest_round,
    without_absent,
)
from gate.evidence.doubtful import alike, iteration_warnings, one_measurement, repeated
from gate.evidence.hosts import differing, host_names, machines, run_states, side_differences, with_machines
from gate.evidence.lines import Located
from gate.evidence.runs import EvidenceError, apart, config_of, in_order, missing_parts, parts_of, run_of, session_gaps
from gate.evidence.sameness import identical, layouts_of, sameness_warnings
from gate.evidence.time_spent import cost_of, looks_of, pace_of, spent, uncounted, unfinished, with_end
from gate.model.bounds import shortest_step
from gate.model.case import CaseId, canonical, pairs
from gate.model.directions import told_or_known
from gate.model.evidence import Case, Evidence, Sample
from gate.model.names import ACTIVE, ONE_TASK, SIDES, Better, Side
from gate.model.profile import Profile, Unprofiled
from gate.model.records import Build, Execution, Failure, HostState, Record, Run, Same, SummaryRecord, Turn
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings import measured as warn
from gate.model.warnings.base import Said
from gate.model.warnings.setup import NothingToCompare
from gate.writing.units import meant, to_base, whole_of

_SEVERAL = 2
"""Builds, of which one value shows that its digits are few because they are rounded."""


def gather(
    records: Sequence[Located], config: Config, select: Sequence[str] = (), measured: Config | None = None, *,
    one: bool = False, separate: bool = False, studied: bool = True,
) -> Evidence:  # fmt: skip
    """Sort records into samples, failures and what is missing or new.

    Args:
        config: the rules in force, for units, exactness and which metrics are decided.
        select: globs of benchmarks; the others are left out.
        measured: what the run was measured by, where it is parsed already; None: its run line says.
        one: base and head are one measurement, which is compared with itself.
        separate: they are said to be two, as result files of other tools always are; the same values are a failure.
        studied: settings on one side alone are an experiment without another side.

    Raises:
        EvidenceError: the same start twice, run lines that differ, or an experiment on one side alone.
    """
    figures: Figures = {}
    if any(isinstance(r.record, SummaryRecord) for r in records):
        figures = figures_of([r for r in records if getattr(r.record, "side", None) == side] for side in SIDES)
        records = with_figures(records, figures)
    if len({r.path for r in records}) > 1:
        records = in_order(records)
    run = run_of(records)
    measured = measured or config_of(run)
    budget = float(measured.plan.budget) if measured else None
    most = None
    if measured and isinstance(measured.plan.builds, Builds):
        most = measured.plan.builds.max or (run.looks if run else None)
    cut, cost = unfinished(records, budget), cost_of([r.record for r in records])
    evidence = _gathered(records, run, config, select, measured, one=one, separate=separate, begun=cut is None)
    explaining = [r.record for r in records if not select or _is_selected(r.record, select)]
    evidence = msgspec.structs.replace(
        evidence, most=most, budget=budget, seconds=spent(cost), cost=cost, unfinished=cut,
        states=_only(explaining, HostState),
        profiles=_only(explaining, Profile), unprofiled=_only(explaining, Unprofiled),
        aggregates=aggregates(_only(explaining, SummaryRecord), config),
        warnings=[*(figure_warnings(figures) if evidence.cases else ()), *evidence.warnings],
    )  # fmt: skip
    if run is not None and run.apart:
        return apart(evidence)
    treated = [r for r in records if isinstance(r.record, Execution) and r.record.factors]
    if studied and treated:
        sides = {getattr(r.record, "side", None) for r in records} - {None}
        if len(sides) == 1:
            # what `perfgate study` measured of one side is no gate whose other side is missing
            files = " ".join(dict.fromkeys(r.path for r in treated))
            alone = f"{files}: a study of {sides.pop()} alone has nothing to compare"
            raise EvidenceError(f"{alone}: run `perfgate study analyse {files}`")
    return evidence


def _gathered(
    records: Sequence[Located], run: Run | None, config: Config, select: Sequence[str], measured: Config | None,
    *, one: bool, separate: bool, begun: bool,
) -> Evidence:  # fmt: skip
    """Build the evidence of a run from its records, but for what is counted over all of them, such as its cost."""
    separate = separate or (run is not None and run.apart)
    dropped = uncounted(records)
    records = [r for r in records if id(r.record) not in dropped]
    counted, parts = [r.record for r in records], parts_of(records)
    # of the whole run: which part of it is decided moves neither its looks nor its rounds
    planned = looks_of(run, counted, measured)
    rounds = rounds_of(counted, parts, run, measured, planned)
    looks = with_end(planned, rounds.done, counted)
    records = [r for r in records if not select or _is_selected(r.record, select)]
    refuse_duplicates(records)
    selected = [r.record for r in records]
    executions, builds, turns = _only(selected, Execution), _only(selected, Build), _only(selected, Turn)
    duplicate = alike(selected, config) if separate and not one else None
    if duplicate and any(fact.base != fact.head for fact in differing(records)):
        # they are not one measurement where they know of another machine
        duplicate = None
    known, absent = without_absent(_only(selected, Failure), executions)
    failures = _failures(known, executions, config, measured, one=one or duplicate == "same")
    proofs = [] if one else identical(records, run)
    lone, missing = presence(executions, failures, run, select, begun=begun, identical=proofs, absent=absent)
    # result files of one side alone have nothing that the other lacks
    alone = run is not None and run.apart and (run.base is None or run.head is None)
    gaps = [failure for failure in session_gaps(parts) if _wanted(failure.benchmark, select)]
    failures += [*missing_parts(parts), *gaps, *([] if alone else missing)]
    failed, named = failed_at(failures), {f.benchmark for f in failures}
    base, head = ({e.benchmark for e in executions if e.side == side} for side in SIDES)
    judged = [e for e in executions if e.benchmark in base & head and not failed(e.benchmark, e.factors, e.suite)]
    bound = bound_factors(measured)
    sampled = _sampled(judged, config, run, turns, bound)
    cases = [case for case in sampled.cases if case.exact or duplicate != "same"]
    made = of_builds(builds, config, measured or config) if judged or proofs else []
    # build times and sizes count only beside measured or proved benchmarks
    by_build = _sampled([e for e in made if _wanted(e.benchmark, select)], decided_by_name(config), run, (), bound)
    built, hosts = [known_of_builds(case, builds) for case in by_build.cases], host_names(records)
    timed = bool(executions or not proofs)  # otherwise there is nothing that a host could disturb
    # what files of head alone hold figures of, without the values behind them
    of_head = [] if run is None or not run.apart or run.base is not None else _only(selected, SummaryRecord)
    figures = dict.fromkeys(each.benchmark for each in of_head if each.benchmark not in lone)
    # all that head has is in suites without a benchmark in base
    is_new = bool(absent["base"] and lone and not (cases or proofs or failures))
    empty: list[AnyWarning] = []
    if is_new:
        base_sha, suite = run.base.sha if run and run.base else None, min(absent["base"])
        empty.append(NothingToCompare(base=base_sha, itself=False, failed="missing", benchmark=suite, empty=True))
    same = [one_measurement()] if duplicate == "same" else []
    return Evidence(
        run=run,
        cases=[*(msgspec.structs.replace(c, hosts=hosts.get(c.benchmark, {})) for c in cases), *built],
        failures=[*failures, *sampled.failures, *by_build.failures, *same],
        new=[*lone, *sampled.new, *by_build.new, *figures],
        rounds=rounds, looks=looks, bound=bound, builds=builds, turns=turns,
        layouts=layouts_of(measured if says(run, "build") else None, builds),
        slowest_round=slowest_round(records),
        pace=pace_of(selected) if len({each.path for each in records}) == 1 else None,
        identical=[proof for proof in proofs if proof.benchmark not in named],
        warnings=[
            *with_machines(typed(run.warnings if run else ()), records), *empty,
            *look_warnings(looks, run, measured, config),
            *round_warnings(rounds, executions, failures, run, measured, config, settled_of(selected), looks, turns),
            *part_warnings(counted, parts, run, measured, config), *sameness_warnings(run),
            *(build_warnings(builds, measured) if timed else ()), *absent_of_builds([*cases, *built], config),
            *case_warnings(cases, config), *sampled.warnings,
            *_machine_warnings(records, duplicate, separate=separate and bool(cases), timed=timed),
        ],
    )  # fmt: skip


def _machine_warnings(
    records: Sequence[Located], same: Literal["same", "perhaps"] | None, *, separate: bool, timed: bool
) -> Iterator[AnyWarning]:
    """Say what the machines do to the ratios; separate: base and head are of different runs, and compared."""
    if same == "perhaps":
        yield warn.SAME_VALUES
    yield from side_differences(records)
    if separate and same is None:
        yield warn.MEASURED_SEPARATELY
    yield from machines(records)
    if timed:
        yield from run_states(records)


def _failures(
    known: Sequence[Failure], executions: Sequence[Execution], config: Config, measured: Config | None, *, one: bool
) -> list[Failure]:
    """Add failures that only the values show: there are none, they repeat others, or a part of a suite is missing."""
    without = [e for e in executions if not e.metrics or _metrics_without_values(e)]
    found = [failure for e in without for failure in _without_values(e, config)]
    found += repeated(executions, config, by_side=one)
    failed = failed_at([*known, *found])
    return [*known, *found, *(f for f in partial_suites(executions, measured) if not failed(f.benchmark, f.factors))]


def _wanted(name: str | None, select: Sequence[str]) -> bool:
    return not select or name is None or any(matches(glob, name) for glob in select)


_Kind = TypeVar("_Kind", bound=msgspec.Struct)


def _only(records: Sequence[Record], kind: type[_Kind]) -> list[_Kind]:
    return [record for record in records if isinstance(record, kind)]


def _is_selected(record: Record, select: Sequence[str]) -> bool:
    name = getattr(record, "benchmark", None)
    # the proof of a suite stands for its lines
    of_line = isinstance(record, Same) and any(glob.startswith(f"{name}/") for glob in select)
    return of_line or _wanted(name, select)


def refuse_duplicates(records: Sequence[Located]) -> None:
    """Refuse the same execution of one metric twice, at the same settings.

    Raises: EvidenceError: it names both lines.
    """
    seen: dict[tuple[object, ...], Located] = {}
    for located in records:
        e = located.record
        if not isinstance(e, Execution):
            continue
        factors = canonical(e.factors)
        for metric in e.metrics:
            key = (CaseId(e.benchmark, metric, factors), e.side, e.session, e.build, e.execution)
            first = seen.setdefault(key, located)
            if first is not located:
                session = f" session {e.session}," if e.session else ""
                where = f" {pairs(e.factors)}," if e.factors else ""
                raise EvidenceError(
                    f"{first.path}:{first.line} and {located.path}:{located.line}: the same start twice "
                    f"({e.benchmark}, {metric}, {e.side},{where}{session} build {e.build}, start {e.execution})"
                )


def _metrics_without_values(e: Execution) -> list[str]:
    return [name for name, metric in e.metrics.items() if not metric.values]


def _without_values(e: Execution, config: Config) -> list[Failure]:
    """Return the failure of an execution that has no values, or none of a metric that is decided."""
    empty = _metrics_without_values(e)
    decided = [m for m in empty if decides(config, e.benchmark, m, e.metrics[m])]
    if e.metrics and not decided and len(empty) < len(e.metrics):
        return []
    status = f"no values of {', '.join(decided)}" if decided and len(empty) < len(e.metrics) else "no values"
    return [
        Failure(
            kind="execution", benchmark=e.benchmark, side=e.side, session=e.session, build=e.build,
            execution=e.execution, factors=e.factors, status=status,
        )
    ]  # fmt: skip


class _Sampled(msgspec.Struct, frozen=True):
    cases: list[Case]
    failures: list[Failure]
    new: list[str]
    warnings: list[AnyWarning]


_Sessions = dict[tuple[str, str, Side], set[int]]
"""The sessions that measured anything of a benchmark, by the settings bound to sessions and by side."""


def _sampled(
    executions: Sequence[Execution], config: Config, run: Run | None, turns: Sequence[Turn],
    bound: frozenset[str],
) -> _Sampled:  # fmt: skip
    """Make the samples of both sides; bound: factors of which a session has some settings by design.

    A decided metric (or factor setting) that head lacks, or a session, or whose unit changes, is a failure; one that
    base lacks is new.
    """
    by_turns = run is not None and run.turns
    sides: dict[CaseId, dict[Side, list[Execution]]] = defaultdict(lambda: {"base": [], "head": []})
    for e in executions:
        factors = canonical(e.factors)
        for metric, measured in e.metrics.items():
            if measured.values:
                sides[CaseId(e.benchmark, metric, factors)][e.side].append(e)
    found = _Sampled([], [], [], [])
    sessions: _Sessions = defaultdict(set)
    for e in executions:
        sessions[e.benchmark, _session_settings(e, bound), e.side].add(e.session)
    for case, by_side in sides.items():
        benchmark, metric = case.benchmark, case.metric
        if not by_side["base"]:
            found.new.append(f"{benchmark}: metric {metric}{at(case)}")
            continue
        lines = (e.metrics[metric] for side in ("head", "base") for e in by_side[side])
        told = (told_or_known(each.better, metric, each.unit) for each in lines)
        better = better_of(config, benchmark, metric) or next(filter(None, told), None)
        lacking = _lacking(case, by_side, sessions, bound)
        # where a view lacks, what it is a view of is decided alone
        sharp = by_turns and not lacking and _is_sharp(metric, by_side)
        shown = by_side["base"][0].metrics[metric]
        decided = better is not None and is_decided(config, benchmark, metric, shown.view_of, sharp=sharp)
        disagreement = _disagreement(benchmark, metric, by_side, config)
        if decided and lacking:
            found.failures.extend(lacking)
        elif by_side["head"] and not disagreement:
            found.warnings.extend(
                warn.MetricMissing(benchmark, metric, case.factors or "{}", each.session or 0) for each in lacking
            )
            found.warnings.extend(_unit_warnings(metric, by_side))
            # what others measured was not asked for any number of iterations
            own = (turn.iterations for turn in turns if turn.benchmark in (benchmark, by_side["base"][0].suite))
            asked = 0 if run is not None and run.apart else min(own, default=config.plan.iterations)
            found.cases.append(
                _case(
                    benchmark, metric, by_side, config, asked, better, decided=decided, sharp=sharp, turns=by_turns
                )
            )  # fmt: skip
        elif decided:
            of, status = by_side["base"][0].factors, f"metric {metric}{disagreement}"
            found.failures.append(Failure(kind="execution", benchmark=benchmark, factors=of, status=status))
    return found


def _disagreement(benchmark: str, metric: str, by_side: dict[Side, list[Execution]], config: Config) -> str:
    """Say what the lines of a metric disagree in, so that they have no ratio; else nothing."""
    measured = [e.metrics[metric] for both in by_side.values() for e in both]
    units = {to_base(unit)[0] for unit in {each.unit for each in measured}}
    if len(units) > 1:
        return f" has several units: {', '.join(sorted(units))}"
    told = {told_or_known(each.better, metric, each.unit) for each in measured} - {None}
    if len(told) > 1 and better_of(config, benchmark, metric) is None:
        return f": the lines disagree which direction is better; say better in [benchmark.metric.{metric}]"
    return ""


def _session_settings(e: Execution, bound: frozenset[str]) -> str:
    return canonical({name: value for name, value in e.factors.items() if name in bound} if bound else {})


def _lacking(
    case: CaseId, by_side: dict[Side, list[Execution]], sessions: _Sessions, bound: frozenset[str]
) -> list[Failure]:
    """Return the failure of a metric that head lacks, or one for each session that has the benchmark without it.

    Judged by the other sessions alone it would have fewer than the plan says. A session that lacks the whole benchmark
    is spoken of elsewhere.
    """
    benchmark, factors, status = case.benchmark, by_side["base"][0].factors, f"metric {case.metric} gave no values"
    if not by_side["head"]:
        return [Failure(kind="missing", benchmark=benchmark, side="head", factors=factors, status=status)]
    place = _session_settings(by_side["base"][0], bound)
    lacking = {side: sessions[benchmark, place, side] - {e.session for e in by_side[side]} for side in SIDES}
    found = []
    for session in sorted(lacking["base"] | lacking["head"]):
        without = [side for side in SIDES if session in lacking[side]]
        side = without[0] if len(without) == 1 else None
        found.append(
            Failure(
                kind="missing", benchmark=benchmark, side=side, session=session, factors=factors,
                status=f"{status} in session {session}",
            )
        )  # fmt: skip
    return found


def _case(
    benchmark: str, metric: str, by_side: dict[Side, list[Execution]], config: Config, asked: int,
    better: Better | None, *, decided: bool, sharp: bool, turns: bool,
) -> Case:  # fmt: skip
    first = by_side["base"][0].metrics[metric]
    unit, _ = to_base(first.unit)
    steps = _steps(by_side, metric)
    base, head = (_sample(by_side[side], metric, steps[side]) for side in SIDES)

    def repeats(executions: Sequence[Execution]) -> bool:
        # a count of a result file, or a share, that came out the same in all of several builds
        found = [e.metrics[metric] for e in executions]
        counted = all(each.exact or whole_of(metric, each.unit) is not None for each in found)
        several = len({(e.session, e.build) for e in executions}) > 1
        return counted and several and len({v for m in found for v in m.values}) == 1

    exact = is_exact(config, benchmark, metric) or all(repeats(by_side[side]) for side in SIDES)
    return Case(
        benchmark=benchmark, metric=metric, factors=by_side["base"][0].factors, unit=unit, better=better, exact=exact,
        decided=decided, sharp=sharp, base=base, head=head,
        warnings=iteration_warnings([*by_side["base"], *by_side["head"]], metric, asked), view_of=first.view_of,
        turns=turns, one_task=_one_task(by_side),
    )  # fmt: skip


def _is_sharp(metric: str, by_side: dict[Side, list[Execution]]) -> bool:
    """Return whether a metric is a view that is disturbed less than what it is a view of.

    Active time is known of one task only, which the lines of single starts tell, and otherwise whoever took it. What
    happened once, such as a wait for a disk, does not change what a benchmark is.
    """
    both = [e for of_side in by_side.values() for e in of_side]
    is_known = metric != ACTIVE or all(e.own is None for e in both) or _one_task(by_side) is True
    return is_known and 10 * sum(e.metrics[metric].sharp for e in both) >= 9 * len(both)


def _one_task(by_side: dict[Side, list[Execution]]) -> bool | None:
    """Return whether one task does a command's work on both sides and ends with it; None: a side does not tell."""
    shares = [sorted(e.own for e in of_side if e.own is not None) for of_side in by_side.values()]
    if not all(shares):
        return None
    middle = min(own[len(own) // 2] for own in shares)
    return middle >= ONE_TASK and not any(e.outlived for of_side in by_side.values() for e in of_side)


def _sample(executions: list[Execution], metric: str, step: float) -> Sample:
    import numpy as np

    ordered = sorted(executions, key=lambda e: (e.session, e.build, e.execution))
    measured = [e.metrics[metric] for e in ordered]
    parts = [np.asarray(each.values, dtype=np.float64) * to_base(each.unit)[1] for each in measured]
    builds = Counter([(e.session, e.build) for e in ordered])
    sessions = Counter([session for session, _ in builds])
    orders = [e.order for e in ordered]
    known = None if None in orders else np.array(orders, dtype=np.int64)
    levels = ([len(each.values) for each in measured], list(builds.values()), list(sessions.values()))
    iterations, executions_of, builds_of = map(np.array, levels)
    return Sample(np.concatenate(parts), (iterations, executions_of, builds_of), tuple(builds), known, step)


def _steps(by_side: dict[Side, list[Execution]], metric: str) -> dict[Side, float]:
    """Return the step that each side's values are written to, in the base unit; 0: not known, or nothing is rounded.

    Where the lines do not tell, it is the finest that the digits of all of them show, which one tool wrote.
    """
    measured = {side: [e.metrics[metric] for e in by_side[side]] for side in SIDES}
    every = [each for own in measured.values() for each in own]
    if any(each.exact or whole_of(metric, each.unit) is not None for each in every):
        return dict.fromkeys(SIDES, 0.0)
    if any(each.step is not None for each in every):
        # where some have fewer digits than others, those count
        return {side: max((each.step or 0.0) * to_base(each.unit)[1] for each in measured[side]) for side in SIDES}
    if min(len({(e.session, e.build) for e in by_side[side]}) for side in SIDES) < _SEVERAL:
        return dict.fromkeys(SIDES, 0.0)
    return dict.fromkeys(SIDES, min(shortest_step(each.values) * to_base(each.unit)[1] for each in every))


def _unit_warnings(metric: str, by_side: dict[Side, list[Execution]]) -> Iterator[Said]:
    """Warn of units that look misspelt; a unit of one's own is nobody's mistake, but no time is measured in one."""
    compared = "its values are compared as they are, without a default floor"
    for unit in sorted({e.metrics[metric].unit for both in by_side.values() for e in both}):
        known = meant(unit)
        if known is not None or (metric == "time" and unit and to_base(unit)[0] != "s"):
            what = "a unit of time: write s, ms, us or ns" if known is None else f'a known unit: write "{known}"'
            yield Said(f'metric {metric}: "{unit}" is not {what}; {compared}', "unknown-unit")
