"""The words of a creep check: what head is compared with, which nights are known, and who is suspected."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gate.model import Report
from gate.model.history import CreepCase, CreepFacts, Suspect
from gate.units import plural
from gate.writing import amounts
from gate.writing.plain import clip, visible

_SUBJECT = 72
_UNNAMED = (
    "There is no history of commits here that could name suspects. `perfgate history add RUN` keeps one from every "
    "check of a merge, at no cost in measuring"
)
_NOBODY = "The history of commits names no suspect: no measured merge between them stands out"


def line(report: Report) -> str:
    """Say that a report is that of a creep check, against what, and on how many nights it rests; "" where it is none.

    "against v1.2 1a2b3c4d5e, 14 commits before head; 21 nights against it are known on this machine; ...".
    """
    creep = report.creep
    if creep is None:
        return ""
    pin, name = creep.pin, visible(creep.pin.name)
    sha = "" if pin.sha.startswith(name) else f" {pin.sha[:10]}"
    ahead = "" if pin.commits is None else f", {plural(pin.commits, 'commit')} before head"
    nights = f"{plural(creep.nights, 'night')} against it {'is' if creep.nights == 1 else 'are'} known on this machine"
    lost = f" (earlier ones are not: {visible(creep.unused)})" if creep.unused else ""
    alarms = f"false alarms: at most {amounts.format_percent(creep.error)} in a year of nights"
    return f"against {name}{sha}{ahead}; {nights}{lost}; {alarms}"


def crept(creep: CreepFacts) -> list[CreepCase]:
    """Return the cases that crept, the largest change first."""
    found = [case for case in creep.cases if case.verdict == "crept"]
    return sorted(found, key=lambda case: -abs(math.log(case.ratio or 1.0)))


def suspected(creep: CreepFacts) -> str:
    """Say why no suspects are named; "" where they are, or none are asked for."""
    found = crept(creep)
    if not found or any(case.suspects for case in found):
        return ""
    return _NOBODY if creep.history else _UNNAMED


def suspect(one: Suspect) -> str:
    """Describe a suspect: "1a2b3c4d5e +1.2%, 40% of the change: Cache the parser's tables"."""
    return f"{visible(one.commit[:10])} {deed(one)}"


def deed(one: Suspect) -> str:
    """Say what a suspect did: "+1.2%, 40% of the change: Cache the parser's tables"."""
    size = amounts.changed(math.exp(one.log_ratio))
    accepted = ", accepted" if one.accepted else ""
    share = f"{one.share:.0%} of the change"
    return f"{size}, {share}{accepted}: {clip(visible(one.subject), _SUBJECT)}"


def suspects(creep: CreepFacts) -> list[tuple[CreepCase, Sequence[Suspect]]]:
    """Return the suspects of the cases that crept."""
    return [(case, case.suspects) for case in crept(creep) if case.suspects]
