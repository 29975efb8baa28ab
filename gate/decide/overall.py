"""The overall change of a group of cases: the ratio of geometric means, over builds (docs/method.md)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gate.decide.design import FIXED_SESSIONS, Design
from gate.decide.looks import Judged
from gate.model import SIDES, Better, Case, Evidence, Failure, Overall, RatioInterval
from gate.model.case import TYPICAL, pairs
from gate.stats.fixed_sessions import by_machine
from gate.stats.levels import Tops, Unit
from gate.stats.ratio import PAIRED, LogPair, paired, unpaired

ALL = "all"


def suite_of(case: Case) -> str | None:
    """Return the suite of "suite/case"; None: it is of none."""
    suite, slash, _ = case.benchmark.partition("/")
    return suite if slash else None


def overall_of(judged: Sequence[Judged], failed: Sequence[str], design: Design) -> list[Overall]:
    """Summarize the means of each metric over all cases, and over each group of several; of views the typical values.

    Cases share builds, so the build is the unit: y_b is the mean over cases of ln(build mean). A case counts when all
    its means are above 0 and it has the builds that most cases have (with looks, those before the first one) on both
    sides; only builds that all counted cases have are used. failed: benchmarks without a case, named as dropped.
    """
    groups: dict[tuple[str, str, Better | None], list[Judged]] = defaultdict(list)
    for j in judged:
        role = j.subject.role
        # one statistic for all cases of a metric, whichever view decides each
        if j.estimated.exact or not (j.subject.center is None if role is None else role.steady):
            continue
        case = j.subject.case
        groups[ALL, case.metric, case.better].append(j)
        if (group := suite_of(case)) is not None:
            groups[group, case.metric, case.better].append(j)
    whole = {(metric, better): len(members) for (group, metric, better), members in groups.items() if group == ALL}
    return [
        _overall(group, metric, members, failed, design)
        for (group, metric, better), members in groups.items()
        if len(members) > 1 and (group == ALL or len(members) < whole[metric, better])
    ]


def without_case(evidence: Evidence) -> list[str]:
    """Name what failed and has no case at the settings at which it failed."""
    at: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for case in evidence.cases:
        at[case.benchmark].append(case.factors)
    failed = [f for f in evidence.failures if f.benchmark]
    return list(dict.fromkeys(
        _name(f) for f in failed if not any(f.factors.items() <= own.items() for own in at[f.benchmark or ""])
    ))  # fmt: skip


def _name(of: Case | Failure) -> str:
    factors = pairs(of.factors)
    return f"{of.benchmark}{f' ({factors})' if factors else ''}"


def _overall(group: str, metric: str, members: Sequence[Judged], failed: Sequence[str], design: Design) -> Overall:
    fit = [_units(j) for j in members if _counts(j)]
    kinds = Counter(fit)
    # the units that a case must have to count
    wanted = max(kinds, key=lambda units: (kinds[units], len(units)), default=frozenset())
    if design.reached:
        # later rounds are open to what is settled
        every = frozenset[Unit]().union(*fit)
        wanted = frozenset(u for u in every if not isinstance(u, tuple) or u[1] < design.reached[0])
    complete = [_counts(j) and wanted <= _units(j) for j in members]
    counted = [j for j, whole in zip(members, complete, strict=True) if whole]
    dropped = [_name(j.subject.case) for j, whole in zip(members, complete, strict=True) if not whole]
    dropped += [name for name in failed if group == ALL or name.startswith(f"{group}/")]
    base, head = (_logs([j.estimated.top_units(side) for j in counted]) for side in SIDES)
    method = FIXED_SESSIONS if design.machines else "paired"
    if not design.machines and any(j.subject.center != TYPICAL for j in members):
        method = design.method if design.method in PAIRED and base.units == head.units else "fieller"
    pair: LogPair | None = None
    if base.n and head.n:
        joint = paired if method in PAIRED else unpaired
        pair = by_machine(base, head) if method == FIXED_SESSIONS else LogPair(joint(base, head))
    limits = pair.limits(design.alpha) if pair else None
    return Overall(
        group=group,
        metric=metric,
        ratio=RatioInterval(
            estimate=pair.y / pair.x if pair else None, low=limits.low if limits else None,
            high=limits.high if limits else None, confidence=1 - design.alpha, method=method,
            df=pair.df if pair else None, kind=limits.kind if limits else "withheld",
        ),
        cases=len(counted),
        units=base.n,
        level="build" if all(isinstance(unit, tuple) for unit in base.units) else "session",
        dropped=dropped,
    )  # fmt: skip


def _units(judged: Judged) -> frozenset[Unit]:
    base, head = (judged.estimated.top_units(side) for side in SIDES)
    return frozenset(base.units) & frozenset(head.units)


def _counts(judged: Judged) -> bool:
    if judged.estimated.reduced.trouble not in ("", "one-unit", "no-spread"):
        return False
    sides = [judged.estimated.top_units(side) for side in SIDES]
    return all(side.log or side.values.min() > 0 for side in sides)


def _logs(sides: Sequence[Tops]) -> Tops:
    """Average the logarithms of all cases in each unit that all of them have."""
    common: list[Unit] = [u for u in sides[0].units if all(u in s.units for s in sides[1:])] if sides else []
    rows = []
    for side in sides:
        place = {unit: i for i, unit in enumerate(side.units)}
        own = side.values[[place[unit] for unit in common]]
        rows.append(own if side.log else np.log(own))
    values = np.mean(rows, axis=0) if rows else np.array([])
    return Tops(values, tuple(common), 0.0, log=True)
