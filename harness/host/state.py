"""The state of the machine at a moment, as measurements.jsonl keeps it from before and after a run."""

from __future__ import annotations

import datetime
import re
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
    quota, ticks, vmstat = cgroup.throttling(files), counters.ticks(files), files.table("proc/vmstat")
    uptime = re.match(r"[\d.]+", files.text("proc/uptime") or "")
    waited = {what: counters.pressure(files, what).get("total") for what in counters.PRESSURES}
    found: dict[str, Any] = {
        "time": datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "boot_id": pseudonym("boot", boot) if boot else None,
        "kernel": files.text("proc/sys/kernel/osrelease"),
        "uptime": float(uptime[0]) if uptime is not None else None,
        "load": counters.load(files),
        "processors": ticks and ticks.processors,
        "cpu_total": ticks and ticks.total,
        "cpu_idle": ticks and ticks.idle,
        "cpu_steal": ticks and ticks.steal,
        **{f"pressure_{what}": None if total is None else int(total) for what, total in waited.items()},
        **({} if quota is None else {"throttled": quota.throttled, "throttled_seconds": quota.seconds}),
        "thermal_throttles": counters.throttles(files),
        "swap_in": vmstat.get("pswpin"),
        "swap_out": vmstat.get("pswpout"),
        "oom_kills": vmstat.get("oom_kill"),
        "memory_available": files.table("proc/meminfo").get("MemAvailable"),
        "governor": ", ".join(sorted(set(counters.governors(files)))) or None,
        "turbo": counters.turbo(files),
    }
    return {name: value for name, value in found.items() if value is not None}
