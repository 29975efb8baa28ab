"""The profiles that callgrind writes: what each instruction spent, and what its calls spent, by function."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame

_NAME = re.compile(r"\((\d+)\)(?: (.*))?")
_POSITION = re.compile(r"(cfn|cfi|cfl|cob|fn|fl|fi|fe|ob)=(.*)")
_SPACES = {"fi": "fl", "fe": "fl", "cfi": "fl", "cfl": "fl", "cfn": "fn", "cob": "ob"}
_FIRST = frozenset("0123456789+-*")


@dataclass(frozen=True, slots=True)
class Function:
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

    Raises:
        OutputError: it is cut off, or not a profile.
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
        self.columns = 1
        self.event = 0
        self._names: dict[str, dict[str, str]] = {"ob": {}, "fl": {}, "fn": {}}
        # of what is inlined: it has another file than its function
        self._inlined = ""
        self._function = Function("", "", "")
        self._binary = ""
        self._called: dict[str, str] = {}
        self._address = 0

    def position(self, kind: str, text: str) -> None:
        space = _SPACES.get(kind, kind)
        name = self._named(space, text)
        if kind.startswith("c"):
            self._called[space] = name
        elif kind == "ob":
            self._binary = name
        elif kind == "fn":
            self._function = Function(self._binary, self._inlined, name)
        else:
            self._inlined = name

    def _named(self, space: str, text: str) -> str:
        found = _NAME.fullmatch(text)
        if found is None:
            return text
        if found[2] is not None:
            self._names[space][found[1]] = found[2]
        return self._names[space].get(found[1], "")

    def cost(self, numbers: list[str]) -> Spent:
        if self.addressed:
            self._address = _moved(self._address, numbers[0])
        place = self.columns + self.event
        # trailing zeros are left out
        amount = float(int(numbers[place])) if place < len(numbers) else 0.0
        address = self._address if self.addressed else -1
        if not 0 <= amount < 1e18 or not 0 <= (self.count or 0.0) < 1e18:
            raise ValueError
        count, self.count = self.count, None
        if count is None:
            return Spent(self._function, address, amount)
        called, self._called = self._called, {}
        callee = Function(
            called.get("ob", self._binary), called.get("fl", self._inlined), called.get("fn", self._function.name)
        )
        return Spent(self._function, address, amount, callee, count)


def _moved(address: int, text: str) -> int:
    if text == "*":
        return address
    if text[0] in "+-":
        return address + int(text, 0 if "x" in text else 10)
    return int(text, 0)


_ADDRESS = re.compile(r"0x[0-9a-f]+")
_LINE = re.compile(r":(?:\d+|\?)(?: \(discriminator \d+\))?$")
_DEEPEST_INLINED = 50


@dataclass(frozen=True, slots=True)
class Inlined:
    """A function that is inlined at an address."""

    name: str
    file: str


def chains(data: bytes) -> dict[int, Sequence[Inlined]]:
    """Read what `addr2line -a -f -i -C` writes: the functions inlined at each address, the outermost first.

    The function that holds them, the last of each address, is left out: a profiler knows it.

    Raises:
        OutputError: it is something else.
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
    return {address: _chain(each) for address, each in found.items() if len(each) > 2}


def _chain(lines: list[str]) -> Sequence[Inlined]:
    pairs = [Inlined(name, _LINE.sub("", place)) for name, place in zip(lines[0:-2:2], lines[1:-2:2], strict=False)]
    return tuple(reversed(pairs[:_DEEPEST_INLINED]))


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
        """Keep both."""
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
    return Counted(_exact(found, arcs.own), arcs.counts)


def _exact(found: Mapping[tuple[Frame, ...], float], own: Mapping[Frame, float]) -> dict[tuple[Frame, ...], float]:
    """Scale the stacks of each function to its own cost."""
    reached: dict[Frame, float] = defaultdict(float)
    for stack, cost in found.items():
        reached[stack[-1]] += cost
    exact = {stack: cost * own.get(stack[-1], 0.0) / reached[stack[-1]] for stack, cost in found.items() if cost > 0}
    exact.update({(frame,): cost for frame, cost in own.items() if cost > 0 and not reached[frame]})
    return exact
