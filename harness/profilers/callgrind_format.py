"""The profiles that callgrind writes: what each instruction spent, and what its calls spent, by function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.formats.parts.output import OutputError

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
