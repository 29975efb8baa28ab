"""Go's benchmarks: the profile of CPU time that a test binary writes by itself, in the format of pprof."""

import math
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.instruments.go import is_go_test
from harness.instruments.protocol import Context
from harness.instruments.values import read_regular
from harness.process.execute import Command
from harness.profilers import profiler
from harness.profilers.profiler import Places

_PROFILE = "perfgate.pprof"
_SECONDS = 20.0
"""Of a benchmark's loop, at 100 samples a second for each thread."""
_MOST = 10**9
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Pprof(profiler.Profiler):
    """Samples CPU time with the run time's own profiler: full stacks, inlined functions too."""

    name = "pprof"
    rank = 10

    def fits(self, subject: profiler.Workload) -> bool:
        """Return whether `go test` or a test binary runs."""
        return subject.benchmark.instrument == "go"

    def effort(self, subject: profiler.Workload) -> profiler.Effort:  # noqa: ARG002
        """Run once: -benchtime gives the loop its time."""
        return profiler.Effort(1, 1.5 * _SECONDS, 1)

    def wrap(self, found: profiler.Tool, subject: profiler.Workload, context: Context, command: Command) -> Command:  # noqa: ARG002
        """Run one benchmark, with a count of operations that is the same on both sides."""
        go_test = is_go_test(subject.words)
        dash = "-" if go_test else "-test."
        parts = subject.line.rpartition(":")[2].split("/") if ":" in subject.line else subject.line.split("/")
        start = next((n for n, part in enumerate(parts) if re.match(r"Benchmark", part)), 0)
        wanted = "/".join(f"^{re.escape(part)}$" for part in parts[start:])
        asked = {"bench": wanted, "count": 1, "benchtime": f"{operations(subject)}x"}
        asked["cpuprofile"] = context.scratch / _PROFILE
        options = [f"{dash}{name}={value}" for name, value in asked.items()]
        if go_test:
            # it keeps the binary of what it profiles, beside the sources otherwise
            options.append(f"-o={context.scratch / 'perfgate.test'}")
        return replace(command, argv=profiler.with_options(subject, command, tuple(options)))

    def read(self, subject: profiler.Workload, context: Context) -> profiler.Costs:  # noqa: ARG002
        """Read the profile. Raises OutputError: there is none, or it is not one."""
        data = read_regular(context.scratch / _PROFILE, profiler.MOST_OUTPUT)
        if not data:
            raise OutputError("the test binary wrote no profile: several packages, or a TestMain that does not return")
        return parse(data, Places(context.directory))

    def sampled(self, subject: profiler.Workload, executions: list[profiler.Costs]) -> profiler.Sampled:
        """Take the only execution."""
        return profiler.Sampled(executions[0], "s", float(operations(subject)))


def operations(subject: profiler.Workload) -> int:
    """Return how many operations are profiled: both sides do the same."""
    return max(1, min(_MOST, math.ceil(_SECONDS / max(subject.seconds, 1e-9))))


def parse(data: bytes, places: Places) -> profiler.Costs:
    """Read a profile of CPU time: seconds by stack.

    Source: https://github.com/google/pprof/blob/main/proto/profile.proto

    Raises: OutputError: it is not one.
    """
    try:
        if data.startswith(b"\x1f\x8b"):
            unpacker = zlib.decompressobj(wbits=31)
            data = unpacker.decompress(data, profiler.MOST_OUTPUT)
            if not unpacker.eof:
                raise ValueError
        return _costs(data, places)
    except (IndexError, KeyError, ValueError, OverflowError, zlib.error):
        raise OutputError("the profile of the test binary cannot be read") from None


def _costs(data: bytes, places: Places) -> profiler.Costs:
    """Read a profile's messages, which refer to each other by number."""
    strings: list[str] = []
    units: list[int] = []  # of the values of a sample
    functions: dict[int, tuple[int, ...]] = {}  # name, file and line
    locations: dict[int, list[int | bytes]] = {}  # functions, those first that are inlined into the next ones
    samples: list[tuple[list[int], list[int]]] = []  # locations, the innermost first, and values
    for number, value in _fields(data):
        if not isinstance(value, bytes):
            continue
        if number == 6:
            strings.append(value.decode("utf-8", "replace"))
        if number not in (1, 2, 4, 5):
            continue
        inner = [*_fields(value)]
        plain = {key: each for key, each in inner if isinstance(each, int)}
        if number == 1:
            units.append(plain.get(2, 0))
        elif number == 2:
            samples.append((_numbers(inner, 1), _numbers(inner, 2)))
        elif number == 4:
            lines = [dict(_fields(each)) for key, each in inner if key == 4 and isinstance(each, bytes)]
            locations[plain.get(1, 0)] = [line.get(1, 0) for line in lines]
        else:
            functions[plain.get(1, 0)] = tuple(plain.get(key, 0) for key in (2, 4, 5))
    place = next(n for n, unit in reversed([*enumerate(units)]) if strings[unit] == "nanoseconds")
    frames: dict[int | bytes, Frame] = {
        number: Frame(strings[name], places.of(strings[file]), line if 0 < line < 2**31 else None)
        for number, (name, file, line) in functions.items()
    }
    return _added_up(samples, locations, frames, place)


def _added_up(
    samples: list[tuple[list[int], list[int]]], locations: dict[int, list[int | bytes]],
    frames: dict[int | bytes, Frame], place: int,
) -> profiler.Costs:  # fmt: skip
    found: dict[tuple[Frame, ...], float] = defaultdict(float)
    for whole, values in samples:
        stack = [frames[function] for location in whole for function in locations[location]]
        if values[place] < 0 or not stack:
            raise ValueError
        # a signal that preempts a goroutine comes with that of the profiler, which then sees what the first one called
        while len(stack) > 1 and stack[0].function.startswith("runtime.asyncPreempt"):
            del stack[0]
        found[tuple(reversed(stack))] += values[place] / 1e9
    return found


def _numbers(fields: list[tuple[int, int | bytes]], number: int) -> list[int]:
    found = []
    for data in (value for key, value in fields if key == number):
        at = 0
        while isinstance(data, bytes) and at < len(data):
            value, at = _varint(data, at)
            found.append(value)
        found += [] if isinstance(data, bytes) else [data]
    return found


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message: their number, and an integer or the bytes.

    Source: https://protobuf.dev/programming-guides/encoding/
    """
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind == _BYTES:
            length, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError
        if at + length > len(data):
            raise ValueError
        yield number, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise ValueError
    # a whole number of 64 bits with a sign
    return (value - 2**64 if value >= 2**63 else value), at


PROFILER = Pprof()
