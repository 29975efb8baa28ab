"""DataDog's Regression Detector: a 90% interval of the change of means without 0, and a change of some size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.trial.comparisons import Comparison
from benchmarks.trial.rules.rule import Call, Rule, Source, pairs, spent, times

CONFIDENCE, TOLERANCE = 0.90, 0.05
STARTS = 50
_BEFORE = (
    "https://github.com/vectordotdev/vector/blob/0ae8f37e44f14f779013cadbecb406160ba72bd7/soaks/bin/detect_regressions"
)
_REPORT = "https://github.com/DataDog/datadog-agent/pull/28524"


@dataclass(frozen=True)
class Change:
    """The change of means as a share of base's, and its 90% interval."""

    estimate: float
    low: float
    high: float


def change(base: Sequence[float], head: Sequence[float]) -> Change:
    """Return the change of means, with Welch's interval of the difference."""
    found = stats.ttest_ind(head, base, equal_var=False).confidence_interval(CONFIDENCE)
    mean = float(np.mean(base))
    return Change(float(np.mean(head)) / mean - 1, float(found.low) / mean, float(found.high) / mean)


def regressed(found: Change, tolerance: float = TOLERANCE) -> bool:
    """Return whether the interval lies above 0 and the change is at least the tolerance."""
    return found.low > 0 and found.estimate >= tolerance


def _judge(comparison: Comparison, seconds: float | None, tolerance: float) -> Call:
    base, head = pairs(comparison, seconds, STARTS)
    slower = regressed(change(times(base), times(head)), tolerance)
    return Call(slower, comparison.building + spent(base, head))


RULES = (
    Rule(
        "DataDog", "The 90% interval of the change lies above 0, and the change is at least 5%.",
        "effect size", TOLERANCE, f"{STARTS} replicates a side, here starts by turns",
        "As its reports say it (closed source; Welch's interval, as of its open predecessor).",
        (Source("report", _REPORT), Source("predecessor", _BEFORE)), _judge,
    ),
)  # fmt: skip
