"""Bounds of a profile: stacks of a limited number and depth, with the cost of each function kept where it can be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gate.formats.parts.output import OutputError
from gate.model.profile import DEEPEST, LONGEST, MOST_FRAMES, MOST_STACKS, Frame, Stack
from gate.writing.plain import visible
from harness.profilers.profiler import Costs

_Path = tuple[Frame, ...]
UNKNOWN = Frame("[unknown]")


@dataclass(frozen=True, slots=True)
class Folded:
    """Stacks whose frames are indices."""

    frames: list[Frame]
    stacks: list[Stack]


def counted(frames: Sequence[Frame], calls: Mapping[Frame, float]) -> list[float]:
    """Return how often each of a profile's functions was called; one that nobody calls was once."""
    found: dict[Frame, float] = defaultdict(float)
    for frame, count in calls.items():
        found[_plain(frame)] += count
    return [found.get(frame, 1.0) for frame in frames]


def fold(costs: Costs) -> Folded:
    """Bound what a profiler gave; the costs add up to the same total.

    The largest stacks stay. What is left of a function goes to its largest stack, of a function without one to its
    nearest caller that has one.

    Raises:
        OutputError: there is nothing.
    """
    shortened: dict[_Path, float] = defaultdict(float)
    for path, cost in costs.items():
        if cost > 0:
            shortened[_shortened(path)] += cost
    if not shortened:
        raise OutputError("no function took any time")
    kept = _largest(shortened)
    home: dict[Frame, _Path] = {}
    for path in kept:  # the largest first
        home.setdefault(path[-1], path)
    found = dict(kept)
    for path, cost in shortened.items():
        if path not in kept:
            place = next((home[frame] for frame in reversed(path) if frame in home), next(iter(kept)))
            found[place] += cost
    index: dict[Frame, int] = {}
    stacks = [Stack([index.setdefault(frame, len(index)) for frame in path], cost) for path, cost in found.items()]
    return Folded(list(index), stacks)


def _largest(costs: Mapping[_Path, float]) -> dict[_Path, float]:
    """Return the largest stacks, as many as may stay and have few enough functions."""
    kept: dict[_Path, float] = {}
    frames: set[Frame] = set()
    for path, cost in sorted(costs.items(), key=lambda item: -item[1])[:MOST_STACKS]:
        if len(frames.union(path)) <= MOST_FRAMES:
            frames.update(path)
            kept[path] = cost
    return kept


def _shortened(path: _Path) -> _Path:
    """Shorten a stack in its middle, lest its innermost function lose what was spent there."""
    if len(path) > DEEPEST:
        path = (*path[: DEEPEST // 2], *path[-(DEEPEST - DEEPEST // 2) :])
    return tuple(map(_plain, path)) or (UNKNOWN,)


def _plain(frame: Frame) -> Frame:
    function, file = visible(frame.function), visible(frame.file)
    if len(function) > LONGEST:
        # the name of a C++ method stands behind the template arguments of its class
        half = (LONGEST - 1) // 2
        function = f"{function[:half]}…{function[-half:]}"
    return Frame(function or UNKNOWN.function, file[-LONGEST:], frame.line)
