"""How far two profiles differ by chance alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gate.model.explanation import Amounts
from gate.model.profile import Profile

SURE = 2.6
"""Standard errors that a difference needs to exceed; of some ten functions looked at, one in ten profiles has a false
one."""
_COUNTED = frozenset({"instructions"})
_MANY = 20
_CLEAR = 0.15
"""Standard error of the logarithm of a function's ratio below which it shows how evenly both sides ran."""
_ENOUGH = 8
"""Functions that show how evenly both sides ran."""
_EVEN = 1.04
_MAD = 1.4826
"""Of normal noise: standard deviation over the median of absolute deviations."""
_MOST_NOISE = 0.3
_TIMED = 0.03
"""Relative standard deviation of a timed function from one execution to the next, on a quiet machine."""


class Sampling:
    """What one sample of each side is worth, or that nothing is sampled; and how evenly both sides ran."""

    def __init__(self, base: Profile, head: Profile, costs: Sequence[Amounts]) -> None:
        """Take two profiles of one unit.

        costs: of the functions; most of them are the same program on both sides.
        """
        self._quanta = [_quantum(profile) / (profile.operations or 1.0) for profile in (base, head)]
        self._counted = base.unit in _COUNTED
        ratios = sorted(math.log(c.head / c.base) for c in costs if self._is_known(c))
        known = len(ratios) >= _ENOUGH
        middle = ratios[len(ratios) // 2] if known else 0.0
        spread = sorted(abs(ratio - middle) for ratio in ratios)[len(ratios) // 2] if known else 0.0
        self.alike = math.exp(middle) if abs(middle) >= math.log(_EVEN) else 1.0
        """By which factor the functions changed alike, in the middle; 1: about the same, or too few are known."""
        self._timed = 0.0 if self._counted or base.unit == "samples" else max(_TIMED, min(_MAD * spread, _MOST_NOISE))

    @property
    def speed(self) -> float:
        """How many times as long head took for the same: of times, which no two executions share."""
        return 1.0 if self._counted else self.alike

    def error(self, cost: Amounts, *, whole: bool = False) -> float:
        """Return the standard error of a difference: of samples by Poisson's law, of times with their noise.

        whole: it is of the program, in which the noise of the functions averages out.
        """
        sampled = self._quanta[0] * abs(cost.base) + self._quanta[1] * abs(cost.head)
        timed = min(self._timed, _TIMED) if whole else self._timed
        return math.sqrt(sampled + (timed * cost.base) ** 2 + (timed * cost.head) ** 2)

    def _is_known(self, cost: Amounts) -> bool:
        """Say whether sampling alone leaves the ratio of a cost about as it is."""
        sides = zip((cost.base, cost.head), self._quanta, strict=True)
        return min(cost.base, cost.head) > 0 and math.sqrt(sum(q / side for side, q in sides)) <= _CLEAR


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
