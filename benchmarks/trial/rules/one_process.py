"""What people write themselves: two numbers, a t-test or a rank test on the passes of one process a side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from scipy import stats

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import SIZE, Call, Judge, Rule, Sized, Source, build_seconds, enough, warm

PASSES = 30
"""A sample that textbooks call large."""
THRESHOLD, ALPHA = 0.05, 0.05


def two_numbers(base: Sequence[float], head: Sequence[float], threshold: float = THRESHOLD) -> bool:
    """Call head slower if its mean is more than 5% (threshold) above that of base."""
    return mean(head) > (1 + threshold) * mean(base)


def welch(base: Sequence[float], head: Sequence[float]) -> bool:
    """Call head slower if Welch's two-sided t-test has p < 0.05 and head's mean is the larger one.

    All passes of a process count as independent values.
    """
    return mean(head) > mean(base) and float(stats.ttest_ind(base, head, equal_var=False).pvalue) < ALPHA


def mann_whitney(base: Sequence[float], head: Sequence[float]) -> bool:
    """Call head slower if the two-sided Mann-Whitney test has p < 0.05 and head has the larger ranks.

    All passes of a process count as independent values.
    """
    found = stats.mannwhitneyu(head, base, alternative="two-sided")
    return float(found.statistic) > len(base) * len(head) / 2 and float(found.pvalue) < ALPHA


Test = Callable[[Sequence[float], Sequence[float]], bool]


def _judged(test: Test) -> Judge:
    def judge(comparison: Comparison, seconds: float | None) -> Call:
        sides = (comparison.base, comparison.head)
        if seconds is None:
            # of short processes, which follow each other within a second or two, as those of a script would
            base, head = (warm(side.starts[0])[:PASSES] for side in sides)
        else:
            each = (seconds - build_seconds(comparison)) / 2
            base, head = (enough(warm(side.long), each) for side in sides)
        return Call(test(base, head), build_seconds(comparison) + sum(base) + sum(head))

    return judge


_PLAN = f"one process a side, {PASSES} passes after one that warms up"
_EQUAL = "more passes in the process"

TWO_NUMBERS = Rule(
    "two numbers at 5%", "The mean of head is more than 5% above that of base.", _PLAN, _EQUAL, (), THRESHOLD,
    "No tool: what a script of ten lines does.", _judged(two_numbers),
    Sized("two numbers", "3% instead of 5%", _judged(partial(two_numbers, threshold=SIZE))),
)  # fmt: skip
WELCH = Rule(
    "pooled Welch", "Welch's t-test over all passes has p < 0.05, and head has the larger mean.", _PLAN, _EQUAL,
    (Source("scipy.stats.ttest_ind", "https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.ttest_ind.html"),),
    0.0, "No tool: the test takes values for independent that one process has in common.", _judged(welch),
)  # fmt: skip
MANN_WHITNEY = Rule(
    "Mann-Whitney", "The Mann-Whitney test over all passes has p < 0.05, and head has the larger ranks.", _PLAN, _EQUAL,
    (
        Source(
            "scipy.stats.mannwhitneyu",
            "https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.mannwhitneyu.html",
        ),
    ),
    0.0, "No tool: no assumption of normal values, but the same one of independence.", _judged(mann_whitney),
)  # fmt: skip
RULES = (TWO_NUMBERS, WELCH, MANN_WHITNEY)
