"""Benchmarks whose command is the shim of a version manager."""

from __future__ import annotations

import os

from gate.model.warnings.setup import StartedByShim
from gate.run.job import Job
from harness.host.shims import Shim, Shims
from harness.instruments.declaration import declared
from harness.process.execute import clean_environment


def shim_warnings(job: Job) -> list[StartedByShim]:
    """Name the shims among the commands whose start is measured; a suite's values do not hold its own start."""
    head = job.project.settings.sides["head"]
    environment = clean_environment(os.environ, head.env.pass_, head.env.set)
    directory = job.project.repository.project
    shims = Shims(environment, directory)
    commands: dict[str, list[str]] = {}
    found: dict[str, Shim] = {}
    for benchmark in job.project.settings.rules.benchmark:
        if not declared(benchmark.instrument).any_command:
            continue
        shim = shims.find(benchmark.command)
        if shim is not None:
            found.setdefault(shim.path, shim)
            commands.setdefault(shim.path, []).append(benchmark.name)
    return [
        StartedByShim(tuple(commands[path]), shim.manager, path, shim.program, shim.seconds)
        for path, shim in found.items()
    ]
