"""Native programs under valgrind's callgrind: instructions of every function, counted and not sampled."""

import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.host.facts import install
from harness.instruments.callgrind import OPTIONS, PROFILE, escaped, find_callgrind
from harness.instruments.protocol import Context
from harness.instruments.values import read_regular
from harness.process.execute import Command, find_program
from harness.profilers import profiler
from harness.profilers.profiler import Places, is_native, plain_name

_NAME = re.compile(r"\((\d+)\)(?: (.*))?")
_POSITION = re.compile(r"(cfn|cfi|cfl|cob|fn|fl|fi|fe|ob)=(.*)")
_SPACES = {"fi": "fl", "fe": "fl", "cfi": "fl", "cfl": "fl", "cfn": "fn", "cob": "ob"}
_FIRST = frozenset("0123456789+-*")


class Function(NamedTuple):
    """A function as callgrind names it."""

    binary: str
    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Instructions of a function itself, or of what it calls from one place."""

    function: Function
    address: int
    """In its binary; -1: the profile has none."""
    amount: float
    callee: Function | None = None
    count: float = 0.0
    """Of calls."""


def spent(data: bytes) -> Iterator[Spent]:
    """Read a profile of one process.

    Source: https://valgrind.org/docs/manual/cl-format.html

    Raises: OutputError: it is cut off, or not a profile.
    """
    reader, complete = _Reader(), False
    try:
        for line in data.decode("utf-8", "replace").split("\n"):
            if line[:1] in _FIRST and line:
                yield reader.cost(line.split())
            elif (position := _POSITION.fullmatch(line)) is not None:
                reader.position(position[1], position[2])
            elif line.startswith("calls="):
                reader.count = float(int(line[6:].split()[0]))
            elif line.startswith("positions:"):
                reader.columns = len(line.split()) - 1
                reader.addressed = "instr" in line
            elif line.startswith("events:"):
                reader.event = line.split()[1:].index("Ir")
            complete = complete or line.startswith("totals:")
    except (ValueError, IndexError):
        raise OutputError("a profile of callgrind cannot be read") from None
    if not complete:
        raise OutputError("a profile of callgrind is cut off: no totals")


class _Reader:
    """The state of the format, in which names and positions refer to those before."""

    def __init__(self) -> None:
        self.addressed = False
        self.count: float | None = None
        """Of the calls whose cost is in the next line."""
        self.columns, self.event = 1, 0
        self._names: dict[str, dict[str, str]] = {"ob": {}, "fl": {}, "fn": {}}
        # of what is inlined: it has another file than its function
        self._binary, self._inlined, self._address = "", "", 0
        self._function = Function("", "", "")
        self._called: dict[str, str] = {}

    def position(self, kind: str, text: str) -> None:
        space = _SPACES.get(kind, kind)
        found, name = _NAME.fullmatch(text), text
        if found is not None:
            if found[2] is not None:
                self._names[space][found[1]] = found[2]
            name = self._names[space].get(found[1], "")
        if kind.startswith("c"):
            self._called[space] = name
        elif kind == "ob":
            self._binary = name
        elif kind == "fn":
            self._function = Function(self._binary, self._inlined, name)
        else:
            self._inlined = name

    def cost(self, numbers: list[str]) -> Spent:
        if self.addressed and (text := numbers[0]) != "*":
            if text[0] in "+-":
                self._address += int(text, 0 if "x" in text else 10)
            else:
                self._address = int(text, 0)
        place = self.columns + self.event
        # trailing zeros are left out
        amount = float(int(numbers[place])) if place < len(numbers) else 0.0
        address = self._address if self.addressed else -1
        if not 0 <= amount < 1e18 or not 0 <= (self.count or 0.0) < 1e18:
            raise ValueError
        count, self.count = self.count, None
        if count is None:
            return Spent(self._function, address, amount)
        known = {"ob": self._binary, "fl": self._inlined, "fn": self._function.name} | self._called
        self._called = {}
        return Spent(self._function, address, amount, Function(known["ob"], known["fl"], known["fn"]), count)


_ADDRESS = re.compile(r"0x[0-9a-f]+")
_LINE = re.compile(r":(?:\d+|\?)(?: \(discriminator \d+\))?$")
_DEEPEST_INLINED = 50


def chains(data: bytes) -> dict[int, Sequence[tuple[str, str]]]:
    """Read what `addr2line -a -f -i -C` writes: functions inlined at each address with their files, outermost first.

    The function that holds them, the last of each address, is left out: a profiler knows it.

    Raises: OutputError: it is something else.
    """
    found: dict[int, list[str]] = {}
    lines: list[str] = []
    for line in data.decode("utf-8", "replace").splitlines():
        if _ADDRESS.fullmatch(line):
            lines = found.setdefault(int(line, 16), [])
            lines.clear()
        else:
            lines.append(line)
    if not found and data:
        raise OutputError("addr2line wrote what cannot be read")
    pairs = {address: [*zip(each[0:-2:2], each[1:-2:2], strict=False)] for address, each in found.items()}
    return {
        address: [(name, _LINE.sub("", place)) for name, place in reversed(each[:_DEEPEST_INLINED])]
        for address, each in pairs.items()
        if each
    }


_LEAST = 1e-4
"""Share of the whole below which a stack is not followed further."""
_MOST = 50_000
_DEEPEST = 100


@dataclass(slots=True)
class Arcs:
    """Own costs of functions, and the inclusive costs of calls between them."""

    own: dict[Frame, float] = field(default_factory=lambda: defaultdict(float))
    calls: dict[Frame, dict[Frame, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    counts: dict[Frame, float] = field(default_factory=lambda: defaultdict(float))
    """How often each function was called."""


class Counted(dict[tuple[Frame, ...], float]):
    """Costs by stack, with how often each function was called."""

    def __init__(self, costs: Mapping[tuple[Frame, ...], float], calls: Mapping[Frame, float]) -> None:
        super().__init__(costs)
        self.calls = calls


def drawn(arcs: Arcs) -> Counted:
    """Draw stacks: what a function spends is shared by its callers as their calls of it cost.

    The own cost of each function is exact. A function is in a stack once, however it recurses.
    """
    entered: dict[Frame, float] = defaultdict(float)
    left: dict[Frame, float] = defaultdict(float, arcs.own)
    for caller, callees in arcs.calls.items():
        for callee, cost in callees.items():
            if callee != caller:
                entered[callee] += cost
                left[caller] += cost
    whole = {frame: max(left[frame], entered[frame]) for frame in {*left, *entered}}
    total = sum(arcs.own.values())
    found: dict[tuple[Frame, ...], float] = defaultdict(float)
    pending: list[tuple[tuple[Frame, ...], float]] = [
        ((frame,), cost - entered[frame]) for frame, cost in whole.items() if cost > entered[frame]
    ]
    visits = 0
    while pending and visits < _MOST:
        visits += 1
        stack, amount = pending.pop()
        frame = stack[-1]
        share = amount / whole[frame] if whole[frame] else 0.0
        found[stack] += arcs.own.get(frame, 0.0) * share
        if len(stack) < _DEEPEST:
            pending += [
                ((*stack, callee), cost * share)
                for callee, cost in arcs.calls.get(frame, {}).items()
                if callee not in stack and cost * share > total * _LEAST
            ]
    # the stacks of each function, scaled to its own cost
    reached: dict[Frame, float] = defaultdict(float)
    for stack, cost in found.items():
        reached[stack[-1]] += cost
    exact = {
        stack: cost * arcs.own.get(stack[-1], 0.0) / reached[stack[-1]] for stack, cost in found.items() if cost > 0
    }
    exact.update({(frame,): cost for frame, cost in arcs.own.items() if cost > 0 and not reached[frame]})
    return Counted(exact, arcs.counts)


_SLOWER = 100.0
_SECONDS = 0.2
"""Of the loop of a Google Benchmark, without callgrind."""
_UNNAMED = re.compile(r"0x[0-9a-f]+|\?\?\?")
_ADDRESSES, _INLINED = "addresses", "inlined"
_MOST_ADDRESSES = 100_000
_Chains = Mapping[int, Sequence[tuple[str, str]]]


class Callgrind(profiler.Profiler):
    """Counts instructions of one execution with one iteration; stacks are drawn from calls in proportion."""

    name = "callgrind"
    rank = 20

    def fits(self, subject: profiler.Workload) -> bool:
        """Return whether the command is a native program, or a Google Benchmark; Go's own threads valgrind breaks."""
        return is_native(subject, go=False)

    def find(self, caller: Mapping[str, str]) -> profiler.Tool | profiler.Absent:
        """Look for valgrind and try it."""
        path = find_program("valgrind", caller)
        if path is None:
            # Homebrew has none for today's macOS
            return profiler.Absent(install(caller, {"brew": ""}, "valgrind"))
        found = find_callgrind(caller)
        if isinstance(found, str):
            return profiler.Absent("", found)
        return profiler.Tool(path, f"valgrind {found.version}")

    def effort(self, subject: profiler.Workload) -> profiler.Effort:
        """Execute once: the count is the same each time."""
        if subject.benchmark.measured.suite:
            return profiler.Effort(1, _SLOWER * _SECONDS, 1)
        # its instrument has measured under callgrind already
        slower = 1.5 if subject.benchmark.instrument == "callgrind" else _SLOWER
        return profiler.Effort(1, slower * subject.once, 1)

    def wrap(self, found: profiler.Tool, subject: profiler.Workload, context: Context, command: Command) -> Command:
        """Start the command under callgrind, with all that it starts."""
        files = (
            f"--callgrind-out-file={escaped(context.scratch / PROFILE)}.%p",
            f"--log-file={escaped(context.scratch / 'valgrind.log')}.%p",
        )
        options: tuple[str, ...] = ()
        if subject.benchmark.measured.suite:
            rounds = max(1, min(10**6, math.ceil(_SECONDS / max(subject.seconds, 1e-9))))
            chosen = f"--benchmark_filter=^{re.escape(subject.line)}$"
            options = (chosen, "--benchmark_repetitions=1", f"--benchmark_min_time={rounds}x")
        argv = profiler.with_options(subject, command, options)
        return replace(
            command,
            argv=(found.path, *OPTIONS, "--dump-instr=yes", *files, "--", *argv),
            environment={"PYTHONHASHSEED": "0"} | command.environment,
        )

    def afterwards(self, subject: profiler.Workload, context: Context, command: Command) -> Iterator[Command]:
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
            # where a program that has ended may have left anything, such as a link
            descriptor = os.open(list_, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                opened.write(f"{binary}\n" + "".join(f"{address:#x}\n" for address in most))
            text = 'tail -n +2 "$1" | exec "$2" -a -f -i -C -e "$3"'
            argv = ("sh", "-c", text, "perfgate", str(list_), program, binary)
            yield replace(
                command, argv=argv, stdout=context.told / f"{_INLINED}.{number}", max_stdout=profiler.MOST_OUTPUT
            )

    def read(self, subject: profiler.Workload, context: Context) -> profiler.Costs:  # noqa: ARG002
        """Read the profiles of all processes. Raises OutputError: there is none, or one is cut off."""
        found: dict[str, _Chains] = {}
        for file in sorted(context.scratch.glob(f"{_ADDRESSES}.*")):
            binary = (read_regular(file, profiler.MOST_OUTPUT) or b"").partition(b"\n")[0].decode("utf-8", "replace")
            found[binary] = chains(read_regular(context.told / f"{_INLINED}{file.suffix}", profiler.MOST_OUTPUT) or b"")
        arcs, places = Arcs(), Places(context.directory)
        for data in _profiles(context):
            add(data, arcs, places, found)
        if not arcs.own:
            raise OutputError("callgrind wrote no profile")
        return drawn(arcs)

    def sampled(self, subject: profiler.Workload, executions: list[profiler.Costs]) -> profiler.Sampled:  # noqa: ARG002
        """Take the only execution."""
        only = executions[0]
        calls = only.calls if isinstance(only, Counted) else None
        return profiler.Sampled(only, "instructions", approximate=True, calls=calls)


def _profiles(context: Context) -> Iterator[bytes]:
    for file in sorted(context.scratch.glob(f"{PROFILE}.*")):
        yield read_regular(file, profiler.MOST_OUTPUT) or b""


@lru_cache(maxsize=1 << 16)
def _frame(places: Places, name: str, file: str) -> Frame:
    # in one binary a function is one, whatever file a line of it is from
    return Frame(plain_name(name), "" if file in ("", "???", "??") else places.of(file))


def add(data: bytes, arcs: Arcs, places: Places, inlined: Mapping[str, _Chains]) -> None:
    """Add what a profile of one process holds.

    What is spent at an address where functions are inlined is the innermost one's, and so are calls from there.
    inlined: by binary.

    Raises: OutputError: it is cut off, or not a profile.
    """

    def frame_of(function: Function) -> Frame:
        found = _frame(places, function.name, function.file)
        named = found.function and not _UNNAMED.fullmatch(found.function)
        return found if named else Frame("[unknown]", PurePath(function.binary).name)

    entries: dict[tuple[Frame, Frame], tuple[int, float]] = {}
    for each in spent(data):
        caller = frame_of(each.function)
        for inner in inlined.get(each.function.binary, {}).get(each.address, ()):
            frame = _frame(places, *inner)
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
            arcs.calls[caller][frame_of(each.callee)] += each.amount
            arcs.counts[frame_of(each.callee)] += each.count
    for (_, frame), (_, count) in entries.items():
        arcs.counts[frame] += count


PROFILER = Callgrind()
