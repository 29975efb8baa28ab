"""HdrHistogram's interval logs (.hlog): the values of each interval, and its tag as the benchmark or metric.

The format is that of the Java library's HistogramLogWriter and AbstractHistogram (encoding V2), which the C, Go, Rust,
Python and JavaScript libraries write too. What a histogram keeps of a value is its bucket: a value comes back as the
middle of its bucket, at most the histogram's own precision away.
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
from collections.abc import Iterable, Iterator, Mapping

from gate.formats.parts.output import OutputError, Series, plain_metric, refuse_cut_off, shown
from gate.formats.parts.requests import float_of
from gate.formats.parts.result import Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.units import to_base

FORMAT = Format(title="HdrHistogram interval log (.hlog)")
_NAME = "histogram"
MOST = 10_000_000
"""Values of one log; it is the counts that are large, not the file."""
_MAX_ENCODED = 1 << 26
_VERSION = b"Histogram log format version"
_LEGEND = b'"StartTimestamp"'
# every encoding's cookie begins with the bytes 1c 84 93
_LINE = re.compile(rb"(?:Tag=([^, ]*),)?[^,]*,[^,]*,([^,]*),(HIST[A-Za-z0-9+/=]*)")
_COMPRESSED, _V2 = 0x1C849304, 0x1C849303
_WORD_SIZE = 0xF0
_BITS = 64
_HEADER = struct.Struct(">iiiiqqd")


Bucket = tuple[int, int]
"""The middle of a bucket, as the libraries round it, and how often values of it were recorded."""


def recognises(source: Source) -> bool:
    """Return whether it has the version line, the legend or an interval of such a log."""
    return is_log("\n".join(source.head.lines).encode())


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each tag; one without a tag is called "histogram"."""
    values: dict[str | None, array[float]] = {}
    largest, power = 0.0, 9
    for number, tag, highest, counts in _intervals(source.bytes_lines(), ""):
        values.setdefault(tag, array("d")).extend(array("d", _shuffled(counts, number, 1)))
        # by which power of ten the largest value is made smaller where it is shown
        shown, most = float_of(highest.decode("ascii", "replace")), counts[-1][0]
        if shown is not None and largest < shown < math.inf and most > 0:
            largest, power = shown, round(math.log10(most / shown))
    scale = {6: 1e-9, 9: 1e-9, 3: 1e-6}.get(power, 1.0)
    metric, unit = ("value", "") if scale == 1.0 else ("time", "s")
    for tag, own in values.items():
        metrics = {metric: Metric(unit=unit, values=array("d", (value * scale for value in own)))}
        yield Measured(benchmark=tag or _NAME, metrics=metrics)


def _intervals(lines: Iterable[bytes], of: str) -> Iterator[tuple[int, str | None, bytes, list[Bucket]]]:
    """Yield of each interval with values its line from 1, its tag, the largest value as it is shown, and its buckets.

    Raises:
        OutputError: a line that cannot be read, or more than MOST values in all.
    """
    left = MOST
    for place, line in enumerate(map(bytes.strip, lines), 1):
        if not line or line.startswith((b"#", _LEGEND)):
            continue
        counts: list[Bucket] = []
        try:
            match = _LINE.fullmatch(line)
            if match is None:
                raise OutputError(f"{shown(line)} is not an interval")
            for bucket in decode(match[3]):
                left -= bucket[1]
                if left < 0:
                    raise OutputError(f"more than {MOST} values: record for a shorter time, or fewer")
                counts.append(bucket)
        except OutputError as error:
            raise OutputError(f"line {place}{of}: {error}") from None
        if counts:
            yield place, match[1].decode("utf-8", "replace") if match[1] else None, match[2], counts


def _shuffled(counts: Iterable[Bucket], seed: int, scale: float) -> list[float]:
    """Give the values of an interval, whose order is not known, in a random one that is always the same.

    So neither warm-up nor a trend is found where there is none.
    """
    values = [*itertools.chain.from_iterable(itertools.repeat(value * scale, count) for value, count in counts)]
    random.Random(seed).shuffle(values)  # noqa: S311  # an order, no secret
    return values


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
    of = " of the HdrHistogram log"
    for place, tag, _, counts in _intervals(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), of):
        name = plain_metric(units) if tag is None else tag
        unit = units.get(name)
        if unit is None:
            key = name if re.fullmatch(r"[\w-]+", name, re.ASCII) else repr(name)
            raise OutputError(
                f"line {place}{of}: its integers have no unit: declare one, usually nanoseconds: "
                f'[benchmark.metric.{key}] unit = "ns"'
            )
        base, scale = to_base(unit)
        found.setdefault(name, Series(base, [])).values.extend(_shuffled(counts, place, scale))
    refuse_cut_off(data, "the HdrHistogram log")
    return found


def decode(encoded: bytes) -> Iterator[Bucket]:
    """Decode one histogram from base64: the buckets that hold something, smallest value first.

    Raises:
        OutputError: it is damaged, or not in encoding V2; also from the iterator, which holds one bucket at a time: a
            small log may have millions.
    """
    try:
        data = base64.b64decode(encoded, validate=True)
        if int.from_bytes(data[:4], "big") & ~_WORD_SIZE == _COMPRESSED:
            data = zlib.decompressobj().decompress(data[8:], _MAX_ENCODED)
        cookie = int.from_bytes(data[:4], "big") & ~_WORD_SIZE
        _, length, shift, digits, lowest, _, _ = _HEADER.unpack_from(data)
    except (binascii.Error, zlib.error, struct.error, ValueError) as error:
        raise OutputError(f"a damaged histogram: {error}") from None
    if cookie != _V2 or shift:
        raise OutputError("a histogram that is shifted, or not in encoding V2 (libraries since 2015): it is not read")
    payload = data[_HEADER.size : _HEADER.size + length]
    if len(payload) != length or not (0 <= digits <= 5 and lowest > 0):
        raise OutputError("a damaged histogram: it is cut off, or its header makes no sense")
    half = max(0, math.ceil(math.log2(2 * 10**digits)) - 1)
    unit = lowest.bit_length() - 1

    def buckets() -> Iterator[Bucket]:
        index = 0
        for count in _counts(payload):
            if count > 0:
                # AbstractHistogram.valueFromIndex and sizeOfEquivalentValueRange
                bucket = max((index >> half) - 1, 0)
                sub = index - (bucket << half)
                yield (sub << (bucket + unit)) + ((1 << (bucket + unit)) >> 1), count
            index += max(1, -count)
            if (index >> half) + unit > _BITS:
                raise OutputError("a damaged histogram: its counts do not end")

    return buckets()


def _counts(payload: bytes) -> Iterator[int]:
    """Yield the counts of the buckets in their order; a negative one is so many buckets that are empty."""
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


LIVE = _parse
