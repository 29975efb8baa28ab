"""github-action-benchmark: one number against the one before it."""

from __future__ import annotations

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import SIZE, Call, Judge, Rule, Sized, Source, build_seconds, enough, warm

RUN = 1.0
"""Seconds of a run: what `go test -bench` and pytest-benchmark, whose output it reads, take by default."""
_AT = "https://github.com/benchmark-action/github-action-benchmark/blob/c38cce98215cf75e178ecd5a0c1a1ab215e93006/"


def alert(previous: float, current: float, threshold: float) -> bool:
    """Alert if the current value over the previous one exceeds the threshold, where smaller is better."""
    if previous == current == 0:
        return False
    return current / previous > threshold


def _judged(threshold: float) -> Judge:
    def judge(comparison: Comparison, seconds: float | None) -> Call:
        # base was measured when it was merged: only head is built and run
        building = build_seconds(comparison) / 2
        passes = enough(warm(comparison.head.long), RUN if seconds is None else seconds - building)
        return Call(alert(comparison.history[-1], mean(passes), threshold), building + sum(passes))

    return judge


_PLAN = "one run of head of a second, and the last number of the base branch that it keeps"
_SOURCES = (
    Source("the rule", f"{_AT}src/write.ts#L98-L123"),
    Source("the ratio", f"{_AT}src/write.ts#L548-L554"),
    Source("its default", f"{_AT}action.yml#L60-L63"),
)
RULES = (
    Rule(
        "github-action-benchmark",
        "Head's number is more than 200% of the previous one.",
        _PLAN,
        "a longer run of head",
        _SOURCES,
        1.0,
        "Its default alerts to what takes more than twice as long, for shared runners. An alert fails the job with "
        "`fail-on-alert: true`.",
        _judged(2.0),
        Sized("github-action-benchmark", f"`alert-threshold: '{100 * (1 + SIZE):g}%'`", _judged(1 + SIZE)),
    ),
    Rule(
        "github-action-benchmark at 110%",
        "Head's number is more than 110% of the previous one.",
        _PLAN,
        "a longer run of head",
        _SOURCES,
        0.10,
        "The same with `alert-threshold: '110%'`, to see smaller changes. Our choice, not that of its documentation.",
        _judged(1.1),
    ),
)
