"""What the kernel tells in files below /proc and /sys: counters and values, for checks and measurements.jsonl.

They may lie below a folder that stands for a machine; what cannot be read is None. Limits of control groups, versions 1
and 2: Documentation/admin-guide/cgroup-v2.rst, and cgroup-v1 with scheduler/sched-bwc.rst.
"""

import datetime
import re
import time
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

from harness.host.facts import pseudonym

CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True, slots=True)
class MachineFiles:
    """The files of a machine."""

    root: Path = Path("/")
    """The folder that holds proc and sys."""

    def text(self, name: str) -> str | None:
        """Return what a file holds, without blanks around it; None when it cannot be read."""
        try:
            return (self.root / name).read_text(encoding="utf-8", errors="replace").strip()
        except (OSError, ValueError):
            return None

    def number(self, name: str) -> int | None:
        """Return the whole number that a file holds; None when it holds none."""
        return whole(self.text(name))

    def table(self, name: str) -> dict[str, int]:
        """Return the numbers of a file of "name value" or "name: value kB" lines; kB become bytes."""
        found = {}
        for line in (self.text(name) or "").splitlines():
            words = line.replace(":", " ").split()
            value = whole(words[1]) if len(words) > 1 else None
            if value is not None:
                found[words[0]] = value * 1024 if words[2:] == ["kB"] else value
        return found

    def exists(self, name: str) -> bool:
        """Return whether there is such a file or folder."""
        try:
            return (self.root / name).exists()
        except OSError:
            return False

    def found(self, pattern: str) -> list[str]:
        """Return the names that match a pattern, cpu2 before cpu10."""
        try:
            names = [path.relative_to(self.root).as_posix() for path in self.root.glob(pattern)]
        except OSError:
            return []
        parts = {name: re.split(r"(\d+)", name) for name in names}
        return sorted(
            names, key=lambda name: [(int(each), "") if each.isdigit() else (-1, each) for each in parts[name]]
        )

    def texts(self, pattern: str) -> dict[str, str]:
        """Return what the files that match a pattern hold, without those that cannot be read."""
        texts = {name: self.text(name) for name in self.found(pattern)}
        return {name: text for name, text in texts.items() if text is not None}


def whole(text: str | None) -> int | None:
    """Read a whole number; None when it is none."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


_MOUNTS = "sys/fs/cgroup"
# what version 1 writes for no limit: the largest number of whole pages
_NO_LIMIT = 2**60


@dataclass(frozen=True, slots=True)
class Throttling:
    """How often programs of the group were stopped until the next period, and for how long; since the group began."""

    periods: int
    throttled: int
    seconds: float


def group(tree: MachineFiles, controller: str) -> list[str]:
    """Return the folders of this process's group and of those around it that a controller limits; empty: none known."""
    lines = [line.split(":", 2) for line in (tree.text("proc/self/cgroup") or "").splitlines()]
    entries = [line for line in lines if len(line) == 3]
    for _, controllers, path in entries:
        if controller in controllers.split(","):
            folders = _upwards(tree, f"{_MOUNTS}/{controllers}", path) or _upwards(
                tree, f"{_MOUNTS}/{controller}", path
            )
            if folders:
                return folders
    mount = _MOUNTS if tree.exists(f"{_MOUNTS}/cgroup.procs") else f"{_MOUNTS}/unified"
    paths = [path for number, controllers, path in entries if number == "0" and not controllers]
    return _upwards(tree, mount, paths[0]) if paths else []


def _upwards(tree: MachineFiles, mount: str, path: str) -> list[str]:
    """Return the folders from a group's own up to the mount, as far as they are seen from here.

    In a container the path may be the host's, of which only the mount itself exists.
    """
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    folders = ["/".join([mount, *parts[:count]]) for count in range(len(parts), -1, -1)]
    return [folder for folder in folders if tree.exists(f"{folder}/cgroup.procs")]


def quota(tree: MachineFiles) -> float | None:
    """Return how many processors' time the group may take, the strictest around it; None: as much as there is.

    Raises: LookupError: the group cannot be read.
    """
    folders = group(tree, "cpu")
    if not folders:
        raise LookupError("the control group of this process")
    limits: list[float] = []
    for folder in folders:
        allowed, period = tree.number(f"{folder}/cpu.cfs_quota_us"), tree.number(f"{folder}/cpu.cfs_period_us")
        if period is None:
            # of version 2; the group at the top has no such file, and no limit
            words = (tree.text(f"{folder}/cpu.max") or "max 1").split()
            allowed, period = whole(words[0]), whole(words[-1])
        limits += [allowed / period] if allowed and period and allowed > 0 else []
    return min(limits, default=None)


def throttling(tree: MachineFiles) -> Throttling | None:
    """Return what the quotas did; None where no group with a quota can be read."""
    tables = [tree.table(f"{folder}/cpu.stat") for folder in group(tree, "cpu")]
    limited = [table for table in tables if "nr_throttled" in table]
    if not limited:
        return None
    return Throttling(
        sum(table.get("nr_periods", 0) for table in limited),
        sum(table["nr_throttled"] for table in limited),
        sum(table.get("throttled_usec", 0) / 1e6 + table.get("throttled_time", 0) / 1e9 for table in limited),
    )


def memory_limit(tree: MachineFiles) -> tuple[int, int] | None:
    """Return the bytes that are left of the limit that leaves the least, and the limit; None where there is none."""
    limits: list[tuple[int, int]] = []
    for folder in group(tree, "memory"):
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        if not tree.exists(f"{folder}/{names[0]}"):
            names = ("memory.max", "memory.current", "inactive_file")
        limit, used = tree.number(f"{folder}/{names[0]}"), tree.number(f"{folder}/{names[1]}")
        if limit is not None and used is not None and limit < _NO_LIMIT:
            # cached files that nobody used lately make room when it is needed
            idle = tree.table(f"{folder}/memory.stat").get(names[2], 0)
            limits.append((max(0, limit - used + idle), limit))
    return min(limits, key=itemgetter(0), default=None)


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


def ticks(tree: MachineFiles) -> Ticks | None:
    """Read how the processors spent their time; None when that cannot be read."""
    text = tree.text("proc/stat") or ""
    first = re.match(r"cpu +(\d[\d ]*)$", text, flags=re.MULTILINE)
    # guest time is in user and nice already
    times = [int(word) for word in first[1].split()][:8] if first else []
    if len(times) < 5 or not any(times):
        return None
    processors = len(re.findall(r"^cpu\d", text, flags=re.MULTILINE))
    return Ticks(sum(times), times[3] + times[4], times[7] if len(times) > 7 else None, max(1, processors))


def pressure(tree: MachineFiles, what: Pressure) -> dict[str, float]:
    """Read how long some program waited, from the line "some" of /proc/pressure (Documentation/accounting/psi.rst).

    avg10: percent of the last ten seconds; total: microseconds since boot. Empty where it cannot be read.
    """
    some = re.search(r"^some (.*)$", tree.text(f"proc/pressure/{what}") or "", flags=re.MULTILINE)
    return {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", some[1])} if some else {}


def throttles(tree: MachineFiles) -> int | None:
    """Count how often processors were slowed down for their heat since boot; None where nothing counts it."""
    found = tree.texts(f"{CPUS}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    counts = [count for count in map(whole, found.values()) if count is not None]
    return sum(counts) if counts else None


def governors(tree: MachineFiles) -> list[str]:
    """Return what decides the frequency of each processor; empty where that cannot be read."""
    return list(tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/scaling_governor").values())


def turbo(tree: MachineFiles) -> bool | None:
    """Return whether processors may go beyond their nominal frequency; None where that cannot be read."""
    intel = tree.text(f"{CPUS}/intel_pstate/no_turbo")
    if intel in ("0", "1"):
        return intel == "0"
    boosts = {tree.text(f"{CPUS}/cpufreq/boost"), *tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/boost").values()}
    return "1" in boosts if boosts & {"0", "1"} else None


def load(tree: MachineFiles) -> float | None:
    """Return the load average over a minute; None when it cannot be read."""
    words = (tree.text("proc/loadavg") or "").split()
    try:
        return float(words[0]) if words else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class ProcessTicks:
    """A process and the ticks that it has taken."""

    name: str
    started: str
    """Tells it from another that gets its id."""
    ticks: int


@dataclass(frozen=True, slots=True)
class Moment:
    """The counters at one time; what cannot be read is None or empty."""

    processes: dict[int, ProcessTicks]
    own: int | None
    """The id of this process."""
    ticks: Ticks | None
    throttling: Throttling | None
    throttles: int | None


Window = tuple[Moment, Moment]
"""Its begin and its end."""


def moment(tree: MachineFiles) -> Moment:
    """Read the counters; of processes as proc_pid_stat(5) has them."""
    processes = {}
    for place in tree.found("proc/[0-9]*"):
        # it may have ended meanwhile; its name may hold spaces and brackets, and the fields are counted after it
        name, bracket, rest = (tree.text(f"{place}/stat") or "").rpartition(")")
        fields = rest.split()
        if bracket and len(fields) >= 20 and fields[11].isdecimal() and fields[12].isdecimal():
            used = int(fields[11]) + int(fields[12])
            processes[int(place.rpartition("/")[2])] = ProcessTicks(name.partition("(")[2], fields[19], used)
    own = (tree.text("proc/self/stat") or "").split(" ", 1)[0]
    return Moment(processes, int(own) if own.isdigit() else None, ticks(tree), throttling(tree), throttles(tree))


def watch(tree: MachineFiles, seconds: float) -> Window:
    """Watch the machine while this process computes.

    A machine that has nothing to do shows neither steal time nor a quota: a hypervisor takes nothing from who wants
    nothing.
    """
    begin = moment(tree)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return begin, moment(tree)


def state(tree: MachineFiles | None = None) -> dict[str, Any]:
    """Read what a run keeps of before and after it, whose change tells what happened to the machine.

    What cannot be read is left out.

    time: ISO 8601. uptime, throttled_seconds: s. cpu_total, cpu_idle, cpu_steal: clock ticks of all processors.
    pressure_cpu, pressure_memory, pressure_io: microseconds in which some program waited. throttled: periods that the
    cgroup's quota cut short. thermal_throttles, oom_kills: counts. swap_in, swap_out: pages. memory_available: B.
    boot_id: hashed.
    """
    files = MachineFiles() if tree is None else tree
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
