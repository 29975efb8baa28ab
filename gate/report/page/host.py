"""What changed on the machine while it measured, as a table: the state before, after, and what counters grew by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from gate.model import HostState
from gate.units import format_duration, format_share, format_value, plural
from gate.words import reports
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

_LONG = 80


class Change(msgspec.Struct, frozen=True):
    """One thing that differs between two states, written; grown: what a counter grew by, else nothing."""

    what: str
    begin: str
    end: str
    grown: str


class Span(msgspec.Struct, frozen=True):
    """A machine from one state to the next; title: which span it is, in words."""

    title: str
    changes: tuple[Change, ...]


class _Thing(msgspec.Struct, frozen=True):
    name: str
    write: Callable[[float], str]
    counts: bool


def _plain(value: float) -> str:
    return f"{value:,.0f}"


def _pages(value: float) -> str:
    return plural(round(value), "page") if value < 1000 else f"{value:,.0f} pages"


def _microseconds(value: float) -> str:
    return format_duration(value / 1e6)


# the rest of a state are clocks, which always differ and tell nothing
_THINGS: dict[str, _Thing] = {
    "load": _Thing("load (1 minute)", lambda value: f"{value:.2f}", counts=False),
    "cpu_steal": _Thing("steal (ticks)", _plain, counts=True),
    "pressure_cpu": _Thing("waiting for a processor", _microseconds, counts=True),
    "pressure_memory": _Thing("waiting for memory", _microseconds, counts=True),
    "pressure_io": _Thing("waiting for a disk", _microseconds, counts=True),
    "throttled": _Thing("throttled by the quota (times)", _plain, counts=True),
    "throttled_seconds": _Thing("throttled by the quota", format_duration, counts=True),
    "thermal_throttles": _Thing("throttled by heat (times)", _plain, counts=True),
    "swap_in": _Thing("swapped in", _pages, counts=True),
    "swap_out": _Thing("swapped out", _pages, counts=True),
    "oom_kills": _Thing("processes killed, out of memory", _plain, counts=True),
    "memory_available": _Thing("memory available", lambda value: format_value(value, "B"), counts=False),
    "processors": _Thing("processors", _plain, counts=False),
}
_SETTINGS = {"governor": "governor", "turbo": "turbo", "kernel": "kernel", "boot_id": "boot"}


def spans(states: Sequence[HostState]) -> list[Span]:
    """Tell what differs between the beginning and the end of each session; only what both states have."""
    sessions: dict[int, list[HostState]] = defaultdict(list)
    for state in states:
        sessions[state.session].append(state)
    found = []
    for session, those in sorted(sessions.items()):
        pairs = [pair for pair in pairwise(those) if (pair[0].when, pair[1].when) == ("begin", "end")]
        for number, (begin, end) in enumerate(pairs, 1):
            words = [f"session {session}"] if len(sessions) > 1 else []
            words += [f"part {number}"] if len(pairs) > 1 else []
            times = " to ".join(visible(time) for time in (begin.time, end.time) if time)
            found.append(Span(", ".join([*words, *([times] if times else [])]), tuple(_changes(begin, end))))
    return found


def _changes(begin: HostState, end: HostState) -> Iterator[Change]:
    anew = begin.state.get("boot_id") != end.state.get("boot_id")
    for key, thing in _THINGS.items():
        before, after = _number(begin.state.get(key)), _number(end.state.get(key))
        if before is None or after is None or before == after:
            continue
        # counters begin anew with the machine
        grown = thing.write(after - before) if thing.counts and not anew and after > before else ""
        if key == "cpu_steal" and grown:
            grown = _share_of_ticks(begin, end, after - before) or grown
        yield Change(thing.name, thing.write(before), thing.write(after), grown)
    for key in [*_SETTINGS, *_unknown(begin, end)]:
        if key in begin.state and key in end.state and begin.state[key] != end.state[key]:
            name = _SETTINGS.get(key, clip(visible(key), _LONG))
            yield Change(name, _text(key, begin.state[key]), _text(key, end.state[key]), "")


def _share_of_ticks(begin: HostState, end: HostState, ticks: float) -> str:
    before, after = _number(begin.state.get("cpu_total")), _number(end.state.get("cpu_total"))
    if before is None or after is None or after <= before:
        return ""
    return f"{format_share(ticks / (after - before))} of the processors' time"


def _unknown(begin: HostState, end: HostState) -> list[str]:
    clocks = {"time", "uptime", "cpu_total", "cpu_idle"}
    shared = begin.state.keys() & end.state.keys()
    # what one of the two does not give as a number is shown as it is
    odd = {key for key in _THINGS.keys() & shared if not all(_is_number(s.state[key]) for s in (begin, end))}
    return sorted((shared - clocks - _THINGS.keys() - _SETTINGS.keys()) | odd)


def _is_number(value: object) -> bool:
    return _number(value) is not None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not known(float(value)):
        return None
    return float(value)


def _text(key: str, value: Any) -> str:
    return clip(reports.setting(key, value), _LONG)
