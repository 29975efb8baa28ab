"""Memory: how much there is, whether it is swapped, in which pages it comes."""

from __future__ import annotations

import re

from gate.model.warnings.hosts import LittleMemory
from harness.host.fitness.cgroup import memory_limit
from harness.host.fitness.counters import Window
from harness.host.fitness.kernel_files import Check, Tree, unreadable

AVAILABLE_WARN = 0.10
"""Share of the memory; the alert HostOutOfMemory of awesome-prometheus-alerts, and where earlyoom ends programs."""
AVAILABLE_BAD = 0.05
"""Half of that: the kernel takes pages back while programs wait."""
SWAP_WARN = 0.05
"""Share of the swap space. Systems put some pages of idle programs there in the course of days."""
SWAPPED_BAD = 64
"""Pages moved while watched, a quarter of a MiB: more than one idle program that wakes up."""
_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"


def available(tree: Tree) -> Check:
    """Look at the memory that programs can still have, here and in the control group."""
    name, why = "memory", "With little memory left, programs wait for pages, or the kernel kills one."
    info = tree.table("proc/meminfo")
    total, free = info.get("MemTotal"), info.get("MemAvailable")
    if not total or free is None:
        return unreadable(name, why)
    where = ""
    group = memory_limit(tree)
    if group is not None and group.limit < total and group.available < free:
        total, free, where = group.limit, group.available, " in its control group"
    value = f"{_gib(free)} of {_gib(total)} available{where}"
    share = free / total if total else 0.0
    if share < AVAILABLE_BAD:
        return Check(name, "bad", value, why, problem=LittleMemory(free, total, bool(where)))
    return Check(name, "warn" if share < AVAILABLE_WARN else "ok", value, why)


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


def swap(tree: Tree, window: Window) -> Check:
    """Look whether memory is on disk; bad when pages move now."""
    name, why = "swap", "Reading a page back from disk takes a thousand times as long as from memory."
    info = tree.table("proc/meminfo")
    total, free = info.get("SwapTotal"), info.get("SwapFree")
    if total is None or free is None:
        return unreadable(name, why)
    if not total:
        return Check(name, "ok", "none", why)
    used = total - free
    moved = sum(window.end.vmstat.get(way, 0) - window.begin.vmstat.get(way, 0) for way in ("pswpin", "pswpout"))
    if moved >= SWAPPED_BAD:
        return Check(name, "bad", f"swapping now: {moved} pages while it was watched", why)
    value = f"{_gib(used)} of {_gib(total)} in use"
    if used > SWAP_WARN * total:
        return Check(name, "warn", value, why, "sudo swapoff -a && sudo swapon -a")
    return Check(name, "ok", value, why)


def huge_pages(tree: Tree) -> Check:
    """Look whether the kernel makes huge pages where nobody asked for them."""
    name = "huge pages"
    why = "Whether a program gets huge pages depends on how fragmented memory is, and changes its speed."
    chosen = re.search(r"\[(\w+)\]", tree.text(_PAGES) or "")
    if chosen is None:
        return unreadable(name, why)
    if chosen[1] == "always":
        return Check(name, "warn", "always", why, f"echo madvise | sudo tee /{_PAGES}")
    return Check(name, "ok", chosen[1], why)
