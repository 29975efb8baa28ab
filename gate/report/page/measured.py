"""What was measured and on what: the builds and the hashes of what came out of them, the machine and its changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from markupsafe import Markup

from gate.model import SIDES, Build, HostState
from gate.model.case import pairs
from gate.units import format_duration, format_share, format_value, plural
from gate.words import reports
from gate.words.builds import say_builds, say_order, say_shuffle
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

_PATH = 80
_HASH = 16
_ARTIFACTS = 20


class Builds(msgspec.Struct, frozen=True):
    """All builds, how they were made, and what their hashes say, a sentence an artifact."""

    rows: list[tuple[str, str, str, str, Markup]]
    """Name, side, seed, how long it took, and the files that came out with their hashes."""
    made: list[str]
    said: list[str]


def builds_of(builds: Sequence[Build]) -> Builds:
    """Bring the builds into a table, by session and number, base before head."""
    several = len({build.session for build in builds}) > 1
    inorder = sorted(builds, key=lambda build: (build.session, build.build, _settings(build), SIDES.index(build.side)))
    by_side = [(side, [build for build in inorder if build.side == side]) for side in SIDES]
    made = [text for side, found in by_side for text in (say_builds(side, found), say_order(side, found))]
    made.append(say_shuffle(inorder))
    return Builds([_row(build, several=several) for build in inorder], [*filter(None, made)], _said(builds))


def _row(build: Build, *, several: bool) -> tuple[str, str, str, str, Markup]:
    name = f"session {build.session}, build {build.build}" if several else str(build.build)
    files = [
        Markup('<bdi>{}</bdi> <code title="{}">{}</code>').format(
            clip(visible(path), _PATH),
            clip(visible(digest), 200),
            clip(visible(digest.removeprefix("sha256:")), _PATH)[:_HASH],
        )
        for path, digest in sorted(build.artifacts.items())[:_ARTIFACTS]
    ]
    more = len(build.artifacts) - len(files)
    return (
        f"{name}, {_settings(build)}" if build.factors else name,
        build.side,
        "none" if build.seed is None else str(build.seed),
        format_duration(build.seconds) if known(build.seconds) else "unknown",
        Markup(", ").join(files or ["none"]) + (f" and {more} more" if more > 0 else ""),
    )


def _settings(build: Build) -> str:
    return clip(visible(pairs(build.factors)), _PATH)


def _said(builds: Sequence[Build]) -> list[str]:
    hashes: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: {side: [] for side in SIDES})
    for build in builds:
        for path, digest in build.artifacts.items():
            hashes[path, _settings(build)][build.side].append(digest)
    texts = [
        f"{clip(visible(path), _PATH)}{f' at {at}' if at else ''}: {_told(sides)}"
        for (path, at), sides in sorted(hashes.items())
    ]
    more = len(texts) - _ARTIFACTS
    return [*texts[:_ARTIFACTS], *([f"and {plural(more, 'more file')}"] if more > 0 else [])]


def _told(sides: dict[str, list[str]]) -> str:
    base, head = (sides[side] for side in SIDES)
    if not base or not head:
        return f"only {'base' if base else 'head'} has it"
    if len({*base, *head}) == 1:
        return "byte-identical in all builds of base and head"
    words = [_within(name, found) for name, found in (("base", base), ("head", head))]
    if any(1 < len(set(found)) < len(found) for found in (base, head)):
        words.append("an identical file is not a new layout, so the builds sample fewer layouts than their number")
    common = set(base) & set(head)
    words.append("some files are the same in base and head" if common else "base and head share no file")
    return "; ".join(words)


def _within(side: str, found: list[str]) -> str:
    different = len(set(found))
    if len(found) == 1:
        return f"one build of {side}"
    if different == 1:
        return f"all {len(found)} builds of {side} are byte-identical: all have one layout"
    if different == len(found):
        return f"the {len(found)} builds of {side} differ from build to build"
    return f"the {len(found)} builds of {side} produced only {plural(different, 'different file')}"


# --- the machine ------------------------------------------------------------------------------------------------------

_LONG = 80


class Span(msgspec.Struct, frozen=True):
    """A machine from one state to the next."""

    title: str
    """Which span it is, in words."""
    changes: list[tuple[str, str, str, str]]
    """What differs, at the start, at the end, and what a counter grew by."""


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
            found.append(Span(", ".join([*words, *([times] if times else [])]), [*_changes(begin, end)]))
    return found


def _changes(begin: HostState, end: HostState) -> Iterator[tuple[str, str, str, str]]:
    anew = begin.state.get("boot_id") != end.state.get("boot_id")
    for key, thing in _THINGS.items():
        before, after = _number(begin.state.get(key)), _number(end.state.get(key))
        if before is None or after is None or before == after:
            continue
        # counters begin anew with the machine
        grown = thing.write(after - before) if thing.counts and not anew and after > before else ""
        if key == "cpu_steal" and grown:
            grown = _share_of_ticks(begin, end, after - before) or grown
        yield thing.name, thing.write(before), thing.write(after), grown
    for key in [*_SETTINGS, *_unknown(begin, end)]:
        if key in begin.state and key in end.state and begin.state[key] != end.state[key]:
            first, last = (clip(reports.setting(key, state.state[key]), _LONG) for state in (begin, end))
            yield _SETTINGS.get(key, clip(visible(key), _LONG)), first, last, ""


def _share_of_ticks(begin: HostState, end: HostState, ticks: float) -> str:
    before, after = _number(begin.state.get("cpu_total")), _number(end.state.get("cpu_total"))
    if before is None or after is None or after <= before:
        return ""
    return f"{format_share(ticks / (after - before))} of the processors' time"


def _unknown(begin: HostState, end: HostState) -> list[str]:
    clocks = {"time", "uptime", "cpu_total", "cpu_idle"}
    shared = begin.state.keys() & end.state.keys()
    # what one of the two does not give as a number is shown as it is
    odd = {key for key in _THINGS.keys() & shared if any(_number(s.state[key]) is None for s in (begin, end))}
    return sorted((shared - clocks - _THINGS.keys() - _SETTINGS.keys()) | odd)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not known(float(value)):
        return None
    return float(value)
