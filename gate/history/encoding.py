"""A record as bytes, and back: JSON with no more digits than the numbers have, so that git packs it well."""

from __future__ import annotations

from typing import Any

import msgspec

from gate.model.history import HISTORY_SCHEMA, Change, HistoryRecord, Measured, Spread

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
    changes = [_rounded(change) for change in record.changes]
    # the last field is the list
    head = msgspec.json.encode(msgspec.structs.replace(record, changes=[])).removesuffix(b"]}")
    return head + b",".join(b"\n" + msgspec.json.encode(change) for change in changes) + b"]}\n"


def decode(data: bytes) -> HistoryRecord:
    """Read a record.

    Raises:
        RecordError: it is damaged, or of a newer schema.
    """
    if len(data) > LARGEST:
        raise RecordError(f"is larger than {LARGEST >> 20} MB")
    try:
        version = msgspec.json.decode(data, type=_Version).schema
        if version > HISTORY_SCHEMA:
            raise RecordError(
                f"schema {version} is newer than this perfgate reads ({HISTORY_SCHEMA}): use a newer perfgate"
            )
        return msgspec.json.decode(data, type=HistoryRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"is damaged ({error})") from None


def _rounded(change: Change) -> Change:
    return msgspec.structs.replace(
        change,
        log_ratio=_digits(change.log_ratio, _OF_RATIO),
        variance=None if change.variance is None else _digits(change.variance, _OF_VARIANCE),
        df=None if change.df is None else _digits(change.df, _OF_VARIANCE),
        base=_side(change.base),
        head=_side(change.head),
    )


def _side(side: Measured | None) -> Measured | None:
    if side is None:
        return None
    spread = [
        Spread(level=each.level, relative=_digits(each.relative, _OF_SPREAD), df=_digits(each.df, _OF_VARIANCE))
        for each in side.spread
    ]
    return msgspec.structs.replace(side, value=_digits(side.value, _OF_VALUE), spread=spread)


def _digits(number: float, digits: int) -> Any:
    """Round to significant digits; a whole number stays as it is, since counts are exact."""
    if number == int(number) and abs(number) < _WHOLE:
        return int(number)
    return float(f"{number:.{digits}g}")
