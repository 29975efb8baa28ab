"""The call tree of both sides: the project's functions, with the library functions that they call folded into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.explain.matching import Matched
from gate.model.profile import Profile

MOST_DEEP = 200
"""Deeper stacks keep their innermost functions."""
BOTH = (0, 1)
"""Index of base and of head."""


class Node:
    """A function at one place of the tree; costs by side, base first."""

    __slots__ = ("children", "cost", "function", "inclusive", "library", "own", "parent", "rest")

    def __init__(self, function: int, parent: Node | None) -> None:
        """Begin a node without cost; function: its index, -1 of the root."""
        self.function = function
        self.parent = parent
        self.children: dict[int, Node] = {}
        self.own = [0.0, 0.0]
        self.library: dict[int, list[float]] = {}
        """Cost below it by the library function that it calls itself."""
        self.cost = [0.0, 0.0]
        """Its own with that of the library functions that it calls."""
        self.inclusive = [0.0, 0.0]
        self.rest = 0.0
        """What of its cost's change is not explained otherwise yet."""

    def child(self, function: int) -> Node:
        """Return the node of a function that it calls; a new one where there is none."""
        found = self.children.get(function)
        if found is None:
            found = self.children[function] = Node(function, self)
        return found

    def below(self) -> Iterator[Node]:
        """Give it and all nodes below it, callers first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(node.children.values())

    @property
    def change(self) -> float:
        """What its cost, with its library functions, changed by."""
        return self.cost[1] - self.cost[0]

    def path(self) -> list[int]:
        """Return the functions that lead to it, the outermost first, without itself and without the root."""
        found, node = [], self.parent
        while node is not None and node.parent is not None:
            found.append(node.function)
            node = node.parent
        return found[::-1]


def call_tree(base: Profile, head: Profile, matched: Matched, project: Sequence[bool], *, speed: float = 1.0) -> Node:
    """Merge the stacks of both sides, per operation; recursion is folded into its outermost call.

    Args:
        project: of each function, whether it is the project's own. A stack without such a function stays as it is.
        speed: what all of head's costs are divided by.
    """
    root = Node(-1, None)
    for side, profile, numbers in ((0, base, matched.base), (1, head, matched.head)):
        scale = 1 / (profile.operations or 1.0) / (speed if side else 1.0)
        for stack in profile.stacks:
            _add(root, [numbers[index] for index in stack.frames[-MOST_DEEP:]], stack.cost * scale, side, project)
    order = list(root.below())
    for node in order:
        node.rest = node.change
        for side in BOTH:
            node.inclusive[side] = node.cost[side]
    for node in reversed(order):
        if node.parent is not None:
            for side in BOTH:
                node.parent.inclusive[side] += node.inclusive[side]
    return root


def _add(root: Node, functions: Sequence[int], cost: float, side: int, project: Sequence[bool]) -> None:
    own = [index for index in functions if project[index]]
    node = root
    for index in folded(own or functions):
        node = node.child(index)
    node.cost[side] += cost
    if functions and functions[-1] == node.function:
        node.own[side] += cost
        return
    # the first library function that the innermost of the project's calls
    last = len(functions) - 1 - functions[::-1].index(node.function) if node.function in functions else -1
    called = functions[last + 1] if last + 1 < len(functions) else functions[-1]
    node.library.setdefault(called, [0.0, 0.0])[side] += cost


def folded(functions: Sequence[int]) -> list[int]:
    """Cut a recursion back to where its function stood first: f g f h is f h."""
    path: list[int] = []
    places: dict[int, int] = {}
    for index in functions:
        at = places.get(index)
        if at is None:
            places[index] = len(path)
            path.append(index)
        else:
            for left in path[at + 1 :]:
                del places[left]
            del path[at + 1 :]
    return path
