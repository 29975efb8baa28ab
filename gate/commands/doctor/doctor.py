"""perfgate doctor: checks whether this host is fit to measure on; changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

import msgspec

from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.commands.doctor import text
from gate.memory.entries import HistoryError
from gate.memory.store import path_of
from gate.model import SCHEMA
from gate.report.outputs import colored, require_writable, write
from harness.host.fitness import Check, examine, unfit


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """strict: an unfit host ends with 5. json: a file, "-" for standard output instead of text."""

    strict: bool
    json: str | None


def run(options: DoctorOptions, out: TextIO) -> int:
    """Examine the host and print what was found; 0, or 5 with strict when it is unfit.

    Raises:
        UserError: the JSON cannot be written.
    """
    require_writable(OutputOptions({"json": options.json} if options.json is not None else {}))
    checks = examine(_history())
    if options.json == "-":
        out.write(render_json(checks))
    else:
        width = min(shutil.get_terminal_size((100, 24)).columns, 140)
        out.write(text.render(checks, color=colored(out), width=width))
        if options.json is not None:
            write(Path(options.json), render_json(checks))
    return Exit.UNFIT if options.strict and unfit(checks) else 0


def _history() -> Path | None:
    try:
        return path_of(None, None, os.environ)
    except HistoryError:
        return None


def render_json(checks: Sequence[Check]) -> str:
    """Write the checks as JSON, ending with a newline."""
    verdict: Literal["fit", "unfit"] = "unfit" if unfit(checks) else "fit"
    table = {"schema": SCHEMA, "verdict": verdict, "checks": [_plain(check) for check in checks]}
    return msgspec.json.format(msgspec.json.encode(table), indent=2).decode() + "\n"


def _plain(check: Check) -> dict[str, Any]:
    # a path or the name of a process may hold bytes that are no text
    return {name: _text(getattr(check, name)) for name in ("name", "state", "value", "why", "command")}


def _text(value: str | None) -> str | None:
    return None if value is None else value.encode("utf-8", "backslashreplace").decode()
