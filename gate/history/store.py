"""A store of records: what every one of them does, whatever it keeps records in."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol

import msgspec

from gate.codes import Exit
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

    outcome: Literal["added", "known"]
    """known: it was there, of the same measurements."""
    dropped: int
    """The oldest records beyond the bound, which are gone."""
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


def other_measurements(place: str, record: HistoryRecord) -> UserError:
    """Refuse a record whose run is there with other measurements."""
    return UserError(
        f"{place}: holds other measurements of run {record.run} of {record.commit[:12]}: a record never changes; "
        "was a file of the run changed or left out?"
    )
