"""Which function of base is which of head, also where it was renamed, moved or compiled under another name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from difflib import SequenceMatcher

import msgspec

from gate.explain.names import plain
from gate.model.profile import Frame, Profile

_ALIKE = 0.6
"""Names of functions with the same callers that are as similar as this are one function renamed."""
_OF_A_SIZE = 2.0
"""A renamed function costs at most so many times what it did; a regression is rarely a rename besides."""
_MOST_PAIRS = 20_000


class Function(msgspec.Struct, frozen=True):
    """A function of the program; a side that lacks it has None."""

    base: Frame | None
    head: Frame | None

    @property
    def frame(self) -> Frame:
        """As head names it, or base where it is gone."""
        return self.head or self.base or Frame("")

    @property
    def was(self) -> str | None:
        """Base's name, where that is another."""
        both = self.base is not None and self.head is not None
        return self.base.function if both and self.base and self.base.function != self.frame.function else None


class Matched(msgspec.Struct, frozen=True):
    """All functions of both profiles, and for each frame of a profile its function."""

    functions: list[Function]
    base: list[int]
    head: list[int]


def match(base: Profile, head: Profile) -> Matched:
    """Match the frames of two profiles, the surest ways first; each function of head has at most one of base."""
    partners: dict[int, int] = {}
    first, second = _unique(base.frames), _unique(head.frames)
    keys: tuple[Callable[[Frame], Hashable], ...] = (
        lambda frame: frame,
        lambda frame: (plain(frame.function), frame.file),
        lambda frame: frame.function,
        lambda frame: plain(frame.function),
    )
    for key in keys:
        _match_by(key, first, second, partners)
    _match_renamed(base, head, first, second, partners)
    return _numbered(base, head, first, second, partners)


def _unique(frames: Sequence[Frame]) -> dict[Frame, int]:
    found: dict[Frame, int] = {}
    for index, frame in enumerate(frames):
        found.setdefault(_identity(frame), index)
    return found


def _identity(frame: Frame) -> Frame:
    # a line moves with what stands above it
    return Frame(frame.function, frame.file)


def _match_by(
    key: Callable[[Frame], Hashable], base: Mapping[Frame, int], head: Mapping[Frame, int], partners: dict[int, int]
) -> None:
    """Match what has one key; of several the first with the first, where both sides have as many."""
    taken = set(partners.values())
    groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for frame, index in base.items():
        if index not in partners:
            groups[key(frame)][0].append(index)
    for frame, index in head.items():
        if index not in taken:
            groups[key(frame)][1].append(index)
    for ours, theirs in groups.values():
        if len(ours) == len(theirs):
            partners.update(zip(ours, theirs, strict=True))


def _match_renamed(
    base: Profile, head: Profile, first: Mapping[Frame, int], second: Mapping[Frame, int], partners: dict[int, int]
) -> None:
    """Match functions of one file with the same callers whose names or costs are alike."""
    taken = set(partners.values())
    gone = [index for index in first.values() if index not in partners]
    new = [index for index in second.values() if index not in taken]
    if not gone or not new or len(gone) * len(new) > _MOST_PAIRS:
        return
    ours, theirs = _Places(base), _Places(head)
    called = {index: partners.get(index, -1) for index in range(len(base.frames))}
    scored = []
    for index in gone:
        callers = {called[c] for c in ours.callers[index]}
        for other in new:
            if base.frames[index].file != head.frames[other].file or not callers & theirs.callers[other]:
                continue
            sizes = sorted((ours.cost[index], theirs.cost[other]))
            if sizes[0] <= 0 or sizes[1] / sizes[0] > _OF_A_SIZE:
                continue
            names = plain(base.frames[index].function), plain(head.frames[other].function)
            alike = SequenceMatcher(None, *names).ratio()
            below = {called[c] for c in ours.callees[index]} - {-1}
            same = bool(below) and below == theirs.callees[other]
            if alike >= _ALIKE or same:
                scored.append((same + alike, index, other))
    for _, index, other in sorted(scored, reverse=True):
        if index not in partners and other not in taken:
            partners[index] = other
            taken.add(other)


class _Places:
    """For each frame of a profile who calls it, what it calls, and what it costs with that."""

    def __init__(self, profile: Profile) -> None:
        self.callers: dict[int, set[int]] = defaultdict(set)
        self.callees: dict[int, set[int]] = defaultdict(set)
        self.cost: dict[int, float] = defaultdict(float)
        for stack in profile.stacks:
            for caller, callee in zip(stack.frames, stack.frames[1:], strict=False):
                self.callers[callee].add(caller)
                self.callees[caller].add(callee)
            for index in set(stack.frames):
                self.cost[index] += stack.cost


def _numbered(
    base: Profile, head: Profile, first: Mapping[Frame, int], second: Mapping[Frame, int], partners: Mapping[int, int]
) -> Matched:
    functions: list[Function] = []
    of_head: dict[int, int] = {}
    of_base: dict[int, int] = {}
    for index in first.values():
        partner = partners.get(index)
        of_base[index] = len(functions)
        if partner is not None:
            of_head[partner] = len(functions)
        functions.append(Function(base.frames[index], None if partner is None else head.frames[partner]))
    for index in second.values():
        if index not in of_head:
            of_head[index] = len(functions)
            functions.append(Function(None, head.frames[index]))
    return Matched(
        functions,
        [of_base[first[_identity(frame)]] for frame in base.frames],
        [of_head[second[_identity(frame)]] for frame in head.frames],
    )
