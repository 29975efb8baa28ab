"""Block plots with the chance of their pattern (NIST TN 1855, 4.6.3).

A box holds the treatments with the same settings of all factors but one. Were that factor without any effect, each box
would order its means at random, independently of the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from gate.model import study
from gate.model.study import Blocks, Factor
from gate.stats.design.cells import HAIR, Box, boxes, cells, complete

if TYPE_CHECKING:
    import pandas as pd

EXACT = 200
"""Most boxes for which the chance of a pattern of three or more settings is counted out; more get a bound."""
FEW = 12
"""Most settings for which it is; of more that bound is as good as exact, since two orders hardly agree by chance."""


def blocks(units: pd.DataFrame, factors: Sequence[Factor]) -> list[Blocks]:
    """Return a block plot for each factor.

    Boxes without a mean for every setting measured are shown, not counted. Equal means (to rounding) are in no order,
    and their box agrees with none; it counts as a box all the same, so the chances err to the cautious side.
    """
    of = cells(units, factors)
    return [_blocks(boxes(of, k), factors, k) for k in range(len(factors))]


def _blocks(of: list[Box], factors: Sequence[Factor], factor: int) -> Blocks:
    own = factors[factor].settings
    shown = [
        study.Box(at=box.at(factors), points=[(own[cell.codes[factor]], cell.mean) for cell in box.cells]) for box in of
    ]
    whole = complete(of)
    size = len(whole[0].cells) if whole else 0
    if size < 2:
        return Blocks(factor=factors[factor].name, boxes=shown, complete=0, order=None, same=0, chance=None, tail=None)
    orders = Counter(order for order in map(_order, whole) if order is not None)
    commonest = orders.most_common(1)
    same = commonest[0][1] if commonest else 0
    return Blocks(
        factor=factors[factor].name,
        boxes=shown,
        complete=len(whole),
        order=[own[code] for code in commonest[0][0]] if same == len(whole) else None,
        same=same,
        chance=chance(len(whole), size),
        tail=tail(same, len(whole), size),
    )


def _order(box: Box) -> tuple[int, ...] | None:
    """Return the settings from the lowest to the highest mean; None where two means are equal."""
    ranked = sorted((cell.mean, code) for cell, code in zip(box.cells, box.codes, strict=True))
    if any(high - low <= HAIR * max(abs(low), abs(high)) for (low, _), (high, _) in pairwise(ranked)):
        return None
    return tuple(code for _, code in ranked)


def chance(boxes: int, settings: int) -> float:
    """Return the chance that all boxes have one same order, whichever: 1/(settings!)^(boxes - 1).

    boxes >= 1, settings >= 2. Of two settings that is 1/2^(boxes - 1) (NIST 4.6.3).
    """
    return float(Fraction(1, math.factorial(settings) ** (boxes - 1)))


def tail(same: int, boxes: int, settings: int) -> float:
    """Return the chance that at least `same` of the boxes agree on some order, whichever, all orders alike likely.

    0 <= same <= boxes, settings >= 2. Exact: of two settings by the binomial distribution in both directions, of more
    by counting out. Above EXACT boxes of three or more settings, or of more than FEW settings, the sum over the orders
    of the chance of each, which is never too small.
    """
    orders = math.factorial(settings)
    if same <= -(-boxes // orders):
        return 1.0  # so many agree on some order in any case
    if 2 < settings <= FEW and boxes <= EXACT:
        return float(1 - Fraction(_words(boxes, orders, same - 1), orders**boxes))
    one = sum(math.comb(boxes, j) * (orders - 1) ** (boxes - j) for j in range(same, boxes + 1))
    # of two settings both directions exclude each other, unless half of the boxes are enough
    return min(1.0, float(Fraction(orders * one, orders**boxes)))


def _words(length: int, letters: int, most: int) -> int:
    """Count the words of some length over some letters in which no letter comes more often than `most`."""
    choose = [[math.comb(n, j) for j in range(n + 1)] for n in range(length + 1)]

    def joined(a: list[int], b: list[int]) -> list[int]:
        # of two sets of letters: where in the word those of the first stand
        return [sum(choose[n][j] * a[j] * b[n - j] for j in range(n + 1)) for n in range(length + 1)]

    result = [1] + [0] * length
    power = [int(n <= most) for n in range(length + 1)]
    while letters:
        if letters % 2:
            result = joined(result, power)
        letters //= 2
        if letters:
            power = joined(power, power)
    return result[length]
