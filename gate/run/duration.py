"""How long a run takes, by what the last one in its folder took, by a trial, or by what is remembered of this host."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Literal

from gate.config.rules import ROOM, budget_of, is_single, repeats_of
from gate.config.types import Config
from gate.evidence.cost import cost_of
from gate.evidence.records import Located, read
from gate.evidence.runs import config_of, run_of
from gate.evidence.unfinished import unfinished
from gate.model import SIDES, Build, Execution, Failure, HostState, Record, Run, Same, Side, UserError
from gate.model.case import canonical
from gate.model.study import Setting
from gate.model.warnings.setup import BudgetHoldsFew
from gate.run.refusal import build_cache
from gate.run.run_folder import MEASUREMENTS, PAST
from gate.run.trial import trial_seconds
from gate.store.learning import costs_of, first_build
from gate.store.memory import Costs
from harness.loop.steps import BuildStep, ExecutionStep, Round


@dataclass(frozen=True, slots=True)
class Expected:
    """How long rounds take, set-up included. source: what tells it."""

    seconds: float
    source: Literal["last-run", "trial", "memory"]


def expected_time(
    rounds: Sequence[Round], folder: Path, config: Config, costs: Mapping[str, Costs], run: Run | None = None
) -> Expected | None:
    """Return how long rounds take with their set-up, by the last run in a folder that tells it, a trial, or memory.

    rounds: from the first one on. folder: of the run. config: the rules in force. costs: what is remembered, by
    benchmark. run: its run line, which names the commits: one that the folder has a run of need not be compiled again
    where builds are kept.
    """
    past = [[located.record for located in records] for records in _past(folder)]
    return _expected(rounds, folder, config, costs, past, run)


def _expected(
    rounds: Sequence[Round], folder: Path, config: Config, costs: Mapping[str, Costs], past: Sequence[Sequence[Record]],
    run: Run | None,
) -> Expected | None:  # fmt: skip
    rounds = _without_identical(rounds, run, past[0] if past else [])
    kept = _kept(run, config, past)
    seconds = _measured(rounds, past, config, kept)
    if seconds is not None:
        return Expected(seconds, "last-run")
    tried = trial_seconds(rounds, config, folder)
    if tried is not None:
        return Expected(tried, "trial")
    remembered = _remembered(rounds, config, costs, kept)
    return None if remembered is None else Expected(remembered, "memory")


def _without_identical(rounds: Sequence[Round], run: Run | None, last: Sequence[Record]) -> Sequence[Round]:
    """Leave out what the last run has proved identical, if it was one of the same commits."""
    before = next((record for record in last if isinstance(record, Run)), None)
    if run is None or before is None or any(_commit(run, side) != _commit(before, side) for side in SIDES):
        return rounds
    proved = {record.benchmark for record in last if isinstance(record, Same)}
    return [
        replace(each, executions=tuple(step for step in each.executions if step.benchmark not in proved))
        for each in rounds
    ]


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
    rounds: Sequence[Round], folder: Path, config: Config, costs: Mapping[str, Costs], run: Run | None = None
) -> list[BudgetHoldsFew]:
    """Warn where the budget does not hold the rounds that a regression needs, as far as that is known before measuring.

    rounds: of the run. folder: of the last run. config: the rules in force. costs: what is remembered, by benchmark.
    run: its run line, as in expected_time.
    """
    budget, needed = float(config.plan.budget), needed_rounds(len(rounds), config, run)
    located = list(_past(folder))
    past = [[each.record for each in records] for records in located]
    ended = _ended(located[0]) if located else None
    if ended is not None and ended - _saved(located[0], _kept(run, config, past)) >= budget:
        return [BudgetHoldsFew(0, needed, ended, budget, ended, "ended")]
    found = _expected(rounds[:needed], folder, config, costs, past, run)
    # as `perfgate try` and the first line of a check count them
    room = ROOM * budget
    if found is None or found.seconds <= room:
        return []
    one, two = (_expected(rounds[:count], folder, config, costs, past, run) for count in (1, 2))
    fits = 0
    if one is not None and two is not None and one.seconds <= room:
        fits = 1 + math.floor((room - one.seconds) / (two.seconds - one.seconds)) if needed > 1 else 1
    return [BudgetHoldsFew(fits, needed, found.seconds, budget, float(budget_of(found.seconds)), found.source)]


def needed_rounds(rounds: int, config: Config, run: Run | None) -> int:
    """Return how many rounds of a job must fit its budget; a study goes on with another one."""
    needed = 1 if config.study is not None else math.ceil(config.gate.min_builds / ((run and run.sessions) or 1))
    return min(rounds, needed)


def _ended(last: Sequence[Located]) -> float | None:
    """Return the budget that ended the last run before one round was complete."""
    try:
        config = config_of(run_of(last))
    except UserError:
        return None
    found = unfinished(last, float(config.plan.budget)) if config else None
    return found.budget if found else None


def _saved(last: Sequence[Located], kept: Collection[Side]) -> float:
    """Return the seconds of the last run that first builds took, of those sides whose builds are kept since."""
    records = [located.record for located in last]
    builds = [b for b in records if isinstance(b, Build) and b.side in kept and not b.cached]
    return sum(((first_build(each) or 0.0) - (each.following or 0.0)) + (each.setup or 0.0) for each in builds)


def _remembered(
    rounds: Sequence[Round], config: Config, costs: Mapping[str, Costs], kept: Collection[Side]
) -> float | None:
    """Return how long rounds take by what is remembered; the builds are those of the benchmark that has the longest."""
    used = Counter(step.benchmark for each in rounds for step in each.executions)
    total = 0.0
    for name, count in used.items():
        lines = _lines(costs, name)
        seconds = [_execution(cost, _iterations(config, name)) for cost in lines]
        if not lines or None in seconds:
            return None
        total += count * (sum(filter(None, seconds)) + sum(cost.other or 0.0 for cost in lines))
    known = [cost for name in used for cost in _lines(costs, name)]
    later = max((cost.build or 0.0 for cost in known), default=0.0)
    first = max((cost.build or 0.0 if cost.first is None else cost.first for cost in known), default=0.0)
    setup = max((cost.setup or 0.0 for cost in known), default=0.0)
    for number, each in enumerate(rounds):
        total += sum(later if number or build.side in kept else setup + first for build in each.builds)
    return total + sum(cost.probe or 0.0 for cost in known)


def _lines(costs: Mapping[str, Costs], benchmark: str) -> list[Costs]:
    """Return the costs of a benchmark, of a suite those of its lines."""
    return [cost for name, cost in costs.items() if name == benchmark or name.startswith(f"{benchmark}/")]


def _iterations(config: Config, benchmark: str) -> int:
    return 1 if is_single(config, benchmark) else repeats_of(config, benchmark).iterations


def _execution(cost: Costs, iterations: int) -> float | None:
    if cost.execution is not None:
        return cost.execution + _more(cost, iterations)
    if cost.iteration is None:
        return None
    return (cost.start or 0.0) + (cost.warmup or 0.0) + iterations * cost.iteration


def _more(cost: Costs, iterations: int) -> float:
    """Return how much longer an execution takes than it did, with another number of iterations."""
    return 0.0 if cost.values is None or cost.iteration is None else (iterations - cost.values) * cost.iteration


def _past(folder: Path) -> Iterator[list[Located]]:
    """Read the runs of a folder that did more than wait for the machine, the last one first."""
    # ids begin with the time of the run
    for place in (folder, *sorted((folder / PAST).glob("*"), reverse=True)):
        records = _read(place / MEASUREMENTS)
        held = any(isinstance(each.record, Failure) and each.record.kind == "lock" for each in records)
        # the host is described once the machine is held
        if not held or any(isinstance(each.record, HostState) for each in records):
            yield records


def _read(file: Path) -> list[Located]:
    try:
        return read(str(file), file.read_bytes()).records
    except (OSError, UserError):
        return []


def _measured(
    rounds: Sequence[Round], past: Sequence[Sequence[Record]], config: Config, kept: Collection[Side]
) -> float | None:
    """Return how long rounds take by the steps of earlier runs; None where they have not all of them.

    rounds: from the first one on. past: the runs, the last one first. config: the rules in force. kept: the sides whose
    first build is.
    """
    builds, runs = _Builds(past, kept), [_Executions(records, config) for records in past]
    taken: list[float | None] = []
    for number, each in enumerate(rounds):
        taken += [builds.of(made, first=not number) for made in each.builds]
        for step in each.executions:
            # what was identical in the last run was measured in one before it
            times = (run.of(step) for run in runs)
            taken.append(next((seconds for seconds in times if seconds is not None), None))
    known = [seconds for seconds in taken if seconds is not None]
    before = cost_of(past[0]).before if past else 0.0
    return sum(known) + before if len(known) == len(taken) else None


class _Executions:
    """What the executions of a run took, perfgate's own work with them."""

    def __init__(self, records: Sequence[Record], config: Config) -> None:
        self._times, self._config = _Times(), config
        made = [record for record in records if isinstance(record, Execution)]
        # they take long to load, and few ask
        from gate.decide.starts import counting

        run = next((record for record in records if isinstance(record, Run)), None)
        # a run's first starts ask it of this plan
        count = None if run is None else counting(run, config)
        self._starts: Mapping[str, int] = {} if count is None else count(records)
        for record in made:
            if record.seconds is not None:
                # the lines of a suite's execution share its time
                own = record.seconds * (record.lines or 1)
                self._times.add(record.suite or record.benchmark, record.factors, own)
        self._costs = costs_of(records)
        self._found: dict[tuple[str, str], float | None] = {}

    def of(self, step: ExecutionStep) -> float | None:
        """Return what an execution takes; None: the run has none of its benchmark."""
        name, key = step.benchmark, (step.benchmark, canonical(step.factors))
        if key not in self._found:
            seconds, iterations = self._times.of(name, step.factors), _iterations(self._config, name)
            more = sum(_more(cost, iterations) + (cost.other or 0.0) for cost in _lines(self._costs, name))
            # where starts are counted, one that is expected stands for several
            expected = repeats_of(self._config, name).executions
            often = self._starts.get(name, expected) / expected
            self._found[key] = None if seconds is None else (seconds + more) * often
        return self._found[key]


class _Builds:
    """What builds took, the first of a side apart from the later ones."""

    def __init__(self, past: Sequence[Sequence[Record]], kept: Collection[Side]) -> None:
        self._kept = kept
        self._first, self._later = _Times(), _Times()
        newest = [record for record in (past[0] if past else []) if isinstance(record, Build)]
        several = any(build.build for build in newest)
        for build in newest:
            if build.build or build.cached or not several:
                self._later.add(build.side, build.factors, build.seconds if build.build else build.following)
        for records in past:
            compiled = [r for r in records if isinstance(r, Build) and r.build == 0 and not r.cached]
            for build in compiled:
                self._first.add(build.side, build.factors, (first_build(build) or 0.0) + (build.setup or 0.0))
            if compiled:
                break

    def of(self, step: BuildStep, *, first: bool) -> float | None:
        """Return what a build takes, with the set-up of its tree; what one side never did, the other tells."""
        # a build that depends on settings is not kept
        kept = step.side in self._kept and not step.factors
        times = self._first if first and not kept else self._later
        own = times.of(step.side, step.factors)
        # a checkout that is the build takes no time
        return times.of(("head" if step.side == "base" else "base"), step.factors) if own is None else own


class _Times:
    """What steps took, by name and settings; where these were not measured, by name."""

    def __init__(self) -> None:
        self._named: dict[str, list[float]] = {}
        self._treated: dict[tuple[str, str], list[float]] = {}

    def add(self, name: str, factors: Mapping[str, Setting], seconds: float | None) -> None:
        if seconds is None:
            return
        self._named.setdefault(name, []).append(seconds)
        self._treated.setdefault((name, canonical(factors)), []).append(seconds)

    def of(self, name: str, factors: Mapping[str, Setting]) -> float | None:
        seconds = self._treated.get((name, canonical(factors))) or self._named.get(name)
        return fmean(seconds) if seconds else None
