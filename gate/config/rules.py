"""The rules of each case: thresholds, floors, accepts, and the metrics that are decided."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import msgspec

from gate.config.instruments import command_metrics
from gate.config.types import Accept, Benchmark, Builds, Config, Detectable, MetricRules, Override, Plan, Show
from gate.model import Better, Metric, RulesSource
from gate.model.case import MEAN, TYPICAL
from gate.model.directions import told_or_known
from gate.model.names import ACTIVE, BUILD_TIME, SIZE, SUCCESS
from gate.writing.units import DIMENSIONS, Duration, Quantity, to_base

DETECTABLE = 0.1
"""Of a gate that names none; where twice the threshold is more, that."""
OWN_WORK = frozenset({ACTIVE, "cpu_time"})
"""The metrics that other programs hardly disturb: of them twice the threshold is what must show."""
MOST_BUILDS = 56
"""Of a plan that names none, where looks may end it before."""
FIXED_BUILDS = 12
"""Of a plan that names none, where nothing ends it before."""
ROOM = 0.9
"""The share of a budget that rounds are laid out for: they differ, and one that does not fit is not begun."""

TRIED_STARTS = 1
"""Starts a side that tell what one costs: where a round has no room for as many as tell the noise, it has fewer."""
FIRST_STARTS = 10
"""Starts a side that are made before those of a round are counted by their noise."""
MOST_STARTS = 200
"""Of a round, where they are counted."""


class Policy(msgspec.Struct, frozen=True):
    """The rules that decide.

    source: where they come from, in words. today: for accepts with a date. label: what accepts every regression, in
    words ("the label perf-accepted of #12").
    """

    config: Config
    source: str
    today: datetime.date
    label: str | None = None
    measured: Config | None = None
    """What the run was measured by, which lays out its looks; None where that is not known."""
    whose: RulesSource | None = None
    """Where they come from, as data."""


def budget_of(seconds: float) -> Duration:
    """Return a budget in whole minutes with room for rounds that take so many seconds."""
    return Duration(60.0 * math.ceil(seconds / ROOM / 60))


def matches(glob: str, name: str) -> bool:
    """Return whether a glob means a name; a name also means itself, so that "a[1]" needs no escape."""
    return glob == name or fnmatchcase(name, glob)


def benchmark_rules(config: Config, benchmark: str) -> Benchmark | None:
    """Return the [[benchmark]] of a name; a suite's "bench/case" belongs to the longest name that leads it."""
    own = next((b for b in config.benchmark if b.name == benchmark), None)
    if own is not None:
        return own
    owners = [b for b in config.benchmark if benchmark.startswith(b.name + "/")]
    return max(owners, key=lambda b: len(b.name), default=None)


def metric_rules(config: Config, benchmark: str, metric: str) -> MetricRules:
    """Return [benchmark.metric.NAME] of a case, or the defaults."""
    rules = benchmark_rules(config, benchmark)
    return rules.metric.get(metric, MetricRules()) if rules else MetricRules()


def named_metrics(config: Config, benchmark: str) -> list[str] | None:
    """Return what a benchmark or else plan.metrics names; None: nothing, or the plan names metrics of builds alone."""
    rules, named = benchmark_rules(config, benchmark), config.plan.metrics
    if rules is not None and rules.metrics is not None:
        return rules.metrics
    return None if named and {*named} <= {SIZE, BUILD_TIME} else named


def metrics_known(config: Config, glob: str) -> list[str]:
    """Name every metric that benchmarks can have, and their builds; nothing where only a tool knows those of one."""
    own = [b for b in config.benchmark if matches(glob, b.name)]
    if not all(command_metrics(b.instrument) for b in own):
        return []
    found = [name for b in own for name in (*command_metrics(b.instrument), *b.metric)]
    return [*dict.fromkeys([*found, SIZE, BUILD_TIME])] if own else []


def is_decided(config: Config, benchmark: str, metric: str, view_of: str | None = None, *, sharp: bool = False) -> bool:
    """Return whether a metric is decided.

    That is what the benchmark or plan.metrics names, else what is declared, and the chief metrics of its instrument.
    A plan that names "time" means it as by default: with the view that is disturbed least.

    Args:
        view_of: the metric that it is a view of; where all metrics of an instrument are decided, views are not.
        sharp: it is the view that is disturbed least, of what base and head measured by turns.
    """
    named, rules = named_metrics(config, benchmark), benchmark_rules(config, benchmark)
    if named is not None:
        of_plan = rules is None or rules.metrics is None
        with_time = sharp and of_plan and "time" in named and view_of in (None, "time")
        return with_time or any(matches(glob, metric) for glob in named)
    if rules is None or metric in rules.metric:
        return True
    chief = rules.measured.chief
    return sharp or (view_of is None if chief is None else metric in chief)


def decides(config: Config, benchmark: str, name: str, metric: Metric) -> bool:
    """Return whether a metric is decided, and something tells which direction of it is better."""
    better = better_of(config, benchmark, name) or told_or_known(metric.better, name, metric.unit)
    return better is not None and is_decided(config, benchmark, name, metric.view_of)


def is_studied(config: Config, benchmark: str) -> bool:
    """Return whether [study] measures a benchmark; all of a suite that it names, or a part."""
    rules = benchmark_rules(config, benchmark)
    names = {benchmark, rules.name} if rules else {benchmark}
    return config.study is None or any(matches(glob, name) for glob in config.study.benchmarks for name in names)


def is_exact(config: Config, benchmark: str, metric: str) -> bool:
    """Return whether a metric is compared as a number: it is declared so, or its instrument counts exactly.

    So is the share of requests that succeed: it is mostly 1, without any spread.
    """
    said = (o.exact for o in reversed(config.override) if matches(o.benchmark, benchmark) and matches(o.metric, metric))
    own = metric_rules(config, benchmark, metric).exact
    declared = own if own is not None else next((each for each in said if each is not None), None)
    if declared is not None:
        return declared
    rules = benchmark_rules(config, benchmark)
    return rules is not None and (rules.measured.exact or (rules.column is not None and metric == SUCCESS))


def is_single(config: Config, benchmark: str) -> bool:
    """Return whether a benchmark is executed once a build, whatever the plan: its instrument counts exactly."""
    rules = benchmark_rules(config, benchmark)
    return rules is not None and rules.measured.exact


def executions_of(config: Config, benchmark: str, *, turns: bool = True) -> int:
    """Return how often the plan executes a benchmark in a build: of what goes start by start each start is one.

    Where starts are counted, as many are expected until then as executions and iterations make.

    turns: whether such a run is meant; a run line of before says that it is not.
    """
    plan = config.plan
    if is_single(config, benchmark):
        return 1
    if turns and goes_by_starts(config, benchmark):
        return plan.executions * plan.iterations if plan.starts == "auto" else plan.starts
    return plan.executions


def goes_by_starts(config: Config, benchmark: str) -> bool:
    """Return whether base and head of a benchmark take turns start by start.

    What runs as long as an execution, a load or a service, would run beside the other side's; a steady state is looked
    for in the iterations of one execution.
    """
    rules = benchmark_rules(config, benchmark)
    if rules is None or not rules.measured.starts or rules.warmup == "auto":
        return False
    able = rules.load is None and (rules.service is None or rules.service.per == "build")
    return able and config.study is None


def is_divisible(config: Config, benchmark: str) -> bool:
    """Return whether the executions of a benchmark may be divided into shorter ones, as far as the rules tell.

    A steady state is looked for in one whole execution.
    """
    rules = benchmark_rules(config, benchmark)
    if rules is None or rules.measured.exact or rules.warmup == "auto" or goes_by_starts(config, benchmark):
        return False
    return config.plan.iterations > 1 and config.study is None


def is_counted(config: Config, benchmark: str) -> bool:
    """Return whether the first starts of a benchmark say how many a round has (gate.decide.starts)."""
    return config.plan.starts == "auto" and goes_by_starts(config, benchmark)


def most_builds(plan: Plan, *, early: bool = True) -> int:
    """Count the rounds that a plan has at most.

    early: whether looks may end it before; without them a plan that names no most is no longer than was usual.
    """
    if not isinstance(plan.builds, Builds):
        return plan.builds
    return plan.builds.max or max(plan.builds.min, MOST_BUILDS if early else FIXED_BUILDS)


def threshold_of(config: Config, benchmark: str, metric: str, statistic: str, view_of: str | None = None) -> float:
    """Return the threshold of a case: the metric's, otherwise the last matching override's, otherwise gate's.

    view_of: the metric that it is a view of, as in all that look up rules; where it has none of its own, those hold.
    """
    return float(_ruled("threshold", config, benchmark, metric, statistic, view_of))


def warn_of(config: Config, benchmark: str, metric: str, statistic: str, view_of: str | None = None) -> float | None:
    """Return from which change for the worse a case is marked: the metric's, an override's, gate's; None: none."""
    found = _ruled("warn", config, benchmark, metric, statistic, view_of)
    return None if found is None else float(found)


def _ruled(key: str, config: Config, benchmark: str, metric: str, statistic: str, view_of: str | None) -> Any:
    """Return a rule of a case: of the metric's own table, of the last matching override, or of gate; None: none."""
    tables = (
        *_tables(config, benchmark, metric, view_of),
        *_about(config.override, config, benchmark, metric, statistic, view_of),
        config.gate,
    )
    return next((found for table in tables if (found := getattr(table, key, None)) is not None), None)


def better_of(config: Config, benchmark: str, metric: str) -> Better | None:
    """Return which direction of a metric is better: as its own rules say, otherwise the last matching override."""
    own = metric_rules(config, benchmark, metric).better
    told = (
        o.better for o in reversed(config.override) if matches(o.benchmark, benchmark) and matches(o.metric, metric)
    )
    return own or next(filter(None, told), None)


def missing_fails(config: Config, benchmark: str) -> bool:
    """Return whether a benchmark that is missing fails: the last matching override says, otherwise gate."""
    said = [o.missing for o in reversed(config.override) if matches(o.benchmark, benchmark)]
    return next((each for each in said if each is not None), config.gate.missing) == "fail"


def implausible_of(config: Config, benchmark: str, metric: str, statistic: str) -> float | None:
    """Return beyond which size an improvement is questioned: the last matching override's, otherwise gate's."""
    return float(_ruled("implausible", config, benchmark, metric, statistic, None)) or None


def show_of(config: Config, benchmark: str, metric: str, statistic: str, view_of: str | None = None) -> Show:
    """Return what a green finding of a case must have shown, by the last matching override's `detectable` or gate's."""
    found: Detectable | None = _ruled("detectable", config, benchmark, metric, statistic, view_of)
    strict = config.gate.inconclusive == "fail" if found is None else not found
    return "not-worse" if strict else "no-sign"


def detectable_of(config: Config, benchmark: str, metric: str, statistic: str, view_of: str | None = None) -> float:
    """Return the largest size of a slowdown that may stay unseen in a pass: the last override's, otherwise gate's.

    Where none is named it is twice the threshold; where other programs disturb the metric at least 10%.
    """
    found: Detectable | None = _ruled("detectable", config, benchmark, metric, statistic, view_of)
    threshold = threshold_of(config, benchmark, metric, statistic, view_of)
    # what is not above the threshold can never show: it was set with another threshold in mind
    if found is None or found <= threshold:
        return 2 * threshold if metric in OWN_WORK and threshold else max(DETECTABLE, 2 * threshold)
    return float(found)


def floor_of(
    config: Config, benchmark: str, metric: str, statistic: str, unit: str, view_of: str | None = None
) -> float | None:
    """Return the floor of a case in its base unit; None where there is none. A plain 0 takes it away."""
    benchmarked = benchmark_rules(config, benchmark)
    default = config.gate.floor or (benchmarked.measured.floor if benchmarked is not None else None)
    tables = _tables(config, benchmark, metric, view_of)
    overrides = [o.floor for o in _about(config.override, config, benchmark, metric, statistic, view_of)]
    return _amount([(table.floor, table.unit) for table in tables], [*overrides, default], unit) or None


def limit_of(config: Config, benchmark: str, metric: str, statistic: str, unit: str) -> float | None:
    """Return the limit of head's value in its base unit; None where there is none. A view has one of its own only."""
    rules = metric_rules(config, benchmark, metric)
    named = [
        each.limit
        for each in reversed(config.override)
        if matches(each.benchmark, benchmark) and matches(each.metric, metric) and matches(each.statistic, statistic)
    ]
    return _amount([(rules.limit, rules.unit)], [*named, config.gate.limit], unit)


def _amount(
    own: Sequence[tuple[Quantity | None, str | None]], others: Sequence[Quantity | None], unit: str
) -> float | None:
    """Return the first amount that is of the metric's dimension, in the base unit; None: none is.

    A plain number of the metric's own rules is in the unit that they declare; elsewhere it is a count, and a plain 0
    is one in every dimension.
    """
    first, declared = next(((amount, of) for amount, of in own if amount is not None), (None, None))
    if first is not None and first.unit == "":
        return first.value * to_base(declared or unit)[1]
    # a metric of no known dimension is a count
    plain = unit not in DIMENSIONS
    every = (each for each in (first, *others) if each is not None)
    return next(
        (each.value for each in every if each.unit == unit or (not each.unit and (plain or not each.value))), None
    )


def default_floor(config: Config) -> str:
    """Write the floor of a gate that names none: "none", "1us", "1us of hyperfine, none of suites"."""
    named: dict[str, dict[str, None]] = {}
    for benchmark in config.benchmark:
        traits = benchmark.measured
        floor = "none" if traits.floor is None else str(traits.floor)
        named.setdefault(floor, {})["suites" if traits.suite else benchmark.instrument] = None
    if len(named) > 1:
        return ", ".join(f"{floor} of {' and '.join(names)}" for floor, names in named.items())
    return next(iter(named), "none")


def accepts_of(config: Config, benchmark: str, metric: str, statistic: str, view_of: str | None = None) -> list[Accept]:
    """Return the [[accept]] entries that match a case, in the order of the file."""
    return [*reversed(_about(config.accept, config, benchmark, metric, statistic, view_of))]


_Entry = TypeVar("_Entry", Override, Accept)


def _about(
    entries: Sequence[_Entry], config: Config, benchmark: str, metric: str, statistic: str, view_of: str | None
) -> list[_Entry]:
    """Return the entries about a case, the last one first.

    One about a metric is about its views, and one about the mean about the typical value that stands beside it unasked.
    """
    metrics = _seen(metric, view_of)
    declared = any(table.statistics is not None for table in _tables(config, benchmark, metric, view_of))
    statistics = [TYPICAL, MEAN] if statistic == TYPICAL and not declared else [statistic]
    return [
        each
        for each in reversed(entries)
        if matches(each.benchmark, benchmark)
        and any(matches(each.metric, name) for name in metrics)
        and any(matches(each.statistic, name) for name in statistics)
    ]


def _tables(config: Config, benchmark: str, metric: str, view_of: str | None) -> list[MetricRules]:
    return [metric_rules(config, benchmark, each) for each in _seen(metric, view_of)]


def _seen(metric: str, view_of: str | None) -> list[str]:
    """Name the metrics whose rules hold, the own one first; of active time it is known what it is a view of."""
    of = view_of or ("time" if metric == ACTIVE else None)
    return [metric] if of is None else [metric, of]
