"""How the measuring step ended, kept in a file for the steps after it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from gate.commands.request import STATUS
from gate.github.fileguard import put, read_regular
from gate.model import UserError

_LINES = 20
_WIDTH = 2000
_LARGEST = 1_000_000


class Status(msgspec.Struct, frozen=True):
    """The exit code of measuring, and the lines that say why."""

    code: int
    lines: list[str]


def keep(file: Path, value: msgspec.Struct) -> None:
    """Write a value for a later step, over whatever measured code put there.

    Raises:
        UserError: it cannot be written.
    """
    try:
        put(file, msgspec.json.encode(value) + b"\n")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None


def write_status(folder: Path, status: Status) -> None:
    """Write the status of a run, over whatever measured code put there.

    Raises:
        UserError: it cannot be written.
    """
    keep(folder / STATUS, status)


def read_status(folder: Path) -> Status:
    """Read how measuring ended; where nothing or nonsense is written, it was killed, and that is an error."""
    try:
        # measured code may have written it
        found = msgspec.json.decode(read_regular(folder / STATUS, _LARGEST) or b"", type=Status)
    except (msgspec.MsgspecError, UnicodeError):
        return Status(4, ["the measuring step ended without a word: it was killed, or the runner ran out of memory"])
    return Status(found.code, [line[:_WIDTH] for line in found.lines[:_LINES]])


def untrusted(environment: Mapping[str, str]) -> str | None:
    """Say why what the measuring step left counts for nothing; None: it counts, or nothing was to be measured.

    INPUT_MEASURED holds the outcome that the runner saw: measured code could write a status, and then kill the step.
    """
    if environment.get("INPUT_MEASURED", "") in ("", "success", "skipped"):
        return None
    return (
        "the measuring step failed: it was killed, the runner ran out of memory, or what benchmark code wrote to the "
        "runner's files could not be taken back; what it left counts for nothing"
    )
