"""The options of perfgate bisect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import Command
from gate.cli.groups import RulesOptions
from gate.cli.options import group
from gate.codes import Exit
from gate.commands.bisect.options import MeasuringOptions, OutputOptions


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A search."""

    measuring: MeasuringOptions = group(MeasuringOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Search."""
    from gate.run.refusal import require_measuring

    require_measuring()
    from gate.commands.bisect.bisect import run

    return run(options.measuring, options.rules, options.outputs, out, err)


COMMAND = Command(
    help="find the commit that made a benchmark slower",
    example="perfgate bisect --good v1.2 --bad main --benchmark parse-large",
    options=Options,
    run=run,
    codes=(Exit.PASS, Exit.USAGE, Exit.INCONCLUSIVE, Exit.ERROR, Exit.UNFIT),
    done="the commit was found: its probability is at least 95%",
    error="error: good or bad cannot be measured",
    inconclusive="several commits remain, or bad is not shown to be slower than good",
    place=6,
)
