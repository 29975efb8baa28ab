"""An instruction count by callgrind, with a threshold as iai-callgrind's documentation and CodSpeed set it."""

from __future__ import annotations

from benchmarks.trial.comparisons import Comparison
from benchmarks.trial.rules.rule import SIZE, Call, Judge, Rule, Sized, Source, build_seconds


def slower(base: int, head: int, limit: float) -> bool:
    """Call head slower if it executes more than so much more instructions than base."""
    return head > (1 + limit) * base


def _judged(limit: float) -> Judge:
    def judge(comparison: Comparison, _: float | None) -> Call:
        base, head = comparison.base, comparison.head
        spent = build_seconds(comparison) + base.counting + head.counting
        if base.instructions is None or head.instructions is None:
            return Call(False, spent, inconclusive=True)
        return Call(slower(base.instructions, head.instructions, limit), spent)

    return judge


_PLAN = "one pass a side under callgrind"
_NOTE = (
    "Repeatable, so a small threshold costs no false alarm. It sees no time that instructions do not take: caches, "
    "branches, layout, waiting, and passes that it does not run."
)
_LIMITS = "https://github.com/iai-callgrind/iai-callgrind/blob/9342bb254485e0081f39cab4de02d1867fb7f0fe/docs/src/regressions.md"
_CODSPEED = "https://codspeed.io/docs/features/customization"
RULES = (
    Rule(
        "instructions at 5%", "Head executes more than 5% more instructions.", _PLAN, "",
        (Source("iai-callgrind's example of a limit", _LIMITS),), 0.05, _NOTE, _judged(0.05),
        Sized("instructions", f"`--callgrind-limits='ir={SIZE:.0%}'`", _judged(SIZE)), once=True,
    ),
    Rule(
        "instructions at 10%", "Head executes more than 10% more instructions.", _PLAN, "",
        (Source("CodSpeed's default", _CODSPEED),), 0.10, "CodSpeed's default; it also models caches, this does not.",
        _judged(0.10), once=True,
    ),
)  # fmt: skip
