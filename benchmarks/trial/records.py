"""The trial's data file: one JSON object a line, appended as it is measured, so that a killed trial goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from gate.model import Build, UserError

SCHEMA = 3
Part = Literal["block", "turns", "round"]


class Host(msgspec.Struct, frozen=True):
    """Where the trial was measured; no name of the machine."""

    processor: str
    processors: int
    system: str
    python: str
    date: str


class Trial(msgspec.Struct, frozen=True, tag="trial"):
    """The first line: what follows."""

    schema: int
    seed: int
    host: Host | None = None
    """None: of another schema, which is refused."""


class Worked(msgspec.Struct, frozen=True, tag="worked"):
    """How much longer a start of a program takes that does its work twice, as a share: what is not work is left out."""

    program: str
    share: float


class Built(msgspec.Struct, frozen=True, tag="built"):
    """One build of a program's side, as perfgate made it."""

    program: str
    side: str
    layout: int
    build: Build


class Counted(msgspec.Struct, frozen=True, tag="counted"):
    """The instructions of one start of a side, by callgrind."""

    program: str
    side: str
    instructions: int
    seconds: float


class Started(msgspec.Struct, frozen=True, array_like=True):
    """One start of a command, as perfgate's spawn instrument gives it."""

    side: int
    """By place among those of the launch."""
    time: int
    """Nanoseconds of the wall clock."""
    active: int
    """Nanoseconds without those in which other programs had the processor; -1: not known."""
    own: float
    """What its first task ran, as a share of all its processor time; -1: not known."""


class Ran(msgspec.Struct, frozen=True, tag="ran"):
    """One launch: a block of each side, or base and a head by turns."""

    program: str
    bundle: int
    part: Part
    round: int
    sides: list[str]
    seconds: float
    """Of all of it."""
    waited: float
    """Seconds of them in which some program of this host waited for a processor, by the kernel's pressure file."""
    load: float
    """The host's load average of a minute, when it began."""
    starts: list[Started]


Line = Trial | Worked | Built | Counted | Ran


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
        if isinstance(line, Trial) and (line.schema != SCHEMA or line.host is None):
            raise DataError(
                f"{file} is of another version of the trial (schema {line.schema}, this one reads {SCHEMA}): "
                "move it away and run `make trial`"
            )
        yield line
