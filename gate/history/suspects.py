"""The commits of a range that may have changed a case, ranked by what each of them adds by its own ratio."""

from __future__ import annotations

from collections.abc import Iterable

from gate.history.chain import chained
from gate.history.series import of_links
from gate.model.case import CaseId
from gate.model.creep import Suspect
from gate.model.history import HistoryRecord
from gate.stats.series import contributions


def suspects_between(
    records: Iterable[HistoryRecord], case: CaseId, good: str, bad: str, direction: int
) -> list[Suspect] | None:
    """Rank the commits after `good` up to `bad` that add to a change of a case, those that add most first.

    Args:
        records: of the history, in any order.
        case: with its statistic (`case_id(change, change.statistic)`).
        good: sha of the commit before the range, as creep's pinned commit is; it must be one that a record names.
        bad: sha of the last commit of the range.
        direction: 1: what rose, -1: what fell.

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
    expected = (direction * contributions(found.steps)).tolist()
    along = sum(each for each in expected if each > 0)
    accepted = {run.step for run in found.runs if run.change.accepted is not None}
    return [
        Suspect(
            commit=links[step].commit, subject=links[step].subject, log_ratio=float(found.steps.ratio[step]),
            share=expected[step] / along, accepted=step in accepted,
        )
        for step in sorted(range(len(links)), key=lambda step: -expected[step])
        if expected[step] > 0
    ]  # fmt: skip
