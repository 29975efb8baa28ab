"""How the builds of a side were made, in words."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from gate.model import Build, Side
from gate.model.records import FullBuilds
from gate.units import format_duration, plural
from gate.writing.plain import clip, visible

_PATH = 80

_WHY = {
    "off": 'relink = "off" under [build]',
    "unperturbed": '"link-order" is not in [build] perturb',
    "seed-used": "{path} uses PERFGATE_SEED or PERFGATE_BUILD",
    "no-link": "perfgate saw no link of a program in it",
    "not-linked": "{path} is not what a linker wrote (a later step changed it, or another tool made it)",
    "unsound": "linking {path} again with the same seed gave other bytes",
    "outside": "it links {path}, which is outside the tree",
    "go": "Go links by itself",
    "failed": "linking {path} again failed",
}


def say_builds(side: Side, builds: Sequence[Build]) -> str:
    """Say whether a side's later builds linked again what its first one has compiled, or why not; "": unknown."""
    again = [build.seconds for build in builds if build.relinked and build.seconds is not None]
    whole = [build.seconds for build in builds if not build.relinked and build.seconds is not None]
    why = next((build.full for build in builds if build.full is not None), None)
    parts = []
    if again:
        instead = f" instead of {format_duration(statistics.median(whole))}" if whole else ""
        took = format_duration(statistics.median(again))
        parts.append(f"{plural(len(again), 'build')} linked again what the first one had compiled: {took}{instead}")
    if why is not None and say_why(why):
        parts.append(f"every {'later ' if again else ''}build ran the build command, because {say_why(why)}")
    return f"{side}: {'; '.join(parts)}" if parts else ""


def say_why(full: FullBuilds) -> str:
    """Say why a build is a full one."""
    path = clip(visible(full.path), _PATH) or ("the build command" if full.kind == "seed-used" else "a program")
    return _WHY.get(full.kind, "").format(path=path)
