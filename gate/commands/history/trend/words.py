"""What a trend says: changes, what made them, who may have, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from gate.history.chain import Link
from gate.history.suspects import Suspect
from gate.history.trend_types import CaseTrend, ChangePoint, Fact, Segment, Trend
from gate.stats.series.sums import Interval
from gate.units import agree, format_confidence, format_share, plural
from gate.words.numbers import changed, direction, size
from gate.words.phrases import listed
from gate.words.plain import benchmark_option, clip, visible

SHORT = 10
"""Digits of a commit that are shown."""
SUSPECTS = 3
"""Suspects that text and Markdown name; the page and the JSON have more."""
FACTS = 4
ALTERNATING = 8
"""More stretches of machines than this are counted, not listed."""
_SUBJECT = 60
_LARGEST = 700.0
"""Of a logarithm: beyond it no ratio is a number."""
_FACT = 40


class Next(msgspec.Struct, frozen=True):
    """A command that goes on from here, and what it costs."""

    command: str
    why: str


class Said(msgspec.Struct, frozen=True):
    """A change in words."""

    name: str
    headline: str
    where: str
    cause: str
    """In a word or two."""
    why: list[str]
    suspects: list[str]
    more: str
    """How many further suspects there are; empty where all are named."""
    next: Next


def name(case: CaseTrend) -> str:
    """Name a case: "parse", "request, p99 latency, size=10"."""
    quantity = " ".join(
        part
        for part in (
            case.id.statistic if case.id.statistic != "mean" else "",
            case.id.metric if case.id.metric != "time" else "",
        )
        if part
    )
    return visible(", ".join(part for part in (case.id.benchmark, quantity, case.id.factors) if part))


def short(commit: str) -> str:
    """Write a commit as people do."""
    return visible(commit)[:SHORT]


def subject(text: str) -> str:
    """Write the subject of a commit in quotes; empty where there is none."""
    return f'"{clip(visible(text), _SUBJECT)}"' if text else ""


def day(when: str | None) -> str:
    """Write the day of a time; "unknown" where there is none."""
    return visible(when)[:10] if when else "unknown"


def times(log: float) -> float:
    """Return the ratio of a logarithm; sums of what a ref holds may be larger than any number."""
    return math.exp(min(max(log, -_LARGEST), _LARGEST))


def headline(trend: Trend) -> str:
    """Say in a line what was found."""
    count = sum(len(case.changes) for case in trend.cases)
    links = trend.chain.links
    if not links:
        return "Nothing to show: no commit of the history, or of the part asked for, was measured against its parent."
    commits = plural(sum(not link.gap for link in links), "commit")
    of = f"{commits} of {plural(len(trend.cases), 'case')}"
    worse = sum(change.direction == "worse" for case in trend.cases for change in case.changes)
    if not count:
        return f"No change in {of}"
    return f"{plural(count, 'change')} in {of}: {worse} for the worse, {count - worse} for the better"


def span(trend: Trend) -> str:
    """Say from when to when the history reaches, and on how many classes of machine."""
    links = trend.chain.links
    if not links:
        return ""
    days = [day(link.committed) for link in (links[0], links[-1])]
    return (
        f"{short(links[0].parent)} to {short(links[-1].commit)}, {days[0]} to {days[1]}, "
        f"{plural(trend.machines, 'class')}{'' if trend.machines == 1 else 'es'} of machine".replace("classs", "class")
    )


def said(change: ChangePoint, case: CaseTrend, trend: Trend) -> Said:
    """Say a change."""
    ranked = [each for each in change.suspects.ranked if each.share is not None]
    alone = change.first == change.last
    return Said(
        name=name(case),
        headline=f"{changes(change, case)} ({limits(change.change)}) {where(change, trend.chain.links)}",
        where=short(change.bad) if alone else _count(change, trend.chain.links),
        cause=_CAUSES[change.cause],
        why=list(_why(change, trend)),
        suspects=[] if alone or change.cause == "machine" else [suspect(each) for each in ranked[:SUSPECTS]],
        more=""
        if alone or change.cause == "machine" or len(ranked) <= SUSPECTS
        else f"{len(ranked) - SUSPECTS} more in the JSON",
        next=next_step(change, case, trend.chain.links),
    )


def changes(change: ChangePoint, case: CaseTrend) -> str:
    """Write a change with its direction: "4.1% slower"."""
    ratio = times(change.change.estimate)
    return f"{size(ratio)} {direction(case, ratio)}"


def where(change: ChangePoint, links: Sequence[Link]) -> str:
    """Say with which commit a change came, or among which."""
    if change.first == change.last:
        link = links[change.first]
        if link.gap:
            return f"between {short(link.parent)} and {short(link.commit)}, where no commit was measured"
        return f"with {_commit(link.commit, link.subject)}, {day(link.committed)}"
    count = _count(change, links)
    days = " to ".join(dict.fromkeys(day(links[place].committed) for place in (change.first, change.last)))
    how = "step by step over" if change.gradual else "in one or several of"
    return f"{how} {count}, {short(change.good)} to {short(change.bad)}, {days}"


def _count(change: ChangePoint, links: Sequence[Link]) -> str:
    """Count the commits of a range; in a gap there may be any number of them."""
    steps = links[change.first : change.last + 1]
    more = "at least " if any(link.gap for link in steps) else ""
    return f"{more}{plural(len(steps), 'commit')}"


def limits(found: Interval) -> str:
    """Write an interval in log as changes: "+2.1% to +6.2%"."""
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return "no interval"
    return f"{changed(times(found.low))} to {changed(times(found.high))}"


_CAUSES = {"code": "code", "machine": "machine", "both": "code and machine", "open": "code or machine"}


def _why(change: ChangePoint, trend: Trend) -> Iterator[str]:
    alone = change.first == change.last
    ratios = "The commit's own ratio" if alone else "The sum of the ratios of these commits"
    same = f"what does not depend on the code moved by {limits(change.same)}"
    if change.cause == "code" and change.controlled and change.ratios.low <= 0 <= change.ratios.high:
        yield (
            f"The code changed: what does not depend on it moved by {limits(change.same)} only. The ratios of these "
            f"commits alone would not show it ({_sum(change)})."
        )
    elif change.cause == "code":
        yield f"The code changed: ratios to the parent, measured side by side on one machine, show it ({_sum(change)})."
    elif change.cause == "machine":
        yield f"The machine changed, not the code: {same}. The ratios of the commits do not show it ({_sum(change)})."
    elif change.cause == "both":
        yield f"Code and machine changed: the ratios show {_sum(change)}, and {same}."
    elif change.suspects.unmeasured:
        missing = plural(change.suspects.unmeasured, "step")
        verb = agree(change.suspects.unmeasured, "was", "were")
        yield (
            f"Only the levels of different days show it: {missing} of the range {verb} not measured against the "
            "parent, so it may be the code or the machine."
        )
    else:
        yield (
            f"Only the levels of different days show it. {ratios} is {_sum(change)}, too noisy to tell the code from "
            "the machine."
        )
    if change.controlled:
        yield "Commits that were measured again later were used to separate the machine from the code."
    if any(change.first <= segment.first <= change.last for segment in trend.segments[1:]):
        yield "The machine changed within this range; levels were compared on each machine alone."


def _sum(change: ChangePoint) -> str:
    if change.suspects.unmeasured:
        return "unknown: not all were measured"
    return f"{changed(times(change.ratios.estimate))}, {limits(change.ratios)}"


def suspect(each: Suspect) -> str:
    """Say what a commit adds by its own ratio."""
    own = f"{changed(times(each.change.estimate))} ({limits(each.change)})"
    accepted = f", accepted: {visible(each.accepted.reason)}" if each.accepted else ""
    return f"{own} {_commit(each.commit, each.subject)}{accepted}"


def _commit(commit: str, title: str) -> str:
    return " ".join(part for part in (short(commit), subject(title)) if part)


def next_step(change: ChangePoint, case: CaseTrend, links: Sequence[Link]) -> Next:
    """Give the command that goes on from a change: confirm one commit, or search several."""
    benchmark = benchmark_option(visible(case.id.benchmark))
    good, bad = short(change.good), short(change.bad)
    if change.cause == "machine" or (change.first == change.last and not links[change.first].gap):
        why = "measures both commits now, on one machine; costs one check of this benchmark"
        return Next(f"perfgate check --base {good} --head {bad} {benchmark}", why)
    count = change.last - change.first + 1
    builds = math.ceil(math.log2(count)) + 1
    searched = _count(change, links)
    why = f"searches {searched}, with about {builds} of them built; costs up to 3 checks of this benchmark"
    return Next(f"perfgate bisect --good {good} --bad {bad} {benchmark}", why)


def machines(trend: Trend) -> list[str]:
    """Name the changes of the machine: what began with which commit."""
    found = trend.segments[1:]
    if not found:
        return []
    if len(found) > ALTERNATING:
        names = listed([visible(name) for name, _ in groupby(sorted(segment.name for segment in trend.segments))], 4)
        return [f"Runs alternate between {trend.machines} classes of machine ({names}), {len(found)} times."]
    return [machine(segment, trend.chain.links) for segment in found]


def machine(segment: Segment, links: Sequence[Link]) -> str:
    """Say what changed with a segment."""
    link = links[segment.first]
    facts = ", ".join(fact(each) for each in segment.changed[:FACTS]) or "other facts"
    more = f" and {len(segment.changed) - FACTS} more" if len(segment.changed) > FACTS else ""
    return f"From {short(link.commit)} ({day(link.committed)}) on another machine: {facts}{more}."


def fact(changed_: Fact) -> str:
    """Say what a fact of a machine was and is."""
    before, after = (clip(visible("none" if v is None else str(v)), _FACT) for v in (changed_.before, changed_.after))
    return f"{visible(changed_.name)} {before} → {after}"


def notes(trend: Trend) -> Iterator[str]:
    """Say what the trend rests on and what was left out."""
    chain = trend.chain
    if trend.cases:
        least = f" Changes up to {format_share(trend.threshold)} are not called." if trend.threshold else ""
        yield _promise(trend) + least
        yield "± are standard deviations: of the ratio of one run, and of its level from day to day."
    gaps = sum(link.gap for link in chain.links)
    if gaps:
        yield (
            f"{plural(gaps, 'gap')} in the chain: commits in between were not measured against their parents. "
            "A gap is bridged by levels of the same machine before and after it, with the variance of days."
        )
    if chain.aside:
        yield f"{plural(len(chain.aside), 'record')} of other branches {agree(len(chain.aside), 'is', 'are')} left out."
    if chain.controls or chain.pinned:
        count = len(chain.controls) + len(chain.pinned)
        verb = agree(count, "shows", "show")
        yield f"{plural(count, 'record')} of commits that were measured again {verb} what the machine did."
    few = [case for case in trend.cases if case.day_sd is None and case.runs]
    if few:
        named = listed([name(case) for case in few])
        yield f"Too few runs to know how much days differ, so only ratios count: {named}."
    if trend.problems:
        named = agree(len(trend.problems), "it", "them")
        yield f"{plural(len(trend.problems), 'record')} cannot be read; the JSON and standard error name {named}."


def _promise(trend: Trend) -> str:
    counted = f"{plural(trend.comparisons, 'comparison')} of commits, windows and cases"
    confidence = format_confidence(trend.confidence)
    if trend.family == "bh":
        share = format_share(1 - trend.confidence)
        return f"At most {share} of the changes called are expected to be false, after correction for {counted} (bh)."
    if trend.family == "none":
        return f"Each case alone is shown at {confidence}, without correction for the number of cases."
    return f"Changes are called at {confidence} for the whole history, after correction for {counted}."
