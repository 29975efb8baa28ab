"""Stacks drawn from arcs: who called whom at which inclusive cost, as callgrind counts, in proportion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.model.profile import Frame

_LEAST = 1e-4
"""Share of the whole below which a stack is not followed further."""
_MOST = 50_000
_DEEPEST = 100


@dataclass(slots=True)
class Arcs:
    """Own costs of functions, and the inclusive costs of calls between them."""

    own: dict[Frame, float] = field(default_factory=lambda: defaultdict(float))
    calls: dict[Frame, dict[Frame, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    counts: dict[Frame, float] = field(default_factory=lambda: defaultdict(float))
    """How often each function was called."""


class Counted(dict[tuple[Frame, ...], float]):
    """Costs by stack, with how often each function was called."""

    def __init__(self, costs: Mapping[tuple[Frame, ...], float], calls: Mapping[Frame, float]) -> None:
        """Keep both."""
        super().__init__(costs)
        self.calls = calls


def drawn(arcs: Arcs) -> Counted:
    """Draw stacks: what a function spends is shared by its callers as their calls of it cost.

    The own cost of each function is exact. A function is in a stack once, however it recurses.
    """
    entered: dict[Frame, float] = defaultdict(float)
    left: dict[Frame, float] = defaultdict(float, arcs.own)
    for caller, callees in arcs.calls.items():
        for callee, cost in callees.items():
            if callee != caller:
                entered[callee] += cost
                left[caller] += cost
    whole = {frame: max(left[frame], entered[frame]) for frame in {*left, *entered}}
    total = sum(arcs.own.values())
    found: dict[tuple[Frame, ...], float] = defaultdict(float)
    pending: list[tuple[tuple[Frame, ...], float]] = [
        ((frame,), cost - entered[frame]) for frame, cost in whole.items() if cost > entered[frame]
    ]
    visits = 0
    while pending and visits < _MOST:
        visits += 1
        stack, amount = pending.pop()
        frame = stack[-1]
        share = amount / whole[frame] if whole[frame] else 0.0
        found[stack] += arcs.own.get(frame, 0.0) * share
        if len(stack) < _DEEPEST:
            pending += [
                ((*stack, callee), cost * share)
                for callee, cost in arcs.calls.get(frame, {}).items()
                if callee not in stack and cost * share > total * _LEAST
            ]
    return Counted(_exact(found, arcs.own), arcs.counts)


def _exact(found: Mapping[tuple[Frame, ...], float], own: Mapping[Frame, float]) -> dict[tuple[Frame, ...], float]:
    """Scale the stacks of each function to its own cost."""
    reached: dict[Frame, float] = defaultdict(float)
    for stack, cost in found.items():
        reached[stack[-1]] += cost
    exact = {stack: cost * own.get(stack[-1], 0.0) / reached[stack[-1]] for stack, cost in found.items() if cost > 0}
    exact.update({(frame,): cost for frame, cost in own.items() if cost > 0 and not reached[frame]})
    return exact
