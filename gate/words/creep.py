"""The words of a creep check: what head is compared with, and which nights are known."""

from __future__ import annotations

from gate.model import Report
from gate.units import plural
from gate.writing import amounts
from gate.writing.plain import visible


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
