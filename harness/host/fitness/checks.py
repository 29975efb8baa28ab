"""A check: one fact about the machine, why it matters to a measurement; and the checks of its load.

Load is other processes, other machines on the same hardware, waiting and quotas.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from gate.writing.units import plural
from harness.host.fitness.counters import MachineFiles, Pressure, Window, load, pressure, quota, watch

State = Literal["ok", "warn", "bad", "unknown"]
"""bad: values measured now would mislead; warn: they are noisier than they need be; unknown: it cannot be read."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found."""

    name: str
    state: State
    value: str
    """What was found."""
    why: str
    """One sentence, why it matters to a measurement."""
    command: str | None = None
    """What changes it, for a shell; None where no command does, or nothing needs changing."""


def ok(value: str) -> Check:
    """Find nothing to be changed; as `warn`, without the name and the reason that every check of its kind has."""
    return Check("", "ok", value, "")


def warn(value: str, command: str | None = None) -> Check:
    """Find what makes values noisier than they need be."""
    return Check("", "warn", value, "", command)


def bad(value: str, command: str | None = None, why: str = "") -> Check:
    """Find what makes values mislead; why: another reason than that of its kind."""
    return Check("", "bad", value, why, command)


def unknown(value: str = "this system does not show it") -> Check:
    """Find that something cannot be known here, which is never ok."""
    return Check("", "unknown", value, "")


@dataclass(frozen=True)
class Here:
    """What checks look at: a machine's files, and what happens while it is watched."""

    files: MachineFiles
    seconds: float

    @cached_property
    def window(self) -> Window:
        """Watch the machine for so many seconds, once for all checks that ask."""
        return watch(self.files, self.seconds)


class Checks(dict[str, Callable[[Here], Check]]):
    """The checks of a module, by name."""

    def __call__(self, name: str, why: str) -> Callable[[Callable[[Here], Check | None]], None]:
        """Add one: what it looks for, and why that matters; it finds None where the system does not show it."""

        def add(look: Callable[[Here], Check | None]) -> None:
            def looked(here: Here) -> Check:
                try:
                    found = look(here) or unknown()
                except Exception as error:  # noqa: BLE001  # files that nobody foresaw are unknown, never ok, never the end
                    failed = "This check failed; please report it."
                    return Check(name, "unknown", f"{type(error).__name__}: {error}", failed)
                return replace(found, name=name, why=found.why or why)

            self[name] = looked

        return add


CHECKS = Checks()
WAITS = frozenset({"load", "other processes", "cpu pressure"})
"""Checks of what makes a program wait for a processor: active time leaves that out, wall time has it."""
LOAD_WARN = 0.5
"""Load over a minute for each processor."""
LOAD_BAD = 1.0
"""As many programs that want to run as processors: the one that is measured waits (Grafana Sift: 100%)."""
BUSY_WARN = 0.10
"""Share of all processors' time that others took while they were watched."""
BUSY_BAD = 0.50
"""From here on a program with two threads waits on most machines."""
BUSY_PROCESS = 0.25
"""Share of one processor from which a single process is named."""
STILL_BUSY = 0.25
"""Share of all processors' time; below it a high load or pressure is one of the past: averages over ten seconds and a
minute stay high after a build has ended."""
STEAL_WARN = 0.01
"""Share of the time that programs wanted: a third of the smallest threshold that gates usually have."""
STEAL_BAD = 0.10
"""The alerts HostCpuStealNoisyNeighbor of awesome-prometheus-alerts and 20min_steal_cpu of Netdata."""
STEAL_TICKS = 3
"""Fewer stolen ticks are chance in a window of half a second."""
PRESSURE_WARN: dict[Pressure, float] = {"cpu": 10.0, "memory": 1.0, "io": 10.0}
"""Percent of ten seconds in which some program waited. Waiting for a processor or a disk may be another program's
affair, waiting for memory reaches whatever runs."""
PRESSURE_BAD: dict[Pressure, float] = {"cpu": 50.0, "memory": 10.0}
"""Not of disks: ten seconds after a build they still show it, and nothing tells whether it goes on."""
THROTTLED_WARN = 0.01
"""Share of all periods since the control group began."""


@CHECKS("load", "All processors are busy: none is left for the measured program.")
def _average(here: Here) -> Check | None:
    # of the last minute; bad only while others are still busy
    now, ticks = load(here.files), here.window[1].ticks
    if now is None or ticks is None:
        return None
    value = f"{now:.2f} on {plural(ticks.processors, 'processor')}"
    each = now / ticks.processors
    if each < LOAD_WARN:
        return ok(value)
    busy = _others(here.window)
    return bad(value) if each >= LOAD_BAD and (busy is None or busy >= STILL_BUSY) else warn(value)


def _others(window: Window) -> float | None:
    """Return the share of all processors' time that other processes took; None when that cannot be told."""
    begin, end = (each.ticks for each in window)
    if begin is None or end is None or end.total <= begin.total:
        return None
    total = end.total - begin.total
    stolen = (end.steal or 0) - (begin.steal or 0)
    busy = total - (end.idle - begin.idle) - stolen - _taken(window).get(window[1].own or 0, 0)
    return min(1.0, max(0.0, busy / total))


def _taken(window: Window) -> dict[int, int]:
    """Return the ticks that each process took while it was watched."""
    before, after = (each.processes for each in window)
    taken = {}
    for pid, process in after.items():
        was = before.get(pid)
        same = was is not None and was.started == process.started
        taken[pid] = process.ticks - (was.ticks if was is not None and same else 0)
    return taken


@CHECKS(
    "other processes",
    "Other programs take processors, caches and memory bandwidth from the measured one. Active time leaves out its "
    "waits for a processor: `perfgate try` shows which commands it decides.",
)
def _processes(here: Here) -> Check | None:
    begin, end = here.window
    share, ticks, first = _others(here.window), end.ticks, begin.ticks
    if share is None or ticks is None or first is None:
        return None
    taken = _taken(here.window)
    taken.pop(end.own or 0, None)
    most = max(taken, key=lambda pid: taken[pid], default=None)
    one = taken[most] * ticks.processors / (ticks.total - first.total) if most is not None else 0.0
    value = f"used {share:.0%} of the CPU time"
    if most is not None and one >= BUSY_PROCESS:
        value += f"; most of it {end.processes[most].name} (process {most}): {one:.0%} of a processor"
    state: State = "bad" if share >= BUSY_BAD else "warn" if share >= BUSY_WARN or one >= BUSY_PROCESS else "ok"
    return Check("", state, value, "")


@CHECKS("steal time", "While the hypervisor runs another machine, this one pauses but its clock does not.")
def _steal(here: Here) -> Check | None:
    begin, end = (each.ticks for each in here.window)
    if begin is None or end is None or begin.steal is None or end.steal is None or end.total <= begin.total:
        return None
    stolen = end.steal - begin.steal
    wanted = end.total - begin.total - (end.idle - begin.idle)
    now = stolen / wanted if wanted > 0 else 0.0
    ever = end.steal / (end.total - end.idle) if end.total > end.idle else 0.0
    value = f"{now:.1%} of the time that programs wanted now, {ever:.1%} since boot"
    if now >= STEAL_BAD and stolen >= STEAL_TICKS:
        return bad(value)
    return warn(value) if max(now, ever) >= STEAL_WARN else ok(value)


def _waiting(here: Here, what: Pressure) -> Check | None:
    """Look how long programs waited for something in the last ten seconds; for processors bad only while others run."""
    share = pressure(here.files, what).get("avg10")
    if share is None:
        return None
    value = f"some program waited {share:.1f}% of the last 10 s"
    busy = _others(here.window)
    past = what == "cpu" and busy is not None and busy < STILL_BUSY
    if share >= PRESSURE_BAD.get(what, math.inf) and not past:
        return bad(value)
    return warn(value) if share >= PRESSURE_WARN[what] else ok(value)


CHECKS("cpu pressure", "Programs wait for a processor. The wait is part of wall time, not of active time.")(
    lambda here: _waiting(here, "cpu")
)
CHECKS("memory pressure", "Programs wait for memory: the kernel takes pages from one to give them to another.")(
    lambda here: _waiting(here, "memory")
)
CHECKS("io pressure", "Programs wait for disks, which they share with others.")(lambda here: _waiting(here, "io"))


@CHECKS("cpu quota", "A program that has used up its quota pauses until the next period, usually 100 ms.")
def _limit(here: Here) -> Check | None:
    try:
        allowed = quota(here.files)
    except LookupError:
        return None
    if allowed is None:
        return ok("none")
    value = f"{allowed:.2f} processors"
    begin, end = (each.throttling for each in here.window)
    if begin is None or end is None:
        return warn(value)
    stopped = end.throttled - begin.throttled
    if stopped > 0:
        return bad(f"{value}, throttled {stopped} times while one thread ran")
    if end.periods and end.throttled / end.periods >= THROTTLED_WARN:
        value += f", throttled {end.throttled} times before ({end.throttled / end.periods:.0%} of the periods)"
    return warn(value)
