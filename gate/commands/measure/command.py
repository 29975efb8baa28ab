"""The options of perfgate measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import MEASURED, Command
from gate.cli.groups import PartOptions, RulesOptions
from gate.cli.options import group, switch


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is measured, and by whose plan."""

    measuring: PartOptions = group(PartOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    quiet: bool = switch("print no progress")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Measure."""
    from gate.run.refusal import require_measuring

    require_measuring()
    from gate.commands.measure.measure import run

    return run(options.measuring, options.rules, out, err, quiet=options.quiet)


COMMAND = Command(
    help="measure base and head of this checkout, without deciding",
    example="perfgate measure --base main --out results && perfgate decide results",
    options=Options,
    run=run,
    codes=MEASURED,
    done="done: everything was measured",
)
