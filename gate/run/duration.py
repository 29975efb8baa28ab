"""How long a run takes, by what the last one in its folder took."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean

from gate.config.rules import ROOM, budget_of, executions_of, is_counted
from gate.config.types import Config
from gate.evidence.lines import Located
from gate.evidence.records import MEASUREMENTS, read
from gate.evidence.runs import config_of, run_of
from gate.evidence.time_spent import cost_of, first_build, later_build, mean_of, spent, unfinished
from gate.model import SIDES, Build, Execution, Failure, HostState, Record, Run, Same, Side, Turn, UserError
from gate.model.case import canonical
from gate.model.warnings.setup import BudgetHoldsFew
from gate.run.refusal import build_cache
from gate.run.run_folder import PAST
from harness.loop.schedule import Round


def expected_time(
    rounds: Sequence[Round], past: Sequence[Sequence[Located]], config: Config, run: Run | None = None
) -> float | None:
    """Return the seconds that rounds take with their set-up, by the last run of such a plan in a folder; None: none.

    rounds: from the first one on. past: the runs of the folder, of past_of. config: the rules in force. run: its run
    line, which names the commits: one that the folder has a run of need not be compiled again where builds are kept.
    """
    runs = [[each.record for each in records] for records in past]
    kept, before = _kept(run, config, runs), _line(runs[0]) if runs else None
    if run and before and all(_commit(run, side) == _commit(before, side) for side in SIDES):
        # of the same commits: what was proved identical is not measured
        proved = {record.benchmark for record in runs[0] if isinstance(record, Same)}
        kinds = [tuple(step for step in each.executions if step.benchmark not in proved) for each in rounds]
        rounds = [dataclasses.replace(each, executions=own) for each, own in zip(rounds, kinds, strict=True)]
        if not any(kinds):
            # proved again, it takes what the proof took
            return max(0.0, (spent(cost_of(runs[0])) or 0.0) - _saved(runs[0], kept))
    # a run of kept builds says nothing of compiling: the one before it does
    compiled = (_compiling(records) for records in runs)
    first = next((each for each in compiled if each is not None), 0.0 if len(kept) == len(SIDES) else None)
    alike = (records for records in runs if first is not None and _is_alike(records, config))
    found = (_seconds(rounds, config, records, first or 0.0, kept) for records in alike)
    return next((each for each in found if each is not None), None)


def _line(records: Iterable[Record]) -> Run | None:
    return next((record for record in records if isinstance(record, Run)), None)


def _is_alike(records: Sequence[Record], config: Config) -> bool:
    """Return whether a run repeated its benchmarks as a plan does; one without a run line is taken to have."""
    before = config_of(_line(records))
    plans = [each.plan for each in (before, config) if each is not None]
    return len({(plan.executions, plan.iterations, plan.starts) for plan in plans}) == 1


def _compiling(records: Sequence[Record]) -> float | None:
    """Return what the set-up and the first build of a side take that is not kept; None: there was none."""
    first = [b for b in records if isinstance(b, Build) and b.build == 0 and not b.cached]
    return (mean_of(map(first_build, first)) or 0.0) + (mean_of(b.setup for b in first) or 0.0) if first else None


def _seconds(
    rounds: Sequence[Round], config: Config, records: Sequence[Record], first: float, kept: Collection[Side]
) -> float | None:
    """Return how long rounds take by what each benchmark took in a run; None where it did not run one of them.

    first: seconds of set-up and first build of a side. kept: the sides whose first build is.
    """
    cost, builds = cost_of(records), [build for build in records if isinstance(build, Build)]
    taken, places = defaultdict[str, list[float]](list), defaultdict[str, set[tuple[object, ...]]](set)
    for record in records:
        if isinstance(record, Execution) and record.seconds is not None:
            # the lines of a suite's execution share its time
            name = record.suite or record.benchmark
            taken[name].append(record.seconds * (record.lines or 1))
            places[name].add((record.side, record.build, canonical(record.factors), record.execution))
    # perfgate's own work
    own = (cost.between or 0.0) / max(1, sum(map(len, places.values())))
    turned = {record.benchmark for record in records if isinstance(record, Turn)}
    total = cost.before
    for name, count in Counter(step.benchmark for each in rounds for step in each.executions).items():
        if not taken[name]:
            return None
        often = 1.0
        if name in turned or is_counted(config, name):
            # one that is planned stands for as many as the first ones asked for
            often = len(places[name]) / len({place[:2] for place in places[name]}) / executions_of(config, name)
        total += count * often * (fmean(taken[name]) + own)
    later = later_build(builds) or 0.0
    for number, each in enumerate(rounds):
        # a build that depends on settings is not kept
        again = [number or (build.side in kept and not build.factors) for build in each.builds]
        total += sum(later if linked else first for linked in again)
    return total


def _kept(run: Run | None, config: Config, past: Iterable[Sequence[Record]]) -> frozenset[Side]:
    """Return the sides whose first build is probably kept: a run in the folder has built their commit."""
    if (
        run is None
        or config.build.cache == "off"
        or config.build.command is None
        or build_cache(sandboxed=run.sandbox is not None and run.sandbox.on) is None
    ):
        return frozenset()
    built: set[tuple[str, str | None]] = set()
    for records in past:
        made = {record.side for record in records if isinstance(record, Build)}
        lines = (record for record in records if isinstance(record, Run))
        built |= {commit for line in lines for side in made if (commit := _commit(line, side)) is not None}
    return frozenset(side for side in SIDES if _commit(run, side) in built)


def _commit(run: Run, side: Side) -> tuple[str, str | None] | None:
    commit = run.base if side == "base" else run.head
    return None if commit is None or commit.sha is None else (commit.sha, commit.tree)


def budget_warnings(
    rounds: Sequence[Round], folder: Path, config: Config, run: Run | None = None
) -> list[BudgetHoldsFew]:
    """Warn where the budget does not hold the rounds that a regression needs, as far as that is known before measuring.

    rounds: of the run. folder: of the last run. config: the rules in force. run: its run line, as in expected_time.
    """
    budget = float(config.plan.budget)
    # a study goes on with another one
    needed = 1 if config.study is not None else math.ceil(config.gate.min_builds / ((run and run.sessions) or 1))
    needed = min(len(rounds), needed)
    past = past_of(folder)
    with suppress(UserError):
        before = config_of(run_of(past[0])) if past else None
        # the budget that ended the last run before one round was complete
        ended = unfinished(past[0], float(before.plan.budget)) if before else None
        kept = _kept(run, config, ([each.record for each in records] for records in past))
        if ended and ended.budget - _saved([each.record for each in past[0]], kept) >= budget:
            return [BudgetHoldsFew(0, needed, ended.budget, budget, None)]
    seconds = expected_time(rounds[:needed], past, config, run)
    # as `perfgate try` and the first line of a check count them
    room = ROOM * budget
    if seconds is None or seconds <= room:
        return []
    one, two = (expected_time(rounds[:count], past, config, run) for count in (1, 2))
    fits = 0
    if one is not None and two is not None and one <= room:
        fits = 1 + math.floor((room - one) / (two - one))
    return [BudgetHoldsFew(fits, needed, seconds, budget, float(budget_of(seconds)))]


def _saved(last: Sequence[Record], kept: Collection[Side]) -> float:
    """Return the seconds of the last run that first builds took, of those sides whose builds are kept since."""
    builds = [b for b in last if isinstance(b, Build) and b.side in kept and not b.cached]
    return sum(((first_build(each) or 0.0) - (each.next_build_seconds or 0.0)) + (each.setup or 0.0) for each in builds)


def past_of(folder: Path) -> list[list[Located]]:
    """Read the runs of a folder that did more than wait for the machine, the last one first."""
    found = []
    # ids begin with the time of the run
    for place in (folder, *sorted((folder / PAST).glob("*"), reverse=True)):
        records: list[Located] = []
        with suppress(OSError, UserError):
            file = place / MEASUREMENTS
            records = read(str(file), file.read_bytes()).records
        held = any(isinstance(each.record, Failure) and each.record.kind == "lock" for each in records)
        # the host is described once the machine is held
        if not held or any(isinstance(each.record, HostState) for each in records):
            found.append(records)
    return found
