"""perfgate simulate, which measures nothing."""

from __future__ import annotations

from typing import TextIO

from gate.cli.command import Command
from gate.cli.options import given
from gate.codes import MisuseError
from gate.commands.simulate.options import Options


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Simulate."""
    source = options.source
    if source.remembered and source.runs:
        raise MisuseError(f"{source.runs[0]}: cannot be used with --remembered; see perfgate simulate --help")
    # a simulation goes by its own thresholds: rules that it would pass over are refused
    unused = [*given(options.rules), *([] if source.history is None else [("history", "--history")])]
    for _, flag in [] if source.remembered else unused:
        raise MisuseError(f"{flag}: needs --remembered; see perfgate simulate --help")
    from gate.commands.simulate import simulate

    return simulate.run(options, out, err)


COMMAND = Command(
    help="show how often a gate is wrong, and what it sees",
    example="perfgate simulate .perfgate --effect 2%,5%",
    options=Options,
    run=run,
)
