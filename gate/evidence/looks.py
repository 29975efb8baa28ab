"""The looks of a run: the rounds after which a verdict may be reached, fixed by the plan and the cost of round 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gate.config.types import Builds, Config, Plan
from gate.evidence.cost import one_by_one
from gate.evidence.runs import config_of
from gate.model import Build, Execution, Look, Record, Run

_OWN = 1.05
"""Times what builds and executions take: perfgate's own work between them, which the budget counts too."""


def planned_looks(plan: Plan, records: Sequence[Record]) -> list[int]:
    """Lay out the looks: of the plan's range of builds, what fits the budget by what set-up and round 1 cost.

    Each session has a budget of its own: the one whose first round took longest says what fits. Empty when the plan is
    a fixed number of builds. Source: docs/method.md.

    Args:
        records: the builds and executions of a run in any order, of which only set-up and the first round's seconds
            count, so that nothing measured later moves a look.
    """
    if not isinstance(plan.builds, Builds):
        return []
    most = plan.builds.max
    begun = [r for r in records if isinstance(r, (Build, Execution)) and r.build == 0]
    for session in {r.session for r in begun}:
        own = [r for r in begun if r.session == session]
        builds, executions = [r for r in own if isinstance(r, Build)], [r for r in own if isinstance(r, Execution)]
        executing = sum(r.seconds or 0.0 for r in executions)
        building = sum((r.seconds or 0.0) + (r.checked or 0.0) for r in one_by_one(builds))
        # later builds may only link, which the first ones have tried
        following = _OWN * (sum(r.following or 0.0 for r in builds) + executing)
        left = float(plan.budget) - sum(r.setup or 0.0 for r in one_by_one(builds)) - _OWN * (building + executing)
        most = max(1, min(most, 1 + math.floor(left / following))) if following > 0 else most
    from gate.stats.sequential import look_rounds

    return list(look_rounds(min(plan.builds.min, most), most))


def looks_of(run: Run | None, records: Sequence[Record], config: Config | None = None) -> list[int]:
    """Give the looks of a measured run: none without look lines, since then the design was fixed.

    Look lines of a run whose plan names no range stand for looks at their own rounds, the last one at the end that the
    run line names (or that was measured). A shard's looks are those of its plan, whatever its first round cost: all
    shards look together.

    Args:
        config: the run was measured by, where the caller has parsed it already.
    """
    lines = sorted({r.look for r in records if isinstance(r, Look)})
    if not lines:
        return []
    config = config or config_of(run)
    if run is not None and config is not None:
        planned = planned_looks(config.plan, () if run.shard else records)
        if planned:
            return planned
    # the end is where the run line puts it, or where the measurements go on to
    measured = max((r.build + 1 for r in records if isinstance(r, Execution)), default=0)
    end = max((run.looks if run else None) or 0, measured) or lines[-1]
    return [*(look for look in lines if look < end), end]
