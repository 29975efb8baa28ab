"""A store of records: what every one of them does, whatever it keeps records in."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Literal, Protocol

import msgspec

from gate.codes import Exit
from gate.history.names import Name
from gate.model import UserError
from gate.model.history import HistoryRecord


class ConflictError(UserError):
    """Other writers were faster, time and again: nothing is lost, and the record can be added again."""

    exit_code: ClassVar[Exit] = Exit.ERROR


class Reading(msgspec.Struct, frozen=True, eq=False):
    """What a store holds."""

    records: list[HistoryRecord]
    """The oldest commit first."""
    problems: list[str]
    """A line for each record that cannot be read, which names it; the others stay readable."""
    size: int
    """Bytes of all records, as they are written."""


class Added(msgspec.Struct, frozen=True):
    """What became of a record that was to be added."""

    outcome: Literal["added", "known", "too-old"]
    """known: it was there, of the same measurements. too-old: it is beyond the bound itself."""
    dropped: int
    """The oldest of the records that were there, which are beyond the bound and gone."""
    kept: int
    """Records that the store holds now."""
    pushed: str | None
    """The remote that has it now; None: none was asked for."""


class Store(Protocol):
    """Keeps records; every one is written once and never changed."""

    def read(self) -> Reading:
        """Read all records.

        Raises:
            UserError: there is no such store, or it cannot be read at all.
        """
        ...

    def add(self, record: HistoryRecord, keep: int) -> Added:
        """Add a record and drop the oldest beyond `keep`.

        Raises:
            ConflictError: other writers were faster, time and again.
            UserError: the store holds other measurements of the same run, or cannot be written.
        """
        ...


def added_of(name: Name, *, known: bool, dropped: int, kept: Collection[Name], pushed: str | None) -> Added:
    """Say what became of a record by what the store holds now; dropped: with the record itself, where it is too old."""
    if known or name in kept:
        return Added("known" if known else "added", dropped, len(kept), pushed)
    return Added("too-old", dropped - 1, len(kept), pushed)


def other_measurements(place: str, record: HistoryRecord) -> UserError:
    """Refuse a record whose run is there with other measurements."""
    return UserError(
        f"{place}: holds other measurements of run {record.run} of {record.commit[:12]}: a record never changes; "
        "was a file of the run changed or left out?"
    )
