"""A short time in which the machine is watched."""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.fitness.cgroup import Throttling, throttling
from harness.fitness.counters import Ticks, throttles, ticks
from harness.fitness.tree import Tree


@dataclass(frozen=True, slots=True)
class Process:
    """A process and the ticks that it has taken; started: tells it from another that gets its id."""

    name: str
    started: str
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
