"""perfgate action: runs one step of the GitHub Action; an error becomes one annotation and never a pass."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TextIO

from gate.cli.command import Command
from gate.cli.options import argument
from gate.codes import Exit

STEPS = ("prepare", "measure", "decide", "publish")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """Which step of the action this is; what it goes by is in the environment."""

    step: str = argument(f"{', '.join(STEPS)}, as in action.yml", metavar="STEP", choices=STEPS)


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Run a step; what it says goes to out alone, since the runner reads its commands there in order.

    Returns what the step does: 0, as those after it report what was refused or went wrong; else 2, or 4 for a fault of
    perfgate itself: a step that fails ends the action, whose exit code is then 4.
    """
    from gate.github.runner import error_line
    from gate.model import UserError
    from gate.writing.plain import visible

    environment = dict(os.environ)
    inputs: dict[str, str] = {}
    if options.step != "measure":
        if sys.platform == "linux":
            from harness.sandbox.enter import hide

            # what other programs of the user find neither in /proc nor in memory, unless they are root's
            with suppress(OSError):
                hide()
        inputs = given_inputs(sys.stdin)
        environment["GITHUB_TOKEN"] = inputs.pop("token", "")
    step = import_module(f"gate.commands.action.{options.step}")
    try:
        code: int = step.run(out, environment, inputs)
    except UserError as error:
        out.writelines(error_line(f"perfgate: {visible(str(each))}", "perfgate") for each in error.errors)
        return Exit.USAGE
    except Exception as error:  # a fault of perfgate itself is one line too
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        text = f"perfgate: internal error in {options.step}, {type(error).__name__}: {visible(str(error))}"
        out.write(error_line(f"{text}; please report it", "perfgate"))
        return Exit.ERROR
    return code


def given_inputs(stream: TextIO) -> dict[str, str]:
    """Read the inputs of the action as JSON, with the token: scripts/step keeps them out of the environment."""
    try:
        found = json.loads("" if stream.isatty() else stream.read())
    except (OSError, ValueError):
        return {}
    return {name: str(value) for name, value in found.items()} if isinstance(found, dict) else {}


COMMAND = Command(
    help="run one step of the GitHub Action, as action.yml does", example="perfgate action measure", options=Options,
    run=run, codes=list(Exit),
)  # fmt: skip
