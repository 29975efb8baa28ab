"""What Gungraun, Iai-Callgrind and Iai print of each benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.formats.gungraun import Side, results
from gate.formats.parts.output import shown
from gate.formats.parts.result import Failed, Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(
    title="Gungraun, Iai-Callgrind and Iai (standard output)",
    execution="one run of a benchmark under valgrind",
    iteration="none: one count of each event",
    trap="it holds two runs, the new one and the one before it (the columns new and old); of Iai the new one only",
    column="baseline",
)
_EVENTS = {
    "Instructions": "Ir", "L1 Hits": "L1hits", "L2 Hits": "LLhits", "LL Hits": "LLhits", "RAM Hits": "RamHits",
    "Total read+write": "TotalRW", "Estimated Cycles": "EstimatedCycles", "RAM Hit Rate": "RamHitRate",
}  # fmt: skip
_NUMBER = r"\d{1,20}(?:\.\d{1,20})?"
_PAIR = re.compile(rf"  +(?P<event>[A-Z][^:|]*?): *(?P<new>{_NUMBER}|N/A)\|(?P<old>{_NUMBER}|N/A) +\(.*", re.ASCII)
_IAI = re.compile(
    rf"  (?P<event>Instructions|L[12] Accesses|RAM Accesses|Estimated Cycles): *(?P<new>{_NUMBER})( \(.*)?", re.ASCII
)
_UNREAD = re.compile(rf"  +(?:{'|'.join(re.escape(event) for event in _EVENTS)}): ")
_TOOL = re.compile(r" +=+ (?P<tool>[A-Za-z]+) =+")
_OUR_TOOL = "CALLGRIND"


def recognises(source: Source) -> bool:
    """Return whether it has lines with the counts of an event."""
    lines = source.head.lines[:5000]
    return any(_PAIR.fullmatch(line) for line in lines) or (
        sum(_IAI.fullmatch(line) is not None for line in lines) > 1 and any("Accesses:" in line for line in lines)
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the old runs, then the new ones."""
    sides: list[Side] = []
    name: list[str] = []
    tool, is_counted = _OUR_TOOL, False
    unread: list[Failed] = []
    for place, raw in enumerate(source.lines(), 1):
        line = raw.rstrip()
        pair, iai, headed = _PAIR.fullmatch(line), _IAI.fullmatch(line), _TOOL.fullmatch(line)
        if headed:
            tool = headed["tool"].upper()
        elif (pair or iai) and name:
            if not is_counted:
                benchmark = _named(name)
                sides += [Side(benchmark, "", "new", True, {}), Side(benchmark, "", "old", False, {})]
            is_counted = True
            _count(sides, tool, pair or iai)
        elif name and _UNREAD.match(line):
            why = f"line {place}: a count cannot be read: {shown(line.strip().encode())}"
            unread.append(Failed(benchmark=_named(name), status=why, labels={"baseline": "new"}))
        elif line and not line.startswith(" "):
            # arguments that are printed may hold newlines
            name = [line] if is_counted or not (bool(name) and "::" in name[0].split(" ")[0]) else [*name, line]
            tool, is_counted = _OUR_TOOL, False
        elif not line:
            name = []
    yield from results([side for side in sides if side.metrics])
    yield from unread


def _named(lines: list[str]) -> str:
    """Name a benchmark as its summary does: "file::group::function id", without the arguments behind it."""
    path, space, rest = lines[0].partition(" ")
    own = rest.partition(":")[0]
    return f"{path} {own}" if space and own and "::" in path else lines[0]


def _count(sides: list[Side], tool: str, found: re.Match[str] | None) -> None:
    if found is None:
        return
    own = found["event"].strip()
    # as the summaries call it: "At t-gmax bytes" is AtTGmaxBytes
    event = _EVENTS.get(own) or "".join(word[:1].upper() + word[1:] for word in re.split("[ -]", own))
    for side, key in zip(sides[-2:], ("new", "old"), strict=True):
        number = found.groupdict().get(key)
        if number is not None and number != "N/A":
            # of several processes the last one is the total
            is_other = tool != _OUR_TOOL and event in ("Ir", "TotalRW", "EstimatedCycles")
            side.metrics[f"{tool.title()} {event}" if is_other else event] = float(number)
