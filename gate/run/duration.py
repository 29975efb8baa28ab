"""How long a run takes, by what the last one in its folder took or by what is remembered of this host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from gate.config.rules import is_single
from gate.config.types import Config
from gate.evidence.records import Located, read
from gate.evidence.runs import config_of, run_of
from gate.evidence.unfinished import unfinished
from gate.memory.entries import Costs
from gate.model import Build, Execution, Failure, HostState, Record, UserError
from gate.model.case import canonical
from gate.model.study import Setting
from gate.model.warnings.setup import RoundBeyondBudget
from gate.run.folder import MEASUREMENTS, PAST
from harness.loop.schedule import Round


def schedule_seconds(rounds: Sequence[Round], folder: Path) -> float | None:
    """Return how long rounds take with their set-up, by the last run in a folder; None where that does not tell."""
    return _seconds(rounds, [located.record for located in _last(folder)])


def budget_warnings(
    rounds: Sequence[Round], folder: Path, config: Config, costs: Mapping[str, Costs]
) -> list[RoundBeyondBudget]:
    """Warn where one round does not fit the budget, as far as that can be known before measuring.

    Args:
        folder: of the last run.
        costs: what is remembered, by benchmark.
    """
    budget = float(config.plan.budget)
    last = _last(folder)
    seconds = _seconds(rounds[:1], [located.record for located in last])
    if seconds is not None:
        return [RoundBeyondBudget(seconds, budget, "last-run")] if seconds > budget else []
    ended = _ended(last)
    if ended is not None and ended >= budget:
        return [RoundBeyondBudget(ended, budget, "ended")]
    remembered = _remembered(rounds[:1], config, costs)
    return [RoundBeyondBudget(remembered, budget, "memory")] if remembered is not None and remembered > budget else []


def _ended(last: Sequence[Located]) -> float | None:
    """Return the budget that ended the last run before one round was complete."""
    try:
        config = config_of(run_of(last))
    except UserError:
        return None
    found = unfinished(last, float(config.plan.budget)) if config else None
    return found.budget if found else None


def _remembered(rounds: Sequence[Round], config: Config, costs: Mapping[str, Costs]) -> float | None:
    total = 0.0
    for each in rounds:
        for step in each.executions:
            cost = costs.get(step.benchmark)
            if cost is None or cost.iteration is None:
                return None
            iterations = 1 if is_single(config, step.benchmark) else config.plan.iterations
            total += (cost.start or 0.0) + (cost.warmup or 0.0) + iterations * cost.iteration
        total += len(each.builds) * max((cost.build or 0.0 for cost in costs.values()), default=0.0)
    return total


def _last(folder: Path) -> list[Located]:
    """Read the last run in a folder, its past ones among them, that did more than wait for the machine."""
    # ids begin with the time of the run
    for place in (folder, *sorted((folder / PAST).glob("*"), reverse=True)):
        records = _read(place / MEASUREMENTS)
        held = any(isinstance(each.record, Failure) and each.record.kind == "lock" for each in records)
        # the host is described once the machine is held
        if not held or any(isinstance(each.record, HostState) for each in records):
            return records
    return []


def _read(file: Path) -> list[Located]:
    try:
        return read(str(file), file.read_bytes()).records
    except (OSError, UserError):
        return []


def _seconds(rounds: Sequence[Round], records: Iterable[Record]) -> float | None:
    builds, setups, executions = _Times(), _Times(), _Times()
    for record in records:
        if isinstance(record, Build):
            if record.seconds is not None:
                builds.add(record.side, record.factors, record.seconds)
            if record.setup is not None:
                setups.add(record.side, record.factors, record.setup)
        elif isinstance(record, Execution) and record.seconds is not None:
            # the lines of a suite's execution share its time
            own = record.seconds * (record.lines or 1)
            executions.add(record.suite or record.benchmark, record.factors, own)
    taken = [
        *(builds.of(step.side, step.factors) for each in rounds for step in each.builds),
        *(executions.of(step.benchmark, step.factors) for each in rounds for step in each.executions),
    ]
    # each tree is set up once
    prepared = [setups.of(step.side, step.factors) or 0.0 for each in rounds[:1] for step in each.builds]
    known = [seconds for seconds in taken if seconds is not None]
    return sum(known) + sum(prepared) if len(known) == len(taken) else None


class _Times:
    """What steps took, by name and settings; where these were not measured, by name."""

    def __init__(self) -> None:
        self._named: dict[str, list[float]] = {}
        self._treated: dict[tuple[str, str], list[float]] = {}

    def add(self, name: str, factors: Mapping[str, Setting], seconds: float) -> None:
        self._named.setdefault(name, []).append(seconds)
        self._treated.setdefault((name, canonical(factors)), []).append(seconds)

    def of(self, name: str, factors: Mapping[str, Setting]) -> float | None:
        seconds = self._treated.get((name, canonical(factors))) or self._named.get(name)
        return fmean(seconds) if seconds else None
