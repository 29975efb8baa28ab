"""The options of perfgate drill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import Command
from gate.cli.groups import RulesOptions
from gate.cli.options import group
from gate.codes import Exit
from gate.commands.drill.options import DrillOptions


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A drill of the gate by these rules."""

    drill: DrillOptions = group(DrillOptions)
    rules: RulesOptions = group(RulesOptions, "rules")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Try the gate."""
    from gate.run.refusal import require_measuring

    require_measuring()
    from gate.commands.drill.drill import run

    return run(options.drill, options.rules, out, err)


COMMAND = Command(
    help="prove that the gate goes red for a slowdown, and only then",
    example="perfgate drill\nperfgate drill --workflow\nperfgate drill --patch slower.diff --benchmark 'parse-*'",
    options=Options,
    run=run,
    codes=(Exit.PASS, Exit.REGRESSION, Exit.USAGE, Exit.ERROR),
    done="all that was tried held, or no workflow would swallow a verdict",
    failed="something did not hold, or would swallow a verdict",
    error="error: head cannot be measured",
)
