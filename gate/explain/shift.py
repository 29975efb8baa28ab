"""Cost that moved: functions that spend more while others below the same caller spend as much less."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from gate.explain.tree import Node

BALANCED = 0.15
"""More and less that differ by less than this share of the larger are one cost that moved."""


class Shift(msgspec.Struct, frozen=True, eq=False):
    """Cost that moved below a node: by function what left it, and what came to it."""

    node: Node
    sources: dict[int, float]
    targets: dict[int, float]

    @property
    def cost(self) -> float:
        """How much moved."""
        return sum(self.targets.values())


def settle_shifts(root: Node, states: Sequence[str], least: float) -> list[Shift]:
    """Take from the rest of all nodes what moved, and return it; from below, so that the nearest caller is named.

    Args:
        states: of each function "changed", "new" or "gone".
        least: a smaller cost is not worth a word, and stays.
    """
    found = []
    for node in reversed(list(root.below())):
        if node.children and max(node.inclusive) >= least:
            shift = _structural(node, states, least) or _balanced(node, least)
            found += [shift] if shift is not None else []
    return found


def _balanced(node: Node, least: float) -> Shift | None:
    """Settle more against less where the node's inclusive total is about the same."""
    more = [n for n in node.below() if n.rest > 0]
    less = [n for n in node.below() if n.rest < 0]
    up, down = sum(n.rest for n in more), -sum(n.rest for n in less)
    if min(up, down) < least or abs(up - down) > BALANCED * max(up, down):
        return None
    return _settled(node, more, less, min(up, down))


def _structural(node: Node, states: Sequence[str], least: float) -> Shift | None:
    """Settle what functions that are gone spent against what others spend more near by, and new ones likewise.

    A function that was inlined, split or joined takes its cost along, whatever else changed.
    """
    near = [node, *node.children.values(), *(n for child in node.children.values() for n in child.children.values())]
    gone = [n for n in near if n.rest < 0 and states[n.function] == "gone" and n is not node]
    new = [n for n in near if n.rest > 0 and states[n.function] == "new" and n is not node]
    if gone:
        more = [n for n in near if n.rest > 0]
        less = gone
    elif new:
        more = new
        less = [n for n in near if n.rest < 0]
    else:
        return None
    amount = min(sum(n.rest for n in more), -sum(n.rest for n in less))
    return _settled(node, more, less, amount) if amount >= least else None


def _settled(node: Node, more: Sequence[Node], less: Sequence[Node], amount: float) -> Shift:
    """Take an amount from both in proportion."""
    up, down = sum(n.rest for n in more), -sum(n.rest for n in less)
    targets: dict[int, float] = defaultdict(float)
    sources: dict[int, float] = defaultdict(float)
    for each in more:
        part = each.rest * amount / up
        targets[each.function] += part
        each.rest -= part
    for each in less:
        part = each.rest * amount / down
        sources[each.function] += part
        each.rest -= part
    return Shift(node, dict(sources), dict(targets))
