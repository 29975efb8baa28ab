"""The options of perfgate compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TextIO

from gate.cli.command import Command
from gate.cli.groups import MeasuredRulesOptions
from gate.cli.listing import modules
from gate.cli.options import argument, group, option, repeated

_WHICH = "side of %s to compare (default: head, or the only one it has)"


@dataclass(frozen=True, eq=False, repr=False)
class CompareOptions:
    """What is compared, and how it is shown."""

    first: str = argument("run to use as base: folder of a run, measurement file, or - for stdin", metavar="A")
    second: str | None = argument("run to use as head (default: compare base and head of A)", metavar="B", nargs="?")
    side_a: Literal["base", "head"] | None = option(_WHICH % "A", choices=("base", "head"))
    side_b: Literal["base", "head"] | None = option(_WHICH % "B", choices=("base", "head"))
    metrics: tuple[str, ...] = repeated("only the metrics that match", metavar="GLOB", flag="--metric")
    form: str = option(
        "what to print (default: text)",
        flag="--format", default="text", choices=modules("gate/commands/compare/formats"),
    )  # fmt: skip

    @property
    def runs(self) -> tuple[str, ...]:
        """One run, whose base is compared with its head, or two."""
        return (self.first,) if self.second is None else (self.first, self.second)


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is compared, and by which rules."""

    compare: CompareOptions = group(CompareOptions)
    rules: MeasuredRulesOptions = group(MeasuredRulesOptions, "rules")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Put two runs side by side."""
    from gate.commands.compare.compare import run

    return run(options.compare, options.rules, out)


COMMAND = Command(
    help="show two runs side by side, with intervals and without a verdict (exit 0 whatever changed)",
    example="perfgate compare monday friday --format markdown",
    options=Options,
    run=run,
    place=6,
)
