"""Commits that were measured again later: the same program, so that the machine explains any difference."""

from __future__ import annotations

import math
from collections import defaultdict

import msgspec

from gate.history.chain import Chain
from gate.history.series import Series, level_of
from gate.model.case import CaseId, case_id
from gate.stats.series.places import Shift
from gate.stats.series.search import Point


class _Seen(msgspec.Struct, frozen=True):
    measured: str
    level: float


Controls = dict[tuple[str, str], list[_Seen]]
"""By commit and class of machine, in the order of time."""


def controls(chain: Chain, case: CaseId) -> Controls:
    """Collect the levels of commits that were measured again later: by controls, and as a pinned base."""
    found: Controls = defaultdict(list)
    again = [*chain.controls, *chain.pinned]
    commits = {commit for record in again for commit in (record.commit, record.parent)}
    for record in (*again, *chain.records):
        if not {record.commit, record.parent} & commits or record.measured is None:
            continue
        for change in record.changes:
            if case_id(change, change.statistic) != case:
                continue
            for commit, side in ((record.parent, "base"), (record.commit, "head")):
                level = level_of(change, side)
                if commit in commits and level is not None:
                    found[commit, record.machine.id].append(_Seen(record.measured, level))
    return found


def shift(seen: Controls, of: Series, point: Point, first: int, last: int) -> Shift | None:
    """Return how far commits moved from before a range of steps to after it, within the steps around a change.

    Only where the machine is the same; None where no commit was measured on both sides of the range.
    """
    times = [(run.step, run.record.measured) for run in of.runs if run.record.measured is not None]
    begin = min((t for step, t in times if step >= first), default=None)
    end = max((t for step, t in times if step <= last), default=None)
    if begin is None or end is None:
        return None
    lowest = max((t for step, t in times if step < point.first), default="")
    highest = min((t for step, t in times if step > point.last), default="~")
    noise = dict(zip(of.machines, of.steps.machines, strict=True))
    weights, total = 0.0, 0.0
    for (_, machine), levels in seen.items():
        before = [each.level for each in levels if lowest < each.measured < begin]
        after = [each.level for each in levels if end < each.measured < highest]
        if not before or not after or machine not in noise or not math.isfinite(noise[machine].noise.variance):
            continue
        variance = noise[machine].noise.variance * (1 / len(before) + 1 / len(after))
        weights += 1 / variance
        total += (sum(after) / len(after) - sum(before) / len(before)) / variance
    return Shift(total / weights, 1 / weights) if weights else None
