"""CBOR (RFC 8949) as Rust's serde_cbor writes it -> values."""

from __future__ import annotations

import struct
from typing import Any

from gate.adapters.values import OutputError

_DEEPEST = 50
_SIMPLE = {20: False, 21: True, 22: None, 23: None}
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_INDEFINITE = 31
_BREAK = 0xFF


def decode(data: bytes, what: str) -> Any:
    """Decode one value: maps are dicts, tags are left out.

    Args:
        what: what it is, for the message.

    Raises:
        OutputError: it is none, or cut off.
    """
    try:
        return _Reader(data).value(0)
    except (IndexError, ValueError, TypeError, struct.error, UnicodeDecodeError):
        raise OutputError(f"{what} is not as expected, or cut off") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError
        first = self._data[self._at]
        self._at += 1
        major, low = first >> 5, first & 31
        if major == 7:
            return self._simple(low)
        length = None if low == _INDEFINITE else self._length(low)
        if major in (0, 1):
            return (length or 0) if major == 0 else -1 - (length or 0)
        if major in (2, 3):
            raw = b"".join(self._parts(depth)) if length is None else self._take(length)
            return raw if major == 2 else raw.decode()
        if major == 4:
            return list(self._items(length, depth))
        if major == 5:
            items = list(self._items(None if length is None else 2 * length, depth))
            return dict(zip(items[::2], items[1::2], strict=True))
        return self.value(depth + 1)

    def _simple(self, low: int) -> Any:
        if low in _FLOATS:
            layout = _FLOATS[low]
            return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]
        return _SIMPLE[low] if low in _SIMPLE else self._length(low)

    def _length(self, low: int) -> int:
        if low < 24:
            return low
        if low > 27:
            raise ValueError
        return int.from_bytes(self._take(1 << (low - 24)), "big")

    def _take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) < count:
            raise ValueError
        self._at += count
        return found

    def _items(self, count: int | None, depth: int) -> list[Any]:
        found: list[Any] = []
        while len(found) != count:
            if count is None and self._data[self._at] == _BREAK:
                self._at += 1
                break
            found.append(self.value(depth + 1))
        return found

    def _parts(self, depth: int) -> list[bytes]:
        return [part.encode() if isinstance(part, str) else bytes(part) for part in self._items(None, depth)]
