"""measurements.jsonl, one JSON object a line: appended to while measuring, and read by what a RUN argument names."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import os
import re
import sys
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Self, get_args

import msgspec

from gate.checkout import refuse_tracked
from gate.evidence.lines import Inputs, Located, RecordError, newer, of_another_version, refuse_unusable, why_wrong
from gate.model import SCHEMA, Execution, Record, Run, UserError
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import torn_line
from gate.writing.phrases import unread

if TYPE_CHECKING:
    from gate.evidence.foreign import Named

MEASUREMENTS = "measurements.jsonl"
REPORT = "report.json"
DEFAULT_FOLDER = ".perfgate"
_GZIP = b"\x1f\x8b"
_TYPES = "|".join(str(each.__struct_config__.tag) for each in get_args(Record))
_BEGINS = re.compile(rf'\{{"type": ?"(?:{_TYPES})"'.encode())
_LONG = 1 << 20
"""Bytes of a line whose values are kept compactly."""
_DECODER = msgspec.json.Decoder(Record)


class FileRecords(msgspec.Struct, frozen=True):
    """The records of one file."""

    records: list[Located]
    torn: bool
    """Its last line was cut off in the middle of a write and left out."""


def read(path: str, data: bytes) -> FileRecords:
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
            record = of_another_version(text)
            if record is None:
                writers = [each.record.perfgate for each in records[:1] if isinstance(each.record, Run)]
                raise RecordError(path, number, why_wrong(error, text, ours=any(writers))) from None
        if isinstance(record, Run) and record.schema > SCHEMA:
            raise RecordError(path, number, newer(record.schema))
        refuse_unusable(record, path, number)
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
    return FileRecords(records, torn=bool(begun))


class Appender:
    """Appends records to a measurements file, in one write, and flushes them to disk.

    The flush begins at once and is over before the next write: it takes milliseconds, and whoever appends goes on
    meanwhile. What is written survives the end of this process; only a machine that fails can lose the last write.
    A signal may raise an exception anywhere in here.
    """

    held: Sequence[Record] = ()
    """Appended before the next records: what has nothing to say unless others follow."""

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

        Raises: OSError: the disk is full or gone; what was appended before is intact.
        """
        if not records:
            return
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in (*self.held, *records))
        self._flushed()
        self._start = self._file.tell()
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError:
            self._file.truncate(self._start)
            raise
        self.held = ()
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

        Raises: OSError: the last write cannot be flushed; it is taken back.
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

    Raises: OSError: the file exists and cannot be changed.
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


# --- RUN arguments: folders, files, standard input --------------------------------------------------------------------


def read_inputs(paths: Sequence[str]) -> Inputs:
    """Read measurement files; a folder stands for the measurements.jsonl in it, "-" for standard input.

    A folder of what actions/download-artifact left stands for all parts in it. What is compressed by gzip is unpacked.
    Result files of other tools are read as builds, "base=FILE" and "head=FILE" saying of which side. "git:REF:PATH" is
    what a commit has there.

    Raises:
        UserError: a file that cannot be read, or that is a report rather than measurements.
        RecordError: a bad line.
    """
    records: list[Located] = []
    warnings: list[AnyWarning] = []
    files: list[Path] = []
    results: list[Named] = []
    for path in (part for given in paths for part in parts(given)):
        if path != "-" and (found := _results(path)):
            results += found
            continue
        name, data = file_bytes(path)
        if path == "-" and not is_ours(data):
            from gate.evidence.foreign import first_unknown, standard_input

            if first_unknown([own := standard_input(data)]) is None:
                results.append(own)
                continue
        _refuse_results(name, data)
        reading = read(name, data)
        if reading.torn:
            warnings.append(torn_line(name))
        records += reading.records
        if path != "-" and not _is_kept(path):
            files.append(Path(name))
    if results:
        from gate.evidence.foreign import imported

        read_too = imported(results)
        records += read_too.records
        warnings += read_too.warnings
    return Inputs(records, warnings, files)


def _results(path: str) -> list[Named]:
    """Return the result files of other tools that an argument names; [] where it names measurements.

    Raises: UserError: a file that is neither.
    """
    file = Path(path)
    if file.is_dir():
        if _holds(file):
            return []
    else:
        with contextlib.suppress(OSError), file.open("rb") as opened:
            # of a pipe these bytes would be lost: the reader of results refuses it
            if opened.seekable() and is_ours(opened.read(64)):
                return []
    if file.is_dir() and not any(file.glob("[!.]*")):
        _require_run(path)
    from gate.evidence.foreign import first_unknown, is_plain, named, unknown_error

    if not file.exists() and is_plain(path):
        return []
    found = named([path])
    unknown = first_unknown(found)
    if unknown is None:
        return found
    if _is_kept(path) and is_ours(unknown.head.data):
        return []
    first, newline, _ = unknown.head.text.lstrip().partition("\n")
    begins = first.startswith("{") and ('"type"' in first or not (newline or first.endswith("}")))
    if file.exists() and (not first or begins):
        # it is empty, or begins with a line of measurements, however damaged
        return []
    _refuse_results(unknown.name, unknown.head.data)
    raise unknown_error(unknown)


def is_ours(data: bytes) -> bool:
    """Return whether a file begins as measurements do; k6 writes lines with types of its own."""
    return _BEGINS.match(data.lstrip(b"\xef\xbb\xbf \t\r\n")) is not None


def _refuse_results(name: str, data: bytes) -> None:
    """Refuse what perfgate itself wrote about measurements."""
    if name.endswith(".json") and data.lstrip()[:1] == b"{" and b'"findings"' in data:
        raise UserError(f"{name}: is a report without its {MEASUREMENTS} beside it; `perfgate report {name}` shows it")
    if name.endswith(("study.json", ".html")):
        raise UserError(f"{name}: is a result, not measurements: give its folder, or the {MEASUREMENTS} in it")


def parts(path: str) -> list[str]:
    """Find the parts of a gate in a folder without measurements of its own, by the names of artifacts; else itself.

    A report stands for the run that it lies beside.
    """
    folder = Path(path)
    if folder.name == REPORT and folder.is_file() and _holds(folder.parent):
        return [str(folder.parent)]
    if path == "-" or not folder.is_dir() or _holds(folder):
        return [path]
    return sorted(str(part) for part in folder.glob("perfgate-*-data*/") if _holds(part)) or [path]


def _holds(folder: Path) -> bool:
    return any((folder / name).exists() for name in (MEASUREMENTS, f"{MEASUREMENTS}.gz"))


def _is_kept(path: str) -> bool:
    """Return whether an argument names what a commit has."""
    return path.startswith("git:") and not Path(path).exists()


def file_bytes(path: str) -> tuple[str, bytes]:
    """Return the name and the bytes, unpacked, of one of the paths that read_inputs takes; raises what that does."""
    if path == "-":
        return "standard input", _unpacked("standard input", sys.stdin.buffer.read())
    if _is_kept(path):
        from gate.evidence.foreign import named

        ((_, kept),) = named([path])
        return kept.name, kept.whole()
    file = Path(path)
    if file.is_dir():
        if not _holds(file):
            _require_run(path)
            raise UserError(f"{path}: has no {MEASUREMENTS}: it is not the folder of a run")
        packed = file / f"{MEASUREMENTS}.gz"
        file = packed if packed.exists() and not (file / MEASUREMENTS).exists() else file / MEASUREMENTS
    try:
        return str(file), _unpacked(str(file), file.read_bytes())
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            _require_run(path)
        raise UserError(f"{file}: {unread(error)}") from None


def _require_run(path: str) -> None:
    """Refuse the folder that is read where none is named, when nothing has been measured yet."""
    if path == DEFAULT_FOLDER:
        raise UserError(
            f"no run in {DEFAULT_FOLDER}: make one with `perfgate check` in the project, which measures for at most "
            "plan.budget (15 min by default), or name the folder of a run"
        )


def _unpacked(name: str, data: bytes) -> bytes:
    # as a report carries them
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise UserError(f"{name}: looks like a gzip file but cannot be unpacked: copy it again") from None
