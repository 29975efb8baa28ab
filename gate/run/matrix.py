"""perfgate plan --matrix: the jobs of a gate on several runners, for the matrix of a workflow; loads nothing heavy."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gate.cli.options import RulesOptions
from gate.config.shards import MOST_JOBS, MOST_SESSIONS, too_many
from gate.model import UserError

if TYPE_CHECKING:
    from gate.run.project import Project

_OTHERS = {"runs": "RUN", "budget": "--budget", "target": "--target", "detect": "--detect", "json": "--json"}
"""What `perfgate plan` takes for its counts, and a matrix has no use for."""


@dataclass(frozen=True, slots=True)
class MatrixOptions:
    """How the jobs are laid out; shards, sessions: None as configured. base, head: None for the usual ones."""

    shards: int | None
    sessions: int | None
    base: str | None
    head: str | None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what makes `perfgate plan` print a matrix."""
    group = parser.add_argument_group("several runners")
    text = "print the jobs of a matrix as one line of JSON instead; nothing needs to be measured"
    group.add_argument("--matrix", action="store_true", help=text)
    group.add_argument(
        "--shards", type=_upto(MOST_JOBS), metavar="N", help="parts of the benchmarks; default: plan.shards"
    )
    text = "how often everything is measured, each on a runner; default: plan.sessions"
    group.add_argument("--sessions", type=_upto(MOST_SESSIONS), metavar="N", help=text)
    group.add_argument(
        "--base", metavar="REF", help="whose benchmarks count too; default: as `perfgate measure` has it"
    )
    group.add_argument("--head", metavar="REF", help="default: the working tree as it is")


def _upto(most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
        if not 1 <= number <= most:
            raise argparse.ArgumentTypeError(f"{text!r:.80} is no whole number from 1 to {most}")
        return number

    return read


def options_of(parsed: argparse.Namespace) -> MatrixOptions | None:
    """Give what the arguments say; None where no matrix is wanted.

    Raises:
        UserError: options that do not go together.
    """
    own = ("shards", "sessions", "base", "head")
    if not parsed.matrix:
        alone = [name for name in own if getattr(parsed, name) is not None]
        if alone:
            raise UserError(f"--{alone[0]}: goes with --matrix only")
        return None
    others = [word for name, word in _OTHERS.items() if getattr(parsed, name)]
    if others:
        raise UserError(f"--matrix: does not go with {others[0]}")
    return MatrixOptions(*(getattr(parsed, name) for name in own))


def run(options: MatrixOptions, rules: RulesOptions, out: TextIO) -> int:
    """Print one line of JSON: {"include": [{"shard", "session", "sessions", "name"}, ...]}, session by session.

    Raises:
        UserError: fewer benchmarks than shards, more jobs than a workflow may have, or a config that is wrong.
    """
    project = _project(options, rules)
    plan = project.settings.rules.plan
    shards = options.shards if options.shards is not None else plan.shards
    sessions = options.sessions if options.sessions is not None else plan.sessions
    benchmarks = len(project.settings.rules.benchmark)
    if not benchmarks:
        raise UserError("neither side has a [[benchmark]]: there is nothing to lay on runners")
    if shards > benchmarks:
        name = f"--shards {shards}" if options.shards is not None else f"plan.shards = {shards}"
        raise UserError(f"{name}: {too_many(shards, benchmarks)}")
    if shards * sessions > MOST_JOBS:
        jobs = f"{shards} shards x {sessions} sessions are {shards * sessions} jobs"
        raise UserError(f"{jobs}, and a matrix has at most {MOST_JOBS}: fewer with --shards or --sessions")
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


def _project(options: MatrixOptions, rules: RulesOptions) -> Project:
    from gate.run.project import open_project
    from harness.errors import SourceError

    try:
        return open_project(options.base, options.head, rules)
    except SourceError:
        if options.base is not None:
            raise
        # as `perfgate config`: a plan can be made where there is nothing to compare yet
        return open_project("HEAD", options.head, rules)
