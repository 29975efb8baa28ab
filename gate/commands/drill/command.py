"""The options of perfgate drill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.cli import option_values
from gate.cli.command import MEASURING, Command, late
from gate.cli.groups import HEAD, WAIT, RulesOptions
from gate.cli.options import group, named, option, switch
from gate.codes import Exit


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is tried on the gate, by which rules, and where the result goes."""

    head: str | None = option(HEAD, metavar="REF")
    patch: Path | None = option(
        "a slowdown of your own, as `git diff` writes it (default: 25%% are added to what each benchmark takes)",
        metavar="FILE", parse=Path,
    )  # fmt: skip
    workflow: str | None = option(
        "instead, read the workflows (or one) for what would swallow a verdict; measures nothing",
        metavar="FILE", alone="",
    )  # fmt: skip
    wait: float | None = option(WAIT, metavar="TIME", parse=option_values.wait)
    files: Mapping[str, str] = named(("json",), "write the report as {} (-: print it)", metavar="FILE")
    quiet: bool = switch("print one line, and errors")
    rules: RulesOptions = group(RulesOptions, "rules")


COMMAND = Command(
    help="prove that the gate goes red for a slowdown, and only then",
    example="perfgate drill\nperfgate drill --workflow\nperfgate drill --patch slower.diff --benchmark 'parse-*'",
    options=Options,
    run=late("gate.commands.drill.drill:run", MEASURING),
    codes=(Exit.PASS, Exit.REGRESSION, Exit.USAGE, Exit.ERROR),
    done="all that was tried held, or no workflow would swallow a verdict",
    failed="something did not hold, or would swallow a verdict",
    error="error: head cannot be measured",
)
