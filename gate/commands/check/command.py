"""The options of perfgate check."""

from __future__ import annotations

from dataclasses import dataclass

from gate.cli.command import MEASURING, Command, late
from gate.cli.groups import MeasureOptions, OutputOptions, RulesOptions
from gate.cli.options import argument, group, option, switch
from gate.codes import Exit


@dataclass(frozen=True, eq=False, repr=False)
class GivenOptions:
    """What is measured without a file."""

    command: tuple[str, ...] = argument(
        "measure this command at base and head, without a file", metavar="-- COMMAND", nargs="*"
    )
    build: str | None = option("build each side with it (default: as `perfgate init` would)", metavar="COMMAND")
    base_command: str | None = option("compare this program with --head-command, as both are", metavar="COMMAND")
    head_command: str | None = option("the other program", metavar="COMMAND")
    save: bool = switch("also write the perfgate.toml that does the same")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is measured, by whose rules it is judged, and where the report goes."""

    given: GivenOptions = group(GivenOptions, "without a file")
    measuring: MeasureOptions = group(MeasureOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


COMMAND = Command(
    help="measure base and head of this checkout, and give a verdict",
    example="perfgate check --base main --set gate.threshold=5%\n"
    "perfgate check --build make -- ./sum 1000\n"
    "perfgate check --base-command './old 1000' --head-command './new 1000'",
    options=Options,
    run=late("gate.commands.check.check:run", MEASURING),
    codes=list(Exit),
    place=2,
)
