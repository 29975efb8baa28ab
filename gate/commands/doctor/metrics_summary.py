"""The variability of each metric of a command, its correlation with wall time, and advice, for a terminal.

NIST TN 1855 (screening), sections 3.4 to 3.8: elapsed times of different tools agree; CPU time, task-clock and cycles
tell one and the same thing, and not what a user waits for.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gate.document.terminal import Column, table
from gate.model import Sample
from gate.stats.levels import summarize
from gate.units import format_number, format_share, format_value
from gate.writing.plain import clip, visible, wrap

CPU = ("task-clock", "user+system")
_SPEED = ("time", *CPU, "cycles", "instructions")
"""Metrics that show how fast a program is; page faults, memory and the like do not, however steady they are."""
_LEAVES_OUT = {
    "task-clock": "CPU time: it leaves out waiting (disk, network, locks, sleep) and adds up threads",
    "user+system": "CPU time: it leaves out waiting (disk, network, locks, sleep) and adds up threads",
    "cycles": "CPU work at whatever frequency: it leaves out waiting and adds up threads",
    "instructions": "it leaves out how long an instruction takes: caches, branches, frequency, and all waiting",
    "time": "it includes all that a user waits for, and all that the machine does meanwhile",
}
_WAITS, _BUSY = 0.8, 1.2
_AS_GOOD = 1.25


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric by one instrument."""

    instrument: str
    metric: str
    unit: str
    values: tuple[tuple[float, ...], ...]
    """By execution, its iterations in order, in the base unit."""


@dataclass(frozen=True, slots=True)
class Row:
    """One metric, reduced."""

    instrument: str
    metric: str
    unit: str
    executions: int
    iterations: int
    mean: float
    between: float | None
    within: float | None
    """between and within: standard deviations over the mean (CV) of what executions add and of iterations inside them;
    None where nothing was repeated.
    """
    total: float | None
    """Of one value."""
    ratio: float | None
    """Of its mean to that of wall time, for clocks."""
    rank: float | None
    """Spearman's correlation with the wall time of the same iterations; None where the instrument has none, or nothing
    varies.
    """


def rows_of(measured: Sequence[Measured]) -> tuple[Row, ...]:
    """Reduce all metrics; the first wall time in the sequence is the one that other instruments' are compared with."""
    walls = {each.instrument: each for each in measured if each.metric == "time"}
    reference = next(iter(walls.values()), None)
    return tuple(_row(each, walls.get(each.instrument), reference) for each in measured)


def _row(measured: Measured, wall: Measured | None, reference: Measured | None) -> Row:
    mean, rank = _mean(measured), None
    beside = reference if measured.metric == "time" else wall
    wall_mean = _mean(beside) if beside is not None and beside is not measured else 0.0
    between, within, total = _spread(measured, mean)
    if wall is not None and wall is not measured:
        x, y = (_ranks([value for values in each.values for value in values]) for each in (measured, wall))
        if len(x) == len(y) >= 3 and x.std() and y.std():
            rank = float(np.corrcoef(x, y)[0, 1])
    return Row(
        measured.instrument, measured.metric, measured.unit, len(measured.values), max(map(len, measured.values)), mean,
        between, within, total, mean / wall_mean if measured.unit == "s" and wall_mean > 0 else None, rank,
    )  # fmt: skip


def _mean(measured: Measured) -> float:
    return float(np.mean([np.mean(values) for values in measured.values]))


def _spread(measured: Measured, mean: float) -> tuple[float | None, float | None, float | None]:
    """Return the CV between executions, within them, and of one value; None where nothing was repeated."""
    counts = np.array([len(values) for values in measured.values])
    if counts.sum() < 2 or not mean > 0:
        return None, None, None
    flat = np.array([value for values in measured.values for value in values])
    found = summarize(Sample(flat, (counts, np.array([len(counts)]), np.array([1])), ((0, 0),)))
    t2 = {each.level: max(each.t2, 0.0) for each in found.variances}
    if not (counts > 1).any():
        # one value an execution: the two cannot be separated
        spread = math.sqrt(float(flat.var(ddof=1))) / mean
        return spread, None, spread
    within = math.sqrt(t2.get("iteration", 0.0)) / mean
    between = math.sqrt(t2["execution"]) / mean if "execution" in t2 else None
    return between, within, math.hypot(within, between or 0.0)


def _ranks(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Rank values from 0, equal ones by the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: np.ndarray[tuple[int], np.dtype[np.float64]] = (last - (count + 1) / 2.0)[place]
    return ranks


def advice(rows: Sequence[Row]) -> list[str]:
    """Say which metric is least variable, what it leaves out, and whether the command waits or runs in parallel."""
    speed = [row for row in rows if row.metric in _SPEED and row.total is not None]
    lines = []
    least, wall = (
        min(rows, key=lambda row: row.total or 0.0, default=None)
        for rows in (speed, [row for row in speed if row.metric == "time"])
    )
    if least is not None and wall is not None:
        time, shares = (wall.total or 0.0), [format_share(row.total or 0.0) for row in (least, wall)]
        if time <= _AS_GOOD * (least.total or 0.0):
            steady = f"time ({wall.instrument}) varies as little as anything else, {shares[1]} a value"
            lines.append(f"Keep time: {steady}, and {_LEAVES_OUT['time']}.")
        else:
            steady = f"{least.metric} ({least.instrument}), {shares[0]} a value, against {shares[1]} of time"
            lines.append(f"Least variable: {steady}; but {_LEAVES_OUT[least.metric]}.")
    lines += _waiting({row.metric: row for row in reversed(rows) if row.metric in CPU})
    lines.append(
        "These are few values: outliers occur in every metric (NIST TN 1855, section 3.8). "
        "`perfgate plan` shows how much a gate needs to measure."
    )
    return lines


def _waiting(cpu: Mapping[str, Row]) -> list[str]:
    share = next((cpu[name].ratio for name in CPU if name in cpu and cpu[name].ratio is not None), None)
    if share is None:
        return []
    told = f"CPU time is {format_share(share)} of its time"
    if share < _WAITS:
        waits = "the rest is waiting for disk, network, locks or sleep, or for a processor on a busy machine"
        return [f"{told}; {waits}. CPU time, cycles and instructions do not see waiting: decide on time if it matters."]
    if share > _BUSY:
        busy = "it runs in parallel, and CPU time adds that up"
        return [f"{told}; {busy}. Only time shows a change in parallelism."]
    return [f"{told}: it computes nearly all the time."]


_HEAD = (
    Column("metric"),
    Column("instrument"),
    Column("n", right=True),
    Column("mean", right=True),
    Column("between", right=True),
    Column("within", right=True),
    Column("against time"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about a command."""

    command: tuple[str, ...]
    rows: tuple[Row, ...]
    versions: dict[str, str]
    absent: dict[str, str]
    """By instrument, why it measured nothing."""
    notes: dict[str, str]
    """By instrument."""


def render(found: Found, *, color: bool = False, width: int = 100) -> str:
    """Write a table of the metrics, what measured nothing and why, and advice; ends with a newline."""
    width = max(width, 40)
    lines = [clip(f"Metrics of {visible(shlex.join(found.command))}", width), ""]
    lines += table(_HEAD, [*map(_cells, found.rows)], width, style="1" if color else "")
    lines += [
        "",
        *wrap("n: executions x iterations; between, within: variation (CV) of executions and in them.", width),
    ]
    for name, why in (*found.absent.items(), *found.notes.items()):
        left_out = "not measured: " if name in found.absent else ""
        lines += ["", *wrap(f"{name}: {left_out}{visible(why)}", width, rest="  ")]
    for line in advice(found.rows):
        lines += ["", *wrap(line, width)]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    against = [f"{row.ratio:.3f} of it"] if row.ratio is not None else []
    against += [f"rank correlation {row.rank:.2f}"] if row.rank is not None else []
    whole = f"{row.mean:.0f}" if row.mean == round(row.mean) else format_number(row.mean)
    return [
        row.metric,
        row.instrument,
        f"{row.executions} x {row.iterations}",
        format_value(row.mean, row.unit) if row.unit else whole,
        *("-" if share is None else format_share(share) for share in (row.between, row.within)),
        ", ".join(against) or "-",
    ]
