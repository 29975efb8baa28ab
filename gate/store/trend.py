"""The trend of a history: its machines, and each case over the chain of commits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec
import numpy as np

from gate.model.history import AcceptedChange, Machine
from gate.stats.series import EXACT, Interval, Path, path, summed
from gate.store.chain import Chain
from gate.store.series import Series

_NAMES = ("cpu", "processor", "model", "machine")
"""Facts that name a machine, the first that is there."""


class Fact(msgspec.Struct, frozen=True):
    """One thing that differs between two classes of machine."""

    name: str
    before: Any
    after: Any


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that one class of machine measured in a row; the first one of another begins a segment."""

    first: int
    last: int
    machine: str
    name: str
    """What its facts say first: the processor, or the id."""
    changed: list[Fact]
    """What differs from the segment before; empty of the first."""


class CaseTrend(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One case, from the commit before its first run to its last."""

    series: Series
    path: Path
    """The level of each commit of the chain."""
    chain: Interval
    """Sum of its log ratios, at 95%; without bounds where some were not measured."""
    unmeasured: int
    """Steps between its first and its last run without a ratio."""
    level: Interval | None
    """Of its last commit against its first, in log at 95%, by ratios and levels; None: nothing links them."""
    build_sd: float | None
    """Typical relative sd of a ratio of one run."""
    day_sd: float | None
    """Relative sd of the level of a run, of the machine that measured most; None: too few runs."""
    accepted: dict[int, AcceptedChange]
    """By step."""


class Trend(msgspec.Struct, frozen=True, kw_only=True, eq=False):
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


def trend(chain: Chain, found: Sequence[Series], problems: list[str], views: int = 0) -> Trend:
    """Show cases over a chain.

    Args:
        chain: of the history.
        found: its cases (`series(chain)`), or some of them.
        problems: records that cannot be read.
        views: how many other views of the same benchmarks are left out.
    """
    return Trend(
        chain=chain, segments=_segments(chain), machines=len({record.machine.id for record in chain.records}),
        cases=[_case(of) for of in found], problems=problems, views=views,
    )  # fmt: skip


def _segments(chain: Chain) -> list[Segment]:
    """Return the stretches of steps that one class of machine measured."""
    steps = [(step, link.records[-1].machine) for step, link in enumerate(chain.links) if link.records]
    groups = [list(own) for _, own in groupby(steps, key=lambda each: each[1].id)]
    found: list[Segment] = []
    before: Machine | None = None
    for number, own in enumerate(groups):
        first, machine = own[0]
        # a gap belongs to the machine before it
        last = groups[number + 1][0][0] - 1 if number + 1 < len(groups) else own[-1][0]
        changed = [] if before is None else _changed(before, machine)
        found.append(Segment(first=first, last=last, machine=machine.id, name=_name(machine), changed=changed))
        before = machine
    return found


def _name(machine: Machine) -> str:
    return next((str(machine.facts[name]) for name in _NAMES if machine.facts.get(name)), machine.id[:12])


def _changed(before: Machine, after: Machine) -> list[Fact]:
    names = dict.fromkeys((*before.facts, *after.facts))
    both = [(name, before.facts.get(name), after.facts.get(name)) for name in names]
    return [Fact(*each) for each in both if each[1] != each[2]]


def _case(of: Series) -> CaseTrend:
    steps, first, last = of.steps, of.runs[0].step, of.runs[-1].step
    noisy = np.isfinite(steps.variance) & (steps.variance > EXACT)
    usual = max(steps.machines, key=lambda own: float(own.count.sum()))
    found = path(steps)
    linked = bool(found.piece[first] == found.piece[last + 1] and np.isfinite(found.level[last + 1]))
    level = Interval(*(float(each[last + 1]) for each in (found.level, found.low, found.high)))
    return CaseTrend(
        series=of,
        path=found,
        chain=summed(steps, first, last),
        unmeasured=int((~np.isfinite(steps.variance[first : last + 1])).sum()),
        level=level if linked else None,
        build_sd=math.sqrt(float(np.median(steps.variance[noisy]))) if noisy.any() else None,
        day_sd=math.sqrt(usual.variance) if math.isfinite(usual.variance) else None,
        accepted={run.step: run.change.accepted for run in of.runs if run.change.accepted is not None},
    )
