"""perfgate, by its own decision: its looks, its early stopping, its family of one or of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from benchmarks.trial.comparisons import Comparison, Measured
from benchmarks.trial.rules.rule import SIZE, Call, Rule, Sized, Source
from gate.config.parse import parse
from gate.config.source import from_tables
from gate.decide import decide
from gate.decide.measurements import looking
from gate.decide.policy import policy_at
from gate.evidence.gather import gather
from gate.evidence.records import Located
from gate.model import SIDES, Build, Execution, Look, Metric, Record, Report, Run, Side

_WORK = 1.05
"""Times what builds and executions take: perfgate's own work between them, as its budget counts it."""


@dataclass(frozen=True)
class Gated:
    """What perfgate says of the benchmarks of a pull request, and the seconds until it stopped."""

    report: Report
    seconds: float


def gated(benchmarks: Mapping[str, Comparison]) -> Gated:
    """Gate benchmarks by name, all by the defaults of perfgate.toml, round after round until no look is left.

    The check that proves two builds the same is off: it would pass what is not changed without measuring.
    """
    tables = {"build": {"layouts": "common"}}
    config = parse(from_tables(tables, "the trial"))
    run = Run(id="trial", seed=1, looks=12, config=tables)
    after_round = looking(run, config)
    records: list[Record] = []
    seconds = 0.0
    names = dict.fromkeys(benchmarks)
    rounds = min(len(each.base.rounds) for each in benchmarks.values())
    for number in range(rounds):
        for name in names:
            comparison = benchmarks[name]
            for side, measured in zip(SIDES, (comparison.base, comparison.head), strict=True):
                records += _executions(name, side, measured, number)
                seconds += sum(each.seconds for each in measured.rounds[number])
        first = next(iter(benchmarks.values()))
        for side, measured in zip(SIDES, (first.base, first.head), strict=True):
            build = _build(side, measured, number)
            records.append(build)
            seconds += build.seconds or 0.0
        settled = after_round(records) if after_round else frozenset()
        records.append(Look(look=number + 1, settled=sorted(settled)))
        names = {name: None for name in names if name not in settled}
        if not names:
            break
    located = [Located(record, "the trial", line) for line, record in enumerate([run, *records], 1)]
    return Gated(decide(gather(located, config, measured=config), policy_at(run, config)), _WORK * seconds)


def _executions(name: str, side: Side, measured: Measured, number: int) -> list[Execution]:
    return [
        Execution(
            benchmark=name, side=side, build=number, execution=k, seconds=each.seconds, warmup=1,
            metrics={"time": Metric(unit="s", values=list(each.passes[1:]))},
        )
        for k, each in enumerate(measured.rounds[number])
    ]  # fmt: skip


def _build(side: Side, measured: Measured, number: int) -> Build:
    build = measured.builds[number]
    # the first build of a run is a whole one, whichever layout it draws; those after it link again
    seconds = measured.building if number == 0 else build.seconds
    return msgspec.structs.replace(build, side=side, build=number, seconds=seconds, artifacts={}, full=None)


def _judge(comparison: Comparison, _: float | None) -> Call:
    found = gated({"benchmark": comparison})
    verdict = found.report.findings[0].verdict
    return Call(verdict == "regression", found.seconds, inconclusive=verdict == "inconclusive")


RULES = (
    Rule(
        "perfgate",
        "The confidence interval of head/base over builds lies above 3%, after correction for looks and benchmarks.",
        "4 to 12 builds a side, 5 executions by turns of each, 10 iterations in each; it stops at a look when settled",
        "",
        (Source("method", "method.md"),),
        SIZE,
        "Needs a runner of its own, and several builds; what is below its threshold passes by design.",
        _judge,
        Sized("perfgate", "its default", _judge),
    ),
)
