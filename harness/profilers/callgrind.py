"""Native programs under valgrind's callgrind: instructions of every function, counted and not sampled."""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.instruments.callgrind import OPTIONS, PROFILE, escaped, find_callgrind
from harness.instruments.callgrind import Callgrind as Instrument
from harness.instruments.protocol import Context, read_regular
from harness.process.execute import Command, find_program
from harness.profilers.callgrind_format import Arcs, Counted, Function, Inlined, chains, drawn, spent
from harness.profilers.native import Places, install, is_native, plain_name
from harness.profilers.profiler import (
    MOST_OUTPUT,
    Absent,
    Costs,
    Effort,
    Found,
    Profiler,
    Sampled,
    Subject,
    with_options,
)

_SLOWER = 100.0
_SECONDS = 0.2
"""Of the loop of a Google Benchmark, without callgrind."""
_UNNAMED = re.compile(r"0x[0-9a-f]+|\?\?\?")
_ADDRESSES, _INLINED = "addresses", "inlined"
_MOST_ADDRESSES = 100_000
_Chains = Mapping[int, Sequence[Inlined]]


class Callgrind(Profiler):
    """Counts instructions of one execution with one iteration; stacks are drawn from calls in proportion."""

    name = "callgrind"
    rank = 20

    def fits(self, subject: Subject) -> bool:
        """Return whether the command is a native program, or a Google Benchmark; Go's own threads valgrind breaks."""
        return is_native(subject, go=False)

    def find(self, caller: Mapping[str, str]) -> Found | Absent:
        """Look for valgrind and try it."""
        if find_program("valgrind", caller) is None:
            # Homebrew has none for today's macOS
            return Absent(install(caller, {"brew": ""}, "valgrind"))
        found = find_callgrind(caller)
        return Found(found.path, f"valgrind {found.version}") if isinstance(found, Instrument) else Absent("", found)

    def effort(self, subject: Subject) -> Effort:
        """Execute once: the count is the same each time."""
        if subject.benchmark.measured.suite:
            return Effort(1, _SLOWER * _SECONDS, 1)
        # its instrument has measured under callgrind already
        slower = 1.5 if subject.benchmark.instrument == "callgrind" else _SLOWER
        return Effort(1, slower * subject.once, 1)

    def wrap(self, found: Found, subject: Subject, context: Context, command: Command) -> Command:
        """Start the command under callgrind, with all that it starts."""
        files = (
            f"--callgrind-out-file={escaped(context.scratch / PROFILE)}.%p",
            f"--log-file={escaped(context.scratch / 'valgrind.log')}.%p",
        )
        argv = with_options(subject, command, _options(subject))
        return replace(
            command,
            argv=(found.path, *OPTIONS, "--dump-instr=yes", *files, "--", *argv),
            environment={"PYTHONHASHSEED": "0"} | command.environment,
        )

    def afterwards(self, subject: Subject, context: Context, command: Command) -> Iterator[Command]:
        """Ask addr2line which functions are inlined where, in each program of the tree."""
        program = find_program("addr2line", command.environment)
        if program is None:
            return
        by_binary: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for data in _profiles(context):
            for each in spent(data):
                if each.function.binary.startswith(f"{subject.directory}/") and each.address >= 0:
                    by_binary[each.function.binary][each.address] += each.amount
        for number, (binary, costs) in enumerate(sorted(by_binary.items())):
            most = sorted(costs, key=lambda address: -costs[address])[:_MOST_ADDRESSES]
            list_ = context.scratch / f"{_ADDRESSES}.{number}"
            _write_new(list_, f"{binary}\n" + "".join(f"{address:#x}\n" for address in most))
            text = 'tail -n +2 "$1" | exec "$2" -a -f -i -C -e "$3"'
            argv = ("sh", "-c", text, "perfgate", str(list_), program, binary)
            yield replace(command, argv=argv, stdout=context.told / f"{_INLINED}.{number}", max_stdout=MOST_OUTPUT)

    def read(self, subject: Subject, context: Context) -> Costs:  # noqa: ARG002
        """Read the profiles of all processes.

        Raises:
            OutputError: there is none, or one is cut off.
        """
        # what addr2line found, by program
        found: dict[str, _Chains] = {}
        for file in sorted(context.scratch.glob(f"{_ADDRESSES}.*")):
            binary = (read_regular(file, MOST_OUTPUT) or b"").partition(b"\n")[0].decode("utf-8", "replace")
            found[binary] = chains(read_regular(context.told / f"{_INLINED}{file.suffix}", MOST_OUTPUT) or b"")
        arcs, inlined = Arcs(), found
        names = Names(Places(context.directory))
        for data in _profiles(context):
            add(data, arcs, names, inlined)
        if not arcs.own:
            raise OutputError("callgrind wrote no profile")
        return drawn(arcs)

    def sampled(self, subject: Subject, executions: list[Costs]) -> Sampled:  # noqa: ARG002
        """Take the only execution."""
        only = executions[0]
        calls = only.calls if isinstance(only, Counted) else None
        return Sampled(only, "instructions", approximate=True, calls=calls)


def _options(subject: Subject) -> tuple[str, ...]:
    if not subject.benchmark.measured.suite:
        return ()
    rounds = max(1, min(10**6, math.ceil(_SECONDS / max(subject.seconds, 1e-9))))
    return (
        f"--benchmark_filter=^{re.escape(subject.line)}$",
        "--benchmark_repetitions=1",
        f"--benchmark_min_time={rounds}x",
    )


def _profiles(context: Context) -> Iterator[bytes]:
    for file in sorted(context.scratch.glob(f"{PROFILE}.*")):
        yield read_regular(file, MOST_OUTPUT) or b""


def _write_new(file: Path, text: str) -> None:
    """Write a file where a program that has ended may have left anything, such as a link."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


class Names:
    """Frames of functions, each made once."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._frames: dict[Function, Frame] = {}
        self._inlined: dict[Inlined, Frame] = {}

    def of(self, function: Function) -> Frame:
        """Return the frame of a function that callgrind names."""
        if function not in self._frames:
            name = plain_name(function.name)
            known = name and not _UNNAMED.fullmatch(name)
            # in one binary a function is one, whatever file a line of it is from
            file = self._file(function.file)
            self._frames[function] = Frame(name, file) if known else Frame("[unknown]", PurePath(function.binary).name)
        return self._frames[function]

    def of_inlined(self, each: Inlined) -> Frame:
        """Return the frame of an inlined function."""
        if each not in self._inlined:
            self._inlined[each] = Frame(plain_name(each.name), self._file(each.file))
        return self._inlined[each]

    def _file(self, path: str) -> str:
        return "" if path in ("", "???", "??") else self._places.of(path)


def add(data: bytes, arcs: Arcs, names: Names, inlined: Mapping[str, _Chains]) -> None:
    """Add what a profile of one process holds.

    What is spent at an address where functions are inlined is the innermost one's, and so are calls from there.

    Raises:
        OutputError: it is cut off, or not a profile.
    """
    entries: dict[tuple[Frame, Frame], tuple[int, float]] = {}
    for each in spent(data):
        caller = names.of(each.function)
        for inner in inlined.get(each.function.binary, {}).get(each.address, ()):
            frame = names.of_inlined(inner)
            if frame != caller:
                arcs.calls[caller][frame] += each.amount
                if each.callee is None:
                    # how often its first instruction was executed stands for its calls
                    entries[caller, frame] = min(
                        entries.get((caller, frame), (each.address, each.amount)), (each.address, each.amount)
                    )
            caller = frame
        if each.callee is None:
            arcs.own[caller] += each.amount
        else:
            arcs.calls[caller][names.of(each.callee)] += each.amount
            arcs.counts[names.of(each.callee)] += each.count
    for (_, frame), (_, count) in entries.items():
        arcs.counts[frame] += count


PROFILER = Callgrind()
