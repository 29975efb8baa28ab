"""Records of any number of measurement files -> Evidence: samples, failures, what is missing, what is new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from gate.config.rules import is_decided, matches, metric_rules
from gate.config.types import Config
from gate.model import SIDES, Build, Case, Evidence, Execution, Failure, Round, Run, Sample, Side, UserError
from gate.records import Located
from gate.units import to_base


class EvidenceError(UserError):
    """Files that contradict each other."""


CaseKey = tuple[str, str, str]
"""Benchmark, metric, factors as canonical JSON."""


def run_of(records: Iterable[Located]) -> Run | None:
    """Return the run line of the files, the first of several that agree.

    Raises:
        EvidenceError: two run lines differ in commits or rules.
    """
    first: Located | None = None
    run: Run | None = None
    for located in records:
        if not isinstance(located.record, Run):
            continue
        if run is None or first is None:
            first, run = located, located.record
            continue
        for what in ("base", "head", "config"):
            if getattr(run, what) != getattr(located.record, what):
                name = "rules" if what == "config" else f"{what} commit"
                raise EvidenceError(
                    f"{first.path}:{first.line} and {located.path}:{located.line}: the runs differ in their {name}; "
                    "files of one gate must agree"
                )
    return run


def gather(records: Sequence[Located], config: Config, select: Sequence[str] = ()) -> Evidence:
    """Sort records into samples, failures and what is missing or new.

    config: the rules in force, for units, exactness and which metrics are decided. select: globs of benchmarks; the
    others are left out.

    Raises:
        EvidenceError: the same execution twice, or run lines that differ.
    """
    run = run_of(records)
    records = [r for r in records if _selected(r, select)]
    _refuse_duplicates(records)
    executions = [r.record for r in records if isinstance(r.record, Execution)]
    builds = [r.record for r in records if isinstance(r.record, Build)]
    failures = [r.record for r in records if isinstance(r.record, Failure)]
    failures += [_no_values(e) for e in executions if not any(m.values for m in e.metrics.values())]
    failed = {f.benchmark for f in failures if f.benchmark is not None}
    measured: dict[Side, set[str]] = {side: {e.benchmark for e in executions if e.side == side} for side in SIDES}
    expected = _expected(run, measured, select)
    new = [name for name in expected["head"] if name not in expected["base"]]
    for name in dict.fromkeys([*expected["base"], *expected["head"]]):
        lacking = [side for side in SIDES if name in expected[side] and name not in measured[side]]
        if name in failed or name in new:
            continue
        if name not in expected["head"]:
            failures.append(Failure(kind="missing", benchmark=name, side="head", status="base has it, head does not"))
        elif lacking and not any(f.kind == "build" for f in failures):
            failures.append(Failure(kind="missing", benchmark=name, side=lacking[0], status="gave no values"))
    both = measured["base"] & measured["head"]
    comparable = [e for e in executions if e.benchmark in both and e.benchmark not in failed]
    paired = _cases(comparable, config)
    failures += paired.absent
    seconds = [s for s in (*(b.seconds for b in builds), *(e.seconds for e in executions)) if s is not None]
    rounds = _rounds(executions, run)
    return Evidence(
        run=run,
        cases=paired.cases,
        failures=failures,
        new=new,
        rounds=rounds,
        seconds=sum(seconds) if seconds else None,
        warnings=[*(run.warnings if run else []), *_round_warnings(rounds, failures), *_build_warnings(builds, run)],
    )


def _selected(located: Located, select: Sequence[str]) -> bool:
    name = getattr(located.record, "benchmark", None)
    return not select or name is None or any(matches(glob, name) for glob in select)


def _refuse_duplicates(records: Sequence[Located]) -> None:
    seen: dict[tuple[object, ...], Located] = {}
    for located in records:
        e = located.record
        if not isinstance(e, Execution):
            continue
        for metric in e.metrics:
            key = (e.benchmark, metric, _canonical(e.factors), e.side, e.session, e.build, e.execution)
            first = seen.setdefault(key, located)
            if first is not located:
                raise EvidenceError(
                    f"{first.path}:{first.line} and {located.path}:{located.line}: the same execution twice "
                    f"({e.benchmark}, {metric}, {e.side}, build {e.build}, execution {e.execution})"
                )


def _canonical(factors: dict[str, Any]) -> str:
    return msgspec.json.encode(factors, order="sorted").decode() if factors else "{}"


def _no_values(e: Execution) -> Failure:
    return Failure(
        kind="execution", benchmark=e.benchmark, side=e.side, session=e.session, build=e.build,
        execution=e.execution, status="no values",
    )  # fmt: skip


def _expected(run: Run | None, measured: dict[Side, set[str]], select: Sequence[str]) -> dict[Side, list[str]]:
    names = run.benchmarks if run and run.benchmarks else {}
    expected = {side: [n for n in names.get(side, []) if not select or any(matches(g, n) for g in select)]
                for side in SIDES}  # fmt: skip
    for side in SIDES:
        # a suite's benchmarks are known only by what it measured
        expected[side] += sorted(measured[side].difference(expected[side]))
    return expected


class _Paired(msgspec.Struct, frozen=True):
    cases: list[Case]
    absent: list[Failure]


def _cases(executions: Sequence[Execution], config: Config) -> _Paired:
    """Make the samples of both sides; a decided metric that one side lacks, or that changes its unit, is a failure."""
    sides: dict[CaseKey, dict[Side, list[Execution]]] = defaultdict(lambda: {"base": [], "head": []})
    for e in executions:
        factors = _canonical(e.factors)
        for metric in e.metrics:
            if e.metrics[metric].values:
                sides[e.benchmark, metric, factors][e.side].append(e)
    cases: list[Case] = []
    absent: list[Failure] = []
    for (benchmark, metric, _), by_side in sides.items():
        decided = is_decided(config, benchmark, metric)
        units = {to_base(e.metrics[metric].unit)[0] for both in by_side.values() for e in both}
        lacking = [side for side in SIDES if not by_side[side]]
        if lacking or len(units) > 1:
            status = (
                f"metric {metric} gave no values" if lacking else f"metric {metric} has several units: {sorted(units)}"
            )
            if decided:
                absent.append(
                    Failure(kind="missing", benchmark=benchmark, side=lacking[0] if lacking else None, status=status)
                )
            continue
        rules = metric_rules(config, benchmark, metric)
        directions = {e.metrics[metric].better for both in by_side.values() for e in both}
        warnings = [] if len(directions) == 1 or rules.better else ["the files disagree which direction is better"]
        cases.append(
            Case(
                benchmark=benchmark,
                metric=metric,
                factors=by_side["base"][0].factors,
                unit=units.pop(),
                better=rules.better or by_side["head"][0].metrics[metric].better,
                exact=rules.exact,
                decided=decided,
                base=_sample(by_side["base"], metric),
                head=_sample(by_side["head"], metric),
                warnings=warnings,
            )
        )
    return _Paired(cases, absent)


def _sample(executions: list[Execution], metric: str) -> Sample:
    ordered = sorted(executions, key=lambda e: (e.session, e.build, e.execution))
    values: list[float] = []
    iterations: list[int] = []
    per_build: dict[tuple[int, int], int] = defaultdict(int)
    per_session: dict[int, int] = defaultdict(int)
    for e in ordered:
        measured = e.metrics[metric]
        _, scale = to_base(measured.unit)
        values.extend(measured.values if scale == 1 else [value * scale for value in measured.values])
        iterations.append(len(measured.values))
        if (e.session, e.build) not in per_build:
            per_session[e.session] += 1
        per_build[e.session, e.build] += 1
    counts = (np.array(iterations), np.array(list(per_build.values())), np.array(list(per_session.values())))
    return Sample(np.array(values, dtype=np.float64), counts, tuple(per_build))


def _rounds(executions: Sequence[Execution], run: Run | None) -> Round:
    done: dict[Side, set[tuple[int, int]]] = {
        side: {(e.session, e.build) for e in executions if e.side == side} for side in SIDES
    }
    builds = run.config.get("plan", {}).get("builds") if run and run.config else None
    planned = builds * (run.sessions or 1) if run and isinstance(builds, int) else None
    return Round(done=len(done["base"] & done["head"]), planned=planned)


def _round_warnings(rounds: Round, failures: Sequence[Failure]) -> list[str]:
    if rounds.planned is None or rounds.done >= rounds.planned or failures:
        return []
    return [f"{rounds.done} of {rounds.planned} planned rounds were measured"]


def _build_warnings(builds: Sequence[Build], run: Run | None) -> list[str]:
    warnings = []
    hashes: dict[Side, set[tuple[tuple[str, str], ...]]] = {
        side: {tuple(sorted(b.artifacts.items())) for b in builds if b.side == side} for side in SIDES
    }
    for side in SIDES:
        count = sum(b.side == side for b in builds)
        if count > 1 and len(hashes[side]) == 1 and () not in hashes[side]:
            warnings.append(f"build variance not sampled: all {count} builds of {side} are byte-identical")
    if hashes["base"] and hashes["base"] == hashes["head"] and len(hashes["base"]) == 1 and () not in hashes["base"]:
        warnings.append("base and head are byte-identical: what differs between them is noise")
    if builds and run and run.config and not run.config.get("build", {}).get("command"):
        warnings.append("no build command: the builds differ in path and environment only")
    return warnings
