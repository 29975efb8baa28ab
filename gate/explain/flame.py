"""The call tree of both sides for a picture: library functions too, without what is too small to see."""

from __future__ import annotations

from collections.abc import Sequence

from gate.explain.matching import Matched
from gate.explain.names import is_runtime
from gate.explain.tree import BOTH, MOST_DEEP, Node, folded
from gate.model.explanation import FlameNode
from gate.model.profile import Frame, Profile

MOST = 240
"""Nodes of a picture."""
_SMALLEST = 0.003
"""Share of the whole below which a node is not drawn."""
_MOST_LEVELS = 40
_ALL = 0.95


def flame(base: Profile, head: Profile, matched: Matched) -> list[FlameNode]:
    """Merge the stacks of both sides, per operation, and keep the largest nodes, each after its caller."""
    root = Node(-1, None)
    for side, profile, numbers in ((0, base, matched.base), (1, head, matched.head)):
        scale = 1 / (profile.operations or 1.0)
        for stack in profile.stacks:
            node = root
            node.inclusive[side] += stack.cost * scale
            for index in folded([numbers[each] for each in stack.frames[-MOST_DEEP:]])[:_MOST_LEVELS]:
                node = node.child(index)
                node.inclusive[side] += stack.cost * scale
    least = _SMALLEST * max(root.inclusive)
    nodes = sorted((n for n in root.below() if n is not root), key=_size, reverse=True)
    # a caller is at least as large as what it calls, and of two as large it comes first
    kept = {id(node) for node in nodes[:MOST] if _size(node) >= least}
    return _listed(root, kept, [function.frame for function in matched.functions])


def _size(node: Node) -> float:
    return max(node.inclusive)


def _listed(root: Node, kept: set[int], frames: Sequence[Frame]) -> list[FlameNode]:
    found = [FlameNode(-1, Frame(""), root.inclusive[0], root.inclusive[1])]
    pending = [(_begin(root, kept, frames), 0)]
    while pending:
        node, number = pending.pop()
        for child in sorted(node.children.values(), key=lambda n: frames[n.function].function):
            if id(child) in kept:
                pending.append((child, len(found)))
                costs = [child.inclusive[side] for side in BOTH]
                found.append(FlameNode(number, frames[child.function], costs[0], costs[1]))
    return found


def _begin(root: Node, kept: set[int], frames: Sequence[Frame]) -> Node:
    """Skip what starts every program, such as the loader."""
    node = root
    while True:
        below = [child for child in node.children.values() if id(child) in kept]
        large = [child for child in below if _size(child) >= _ALL * _size(root)]
        if len(large) != 1 or not is_runtime(frames[large[0].function]):
            return node
        node = large[0]
