"""What people write themselves: two numbers, a t-test or a rank test on the starts of one side and then the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scipy import stats

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import Call, Judge, Rule, Source, blocks, spent, times

STARTS = 30
"""A sample that textbooks call large."""
THRESHOLD, ALPHA = 0.05, 0.05


def two_numbers(base: Sequence[float], head: Sequence[float], threshold: float = THRESHOLD) -> bool:
    """Call head slower if its mean is more than 5% (threshold) above that of base."""
    return mean(head) > (1 + threshold) * mean(base)


def welch(base: Sequence[float], head: Sequence[float], size: float = 0.0) -> bool:
    """Call head slower if Welch's two-sided t-test has p < 0.05 and head's mean is the larger one.

    size: base counts as so much slower than it is.
    """
    slower = [(1 + size) * value for value in base]
    return mean(head) > mean(slower) and float(stats.ttest_ind(slower, head, equal_var=False).pvalue) < ALPHA


def mann_whitney(base: Sequence[float], head: Sequence[float], size: float = 0.0) -> bool:
    """Call head slower if the two-sided Mann-Whitney test has p < 0.05 and head has the larger ranks.

    size: base counts as so much slower than it is.
    """
    found = stats.mannwhitneyu(head, [(1 + size) * value for value in base], alternative="two-sided")
    return float(found.statistic) > len(base) * len(head) / 2 and float(found.pvalue) < ALPHA


Test = Callable[[Sequence[float], Sequence[float], float], bool]


def _judged(test: Test) -> Judge:
    def judge(comparison: Comparison, seconds: float | None, size: float) -> Call:
        base, head = blocks(comparison, seconds, STARTS)
        return Call(test(times(base), times(head), size), comparison.building + spent(base, head))

    return judge


_PLAN = f"{STARTS} starts a side"
_SCIPY = "https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats."
RULES = (
    Rule(
        "two numbers", "Head's mean is more than 5% above base's.", "", THRESHOLD, _PLAN,
        "", (), _judged(two_numbers),
    ),
    Rule(
        "pooled Welch", "Welch's t-test over all starts has p < 0.05.", "", 0.0,
        _PLAN, "It takes starts for independent.",
        (Source("scipy", f"{_SCIPY}ttest_ind.html"),), _judged(welch),
    ),
    Rule(
        "Mann-Whitney", "The rank test over all starts has p < 0.05.", "",
        0.0, _PLAN, "",
        (Source("scipy", f"{_SCIPY}mannwhitneyu.html"),), _judged(mann_whitney),
    ),
)  # fmt: skip
