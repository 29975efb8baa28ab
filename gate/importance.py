"""Which findings matter most: the order that reports show them in, and how many get more room than a line."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gate.model import Finding, RatioInterval, Verdict

ORDER: tuple[Verdict, ...] = ("regression", "inconclusive", "accepted", "improvement", "unchanged")
"""The verdicts of findings, those that matter first."""

MOST = 20
"""Findings that get curves and pictures."""


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with those that matter first, and among equals the largest change first."""
    return sorted(findings, key=lambda f: (ORDER.index(f.verdict), -_size(f.ratio)))


def _size(ratio: RatioInterval) -> float:
    estimate = ratio.estimate
    known = estimate is not None and math.isfinite(estimate) and estimate > 0
    return abs(math.log(estimate)) if known and estimate is not None else math.inf
