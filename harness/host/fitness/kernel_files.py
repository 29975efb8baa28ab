"""Reads below /proc and /sys, or below a folder that stands for them; what cannot be read is None.

Limits of control groups, versions 1 and 2: Documentation/admin-guide/cgroup-v2.rst, and cgroup-v1 with
scheduler/sched-bwc.rst.
"""

import re
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True, slots=True)
class Tree:
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


def group(tree: Tree, controller: str) -> list[str]:
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


def throttling(tree: Tree) -> Throttling | None:
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


def memory_limit(tree: Tree) -> tuple[int, int] | None:
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
