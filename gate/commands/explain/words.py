"""What perfgate explain says beside the explanations themselves."""

from __future__ import annotations

from collections.abc import Sequence

from gate.model import Report
from gate.units import format_duration, plural
from gate.writing.phrases import listed
from gate.writing.plain import visible

NOTHING = (
    "Nothing regressed, so there is nothing to explain. `perfgate explain --benchmark NAME` profiles a benchmark "
    "all the same"
)


def cost(names: Sequence[str], report: Report, limit: float) -> str:
    """Say what profiling now takes, before it begins."""
    seconds = [build.seconds for build in report.run.builds if build.build == 0 and build.seconds is not None]
    building = f"builds base and head again (about {format_duration(sum(seconds))})" if seconds else "builds both again"
    what = plural(len(names), "benchmark")
    return (
        f"no profile yet of {listed([visible(name) for name in names])}: {building} and executes {what} of each side "
        f"under a profiler (at most {format_duration(limit)} in all)"
    )


def written(folder: str) -> str:
    """Say where the profiles are now."""
    return f"the profiles are in {visible(folder)}; the same command shows them again without profiling"


def not_a_folder(path: str) -> str:
    """Say that profiles need a place to be kept."""
    return (
        f"{path}: has no profiles, and only a run's folder can get some: `perfgate explain .perfgate` in the project, "
        "or `gate.explain = true` for the job that measures"
    )
