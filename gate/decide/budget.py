"""A budget that ended before one round was complete: what the report comes to."""

from __future__ import annotations

from gate.config.rules import is_single, most_builds
from gate.config.types import Config
from gate.model import SIDES, Run, Unfinished, outcomes


def budget_ended(spent: Unfinished, run: Run | None, config: Config) -> outcomes.BudgetEnded:
    """Say what a regression would take, if what was not reached takes as long as what was.

    It is the least: the step that the budget ended would have taken longer.
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
    executions = sum(1 if is_single(config, name) else config.plan.executions for name in both)
    rounds = min(config.gate.min_builds, most_builds(config.plan))
    least = len(SIDES) * (preparing + rounds * (building + executions * executing))
    return outcomes.BudgetEnded(spent=spent, least=least, rounds=rounds)


def _each(total: float, count: int, ended: float) -> float:
    return max(total / max(1, count), ended)
