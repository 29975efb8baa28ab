"""How long a run takes, by what the last one in its folder took."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from gate.config.rules import ROOM, budget_of, is_single, repeats_of
from gate.config.types import Config
from gate.evidence.budget import cost_of, spent, unfinished
from gate.evidence.inputs import MEASUREMENTS
from gate.evidence.records import Located, read
from gate.evidence.runs import config_of, run_of
from gate.model import SIDES, Build, Execution, Failure, HostState, Record, Run, Same, Side, UserError
from gate.model.case import canonical
from gate.model.warnings.setup import BudgetHoldsFew
from gate.run.refusal import build_cache
from gate.run.run_folder import PAST
from gate.store.learning import costs_of, first_build
from gate.store.memory import Costs
from harness.loop.schedule import Round


def expected_time(
    rounds: Sequence[Round], past: Sequence[Sequence[Located]], config: Config, run: Run | None = None
) -> float | None:
    """Return the seconds that rounds take with their set-up, by the last run in a folder that tells it.

    rounds: from the first one on. past: the runs of the folder, of past_of. config: the rules in force. run: its run
    line, which names the commits: one that the folder has a run of need not be compiled again where builds are kept.
    """
    runs = [[each.record for each in records] for records in past]
    kept = _kept(run, config, runs)
    measured: dict[str, Costs] = {}
    for records in reversed(runs):
        for name, cost in costs_of(_by_step(records)).items():
            # a run of kept builds says nothing of compiling: the one before it does
            compiled = measured.get(name, cost) if cost.first is None else cost
            measured[name] = replace(cost, first=compiled.first, setup=compiled.setup)
    before = next((record for record in runs[0] if isinstance(record, Run)), None) if runs else None
    if run and before and all(_commit(run, side) == _commit(before, side) for side in SIDES):
        # of the same commits: what was proved identical is not measured
        proved = {record.benchmark for record in runs[0] if isinstance(record, Same)}
        kinds = [tuple(step for step in each.executions if step.benchmark not in proved) for each in rounds]
        rounds = [dataclasses.replace(each, executions=own) for each, own in zip(rounds, kinds, strict=True)]
    if runs and not any(each.executions for each in rounds):
        # proved again, it takes what the proof took
        return max(0.0, (spent(cost_of(runs[0])) or 0.0) - _saved(past[0], kept))
    builds = [record for records in runs for record in records if isinstance(record, Build)]
    if len(kept) < len(SIDES) and all(build.build or build.cached for build in builds):
        # nothing says what compiling takes
        measured = {}
    return _seconds(rounds, config, measured, kept, _starts(runs[0], config) if runs else {})


def _by_step(records: Sequence[Record]) -> list[Record]:
    """Give the executions of suites as one each, whatever lines either side had then."""
    found, lines = list[Record](), set[tuple[object, ...]]()
    for each in records:
        if isinstance(each, Execution) and each.suite is not None:
            place = (each.suite, each.side, each.session, each.build, each.execution, canonical(each.factors))
            if place in lines:
                continue
            lines.add(place)
            seconds = None if each.seconds is None else each.seconds * (each.lines or 1)
            found.append(replace(each, benchmark=each.suite, seconds=seconds))
        else:
            found.append(each)
    return found


def _starts(last: Sequence[Record], config: Config) -> Mapping[str, int]:
    """Count the starts a round of what goes by starts, by what the last run's first ones ask of this plan."""
    from gate.decide.starts import counting  # takes long to load, and few ask

    run = next((record for record in last if isinstance(record, Run)), None)
    count = None if run is None else counting(run, config)
    return {} if count is None else count(last)


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
        if ended and ended.budget - _saved(past[0], kept) >= budget:
            return [BudgetHoldsFew(0, needed, ended.budget, budget, None)]
    seconds = expected_time(rounds[:needed], past, config, run)
    # as `perfgate try` and the first line of a check count them
    room = ROOM * budget
    if seconds is None or seconds <= room:
        return []
    one, two = (expected_time(rounds[:count], past, config, run) for count in (1, 2))
    fits = 0
    if one is not None and two is not None and one <= room:
        fits = 1 + math.floor((room - one) / (two - one)) if needed > 1 else 1
    return [BudgetHoldsFew(fits, needed, seconds, budget, float(budget_of(seconds)))]


def _saved(last: Sequence[Located], kept: Collection[Side]) -> float:
    """Return the seconds of the last run that first builds took, of those sides whose builds are kept since."""
    records = [located.record for located in last]
    builds = [b for b in records if isinstance(b, Build) and b.side in kept and not b.cached]
    return sum(((first_build(each) or 0.0) - (each.following or 0.0)) + (each.setup or 0.0) for each in builds)


def _seconds(
    rounds: Sequence[Round],
    config: Config,
    costs: Mapping[str, Costs],
    kept: Collection[Side],
    starts: Mapping[str, int],
) -> float | None:
    """Return how long rounds take by what each benchmark costs; None where that is not known of one.

    The builds are those of the benchmark that has the longest. kept: the sides whose first build is. starts: as of
    `_starts`.
    """
    used = Counter(step.benchmark for each in rounds for step in each.executions)
    total, known, lines_of = 0.0, list[Costs](), defaultdict[str, list[Costs]](list)
    for line, cost in costs.items():
        # a line of a suite belongs to the longest name that leads it
        lines_of[max((name for name in used if f"{line}/".startswith(f"{name}/")), key=len, default="")].append(cost)
    for name, count in used.items():
        lines = lines_of[name]
        planned = repeats_of(config, name)
        iterations = 1 if is_single(config, name) else planned.iterations
        if not lines or any(cost.execution is None and cost.iteration is None for cost in lines):
            return None
        # where starts are counted, one that is expected stands for several
        often = starts.get(name, planned.executions) / planned.executions
        for cost in lines:
            if cost.execution is None:
                seconds = (cost.start or 0.0) + (cost.warmup or 0.0) + iterations * (cost.iteration or 0.0)
            else:
                more = 0 if cost.values is None else iterations - cost.values
                seconds = cost.execution + more * (cost.iteration or 0.0)
            total += count * often * (seconds + (cost.other or 0.0))
        known += lines
    later = max((cost.build or 0.0 for cost in known), default=0.0)
    first = max((cost.build or 0.0 if cost.first is None else cost.first for cost in known), default=0.0)
    setup = max((cost.setup or 0.0 for cost in known), default=0.0)
    for number, each in enumerate(rounds):
        # a build that depends on settings is not kept
        again = [number or (build.side in kept and not build.factors) for build in each.builds]
        total += sum(later if linked else setup + first for linked in again)
    return total + sum(cost.probe or 0.0 for cost in known)


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
