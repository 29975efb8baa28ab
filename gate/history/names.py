"""What a record is called: month, date, commit, parent and run, so that names alone give order and identity."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime

import msgspec

from gate.model.history import HistoryRecord

_SHORT = 12
"""Digits of the parent; beside the commit they need tell apart few."""
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SHA = r"(?:[0-9a-f]{40}|[0-9a-f]{64})"
_NAME = re.compile(rf"\d{{4}}-\d\d/\d{{8}}T\d{{6}}-(?P<key>{_SHA}-[0-9a-f]{{12}}-[A-Za-z0-9_.-]+)\.json")
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


class Name(msgspec.Struct, frozen=True, order=True):
    """The path of a record in its store; of two the older commit's is the smaller."""

    path: str
    key: str
    """What makes two records the same: commit, parent and run."""

    @property
    def month(self) -> str:
        """The folder."""
        return self.path.partition("/")[0]

    @property
    def file(self) -> str:
        """The name in it."""
        return self.path.partition("/")[2]


def name_of(record: HistoryRecord) -> Name:
    """Name a record, by the date of its commit, otherwise of its run."""
    date = _date(record.committed) or _date(record.measured) or _UNKNOWN
    run = record.run if _RUN.fullmatch(record.run) else hashlib.sha256(record.run.encode()).hexdigest()[:16]
    key = f"{record.commit}-{record.parent[:_SHORT]}-{run}"
    return Name(f"{date:%Y-%m}/{date:%Y%m%dT%H%M%S}-{key}.json", key)


def name_at(path: str) -> Name | None:
    """Return the name that a path is; None where it is no record's."""
    found = _NAME.fullmatch(path)
    return Name(path, found["key"]) if found else None


def is_sha(text: str | None) -> bool:
    """Return whether a text is the whole sha of a commit."""
    return re.fullmatch(_SHA, text or "") is not None


def _date(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
