"""All checks, or the quick ones that come before measuring."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from gate.model.warnings.hosts import Problem
from harness.host.facts import facts
from harness.host.fitness import directories, disturbances, load, machine, memory, processors, tools
from harness.host.fitness.counters import Window, watch
from harness.host.fitness.kernel_files import Check, Tree, unreadable
from harness.host.lock import lock_file

WINDOW = 1.0
"""Seconds that a doctor watches."""
QUICK_WINDOW = 0.4
"""Seconds before a run: forty ticks of a processor, and less than people notice."""

_Look = Callable[[], Check]


def examine(history: Path | None, tree: Tree | None = None, seconds: float = WINDOW) -> list[Check]:
    """Run every check; it reads, computes for some seconds on one processor, and changes nothing.

    Args:
        history: the file that keeps what is learned; None: no place is known.
        tree: the machine's files.
    """
    files = Tree() if tree is None else tree
    window = watch(files, seconds)
    return _all(
        {
            **_state(files, window),
            **_make(files),
            "mount namespaces": machine.mounts,
            "tools": tools.tools,
            "tracer": tools.tracer,
            "temporary files": _temporary,
            "name in reports": _name,
            "history": lambda: directories.history(history),
            "other gates": lambda: directories.others(lock_file(os.environ)),
        }
    )


def problems(tree: Tree | None = None, seconds: float = QUICK_WINDOW, *, waits: bool = True) -> list[str]:
    """Name in words what makes the machine unfit now: "steal time: 23.1% of ..."; empty where it is fit.

    Of what can be bad, tools are not looked at: starting them takes longer than all the rest. waits: programs that wait
    for a processor make it unfit as well.
    """
    files = Tree() if tree is None else tree
    looks = {**_state(files, watch(files, seconds)), "temporary files": _temporary}
    return [f"{check.name}: {check.value}" for check in unfit(_all(looks)) if waits or check.name not in load.WAITS]


def standing_problems(tree: Tree | None = None) -> list[Problem]:
    """Return what makes the machine unfit as it is set up.

    It is not watched, which takes time: what happens during a run, the states before and after it show.
    """
    files = Tree() if tree is None else tree
    looks: dict[str, _Look] = {
        "governor": lambda: processors.governor(files),
        "power supply": lambda: machine.power(files),
        "memory": lambda: memory.available(files),
        "temporary files": _temporary,
    }
    return [check.problem for check in unfit(_all(looks)) if check.problem is not None]


def others_load(tree: Tree | None = None, seconds: float = WINDOW) -> float | None:
    """Return the share of all processors' time that other processes take while they are watched; None: not known."""
    return load.others(watch(Tree() if tree is None else tree, seconds))


def unfit(checks: Iterable[Check]) -> list[Check]:
    """Return the checks for which measuring now would mislead; none: the machine is fit."""
    return [check for check in checks if check.state == "bad"]


def _name() -> Check:
    why = "Reports name the machine by a hash, so that they can be published."
    return Check("name in reports", "ok", str(facts()["hostname"]), why)


def _temporary() -> Check:
    return directories.temporary(Path(tempfile.gettempdir()))


def _state(files: Tree, window: Window) -> dict[str, _Look]:
    """What changes from hour to hour."""
    return {
        "governor": lambda: processors.governor(files),
        "turbo": lambda: processors.boost(files),
        "thermal throttling": lambda: processors.heat(files, window),
        "power supply": lambda: machine.power(files),
        "load": lambda: load.average(files, window),
        "other processes": lambda: load.processes(window),
        "steal time": lambda: load.steal(window),
        "cpu quota": lambda: load.limit(files, window),
        "cpu pressure": lambda: load.waiting(files, "cpu", window),
        "memory pressure": lambda: load.waiting(files, "memory", window),
        "io pressure": lambda: load.waiting(files, "io", window),
        "memory": lambda: memory.available(files),
        "swap": lambda: memory.swap(files, window),
    }


def _make(files: Tree) -> dict[str, _Look]:
    """What stays as it was made or set up."""
    return {
        "virtual machine": lambda: machine.virtualization(files),
        "smt": lambda: processors.smt(files),
        "processor kinds": lambda: processors.kinds(files),
        "numa nodes": lambda: processors.nodes(files),
        "affinity": lambda: processors.affinity(files),
        "isolated cpus": lambda: processors.isolated(files),
        "cpuset": lambda: disturbances.cpuset(files),
        "interrupts": lambda: disturbances.interrupts(files),
        "idle states": lambda: disturbances.idle(files),
        "nmi watchdog": lambda: disturbances.watchdog(files),
        "autogroup": lambda: disturbances.autogroup(files),
        "huge pages": lambda: memory.huge_pages(files),
        "aslr": lambda: machine.aslr(files),
        "clock source": lambda: machine.clock(files),
        "perf events": lambda: machine.perf_events(files),
    }


def _all(looks: dict[str, _Look]) -> list[Check]:
    return [_safely(name, look) for name, look in looks.items()]


def _safely(name: str, look: _Look) -> Check:
    try:
        return look()
    except Exception as error:  # noqa: BLE001  # a file of a shape that nobody foresaw is unknown, never ok, never the end
        return unreadable(name, "This check failed; please report it.", f"{type(error).__name__}: {error}")
