"""perfgate plan --matrix: the jobs of a gate on several runners, for the matrix of a workflow; loads nothing heavy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TextIO

from gate.cli.groups import RulesOptions
from gate.cli.values import MOST_JOBS
from gate.config.shards import too_many
from gate.model import UserError
from gate.units import plural


@dataclass(frozen=True, slots=True)
class Jobs:
    """How the jobs are laid out."""

    shards: int | None
    sessions: int | None
    """shards and sessions: None as configured."""
    base: str | None
    head: str | None
    """base and head: None for the usual ones."""


def run(options: Jobs, rules: RulesOptions, out: TextIO) -> int:
    """Print one line of JSON: {"include": [{"shard", "session", "sessions", "name"}, ...]}, session by session.

    Raises:
        UserError: fewer benchmarks than shards, more jobs than a workflow may have, or a config that is wrong.
    """
    from gate.run.project import look_at_project

    project = look_at_project(options.base, options.head, rules)
    plan = project.settings.rules.plan
    shards = options.shards if options.shards is not None else plan.shards
    sessions = options.sessions if options.sessions is not None else plan.sessions
    benchmarks = len(project.settings.rules.benchmark)
    if not benchmarks:
        raise UserError("neither side has a [[benchmark]]: there is nothing to measure")
    if shards > benchmarks:
        name = f"--shards {shards}" if options.shards is not None else f"plan.shards = {shards}"
        raise UserError(f"{name}: {too_many(shards, benchmarks)}")
    if shards * sessions > MOST_JOBS:
        jobs = f"{plural(shards, 'shard')} x {plural(sessions, 'session')} are {shards * sessions} jobs"
        raise UserError(f"{jobs}, and a matrix has at most {MOST_JOBS}: ask for fewer with --shards or --sessions")
    include = [
        {
            "shard": f"{shard}/{shards}",
            "session": session,
            "sessions": sessions,
            "name": f"shard {shard} of {shards}, session {session}",
        }
        for session in range(sessions)
        for shard in range(1, shards + 1)
    ]
    out.write(json.dumps({"include": include}, separators=(",", ":")) + "\n")
    return 0
