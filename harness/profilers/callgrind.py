"""Native programs under valgrind's callgrind: instructions of every function, counted and not sampled."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from gate.adapters.values import OutputError
from gate.model.profile import Frame
from harness.instruments.callgrind import OPTIONS, PROFILE, escaped, find_callgrind
from harness.instruments.callgrind import Callgrind as Instrument
from harness.instruments.protocol import Context, read_regular
from harness.process.execute import Command, find_program
from harness.profilers.arcs import Arcs, Counted, drawn
from harness.profilers.native import is_native
from harness.profilers.packages import install
from harness.profilers.places import Places
from harness.profilers.profiler import MOST_OUTPUT, Absent, Costs, Effort, Found, Sampled, Subject, with_options

_SLOWER = 100.0
_SECONDS = 0.2
"""Of the loop of a Google Benchmark, without callgrind."""
_NAME = re.compile(r"\((\d+)\)(?: (.*))?")
_POSITION = re.compile(r"(cfn|cfi|cfl|cob|fn|fl|fi|fe|ob)=(.*)")
_SUFFIX = re.compile(r"(?:@@?GLIBC\w*[\d.]*)?(?:'\d+)?$")
_UNNAMED = re.compile(r"0x[0-9a-f]+|\?\?\?")


class Callgrind:
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

    def effort(self, subject: Subject) -> Effort:  # noqa: ARG002  # of the Protocol
        """Execute once: the count is the same each time."""
        return Effort(1, 1, _SLOWER)

    def wrap(self, found: Found, subject: Subject, context: Context, command: Command) -> Command:
        """Start the command under callgrind, with all that it starts."""
        files = (
            f"--callgrind-out-file={escaped(context.scratch / PROFILE)}.%p",
            f"--log-file={escaped(context.scratch / 'valgrind.log')}.%p",
        )
        argv = with_options(subject, command, _options(subject))
        return replace(
            command,
            argv=(found.path, *OPTIONS, *files, "--", *argv),
            environment={"PYTHONHASHSEED": "0"} | command.environment,
        )

    def read(self, subject: Subject, context: Context) -> Costs:  # noqa: ARG002  # of the Protocol
        """Read the profiles of all processes.

        Raises:
            OutputError: there is none, or one is cut off.
        """
        arcs, places = Arcs(), Places(context.directory)
        for file in sorted(context.scratch.glob(f"{PROFILE}.*")):
            parse(read_regular(file, MOST_OUTPUT) or b"", places, arcs)
        if not arcs.own:
            raise OutputError("callgrind wrote no profile")
        return drawn(arcs)

    def sampled(self, found: Found, subject: Subject, executions: list[Costs]) -> Sampled:  # noqa: ARG002  # of the Protocol
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


class _Reader:
    """The state of a profile's format, in which names and positions refer to those before.

    Source: https://valgrind.org/docs/manual/cl-format.html
    """

    def __init__(self, places: Places, arcs: Arcs) -> None:
        self._places = places
        self._arcs = arcs
        self._names: dict[str, dict[str, str]] = {"ob": {}, "fl": {}, "fn": {}}
        self._object = self._file = self._inlined = self._function = ""
        self._called: dict[str, str] = {}
        self._frames: dict[tuple[str, str, str], Frame] = {}
        self.calls = False
        self.count = 0.0
        self.columns = 1
        self.event = 0

    def position(self, kind: str, text: str) -> None:
        space = {"c": kind[1:], "f": kind}.get(kind[0], kind)
        space = "fl" if space in ("fi", "fe", "fl") else space
        name = self._named(space, text)
        if kind.startswith("c"):
            self._called[space] = name
        elif kind == "ob":
            self._object = name
        elif kind == "fn":
            # what is inlined into it has other files
            self._function, self._file = name, self._inlined
        else:
            self._inlined = name
            if kind == "fl":
                self._file = name

    def _named(self, space: str, text: str) -> str:
        found = _NAME.fullmatch(text)
        if found is None:
            return text
        if found[2] is not None:
            self._names[space][found[1]] = found[2]
        return self._names[space].get(found[1], "")

    def cost(self, numbers: list[str]) -> None:
        place = self.columns + self.event
        # trailing zeros are left out
        amount = float(int(numbers[place])) if place < len(numbers) else 0.0
        caller = self._frame(self._object, self._file, self._function)
        if not self.calls:
            self._arcs.own[caller] += amount
            return
        self.calls = False
        called, self._called = self._called, {}
        callee = self._frame(
            called.get("ob", self._object), called.get("fl", self._inlined), called.get("fn", self._function)
        )
        self._arcs.calls[caller][callee] += amount
        self._arcs.counts[callee] += self.count

    def _frame(self, binary: str, file: str, function: str) -> Frame:
        key = (binary, file, function)
        if key not in self._frames:
            place = "" if file in ("", "???") else self._places.of(file)
            # a level of recursion, and a version of a symbol
            function = _SUFFIX.sub("", function)
            named = function and not _UNNAMED.fullmatch(function)
            self._frames[key] = Frame(function, place) if named else Frame("[unknown]", PurePath(binary).name)
        return self._frames[key]


def parse(data: bytes, places: Places, arcs: Arcs) -> None:
    """Add what a profile of one process holds.

    Raises:
        OutputError: it is cut off, or not a profile.
    """
    reader = _Reader(places, arcs)
    complete = False
    try:
        for line in data.decode("utf-8", "replace").split("\n"):
            first = line[:1]
            if first.isdigit() or first in ("+", "-", "*"):
                reader.cost(line.split())
            elif (position := _POSITION.fullmatch(line)) is not None:
                reader.position(position[1], position[2])
            elif line.startswith("calls="):
                reader.calls = True
                reader.count = float(int(line[6:].split()[0]))
            elif line.startswith("positions:"):
                reader.columns = len(line.split()) - 1
            elif line.startswith("events:"):
                reader.event = line.split()[1:].index("Ir")
            complete = complete or line.startswith("totals:")
    except (ValueError, IndexError):
        raise OutputError("a profile of callgrind cannot be read") from None
    if not complete:
        raise OutputError("a profile of callgrind is cut off: no totals")


PROFILER = Callgrind()
