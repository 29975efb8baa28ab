"""Which rounds of a run count: its looks, by the plan and what first rounds cost; what a budget left unfinished."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from gate.config.rules import most_builds
from gate.config.types import Builds, Config, Plan
from gate.evidence.records import Located
from gate.evidence.runs import File, files_of
from gate.model import Build, Cut, Execution, Failure, HostState, Look, Record, Run, Same, Turn, Unfinished
from gate.model.profile import Profile, Unprofiled

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


# --- what does not count ----------------------------------------------------------------------------------------------


def counted(records: Sequence[Located]) -> list[Located]:
    """Leave out what does not count, of each job as its own lines say.

    - Executions of a round that the budget ended: one that is half there would weigh the benchmarks and the sides by
      where the time ran out.
    - What was measured from a round on in which a tree was changed, on both sides: which executions came after the
      change is not known. In an experiment others than those of its settings stay. What was proved the same in the
      first round was proved in these trees, too.
    - That the machine was not free, of a job that measured or waited afterwards: a run that was resumed.
    - What explains a run: it decides nothing.
    """
    dropped: set[int] = set()
    for file in files_of(records):
        cuts, every = _cuts(file), list(enumerate(file.records))
        changed = [record for record in file.records if isinstance(record, Failure) and record.kind == "tree"]
        begun = max((n for n, record in every if isinstance(record, HostState)), default=-1)
        held = [n for n, record in every if isinstance(record, Failure) and record.kind == "lock"]
        dropped.update(id(file.records[n]) for n in held if n < begun or n != held[-1])
        dropped.update(
            id(record)
            for record in file.records
            if isinstance(record, (Profile, Unprofiled))
            or (cuts and _is_cut(record, cuts))
            or (changed and any(_is_of(record, failure) for failure in changed))
        )
    return [located for located in records if id(located.record) not in dropped]


def _is_cut(record: Record, cuts: dict[int, tuple[HostState, Cut]]) -> bool:
    if not isinstance(record, Execution) or record.session not in cuts:
        return False
    complete = cuts[record.session][0].rounds
    return complete is not None and record.build >= complete


def _is_of(record: Record, failure: Failure) -> bool:
    round_ = failure.build or 0
    if isinstance(record, Same):
        return record.session == failure.session and round_ == 0
    if not isinstance(record, Execution) or record.session != failure.session or record.build < round_:
        return False
    return all(record.factors.get(name) == setting for name, setting in failure.factors.items())


def unfinished(records: Sequence[Located], budget: float | None) -> Unfinished | None:
    """Say what took the time of a budget that ended before one round was complete; None where one is.

    records: all of the run, those of the round among them. budget: of the run in seconds.
    """
    ended = [(file, _cuts(file)) for file in files_of(records)]
    cuts = [(file, *found) for file, own in ended for found in own.values()]
    whole = (isinstance(each, Execution) and not _is_cut(each, own) for file, own in ended for each in file.records)
    if budget is None or not cuts or any(whole):
        return None
    file, _, cut = cuts[0]
    builds = [record for record in file.records if isinstance(record, Build)]
    executions = [record for record in file.records if isinstance(record, Execution)]
    following = [build.following for build in builds if build.following is not None]
    return Unfinished(
        budget=budget,
        cut=cut,
        setup=sum(each.setup or 0.0 for each in builds) + cut.setup,
        builds=len(builds),
        building=sum(each.seconds or 0.0 for each in builds),
        following=fmean(following) if following else None,
        executions=len({(each.suite or each.benchmark, each.side, each.execution) for each in executions})
        + cut.compared,
        executing=sum(each.seconds or 0.0 for each in executions) + cut.comparing,
        turns={record.benchmark: record.executions for record in file.records if isinstance(record, Turn)},
    )


def _cuts(file: File) -> dict[int, tuple[HostState, Cut]]:
    """Give how each session of a job ended, where the budget ended it within a round."""
    last = {record.session: record for record in file.records if isinstance(record, HostState)}
    return {session: (end, end.cut) for session, end in last.items() if end.stop == "budget" and end.cut is not None}
