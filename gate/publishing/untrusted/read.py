"""Takes measurements that anybody may have written out of a zip file, and bounds sizes, counts, numbers and names.

Nothing in the file is ever written.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import msgspec

from gate.evidence.lines import Located, RecordError
from gate.evidence.records import read
from gate.model import Execution, HostState, Look, Run, UserError
from gate.model.case import CaseId, canonical
from gate.writing.plain import clip, visible

MEASUREMENTS = "measurements.jsonl"
LARGEST_ZIP = 30_000_000
"""Bytes."""
LARGEST = 100_000_000
"""Bytes of the measurements."""
MOST_MEMBERS = 1000

_LOCAL, _CENTRAL = b"PK\x03\x04", b"PK\x01\x02"
# the fixed part of a member's header
_HEADER = 30
_ENCRYPTED = 0x1
# what zipfile and zlib raise over a file that is broken, or was broken on purpose
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError, OSError, ValueError, RuntimeError,
    LookupError, OverflowError,
)  # fmt: skip


class UnpackError(UserError):
    """A zip file that is not taken."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the artifact: {why}; nothing of it is used")


def unpack(zip_file: Path) -> bytes:
    """Return the measurements.jsonl at the root of a zip file.

    Refused are: more than LARGEST_ZIP bytes or MOST_MEMBERS members; a member that is absolute, climbs out, is a link,
    is encrypted or shares its bytes with another; measurements that are there twice, compressed otherwise than by
    deflate, larger than LARGEST when unpacked whatever is declared, or not what their checksum says.

    Raises: UserError: it is refused.
    """
    found = member(zip_file, MEASUREMENTS, LARGEST)
    if found is None:
        raise UnpackError(f"holds {MEASUREMENTS} nowhere at its root")
    return found


def member(zip_file: Path, name: str, most: int) -> bytes | None:
    """Return a file at the root of a zip file, of so many bytes at most; None: it has none of this name.

    Raises: UserError: it is refused, see unpack.
    """
    try:
        with os.fdopen(os.open(zip_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnpackError("is no file")
            data = file.read(LARGEST_ZIP + 1)
    except OSError as error:
        raise UserError(f"{zip_file}: cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_ZIP:
        raise UnpackError(f"is larger than {LARGEST_ZIP / 1e6:.0f} MB")
    if not data.startswith(_LOCAL):
        raise UnpackError("is not a zip file")
    # before zipfile makes an object of each
    if data.count(_CENTRAL) > MOST_MEMBERS:
        raise UnpackError(f"has more than {MOST_MEMBERS:,} members")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            found = [each for each in _refuse_all_strange(opened, len(data)) if each.filename == name]
            if len(found) > 1:
                raise UnpackError(f"holds {name} {len(found)} times")
            return _unpacked(opened, found[0], most) if found else None
    except _BROKEN as error:
        raise UnpackError(f"cannot be unpacked ({type(error).__name__})") from None


def _refuse_all_strange(opened: zipfile.ZipFile, size: int) -> list[zipfile.ZipInfo]:
    members = opened.infolist()
    for each in members:
        name = each.orig_filename
        parts = name.split("/")
        if name != each.filename or name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]:
            raise UnpackError("has a member whose name points outside it")
        kind = stat.S_IFMT(each.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise UnpackError("has a member that is a link or a device")
        if each.flag_bits & _ENCRYPTED:
            raise UnpackError("has an encrypted member")
    places = [*sorted((each.header_offset, each.compress_size) for each in members), (size, 0)]
    for (begin, packed), (end, _) in pairwise(places):
        if begin < 0 or begin + _HEADER + packed > end:
            raise UnpackError("has members that overlap")
    return members


def _unpacked(opened: zipfile.ZipFile, each: zipfile.ZipInfo, most: int) -> bytes:
    if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnpackError("is compressed by another method than deflate")
    too_large = UnpackError(f"{each.filename} in it is larger than {most / 1e6:.0f} MB")
    if each.file_size > most:
        raise too_large
    with opened.open(each) as file:
        # what is declared may be a lie: the end is where it ends
        found = file.read(most + 1)
    if len(found) > most:
        raise too_large
    if len(found) != each.file_size:
        raise UnpackError(f"{each.filename} in it is not as long as it says")
    return found


ARTIFACT = "the artifact"
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class ArtifactLimits:
    """What an artifact may hold at most.

    All files together, but for line: bytes of one line.
    """

    bytes: int = 100_000_000
    line: int = 5_000_000
    lines: int = 300_000
    pieces: int = 12_000_000
    """Values, keys, lists and tables as JSON writes them, which bounds the memory that reading takes."""
    values: int = 5_000_000
    benchmarks: int = 5_000
    cases: int = 5_000
    name: int = 500
    unit: int = 100
    factors: int = 20
    sessions: int = 64
    builds: int = 10_000
    executions: int = 100_000
    """sessions, builds and executions: beyond their indexes."""
    count: int = 10**9
    seconds: float = 1e9
    looks: int = 16
    """Different rounds."""
    runs: int = 1_000
    """Run lines."""


LIMITS = ArtifactLimits()


class ArtifactError(UserError):
    """Measurements of an artifact that are not taken; one line."""

    def __init__(self, line: int | None, why: str, name: str = ARTIFACT) -> None:
        """Say which line (from 1; None: none in particular) and why; name: what the file is called."""
        where = "" if line is None else f"line {line}: "
        super().__init__(f"{name}: {where}{clip(visible(why), _SHOWN)}")


@dataclass(slots=True)
class ArtifactTotals:
    """What was counted so far, over all files of one gate."""

    bytes: int = 0
    lines: int = 0
    pieces: int = 0
    values: int = 0
    benchmarks: set[str] = field(default_factory=set)
    cases: set[CaseId] = field(default_factory=set)
    looks: set[int] = field(default_factory=set)
    runs: int = 0


def read_untrusted(
    data: bytes, limits: ArtifactLimits = LIMITS, seen: ArtifactTotals | None = None, name: str = ARTIFACT
) -> list[Located]:
    """Read measurements of unknown origin.

    What is returned is finite and bounded in every number and text that a decision uses; what it leaves alone is what
    sanitise replaces or drops: run lines, states of hosts, texts of failures, profiles.

    Args:
        seen: of the other files of the gate.
        name: what the file is called; each of a gate has its own.

    Raises:
        UserError: it is too large, or a line is not as it must be; "the artifact: line N: why".
    """
    seen = ArtifactTotals() if seen is None else seen
    seen.bytes += len(data)
    if seen.bytes > limits.bytes:
        raise ArtifactError(None, f"is larger than {limits.bytes / 1e6:.0f} MB", name)
    _refuse_shape(data, limits, seen, name)
    try:
        reading = read(name, data)
    except RecordError as error:
        raise ArtifactError(error.line, error.why, name) from None
    except (ValueError, RecursionError) as error:
        raise ArtifactError(None, f"cannot be read ({type(error).__name__})", name) from None
    if reading.torn:
        raise ArtifactError(None, "its last line is cut off; measure again", name)
    for located in reading.records:
        _check(located, limits, seen)
    return reading.records


def _refuse_shape(data: bytes, limits: ArtifactLimits, seen: ArtifactTotals, name: str) -> None:
    """Refuse, before an object is made of anything, what would be too many of them."""
    lines = data.count(b"\n") + 1
    seen.lines += lines
    if seen.lines > limits.lines:
        raise ArtifactError(None, f"has more than {limits.lines:,} lines", name)
    seen.pieces += lines + sum(data.count(mark) for mark in (b",", b"[", b"{"))
    if seen.pieces > limits.pieces:
        raise ArtifactError(None, f"holds more than {limits.pieces:,} values, keys and tables", name)
    for number, length in enumerate(map(len, io.BytesIO(data)), 1):
        if length > limits.line + 1:  # with its end
            raise ArtifactError(number, f"is longer than {limits.line / 1e6:.0f} MB", name)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError(data.count(b"\n", 0, error.start) + 1, "is not UTF-8", name) from None


@dataclass(frozen=True, slots=True)
class _Line:
    """One line to be checked."""

    path: str
    number: int
    limits: ArtifactLimits
    seen: ArtifactTotals

    def refuse(self, why: str) -> ArtifactError:
        return ArtifactError(self.number, why, self.path)

    def text(self, name: str, value: str | None, most: int) -> None:
        if value is not None and len(value) > most:
            raise self.refuse(f"{name} is longer than {most} characters")

    def name(self, name: str, value: str | None) -> None:
        self.text(name, value, self.limits.name)
        if value is not None and not value.strip():
            raise self.refuse(f"{name} is blank")

    def count(self, number: int, most: int, what: str) -> None:
        if number > most:
            raise self.refuse(f"there are more than {most:,} {what}")

    def benchmark(self, benchmark: str) -> None:
        self.name("benchmark", benchmark)
        self.seen.benchmarks.add(benchmark)
        self.count(len(self.seen.benchmarks), self.limits.benchmarks, "benchmarks")


def _check(located: Located, limits: ArtifactLimits, seen: ArtifactTotals) -> None:
    line, record = _Line(located.path, located.line, limits, seen), located.record
    _check_fields(line, record)
    if isinstance(record, Execution):
        factors = canonical(record.factors)
        for name, metric in record.metrics.items():
            line.name("the name of a metric", name)
            line.text(f"the unit of {name}", metric.unit, limits.unit)
            seen.values += len(metric.values) + len(metric.dropped)
            line.count(seen.values, limits.values, "values")
            seen.cases.add(CaseId(record.benchmark, name, factors))
            line.count(len(seen.cases), limits.cases, "benchmarks with their metrics and factors")
    elif isinstance(record, Look):
        seen.looks.add(record.look)
        line.count(len(seen.looks), limits.looks, "looks")
    elif isinstance(record, HostState):
        for name, why in record.unproved.items():
            _check_fields(line, why)
            line.benchmark(name)
        if record.cut is not None:
            _check_fields(line, record.cut)
    elif isinstance(record, Run):
        seen.runs += 1
        line.count(seen.runs, limits.runs, "run lines")


def _check_fields(line: _Line, record: msgspec.Struct) -> None:
    """Check what is called the same wherever it stands: places, counts, times, names."""
    limits = line.limits
    below = {
        "session": limits.sessions, "sessions": limits.sessions + 1, "build": limits.builds, "look": limits.builds + 1,
        "rounds": limits.builds + 1, "execution": limits.executions,
        **dict.fromkeys(("order", "warmup", "lines"), limits.count),
    }  # fmt: skip
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value is None:
            continue
        if name in below and not 0 <= value < below[name]:
            raise line.refuse(f"{name} is not from 0 to {below[name] - 1}")
        if name in ("seconds", "setup", "comparing") and value != 0 and not 1e-9 <= value <= limits.seconds:
            # less than a nanosecond is nothing, and a budget cannot be divided by it
            raise line.refuse(f"seconds is neither 0 nor from 1e-9 to {limits.seconds:g}")
        if name == "benchmark":
            line.benchmark(value)
        elif name == "factors":
            _check_factors(line, value)
        elif name == "suite":
            line.name(name, value)


def _check_factors(line: _Line, factors: Mapping[str, object]) -> None:
    if len(factors) > line.limits.factors:
        raise line.refuse(f"there are more than {line.limits.factors} factors")
    for name, value in factors.items():
        line.name("the name of a factor", name)
        if isinstance(value, str):
            line.text(f"factor {name}", value, line.limits.name)
        elif not isinstance(value, (int, float)) or not abs(value) <= line.limits.count:
            raise line.refuse(f"factor {name} is neither a text nor a number up to {line.limits.count:g}")
