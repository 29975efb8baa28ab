"""Lines that are no executions -> values: aggregates of tools, as builds or one a case; sizes and times of builds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gate.config.rules import better_of, matches
from gate.config.types import Config
from gate.evidence.lines import Located
from gate.model import SIDES, Better, Build, Case, Execution, LevelCounts, Metric, Side, SideSummary, SummaryRecord
from gate.model.case import MEAN, CaseId, canonical
from gate.model.directions import told_or_known
from gate.model.evidence import Aggregate
from gate.model.names import BUILD_TIME, COUNTS, SIZE
from gate.model.warnings.base import Said
from gate.writing.phrases import listed
from gate.writing.units import plural, to_base

# --- figures that are values ------------------------------------------------------------------------------------------

CENTRAL = (MEAN, "median", "p50", "value")
"""Statistics that stand for all values of a build, in the order in which the live instruments prefer them."""
_BESIDE_TIME = ("throughput", "user", "system")
"""The time once more, or a part of it: where a benchmark has a time, it alone is decided, as by the instruments."""

Figures = Mapping[CaseId, str]
"""By case, the statistic that is the value of a build."""


def figures_of(groups: Iterable[Sequence[Located]]) -> Figures:
    """Choose which aggregates are values: of each case the central one that most builds have.

    One figure of each of several builds shows how builds differ, which is all that their interval needs. A single one
    shows nothing, and stays an aggregate. So does a number without a unit, of which nobody knows whether more of it
    is better. Where some files have the values themselves, only a mean goes with them.

    groups: the lines of each side, or of each column.
    """
    builds: dict[CaseId, dict[str, set[object]]] = defaultdict(lambda: defaultdict(set))
    most: dict[CaseId, int] = defaultdict(int)
    sampled: set[CaseId] = set()
    for group in groups:
        own: dict[CaseId, set[object]] = defaultdict(set)
        for located in group:
            line = located.record
            if isinstance(line, Execution):
                factors, place = canonical(line.factors), (line.session, line.build)
                for name in line.metrics:
                    sampled.add(CaseId(line.benchmark, name, factors))
                    own[CaseId(line.benchmark, name, factors)].add(place)
            elif isinstance(line, SummaryRecord) and line.statistic in CENTRAL:
                key, place = _case(line), (line.session, line.build)
                builds[key][line.statistic].add((located.path, line.side, place))
                own[key].add(place)
        for key, places in own.items():
            most[key] = max(most[key], len(places))
    timed = {(key.benchmark, key.factors) for key in (*sampled, *builds) if key.metric == "time"}
    found: dict[CaseId, str] = {}
    for key, by_statistic in builds.items():
        beside = key.metric in _BESIDE_TIME and (key.benchmark, key.factors) in timed
        usable = [s for s in CENTRAL if s in by_statistic and (s == MEAN or key not in sampled)]
        if usable and most[key] > 1 and not beside:
            # of equals the first, which is preferred
            found[key] = max(usable, key=lambda statistic: len(by_statistic[statistic]))
    return found


def with_figures(records: Sequence[Located], figures: Figures) -> list[Located]:
    """Make aggregates that are values executions of one value, but for builds that have the values behind them."""
    if not figures:
        return list(records)
    sampled = {
        (CaseId(e.benchmark, name, canonical(e.factors)), e.side, e.session, e.build)
        for e in (located.record for located in records)
        if isinstance(e, Execution)
        for name in e.metrics
    }

    def is_value(line: SummaryRecord) -> bool:
        key = _case(line)
        return figures.get(key) == line.statistic and (key, line.side, line.session, line.build) not in sampled

    found: list[Located] = []
    for located in records:
        line = located.record
        if isinstance(line, SummaryRecord) and is_value(line):
            # a mean is no count, whatever it is of
            exact = to_base(line.unit)[0] in COUNTS and line.statistic == "value"
            metric = Metric(unit=line.unit, better=line.better, values=[line.value], exact=exact, step=line.step)
            execution = Execution(
                benchmark=line.benchmark, side=line.side, session=line.session, build=line.build,
                execution=line.execution, factors=line.factors, metrics={line.metric: metric}, labels=line.labels,
            )  # fmt: skip
            located = Located(execution, located.path, located.line)
        found.append(located)
    return found


def figure_warnings(figures: Figures) -> list[Said]:
    """Say which metrics have figures of the tool for values."""
    metrics: dict[str, dict[str, None]] = defaultdict(dict)
    for key, statistic in figures.items():
        metrics[statistic][key.metric] = None
    told = []
    for statistic, names in metrics.items():
        # the tool may not say what they are
        figure = "figure" if statistic == "value" else statistic
        text = f"{listed([*names])}: each value is the {figure} that the tool gives for a build, not one measured time"
        told.append(Said(text, "figures-of-tool"))
    return told


def _case(line: SummaryRecord) -> CaseId:
    return CaseId(line.benchmark, line.metric, canonical(line.factors))


# --- the others -------------------------------------------------------------------------------------------------------


def aggregates(lines: Sequence[SummaryRecord], config: Config) -> list[Aggregate]:
    """Bring the sides together; where they differ in unit or direction, each stands alone."""
    found: dict[tuple[str, str, str, str, str, Better | None], dict[Side, list[SummaryRecord]]]
    found = defaultdict(lambda: {side: [] for side in SIDES})
    for line in lines:
        unit, _ = to_base(line.unit)
        better = better_of(config, line.benchmark, line.metric) or told_or_known(line.better, line.metric, unit)
        key = line.benchmark, line.metric, line.statistic, canonical(line.factors), unit, better
        found[key][line.side].append(line)
    return [
        Aggregate(
            benchmark=benchmark, metric=metric, statistic=statistic,
            factors=[*sides["base"], *sides["head"]][0].factors, unit=unit, better=better,
            base=side_of(sides["base"]) if sides["base"] else None,
            head=side_of(sides["head"]) if sides["head"] else None,
        )
        for (benchmark, metric, statistic, _, unit, better), sides in found.items()
    ]  # fmt: skip


def side_of(lines: Sequence[SummaryRecord]) -> SideSummary:
    """Sum the aggregates of one side up: the mean of its builds'; limits where there is one."""
    scale = to_base(lines[0].unit)[1]
    low, high = (None if len(lines) > 1 or limit is None else limit * scale for limit in (lines[0].low, lines[0].high))
    counts = LevelCounts(
        session=1, build=len({(line.session, line.build) for line in lines}), execution=len(lines),
        iteration=sum(line.count or 0 for line in lines),
    )  # fmt: skip
    value = math.fsum(line.value * to_base(line.unit)[1] for line in lines) / len(lines)
    return SideSummary(value=value, low=low, high=high, counts=counts)


# --- builds: the bytes of each artifact, and how long building took ---------------------------------------------------


BENCHMARK = "build"
"""What the time of builds is of; a size is of its artifact."""


def of_builds(builds: Sequence[Build], config: Config, measured: Config) -> list[Execution]:
    """Return the sizes that are asked for, and the time of full builds.

    measured: the config of the run, where it is known. Without a build command a build is a checkout, without a time.
    """
    sized = any(matches(glob, SIZE) for glob in config.plan.metrics or ())
    full = [build for build in builds if build.seconds and not (build.relinked or build.cached)]
    if measured.build.command is None:
        full = []
    found = [
        _one(build, path, SIZE, Metric(unit="B", better="lower", values=[float(size)]))
        for build in builds if sized
        for path, size in build.sizes.items()
    ]  # fmt: skip
    found += [
        _one(build, BENCHMARK, BUILD_TIME, Metric(unit="s", better="lower", values=[build.seconds or 0.0]))
        # where one side's first build was kept, only the other side's time is known
        for build in full if {each.side for each in full if each.session == build.session} == set(SIDES)
    ]  # fmt: skip
    return found


def _one(build: Build, benchmark: str, metric: str, value: Metric) -> Execution:
    return Execution(
        benchmark=benchmark, side=build.side, session=build.session, build=build.build, execution=0,
        factors=build.factors, metrics={metric: value},
    )  # fmt: skip


def decided_by_name(config: Config) -> Config:
    """Return rules by which a metric of builds is decided only where plan.metrics names it."""
    # with a name that no metric has, a list is never of builds alone, which would leave the rest to the default
    plan = msgspec.structs.replace(config.plan, metrics=[*(config.plan.metrics or ()), ""])
    # artifacts have names of their own, which may be those of benchmarks
    own = [msgspec.structs.replace(each, metrics=None) for each in config.benchmark]
    return msgspec.structs.replace(config, plan=plan, benchmark=own)


def known_of_builds(case: Case, builds: Sequence[Build]) -> Case:
    """Say what is known of a case of builds: bytes are counted; of build time, that later builds only link."""
    if case.metric == SIZE:
        return msgspec.structs.replace(case, exact=True)
    linked = sum(build.relinked for build in builds)
    if not linked or not case.decided:
        return case
    only = f"{linked} of {plural(len(builds), 'build')} only linked again and do not count"
    told = Said(f'{only}: build.relink = "off" times every build', "linked-builds")
    return msgspec.structs.replace(case, warnings=[*case.warnings, told])


def absent_of_builds(cases: Sequence[Case], config: Config) -> list[Said]:
    """Name what plan.metrics asks of builds, and nothing has: it would look like passing."""
    names = {case.metric for case in cases}
    absent = {
        SIZE: "no built file of both sides is known: name it in [build] artifacts",
        BUILD_TIME: "no build of both sides ran the build command from the start",
    }
    return [
        Said(f"plan.metrics names {name}, and {why}", "none-of-builds", "first")
        for name, why in absent.items()
        if name in (config.plan.metrics or ()) and name not in names
    ]
