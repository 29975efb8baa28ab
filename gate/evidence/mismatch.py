"""Where a line of measurements is not of its type, and why, in words of our own."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from gate.config.wrong import is_struct, why_not


class Mismatch(NamedTuple):
    """What is wrong with a value, and where in the object it is: "metrics.time.values[3]"; "" for the whole."""

    where: str
    why: str

    def __str__(self) -> str:
        """Write it as people do, such as "build: expected a whole number of 0 or more, got -1"."""
        return f"{self.where}: {self.why}" if self.where else self.why


def mismatch_of(kind: Any, raw: Any, where: str = "") -> Mismatch | None:
    """Find the first part of a decoded JSON value that is not of its type; None: there is none."""
    bare = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    origin, arguments = typing.get_origin(bare), typing.get_args(bare)
    found = None
    if is_struct(bare) and isinstance(raw, dict):
        found = _in_struct(bare, raw, where)
    elif origin is dict and isinstance(raw, dict):
        parts = (mismatch_of(arguments[1], value, _at(where, key)) for key, value in raw.items())
        found = next((part for part in parts if part), None)
    elif origin in (list, Sequence) and isinstance(raw, list):
        items = (mismatch_of(arguments[0], value, f"{where}[{index}]") for index, value in enumerate(raw))
        found = next((item for item in items if item), None)
    elif own := [member for member in arguments if is_struct(member) and isinstance(raw, dict)]:
        found = mismatch_of(own[0], raw, where) if len(own) == 1 else None
    return found or (None if _is(kind, raw) else Mismatch(where, why_not(kind, raw)))


def _in_struct(kind: Any, raw: dict[str, Any], where: str) -> Mismatch | None:
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        name = field.encode_name
        if name not in raw:
            if field.required:
                return Mismatch(where, f"needs the key {name}")
            continue
        found = mismatch_of(hints[field.name], raw[name], _at(where, name))
        if found is not None:
            return found
    return None


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _is(kind: Any, raw: Any) -> bool:
    try:
        msgspec.convert(raw, kind)
    except msgspec.ValidationError:
        return False
    return True
