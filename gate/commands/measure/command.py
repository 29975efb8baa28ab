"""The options of perfgate measure."""

from __future__ import annotations

from dataclasses import dataclass

from gate.cli.command import MEASURED, MEASURING, Command, late
from gate.cli.groups import PartOptions, RulesOptions
from gate.cli.options import group, switch


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is measured, and by whose plan."""

    measuring: PartOptions = group(PartOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    quiet: bool = switch("print no progress")


COMMAND = Command(
    help="measure base and head of this checkout, without deciding",
    example="perfgate measure --base main --out results && perfgate decide results",
    options=Options,
    run=late("gate.commands.measure.measure:run", MEASURING),
    codes=MEASURED,
    done="done: everything was measured",
)
