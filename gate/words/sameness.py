"""Sentences about builds: which benchmarks are the same on both, why others may differ, and how they were made."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from gate.evidence.sameness import unproved
from gate.model import Build, Identical, Report, Side, Unproved
from gate.model.reasons import SameProgram
from gate.model.records import WhyNotRelinked
from gate.model.sameness import MOST_NAMED
from gate.writing.plain import clip, visible
from gate.writing.units import agree, format_duration, plural

_PATH = 100
# --- of a report ------------------------------------------------------------------------------------------------------


def benchmarks(report: Report) -> list[Identical]:
    """Return one finding of each identical benchmark."""
    return list({each.benchmark: each for each in reversed(report.identical)}.values())[::-1]


def too_long(report: Report) -> str:
    """Say which benchmarks had no time for a proof, no full stop; "": none."""
    long = [(name, why) for name, why in unproved(report.run.states).items() if why.kind == "too-long"]
    if not long:
        return ""
    (name, why), more = long[0], len(long) - 1
    others = f" ({plural(more, 'more benchmark')} likewise)" if more else ""
    return f"{clip(visible(name), _PATH)} could not be proved unaffected: {why.sentence()}{others}"


def heading(report: Report) -> str:
    """Say what is proved, no full stop."""
    proved = len(benchmarks(report))
    said = f"{plural(proved, 'benchmark')} {agree(proved, 'runs', 'run')} {SameProgram.same} on both sides"
    return f"{said}, so {agree(proved, 'it was', 'they were')} not measured"


def proof(report: Report) -> list[str]:
    """Say what differs between the sides and that none of it was opened, in sentences without a full stop."""
    found = benchmarks(report)
    if not found:
        return []
    # of several machines each has a proof; the one with most is told
    most = max((each.identical for each in found), key=lambda own: own.differ_count)
    if not most.differ_count:
        return ["No file differs between base and head"]
    shown = [clip(visible(path), _PATH) for path in most.differ[:MOST_NAMED]]
    more = most.differ_count - most.made_count - len(shown)
    names = ", ".join(shown) + (f" and {more:,} more" if shown and more > 0 else "")
    said = f"{plural(most.differ_count, 'path')} {agree(most.differ_count, 'differs', 'differ')} between base and head"
    made = f"{most.made_count:,} made by the builds" if most.made_count else ""
    names = ", and ".join(part for part in (names, made) if part)
    read = f"These benchmarks read none of {agree(most.differ_count, 'it', 'them')}"
    return [f"{said}{f': {names}' if names else ''}", read]


def each(report: Report) -> list[tuple[str, str]]:
    """Give each identical benchmark with how much it read: "120 paths read"."""
    return [(visible(own.benchmark), f"{plural(own.identical.read_count, 'path')} read") for own in benchmarks(report)]


def doubts(report: Report) -> list[tuple[str, str]]:
    """Give each benchmark that was measured with the reason why it was."""
    proved = {own.benchmark for own in report.identical}
    found = unproved(report.run.states).items()
    return [(visible(name), because(why)) for name, why in found if name not in proved]


def because(why: Unproved) -> str:
    """Say why a benchmark may differ, no full stop: "src/parse.c, which it opens or looks at, differs"."""
    return clip(visible(why.sentence()), 3 * _PATH)


# --- how builds were made ---------------------------------------------------------------------------------------------

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


def say_why(full: WhyNotRelinked) -> str:
    """Say why a build is a full one."""
    path = clip(visible(full.path), 80) or ("the build command" if full.kind == "seed-used" else "a program")
    return _WHY.get(full.kind, "").format(path=path)
