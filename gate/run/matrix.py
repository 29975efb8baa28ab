"""perfgate plan --matrix: the jobs of a gate on several runners, for the matrix of a workflow; loads nothing heavy."""

from __future__ import annotations

import json

from gate.cli.groups import RulesOptions
from gate.cli.option_values import MOST_JOBS
from gate.config.shards import too_many
from gate.model import UserError
from gate.units import plural


def jobs(
    asked_shards: int | None, asked_sessions: int | None, base: str | None, head: str | None, rules: RulesOptions
) -> str:
    """Return one line of JSON: {"include": [{"shard", "session", "sessions", "name"}, ...]}, session by session.

    Args:
        asked_shards, asked_sessions: None as configured.
        base, head: None for the usual ones.

    Raises:
        UserError: fewer benchmarks than shards, more jobs than a workflow may have, or a config that is wrong.
    """
    from gate.run.project import look_at_project

    project = look_at_project(base, head, rules)
    plan = project.settings.rules.plan
    shards = plan.shards if asked_shards is None else asked_shards
    sessions = plan.sessions if asked_sessions is None else asked_sessions
    benchmarks = len(project.settings.rules.benchmark)
    if not benchmarks:
        raise UserError("neither side has a [[benchmark]]: there is nothing to measure")
    if shards > benchmarks:
        name = f"--shards {shards}" if asked_shards is not None else f"plan.shards = {shards}"
        raise UserError(f"{name}: {too_many(shards, benchmarks)}")
    if shards * sessions > MOST_JOBS:
        many = f"{plural(shards, 'shard')} x {plural(sessions, 'session')} are {shards * sessions} jobs"
        raise UserError(f"{many}, and a matrix has at most {MOST_JOBS}: ask for fewer with --shards or --sessions")
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
    return json.dumps({"include": include}, separators=(",", ":"))
