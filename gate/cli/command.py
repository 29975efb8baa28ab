"""The type Command; the lists of commands and formats, read from the names of files: nothing is imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from gate.codes import MEANINGS, Exit

MEASURED = (Exit.PASS, Exit.USAGE, Exit.ERROR, Exit.UNFIT)
"""The exit codes of a command that measures and gives no verdict."""
DECIDED = (Exit.PASS, Exit.REGRESSION, Exit.USAGE, Exit.INCONCLUSIVE, Exit.ERROR)
"""Of one that gives a verdict over measurements."""
MEASURING = "gate.run.refusal:require_measuring"
"""What a command that measures needs."""
LAST = 100
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
    codes: Sequence[Exit] = ()
    """Its exit codes, for its help; none: those of every command, 0 and 2."""
    done: str = MEANINGS[Exit.PASS]
    """What its 0 means."""
    failed: str = MEANINGS[Exit.REGRESSION]
    """What its 1 means."""
    error: str = MEANINGS[Exit.ERROR]
    """What its 4 means."""
    inconclusive: str = MEANINGS[Exit.INCONCLUSIVE]
    """What its 3 means."""
    parts: Mapping[str, Command] = field(default_factory=dict)
    """Sub-commands, by name; without one, the command itself runs."""
    place: int = LAST
    """Where it stands in the list of those that a gate needs; all others follow by name."""


def late(name: str, needs: str = "") -> Callable[[Any, TextIO, TextIO], int]:
    """Return what imports a function, "module:function", when it runs; needs: a check to be called before, likewise."""

    def run(options: Any, out: TextIO, err: TextIO) -> int:
        if needs:
            _named(needs)()
        return int(_named(name)(options, out, err))

    return run


def _named(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def meanings(codes: Sequence[Exit], command: Command | None = None) -> dict[Exit, str]:
    """Return what exit codes mean; command: what some of them mean there."""
    own = {}
    if command is not None:
        own = {Exit.PASS: command.done, Exit.REGRESSION: command.failed}
        own |= {Exit.INCONCLUSIVE: command.inconclusive, Exit.ERROR: command.error}
    return {code: own.get(code, MEANINGS[code]) for code in codes}


def command_names() -> list[str]:
    """Return the names of all commands, sorted; nothing is imported."""
    return sorted(place.parent.name.removesuffix("_") for place in _FOLDER.glob("*/command.py"))


def command_of(name: str) -> Command:
    """Import a command; a folder whose name would be a word of Python's has an underscore behind it."""
    folder = name if (_FOLDER / name).is_dir() else f"{name}_"
    found: Command = import_module(f"gate.commands.{folder}.command").COMMAND
    return found


ROOT = Path(__file__).parents[2]
"""Where the packages gate and harness lie."""
_PRINTED = ("csv", "summary", "text")
"""Formats that only `report --format` prints; every other one is an option of its own, which names a file."""


@cache
def modules(folder: str) -> tuple[str, ...]:
    """Return the names of the modules of a folder, sorted."""
    return tuple(sorted(file.stem for file in (ROOT / folder).glob("[!_]*.py")))


@cache
def declaring(folder: str, name: str) -> tuple[str, ...]:
    """Return the modules of a folder whose text sets a name at its top level, sorted."""
    declares = re.compile(rf"^{name}\b[^=\n]*=", re.MULTILINE)
    return tuple(m for m in modules(folder) if declares.search((ROOT / folder / f"{m}.py").read_text(encoding="utf-8")))


def report_formats() -> tuple[str, ...]:
    """Return the formats of reports: the modules of gate/report/formats."""
    return modules("gate/report/formats")


def file_formats() -> tuple[str, ...]:
    """Return those that an option writes into a file."""
    return tuple(name for name in report_formats() if name not in _PRINTED)


def value_formats() -> tuple[str, ...]:
    """Return the formats that the values instrument reads: the modules of gate/formats with a LIVE."""
    return declaring("gate/formats", "LIVE")


def result_formats() -> tuple[str, ...]:
    """Return the formats of other tools' result files: the modules of gate/formats with a FORMAT."""
    return declaring("gate/formats", "FORMAT")
