"""Checks of a Config: contradictions between keys, and values that make no sense."""

from __future__ import annotations

from collections.abc import Iterator

from gate.config.benchmark_checks import check_benchmark
from gate.config.rules import show_of
from gate.config.source import Fault, Path, dotted
from gate.config.types import Builds, BuildTable, Config, Show
from gate.model.case import MEAN
from gate.units import DIMENSIONS, Quantity, Share, to_base


def _check_names_of_suites(config: Config) -> Iterator[Fault]:
    """Find a benchmark "suite/x" beside a suite "suite", whose own x would have the same name."""
    suites = [b.name for b in config.benchmark if b.measured.suite]
    for index, benchmark in enumerate(config.benchmark):
        owner = next((name for name in suites if benchmark.name.startswith(f"{name}/")), None)
        if owner is not None:
            why = f'"{benchmark.name}" could be one that the suite "{owner}" names: choose another name'
            yield Fault(("benchmark", index, "name"), why)


def _check_duet(config: Config) -> Iterator[Fault]:
    if config.plan.pairing == "duet" and any(each.prepare or each.cleanup for each in config.benchmark):
        yield Fault(("plan", "pairing"), 'a duet has no prepare and cleanup of each start: use "interleaved"')


def check(config: Config) -> Iterator[Fault]:
    """Find values that contradict each other or cannot be meant."""
    if config.gate.inconclusive == "fail":
        yield from _check_zero_thresholds(config)
    yield from _check_detectable(config)
    if config.gate.sessions == "fixed" and config.gate.interval != "auto":
        why = f'"fixed" has its own interval: remove gate.interval = "{config.gate.interval}"'
        yield Fault(("gate", "sessions"), why)
    yield from _check_units(config)
    if config.plan.metrics == []:
        yield Fault(("plan", "metrics"), 'names no metric, so nothing would be decided; write e.g. metrics = ["time"]')
    for name, value in config.env.set.items():
        if not name or "=" in name or "\0" in name + value:
            yield Fault(
                ("env", "set", name), "is not a name of an environment variable: it is empty, or holds = or NUL"
            )
    yield from _check_build(config.build)
    builds = config.plan.builds
    if isinstance(builds, Builds) and builds.max is not None and builds.min > builds.max:
        yield Fault(("plan", "builds"), f"min = {builds.min} is above max = {builds.max}")
    yield from _check_duet(config)
    if config.study is not None:
        # late: few configs have one
        from gate.config.study_checks import check_study
        from gate.config.treatments import baseline

        wrong = list(check_study(config.study, config))
        yield from wrong
        # what {factor} leaves of a command must be one too
        config = config if wrong else baseline(config)
    seen: dict[str, int] = {}
    for index, benchmark in enumerate(config.benchmark):
        path: Path = ("benchmark", index)
        first = seen.setdefault(benchmark.name, index)
        if first != index:
            taken = dotted(("benchmark", first))
            yield Fault((*path, "name"), f'"{benchmark.name}" is already the name of {taken}: choose another name')
        yield from check_benchmark(benchmark, path)
    yield from _check_names_of_suites(config)


def _check_detectable(config: Config) -> Iterator[Fault]:
    gate = config.gate
    of_metrics = [rules.threshold for b in config.benchmark for rules in b.metric.values()]
    # an override without a threshold may be meant for cases whose threshold another one, or their metric, sets
    every = [gate.threshold, *(each.threshold for each in config.override), *of_metrics]
    lowest = min(float(each) for each in every if each is not None)
    found: list[tuple[Path, Share | None, float]] = [
        (("gate",), gate.detectable, float(gate.threshold)),
        *(
            (("override", i), each.detectable, lowest if each.threshold is None else float(each.threshold))
            for i, each in enumerate(config.override)
        ),
    ]
    for path, size, threshold in found:
        if size is not None and size <= threshold:
            why = f"{size} is not above the threshold, so a change of this size could never show: write a larger one"
            yield Fault((*path, "detectable"), why)


def _check_build(build: BuildTable) -> Iterator[Fault]:
    if build.command in ("", []):
        yield Fault(("build", "command"), "is empty; leave the key out to build by checkout alone")
    for key in ("share", "overlay", "artifacts"):
        for item in getattr(build, key):
            if item.startswith("/") or ".." in item.split("/") or item.strip("./") == "":
                yield Fault(("build", key), f'"{item}" is not a path inside the project')
    for item in build.changes:
        # what several projects of a repository have in common may be above one of them
        if item.startswith("/") or item.strip("./") == "":
            yield Fault(("build", "changes"), f'"{item}" is not a path of a file or directory, relative to the project')


def _check_units(config: Config) -> Iterator[Fault]:
    # a floor in a unit that no metric has would apply to nothing, without a word
    rules = {(i, name): r for i, b in enumerate(config.benchmark) for name, r in b.metric.items()}
    declared = {to_base(r.unit)[0] for r in rules.values() if r.unit is not None}
    places: list[tuple[Path, Quantity | None]] = [(("gate", "floor"), config.gate.floor)]
    places += [(("override", i, "floor"), o.floor) for i, o in enumerate(config.override)]
    places += [(("benchmark", i, "metric", name, "floor"), r.floor) for (i, name), r in rules.items()]
    for path, floor in places:
        if floor is not None and floor.unit not in ("", *DIMENSIONS, *declared):
            why = f'"{floor.unit}" is not the unit of a metric: write a time, a size, a number, or the unit of a metric'
            yield Fault(path, why)


def _check_zero_thresholds(config: Config) -> Iterator[Fault]:
    # at threshold 0 nothing measured is ever "unchanged", so every report without a change would fail, unless no sign
    # of a change is enough
    gate = config.gate
    places: list[tuple[Path, float, Show | None]] = [(("gate", "inconclusive"), float(gate.threshold), gate.show)]
    for i, own in enumerate(config.override):
        key = "threshold" if own.threshold is not None else "show"
        threshold = gate.threshold if own.threshold is None else own.threshold
        if own.threshold is not None or own.show is not None:
            places.append((("override", i, key), float(threshold), own.show or gate.show))
    for i, benchmark in enumerate(config.benchmark):
        for name, rules in benchmark.metric.items():
            if rules.threshold is not None and not rules.exact:
                shown = show_of(config, benchmark.name, name, MEAN)
                places.append((("benchmark", i, "metric", name, "threshold"), float(rules.threshold), shown))
    why = 'inconclusive = "fail" needs a threshold above 0: with 0 nothing is ever "unchanged"; or show = "no-sign"'
    for place, wanted, show in places:
        if not wanted > 0 and show != "no-sign":
            yield Fault(place, why)
