"""Comparisons -> what each rule says of them: by its own plan and setting, and at equal guarantee and equal seconds."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Literal

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.registry import PERFGATE, RULES
from benchmarks.trial.rules.rule import Call, Rule

GUARANTEE = 0.025
"""The largest share of the smallest changes that a rule may call, at equal guarantee."""
_Z = 1.959964
Plan = Literal["own", "equal"]


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
class Difference:
    """How much more often a rule calls a change than perfgate does, in the same comparisons; its 95% interval."""

    share: float
    low: float
    high: float

    @classmethod
    def of_counts(cls, both: int, more: int, less: int, neither: int) -> Difference:
        """Make a difference of how many comparisons both call, it alone, perfgate alone, and none of them.

        The interval is by square-and-add of Wilson's, with the correlation of pairs (Newcombe 1998, method 10).
        """
        of = both + more + less + neither
        its, mine = (Rate.of_counts(both + count, of, of) for count in (more, less))
        product = (both + more) * (less + neither) * (both + less) * (more + neither)
        apart = both * neither - more * less
        corrected = max(0.0, apart - of / 2) if apart > 0 else apart
        phi = corrected / math.sqrt(product) if product else 0.0
        share = its.share - mine.share
        down = _added(its.share - its.low, mine.high - mine.share, phi)
        up = _added(its.high - its.share, mine.share - mine.low, phi)
        return cls(share, share - down, share + up)

    @property
    def word(self) -> Literal["better", "worse", ""]:
        """Return what the interval says of the rule, beside perfgate."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else ""


def _added(one: float, other: float, phi: float) -> float:
    return math.sqrt(one**2 - 2 * phi * one * other + other**2)


@dataclass(frozen=True)
class Judged:
    """One comparison, and what each rule says of it by its name.

    A bundle has at most one comparison of a kind.
    """

    program: str
    bundle: int
    load: str
    kind: str
    own: dict[str, Call]
    """By its own plan and setting."""
    equal: dict[str, Call]
    """With perfgate's seconds, at its setting for the guarantee."""


@dataclass(frozen=True)
class Trial:
    """All that was judged."""

    judged: list[Judged]
    settings: dict[str, float]
    """Of each rule at equal guarantee, by all bundles: the one that is told."""

    def rate(self, rule: str, by: Plan, kinds: Sequence[str], *, loaded: bool | None = None) -> Rate | None:
        """Give how often a rule calls head slower among comparisons of some kinds. None: there are none.

        Args:
            loaded: those of bundles under a load, or as found; None: all.
        """
        among = [j for j in self.judged if j.kind in kinds and (loaded is None or (j.load != plan.AS_FOUND) == loaded)]
        if not among:
            return None
        once = any(each.once for each in RULES if each.name == rule)
        independent = len({each.program if once else each.bundle for each in among})
        return Rate.of_counts(sum(self._call(j, rule, by).slower for j in among), len(among), independent)

    def difference(self, rule: str, by: Plan, kind: str) -> Difference | None:
        """Compare a rule with perfgate on comparisons of a kind; None: there are none."""
        pairs = [
            (self._call(j, rule, by).slower, self._call(j, PERFGATE.name, by).slower)
            for j in self.judged
            if j.kind == kind
        ]
        if not pairs:
            return None
        return Difference.of_counts(*(pairs.count((its, mine)) for its in (True, False) for mine in (True, False)))

    def unknown(self, by: Plan) -> float:
        """Give the share of comparisons of which perfgate says that it does not know."""
        return mean([self._call(j, PERFGATE.name, by).inconclusive for j in self.judged])

    def seconds(self, rule: str, by: Plan) -> float:
        """Give the mean seconds that a comparison takes."""
        return mean([self._call(j, rule, by).seconds for j in self.judged])

    @staticmethod
    def _call(judged: Judged, rule: str, by: Plan) -> Call:
        return (judged.own if by == "own" else judged.equal)[rule]


def reach(rule: Rule, comparison: Comparison, seconds: float | None) -> int:
    """Count the levels of a rule at which it calls head slower, from the most lenient on; found by bisection."""
    low, high = 0, len(rule.levels)
    while low < high:
        middle = (low + high) // 2
        if rule.judge(comparison, seconds, rule.levels[middle]).slower:
            low = middle + 1
        else:
            high = middle
    return low


def level_for(reached: Iterable[int], levels: int) -> int:
    """Return the most lenient level at which at most GUARANTEE of comparisons are called; levels: none does."""
    known = sorted(reached, reverse=True)
    allowed = math.floor(GUARANTEE * len(known))
    # the first that must not be called says how strict
    return min(known[allowed] if allowed < len(known) else 0, levels)


def levels_without(small: Mapping[int, int], bundles: Iterable[int], levels: int) -> dict[int | None, int]:
    """Choose a rule's level for each bundle by the smallest changes of all others; None: by those of all.

    Args:
        small: what the rule reaches of them, by bundle.
    """
    return {
        left: level_for([reached for bundle, reached in small.items() if bundle != left], levels)
        for left in (None, *bundles)
    }


def judged(comparisons: Sequence[Comparison], say: Callable[[str], None]) -> Trial:
    """Ask all rules about all comparisons, on all processors. say: takes a line of progress."""
    settings: dict[str, float] = {}
    equal: list[dict[str, Call]] = [{} for _ in comparisons]
    places = range(len(comparisons))
    small = [place for place in places if comparisons[place].kind == plan.SMALL]
    bundles = {each.bundle for each in comparisons}
    # sent once: that of each again and again would take longer than what is asked
    with ProcessPoolExecutor(os.cpu_count(), initializer=_know, initargs=(comparisons,)) as pool:
        own = list(pool.map(_own, places))
        seconds: list[float | None] = [None] * len(comparisons)
        # perfgate is the first: the others get its seconds
        for number, rule in enumerate(RULES, 1):
            say(f"\rjudging at equal guarantee: rule {number} of {len(RULES)} ")
            found = pool.map(partial(_reach, rule.name), small, [seconds[place] for place in small])
            reached = dict(zip((comparisons[place].bundle for place in small), found, strict=True))
            levels = levels_without(reached, bundles, len(rule.levels))
            settings[rule.name] = _setting(rule, levels[None])
            at = [_setting(rule, levels[each.bundle]) for each in comparisons]
            for calls, call in zip(equal, pool.map(partial(_call, rule.name), places, seconds, at), strict=True):
                calls[rule.name] = call
            if rule is PERFGATE:
                seconds = [calls[rule.name].seconds for calls in equal]
    say("\n")
    whole = [
        Judged(each.program, each.bundle, each.load, each.kind, mine, its)
        for each, mine, its in zip(comparisons, own, equal, strict=True)
    ]
    return Trial(whole, settings)


_KNOWN: list[Comparison] = []
"""Of a process that judges."""


def _know(comparisons: Sequence[Comparison]) -> None:
    _KNOWN[:] = comparisons


def _own(place: int) -> dict[str, Call]:
    return {rule.name: rule.judge(_KNOWN[place], None, rule.own) for rule in RULES}


def _reach(name: str, place: int, seconds: float | None) -> int:
    return reach(_named(name), _KNOWN[place], seconds)


def _call(name: str, place: int, seconds: float | None, setting: float) -> Call:
    if math.isinf(setting):
        return Call(False, seconds or 0.0)
    return _named(name).judge(_KNOWN[place], seconds, setting)


def _setting(rule: Rule, level: int) -> float:
    return rule.levels[level] if level < len(rule.levels) else math.inf


def _named(name: str) -> Rule:
    # rules hold functions, which do not go from process to process
    return next(rule for rule in RULES if rule.name == name)
