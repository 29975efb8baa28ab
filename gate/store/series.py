"""The chain of commits that records of a history measured, each against its parent; and its cases as steps."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
import numpy as np

from gate.model import Better
from gate.model.case import CaseId, case_id
from gate.model.history import Change, HistoryRecord
from gate.model.reasons import Accepted
from gate.stats.series import (
    EXACT,
    ChangeInterval,
    Levels,
    Path,
    Steps,
    interval,
    level_variance,
    moderated,
    outlying,
    path,
    summed,
)


class ChainLink(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the chain: from a commit to the next that is known."""

    parent: str
    commit: str
    subject: str
    """Of commit; empty where no record says it."""
    committed: str | None
    records: list[HistoryRecord]
    """That measured commit against parent, in the order of their measuring; none: a gap of unknown length."""

    @property
    def gap(self) -> bool:
        """Whether the commits in between were not measured against their parents."""
        return not self.records


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Commits in order, and what else the history holds."""

    links: list[ChainLink]
    """The oldest first; each begins where the one before it ends."""
    controls: list[HistoryRecord]
    """One commit measured against itself."""
    pinned: list[HistoryRecord]
    """A commit of the chain measured against an earlier one than its parent, as creep checks do."""
    aside: list[HistoryRecord]
    """Of other branches: their base is of the chain, and no later commit descends from them."""

    @property
    def records(self) -> list[HistoryRecord]:
        """The records of the steps."""
        return [record for link in self.links for record in link.records]


def chained(records: Iterable[HistoryRecord]) -> Chain:
    """Put records in the order of their commits.

    A commit follows its parent. Where nothing links it to the commit before it in time, the chain has a gap: a step
    without records, then the parent that was measured, then the commit.
    """
    ordered = sorted(records, key=lambda record: (_when(record), record.measured or ""))
    controls = [record for record in ordered if record.control]
    heads: dict[str, list[HistoryRecord]] = defaultdict(list)
    for record in ordered:
        if not record.control:
            heads[record.commit].append(record)
    parents: dict[str, str] = {}
    for commit, own in heads.items():
        counts = Counter(record.parent for record in own)
        # of what a commit was measured against it follows the latest that is known, of which most are
        parents[commit] = max(
            counts, key=lambda parent: (_when(heads[parent][0]) if parent in heads else "", counts[parent])
        )
    # what the newest commit descends from, as far as records link it
    trunk: set[str] = set()
    commit = next(reversed(parents), "")
    while commit in parents and commit not in trunk:
        trunk.add(commit)
        commit = parents[commit]
    followed = {parents[commit] for commit in trunk}
    links: list[ChainLink] = []
    places: dict[str, int] = {}
    aside: list[HistoryRecord] = []
    pinned: list[HistoryRecord] = []
    for commit in _parents_first(parents):
        parent, own = parents[commit], heads[commit]
        tip = links[-1].commit if links else ""
        if commit not in trunk and (parent in followed or parent in places) and tip != parent:
            aside += own
            continue
        if links and tip != parent:
            if parent in places:
                aside += own
                continue
            links.append(ChainLink(parent=tip, commit=parent, subject="", committed=None, records=[]))
        places |= {parent: len(links), commit: len(links) + 1}
        first = own[0]
        of_step = sorted((r for r in own if r.parent == parent), key=lambda record: record.measured or "")
        links.append(
            ChainLink(
                parent=parent, commit=commit, subject=first.subject, committed=first.committed, records=of_step
            )
        )  # fmt: skip
        pinned += [record for record in own if record.parent != parent]
    return Chain(links=links, controls=controls, pinned=pinned, aside=aside)


def _when(record: HistoryRecord) -> str:
    return record.committed or record.measured or ""


def _parents_first(parents: Mapping[str, str]) -> list[str]:
    """Order commits by time, but none before its parent: clocks of those who commit differ."""
    found: dict[str, None] = {}
    for commit in parents:
        line: list[str] = []
        while commit in parents and commit not in found and commit not in line:
            line.append(commit)
            commit = parents[commit]
        found |= dict.fromkeys(reversed(line))
    return list(found)


# --- cases -----------------------------------------------------------------------------------------------------------


_NAMES = ("cpu", "processor", "model", "machine")
"""Facts that name a machine, the first that is there."""


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that one class of machine measured in a row; the first one of another begins a segment."""

    first: int
    last: int
    machine: str
    name: str
    """What its facts say first: the processor, or the id."""
    changed: list[tuple[str, Any, Any]]
    """The facts that differ from the segment before: name, what it was, what it is; empty of the first."""


class CaseTrend(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One case, from the commit before its first run to its last."""

    series: CaseSeries
    path: Path
    """The level of each commit of the chain."""
    chain: ChangeInterval
    """Sum of its log ratios, at 95%; without bounds where some were not measured."""
    unmeasured: int
    """Steps between its first and its last run without a ratio."""
    level: ChangeInterval | None
    """Of its last commit against its first, in log at 95%, by ratios and levels; None: nothing links them."""
    build_sd: float | None
    """Typical relative sd of a ratio of one run."""
    day_sd: float | None
    """Relative sd of the level of a run, of the machine that measured most; None: too few runs."""
    accepted: dict[int, Accepted]
    """By step."""


class HistoryTrend(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A history, looked at."""

    chain: Chain
    segments: list[Segment]
    machines: int
    """Classes of machine."""
    cases: list[CaseTrend]
    problems: list[str]
    """Records that cannot be read."""
    views: int
    """Other views of the same benchmarks, which are not shown."""


def trend(chain: Chain, found: Sequence[CaseSeries], problems: list[str], views: int = 0) -> HistoryTrend:
    """Show cases over a chain.

    chain: of the history. found: its cases (`series(chain)`), or some of them. problems: records that cannot be read.
    views: how many other views of the same benchmarks are left out.
    """
    # the stretches of steps that one class of machine measured
    steps = [(step, link.records[-1].machine) for step, link in enumerate(chain.links) if link.records]
    groups = [list(own) for _, own in groupby(steps, key=lambda each: each[1].id)]
    segments: list[Segment] = []
    old: dict[str, Any] | None = None
    for number, own in enumerate(groups):
        first, machine = own[0]
        # a gap belongs to the machine before it
        last = groups[number + 1][0][0] - 1 if number + 1 < len(groups) else own[-1][0]
        facts = machine.facts
        name = next((str(facts[name]) for name in _NAMES if facts.get(name)), machine.id[:12])
        both = [(key, old.get(key), facts.get(key)) for key in dict.fromkeys((*old, *facts))] if old is not None else []
        changed = [each for each in both if each[1] != each[2]]
        segments.append(Segment(first=first, last=last, machine=machine.id, name=name, changed=changed))
        old = facts
    return HistoryTrend(
        chain=chain, segments=segments, machines=len({record.machine.id for record in chain.records}),
        cases=[_case(of) for of in found], problems=problems, views=views,
    )  # fmt: skip


def _case(of: CaseSeries) -> CaseTrend:
    steps, first, last = of.steps, of.runs[0].step, of.runs[-1].step
    noisy = np.isfinite(steps.variance) & (steps.variance > EXACT)
    usual = max(steps.machines, key=lambda own: float(own.count.sum()))
    found = path(steps)
    linked = bool(found.piece[first] == found.piece[last + 1] and np.isfinite(found.level[last + 1]))
    level = ChangeInterval(*(float(each[last + 1]) for each in (found.level, found.low, found.high)))
    return CaseTrend(
        series=of, path=found, chain=summed(steps, first, last),
        unmeasured=int((~np.isfinite(steps.variance[first : last + 1])).sum()), level=level if linked else None,
        build_sd=math.sqrt(float(np.median(steps.variance[noisy]))) if noisy.any() else None,
        day_sd=math.sqrt(usual.variance) if math.isfinite(usual.variance) else None,
        accepted={run.step: run.change.accepted for run in of.runs if run.change.accepted is not None},
    )  # fmt: skip


class CaseRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured of a case at a step."""

    step: int
    record: HistoryRecord
    change: Change
    ratio: ChangeInterval
    """log ratio of the commit to its parent, at 95%."""
    outlier: bool
    """Whether its level stands far off the days around it, and is not used; its ratio is."""

    @property
    def builds(self) -> int:
        """Of the side that has fewer; 0 of a proof that both sides are the same."""
        return _builds(self.change)


class CaseSeries(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One case over the chain."""

    id: CaseId
    unit: str
    better: Better
    factors: dict[str, object]
    runs: list[CaseRun]
    """In the order of the steps."""
    steps: Steps
    views: frozenset[CaseId]
    """Itself, and the other views of its benchmark."""


class _Found(NamedTuple):
    """A change at a step; own: of the case itself, and not of another view of the benchmark that stands in for it."""

    step: int
    record: HistoryRecord
    change: Change
    own: bool = True


def series(chain: Chain) -> list[CaseSeries]:
    """Return the cases of a chain, each view of a benchmark by itself, in the order of their names.

    At a commit that was not measured by a view, the ratio of the view that decided there stands in: it is of the same
    change. Its level does not: levels of two views have nothing in common.
    """
    places: dict[CaseId, list[_Found]] = {}
    views: dict[CaseId, frozenset[CaseId]] = {}
    for step, link in enumerate(chain.links):
        for record in link.records:
            for change in record.changes:
                if math.isfinite(change.log_ratio):
                    key = case_id(change, change.statistic)
                    places.setdefault(key, []).append(_Found(step, record, change))
                    by = change.decided_by
                    # two views of one benchmark
                    both = {key} if by is None else {key, key._replace(metric=by[0], statistic=by[1])}
                    joined = frozenset().union(*(views.get(each, {each}) for each in both))
                    views.update(dict.fromkeys(joined, joined))
    return [_series(key, _whole(key, places, views[key]), views[key], len(chain.links)) for key in sorted(places)]


def followed(found: Sequence[CaseSeries]) -> list[CaseSeries]:
    """Return one series a benchmark: that of the view that decided most often, of equals the last one that did."""
    best: dict[frozenset[CaseId], CaseSeries] = {}
    for each in found:
        if each.views not in best or _rank(each) > _rank(best[each.views]):
            best[each.views] = each
    return [each for each in found if best[each.views] is each]


def _rank(of: CaseSeries) -> tuple[int, int]:
    """Order the views of a benchmark, the one to follow last."""
    own = (run for run in of.runs if case_id(run.change, run.change.statistic) == of.id)
    steps = [run.step for run in own if run.change.decided_by is None and run.change.base is not None]
    # a proof that both sides are the same decided by no view
    return len(steps), max(steps, default=-1)


def _whole(key: CaseId, places: Mapping[CaseId, Sequence[_Found]], views: frozenset[CaseId]) -> list[_Found]:
    """Return the changes of a case, with those of other views in the records that have none of its own."""
    own = list(places[key])
    have = {(found.step, id(found.record)) for found in own}
    others = [found for other in sorted(views - {key}) for found in places.get(other, ())]
    for found in sorted(others, key=lambda found: found.change.decided_by is not None):
        if (found.step, id(found.record)) not in have:
            have.add((found.step, id(found.record)))
            own.append(found._replace(own=False))
    return sorted(own, key=lambda found: found.step)


def _level(found: _Found, *, alone: bool) -> float | None:
    """Return the level of a run: the mean of the logs of both sides, or of head alone.

    None: not measured (identical, or by another view), or no positive numbers.
    """
    if not found.own:
        return None
    change = found.change
    values = [side.value for side in ((change.head,) if alone else (change.base, change.head)) if side is not None]
    if not values or any(not (math.isfinite(value) and value > 0) for value in values):
        return None
    return sum(map(math.log, values)) / len(values)


def _series(key: CaseId, found: Sequence[_Found], views: frozenset[CaseId], count: int) -> CaseSeries:
    # without any variance of ratios, base says nothing that head of the step before does not
    alone = all(each.change.variance is None for each in found)
    levels = [_level(each, alone=alone) for each in found]
    outliers = [False] * len(found)
    own: list[Levels] = []
    for machine in dict.fromkeys(each.record.machine.id for each in found):
        at = [i for i, each in enumerate(found) if each.record.machine.id == machine and levels[i] is not None]
        at.sort(key=lambda i: found[i].record.measured or "")
        values = np.array([levels[i] for i in at], dtype=np.float64)
        far = outlying(values)
        for i, outlier in zip(at, far.tolist(), strict=True):
            outliers[i] = outlier
        at_steps, values = np.array([found[i].step for i in at], dtype=np.int64)[~far], values[~far]
        counts = np.bincount(at_steps, minlength=count).astype(np.float64)
        sums = np.bincount(at_steps, weights=values, minlength=count)
        happened = np.full(count, 1.0 if alone else 0.5)
        own.append(Levels(sums / np.maximum(counts, 1), counts, level_variance(values), happened))
    steps = _steps(found, count, own)
    runs = []
    for each, outlier in zip(found, outliers, strict=True):
        change, step = each.change, each.step
        # one build has no variance of its own: what its step got from the others is shown
        variance = change.variance if change.variance is not None else float(steps.variance[step])
        ratio = interval(change.log_ratio, variance, change.df or float(steps.df[step]))
        # of another view only the ratio counts
        change = change if each.own else msgspec.structs.replace(change, base=None, head=None)
        runs.append(CaseRun(step=step, record=each.record, change=change, ratio=ratio, outlier=outlier))
    last = next(each.change for each in reversed(found) if each.own)
    return CaseSeries(
        id=key, unit=last.unit, better=last.better, factors=last.factors, runs=runs, steps=steps, views=views
    )  # fmt: skip


def _steps(found: Sequence[_Found], count: int, machines: list[Levels]) -> Steps:
    """Join the ratios of each step: several runs of one commit by their precision, degrees by Satterthwaite."""
    ratio = np.array([each.change.log_ratio for each in found])
    variance, df = np.full(len(found), math.nan), np.zeros(len(found))
    # the noise of one view says nothing of another's
    for kind in {(each.change.metric, each.change.statistic) for each in found}:
        of = [i for i, each in enumerate(found) if (each.change.metric, each.change.statistic) == kind]
        changes = [found[i].change for i in of]
        variance[of], df[of] = moderated(
            np.array([math.nan if change.variance is None else change.variance for change in changes]),
            np.array([change.df or 0.0 for change in changes]),
            np.array([float(max(_builds(change), 1)) for change in changes]),
        )
    at = np.array([each.step for each in found])
    weights = np.where(np.isfinite(variance), 1 / variance, 0.0)
    precision, sums, squares = (
        np.bincount(at, weights=each, minlength=count) for each in (weights, weights * ratio, weights**2 / df)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        known = precision > 0
        return Steps(
            np.where(known, sums / precision, 0.0),
            1 / precision,
            np.where(known, precision**2 / squares, 1.0),
            machines,
        )


def _builds(change: Change) -> int:
    return min((side.builds for side in (change.base, change.head) if side is not None), default=0)
