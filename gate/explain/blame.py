"""Whose change it is: a function that is only called more often hands its change to the one that calls it more."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gate.explain.call_tree import BOTH, Node
from gate.model.profile import Amounts

_MORE = 1.1
"""A function is called more often from this factor on; below it its calls may have become slower."""
_PARTS = 2
"""So many parts that grew by one factor show more calls where nobody counted them."""
_ALIKE = 0.4
"""Of counted costs a part may differ from the common growth by this share of it."""
_SURE = 4.0
"""Standard errors by which any of the sampled parts may differ from it."""
_NEW = 2.6
"""Standard errors by which what base would have spent in a call must exceed the nothing that it spent."""
_MOST_OF = 0.8
"""Share of a function's growth that makes the function it goes to a link of a chain."""
_ROUGHLY = 0.05
"""Share of a cost that is no difference."""
_FAR = 50.0
_NONE = Amounts(0.0, 0.0)
_UNSURE = 0.5
"""How much a candidate counts for a change that may be its own or its callee's."""

Error = Callable[[Amounts], float]
"""Gives the standard error of the difference of a cost."""


class Blame(msgspec.Struct):
    """What is put down to one function. Its fields are filled in as the tree is walked."""

    more: dict[int, float]
    """By function that it calls more often, what that adds."""
    paths: dict[tuple[int, ...], float]
    """By way to it, its change there."""
    guesses: dict[int, float]
    """By function that it may call more often, where nobody counted, what that would add."""
    change: float = 0.0
    """What it adds to the difference."""
    maybe: float = 0.0
    """What it adds if a guess about calls is wrong: that of a callee it may call more often, or that handed on."""

    @property
    def score(self) -> float:
        """What it is ranked by."""
        return self.change + _UNSURE * self.maybe

    def guess(self, callee: int, change: float) -> None:
        """Put a change down to it that may be its callee's own."""
        self.maybe += change
        self.guesses[callee] = self.guesses.get(callee, 0.0) + change

    def add(self, node: Node, change: float) -> None:
        """Put a change at a place of the tree down to it."""
        if not change and self.paths:
            return
        self.change += change
        path = tuple(node.path())
        self.paths[path] = self.paths.get(path, 0.0) + change


Blames = Mapping[int, Blame]


# --- with counted calls -----------------------------------------------------------------------------------------------


def blame_by_calls(root: Node, calls: Sequence[Amounts], states: Sequence[str]) -> Blames:
    """Put what is left of each node's change down to a function.

    A part of a node's change that comes of more calls goes to its caller, and on to the caller's caller so far as that
    was itself called more often.

    Args:
        calls: of each function, how often it was called.
        states: of each function "changed", "new" or "gone".
    """
    found: dict[int, Blame] = defaultdict(lambda: Blame({}, {}, {}))
    handed: dict[Node, dict[int, float]] = defaultdict(dict)
    # callees before their callers, so that what is handed on is complete
    for node in reversed(list(root.below())):
        parent, more = node.parent, handed.pop(node, {})
        factor = _called(node, calls, states) if parent is not None and parent.parent is not None else 1.0
        # the part of its change that comes of more calls
        most = node.rest if factor == math.inf else min(node.rest, node.cost[0] * (factor - 1))
        up, share = 0.0 if node.rest <= 0 or factor < _MORE else most, _onwards(node, factor)
        own = found[node.function]
        for callee, change in more.items():
            own.more[callee] = own.more.get(callee, 0.0) + change * (1 - share)
        own.add(node, node.rest - up + sum(more.values()) * (1 - share))
        if parent is not None:
            to = handed[parent]
            if up:
                to[node.function] = to.get(node.function, 0.0) + up
            for callee, change in more.items():
                to[callee] = to.get(callee, 0.0) + change * share
    return found


def _called(node: Node, calls: Sequence[Amounts], states: Sequence[str]) -> float:
    """Return by which factor a node was called more often; infinity: not at all before."""
    if states[node.function] != "changed":
        return 1.0
    if node.inclusive[0] <= 0 or calls[node.function].base <= 0:
        return math.inf
    factor = calls[node.function].head / calls[node.function].base
    # it may be called more often here and not there: not by more than it grew here
    return max(min(factor, _ratio(node.inclusive)), 1.0) if factor >= _MORE else 1.0


def _onwards(node: Node, factor: float) -> float:
    """Return the share of what its callees hand it that a node hands on, being called more often itself."""
    if factor < _MORE:
        return 0.0
    if factor == math.inf:
        return 1.0
    # its callees grew at least as much; what they grew beyond it stays here
    grown = max((_ratio(child.inclusive) for child in node.children.values()), default=1.0)
    return 1.0 if grown == math.inf or grown <= factor else (factor - 1) / (grown - 1)


def _ratio(both: Sequence[float]) -> float:
    return both[1] / both[0] if both[0] > 0 else math.inf


# --- without ----------------------------------------------------------------------------------------------------------


def blame_by_shape(root: Node, states: Sequence[str], error: Error, least: float) -> Blames:
    """Do the same where nobody counted calls: what grew in all its parts by one factor was called more often.

    That is a guess, as is a function without parts: both it and its caller keep a part of the score.

    Args:
        states: of each function "changed", "new" or "gone".
        error: of the difference of a cost.
        least: smaller costs show nothing.
    """
    found: dict[int, Blame] = defaultdict(lambda: Blame({}, {}, {}))
    pending = list(root.children.values())
    found[root.function].add(root, root.rest)
    new = _new_calls(root, states, error, least)
    while pending:
        node = pending.pop()
        parent = node.parent
        if parent is not None and (parent.function, node.function) in new:
            _hand_over(node, node, found)
            continue
        if parent is not None and parent.parent is not None and _is_scaled(node, states, error, least):
            _hand_over(node, _likeliest(_chain(node, states, error, least), error), found)
            continue
        found[node.function].add(node, node.rest)
        if parent is not None and parent.parent is not None and (not node.children or states[node.function] == "new"):
            found[parent.function].guess(node.function, max(node.rest, 0.0))
        pending += node.children.values()
    return found


def _hand_over(outer: Node, inner: Node, found: dict[int, Blame]) -> None:
    """Put what is spent below a node that was called more often down to the caller of the chain's likeliest link."""
    caller = inner.parent
    assert caller is not None  # noqa: S101  # for types: a scaled node has one
    below = list(outer.below())
    change = sum(each.rest for each in below)
    found[caller.function].add(caller, change)
    more = found[caller.function].more
    more[inner.function] = more.get(inner.function, 0.0) + change
    for each in below:
        found[each.function].maybe += max(each.rest, 0.0)
    above = caller
    while above is not outer.parent and above.parent is not None:
        found[above.parent.function].guess(above.function, change)
        above = above.parent


def _new_calls(root: Node, states: Sequence[str], error: Error, least: float) -> set[tuple[int, int]]:
    """Return who calls what in head only, where base has the function.

    Base would have been seen to call it here as well, had it only become slower as it did where base calls it.
    """
    found: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for node in root.below():
        if node.parent is not None and node.parent.parent is not None and states[node.function] == "changed":
            for side in BOTH:
                found[node.parent.function, node.function][side] += node.inclusive[side]
    before: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (_, callee), both in found.items():
        if both[0] > 0:
            for side in BOTH:
                before[callee][side] += both[side]

    def is_new(callee: int, both: Sequence[float]) -> bool:
        here, there = Amounts(*both), Amounts(*before[callee])
        if here.base > 0 or here.head < least or there.base < least:
            return False
        slower = max((there.head + 2 * error(there)) / there.base, 1.0)
        expected = Amounts(here.head / slower, 0.0)
        return expected.base > _NEW * error(expected)

    return {edge for edge, both in found.items() if is_new(edge[1], both)}


def _is_scaled(node: Node, states: Sequence[str], error: Error, least: float) -> bool:
    """Say whether a node was called more often: all that is spent below it grew by one factor."""
    factor = _ratio(node.inclusive)
    if states[node.function] != "changed" or not _MORE <= factor < math.inf:
        return False
    if node.inclusive[1] - node.inclusive[0] < least:
        return False
    parts = [part for part in list(_spent(node).values()) if max(part.base, part.head) >= least]
    grown = [part for part in parts if part.base > 0 and part.change > 2 * error(part)]
    off = [_off(part, factor, error) for part in parts]
    # chi-squared, three standard deviations above its mean
    together = sum(each * each for each in off) <= len(off) + 3 * math.sqrt(2 * len(off))
    return len(grown) >= _PARTS and max(off) <= _SURE and together


def _off(part: Amounts, factor: float, error: Error) -> float:
    """Return by how many standard errors a part grew more or less than by a factor; 0: by about that, or infinity."""
    expected = part.base * factor
    if abs(part.head - expected) <= _ALIKE * part.base * (factor - 1):
        return 0.0
    allowed = error(Amounts(expected, part.head))
    return abs(part.head - expected) / allowed if allowed else math.inf


def _chain(node: Node, states: Sequence[str], error: Error, least: float) -> list[Node]:
    """Return the nodes, one below the other, that may have been called more often: most of the growth goes there."""
    found = [node]
    while True:
        whole = found[-1].inclusive[1] - found[-1].inclusive[0]
        largest = max(found[-1].children.values(), key=lambda n: n.inclusive[1] - n.inclusive[0], default=None)
        if largest is None or largest.inclusive[1] - largest.inclusive[0] < _MOST_OF * whole:
            return found
        if not _is_scaled(largest, states, error, least):
            return found
        found.append(largest)


def _likeliest(chain: Sequence[Node], error: Error) -> Node:
    """Choose the link below which all grew by one factor, while nothing else below the first link did."""
    whole = _spent(chain[0])

    def misfit(node: Node) -> float:
        below, factor = _spent(node), _ratio(node.inclusive)
        beside = {
            key: Amounts(a.base - b.base, a.head - b.head) for key, a in whole.items() for b in [below.get(key, _NONE)]
        }
        return sum(_distance(part, factor, error) for part in below.values()) + sum(
            _distance(part, 1.0, error) for part in beside.values()
        )

    return min(chain, key=misfit)


def _distance(part: Amounts, factor: float, error: Error) -> float:
    """Return the square of the errors by which a part differs from growth by a factor, bounded."""
    expected = part.base * factor
    allowed = max(error(Amounts(expected, part.head)), _ROUGHLY * max(expected, part.head))
    return min(((part.head - expected) / allowed) ** 2, _FAR) if allowed > 0 else 0.0


def _spent(node: Node) -> dict[tuple[int, int], Amounts]:
    """Return what is spent below a node by each function itself, and by each in each library function that it calls."""
    found: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for each in node.below():
        for called, both in ((-1, each.own), *each.library.items()):
            total = found[each.function, called]
            for side in BOTH:
                total[side] += both[side]
    return {key: Amounts(*both) for key, both in found.items()}
