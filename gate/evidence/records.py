"""Read and append measurements.jsonl, one JSON object a line."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import typing
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Self

import msgspec

from gate import __version__
from gate.checkout import refuse_tracked
from gate.config.wrong import is_struct, shown, why_not
from gate.model import SCHEMA, Execution, Record, Run, UserError
from gate.model.bounds import LARGEST, beyond, out_of_bounds, why_out_of_bounds
from gate.model.profile import Profile
from gate.model.warnings import AnyWarning, known

_LONG = 1 << 20
"""Bytes of a line whose values are kept compactly."""
_DECODER = msgspec.json.Decoder(Record)
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


class Inputs(msgspec.Struct, frozen=True):
    """The records of all files, warnings about how they were read, and the files that have a name."""

    records: list[Located]
    warnings: list[AnyWarning]
    files: list[Path]


class Reading(msgspec.Struct, frozen=True):
    """The records of one file."""

    records: list[Located]
    torn: bool
    """Its last line was cut off in the middle of a write and left out."""


def read(path: str, data: bytes) -> Reading:
    """Decode the bytes of a measurements file; path is only for messages.

    Blank lines are passed over and unknown keys ignored. A last line without newline is a torn write, if it begins as
    one of ours does (or with the zeros that a power cut leaves).

    Raises:
        RecordError: a line that is no JSON object of a known type, a run of a newer schema, or a value too large or too
            small to compute with.
    """
    records: list[Located] = []
    number, rest = 0, b""
    # one line after the other: of an import, a line may hold millions of values
    for number, line in enumerate(io.BytesIO(data), 1):
        if not line.endswith(b"\n"):
            number, rest = number - 1, line
            break
        text = line.strip()
        if number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if not text:
            continue
        try:
            record = _DECODER.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            record = _of_another_version(text)
            if record is None:
                writers = [each.record.perfgate for each in records[:1] if isinstance(each.record, Run)]
                raise RecordError(path, number, _why(error, text, ours=any(writers))) from None
        if isinstance(record, Run) and record.schema > SCHEMA:
            raise RecordError(path, number, _newer(record.schema))
        _refuse_unusable(record, path, number)
        if isinstance(record, Execution) and len(text) > _LONG:
            # keep the values in a quarter of the memory
            metrics = {
                name: msgspec.structs.replace(metric, values=array("d", metric.values))
                for name, metric in record.metrics.items()
            }
            record = msgspec.structs.replace(record, metrics=metrics)
        records.append(Located(record, path, number))
    begun = rest.strip().removeprefix(b"\xef\xbb\xbf")
    if begun and not begun.startswith((b"{", b"\0")):
        raise RecordError(path, number + 1, "is not a JSON object, so not a line of measurements")
    return Reading(records, torn=bool(begun))


def _refuse_unusable(record: Record, path: str, number: int) -> None:
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


def _of_another_version(text: bytes) -> Run | None:
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


def _newer(schema: int) -> str:
    return f"schema {schema} is newer than this perfgate reads ({SCHEMA}); use a newer perfgate"


def _why(error: Exception, text: bytes, *, ours: bool) -> str:
    """Say what is wrong with a line; ours: a perfgate began its file, which may have written other lines."""
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
        return _newer(schema)
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


class Appender:
    """Appends records to a measurements file, in one write, and flushes them to disk.

    The flush begins at once and is over before the next write: it takes milliseconds, and whoever appends goes on
    meanwhile. What is written survives the end of this process; only a machine that fails can lose the last write.
    A signal may raise an exception anywhere in here.
    """

    def __init__(self, path: Path) -> None:
        """Open for appending, after cutting off a torn last line.

        Raises:
            OSError: the file cannot be opened or written.
            UserError: it leads through a link of a commit.
        """
        refuse_tracked(path)
        cut_torn(path)
        self._file = path.open("ab", buffering=0)
        self._flushes: SimpleQueue[Event | None] = SimpleQueue()
        self._flush: Event | None = None
        self._flush_error: OSError | None = None
        self._start = 0
        # one for all flushes: an exception within Thread.start leaves a thread that nobody can wait for
        self._worker: Thread | None = Thread(target=self._work, name="flush", daemon=True)
        try:
            self._worker.start()
        except RuntimeError:  # the system has no more threads
            self._worker = None
        except BaseException:
            self._file.close()
            raise

    def __call__(self, *records: Record) -> None:
        """Append records; a write or flush that fails is taken back.

        Raises:
            OSError: the disk is full or gone; what was appended before is intact.
        """
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        self._flushed()
        self._start = self._file.tell()
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError:
            self._file.truncate(self._start)
            raise
        if self._worker is None:
            self._fsync()
            return
        flush = Event()
        self._flushes.put(flush)
        self._flush = flush

    def _work(self) -> None:
        while (flush := self._flushes.get()) is not None:
            self._fsync()
            flush.set()

    def _fsync(self) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            self._flush_error = error

    def _flushed(self) -> None:
        if self._flush is not None:
            self._flush.wait()
            self._flush = None
        if self._flush_error is not None:
            error, self._flush_error = self._flush_error, None
            self._file.truncate(self._start)
            raise error

    def close(self) -> None:
        """Close the file, when all of it is on disk.

        Raises:
            OSError: the last write cannot be flushed; it is taken back.
        """
        try:
            self._flushed()
        finally:
            if self._worker is not None:
                self._flushes.put(None)
                self._worker.join()
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cut_incomplete(path: Path) -> bool:
    """Cut off the lines of a suite's last execution if some are missing; return whether there were any.

    Raises:
        RecordError: a bad line.
        OSError: the file cannot be read or changed.
    """
    data = path.read_bytes()
    found = read(str(path), data).records
    last = found[-1].record if found else None
    if not isinstance(last, Execution) or last.lines is None:
        return False

    def is_of_last(e: Record) -> bool:
        same = ("suite", "side", "session", "build", "execution", "factors")
        return isinstance(e, Execution) and all(getattr(e, of) == getattr(last, of) for of in same)

    count = sum(1 for _ in itertools.takewhile(is_of_last, (each.record for each in reversed(found))))
    if count >= last.lines:
        return False
    first = found[-count].line
    os.truncate(path, sum(len(line) + 1 for line in data.split(b"\n")[: first - 1]))
    return True


def cut_torn(path: Path) -> bool:
    """Cut off a last line that has no newline; return whether there was one.

    Raises:
        OSError: the file exists and cannot be changed.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    end = data.rfind(b"\n") + 1
    if end == len(data):
        return False
    os.truncate(path, end)
    return True


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
