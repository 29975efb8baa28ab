"""How far two profiles differ by chance alone."""

from __future__ import annotations

import math

from gate.model.explanation import Amounts
from gate.model.profile import Profile

SURE = 2.6
"""Standard errors that a difference needs to exceed; of some ten functions looked at, one in ten profiles has a false
one."""
_COUNTED = frozenset({"instructions"})
_MANY = 20
_TIMED = 0.03
"""Relative standard deviation of a timed function from one execution to the next, on a quiet machine."""


class Sampling:
    """What one sample of each side is worth, or that nothing is sampled."""

    def __init__(self, base: Profile, head: Profile) -> None:
        """Take two profiles of one unit."""
        self._quanta = [_quantum(profile) / (profile.operations or 1.0) for profile in (base, head)]
        self._timed = _TIMED if base.unit == "s" else 0.0

    def error(self, cost: Amounts) -> float:
        """Return the standard error of a difference: of samples by Poisson's law, of times with their noise."""
        sampled = self._quanta[0] * abs(cost.base) + self._quanta[1] * abs(cost.head)
        return math.sqrt(sampled + (self._timed * cost.base) ** 2 + (self._timed * cost.head) ** 2)


def _quantum(profile: Profile) -> float:
    """Return the cost of one sample; 0 where costs are counted.

    Of many stacks the rare ones were seen once. Timers do not tick evenly, so the least cost of all says too little.
    """
    if profile.unit in _COUNTED:
        return 0.0
    if profile.unit == "samples":
        return 1.0
    costs = sorted(stack.cost for stack in profile.stacks if stack.cost > 0)
    return costs[len(costs) // 4] if len(costs) >= _MANY else min(costs, default=0.0)
