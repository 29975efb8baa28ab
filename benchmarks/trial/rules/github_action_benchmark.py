"""github-action-benchmark: one number against the one before it."""

from __future__ import annotations

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import Call, Rule, Source, enough, spent, times

RUN = 1.0
"""Seconds of a run: what `go test -bench` and pytest-benchmark, whose output it reads, take by default."""
_AT = "https://github.com/benchmark-action/github-action-benchmark/blob/c38cce98215cf75e178ecd5a0c1a1ab215e93006/"


def alert(previous: float, current: float, threshold: float) -> bool:
    """Alert if the current value over the previous one exceeds the threshold, where smaller is better."""
    if previous == current == 0:
        return False
    return current / previous > threshold


def _judge(comparison: Comparison, seconds: float | None, size: float) -> Call:
    # base was measured when it was merged: only head is built and run
    building = comparison.building / 2
    head = enough(comparison.blocks[1], RUN if seconds is None else seconds - building)
    known = bool(comparison.history)
    slower = known and alert(comparison.history[-1], mean(times(head)), 1 + size)
    return Call(slower, building + spent(head), inconclusive=not known)


RULES = (
    Rule(
        "github-action-benchmark",
        "Head's number exceeds 200% of the previous one.",
        "`alert-threshold`",
        1.0,
        "a second of head; it keeps base's number",
        "",
        (
            Source("rule", f"{_AT}src/write.ts#L98-L123"),
            Source("default", f"{_AT}action.yml#L60-L63"),
        ),
        _judge,
        added=1.0,
    ),
)
