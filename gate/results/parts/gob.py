"""Go's gob encoding -> records of structs, as far as their fields are plain; for the results file of vegeta.

The encoding is that of pkg.go.dev/encoding/gob: messages of a length, a type and either the type's description or a
value, whose fields are told by how far they are from the one before.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

_INT, _UINT, _BYTES, _STRING = 2, 3, 5, 6
_STRUCT, _ENCODER = 3, (5, 6)
"""Fields of a type's description: that of a struct, and those of types that encode themselves."""
_LARGEST = 1 << 30
_TIME = struct.Struct(">xqi")
_YEAR_1 = 62135596800
"""Seconds from the year 1, from which Go counts, to 1970."""
Value = int | bytes


class GobError(ValueError):
    """Bytes that are no such message."""


class _Bytes:
    """A message, read from its beginning."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def unsigned(self) -> int:
        first = self.raw(1)[0]
        return first if first < 0x80 else int.from_bytes(self.raw(0x100 - first), "big")

    def signed(self) -> int:
        number = self.unsigned()
        return ~(number >> 1) if number & 1 else number >> 1

    def raw(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise GobError("it is cut off")
        found, self.at = self.data[self.at : end], end
        return found

    def value(self, kind: int) -> Value:
        if kind in (_BYTES, _STRING):
            return self.raw(self.unsigned())
        if kind in (_INT, _UINT):
            return self.signed() if kind == _INT else self.unsigned()
        raise GobError(f"a field of type {kind}")


def records(file: IO[bytes]) -> Iterator[dict[str, Value]]:
    """Yield the values of structs by the names of their fields; texts, and what encodes itself, are bytes.

    Fields behind one of another type are left out. A last message that is cut off is passed over.

    Raises:
        GobError: it is no such file.
    """
    structs: dict[int, list[tuple[str, int]]] = {}
    kinds: dict[int, int] = {kind: kind for kind in (_INT, _UINT, _BYTES, _STRING)}
    while (size := _size(file)) is not None:
        data = file.read(size)
        if len(data) < size:
            return
        message = _Bytes(data)
        number = message.signed()
        if number < 0:
            _describe(message, -number, structs, kinds)
        elif number in structs:
            yield _record(message, structs[number], kinds)
        else:
            raise GobError(f"a value of type {number}, which is not described")


def _size(file: IO[bytes]) -> int | None:
    first = file.read(1)
    if not first:
        return None
    if first[0] < 0x80:
        return first[0]
    count = 0x100 - first[0]
    if count > 8:
        raise GobError("a message without a length")
    size = int.from_bytes(file.read(count), "big")
    if size > _LARGEST:
        raise GobError("a message of more than 1 GiB")
    return size


def _describe(message: _Bytes, number: int, structs: dict[int, list[tuple[str, int]]], kinds: dict[int, int]) -> None:
    """Take in the description of a type: of a struct its fields, of others whether they encode themselves."""
    which = message.unsigned()
    if which in _ENCODER:
        kinds[number] = _BYTES
    if which != _STRUCT:
        return
    fields: list[tuple[str, int]] = []
    if message.unsigned() != 1:
        raise GobError("a struct without a name")
    _common(message)
    if message.unsigned() == 1:
        fields.extend(_common(message) for _ in range(message.unsigned()))
    structs[number] = fields


def _common(message: _Bytes) -> tuple[str, int]:
    """Read a name and the number of a type, which end with a 0."""
    name, number, field = "", 0, 0
    while delta := message.unsigned():
        field += delta
        if field == 1:
            name = message.raw(message.unsigned()).decode("utf-8", "replace")
        elif field == 2:
            number = message.signed()
        else:
            raise GobError("a description of another kind")
    return name, number


def _record(message: _Bytes, fields: list[tuple[str, int]], kinds: dict[int, int]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    place = -1
    while delta := message.unsigned():
        place += delta
        if place >= len(fields):
            raise GobError("a field that is not described")
        name, number = fields[place]
        kind = kinds.get(number)
        if kind is None:
            break
        found[name] = message.value(kind)
    return found


def moment(encoded: bytes) -> float | None:
    """Read a time.Time as seconds since 1970; None: it is none."""
    try:
        seconds, nanoseconds = _TIME.unpack_from(encoded)
    except struct.error:
        return None
    return float(int(seconds) - _YEAR_1) + int(nanoseconds) * 1e-9
