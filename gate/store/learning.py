"""Measurements of a run -> the variances and costs that the history keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from gate.config.commands import as_text
from gate.config.rules import benchmark_rules
from gate.config.types import PERTURBATIONS, Benchmark, Config
from gate.evidence.time_spent import cost_of, first_build, later_build, mean_of
from gate.model import Build, Case, Execution, Layouts, Record
from gate.model.case import canonical, center_of
from gate.stats.components import remember
from gate.store.memory import Learned, Setup, StepCosts
from gate.writing.units import to_base

Key = TypeVar("Key", bound=Hashable)


def setups_of(config: Config, host: Mapping[str, object]) -> dict[str, Setup]:
    """Say how each benchmark of a side's config is measured on a host, by name.

    host: the facts of the run line, which hold the version of hyperfine where it measures.
    """
    build = None if config.build.command is None else as_text(config.build.command)
    return {
        b.name: Setup(
            command=as_text(b.command),
            instrument="spawn" if b.instrument == "hyperfine" and "hyperfine" not in host else b.instrument,
            warmup=b.warmup,
            build=build,
            conditions=_conditions(b, config),
        )
        for b in config.benchmark
    }


def _conditions(benchmark: Benchmark, config: Config) -> str | None:
    perturb = sorted(config.build.perturb)
    parts = [f"perturb {', '.join(perturb) or 'nothing'}"] if perturb != sorted(PERTURBATIONS) else []
    service, load = benchmark.service, benchmark.load
    parts += [f"service {as_text(service.command)} per {service.per} on {service.cpus or 'any'}"] if service else []
    parts += [f"load {as_text(load.command)} on {load.cpus or 'any'}"] if load else []
    parts += [f"processors {benchmark.cpus}"] if benchmark.cpus else []
    parts += [f"relink {as_text(config.build.relink)}"] if config.build.relink != "auto" else []
    return "; ".join(parts) or None


def setup_of(setups: Mapping[str, Setup], config: Config, benchmark: str) -> Setup | None:
    """Return the setup of a case's benchmark, which may be part of a suite; None where the config has none."""
    rules = benchmark_rules(config, benchmark)
    return setups.get(rules.name) if rules else None


def learn(
    asked: Iterable[tuple[Case, str]], config: Config, setups: Mapping[str, Setup], records: Sequence[Record], *,
    session: str, created: str, both: bool, layouts: Layouts = "independent", programs: bool = False,
) -> list[Learned]:  # fmt: skip
    """Return what can be remembered of each case and statistic that are decided.

    Args:
        asked: the cases, with the samples to learn from, and what of each is compared.
        config: names the benchmarks.
        setups: of each benchmark; a case without one is left out.
        records: for the costs.
        both: whether head counts; else only base does.
        layouts: of both sides of a round. programs: whether base and head are two programs, of which only base and the
            contrast of both are learned; else they are one commit.
    """
    costs = costs_of(records)
    found = []
    for case, statistic in asked:
        setup = setup_of(setups, config, case.benchmark)
        if setup is None:
            continue
        remembered = remember(
            case.base, case.head if both else None, center_of(statistic), session=session, created=created,
            layouts=layouts, programs=programs, view_of=case.view_of,
        )  # fmt: skip
        if remembered is not None:
            found.append(
                Learned(
                    benchmark=case.benchmark, metric=case.metric, factors=case.factors, statistic=statistic,
                    setup=setup, remembered=remembered, costs=costs[case.benchmark],
                )
            )  # fmt: skip
    return found


def costs_of(records: Sequence[Record]) -> dict[str, StepCosts]:
    """Return what builds and executions cost, in seconds, by benchmark: means over the records.

    An iteration costs what its time says where the benchmark measures its own time in seconds, one after the other;
    else an even share of the execution, whose start is then not known.
    """
    return _costs_by(records, lambda execution: execution.benchmark)


def costs_at_treatments(records: Sequence[Record]) -> dict[tuple[str, str], StepCosts]:
    """Return the same by benchmark and treatment."""
    return _costs_by(records, lambda execution: (execution.benchmark, canonical(execution.factors)))


def _costs_by(records: Sequence[Record], key: Callable[[Execution], Key]) -> dict[Key, StepCosts]:
    cost = cost_of(records)
    builds = [build for build in records if isinstance(build, Build)]
    executions: dict[Key, list[Execution]] = defaultdict(list)
    made = [record for record in records if isinstance(record, Execution)]
    for record in made:
        executions[key(record)].append(record)
    benchmarks = {record.benchmark for record in made}
    known = StepCosts(
        build=later_build(builds), start=None, iteration=None, warmup=None,
        other=cost.between / len(made) if cost.between is not None and made else None,
        setup=mean_of(build.setup for build in builds),
        first=mean_of(map(first_build, (build for build in builds if build.build == 0 and not build.cached))),
        probe=cost.before / len(benchmarks) if cost.before and benchmarks else None,
    )  # fmt: skip
    return {name: _costs(known, own) for name, own in executions.items()}


_OF_BATCHES = 0.01
"""The share of an execution's seconds below which the values of a suite cannot be all that it measured."""


def _costs(known: StepCosts, executions: Sequence[Execution]) -> StepCosts:
    starts, iterations, warmups = list[float](), list[float](), list[float]()
    for execution in executions:
        seconds = execution.seconds
        measured = max(execution.metrics.values(), key=lambda m: len(m.values), default=None)
        if seconds is None or measured is None or not measured.values:
            continue
        each = seconds / (len(measured.values) + len(measured.dropped))
        warmup, time = each * len(measured.dropped), execution.metrics.get("time")
        if time is not None and time.values and to_base(time.unit)[0] == "s":
            scale = to_base(time.unit)[1]
            own, dropped = sum(time.values) * scale, sum(time.dropped) * scale
            # the values of many suites are means over batches of calls, and take far longer than they say
            batches = execution.suite is not None and own + dropped < _OF_BATCHES * seconds
            if own > 0 and own + dropped <= seconds and not batches:
                starts.append(seconds - own - dropped)
                each, warmup = own / len(time.values), dropped
        iterations.append(each)
        warmups.append(warmup)
    return msgspec.structs.replace(
        known,
        start=mean_of(starts),
        iteration=mean_of(iterations),
        warmup=mean_of(warmups),
        execution=mean_of(execution.seconds for execution in executions),
    )
