"""The commits of a range that may have changed a case, ranked by what each of them adds by its own ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from gate.history.chain import Link, chained
from gate.history.series import Series, of_links
from gate.model.case import CaseId
from gate.model.history import AcceptedChange, HistoryRecord
from gate.stats.series.sums import Interval, contributions, interval, summed

CONFIDENCE = 0.95


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the range, and its ratio to its parent."""

    commit: str
    parent: str
    subject: str
    committed: str | None
    change: Interval
    """Its own log ratio, at 95%."""
    expected: float
    """What it adds in log, as far as its ratio stands out of the noise; suspects are ranked by it."""
    share: float | None
    """Of what all commits are expected to add in the direction of the change; None of one that goes against it."""
    shown: bool
    """Whether its own interval excludes no change."""
    accepted: AcceptedChange | None


class Suspects(msgspec.Struct, frozen=True, kw_only=True):
    """The commits between two."""

    ranked: list[Suspect]
    """Those that moved it furthest in the direction first."""
    total: Interval
    """The sum of all ratios in log, at 95%; without bounds where some were not measured."""
    commits: int
    """Steps in the range."""
    unmeasured: int
    """Steps without a ratio of this case: in a gap of the chain, or of runs without this benchmark."""


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
    return None if found is None else suspects(links, found, 0, len(links) - 1, direction)


def suspects(links: Sequence[Link], of: Series, first: int, last: int, direction: int | None = None) -> Suspects:
    """Rank the commits of steps first to last of a chain.

    Args:
        links: of the chain that the series is of.
        of: the case.
        first: first step of the range.
        last: last step of the range.
        direction: 1: what rose, -1: what fell; None: as the ratios' own sum went.
    """
    total = summed(of.steps, first, last)
    sign = direction if direction is not None else (1 if total.estimate >= 0 else -1)
    # how much commits differ is known from all of the chain
    every = contributions(of.steps)
    known = [step for step in range(first, last + 1) if math.isfinite(float(of.steps.variance[step]))]
    order = sorted(known, key=lambda step: -sign * float(every.expected[step]))
    along = sum(max(sign * float(every.expected[step]), 0.0) for step in known)
    accepted = {run.step: run.change.accepted for run in of.runs if run.change.accepted is not None}
    ranked = []
    for step in order:
        link = links[step]
        own = interval(
            float(of.steps.ratio[step]), float(of.steps.variance[step]), float(of.steps.df[step]), 1 - CONFIDENCE
        )
        expected = float(every.expected[step])
        share = sign * expected / along if sign * expected > 0 else None
        ranked.append(
            Suspect(
                commit=link.commit, parent=link.parent, subject=link.subject, committed=link.committed, change=own,
                expected=expected, share=share, shown=own.low > 0 or own.high < 0, accepted=accepted.get(step),
            )
        )  # fmt: skip
    return Suspects(
        ranked=ranked,
        total=interval(total.estimate, total.variance, total.df, 1 - CONFIDENCE),
        commits=last - first + 1,
        unmeasured=total.missing,
    )
