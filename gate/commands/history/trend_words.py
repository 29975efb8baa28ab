"""What a trend says of its commits, cases and machines, and what it leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

from gate.stats.series import Interval
from gate.store.series import CaseTrend, Segment, Series, Trend
from gate.units import agree, plural
from gate.words import views
from gate.writing.amounts import changed
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible

_SHORT = 10
"""Digits of a commit that are shown."""
_FACTS = 4
_ALTERNATING = 8
"""More stretches of machines than this are counted, not listed."""
_SUBJECT = 60
_LARGEST = 700.0
"""Of a logarithm: beyond it no ratio is a number."""
_FACT = 40


def name(of: Series) -> str:
    """Name a case: "parse", "parse, active time", "request, latency p99, size=10"."""
    quantity = views.quantity(of.id.metric, of.id.statistic)
    return visible(", ".join(part for part in (of.id.benchmark, quantity, of.id.factors) if part not in ("", "time")))


def short(commit: str) -> str:
    """Write a commit as people do."""
    return visible(commit)[:_SHORT]


def commit(sha: str, subject: str) -> str:
    """Write a commit with its subject, where it has one."""
    return f'{short(sha)} "{clip(visible(subject), _SUBJECT)}"' if subject else short(sha)


def day(when: str | None) -> str:
    """Write the day of a time; "unknown" where there is none."""
    return visible(when)[:10] if when else "unknown"


def change(log: float) -> str:
    """Write a logarithm as a change; sums of what a ref holds may be larger than any number."""
    return changed(math.exp(min(max(log, -_LARGEST), _LARGEST)))


def limits(found: Interval) -> str:
    """Write an interval in log as changes: "+2.1% to +6.2%"."""
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return "no interval"
    return f"{change(found.low)} to {change(found.high)}"


def level(case: CaseTrend, place: int) -> str:
    """Write the level of a commit as a change from the first one; place: 0 of the commit before the first step."""
    found = float(case.path.level[place])
    return change(found) if math.isfinite(found) else "unknown"


def headline(trend: Trend) -> str:
    """Say in a line what is shown."""
    links = trend.chain.links
    if not links:
        return "Nothing to show: no commit of the history was measured against its parent."
    commits = plural(sum(not link.gap for link in links), "commit")
    return f"{plural(len(trend.cases), 'case')} over {commits}"


def span(trend: Trend) -> str:
    """Say from when to when the history reaches, and on how many classes of machine."""
    links = trend.chain.links
    if not links:
        return ""
    days = [day(link.committed) for link in (links[0], links[-1])]
    classes = f"{trend.machines} {agree(trend.machines, 'class', 'classes')} of machine"
    return f"{short(links[0].parent)} to {short(links[-1].commit)}, {days[0]} to {days[1]}, {classes}"


def moved(case: CaseTrend) -> list[str]:
    """Say how far a case moved from its first commit to its last: by the chain, and by its level."""

    def told(found: Interval) -> str:
        return f"{change(found.estimate)} ({limits(found)})"

    chain = f"unknown at {plural(case.unmeasured, 'step')}" if case.unmeasured else told(case.chain)
    return [chain, "unknown" if case.level is None else told(case.level)]


def machines(trend: Trend) -> list[str]:
    """Name the changes of the machine: what began with which commit."""
    found = trend.segments[1:]
    if not found:
        return []
    if len(found) > _ALTERNATING:
        names = listed([visible(name) for name, _ in groupby(sorted(segment.name for segment in trend.segments))], 4)
        return [f"Runs alternate between {trend.machines} classes of machine ({names}), {len(found)} times."]
    return [machine(segment, trend) for segment in found]


def machine(segment: Segment, trend: Trend) -> str:
    """Say what changed with a segment."""
    link = trend.chain.links[segment.first]
    shown = [
        f"{visible(name)} {' → '.join(clip(visible('none' if v is None else str(v)), _FACT) for v in values)}"
        for name, *values in segment.changed[:_FACTS]
    ]
    facts = ", ".join(shown) or "other facts"
    more = f" and {len(segment.changed) - _FACTS} more" if len(segment.changed) > _FACTS else ""
    return f"From {short(link.commit)} ({day(link.committed)}) on another machine: {facts}{more}."


def notes(trend: Trend) -> Iterator[str]:
    """Say what the numbers are, what was left out, and what to do about a change."""
    chain = trend.chain
    if trend.cases:
        yield (
            "chain: the product of all ratios to the parent. level: the last commit against the first, by ratios and "
            "levels of days together. Both with their 95% interval."
        )
        yield "± are standard deviations: of the ratio of one run, and of its level from day to day."
    if trend.views:
        yield (
            "Of each benchmark that has several views, the one is shown that decided most often. Where another decided "
            f"alone, its ratio stands in. `perfgate history export` has {plural(trend.views, 'other view')}."
        )
    gaps = sum(link.gap for link in chain.links)
    if gaps:
        yield (
            f"{plural(gaps, 'gap')} in the chain: commits in between were not measured against their parents. "
            "A gap is bridged by levels of the same machine before and after it, with the variance of days."
        )
    if chain.aside:
        yield f"{plural(len(chain.aside), 'record')} of other branches {agree(len(chain.aside), 'is', 'are')} left out."
    again = len(chain.controls) + len(chain.pinned)
    if again:
        yield f"{plural(again, 'record')} of commits that were measured again {agree(again, 'is', 'are')} left out."
    few = [case.series for case in trend.cases if case.day_sd is None]
    if few:
        named = listed([name(of) for of in few])
        yield f"Too few runs to know how much days differ, so only ratios count: {named}."
    if trend.problems:
        named = agree(len(trend.problems), "it", "them")
        yield f"{plural(len(trend.problems), 'record')} cannot be read; the JSON and standard error name {named}."
    if chain.links:
        ends = f"--good {short(chain.links[0].parent)} --bad {short(chain.links[-1].commit)}"
        yield (
            "A trend calls no change. `perfgate check --creep` tests for a slow one against a pinned commit or tag; "
            f"`perfgate bisect {ends} --benchmark NAME` finds the commit that made one."
        )
