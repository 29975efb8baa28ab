"""HdrHistogram's interval logs (.hlog): the values of each interval, and its tag as the benchmark or metric.

The format is that of the Java library's HistogramLogWriter and AbstractHistogram (encoding V2), which the C, Go, Rust,
Python and JavaScript libraries write too; libraries before 2015 wrote V0 and V1. What a histogram keeps of a value is
its bucket: a value comes back as the middle of its bucket, at most the histogram's own precision away.

Values are the middle of their bucket.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import math
import random
import re
import struct
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gate.formats.parts.output import OutputError, Series, plain_metric, refuse_cut_off, shown
from gate.formats.parts.requests import aggregates, float_of
from gate.formats.parts.result import Format, LeftOut, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.units import to_base

FORMAT = Format(title="HdrHistogram interval log (.hlog)")
_NAME = "histogram"
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
MOST = 10_000_000
"""Values of one log; it is the counts that are large, not the file."""
_MAX_ENCODED = 1 << 26
_VERSION = b"Histogram log format version"
_LEGEND = b'"StartTimestamp"'
# every encoding's cookie begins with the bytes 1c 84 93
_LINE = re.compile(rb"(?:Tag=([^, ]*),)?[^,]*,[^,]*,([^,]*),(HIST[A-Za-z0-9+/=]*)")
_COMPRESSED = (0x1C849304, 0x1C849302, 0x1C849309)
_V2, _V1, _V0 = 0x1C849303, 0x1C849301, 0x1C849308
_WORD_SIZE = 0xF0
_WORDS = {2: "h", 4: "i", 8: "q"}
_BITS = 64
_HEADER = struct.Struct(">iiiiqqd")
_HEADER_V0 = struct.Struct(">iiqqq")


Bucket = tuple[int, int]
"""The middle of a bucket, as the libraries round it, and how often values of it were recorded."""


class _Interval(NamedTuple):
    """What one line of a log holds."""

    tag: str | None
    highest: bytes
    """Its largest value as the writer shows it, in a unit of the writer's choice."""
    buckets: Iterator[Bucket]


@dataclass(slots=True)
class _Tagged:
    values: array[float] = field(default_factory=lambda: array("d"))
    counts: Counter[int] = field(default_factory=Counter)

    def take(self, counts: list[Bucket], seed: int, *, keep: bool) -> None:
        for value, count in counts:
            self.counts[value] += count
        if keep:
            self.values.extend(array("d", _shuffled(counts, seed, 1)))


def recognises(source: Source) -> bool:
    """Return whether it has the version line, the legend or an interval of such a log."""
    return is_log("\n".join(source.head.lines).encode())


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each tag; one without a tag is called "histogram"."""
    tagged: dict[str | None, _Tagged] = {}
    largest, power = 0.0, 9
    total, torn = 0, ""
    for number, line in enumerate(source.bytes_lines(), 1):
        if torn:
            raise OutputError(torn)
        try:
            found = _interval(line.strip())
            if found is None:
                continue
            counts = list(found.buckets)
        except OutputError as error:
            # the last line may be cut off
            torn = f"line {number}: {error}"
            continue
        own = tagged.setdefault(found.tag, _Tagged())
        total += sum(count for _, count in counts)
        own.take(counts, number, keep=total <= MOST)
        # by which power of ten the largest value is made smaller where it is shown
        shown, most = float_of(found.highest.decode("ascii", "replace")), counts[-1][0] if counts else 0
        if shown is not None and largest < shown < math.inf and most > 0:
            largest, power = shown, round(math.log10(most / shown))
    if torn:
        yield LeftOut(f"{torn}: the file may be cut off there")
    scale = {6: 1e-9, 9: 1e-9, 3: 1e-6}.get(power, 1.0)
    for tag, own in tagged.items():
        if own.counts:
            yield from _results(tag or _NAME, own, scale, whole=total <= MOST)


def _results(name: str, own: _Tagged, scale: float, *, whole: bool) -> Iterator[Result]:
    metric, unit = ("value", "") if scale == 1.0 else ("time", "s")
    if whole:
        values = array("d", (value * scale for value in own.values))
        yield Measured(benchmark=name, metrics={metric: Metric(unit=unit, values=values)})
    else:
        found = {statistic: value * scale for statistic, value in _quantiles(own.counts)}
        yield from aggregates(name, metric, found, unit=unit, count=own.counts.total())


def _shuffled(counts: Iterable[Bucket], seed: int, scale: float) -> list[float]:
    """Give the values of an interval, whose order is not known, in a random one that is always the same.

    So neither warm-up nor a trend is found where there is none.
    """
    values = [*itertools.chain.from_iterable(itertools.repeat(value * scale, count) for value, count in counts)]
    random.Random(seed).shuffle(values)  # noqa: S311  # an order, no secret
    return values


def _quantiles(counts: Counter[int]) -> Iterator[tuple[str, float]]:
    total, below = counts.total(), 0
    yield "mean", sum(value * count for value, count in counts.items()) / total
    wanted = dict(_QUANTILES)
    for value in sorted(counts):
        below += counts[value]
        for statistic in [each for each, share in wanted.items() if below >= share * total]:
            del wanted[statistic]
            yield statistic, value
    yield "max", max(counts)


def is_log(data: bytes) -> bool:
    """Return whether a program's output is such a log: by its version line, its legend or its first interval."""
    for line in (line.strip() for line in data[: 1 << 16].removeprefix(b"\xef\xbb\xbf").split(b"\n")):
        if line.startswith(b"#"):
            if _VERSION in line:
                return True
        elif line:
            return line.startswith(_LEGEND) or bool(_LINE.match(line))
    return False


def _parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:
    """Read the values of a log, interval by interval.

    units: the declared metrics and their units (None: not said). Intervals with a tag belong to the metric of that
    name, the others to the only declared metric, else to "time". Histograms hold integers without a unit, so every
    metric's must be declared.

    Raises:
        OutputError: a line that cannot be read, by its number from 1; a metric without a declared unit; more than
            MOST values; a last line without a newline.
    """
    found: dict[str, Series] = {}
    scales: dict[str, float] = {}
    left = MOST
    for place, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            interval = _interval(line.strip())
            if interval is None:
                continue
            name = plain_metric(units) if interval.tag is None else interval.tag
            if name not in found:
                base, scales[name] = _unit(name, units)
                found[name] = Series(base, [])
            counts: list[Bucket] = []
            for bucket in interval.buckets:
                left -= bucket[1]
                if left < 0:
                    raise OutputError(f"more than {MOST} values: record for a shorter time, or fewer")
                counts.append(bucket)
            found[name].values.extend(_shuffled(counts, place, scales[name]))
        except OutputError as error:
            raise OutputError(f"line {place} of the HdrHistogram log: {error}") from None
    refuse_cut_off(data, "the HdrHistogram log")
    return {name: series for name, series in found.items() if series.values}


def _interval(line: bytes) -> _Interval | None:
    """Read a line without white space around it; None: it is a comment, the legend or blank.

    Raises:
        OutputError: it is something else, or a histogram that cannot be decoded.
    """
    if not line or line.startswith((b"#", _LEGEND)):
        return None
    match = _LINE.fullmatch(line)
    if match is None:
        raise OutputError(f"{shown(line)} is not an interval")
    tag = match[1].decode("utf-8", "replace") if match[1] else None
    return _Interval(tag, match[2], decode(match[3]))


def _unit(name: str, units: Mapping[str, str | None]) -> tuple[str, float]:
    unit = units.get(name)
    if unit is None:
        key = name if re.fullmatch(r"[\w-]+", name, re.ASCII) else repr(name)
        raise OutputError(
            f'its integers have no unit: declare one, usually nanoseconds: [benchmark.metric.{key}] unit = "ns"'
        )
    return to_base(unit)


def decode(encoded: bytes) -> Iterator[Bucket]:
    """Decode one histogram from base64: the buckets that hold something, smallest value first.

    Raises:
        OutputError: it is damaged, or in no encoding of V0 to V2; also from the iterator, which holds one bucket at a
            time: a small log may have millions.
    """
    try:
        data = base64.b64decode(encoded, validate=True)
        if _cookie(data) & ~_WORD_SIZE in _COMPRESSED:
            data = zlib.decompressobj().decompress(data[8:], _MAX_ENCODED)
        header = _header(data)
    except (binascii.Error, zlib.error, struct.error, ValueError) as error:
        raise OutputError(f"a damaged histogram: {error}") from None
    if header is None:
        raise OutputError("a histogram that is in no encoding from V0 to V2, or is shifted: perfgate cannot read it")
    payload = data[header.size : header.size + header.length]
    if len(payload) != header.length or not (0 <= header.digits <= 5 and header.lowest > 0):
        raise OutputError("a damaged histogram: it is cut off, or its header makes no sense")
    return _buckets(_counts(payload, header.word), header.digits, header.lowest)


class _Header(NamedTuple):
    size: int
    """Bytes before the counts."""
    length: int
    """Bytes of the counts."""
    word: int | None
    """Bytes of one count; None: of V2, where their number varies."""
    digits: int
    lowest: int


def _header(data: bytes) -> _Header | None:
    """Read what precedes the counts; None: of another encoding. Raises struct.error: it is cut off."""
    cookie = _cookie(data)
    encoding, word = cookie & ~_WORD_SIZE, (cookie & _WORD_SIZE) >> 4 & 0xE
    if encoding == _V0:
        _, digits, lowest, _, _ = _HEADER_V0.unpack_from(data)
        # V0 does not say how long the counts are: they take the rest
        if word not in _WORDS:
            return None
        return _Header(_HEADER_V0.size, (len(data) - _HEADER_V0.size) // word * word, word, digits, lowest)
    _, length, shift, digits, lowest, _, _ = _HEADER.unpack_from(data)
    if encoding not in (_V1, _V2) or shift or (encoding == _V1 and (word not in _WORDS or length % word)):
        return None
    return _Header(_HEADER.size, length, word if encoding == _V1 else None, digits, lowest)


def _cookie(data: bytes) -> int:
    return int(struct.unpack_from(">i", data)[0])


def _counts(payload: bytes, word: int | None) -> Iterator[int]:
    """Yield the counts of the buckets in their order; a negative one of V2 is so many buckets that are empty."""
    if word is None:
        # zigZag LEB128 numbers of 64 bits: a ninth byte has eight bits of the number
        number = shift = 0
        for byte in payload:
            if shift == 56:
                number, more = number | byte << 56, False
            else:
                number, more = number | (byte & 0x7F) << shift, byte >= 0x80
            shift += 7
            if not more:
                yield (number >> 1) ^ -(number & 1)
                number = shift = 0
        if shift:
            raise OutputError("a damaged histogram: it ends in the middle of a count")
        return
    for (count,) in struct.iter_unpack(f">{_WORDS[word]}", payload):
        if count < 0:
            raise OutputError("a damaged histogram: a count is negative")
        yield count


def _buckets(counts: Iterator[int], digits: int, lowest: int) -> Iterator[Bucket]:
    half = max(0, math.ceil(math.log2(2 * 10**digits)) - 1)
    unit = lowest.bit_length() - 1
    index = 0
    for count in counts:
        if count > 0:
            # AbstractHistogram.valueFromIndex and sizeOfEquivalentValueRange
            bucket = max((index >> half) - 1, 0)
            sub = index - (bucket << half)
            yield (sub << (bucket + unit)) + ((1 << (bucket + unit)) >> 1), count
        index += max(1, -count)
        if (index >> half) + unit > _BITS:
            raise OutputError("a damaged histogram: its counts do not end")


LIVE = _parse
