"""Where the time of a run went, the looks that its budget leaves, and which rounds do not count."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import get_args

from gate.config.rules import most_builds
from gate.config.types import Builds, Config, Plan
from gate.evidence.lines import Located
from gate.evidence.runs import File, files_of
from gate.model import (
    PARTS,
    Aside,
    Build,
    Cost,
    Cut,
    Execution,
    Failure,
    HostState,
    Look,
    Record,
    Run,
    Same,
    Turn,
    Unfinished,
)
from gate.model.case import canonical
from gate.model.evidence import Pace
from gate.model.profile import Profile, Unprofiled

_JUDGED = 2
"""The rounds whose builds count."""
_OWN = 1.05
"""Times what builds and executions take: perfgate's own work between them, which the budget counts too."""


def planned_looks(plan: Plan, records: Sequence[Record], done: int = 0, fewest: int = 1) -> list[int]:
    """Lay out the looks: of the plan's range of builds, what fits the budget by what set-up, proofs and round 1 cost.

    The last look is the last round that fits; where fewer fit than a regression needs, that one, as later rounds may be
    shorter: measuring ends with the budget, and not with the one before it.

    The first builds may do what later ones need not. So what the builds of round 2 take may restore rounds that did not
    fit by those of round 1, if no look came before; it takes none away. The executions of round 1 alone count, since
    their seconds may be values, and nothing that is measured later. Each session has a budget of its own: the one that
    has the fewest rounds says what fits. Empty when the plan is a fixed number of builds. Source: docs/method.md.

    records: the builds and executions of a run in any order, and its look lines. done: the rounds that are complete,
    where the look line of the last one is not among the records yet. fewest: the rounds that a regression needs.
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
    fewest = min(fewest, most_builds(plan))
    most, restored = max(most, fewest), max(restored, fewest)
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
        following = _OWN * (sum(r.next_build_seconds or 0.0 for r in builds) + executing)
    if following <= 0:
        return most_builds(plan)
    return max(1, min(most_builds(plan), rounds + math.floor(left / following)))


def fewest_rounds(config: Config) -> int:
    """Return the rounds of each session without which there is no regression."""
    return math.ceil(config.gate.min_builds / config.plan.sessions)


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
        planned = planned_looks(config.plan, () if run.shard else records, fewest=fewest_rounds(config))
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


def uncounted(records: Sequence[Located]) -> set[int]:
    """Give the ids of the records that do not count, of each job as its own lines say.

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
    return dropped


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
    return Unfinished(
        budget=budget,
        cut=cut,
        setup=sum(each.setup or 0.0 for each in builds) + cut.setup,
        builds=len(builds),
        building=sum(each.seconds or 0.0 for each in builds),
        following=mean_of(build.next_build_seconds for build in builds),
        executions=len({(each.suite or each.benchmark, each.side, each.execution) for each in executions})
        + cut.compared,
        executing=sum(each.seconds or 0.0 for each in executions) + cut.comparing,
        turns={record.benchmark: record.executions for record in file.records if isinstance(record, Turn)},
    )


def _cuts(file: File) -> dict[int, tuple[HostState, Cut]]:
    """Give how each session of a job ended, where the budget ended it within a round."""
    last = {record.session: record for record in file.records if isinstance(record, HostState)}
    return {session: (end, end.cut) for session, end in last.items() if end.stop == "budget" and end.cut is not None}


# --- where the time went ----------------------------------------------------------------------------------------------


def cost_of(records: Sequence[Record]) -> Cost:
    """Add up the seconds of all jobs by what took them.

    The total is known where every part of a run that began has also ended, and says how long it took: not after a
    kill, nor of files that an older perfgate has written.
    """
    builds = [r for r in records if isinstance(r, Build)]
    executions = [r for r in records if isinstance(r, Execution)]
    failures = [r for r in records if isinstance(r, Failure)]
    ends = [r for r in records if isinstance(r, HostState) and r.when == "end"]
    cuts = [end.cut for end in ends if end.cut is not None]
    full = [b for b in builds if not b.relinked]
    again = [b for b in builds if b.relinked]
    ended = [cut.setup + (cut.seconds if cut.phase in ("checkout", "setup") else 0.0) or None for cut in cuts]
    ended += [f.seconds for f in failures if f.kind == "setup"]
    setup = _sum((*(b.setup for b in builds), *ended))
    # failures, and steps that the budget ended, of which the probe counts its own
    lost = [f.seconds for f in failures if f.kind == "build"] + [cut.seconds for cut in cuts if cut.phase == "build"]
    compiling = _sum((*(b.seconds for b in full), *lost))
    link = _sum((*(b.seconds for b in again), *(b.checked for b in builds)))
    lost = [f.seconds for f in failures if f.kind == "execution"]
    lost += [cut.seconds for cut in cuts if cut.phase in ("execution", "service")]
    measure = _sum((*(e.seconds for e in executions), *lost))
    decide = _sum(r.seconds for r in records if isinstance(r, Look))
    profile = _sum(r.seconds for r in records if isinstance(r, (Profile, Unprofiled)))
    aside = {what: _sum(end.aside.get(what) for end in ends) for what in get_args(Aside)}
    aside["probe"] = _sum(end.probe for end in ends)
    known = [each for each in (setup, compiling, link, measure, decide, profile, *aside.values()) if each]
    begun = sum(isinstance(r, HostState) and r.when == "begin" for r in records)
    seconds = [end.seconds for end in ends if end.seconds is not None]
    # a run has ended when it is profiled
    total = sum(seconds) + (profile or 0.0) if seconds and len(seconds) == len(ends) == begun else None
    return Cost(
        setup=setup, compile=compiling, link=link, measure=measure, decide=decide,
        other=max(0.0, total - sum(known)) if total is not None else None,
        total=max(total, sum(known)) if total is not None else None, compiled=len(full), linked=len(again),
        profile=profile, **aside,
    )  # fmt: skip


def pace_of(records: Sequence[Record]) -> Pace | None:
    """Say what rounds take, as `check --dry-run` counts it: builds and executions by their means.

    None: of no build or execution, or of several jobs, whose rounds are made at the same time.
    """
    executions = [r for r in records if isinstance(r, Execution) and r.seconds is not None]
    builds = [r for r in records if isinstance(r, Build)]
    if not executions or not builds or len({*(b.session for b in builds), *(e.session for e in executions)}) > 1:
        return None
    cost = cost_of(records)
    first, later = _per_round([b for b in builds if b.build == 0]), [b for b in builds if b.build > 0]
    following = _per_round(later) if later else sum(b.next_build_seconds or 0.0 for b in builds)
    once = (cost.setup or 0.0) + cost.before + (cost.keep or 0.0) + (cost.again or 0.0) + max(0.0, first - following)
    taken: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    counts: dict[tuple[str, str, str], set[tuple[int, int]]] = defaultdict(set)
    for each in executions:
        # the lines of a suite's execution share its time
        key = each.suite or each.benchmark, each.side, canonical(each.factors)
        taken[key].append((each.seconds or 0.0) * (each.lines or 1))
        counts[key].add((each.build, each.execution))
    # a benchmark that was settled early has fewer rounds, and as many executions in each
    often = {key: len(places) / len({build for build, _ in places}) for key, places in counts.items()}
    measuring = sum(fmean(taken[key]) * count for key, count in often.items())
    own = (cost.between or 0.0) / sum(map(len, counts.values())) * sum(often.values())
    return Pace(once=once, round=following + measuring + own)


def _per_round(builds: Sequence[Build]) -> float:
    """Return what the builds of a round took, of both sides, with the check of their links."""
    rounds = len({build.build for build in builds})
    return sum((b.seconds or 0.0) + (b.checked or 0.0) for b in builds) / rounds if rounds else 0.0


def spent(cost: Cost) -> float | None:
    """Return the seconds of a run: the total, or where it is not known the sum of what is."""
    return cost.total if cost.total is not None else _sum(getattr(cost, part) for part in PARTS if part != "other")


def _sum(seconds: Iterable[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return sum(known) if known else None


def first_build(build: Build) -> float | None:
    """Return what the first build of a side took, with the check of its links."""
    return None if build.seconds is None else build.seconds + (build.checked or 0.0)


def later_build(builds: Sequence[Build]) -> float | None:
    """Return what a build after the first one takes; where there was none yet, what is to be expected."""
    later = mean_of(build.seconds for build in builds if build.build > 0)
    return mean_of(build.next_build_seconds for build in builds) if later is None else later


def mean_of(seconds: Iterable[float | None]) -> float | None:
    """Return the mean of what is known; None of nothing."""
    known = [each for each in seconds if each is not None]
    return fmean(known) if known else None
