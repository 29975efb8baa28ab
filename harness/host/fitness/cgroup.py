"""The limits that the control groups of this process set, versions 1 and 2.

Files: Documentation/admin-guide/cgroup-v2.rst, and cgroup-v1 with scheduler/sched-bwc.rst.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.host.fitness.kernel_files import Tree, whole

_MOUNTS = "sys/fs/cgroup"
# what version 1 writes for no limit: the largest number of whole pages
_NO_LIMIT = 2**60


@dataclass(frozen=True, slots=True)
class Throttling:
    """How often programs of the group were stopped until the next period, and for how long; since the group began."""

    periods: int
    throttled: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Group:
    """The folders of this process's group and of those around it, for one controller; empty: none is known."""

    folders: tuple[str, ...]
    version: int


def group(tree: Tree, controller: str) -> Group:
    """Find the group of this process that a controller limits."""
    lines = [line.split(":", 2) for line in (tree.text("proc/self/cgroup") or "").splitlines()]
    entries = [line for line in lines if len(line) == 3]
    for _, controllers, path in entries:
        if controller in controllers.split(","):
            folders = [*_upwards(tree, f"{_MOUNTS}/{controllers}", path)]
            folders = folders or _upwards(tree, f"{_MOUNTS}/{controller}", path)
            if folders:
                return Group(tuple(folders), 1)
    mount = _MOUNTS if tree.exists(f"{_MOUNTS}/cgroup.procs") else f"{_MOUNTS}/unified"
    paths = [path for number, controllers, path in entries if number == "0" and not controllers]
    return Group(tuple(_upwards(tree, mount, paths[0])) if paths else (), 2)


def _upwards(tree: Tree, mount: str, path: str) -> list[str]:
    """Return the folders from a group's own up to the mount, as far as they are seen from here.

    In a container the path may be the host's, of which only the mount itself exists.
    """
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    folders = ["/".join([mount, *parts[:count]]) for count in range(len(parts), -1, -1)]
    return [folder for folder in folders if tree.exists(f"{folder}/cgroup.procs")]


def quota(tree: Tree) -> float | None:
    """Return how many processors' time the group may take, the strictest around it; None: as much as there is.

    Raises:
        LookupError: the group cannot be read.
    """
    found = group(tree, "cpu")
    if not found.folders:
        raise LookupError("the control group of this process")
    limits: list[float] = []
    for folder in found.folders:
        if found.version == 1:
            allowed, period = tree.number(f"{folder}/cpu.cfs_quota_us"), tree.number(f"{folder}/cpu.cfs_period_us")
        else:
            # the group at the top has no such file, and no limit
            words = (tree.text(f"{folder}/cpu.max") or "max 1").split()
            allowed, period = whole(words[0]), whole(words[-1])
        limits += [allowed / period] if allowed and period and allowed > 0 else []
    return min(limits, default=None)


def throttling(tree: Tree) -> Throttling | None:
    """Return what the quotas did; None where no group with a quota can be read."""
    found = group(tree, "cpu")
    tables = [tree.table(f"{folder}/cpu.stat") for folder in found.folders]
    limited = [table for table in tables if "nr_throttled" in table]
    if not limited:
        return None
    return Throttling(
        sum(table.get("nr_periods", 0) for table in limited),
        sum(table["nr_throttled"] for table in limited),
        sum(table.get("throttled_usec", 0) / 1e6 + table.get("throttled_time", 0) / 1e9 for table in limited),
    )


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """What a group may use, and what is left of it; both in bytes."""

    limit: int
    available: int


def memory_limit(tree: Tree) -> MemoryLimit | None:
    """Return the limit that leaves the least; None where there is none."""
    found = group(tree, "memory")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    if found.version == 2:
        names = ("memory.max", "memory.current", "inactive_file")
    limits: list[MemoryLimit] = []
    for folder in found.folders:
        limit, used = tree.number(f"{folder}/{names[0]}"), tree.number(f"{folder}/{names[1]}")
        if limit is not None and used is not None and limit < _NO_LIMIT:
            # cached files that nobody used lately make room when it is needed
            idle = tree.table(f"{folder}/memory.stat").get(names[2], 0)
            limits.append(MemoryLimit(limit, max(0, limit - used + idle)))
    return min(limits, key=lambda limit: limit.available, default=None)
