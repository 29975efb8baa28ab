"""Where the time of a run went, by its records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import get_args

from gate.model import PARTS, Aside, Build, Cost, Execution, Failure, HostState, Look, Record
from gate.model.case import canonical
from gate.model.evidence import Pace
from gate.model.profile import Profile, Unprofiled


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
    following = _per_round(later) if later else sum(b.following or 0.0 for b in builds)
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
