"""[plan] auto = true: a check takes its counts from what is remembered of this host."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gate.config.types import Plan
from gate.evidence.runs import config_of
from gate.memory.entries import Costs, HistoryError
from gate.memory.store import History
from gate.model import Memory, Run
from gate.model.warnings.setup import PlannedAsConfigured, PlannedFromMemory
from gate.planning.plan import auto_plan
from gate.run.memory import history_path, project_name
from gate.run.project import Project


@dataclasses.dataclass(frozen=True, slots=True)
class Planned:
    """A project with the plan that it is measured by."""

    project: Project
    warnings: tuple[PlannedFromMemory | PlannedAsConfigured, ...]
    """Why it is that plan, for the report."""


def with_plan(
    project: Project, memory: Memory | None, past: Run | None, option: Path | None, host: Mapping[str, object]
) -> Planned:
    """Give the project the plan of its run: as configured, planned from memory, or that of the run to go on with.

    Args:
        past: the run that is resumed, which keeps its plan whatever is remembered by now.
        option: --history.
        host: facts of the run line.
    """
    config = project.settings.rules
    if not config.plan.auto:
        return Planned(project, ())
    earlier = config_of(past)
    if earlier is not None:
        return Planned(_replaced(project, earlier.plan), ())
    benchmarks = project.settings.benchmarks
    both = [name for name in benchmarks["head"] if name in benchmarks["base"]]
    found = auto_plan(memory, costs_here(option, project, host), config, both)
    return Planned(project if found.plan is None else _replaced(project, found.plan), (found.why,))


def _replaced(project: Project, plan: Plan) -> Project:
    rules = msgspec.structs.replace(project.settings.rules, plan=plan)
    return dataclasses.replace(project, settings=dataclasses.replace(project.settings, rules=rules))


def costs_here(option: Path | None, project: Project, host: Mapping[str, object]) -> dict[str, Costs]:
    """Return what steps cost on this host, by benchmark, from the newest session; nothing of a history that is broken.

    Args:
        option: --history.
        host: the facts of the machine.
    """
    try:
        history = History.look(history_path(option, project))
        if history is None:
            return {}
        with history as opened:
            entries = opened.of_host(str(host.get("fingerprint")), project_name(project.repository))
    except HistoryError:
        # what is remembered was read a moment ago, and said what is wrong
        return {}
    # the newest session comes first
    return {entry.learned.benchmark: entry.learned.costs for entry in reversed(entries)}
