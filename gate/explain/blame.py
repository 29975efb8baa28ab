"""Whose change it is: a function that is only called more often hands its change to the one that calls it more."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gate.explain.tree import Node
from gate.model.explanation import Amounts

_MORE = 1.1
"""A function is called more often from this factor on; below it its calls may have become slower."""
_PARTS = 2
"""So many parts that grew by one factor show more calls where nobody counted them."""
_ALIKE = 0.4
"""Of counted costs a part may differ from the common growth by this share of it."""
_SURE = 2.6
"""Standard errors by which a sampled part may differ from it."""
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
    change: float = 0.0
    """What it adds to the difference."""
    maybe: float = 0.0
    """What it adds if a guess about calls is wrong: that of a callee it may call more often, or that handed on."""

    @property
    def score(self) -> float:
        """What it is ranked by."""
        return self.change + _UNSURE * self.maybe

    def add(self, node: Node, change: float) -> None:
        """Put a change at a place of the tree down to it."""
        self.change += change
        path = tuple(node.path())
        self.paths[path] = self.paths.get(path, 0.0) + change


Blames = Mapping[int, Blame]


def _blames() -> dict[int, Blame]:
    return defaultdict(lambda: Blame({}, {}))


# --- with counted calls -----------------------------------------------------------------------------------------------


def blame_by_calls(root: Node, calls: Sequence[Amounts], states: Sequence[str]) -> Blames:
    """Put what is left of each node's change down to a function.

    A part of a node's change that comes of more calls goes to its caller, and on to the caller's caller so far as that
    was itself called more often.

    Args:
        calls: of each function, how often it was called.
        states: of each function "changed", "new" or "gone".
    """
    found = _blames()
    handed: dict[Node, dict[int, float]] = defaultdict(dict)
    # callees before their callers, so that what is handed on is complete
    for node in reversed(list(root.below())):
        parent, more = node.parent, handed.pop(node, {})
        factor = _called(node, calls, states) if parent is not None and parent.parent is not None else 1.0
        up, share = _handed(node, factor), _onwards(node, factor)
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


def _handed(node: Node, factor: float) -> float:
    """Return the part of a node's change that comes of more calls."""
    if node.rest <= 0 or factor < _MORE:
        return 0.0
    return node.rest if factor == math.inf else min(node.rest, node.cost[0] * (factor - 1))


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
    found = _blames()
    pending = list(root.children.values())
    found[root.function].add(root, root.rest)
    while pending:
        node = pending.pop()
        parent = node.parent
        if parent is not None and parent.parent is not None and _is_scaled(node, states, error, least):
            below = list(node.below())
            change = sum(each.rest for each in below)
            caller = found[parent.function]
            caller.add(parent, change)
            caller.more[node.function] = caller.more.get(node.function, 0.0) + change
            for each in below:
                found[each.function].maybe += max(each.rest, 0.0)
            continue
        found[node.function].add(node, node.rest)
        if parent is not None and parent.parent is not None and (not node.children or states[node.function] == "new"):
            found[parent.function].maybe += max(node.rest, 0.0)
        pending += node.children.values()
    return found


def _is_scaled(node: Node, states: Sequence[str], error: Error, least: float) -> bool:
    factor = _ratio(node.inclusive)
    if states[node.function] != "changed" or not _MORE <= factor < math.inf:
        return False
    parts = [Amounts(*both) for both in _parts(node) if max(both) >= least]
    grown = [part for part in parts if part.base > 0 and part.change > 2 * error(part)]
    return len(grown) >= _PARTS and all(_fits(part, factor, error) for part in parts)


def _fits(part: Amounts, factor: float, error: Error) -> bool:
    """Say whether a part may have grown by a factor."""
    expected = part.base * factor
    allowed = max(_SURE * error(Amounts(expected, part.head)), _ALIKE * part.base * (factor - 1))
    return abs(part.head - expected) <= allowed


def _parts(node: Node) -> list[Sequence[float]]:
    return [node.own, *node.library.values(), *(child.inclusive for child in node.children.values())]
