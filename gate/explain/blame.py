"""Whose change it is: a function that is only called more often hands its change to the one that calls it more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from gate.explain.tree import Node
from gate.model.explanation import Amounts

_MORE = 1.1
"""A function is called more often from this factor on; below it its calls may have become slower."""
_PARTS = 2
"""So many parts that grew by one factor show more calls where nobody counted them."""
_ALIKE = 1.4
"""Parts grew by one factor if the one that grew most grew at most so many times as much as the one that grew least."""
_UNSURE = 0.5
"""How much a candidate counts for a change that may be its own or its callee's."""


class Blame(msgspec.Struct):
    """What is put down to one function. Its fields are filled in as the tree is walked."""

    change: float = 0.0
    """What it adds to the difference."""
    maybe: float = 0.0
    """What it adds if a guess about calls is wrong: that of a callee it may call more often, or that handed on."""
    more: dict[int, float] = {}
    """By function that it calls more often, what that adds."""
    paths: dict[tuple[int, ...], float] = {}
    """By way to it, its change there."""

    @property
    def score(self) -> float:
        """What it is ranked by."""
        return self.change + _UNSURE * self.maybe


def blame(root: Node, calls: Sequence[Amounts | None], states: Sequence[str], least: float) -> Mapping[int, Blame]:
    """Put what is left of each node's change down to a function.

    A part of a node's change that comes of more calls goes to its caller, and on to the caller's caller so far as that
    was itself called more often.

    Args:
        calls: of each function, how often it was called; None where nobody counted.
        states: of each function "changed", "new" or "gone".
        least: smaller costs say nothing about how often a function was called.
    """
    found: dict[int, Blame] = defaultdict(lambda: Blame(more={}, paths={}))
    handed: dict[Node, dict[int, float]] = defaultdict(dict)
    # callees before their callers, so that what is handed on is complete
    for node in reversed(list(root.below())):
        factor = _called(node, calls, states, least)
        up = _handed(node, factor)
        kept = node.rest - up
        more = handed.pop(node, {})
        share = _onwards(node, factor)
        parent = node.parent
        whole = parent is not None and parent.parent is not None
        if not whole:
            up, share, kept = 0.0, 0.0, node.rest
        own = found[node.function]
        here = kept
        for callee, change in more.items():
            staying = change * (1 - share)
            own.more[callee] = own.more.get(callee, 0.0) + staying
            here += staying
        own.change += here
        path = tuple(node.path())
        own.paths[path] = own.paths.get(path, 0.0) + here
        if not whole or parent is None:
            continue
        to = handed[parent]
        if up:
            to[node.function] = to.get(node.function, 0.0) + up
        for callee, change in more.items():
            if share:
                to[callee] = to.get(callee, 0.0) + change * share
        if calls[node.function] is None or node.cost[0] <= 0:
            # nobody counted: a guess either way, and both are named
            own.maybe += max(up, 0.0)
            found[parent.function].maybe += (
                max(kept, 0.0) if _leaf(node, least) or states[node.function] == "new" else 0.0
            )
    return found


def _called(node: Node, calls: Sequence[Amounts | None], states: Sequence[str], least: float) -> float:
    """Return by which factor a node was called more often; infinity: not at all before."""
    if states[node.function] != "changed":
        return 1.0
    if node.inclusive[0] <= 0:
        return float("inf")
    counted = calls[node.function]
    if counted is not None:
        return _counted(node, counted)
    ratios = [_ratio(both) for both in _parts(node) if max(both) >= least]
    least_grown, most = min(ratios, default=1.0), max(ratios, default=1.0)
    alike = most - 1 <= _ALIKE * (least_grown - 1)
    return least_grown if len(ratios) >= _PARTS and least_grown >= _MORE and alike else 1.0


def _counted(node: Node, calls: Amounts) -> float:
    if calls.base <= 0:
        return float("inf")
    factor = calls.head / calls.base
    # it may be called more often here and not there: not by more than it grew here
    return max(min(factor, _ratio(node.inclusive)), 1.0) if factor >= _MORE else 1.0


def _parts(node: Node) -> list[Sequence[float]]:
    return [node.own, *node.library.values(), *(child.inclusive for child in node.children.values())]


def _ratio(both: Sequence[float]) -> float:
    return both[1] / both[0] if both[0] > 0 else float("inf")


def _handed(node: Node, factor: float) -> float:
    """Return the part of a node's change that comes of more calls."""
    if node.rest <= 0 or factor < _MORE:
        return 0.0
    return node.rest if factor == float("inf") else min(node.rest, node.cost[0] * (factor - 1))


def _onwards(node: Node, factor: float) -> float:
    """Return the share of what its callees hand it that a node hands on, being called more often itself."""
    if factor < _MORE:
        return 0.0
    if factor == float("inf"):
        return 1.0
    # its callees grew at least as much; what they grew beyond it stays here
    grown = max((_ratio(child.inclusive) for child in node.children.values()), default=1.0)
    return 1.0 if grown == float("inf") or grown <= factor else (factor - 1) / (grown - 1)


def _leaf(node: Node, least: float) -> bool:
    """Say whether a node has too few parts to show how often it was called."""
    return sum(max(both) >= least for both in _parts(node)) < _PARTS
