"""The trial's data file: one JSON object a line, appended as it is measured, so that a killed trial goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from gate.model import Build, UserError

SCHEMA = 2
Part = Literal["history", "long", "starts", "rounds"]


class Host(msgspec.Struct, frozen=True):
    """Where the trial was measured; no name of the machine."""

    processor: str
    processors: int
    system: str
    python: str
    date: str
    load: float | None = None
    """Processes that wanted to run when it began: the load average of a minute. None: schema 1, which is refused."""


class Trial(msgspec.Struct, frozen=True, tag="trial"):
    """The first line: what follows."""

    schema: int
    seed: int
    host: Host


class Built(msgspec.Struct, frozen=True, tag="built"):
    """One build of a program's side, as perfgate made it."""

    program: str
    side: str
    layout: int
    build: Build


class Counted(msgspec.Struct, frozen=True, tag="counted"):
    """The instructions of one pass of a side, by callgrind."""

    program: str
    side: str
    instructions: int
    seconds: float
    """Of the shorter of the two runs that it takes."""


class Ran(msgspec.Struct, frozen=True, tag="ran"):
    """One process and the times of its passes."""

    program: str
    bundle: int
    part: Part
    side: str
    number: int
    """Of the process among those of its side in this part."""
    layout: int
    started: float
    """Seconds since 1970."""
    seconds: float
    """Of the whole process."""
    passes: list[int]
    """Nanoseconds of each pass, by the wall clock, in order; the first one warms up."""


Line = Trial | Built | Counted | Ran


class DataError(UserError):
    """A data file that cannot be read."""


def append(file: Path, line: Line) -> None:
    """Write a line at the end of the file."""
    with file.open("ab") as out:
        out.write(msgspec.json.encode(line) + b"\n")


def read(file: Path) -> list[Line]:
    """Read a data file; a last line without its end is torn, and ignored.

    Raises:
        DataError: it is not there, or a line is not of the trial.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}: run `make trial` to measure") from None
    return list(_lines(file, data[: data.rfind(b"\n") + 1].splitlines()))


def cut(file: Path) -> None:
    """Cut off a torn last line, so that what is appended begins on its own line."""
    data = file.read_bytes()
    os.truncate(file, data.rfind(b"\n") + 1)


def _lines(file: Path, lines: Iterable[bytes]) -> Iterator[Line]:
    decoder = msgspec.json.Decoder(Line)
    for number, text in enumerate(lines, 1):
        try:
            line = decoder.decode(text)
        except msgspec.MsgspecError as error:
            raise DataError(f"{file}, line {number}: {error}: not the trial's data") from None
        if isinstance(line, Trial) and line.schema != SCHEMA:
            raise DataError(
                f"{file} is of another version of the trial (schema {line.schema}, this one reads {SCHEMA}): "
                "move it away and run `make trial`"
            )
        yield line
