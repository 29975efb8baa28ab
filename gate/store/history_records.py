"""What the stores of the history have in common: names of files, how a record is written, how they are reached."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import re
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec

from gate.checkout import SHA, refuse_tracked
from gate.codes import Exit
from gate.model import UserError
from gate.model.history import HISTORY_SCHEMA, ControlsProof, HistoryRecord, Spread
from gate.stats.levels import BEYOND, EXPECTED
from gate.writing.units import when


def proof_of(records: Iterable[HistoryRecord]) -> ControlsProof | None:
    """Multiply the e-values of all runs in the order of their measuring; None: no run has controls.

    The run that is named is the one at which the product last came beyond the bound, and since which it has stayed.
    """
    runs = sorted(
        ((record, record.controls) for record in records if record.controls is not None),
        key=lambda each: (each[0].measured or "", each[0].run),
    )
    if not runs:
        return None
    # as a logarithm: years without an alarm are smaller than any float
    evidence, since = 0.0, None
    for record, controls in runs:
        evidence += math.log(controls.e_value)
        if evidence <= math.log(BEYOND):
            since = None
        elif since is None:
            day = when(record.measured)
            since = record.run + (f" of {day:%Y-%m-%d}" if day else "")
    count = sum(own.count for _, own in runs)
    return ControlsProof(
        runs=len(runs), count=count, alarmed=sum(own.alarmed for _, own in runs), expected=count * EXPECTED,
        e_value=math.exp(min(max(evidence, -700.0), 700.0)), since=since,
    )  # fmt: skip


T = TypeVar("T")
_SHORT = 12
"""Digits of the parent; beside the commit they need tell apart few."""
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAME = re.compile(rf"\d{{4}}-\d\d/\d{{8}}T\d{{6}}-{SHA}-[0-9a-f]{{12}}-[A-Za-z0-9_.-]+\.json")
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def name_of(record: HistoryRecord) -> str:
    """Name a record's file in its store, by when it was measured, what, and by which run."""
    date = when(record.measured) or _UNKNOWN
    key = f"{record.commit}-{record.parent[:_SHORT]}-{_plain(record.run)}"
    return f"{date:%Y-%m}/{date:%Y%m%dT%H%M%S}-{key}.json"


def stem_of(created: str, run: str) -> str:
    """Name what a run left by when it was made: of two the older one's is the smaller."""
    return f"{when(created) or _UNKNOWN:%Y%m%dT%H%M%S}-{_plain(run)}"


def _plain(run: str) -> str:
    return run if _RUN.fullmatch(run) else hashlib.sha256(run.encode()).hexdigest()[:16]


def is_name(path: str) -> bool:
    """Return whether a path is a record's."""
    return _NAME.fullmatch(path) is not None


_OF_RATIO, _OF_VALUE, _OF_VARIANCE, _OF_SPREAD = 9, 9, 6, 4
"""Significant digits; a variance over five builds is known to one."""
_WHOLE = 2**53
LARGEST = 1 << 26
"""Bytes of a record beyond which it is not read: 50 cases take 30 KB."""


class RecordError(ValueError):
    """Why bytes are no record, in a few words."""


class _Version(msgspec.Struct):
    schema: int


def encode(record: HistoryRecord) -> bytes:
    """Write a record, a line for each case; equal records give equal bytes."""
    changes = []
    for change in record.changes:
        base, head = (
            side and msgspec.structs.replace(
                side, value=_digits(side.value, _OF_VALUE),
                spread=[
                    Spread(level=s.level, relative=_digits(s.relative, _OF_SPREAD), df=_digits(s.df, _OF_VARIANCE))
                    for s in side.spread
                ],
            )
            for side in (change.base, change.head)
        )  # fmt: skip
        variance, df = (own if own is None else _digits(own, _OF_VARIANCE) for own in (change.variance, change.df))
        ratio = _digits(change.log_ratio, _OF_RATIO)
        changes.append(msgspec.structs.replace(change, log_ratio=ratio, variance=variance, df=df, base=base, head=head))
    # the last field is the list
    facts = msgspec.json.encode(msgspec.structs.replace(record, changes=[])).removesuffix(b"]}")
    return facts + b",".join(b"\n" + msgspec.json.encode(change) for change in changes) + b"]}\n"


def decode(data: bytes) -> HistoryRecord:
    """Read a record. Raises: RecordError: it is damaged, or of a newer schema."""
    return decode_as(data, HistoryRecord, HISTORY_SCHEMA)


def decode_as(data: bytes, kind: type[T], newest: int) -> T:
    """Read a file of a history, whose schema is at most the newest.

    Raises: RecordError: it is damaged, or of a newer schema.
    """
    if len(data) > LARGEST:
        raise RecordError(f"is larger than {LARGEST >> 20} MB")
    try:
        version = msgspec.json.decode(data, type=_Version).schema
        if version > newest:
            raise RecordError(f"schema {version} is newer than this perfgate reads ({newest}): use a newer perfgate")
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"is damaged ({error})") from None


def _digits(number: float, digits: int) -> Any:
    """Round to significant digits; a whole number stays as it is, since counts are exact."""
    if number == int(number) and abs(number) < _WHOLE:
        return int(number)
    return float(f"{number:.{digits}g}")


class ConflictError(UserError):
    """Other writers were faster, time and again: nothing is lost, and the record can be added again."""

    exit_code: ClassVar[Exit] = Exit.ERROR


class StoreReading(msgspec.Struct, frozen=True, eq=False):
    """What a store holds."""

    records: list[HistoryRecord]
    """The oldest commit first."""
    problems: list[str]
    """A line for each record that cannot be read, which names it; the others stay readable."""
    size: int
    """Bytes of all records, as they are written."""


def reading(files: Iterable[tuple[str, bytes]]) -> StoreReading:
    """Read records; files: where each is, and what it holds."""
    records, problems, size = [], [], 0
    for place, data in files:
        size += len(data)
        try:
            records.append(decode(data))
        except RecordError as error:
            problems.append(f"{place}: {error}")
    records.sort(key=lambda record: when(record.committed) or when(record.measured) or _UNKNOWN)
    return StoreReading(records, problems, size)


class Added(msgspec.Struct, frozen=True):
    """What became of a record that was to be added."""

    known: bool
    """It was there, of the same measurements."""
    kept: int
    """Records that the store holds now."""
    pushed: str | None
    """The remote that has it now; None: none was asked for."""


def refuse_other(place: str, data: bytes, record: HistoryRecord, cure: str = "") -> None:
    """Refuse a record whose run is there with other measurements; cure: of a file that is damaged.

    Raises: UserError: it is, or what is there cannot be read.
    """
    try:
        raw = decode(data).raw
    except RecordError as error:
        raise UserError(f"{place}: {error}{cure}") from None
    if raw != record.raw:
        raise UserError(
            f"{place}: holds other measurements of run {record.run} of {record.commit[:12]}: a record never changes; "
            "was a file of the run changed or left out?"
        )


# --- in a folder ------------------------------------------------------------------------------------------------------

_UNFINISHED = ".tmp-"


class FolderStore:
    """A history in a folder, which is made when the first record is added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        """Name it for people."""
        return str(self._folder)

    def read(self) -> StoreReading:
        """Read all records, the oldest commit first. Raises: UserError: there is no such folder."""
        if not self._folder.is_dir():
            raise UserError(f"{self._folder}: no such folder: `perfgate history add RUN --history DIR` makes one")
        files, problems = list[tuple[str, bytes]](), list[str]()
        for place in (self._folder / name for name in self._names()):
            try:
                files.append((str(place), place.read_bytes()))
            except OSError as error:
                problems.append(f"{place}: cannot be read: {error.strerror}")
        found = reading(files)
        return msgspec.structs.replace(found, problems=[*problems, *found.problems])

    def add(self, record: HistoryRecord) -> Added:
        """Add a record. Raises: UserError: it holds other measurements of the same run, or cannot be written."""
        place = self._folder / name_of(record)
        try:
            known = not write_new(place, encode(record))
            if known:
                refuse_other(str(place), place.read_bytes(), record, ": remove it, and add the run again")
        except OSError as error:
            where, why = error.filename or self._folder, f"cannot be written: {error.strerror}"
            if error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                why = "this file system has no hard links: name another folder, or use a ref"
            raise UserError(f"{where}: {why}") from None
        return Added(known, len(self._names()), None)

    def _names(self) -> list[str]:
        # a pipe would be read for ever
        found = (file for file in self._folder.glob("*/*.json") if not file.is_fifo())
        return sorted(filter(is_name, (file.relative_to(self._folder).as_posix() for file in found)))


def write_new(place: Path, data: bytes) -> bool:
    """Write a file that appears whole or not at all; False: there is one of that name."""
    refuse_tracked(place.parent, "--history")
    place.parent.mkdir(parents=True, exist_ok=True)
    # with a random name: two writers may be two machines with one number of process
    unfinished = place.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    try:
        with unfinished.open("xb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        try:
            os.link(unfinished, place)
        except FileExistsError:
            return False
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    return True


def drop_oldest(files: Sequence[Path], keep: int) -> None:
    """Remove the first of some files, so that the last `keep` of them stay."""
    for file in files[: max(len(files) - keep, 0)]:
        # of two writers that drop the same one is first
        with suppress(FileNotFoundError):
            file.unlink()
