"""All checks of the machine, or the quick ones that come before measuring; and those of its memory, disks and tools."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from gate.model.warnings.hosts import LittleMemory, NoTemporaryFiles, Problem
from harness.host.facts import facts
from harness.host.fitness import load, machine, processors
from harness.host.fitness.cgroup import group, memory_limit
from harness.host.fitness.counters import Window, watch
from harness.host.fitness.kernel_files import CPUS, Check, State, Tree, cpu_list, unreadable, whole, written
from harness.host.lock import claim_of, lock_file
from harness.process.execute import find_own
from harness.process.processors import given_priority
from harness.trace.trace import tracer_here

DEEP = 50
"""Microseconds to wake up from which a sleep is deep: five percent of a millisecond."""


def interrupts(tree: Tree) -> Check:
    """Look where interrupts of devices are handled: not on processors that are kept free for measuring."""
    name = "interrupts"
    why = "A processor that handles a device's interrupt does not run the measured program meanwhile."
    texts = tree.texts("proc/irq/[0-9]*/smp_affinity_list").values()
    used = {cpu for text in texts for cpu in cpu_list(text)}
    online = set(cpu_list(tree.text(f"{CPUS}/online") or "")) or used
    used &= online
    if not used:
        return unreadable(name, why)
    free = online - used
    isolated = set(cpu_list(_list(tree.text(f"{CPUS}/isolated"))))
    if isolated & used:
        others = written(online - isolated)
        return Check(
            name, "warn", f"also on the isolated processors {written(isolated & used)}", why,
            f"for irq in /proc/irq/[0-9]*; do echo {others} | sudo tee $irq/smp_affinity_list; done",
        )  # fmt: skip
    return Check(name, "ok", f"on processors {written(used)}" + (f", never on {written(free)}" if free else ""), why)


def _list(text: str | None) -> str:
    # "(null)" is what some kernels write for none
    return text if text and text != "(null)" else ""


def idle(tree: Tree) -> Check:
    """Look how deeply idle processors sleep (Documentation/admin-guide/pm/cpuidle.rst)."""
    name = "idle states"
    why = "When a program has waited, its processor is asleep, and waking it is part of the measured time."
    states = {
        tree.text(f"{folder}/name") or "": whole(tree.text(f"{folder}/latency"))
        for folder in tree.found(f"{CPUS}/cpu0/cpuidle/state[0-9]*")
        if tree.text(f"{folder}/disable") != "1"
    }
    latencies = {state: latency for state, latency in states.items() if latency is not None}
    if not latencies:
        driver = tree.text(f"{CPUS}/cpuidle/current_driver")
        return Check(name, "ok", "none", why) if driver == "none" else unreadable(name, why)
    deepest = max(latencies, key=lambda state: latencies[state])
    value = f"down to {deepest}, which takes {latencies[deepest]} us to leave"
    if latencies[deepest] < DEEP:
        return Check(name, "ok", value, why)
    return Check(name, "warn", value, why, f"sudo cpupower idle-set --disable-by-latency {DEEP}")


def watchdog(tree: Tree) -> Check:
    """Look whether the kernel watches itself by interrupts (Documentation/admin-guide/lockup-watchdogs.rst)."""
    name = "nmi watchdog"
    why = "It interrupts every processor every few seconds, and takes a counter from perf."
    on = tree.text("proc/sys/kernel/nmi_watchdog")
    if on not in ("0", "1"):
        return unreadable(name, why)
    if on == "0":
        return Check(name, "ok", "off", why)
    return Check(name, "warn", "on", why, "sudo sysctl kernel.nmi_watchdog=0")


def priority(given: int) -> Check:
    """Tell whether measured programs go before others: information; given: their nice value."""
    why = "As root perfgate lets measured programs go before others, so that they do not wait for a load."
    value = f"{given}: measured programs " + ("go before others" if given < 0 else "share processors with others")
    return Check("priority", "ok", value, why)


def cpuset(tree: Tree) -> Check:
    """Look whether a control group keeps this process to some processors, and whether others may use them too."""
    name = "cpuset"
    why = "Programs of other groups may run on the same processors. If they may use fewer of them, they crowd there."
    found = group(tree, "cpuset")
    if not found.folders:
        return unreadable(name, why)
    file = "cpuset.effective_cpus" if found.version == 1 else "cpuset.cpus.effective"
    # version 2 has the file only where the controller is on for the group; then those around it count
    own = next((folder for folder in found.folders if tree.text(f"{folder}/{file}")), None)
    text = tree.text(f"{own}/{file}") if own is not None else None
    if text is None:
        return Check(name, "ok", "none", why) if found.version == 2 else unreadable(name, why)
    online = tree.text(f"{CPUS}/online")
    mine, every = set(cpu_list(text)), set(cpu_list(online or text))
    if mine >= every:
        return Check(name, "ok", f"none: all {len(every)} processors", why)
    alone = tree.text(f"{own}/cpuset.cpus.partition") in ("root", "isolated") or (
        tree.text(f"{own}/cpuset.cpu_exclusive") == "1"
    )
    value = f"{len(mine)} of {len(every)} processors ({written(mine)})"
    if alone:
        return Check(name, "ok", f"{value}, for this group alone", why)
    return Check(name, "warn", f"{value}, shared with other groups", why)


_SECONDS = 3.0
_VERSIONED = ("perf", "valgrind")
_OTHERS = ("setarch", "taskset")
# The first that is there; the packages of git and hyperfine have the same name in all of them.
_INSTALLERS = {
    "apt-get": "sudo apt-get install", "dnf": "sudo dnf install", "pacman": "sudo pacman -S",
    "zypper": "sudo zypper install", "apk": "sudo apk add", "brew": "brew install",
}  # fmt: skip


def tools() -> Check:
    """Look for git, hyperfine, perf, valgrind, setarch and taskset."""
    name = "tools"
    why = "Without hyperfine perfgate starts commands itself; perf_stat needs perf, callgrind needs valgrind."
    if shutil.which("git") is None:
        return Check(
            name, "bad", "no git", "Base and head are commits: without git nothing is measured.", _install("git")
        )
    own = find_own("hyperfine")
    hyperfine = own or shutil.which("hyperfine")
    which = f"({'comes with perfgate' if own else 'on PATH'}: {hyperfine})"
    found = {"hyperfine": _version(hyperfine)} | {tool: _version(shutil.which(tool)) for tool in _VERSIONED}
    found |= {tool: "" if shutil.which(tool) else None for tool in _OTHERS}
    there = [
        " ".join(filter(None, (tool, version, which if tool == "hyperfine" else "")))
        for tool, version in found.items()
        if version is not None
    ]
    absent = [tool for tool, version in found.items() if version is None]
    value = ", ".join(there) + ("; " if there and absent else "") + (f"no {', '.join(absent)}" if absent else "")
    if "hyperfine" in absent:
        return Check(name, "warn", value, why, _install("hyperfine"))
    return Check(name, "ok", value, why)


def _version(path: str | None) -> str | None:
    """Return the version of the tool at a path; "" when it does not tell, None when it is absent or does not run."""
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode:
        # as Ubuntu's perf ends where it is of another kernel
        return None
    number = re.search(rb"\d+(?:\.\d+)+", done.stdout)
    return number[0].decode("ascii") if number else ""


def _install(package: str) -> str | None:
    return next((f"{start} {package}" for tool, start in _INSTALLERS.items() if shutil.which(tool)), None)


def tracer() -> Check:
    """Trace a small command."""
    name = "tracer"
    why = "It sees which files a benchmark reads: one that reads nothing that differs need not be measured."
    try:
        found = tracer_here()
    except OSError as error:
        return Check(name, "warn", f"none: {error.strerror}", why)
    if found is None:
        return Check(name, "warn", "none: neither seccomp nor ptrace works here", why)
    return Check(name, "ok", found if found == "seccomp" else f"{found}, which is slower than seccomp", why)


FREE_WARN = 2**30
"""Bytes: two checkouts, and what is built in them, of a project of middle size."""
FREE_BAD = 100 * 2**20
"""Bytes: a build that fills a disk fails half-way."""


def temporary(directory: Path) -> Check:
    """Look at the directory where base and head are checked out and built."""
    name = "temporary files"
    why = "Base and head are checked out and built there, which takes space."
    command = "export TMPDIR=/path/with/space"
    try:
        status = os.statvfs(directory)
    except OSError as error:
        problem = NoTemporaryFiles(str(directory), "unreadable", error=str(error.strerror))
        return Check(name, "bad", f"{directory}: {error.strerror}", why, command, problem)
    free = status.f_bavail * status.f_frsize
    if status.f_flag & os.ST_RDONLY or not os.access(directory, os.W_OK | os.X_OK):
        problem = NoTemporaryFiles(str(directory), "unwritable")
        return Check(name, "bad", f"{directory} cannot be written", why, command, problem)
    if status.f_flag & getattr(os, "ST_NOEXEC", 0):
        problem = NoTemporaryFiles(str(directory), "noexec")
        said = f"{directory} is mounted noexec: what is built there does not start"
        return Check(name, "bad", said, why, command, problem)
    value = f"{free / 2**30:.1f} GiB free in {directory}"
    if free < FREE_BAD:
        return Check(name, "bad", value, why, command, NoTemporaryFiles(str(directory), "full", free))
    state: State = "warn" if free < FREE_WARN else "ok"
    return Check(name, state, value, why, command if state != "ok" else None)


def kept_history(folder: Path | None) -> Check:
    """Look whether what is learned of this machine can be kept; None: no place is known."""
    name = "history"
    why = "Remembered noise of this machine lets checks decide sooner; they also work without it."
    command = "export PERFGATE_HISTORY=/path/to/history"
    if folder is None:
        return Check(name, "warn", "no home directory, and nothing names another place", why, command)
    there = next((each for each in (folder.absolute(), *folder.absolute().parents) if each.exists()), None)
    if there is None or not there.is_dir() or not os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return Check(name, "warn", f"{folder} cannot be written", why, command)
    return Check(name, "ok", str(folder), why)


def others(lock: Path) -> Check:
    """Look whether another perfgate holds the machine; the lock is asked for a shared moment and never made."""
    name, why = "other gates", "Two gates never measure at once on one machine: a check waits for the other to end."
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return Check(name, "ok", "none measures", why)
    except OSError as error:
        return unreadable(name, why, f"{lock}: {error.strerror}")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        found = claim_of(descriptor)
        who = f"another perfgate measures (process {found.pid})" if found else "another program holds its lock"
        return Check(name, "warn", who, why)
    except OSError as error:
        return unreadable(name, why, f"{lock}: {error.strerror}")
    finally:
        os.close(descriptor)
    return Check(name, "ok", "none measures", why)


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
            "tools": tools,
            "tracer": tracer,
            "temporary files": _temporary,
            "name in reports": _name,
            "history": lambda: kept_history(history),
            "other gates": lambda: others(lock_file(os.environ)),
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
        "memory": lambda: available(files),
        "temporary files": _temporary,
    }
    return [check.problem for check in unfit(_all(looks)) if check.problem is not None]


def unfit(checks: Iterable[Check]) -> list[Check]:
    """Return the checks for which measuring now would mislead; none: the machine is fit."""
    return [check for check in checks if check.state == "bad"]


def _name() -> Check:
    why = "Reports name the machine by a hash, so that they can be published."
    return Check("name in reports", "ok", str(facts()["hostname"]), why)


def _temporary() -> Check:
    return temporary(Path(tempfile.gettempdir()))


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
        "memory": lambda: available(files),
        "swap": lambda: swap(files, window),
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
        "cpuset": lambda: cpuset(files),
        "interrupts": lambda: interrupts(files),
        "idle states": lambda: idle(files),
        "nmi watchdog": lambda: watchdog(files),
        "priority": lambda: priority(given_priority()),
        "huge pages": lambda: huge_pages(files),
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
