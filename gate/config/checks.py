"""Checks of a Config: contradictions between keys, and values that make no sense."""

from __future__ import annotations

from gate.config.benchmark_checks import check_benchmark
from gate.config.source import Path, Source, dotted
from gate.config.types import Builds, BuildTable, Config
from gate.units import DIMENSIONS, Quantity, to_base


def refuse_names_of_suites(config: Config, source: Source) -> None:
    """Refuse a benchmark "suite/x" beside a suite "suite", whose own x would have the same name.

    Raises:
        ConfigError: naming the place in the source.
    """
    suites = [b.name for b in config.benchmark if b.measured.suite]
    for index, benchmark in enumerate(config.benchmark):
        owner = next((name for name in suites if benchmark.name.startswith(f"{name}/")), None)
        if owner is not None:
            why = f'"{benchmark.name}" could be one that the suite "{owner}" names: choose another name'
            raise source.error(("benchmark", index, "name"), why)


def check(config: Config, source: Source) -> None:
    """Refuse a config whose values contradict each other or cannot be meant.

    Raises:
        ConfigError: naming the place in the source.
    """
    if config.gate.inconclusive == "fail":
        _refuse_zero_thresholds(config, source)
    if config.gate.sessions == "fixed" and config.gate.interval != "auto":
        why = f'"fixed" has its own interval: remove gate.interval = "{config.gate.interval}"'
        raise source.error(("gate", "sessions"), why)
    _refuse_unknown_units(config, source)
    if config.plan.metrics == []:
        raise source.error(("plan", "metrics"), "names no metric, so nothing would be decided")
    for name, value in config.env.set.items():
        if not name or "=" in name or "\0" in name + value:
            raise source.error(
                ("env", "set", name), "is not a name of an environment variable: it is empty, or holds = or NUL"
            )
    _check_build(config.build, source)
    _check_plan(config, source)
    if config.study is not None:
        # late: few configs have one
        from gate.config.study_checks import check_study
        from gate.config.treatments import baseline

        check_study(config.study, config, source)
        # what {factor} leaves of a command must be one too
        config = baseline(config)
    seen: dict[str, int] = {}
    for index, benchmark in enumerate(config.benchmark):
        path: Path = ("benchmark", index)
        if benchmark.name in seen:
            first = dotted(("benchmark", seen[benchmark.name]))
            raise source.error((*path, "name"), f'"{benchmark.name}" is already the name of {first}')
        seen[benchmark.name] = index
        check_benchmark(benchmark, path, source)
    refuse_names_of_suites(config, source)


def _check_build(build: BuildTable, source: Source) -> None:
    if build.command in ("", []):
        raise source.error(("build", "command"), "is empty; leave the key out to build by checkout alone")
    for key in ("share", "overlay", "artifacts"):
        for item in getattr(build, key):
            if item.startswith("/") or ".." in item.split("/") or item.strip("./") == "":
                raise source.error(("build", key), f'"{item}" is not a path inside the project')


def _check_plan(config: Config, source: Source) -> None:
    builds = config.plan.builds
    if isinstance(builds, Builds) and builds.min > builds.max:
        raise source.error(("plan", "builds"), f"min = {builds.min} is above max = {builds.max}")


def _refuse_unknown_units(config: Config, source: Source) -> None:
    # a floor in a unit that no metric has would apply to nothing, without a word
    rules = {(i, name): r for i, b in enumerate(config.benchmark) for name, r in b.metric.items()}
    declared = {to_base(r.unit)[0] for r in rules.values() if r.unit is not None}
    places: list[tuple[Path, Quantity | None]] = [(("gate", "floor"), config.gate.floor)]
    places += [(("override", i, "floor"), o.floor) for i, o in enumerate(config.override)]
    places += [(("benchmark", i, "metric", name, "floor"), r.floor) for (i, name), r in rules.items()]
    for path, floor in places:
        if floor is not None and floor.unit not in ("", *DIMENSIONS, *declared):
            why = f'"{floor.unit}" is not the unit of a metric: write a time, a size, a number, or the unit of a metric'
            raise source.error(path, why)


def _refuse_zero_thresholds(config: Config, source: Source) -> None:
    # at threshold 0 nothing measured is ever "unchanged", so every report without a change would fail
    places: list[tuple[Path, float | None]] = [(("gate", "inconclusive"), config.gate.threshold)]
    places += [(("override", i, "threshold"), o.threshold) for i, o in enumerate(config.override)]
    places += [
        (("benchmark", i, "metric", name, "threshold"), rules.threshold)
        for i, benchmark in enumerate(config.benchmark)
        for name, rules in benchmark.metric.items()
        if not rules.exact
    ]
    for path, threshold in places:
        if threshold is not None and not threshold > 0:
            raise source.error(
                path, 'inconclusive = "fail" needs a threshold above 0: with 0 nothing is ever "unchanged"'
            )
