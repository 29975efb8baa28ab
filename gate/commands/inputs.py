"""RUN arguments -> records: folders, measurement files, standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gate.model import UserError
from gate.records import Located, read

MEASUREMENTS = "measurements.jsonl"
REPORT = "report.json"
DEFAULT_FOLDER = ".perfgate"


class Inputs(msgspec.Struct, frozen=True):
    """The records of all files, and warnings about how they were read."""

    records: list[Located]
    warnings: list[str]


def read_inputs(paths: Sequence[str]) -> Inputs:
    """Read measurement files; a folder stands for the measurements.jsonl in it, "-" for standard input.

    Raises:
        UserError: a file that cannot be read, or that is a report rather than measurements.
        RecordError: a bad line.
    """
    records: list[Located] = []
    warnings: list[str] = []
    for path in paths:
        name, data = _bytes(path)
        if name.endswith(".json") and data.lstrip()[:1] == b"{" and b'"findings"' in data:
            raise UserError(f"{name}: is a report, not measurements; `perfgate report {name}` shows it")
        reading = read(name, data)
        if reading.torn:
            warnings.append(f"{name}: its last line was cut off in the middle of a write and is left out")
        records += reading.records
    return Inputs(records, warnings)


def _bytes(path: str) -> tuple[str, bytes]:
    if path == "-":
        return "standard input", sys.stdin.buffer.read()
    file = Path(path)
    if file.is_dir():
        file = file / MEASUREMENTS
    try:
        return str(file), file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
