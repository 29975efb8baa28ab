"""The commits of a range that may have changed a case, ranked by what each of them adds by its own ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from gate.history.chain import chained
from gate.history.series import of_links
from gate.model.case import CaseId
from gate.model.history import AcceptedChange, HistoryRecord
from gate.stats.series import Interval, contributions, summed


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the range, and its ratio to its parent."""

    commit: str
    subject: str
    change: Interval
    """Its own log ratio, at 95%."""
    expected: float
    """What it adds in log, as far as its ratio stands out of the noise; suspects are ranked by it."""
    share: float | None
    """Of what all commits are expected to add in the direction of the change; None of one that goes against it."""
    accepted: AcceptedChange | None


class Suspects(msgspec.Struct, frozen=True, kw_only=True):
    """The commits between two."""

    ranked: list[Suspect]
    """Those that moved it furthest in the direction first; without those whose ratio is not known."""


def suspects_between(
    records: Iterable[HistoryRecord], case: CaseId, good: str, bad: str, direction: int | None = None
) -> Suspects | None:
    """Rank the commits after `good` up to `bad` by what they add to a change of a case.

    Args:
        records: of the history, in any order.
        case: with its statistic (`case_id(change, change.statistic)`).
        good: sha of the commit before the range, as creep's pinned commit is; it must be one that a record names.
        bad: sha of the last commit of the range.
        direction: 1: what rose, -1: what fell; None: as the ratios' own sum went.

    Returns:
        None where the chain does not hold both commits in this order, or no record has the case.
    """
    try:
        links = chained(records).between(good, bad)
    except KeyError:
        return None
    found = of_links(links, case)
    if found is None:
        return None
    steps = found.steps
    sign = direction or (1 if summed(steps, 0, steps.count - 1).estimate >= 0 else -1)
    expected = (sign * contributions(steps)).tolist()
    known = [step for step in range(steps.count) if math.isfinite(steps.variance[step])]
    along = sum(max(expected[step], 0.0) for step in known)
    accepted = {run.step: run.change.accepted for run in found.runs if run.change.accepted is not None}
    return Suspects(
        ranked=[
            Suspect(
                commit=links[step].commit, subject=links[step].subject, change=summed(steps, step, step),
                expected=sign * expected[step], share=expected[step] / along if expected[step] > 0 else None,
                accepted=accepted.get(step),
            )
            for step in sorted(known, key=lambda step: -expected[step])
        ]
    )  # fmt: skip
