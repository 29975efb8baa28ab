"""Counters and current values that the kernel reports, as checks and measurements.jsonl have them."""

import datetime
import re
import time
from dataclasses import dataclass
from typing import Any, Literal

from harness.host.facts import pseudonym
from harness.host.fitness.kernel_files import CPUS, Throttling, Tree, throttling, whole

Pressure = Literal["cpu", "memory", "io"]
PRESSURES: tuple[Pressure, ...] = ("cpu", "memory", "io")


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


Window = tuple[Moment, Moment]
"""Its begin and its end."""


def moment(tree: Tree) -> Moment:
    """Read the counters; of processes as proc_pid_stat(5) has them."""
    processes = {}
    for place in tree.found("proc/[0-9]*"):
        # it may have ended meanwhile; its name may hold spaces and brackets, and the fields are counted after it
        name, bracket, rest = (tree.text(f"{place}/stat") or "").rpartition(")")
        fields = rest.split()
        if bracket and len(fields) >= 20 and fields[11].isdecimal() and fields[12].isdecimal():
            used = int(fields[11]) + int(fields[12])
            processes[int(place.rpartition("/")[2])] = Process(name.partition("(")[2], fields[19], used)
    own = (tree.text("proc/self/stat") or "").split(" ", 1)[0]
    return Moment(
        processes,
        int(own) if own.isdigit() else None,
        ticks(tree),
        throttling(tree),
        throttles(tree),
    )


def watch(tree: Tree, seconds: float) -> Window:
    """Watch the machine while this process computes.

    A machine that has nothing to do shows neither steal time nor a quota: a hypervisor takes nothing from who wants
    nothing.
    """
    begin = moment(tree)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return begin, moment(tree)


def state(tree: Tree | None = None) -> dict[str, Any]:
    """Read what a run keeps of before and after it, whose change tells what happened to the machine.

    What cannot be read is left out.

    time: ISO 8601. uptime, throttled_seconds: s. cpu_total, cpu_idle, cpu_steal: clock ticks of all processors.
    pressure_cpu, pressure_memory, pressure_io: microseconds in which some program waited. throttled: periods that the
    cgroup's quota cut short. thermal_throttles, oom_kills: counts. swap_in, swap_out: pages. memory_available: B.
    boot_id: hashed.
    """
    files = Tree() if tree is None else tree
    boot = files.text("proc/sys/kernel/random/boot_id")
    quota, spent, vmstat = throttling(files), ticks(files), files.table("proc/vmstat")
    uptime = re.match(r"[\d.]+", files.text("proc/uptime") or "")
    waited = {what: pressure(files, what).get("total") for what in PRESSURES}
    found: dict[str, Any] = {
        "time": datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "boot_id": pseudonym("boot", boot) if boot else None,
        "kernel": files.text("proc/sys/kernel/osrelease"),
        "uptime": float(uptime[0]) if uptime is not None else None,
        "load": load(files),
        "processors": spent and spent.processors,
        "cpu_total": spent and spent.total,
        "cpu_idle": spent and spent.idle,
        "cpu_steal": spent and spent.steal,
        **{f"pressure_{what}": None if total is None else int(total) for what, total in waited.items()},
        **({} if quota is None else {"throttled": quota.throttled, "throttled_seconds": quota.seconds}),
        "thermal_throttles": throttles(files),
        "swap_in": vmstat.get("pswpin"),
        "swap_out": vmstat.get("pswpout"),
        "oom_kills": vmstat.get("oom_kill"),
        "memory_available": files.table("proc/meminfo").get("MemAvailable"),
        "governor": ", ".join(sorted(set(governors(files)))) or None,
        "turbo": turbo(files),
    }
    return {name: value for name, value in found.items() if value is not None}
