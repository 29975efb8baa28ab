"""A line of measurements: its record, where it stands, and what is wrong with it."""

from __future__ import annotations

import json
import sys
import typing
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gate import __version__
from gate.config.wrong import is_struct, shown, why_not
from gate.model import SCHEMA, Execution, Record, Run, UserError
from gate.model.bounds import LARGEST, beyond, out_of_bounds, why_out_of_bounds
from gate.model.profile import Profile
from gate.model.warnings import AnyWarning, known

_KINDS = {kind.__struct_config__.tag: kind for kind in Record.__args__}


class RecordError(UserError):
    """A line of a measurements file that cannot be used."""

    def __init__(self, path: str, line: int, why: str) -> None:
        """Say which file, which line (from 1) and why."""
        super().__init__(f"{path}:{line}: {why}")
        self.path = path
        self.line = line
        self.why = why


class Located(msgspec.Struct, frozen=True, gc=False):
    """A record and where it stands."""

    record: Record
    path: str
    line: int


def of_this_run(records: Iterable[Record]) -> list[Located]:
    """Say of records that no file was read for where they stand: in this run, in their order."""
    return [Located(record, "this run", number) for number, record in enumerate(records, 1)]


class Inputs(msgspec.Struct, frozen=True):
    """The records of all files, warnings about how they were read, and the files that have a name."""

    records: list[Located]
    warnings: list[AnyWarning]
    files: list[Path]


def refuse_unusable(record: Record, path: str, number: int) -> None:
    """Refuse a record that nothing can be computed with; where it stands.

    Raises: RecordError: it holds a value too large or too small, or names what is not there.
    """
    if isinstance(record, Profile) and any(i >= len(record.frames) for stack in record.stacks for i in stack.frames):
        raise RecordError(path, number, f"a stack names a frame beyond the {len(record.frames)} of its profile")
    for name, metric in record.metrics.items() if isinstance(record, Execution) else ():
        for values in (metric.values, metric.dropped):
            found = out_of_bounds(values)
            if found is not None:
                raise RecordError(path, number, f"{name} holds {why_out_of_bounds(found)}")
    # what else is computed with, and written as it is; of the many lines only what may hold anything
    why = ""
    if not isinstance(record, Execution):
        why = beyond({name: value for name in record.__struct_fields__ if (value := getattr(record, name))})
    elif record.seconds and abs(record.seconds) > LARGEST:
        why = beyond(record.seconds, "seconds")
    if isinstance(record, Execution) and record.factors:
        # of a setting only the order counts
        why = why or beyond(record.factors, "factors", largest=sys.float_info.max)
    if why:
        raise RecordError(path, number, why)


def of_another_version(text: bytes) -> Run | None:
    """Read a run line whose warnings another version wrote, which says more or other things; None: it is wrong."""
    try:
        line = msgspec.json.decode(text)
        if line["type"] != "run":
            return None
        # for people alone; any other part of it counts
        return msgspec.convert({**line, "choice": None, "warnings": list(map(known, line.get("warnings", ())))}, Run)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError, AttributeError, KeyError):
        return None


OLDER = f"it was changed, or an older perfgate than this ({__version__}) wrote it"


def newer(schema: int) -> str:
    """Say that a schema is one of later versions."""
    return f"schema {schema} is newer than this perfgate reads ({SCHEMA}); use a newer perfgate"


def why_wrong(error: Exception, text: bytes, *, ours: bool) -> str:
    """Say what is wrong with a line that is no record of a known type.

    ours: a perfgate began its file, which may have written other lines.
    """
    try:
        line = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _not_json(text)
    if not isinstance(line, dict):
        return "is not a JSON object, so not a line of measurements"
    if "type" not in line:
        return f'no "type": a line of measurements has one of {", ".join(_KINDS)}'
    kind = _KINDS.get(line["type"]) if isinstance(line["type"], str) else None
    if kind is None:
        return f"unknown type {shown(line['type'])}: a line of measurements has one of {', '.join(_KINDS)}"
    # whatever else is in it
    if kind is Run and isinstance(schema := line.get("schema"), int) and schema > SCHEMA:
        return newer(schema)
    why = _wrong(kind, line) or str(error)
    return f"{why}; {OLDER}: measure again" if ours or (kind is Run and "perfgate" in line) else why


def _not_json(text: bytes) -> str:
    try:
        json.loads(text)
    except UnicodeDecodeError as error:
        return f"not valid JSON: byte {error.start + 1} is not UTF-8"
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc):
            return "not valid JSON: it ends too early"
        return f"not valid JSON: character {error.pos + 1} is unexpected"
    except RecursionError:
        return "not valid JSON: it is nested too deeply"
    except ValueError:
        # a whole number of more digits than Python reads
        return "not valid JSON: it holds a number out of range"
    return "not valid JSON: it holds NaN, Infinity or a number out of range"


def _wrong(kind: Any, raw: Any, where: str = "") -> str:
    """Say which first part of a decoded JSON value is not of its type, such as "build: expected a whole number"."""
    bare = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    origin, arguments = typing.get_origin(bare), typing.get_args(bare)
    structs = [member for member in arguments if is_struct(member) and isinstance(raw, dict)]
    # the parts of the value: the type of each, itself and where it stands
    parts: Iterable[tuple[Any, Any, str]] = ()
    if is_struct(bare) and isinstance(raw, dict):
        hints, fields = typing.get_type_hints(bare, include_extras=True), msgspec.structs.fields(bare)
        absent = next((f.encode_name for f in fields if f.required and f.encode_name not in raw), None)
        if absent is not None:
            return f"{where}: needs the key {absent}".removeprefix(": ")
        parts = [(hints[f.name], raw[n], f"{where}.{n}") for f in fields if (n := f.encode_name) in raw]
    elif origin is dict and isinstance(raw, dict):
        parts = ((arguments[1], value, f"{where}.{key}") for key, value in raw.items())
    elif origin in (list, Sequence) and isinstance(raw, list):
        parts = ((arguments[0], value, f"{where}[{index}]") for index, value in enumerate(raw))
    elif len(structs) == 1:
        parts = [(structs[0], raw, where)]
    found = next((why for of, value, at in parts if (why := _wrong(of, value, at.removeprefix(".")))), "")
    try:
        msgspec.convert(raw, kind)
    except msgspec.ValidationError:
        return found or f"{where}: {why_not(kind, raw)}".removeprefix(": ")
    return found
