"""How an error level is shared over the findings of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec


class Tested(msgspec.Struct, frozen=True):
    """What one hypothesis gets: its adjusted p, the alpha at which it was tested, and whether it is rejected."""

    p_adjusted: float
    alpha: float
    rejected: bool


def holm(p: Sequence[float], alpha: float) -> list[Tested]:
    """Share alpha by Holm's step-down procedure (Holm 1979): weighted_holm with equal weights.

    A rejected hypothesis was tested at alpha/(m - j), j rejected before it; all others at the level at which the
    procedure stopped, so that rejected == (p < its own alpha).

    Args:
        p: one per hypothesis, all of the family.
    """
    return weighted_holm(p, [1.0] * len(p), alpha)


def weighted_holm(p: Sequence[float], weights: Sequence[float], alpha: float) -> list[Tested]:
    """Share alpha by weights (Holm 1979, section 3): each is tested at alpha times its share of what is left.

    The closed test whose parts are weighted Bonferroni tests. Returned in the order of p.

    Args:
        p: one per hypothesis, all of the family.
        weights: positive, in the order of p.
    """
    order = sorted(range(len(p)), key=lambda i: p[i] / weights[i])
    shares: dict[int, Tested] = {}
    adjusted, left = 0.0, sum(weights)
    stopped: float | None = None
    for i in order:
        adjusted = min(1.0, max(adjusted, p[i] * left / weights[i]))
        if stopped is None and not p[i] < alpha * weights[i] / left:
            stopped = left
        shares[i] = Tested(adjusted, alpha * weights[i] / (left if stopped is None else stopped), stopped is None)
        left -= weights[i]
    return [shares[i] for i in range(len(p))]


def bh(p: Sequence[float], alpha: float) -> list[Tested]:
    """Control the share of false findings among all findings at alpha (Benjamini and Hochberg 1995).

    With R rejected of m, all were tested at alpha R/m, the level of their intervals (Benjamini and Yekutieli 2005);
    with none rejected at alpha/m.

    Args:
        p: one per hypothesis, all of the family.
    """
    m = len(p)
    order = sorted(range(m), key=lambda i: p[i])
    count = max((rank for rank, i in enumerate(order, 1) if p[i] < alpha * rank / m), default=0)
    level = alpha * max(count, 1) / max(m, 1)
    adjusted = [1.0] * m
    least = 1.0
    for rank, i in reversed([*enumerate(order, 1)]):
        adjusted[i] = least = min(least, m * p[i] / rank)
    rejected = set(order[:count])
    return [Tested(adjusted[i], level, i in rejected) for i in range(m)]


def within(question: Tested, p: Sequence[float], weights: Sequence[float], alpha: float) -> list[Tested]:
    """Share what a question gets over its hypotheses, by weights that sum to 1 (weighted Bonferroni).

    Args:
        question: tested with the smallest of p over its weight.
        p: one per hypothesis, in the order of weights.
        alpha: of the family.
    """
    if len(p) == 1:
        return [question]
    found = []
    weighted = [value / weight for value, weight in zip(p, weights, strict=True)]
    for value, weight in zip(weighted, weights, strict=True):
        others = 0.0 if value == min(weighted) else min(1.0, value * alpha / question.alpha)
        rejected = question.rejected and value < question.alpha
        found.append(Tested(max(question.p_adjusted, others), question.alpha * weight, rejected))
    return found


def share(method: Literal["holm", "bh", "none"], p: Sequence[float], alpha: float) -> list[Tested]:
    """Share alpha over hypotheses by the named method; none: each gets all of it."""
    if method == "none":
        return [Tested(value, alpha, value < alpha) for value in p]
    return holm(p, alpha) if method == "holm" else bh(p, alpha)
