"""The output of `perf stat -x ';'` -> the counters of one process start."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from gate.formats.parts.output import OutputError, refuse_cut_off, shown

SEPARATOR = ";"
"""Not the comma, which is the decimal point of many languages, and perf writes numbers in the user's."""
EVENTS = {
    "duration_time": "time", "task-clock": "task-clock", "cycles": "cycles", "instructions": "instructions",
    "page-faults": "page-faults", "context-switches": "context-switches",
}  # fmt: skip
"""The metric of each event that is asked for; time and task-clock in seconds, the others are counts."""
_SCALES = {"ns": 1e-9, "nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0, "s": 1.0, "": 1.0}
# cycles, cycles:u, and on processors with two kinds of cores cpu_core/cycles/ and cpu_atom/cycles/u
_EVENT = re.compile(r"(?:[\w.-]+/)?([\w-]+)(?:/|(?=:)|\Z):?([a-zA-Z]*)/?")
_VALUE, _UNIT, _NAME, _RAN, _SHARE = 0, 1, 2, 3, 4
_SHOWN_MS = 0.006


@dataclass(frozen=True, slots=True)
class Counted:
    """What perf counted."""

    values: dict[str, float]
    """By metric, in base units."""
    absent: dict[str, str]
    """By metric, perf's own word for why there is no value ("not supported", "not counted")."""
    user_only: frozenset[str]
    """Metrics that leave out the kernel."""
    shared: dict[str, float]
    """Metrics whose counter ran only part of the time, and the least share of it: perf has scaled them up."""


def parse(text: str) -> Counted:
    """Read the output of one `perf stat -x ';'`; rows of one event (kinds of cores) are added up.

    Raises: OutputError: a row is not as expected, or cut off.
    """
    rows: dict[str, list[tuple[float, float]]] = {}
    absent: dict[str, str] = {}
    user_only: set[str] = set()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split(SEPARATOR)
        match = _EVENT.fullmatch(cells[_NAME]) if len(cells) > _SHARE else None
        if match is None:
            raise OutputError(f"perf stat's output is not as expected: {shown(SEPARATOR.join(cells).encode())}")
        metric, modifier = EVENTS.get(match[1]), match[2]
        if metric is None:
            continue
        if cells[_VALUE].startswith("<"):
            absent[metric] = cells[_VALUE].strip("<>")
            continue
        value, nanoseconds = _number(cells[_VALUE], line), _number(cells[_RAN], line)
        # a clock is shown in ms with two digits; how long its counter ran is the same in full
        is_rounded = cells[_UNIT] == "msec" and abs(nanoseconds / 1e6 - value) < _SHOWN_MS
        value = nanoseconds * 1e-9 if is_rounded else value * _SCALES.get(cells[_UNIT], 1.0)
        rows.setdefault(metric, []).append((value, _number(cells[_SHARE], line) / 100))
        if "u" in modifier:
            user_only.add(metric)
    refuse_cut_off(text.encode(), "perf stat's output")
    return Counted(
        # each kind of core counts only while the program is on it, and perf scales that up to the whole time
        values={
            metric: each[0][0] if len(each) == 1 else sum(value * share for value, share in each)
            for metric, each in rows.items()
        },
        # one kind of core may have run nothing of the program
        absent={metric: why for metric, why in absent.items() if metric not in rows},
        user_only=frozenset(user_only),
        shared={metric: each[0][1] for metric, each in rows.items() if len(each) == 1 and each[0][1] < 1},
    )


def _number(cell: str, line: str) -> float:
    try:
        number = float(cell.replace(",", "."))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise OutputError(f"perf stat's output is not as expected: {shown(line.encode())}")
    return number
