"""perfgate init: what it is for, and which of its two jobs an option asks for."""

from __future__ import annotations

from typing import TextIO

from gate.cli.command import Command
from gate.codes import Exit, MisuseError
from gate.commands.init.options import Options


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Write a configuration, or a workflow."""
    if options.workflow is not None:
        if options.file is not None or options.project is not None:
            raise MisuseError(f"--{'project' if options.file is None else 'file'}: not with --workflow")
        from gate.commands.init import workflow

        return workflow.run(options, out, err)
    if options.action is not None:
        raise MisuseError("--action: needs --workflow")
    from gate.commands.init import init

    return init.run(options, out, err)


COMMAND = Command(
    help="write a commented perfgate.toml, or a GitHub workflow",
    example="perfgate init\nperfgate init --project server\n"
    "perfgate init --from .github/workflows/bench.yml\nperfgate init --workflow pull-request",
    options=Options,
    run=run,
    codes=(Exit.PASS, Exit.USAGE, Exit.ERROR),
    done="written, and every benchmark gave values unless it was not tried",
    error="error: something gave no values, or there is nothing to measure",
    place=1,
)
