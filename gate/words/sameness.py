"""Sentences about benchmarks that are the same on both sides, and about why others may differ."""

from __future__ import annotations

from gate.evidence.sameness import unproved
from gate.model import Identical, Report, Unproved
from gate.model.reasons import SameProgram
from gate.model.sameness import MOST_NAMED
from gate.units import agree, plural
from gate.writing.plain import clip, visible

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
