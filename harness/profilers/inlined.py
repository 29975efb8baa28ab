"""Functions that a compiler has inlined, by address, as addr2line reads them in a program's debug information."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gate.formats.parts.output import OutputError

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_LINE = re.compile(r":(?:\d+|\?)(?: \(discriminator \d+\))?$")
_DEEPEST = 50


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
    return tuple(reversed(pairs[:_DEEPEST]))
