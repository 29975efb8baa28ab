"""Where a change is confined to a combination of settings: exactly the findings there have it, and no others.

Two factors that act together show as two interactions, each an average over the other factor. The combination is what
a reader needs. Source: docs/method.md, by factor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from gate.decide.crossing_words import REGRESSED, Confined, Sides, is_clear, is_no_better, matters, mean_ratio
from gate.model import Finding


def confined(group: Sequence[Finding], sides: Sequence[Sides]) -> list[Confined]:
    """Find where one case and statistic regressed, and where it improved, when that is a combination of settings.

    group: all its findings. sides: its interactions; every factor named must have one that is shown, and be worse (or
    better) at the setting named.
    """
    found = []
    if not any(own.only_worse for own in sides):
        named = [(own.factor, own.worse_setting) for own in sides if own.worse_named]
        found += _confined(group, sides, named, lambda f: f.verdict in REGRESSED, is_clear, worse=True)
    if not any(own.only_better for own in sides):
        named = [(own.factor, own.better_setting) for own in sides if own.better_named]
        found += _confined(group, sides, named, lambda f: f.verdict == "improvement", is_no_better, worse=False)
    return found


def _confined(
    group: Sequence[Finding],
    sides: Sequence[Sides],
    named: Collection[tuple[str, Any]],
    changed: Callable[[Finding], bool],
    clear: Callable[[Finding], bool],
    *,
    worse: bool,
) -> list[Confined]:
    there = [f for f in group if changed(f)]
    settings = {factor: setting for factor, setting in named if all(f.factors[factor] == setting for f in there)}
    if not there or len(settings) < 2:
        return []
    rest = [f for f in group if not all(f.factors[factor] == setting for factor, setting in settings.items())]
    if len(there) + len(rest) != len(group) or not all(map(clear, rest)):
        return []
    here, elsewhere = mean_ratio(there), mean_ratio(rest)
    if here is None or elsewhere is None or not matters(here / elsewhere, sides[0].subject):
        return []
    return [Confined(dict(sorted(settings.items(), key=lambda item: _place(there[0], item[0]))), there, worse)]


def _place(finding: Finding, factor: str) -> int:
    return list(finding.factors).index(factor)
