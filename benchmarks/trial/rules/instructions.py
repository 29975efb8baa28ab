"""An instruction count by callgrind, with a threshold as iai-callgrind's documentation sets it."""

from __future__ import annotations

from benchmarks.trial.comparisons import Comparison
from benchmarks.trial.rules.rule import Call, Rule, Source

LIMIT = 0.05
_DOCS = "https://github.com/iai-callgrind/iai-callgrind/blob/9342bb254485e0081f39cab4de02d1867fb7f0fe/docs/src/regressions.md"


def slower(base: int, head: int, limit: float) -> bool:
    """Call head slower if it executes more than so much more instructions than base."""
    return head > (1 + limit) * base


def _judge(comparison: Comparison, _: float | None, limit: float) -> Call:
    if comparison.counts is None:
        return Call(False, comparison.building, inconclusive=True)
    base, head = comparison.counts
    called = slower(base.instructions, head.instructions, limit)
    return Call(called, comparison.building + base.seconds + head.seconds)


RULES = (
    Rule(
        "instructions", "Head executes more than 5% more instructions.", "`ir`", LIMIT,
        "one start a side under callgrind",
        "",
        (
            Source("iai-callgrind", _DOCS),
            Source("CodSpeed (10%)", "https://codspeed.io/docs/features/customization"),
        ),
        _judge, once=True,
    ),
)  # fmt: skip
