"""perfgate plan: counts for the next runs, from what was measured."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.cli.groups import RulesOptions
from gate.model import UserError
from gate.planning.basis import Gathered, from_memory, from_runs
from gate.planning.plan import Wanted, planned
from gate.planning.text import as_json, render
from gate.report.outputs import refuse_inputs
from gate.words.sentences import say

if TYPE_CHECKING:
    from gate.commands.plan.command import PlanOptions


def run(options: PlanOptions, rules: RulesOptions, out: TextIO, err: TextIO) -> int:
    """Print a plan and return 0, also when no plan within the budget reaches what is wanted.

    Raises:
        UserError: nothing to plan from, an output that is an input, or not even two rounds fit the budget.
    """
    if options.json is not None:
        history = [options.history] if options.history is not None and not options.runs else []
        refuse_inputs([*map(Path, options.runs), *history], [Path(options.json)])
    gathered = from_runs(options.runs, rules) if options.runs else _remembered(options, rules)
    found = planned(gathered, Wanted(options.budget, options.target, options.detect, options.interaction))
    if options.json is not None and options.json != "-":
        from gate.report.outputs import write

        write(Path(options.json), as_json(found))
    if options.json == "-":
        out.write(as_json(found))
        if not found.plan.reached:
            err.write(f"perfgate: no plan within the budget reaches {found.aim}\n")
        return 0
    width = shutil.get_terminal_size((100, 24)).columns
    out.write(render(found, max(min(width, 120), 40)))
    return 0


def _remembered(options: PlanOptions, rules: RulesOptions) -> Gathered:
    from gate.model import SIDES
    from gate.run.memory import costs_here, history_path, recall_memory
    from gate.run.project import look_at_project
    from harness.host.facts import facts
    from harness.instruments.declaration import choose

    # nothing is compared, so that HEAD will do for both sides
    project = look_at_project("HEAD", None, rules)
    settings = project.settings
    instruments = choose({b.instrument for side in SIDES for b in settings.sides[side].benchmark}, os.environ)
    host = {**facts(), **instruments.versions}
    recalled = recall_memory(options.history, project, host)
    memory = recalled.memory
    if memory is None and recalled.warnings:
        raise UserError("; ".join(map(say, recalled.warnings)))
    if memory is None:
        path = history_path(options.history, project)
        advice = "name a RUN, such as .perfgate after a check, or run `perfgate calibrate`"
        raise UserError(f"nothing is remembered about this project in {path}: {advice}")
    costs = costs_here(options.history, project, host)
    both = [name for name in settings.benchmarks["head"] if name in settings.benchmarks["base"]]
    return from_memory(memory, costs, settings.rules, both, "the memory of this host")
