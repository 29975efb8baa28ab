"""Build lines -> what builds are measured by, as executions: the bytes of each artifact, and how long building took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from gate.config.rules import matches
from gate.config.types import Config
from gate.model import SIDES, Build, Case, Execution, Metric
from gate.model.names import BUILD_TIME, SIZE
from gate.model.warnings.measured import LinkedBuilds, NoneOfBuilds

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


def known(case: Case, builds: Sequence[Build]) -> Case:
    """Say what is known of a case of builds: bytes are counted; of build time, that later builds only link."""
    if case.metric == SIZE:
        return msgspec.structs.replace(case, exact=True)
    linked = sum(build.relinked for build in builds)
    told = [LinkedBuilds(linked, len(builds))] if linked and case.decided else []
    return msgspec.structs.replace(case, warnings=[*case.warnings, *told])


def absent(cases: Sequence[Case], config: Config) -> list[NoneOfBuilds]:
    """Name what plan.metrics asks of builds, and nothing has: it would look like passing."""
    names = {case.metric for case in cases}
    asked: tuple[Literal["size", "build-time"], ...] = (SIZE, BUILD_TIME)
    return [NoneOfBuilds(name) for name in asked if name in (config.plan.metrics or ()) and name not in names]
