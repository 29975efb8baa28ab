"""The state of the machine at a moment, as measurements.jsonl keeps it from before and after a run."""

from __future__ import annotations

import datetime
from typing import Any

from harness.host.facts import pseudonym
from harness.host.fitness import cgroup, counters
from harness.host.fitness.kernel_files import Tree


def state(tree: Tree | None = None) -> dict[str, Any]:
    """Read counters and settings whose change tells what happened to the machine; what cannot be read is left out.

    time: ISO 8601. uptime, throttled_seconds: s. cpu_total, cpu_idle, cpu_steal: clock ticks of all processors.
    pressure_cpu, pressure_memory, pressure_io: microseconds in which some program waited. throttled: periods that the
    cgroup's quota cut short. thermal_throttles, oom_kills: counts. swap_in, swap_out: pages. memory_available: B.
    boot_id: hashed.
    """
    files = Tree() if tree is None else tree
    boot = files.text("proc/sys/kernel/random/boot_id")
    quota = cgroup.throttling(files)
    found: dict[str, Any] = {
        "time": datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "boot_id": pseudonym("boot", boot) if boot else None,
        "kernel": files.text("proc/sys/kernel/osrelease"),
        "uptime": _uptime(files),
        "load": counters.load(files),
        **_processors(files),
        **{f"pressure_{what}": _waited(files, what) for what in counters.PRESSURES},
        **({} if quota is None else {"throttled": quota.throttled, "throttled_seconds": quota.seconds}),
        "thermal_throttles": counters.throttles(files),
        **_memory(files),
        "governor": ", ".join(sorted(set(counters.governors(files)))) or None,
        "turbo": counters.turbo(files),
    }
    return {name: value for name, value in found.items() if value is not None}


def _uptime(files: Tree) -> float | None:
    try:
        return float((files.text("proc/uptime") or "").split(" ")[0])
    except ValueError:
        return None


def _waited(files: Tree, what: counters.Pressure) -> int | None:
    total = counters.pressure(files, what).get("total")
    return None if total is None else int(total)


def _processors(files: Tree) -> dict[str, int | None]:
    ticks = counters.ticks(files)
    if ticks is None:
        return {}
    return {
        "processors": ticks.processors,
        "cpu_total": ticks.total,
        "cpu_idle": ticks.idle,
        "cpu_steal": ticks.steal,
    }


def _memory(files: Tree) -> dict[str, int | None]:
    vmstat = files.table("proc/vmstat")
    return {
        "swap_in": vmstat.get("pswpin"),
        "swap_out": vmstat.get("pswpout"),
        "oom_kills": vmstat.get("oom_kill"),
        "memory_available": files.table("proc/meminfo").get("MemAvailable"),
    }
