"""Variance components, from measured runs or from what is remembered of this host."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from gate.cli.groups import RulesOptions
from gate.commands.simulate.components import Components, components_of, of_variances
from gate.config.types import Config
from gate.evidence.gather import gather
from gate.evidence.inputs import read_inputs
from gate.evidence.runs import config_of, run_of
from gate.model import SIDES, FindingMemory, UserError
from gate.model.case import MEAN
from gate.stats.components import estimate, squares_of
from gate.writing.plain import visible

if TYPE_CHECKING:
    from gate.model import Memory


def of_runs(runs: Sequence[str], err: TextIO) -> tuple[Components, ...]:
    """Take the components of every case that is decided in measurement files, by the rules they were measured under.

    Args:
        err: where cases that are left out are named.

    Raises:
        UserError: a file that cannot be read, or nothing to take.
    """
    inputs = read_inputs(runs)
    measured = config_of(run_of(inputs.records))
    found = []
    for case in gather(inputs.records, measured or Config(), measured=measured).cases:
        if not case.decided:
            continue
        name = _name(case.benchmark, case.metric, case.factors)
        components = components_of(name, case.base, case.head)
        if components is None or not components.of_build_mean:
            why = "it shows no spread" if components else "it needs two builds a side and a mean that is not 0"
            err.write(f"perfgate: {name} is left out: {why}\n")
        else:
            found.append(components)
    if not found:
        raise UserError(f"{' '.join(runs)}: no case to simulate: a variance needs two builds of each side")
    return tuple(found)


def of_history(history: Path | None, rules: RulesOptions) -> tuple[Components, ...]:
    """Take the components of the means that are remembered of this host and the project around the working directory.

    Raises:
        UserError: no project, or nothing remembered.
    """
    memory = _recalled(history, rules)
    found = [c for c in map(of_memory, memory.findings if memory else ()) if c is not None and c.of_build_mean]
    if not found:
        raise UserError("nothing is known about this project on this host: name a RUN, or run `perfgate calibrate`")
    return tuple(found)


def of_memory(remembered: FindingMemory) -> Components | None:
    """Take the components of what is remembered of one finding; None of a quantile, and where builds are not known."""
    squares = squares_of(remembered.sessions)
    if remembered.statistic != MEAN or not squares:
        return None
    t2 = estimate(squares).components
    newest = remembered.sessions[0]
    return of_variances(
        _name(remembered.benchmark, remembered.metric, remembered.factors),
        build=t2.build,
        execution=t2.execution,
        iteration=t2.iteration,
        executions=newest.executions,
        iterations=newest.iterations,
    )


def _name(benchmark: str, metric: str, factors: Mapping[str, Any]) -> str:
    return visible(" ".join([benchmark, metric, *(f"{key}={value}" for key, value in sorted(factors.items()))]))


def _recalled(history: Path | None, rules: RulesOptions) -> Memory | None:
    # git and the instruments are asked only here: simulating needs neither, nor a project
    from gate.run.memory import recall_memory
    from gate.run.project import look_at_project
    from harness.host.facts import facts
    from harness.instruments.declaration import choose

    # nothing is compared, so that HEAD will do for both sides
    project = look_at_project("HEAD", None, rules)
    wanted = {b.instrument for side in SIDES for b in project.settings.sides[side].benchmark}
    host = {**facts(), **choose(wanted, os.environ).versions}
    return recall_memory(history, project, host).memory
