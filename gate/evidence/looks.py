"""The looks of a run: the rounds after which a verdict may be reached, fixed by the plan and what first rounds cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gate.config.rules import most_builds
from gate.config.types import Builds, Config, Plan
from gate.model import Build, Execution, HostState, Look, Record, Run

_JUDGED = 2
"""The rounds whose builds count."""
_OWN = 1.05
"""Times what builds and executions take: perfgate's own work between them, which the budget counts too."""


def planned_looks(plan: Plan, records: Sequence[Record], done: int = 0) -> list[int]:
    """Lay out the looks: of the plan's range of builds, what fits the budget by what set-up, proofs and round 1 cost.

    The last look is the last round that fits.

    The first builds may do what later ones need not. So what the builds of round 2 take may restore rounds that did not
    fit by those of round 1, if no look came before; it takes none away. The executions of round 1 alone count, since
    their seconds may be values, and nothing that is measured later. Each session has a budget of its own: the one that
    has the fewest rounds says what fits. Empty when the plan is a fixed number of builds. Source: docs/method.md.

    records: the builds and executions of a run in any order, and its look lines. done: the rounds that are complete,
    where the look line of the last one is not among the records yet.
    """
    if not isinstance(plan.builds, Builds):
        return []
    from gate.stats.sequential import look_rounds

    steps = [r for r in records if isinstance(r, (Build, Execution))]
    sessions = {r.session for r in steps if r.build == 0}
    lines = sum(isinstance(r, Look) and r.look == _JUDGED for r in records)
    most = restored = most_builds(plan)
    for session in sessions:
        own = [r for r in steps if r.session == session]
        first = _fitting(plan, own, 1)
        complete = done >= _JUDGED or lines >= len(sessions) or any(r.build >= _JUDGED for r in own)
        most = min(most, first)
        restored = min(restored, max(first, _fitting(plan, own, _JUDGED)) if complete else first)
    looks = look_rounds(min(plan.builds.min, most), most)
    if looks[0] > 1:
        looks = look_rounds(min(plan.builds.min, restored), restored)
    return list(looks)


def _fitting(plan: Plan, steps: Sequence[Build | Execution], rounds: int) -> int:
    """Count the rounds of a session that fit the budget, if builds to come take as long as those of the last round."""
    assert isinstance(plan.builds, Builds)  # noqa: S101  # for types
    executing = sum(r.seconds or 0.0 for r in steps if isinstance(r, Execution) and r.build == 0)
    left, following = float(plan.budget) - sum(r.before or 0.0 for r in steps if isinstance(r, Execution)), 0.0
    for number in range(rounds):
        builds = [r for r in steps if isinstance(r, Build) and r.build == number]
        if number and not builds:
            return 1
        building = sum((r.seconds or 0.0) + (r.checked or 0.0) for r in builds)
        left -= sum(r.setup or 0.0 for r in builds) + _OWN * (building + executing)
        # later builds may only link, which the first ones have tried
        following = _OWN * (sum(r.following or 0.0 for r in builds) + executing)
    if following <= 0:
        return most_builds(plan)
    return max(1, min(most_builds(plan), rounds + math.floor(left / following)))


def looks_of(run: Run | None, records: Sequence[Record], config: Config | None) -> list[int]:
    """Give the looks of a measured run: none without look lines, since then the design was fixed.

    Look lines of a run whose plan names no range stand for looks at their own rounds, the last one at the end that the
    run line names (or that was measured). A shard's looks are those of its plan, whatever its rounds cost: all
    shards look together.

    config: the run was measured by; None: not known.
    """
    lines = sorted({r.look for r in records if isinstance(r, Look)})
    if not lines:
        return []
    if run is not None and config is not None:
        planned = planned_looks(config.plan, () if run.shard else records)
        if planned:
            return planned
    # the end is where the run line puts it, or where the measurements go on to
    measured = max((r.build + 1 for r in records if isinstance(r, Execution)), default=0)
    end = max((run.looks if run else None) or 0, measured) or lines[-1]
    return [*(look for look in lines if look < end), end]


def with_end(looks: Sequence[int], done: int, records: Sequence[Record]) -> list[int]:
    """Add the last complete round of a run that its budget ended between two looks: what was measured is looked at.

    The looks before it keep their levels, and it spends what has grown since the last one. When a budget ends rests on
    what rounds cost, hardly on their values. Several sessions end apart, so they have no round in common to look at.
    Source: docs/method.md, stopping early (simulated).

    looks: planned, ascending. done: the rounds that are complete.
    """
    states = {r.session: r for r in records if isinstance(r, HostState)}
    ended = [state.stop for state in states.values()] == ["budget"]
    return sorted({*looks, done}) if ended and looks and looks[0] < done < looks[-1] else list(looks)
