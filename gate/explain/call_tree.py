"""The call tree of both sides: what is spent where, what only moved, and what a picture shows of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from gate.explain.matching import Matched, is_runtime
from gate.model.profile import FlameNode, Frame, Profile

MOST_DEEP = 200
"""Deeper stacks keep their innermost functions."""
BOTH = (0, 1)
"""Index of base and of head."""


class Node:
    """A function at one place of the tree; costs by side, base first."""

    __slots__ = ("children", "cost", "function", "inclusive", "library", "own", "parent", "rest")

    def __init__(self, function: int, parent: Node | None) -> None:
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


BALANCED = 0.15
"""More and less that differ by less than this share of the larger are one cost that moved."""


class Shift(msgspec.Struct, frozen=True, eq=False):
    """Cost that moved below a node: by function what left it, and what came to it."""

    node: Node
    sources: dict[int, float]
    targets: dict[int, float]


def settle_shifts(root: Node, states: Sequence[str], least: float) -> list[Shift]:
    """Take from the rest of all nodes what moved, and return it; from below, so that the nearest caller is named.

    Args:
        states: of each function "changed", "new" or "gone".
        least: a smaller cost is not worth a word, and stays.
    """
    found = []
    for node in reversed(list(root.below())):
        if node.children and max(node.inclusive) >= least:
            shift = _structural(node, states, least)
            if shift is None:
                # more against less where the inclusive total is about the same
                more, less = ([n for n in node.below() if sign * n.rest > 0] for sign in (1, -1))
                up, down = (abs(sum(n.rest for n in nodes)) for nodes in (more, less))
                if min(up, down) >= least and abs(up - down) <= BALANCED * max(up, down):
                    shift = _settled(node, more, less, min(up, down))
            found += [shift] if shift is not None else []
    return found


def _structural(node: Node, states: Sequence[str], least: float) -> Shift | None:
    """Settle what functions that are gone spent against what others spend more near by, and new ones likewise.

    A function that was inlined, split or joined takes its cost along, whatever else changed.
    """
    near = [node, *node.children.values(), *(n for child in node.children.values() for n in child.children.values())]
    gone = [n for n in near if n.rest < 0 and states[n.function] == "gone" and n is not node]
    new = [n for n in near if n.rest > 0 and states[n.function] == "new" and n is not node]
    if not gone and not new:
        return None
    more = [n for n in near if n.rest > 0] if gone else new
    less = gone or [n for n in near if n.rest < 0]
    amount = min(sum(n.rest for n in more), -sum(n.rest for n in less))
    return _settled(node, more, less, amount) if amount >= least else None


def _settled(node: Node, more: Sequence[Node], less: Sequence[Node], amount: float) -> Shift:
    """Take an amount from both in proportion."""
    sources: dict[int, float] = defaultdict(float)
    targets: dict[int, float] = defaultdict(float)
    for nodes, moved in ((more, targets), (less, sources)):
        whole = abs(sum(n.rest for n in nodes))
        for each in nodes:
            part = each.rest * amount / whole
            moved[each.function] += part
            each.rest -= part
    return Shift(node, dict(sources), dict(targets))


MOST_DRAWN = 240
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
    nodes = sorted((n for n in root.below() if n is not root), key=lambda n: max(n.inclusive), reverse=True)
    # a caller is at least as large as what it calls, and of two as large it comes first
    kept = {id(node) for node in nodes[:MOST_DRAWN] if max(node.inclusive) >= least}
    frames = [function.frame for function in matched.functions]
    # skip what starts every program, such as the loader
    begin = root
    while True:
        below = [child for child in begin.children.values() if id(child) in kept]
        large = [child for child in below if max(child.inclusive) >= _ALL * max(root.inclusive)]
        if len(large) != 1 or not is_runtime(frames[large[0].function]):
            break
        begin = large[0]
    found = [FlameNode(-1, Frame(""), root.inclusive[0], root.inclusive[1])]
    pending = [(begin, 0)]
    while pending:
        node, number = pending.pop()
        for child in sorted(node.children.values(), key=lambda n: frames[n.function].function):
            if id(child) in kept:
                pending.append((child, len(found)))
                found.append(FlameNode(number, frames[child.function], *child.inclusive))
    return found
