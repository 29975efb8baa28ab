"""The type Command, and the list of commands, read from the folders of gate/commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

VERDICT_CODES = """\
exit codes of check, decide, report and publish (measure: 0, 2, 4 or 5; ended by a signal: 128 + its number):
  0  pass: nothing regressed
  1  regression
  2  bad command line, config or input file
  3  inconclusive, with gate.inconclusive = "fail"
  4  error: a build or a benchmark failed or is missing, or nothing was measured
  5  the host is unfit (only with --strict)
"""
"""The codes of commands that give a verdict, as their help shows them."""

_FOLDER = Path(__file__).parents[1] / "commands"


@dataclass(frozen=True, slots=True)
class Command:
    """A command, or a part of one."""

    help: str
    """What it does, in one line that begins with a verb."""
    example: str
    """Command lines, one a line."""
    options: type[Any]
    """A dataclass, see gate.cli.options."""
    run: Callable[[Any, TextIO, TextIO], int]
    """Takes the options, standard output and standard error; gives the exit code. Imports what it needs itself."""
    codes: str = ""
    """Its exit codes, for its help."""
    parts: Mapping[str, Command] = field(default_factory=dict)
    """Sub-commands, by name; without one, the command itself runs."""
    place: int = 100
    """Where it stands in the list of all; of equal ones, by name."""


def command_names() -> list[str]:
    """Return the names of all commands, sorted; nothing is imported."""
    return sorted(place.parent.name.removesuffix("_") for place in _FOLDER.glob("*/command.py"))


def command_of(name: str) -> Command:
    """Import a command; a folder whose name would be a word of Python's has an underscore behind it."""
    folder = name if (_FOLDER / name).is_dir() else f"{name}_"
    found: Command = import_module(f"gate.commands.{folder}.command").COMMAND
    return found
