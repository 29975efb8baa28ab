"""Where the time of a run went, in words."""

from __future__ import annotations

import msgspec

from gate.model import PARTS, Cost
from gate.units import format_duration, plural
from gate.writing.amounts import known

_SHOWN = 0.005
"""The share of the time below which a line leaves a part out."""
_NAMES = {
    "setup": "set-up",
    "compile": "builds",
    "link": "checking links",
    "again": "builds tried again",
    "keep": "copying kept builds",
    "trees": "comparing trees",
    "start": "first starts",
    "probe": "probe",
    "outside": "files outside",
    "measure": "measuring",
    "decide": "interim checks",
    "profile": "profiling",
    "other": "other",
}


class Part(msgspec.Struct, frozen=True):
    """What took a part of the time: its name, the time in words, and its share of what is known."""

    name: str
    text: str
    share: float


def parts(cost: Cost | None) -> list[Part]:
    """Give what took the time, in the order of a run; nothing where too little is known."""
    if cost is None:
        return []
    counted = {"compile": (cost.compiled, "build"), "link": (cost.linked, "link")}
    found = []
    for key in PARTS:
        seconds, (count, noun) = getattr(cost, key), counted.get(key, (0, ""))
        if known(seconds) and seconds > 0:
            found.append((plural(count, noun) if count else _NAMES[key], seconds))
    total = sum(seconds for _, seconds in found)
    return [Part(name, format_duration(seconds), seconds / total) for name, seconds in found] if total > 0 else []


def where(cost: Cost | None) -> str:
    """Say where the time went: "11 min: 2 builds 1 min 40 s, 22 links 8.0 s, measuring 9 min"; "": not known."""
    text = ", ".join(f"{part.name} {part.text}" for part in parts(cost) if part.share >= _SHOWN)
    whole = f"{format_duration(cost.total)}: " if text and cost is not None and known(cost.total) else ""
    return f"{whole}{text}"
