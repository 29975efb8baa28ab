"""Read and append measurements.jsonl, one JSON object a line."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from gate.model import SCHEMA, Record, Run, UserError

_DECODER = msgspec.json.Decoder(Record)


class RecordError(UserError):
    """A line of a measurements file that cannot be used."""

    def __init__(self, path: str, line: int, why: str) -> None:
        """Say which file, which line (from 1) and why."""
        super().__init__(f"{path}:{line}: {why}")
        self.path = path
        self.line = line
        self.why = why


class Located(msgspec.Struct, frozen=True):
    """A record and where it stands."""

    record: Record
    path: str
    line: int


class Reading(msgspec.Struct, frozen=True):
    """The records of one file; torn: its last line was cut off in the middle of a write and left out."""

    records: list[Located]
    torn: bool


def read(path: str, data: bytes) -> Reading:
    """Decode the bytes of a measurements file; path is only for messages.

    Blank lines are passed over and unknown keys ignored. A last line without newline is a torn write.

    Raises:
        RecordError: a line that is no JSON object of a known type, or a run of a newer schema.
    """
    *lines, rest = data.split(b"\n")
    records: list[Located] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if not text:
            continue
        try:
            record = _DECODER.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RecordError(path, number, _newer(text) or _why(error)) from None
        if isinstance(record, Run) and record.schema > SCHEMA:
            raise RecordError(path, number, _newer(text))
        records.append(Located(record, path, number))
    return Reading(records, torn=bool(rest.strip()))


def _newer(text: bytes) -> str:
    """Say that a run line is of a newer schema, whatever else is in it; "" when it is not."""
    try:
        head = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    schema = head.get("schema") if isinstance(head, dict) and head.get("type") == "run" else None
    if not isinstance(schema, int) or schema <= SCHEMA:
        return ""
    return f"schema {schema} is newer than this perfgate reads ({SCHEMA}); use a newer perfgate"


def _why(error: Exception) -> str:
    message = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return f"not valid JSON: {message.removeprefix('JSON is malformed: ')}"
    unknown = re.match(r"Invalid value '(.*)' - at `\$\.type`", message)
    if unknown:
        return f'unknown type "{unknown[1]}"'
    if "missing required field `type`" in message:
        return 'no "type"'
    what, _, where = message.partition(" - at `$")
    return f"{where.strip('.`')}: {what}".removeprefix(": ").replace("`", "")


class Appender:
    """Appends records to a measurements file, each flushed to disk before the call returns."""

    def __init__(self, path: Path) -> None:
        """Open for appending, after cutting off a torn last line.

        Raises:
            OSError: the file cannot be opened or written.
        """
        cut_torn(path)
        self._file = path.open("ab", buffering=0)

    def __call__(self, record: Record) -> None:
        """Append one record and flush it to disk; a write that fails half-way is taken back.

        Raises:
            OSError: the disk is full or gone; what was appended before is intact.
        """
        data = msgspec.json.encode(record) + b"\n"
        start = self._file.tell()
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(start)
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        """Use as a context that closes the file."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()


def cut_torn(path: Path) -> bool:
    """Cut off a last line that has no newline; tell whether there was one.

    Raises:
        OSError: the file exists and cannot be changed.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    end = data.rfind(b"\n") + 1
    if end == len(data):
        return False
    os.truncate(path, end)
    return True
