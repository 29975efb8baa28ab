"""Counters and current values that the kernel reports."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Literal

from harness.host.fitness.cgroup import Throttling, throttling
from harness.host.fitness.kernel_files import CPUS, Tree, whole

Pressure = Literal["cpu", "memory", "io"]
PRESSURES: tuple[Pressure, ...] = ("cpu", "memory", "io")

# Of Raspberry Pi's firmware: https://www.raspberrypi.com/documentation/computers/os.html#get_throttled
FIRMWARE = "sys/devices/platform/soc/soc:firmware/get_throttled"


@dataclass(frozen=True, slots=True)
class Ticks:
    """The time of all processors since boot in clock ticks, proc_stat(5)."""

    total: int
    idle: int
    """With waiting for disks."""
    steal: int | None
    """What the hypervisor gave to others; None where the kernel does not count it."""
    processors: int


def ticks(tree: Tree) -> Ticks | None:
    """Read how the processors spent their time; None when that cannot be read."""
    text = tree.text("proc/stat") or ""
    first = re.match(r"cpu +(\d[\d ]*)$", text, flags=re.MULTILINE)
    # guest time is in user and nice already
    times = [int(word) for word in first[1].split()][:8] if first else []
    if len(times) < 5 or not any(times):
        return None
    processors = len(re.findall(r"^cpu\d", text, flags=re.MULTILINE))
    return Ticks(sum(times), times[3] + times[4], times[7] if len(times) > 7 else None, max(1, processors))


def pressure(tree: Tree, what: Pressure) -> dict[str, float]:
    """Read how long some program waited, from the line "some" of /proc/pressure (Documentation/accounting/psi.rst).

    avg10: percent of the last ten seconds; total: microseconds since boot. Empty where it cannot be read.
    """
    some = re.search(r"^some (.*)$", tree.text(f"proc/pressure/{what}") or "", flags=re.MULTILINE)
    return {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", some[1])} if some else {}


def throttles(tree: Tree) -> int | None:
    """Count how often processors were slowed down for their heat since boot; None where nothing counts it."""
    found = tree.texts(f"{CPUS}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    counts = [count for count in map(whole, found.values()) if count is not None]
    return sum(counts) if counts else None


def governors(tree: Tree) -> list[str]:
    """Return what decides the frequency of each processor; empty where that cannot be read."""
    return list(tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/scaling_governor").values())


def turbo(tree: Tree) -> bool | None:
    """Return whether processors may go beyond their nominal frequency; None where that cannot be read."""
    intel = tree.text(f"{CPUS}/intel_pstate/no_turbo")
    if intel in ("0", "1"):
        return intel == "0"
    boosts = {tree.text(f"{CPUS}/cpufreq/boost"), *tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/boost").values()}
    return "1" in boosts if boosts & {"0", "1"} else None


def load(tree: Tree) -> float | None:
    """Return the load average over a minute; None when it cannot be read."""
    words = (tree.text("proc/loadavg") or "").split()
    try:
        return float(words[0]) if words else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Process:
    """A process and the ticks that it has taken."""

    name: str
    started: str
    """Tells it from another that gets its id."""
    ticks: int


@dataclass(frozen=True, slots=True)
class Moment:
    """The counters at one time; what cannot be read is None or empty."""

    processes: dict[int, Process]
    own: int | None
    """The id of this process."""
    ticks: Ticks | None
    throttling: Throttling | None
    throttles: int | None
    vmstat: dict[str, int]


@dataclass(frozen=True, slots=True)
class Window:
    """Two moments."""

    begin: Moment
    end: Moment


def moment(tree: Tree) -> Moment:
    """Read the counters."""
    processes = {}
    for name in tree.found("proc/[0-9]*"):
        # it may have ended meanwhile
        parsed = _parsed(tree.text(f"{name}/stat"))
        if parsed is not None:
            processes[int(name.rpartition("/")[2])] = parsed
    own = (tree.text("proc/self/stat") or "").split(" ", 1)[0]
    return Moment(
        processes,
        int(own) if own.isdigit() else None,
        ticks(tree),
        throttling(tree),
        throttles(tree),
        tree.table("proc/vmstat"),
    )


def _parsed(stat: str | None) -> Process | None:
    # the name may hold spaces and brackets; the fields are counted after it, proc_pid_stat(5)
    name, bracket, rest = (stat or "").rpartition(")")
    fields = rest.split()
    if not bracket or len(fields) < 20:
        return None
    try:
        return Process(name.partition("(")[2], fields[19], int(fields[11]) + int(fields[12]))
    except ValueError:
        return None


def watch(tree: Tree, seconds: float) -> Window:
    """Watch the machine while this process computes.

    A machine that has nothing to do shows neither steal time nor a quota: a hypervisor takes nothing from who wants
    nothing.
    """
    begin = moment(tree)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return Window(begin, moment(tree))
