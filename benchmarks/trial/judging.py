"""Comparisons -> what each rule says of them, and how often that is wrong."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, Process, mean
from benchmarks.trial.rules.perfgate import gated
from benchmarks.trial.rules.registry import PERFGATE, RULES
from benchmarks.trial.rules.rule import Call, Plan

BENCHMARKS = 10
"""Of the pull request whose false alarms are counted as one."""
REPORTS = 100
"""Such pull requests that are drawn, the same ones for each rule."""
_Z = 1.959964


@dataclass(frozen=True)
class Rate:
    """A share of comparisons, with its 95% interval by Wilson over the bundles that they are of."""

    count: int
    of: int
    independent: int
    low: float
    high: float

    @classmethod
    def of_counts(cls, count: int, of: int, independent: int) -> Rate:
        """Make a rate; its interval is that of as large a share of the independent ones (Wilson 1927)."""
        if not of:
            return cls(0, 0, 0, 0.0, 1.0)
        share, n = count / of, max(independent, 1)
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        return cls(count, of, independent, max(0.0, middle - half), min(1.0, middle + half))

    @property
    def share(self) -> float:
        """Return the share; of none it is 0."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True)
class Judged:
    """One comparison, with what each rule says of it by each plan; None: it is not asked by that plan."""

    program: str
    bundle: int
    kind: str
    calls: dict[tuple[str, Plan], Call | None]

    @property
    def changed(self) -> bool:
        """Return whether head does more work."""
        return self.kind in plan.CHANGED


@dataclass(frozen=True)
class Trial:
    """All that was judged."""

    judged: list[Judged]
    reports: Rate
    """perfgate's reports of BENCHMARKS benchmarks without a change in which one is called slower."""
    draws: tuple[tuple[int, ...], ...] = ()
    """The benchmarks of each report, by their places among the comparisons without a change."""

    def alarms(self, rule: str, by: Plan, kinds: Sequence[str] = ()) -> Rate | None:
        """Give how often a rule calls head slower that is not, over all kinds or some of them."""
        return self._rate(rule, by, [j for j in self.judged if not j.changed and (not kinds or j.kind in kinds)], True)

    def misses(self, rule: str, by: Plan, kind: str) -> Rate | None:
        """Give how often a rule does not call a head slower that is."""
        return self._rate(rule, by, [j for j in self.judged if j.kind == kind], False)

    def unknown(self, rule: str, by: Plan) -> float:
        """Give the share of comparisons of which a rule says that it does not know."""
        calls = self._calls(rule, by, self.judged)
        return sum(call.inconclusive for call in calls) / len(calls) if calls else 0.0

    def seconds(self, rule: str, by: Plan) -> float | None:
        """Give the mean seconds that a comparison takes."""
        calls = self._calls(rule, by, self.judged)
        return mean([call.seconds for call in calls]) if calls else None

    def pull_request(self, rule: str, by: Plan) -> float | None:
        """Give how often a pull request of BENCHMARKS benchmarks without a change has a false alarm.

        All rules are asked about the same draws. perfgate corrects for their number, so its reports are made.
        """
        if rule == PERFGATE.name:
            return self.reports.share if self.reports.of else None
        calls = [j.calls.get((rule, by)) for j in self.judged if not j.changed]
        found = [any(call.slower for k in draw if (call := calls[k]) is not None) for draw in self.draws]
        return sum(found) / len(found) if found and any(calls) else None

    def _calls(self, rule: str, by: Plan, among: Sequence[Judged]) -> list[Call]:
        return [call for j in among if (call := j.calls.get((rule, by))) is not None]

    def _rate(self, rule: str, by: Plan, among: Sequence[Judged], slower: bool) -> Rate | None:
        calls = self._calls(rule, by, among)
        return (
            Rate.of_counts(sum(call.slower == slower for call in calls), len(calls), _independent(among, rule))
            if calls
            else None
        )


def _independent(among: Sequence[Judged], rule: str) -> int:
    """Count the bundles: the comparisons of one share minutes, processes and history.

    What is measured once for each program counts once for each.
    """
    if any(each.once for each in RULES if each.name == rule):
        return len({each.program for each in among})
    return len({each.bundle for each in among})


def judged(comparisons: Sequence[Comparison], say: Callable[[str], None], reports: int = REPORTS) -> Trial:
    """Ask all rules about all comparisons, on all processors.

    Args:
        say: takes a line of progress.
        reports: how many pull requests of several benchmarks are drawn.
    """
    found: list[Judged] = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done, each in enumerate(pool.map(_asked, comparisons), 1):
            found.append(each)
            say(f"\rjudging: {done} of {len(comparisons)} comparisons ")
        say("\n")
        unchanged = [each for each in comparisons if not each.changed]
        draws = _draws(len(unchanged), reports)
        alarms = sum(pool.map(_alarms, [[unchanged[k] for k in draw] for draw in draws]))
    independent = len({each.bundle for each in unchanged}) // BENCHMARKS
    return Trial(found, Rate.of_counts(alarms, len(draws), independent), draws)


def _asked(comparison: Comparison) -> Judged:
    calls: dict[tuple[str, Plan], Call | None] = {}
    first = PERFGATE.judge(comparison, None)
    for rule in RULES:
        own = first if rule is PERFGATE else rule.judge(comparison, None)
        calls[rule.name, "default"] = own
        same = rule is PERFGATE or not rule.equal
        calls[rule.name, "equal"] = own if same else rule.judge(comparison, first.seconds)
        if rule.sized is not None:
            calls[rule.name, "sized"] = own if rule is PERFGATE else rule.sized.judge(comparison, first.seconds)
    return Judged(comparison.program, comparison.bundle, comparison.kind, calls)


def _draws(unchanged: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Draw pull requests of several benchmarks, each from another comparison without a change."""
    draw = random.Random(1)  # noqa: S311 - a draw, no secret
    if unchanged < BENCHMARKS:
        return ()
    return tuple(tuple(draw.sample(range(unchanged), BENCHMARKS)) for _ in range(count))


def _alarms(report: Sequence[Comparison]) -> bool:
    found = gated({f"benchmark-{number}": each for number, each in enumerate(report)})
    return any(finding.verdict == "regression" for finding in found.report.findings)


@dataclass(frozen=True)
class Size:
    """How much more a changed side takes."""

    program: str
    kind: str
    time: float
    """Share of the time: the median over the rounds of all bundles, so that a burst of noise is not taken for it."""
    instructions: float | None
    """Share of the instructions of a pass; None: not counted."""


def sizes(comparisons: Sequence[Comparison]) -> list[Size]:
    """Measure the changes by all rounds of the trial, whatever any rule says."""
    found: list[Size] = []
    for program in dict.fromkeys(each.program for each in comparisons):
        for kind in plan.CHANGED:
            pairs = [each for each in comparisons if each.program == program and each.kind == kind]
            if pairs:
                ratios = [
                    _pass(head) / _pass(base)
                    for each in pairs
                    for base, head in zip(each.base.rounds, each.head.rounds, strict=True)
                ]
                base, head = pairs[0].base.instructions, pairs[0].head.instructions
                found.append(Size(program, kind, median(ratios) - 1, head / base - 1 if base and head else None))
    return found


def _pass(executions: Sequence[Process]) -> float:
    return mean([value for each in executions for value in each.passes[1:]])
