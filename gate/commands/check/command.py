"""The options of perfgate check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import Command
from gate.cli.groups import MeasureOptions, OutputOptions, RulesOptions
from gate.cli.options import group, switch
from gate.codes import Exit
from gate.commands.check.options import GivenOptions


@dataclass(frozen=True, eq=False, repr=False)
class CheckedOptions(MeasureOptions):
    """What a check measures."""

    creep: bool = switch(
        "compare the default branch with the commit that [creep] pins, together with the nights before"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is measured, by whose rules it is judged, and where the report goes."""

    given: GivenOptions = group(GivenOptions, "without a file")
    measuring: CheckedOptions = group(CheckedOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Measure, decide and report."""
    from gate.run.refusal import require_measuring

    require_measuring()
    from gate.commands.check.check import run
    from gate.commands.check.given import with_given

    rules = with_given(options.given, options.measuring, options.rules, err)
    return run(options.measuring, rules, options.outputs, out, err)


COMMAND = Command(
    help="measure base and head of this checkout, and give a verdict",
    example="perfgate check --base main --set gate.threshold=5%\n"
    "perfgate check --build make -- ./sum 1000\n"
    "perfgate check --base-command './old 1000' --head-command './new 1000'",
    options=Options,
    run=run,
    codes=list(Exit),
    place=2,
)
