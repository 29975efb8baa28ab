"""The trend of a history: each case over the chain of commits, and the changes in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

import msgspec
import numpy as np

from gate.history.chain import Chain
from gate.history.controls import controls, shift
from gate.history.series import Run, Series, series
from gate.history.suspects import suspects
from gate.history.trend_types import (
    CaseTrend,
    ChangePoint,
    Direction,
    Fact,
    Family,
    PathPoint,
    RunPoint,
    Segment,
    Trend,
)
from gate.model.history import Machine
from gate.stats.series.noise import EXACT
from gate.stats.series.path import path
from gate.stats.series.places import place
from gate.stats.series.search import Found, Point, comparisons, searched
from gate.stats.series.sums import Interval, interval, summed
from gate.stats.special import ndtri

_ALPHA = 0.05
_NAMES = ("cpu", "processor", "model", "machine")
"""Facts that name a machine, the first that is there."""
_TRIES = 6


def trend(
    chain: Chain, found: Sequence[Series], *, family: Family, confidence: float, threshold: float, problems: list[str]
) -> Trend:
    """Search the cases of a chain for changes.

    Args:
        chain: of the history.
        found: its cases (`series(chain)`), or some of them.
        family: how the error is shared over all comparisons: of all cases, windows and steps.
        confidence: with which no change is called where there is none; under "bh", the share of calls that are right.
        threshold: the least change that counts, as a share.
        problems: records that cannot be read.
    """
    each = comparisons(len(chain.links))
    many = each * (1 if family == "none" else max(len(found), 1))
    alpha = (1 - confidence) / max(many, 1)
    points = _searched(found, alpha, threshold)
    for _ in range(_TRIES if family == "bh" else 0):
        # the share of false calls among R is bounded if each is shown at R times the level of one
        count = max(_count(points), 1)
        wider = _searched(found, alpha * count, threshold)
        if _count(wider) <= count:
            alpha *= count
            break
        points = wider
    cases = [
        _case(chain, msgspec.structs.replace(of, steps=own.steps), own.points, alpha, many)
        for of, own in zip(found, points, strict=True)
    ]
    return Trend(
        chain=chain, segments=segments(chain), machines=len({record.machine.id for record in chain.records}),
        cases=cases, family=family, confidence=confidence, comparisons=each * len(found), alpha=alpha,
        threshold=threshold, problems=problems,
    )  # fmt: skip


def cases_of(chain: Chain) -> list[Series]:
    """Return the cases of a chain, in the order of their names."""
    return series(chain)


def _searched(found: Sequence[Series], alpha: float, threshold: float) -> list[Found]:
    return [searched(of.steps, alpha, math.log1p(threshold)) for of in found]


def _count(found: Sequence[Found]) -> int:
    return sum(len(each.points) for each in found)


def segments(chain: Chain) -> list[Segment]:
    """Return the stretches of steps that one class of machine measured."""
    steps = [(step, link.records[-1].machine) for step, link in enumerate(chain.links) if link.records]
    found: list[Segment] = []
    before: Machine | None = None
    for _, group in groupby(steps, key=lambda each: each[1].id):
        own = list(group)
        machine = own[0][1]
        if found:
            found[-1] = _until(found[-1], own[0][0] - 1)
        found.append(
            Segment(
                first=own[0][0], last=own[-1][0], machine=machine.id, name=_name(machine),
                changed=[] if before is None else _changed(before, machine),
            )
        )  # fmt: skip
        before = machine
    return found


def _until(segment: Segment, last: int) -> Segment:
    return Segment(
        first=segment.first, last=max(last, segment.last), machine=segment.machine, name=segment.name,
        changed=segment.changed,
    )  # fmt: skip


def _name(machine: Machine) -> str:
    return next((str(machine.facts[name]) for name in _NAMES if machine.facts.get(name)), machine.id[:12])


def _changed(before: Machine, after: Machine) -> list[Fact]:
    names = dict.fromkeys((*before.facts, *after.facts))
    both = [(name, before.facts.get(name), after.facts.get(name)) for name in names]
    return [Fact(*each) for each in both if each[1] != each[2]]


def _case(chain: Chain, of: Series, points: Sequence[Point], alpha: float, many: int) -> CaseTrend:
    steps = of.steps
    known = np.isfinite(steps.variance) & (steps.variance > EXACT)
    usual = max(steps.machines, key=lambda own: float(own.count.sum()))
    reference = points[0].at if points else steps.count + 1
    return CaseTrend(
        id=of.id,
        unit=of.unit,
        better=of.better,
        factors=of.factors,
        runs=[_run(run, of) for run in of.runs],
        path=_path(of, reference),
        changes=[_change(chain, of, point, alpha, many) for point in points],
        chain=summed(steps, 0, steps.count - 1),
        build_sd=math.sqrt(float(np.median(steps.variance[known]))) if known.any() else None,
        day_sd=math.sqrt(usual.noise.variance) if math.isfinite(usual.noise.variance) else None,
        accepted={run.step: run.change.accepted for run in of.runs if run.change.accepted is not None},
    )


def _run(run: Run, of: Series) -> RunPoint:
    change = run.change
    # one build has no variance of its own: what its step got from the others is shown
    variance = change.variance if change.variance is not None else float(of.steps.variance[run.step])
    df = change.df or float(of.steps.df[run.step])
    return RunPoint(
        step=run.step, run=run.record.run, measured=run.record.measured,
        ratio=interval(change.log_ratio, variance, df, _ALPHA),
        base=change.base.value if change.base else None, head=change.head.value if change.head else None,
        builds=min((side.builds for side in (change.base, change.head) if side is not None), default=0),
        machine=run.record.machine.id, verdict=change.verdict, outlier=run.outlier,
    )  # fmt: skip


def _path(of: Series, reference: int) -> list[PathPoint]:
    found = path(of.steps, reference)
    wide = float(-ndtri(_ALPHA / 2))
    points = []
    for level, sd, piece in zip(found.level.tolist(), found.sd.tolist(), found.piece.tolist(), strict=True):
        known = math.isfinite(sd) and sd < 1
        points.append(
            PathPoint(level, level - wide * sd if known else None, level + wide * sd if known else None, piece)
        )
    return points


def _change(chain: Chain, of: Series, point: Point, alpha: float, many: int) -> ChangePoint:
    seen = controls(chain, of.id)
    found = place(of.steps, point)
    control = shift(seen, of, point, found.first, found.last)
    if control is not None:
        found = place(of.steps, point, control)
    sign = 1 if point.change > 0 else -1
    direction: Direction = "worse" if (sign > 0) == (of.better == "lower") else "better"
    return ChangePoint(
        at=point.at, first=found.first, last=found.last,
        good=chain.links[found.first].parent, bad=chain.links[found.last].commit,
        direction=direction, change=found.around or _interval(point, _ALPHA), shown=_interval(point, alpha),
        p=point.p, p_adjusted=min(point.p * many, 1.0), cause=found.cause, gradual=found.gradual,
        ratios=found.ratios, same=found.same, controlled=control is not None,
        suspects=suspects(chain.links, of, found.first, found.last, sign),
    )  # fmt: skip


def _interval(point: Point, alpha: float) -> Interval:
    return interval(point.change, point.variance, point.df, alpha)
