"""perfgate, by its own decision: its views, its looks, its early stopping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, Round
from benchmarks.trial.rules.rule import Call, Rule, Source
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.types import Builds, Plan
from gate.decide.policy import policy_at
from gate.decide.report import decide
from gate.decide.stopping import interim_check
from gate.evidence.gather import gather
from gate.evidence.lines import Located
from gate.model import SIDES, Build, Execution, Look, Metric, Record, Run
from gate.model.names import ACTIVE

_NAME = "trial"
_WORK = 1.05
"""Times what builds and starts take: perfgate's own work between them, as its budget counts it."""
_LEAST = Plan().builds
assert isinstance(_LEAST, Builds)  # noqa: S101 - for types
_TABLES: dict[str, Any] = {
    "plan": {
        "builds": {"min": _LEAST.min, "max": plan.ROUNDS},
        "executions": plan.EXECUTIONS,
        "iterations": plan.ITERATIONS,
    },
    "benchmark": [{"name": _NAME, "command": ["trial"]}],
}
THRESHOLD = float(parse(from_tables(_TABLES, "the trial")).gate.threshold)
"""Its default."""


def _judge(comparison: Comparison, _: float | None, threshold: float) -> Call:
    """Gate a comparison, round after round until it is settled or no round is left.

    The check that proves two builds the same is no part of it: it would pass what is not changed without measuring.
    """
    tables = {**_TABLES, "gate": {"threshold": threshold}}
    config = parse(from_tables(tables, "the trial"))
    run = Run(id=_NAME, seed=1, looks=len(comparison.rounds), config=tables, turns=True)
    after_round = interim_check(run, config)
    records: list[Record] = []
    seconds = 0.0
    for number, each in enumerate(comparison.rounds):
        builds = [_build(each, place, number, comparison.building / 2) for place in range(len(SIDES))]
        records += [*builds, *_executions(each, number)]
        seconds += sum(build.seconds or 0.0 for build in builds) + sum(start.seconds for start in each.starts)
        settled = after_round(records) if after_round else frozenset()
        records.append(Look(look=number + 1, settled=sorted(settled)))
        if settled:
            break
    located = [Located(record, "the trial", line) for line, record in enumerate([run, *records], 1)]
    [finding] = decide(gather(located, config, measured=config), policy_at(run, config)).findings
    return Call(finding.verdict == "regression", _WORK * seconds, inconclusive=finding.verdict == "inconclusive")


def _build(of: Round, place: int, number: int, whole: float) -> Build:
    build = of.builds[place]
    # the first build of a run is a whole one, whichever layout it draws; those after it link again
    seconds = whole if number == 0 else build.seconds
    return msgspec.structs.replace(
        build, side=SIDES[place], build=number, seconds=seconds, setup=None, checked=None, artifacts={}, full=None
    )


def _executions(of: Round, number: int) -> Iterator[Execution]:
    counts = [-plan.WARM] * len(SIDES)
    for order, (place, start) in enumerate(zip(of.order, of.starts, strict=True)):
        execution, counts[place] = counts[place], counts[place] + 1
        if execution < 0:
            continue
        metrics = {"time": Metric(unit="s", values=[start.time])}
        if start.active is not None:
            metrics[ACTIVE] = Metric(unit="s", values=[start.active], view_of="time", sharp=True)
        yield Execution(
            benchmark=_NAME, side=SIDES[place], build=number, execution=execution, seconds=start.seconds,
            order=number * len(of.order) + order, metrics=metrics, own=start.own,
        )  # fmt: skip


RULES = (
    Rule(
        "perfgate",
        f"The interval of head/base over builds lies above {THRESHOLD:.0%}, by active or mean time.",
        "`threshold`",
        THRESHOLD,
        f"4 to {plan.ROUNDS} builds a side, {plan.EXECUTIONS * plan.ITERATIONS} starts of each by turns, until settled",
        "",
        (Source("method", "method.md"),),
        _judge,
        levels=tuple(k / 400 for k in range(1, 81)),
    ),
)
