"""All checks of the machine, or the quick ones that come before measuring; and those of its memory, disks and tools."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from harness.host.facts import facts, install
from harness.host.fitness import load, machine
from harness.host.fitness.host_check import Check, Checks, Here, bad, ok, unknown, warn
from harness.host.fitness.kernel_files import Tree, memory_limit
from harness.host.lock import claim_of, lock_file
from harness.process.execute import find_own
from harness.trace.trace import tracer_here

CHECKS = Checks()


_SECONDS = 3.0
_VERSIONED = ("perf", "valgrind")
_OTHERS = ("setarch", "taskset")


@CHECKS("tools", "Without hyperfine perfgate starts commands itself; perf_stat needs perf, callgrind needs valgrind.")
def _tools(_: Here) -> Check | None:
    if shutil.which("git") is None:
        why = "Base and head are commits: without git nothing is measured."
        return bad("no git", command=install(os.environ, {}, "git") or None, why=why)
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
        return warn(value, install(os.environ, {}, "hyperfine") or None)
    return ok(value)


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


@CHECKS("tracer", "It sees which files a benchmark reads: one that reads nothing that differs need not be measured.")
def _tracer(_: Here) -> Check | None:
    try:
        found = tracer_here()
    except OSError as error:
        return warn(f"none: {error.strerror}")
    if found is None:
        return warn("none: neither seccomp nor ptrace works here")
    return ok(found if found == "seccomp" else f"{found}, which is slower than seccomp")


FREE_WARN = 2**30
"""Bytes: two checkouts, and what is built in them, of a project of middle size."""
FREE_BAD = 100 * 2**20
"""Bytes: a build that fills a disk fails half-way."""


@CHECKS("temporary files", "Base and head are checked out and built there, which takes space.")
def _temporary(_: Here) -> Check | None:
    directory, command = tempfile.gettempdir(), "export TMPDIR=/path/with/space"
    try:
        status = os.statvfs(directory)
    except OSError as error:
        return bad(f"{directory}: {error.strerror}", command)
    free = status.f_bavail * status.f_frsize
    if status.f_flag & os.ST_RDONLY or not os.access(directory, os.W_OK | os.X_OK):
        return bad(f"{directory} cannot be written", command)
    if status.f_flag & getattr(os, "ST_NOEXEC", 0):
        return bad(f"{directory} is mounted noexec: what is built there does not start", command)
    value = f"{free / 2**30:.1f} GiB free in {directory}"
    if free < FREE_BAD:
        return bad(value, command)
    return warn(value, command) if free < FREE_WARN else ok(value)


@CHECKS("history", "Remembered noise of this machine lets checks decide sooner; they also work without it.")
def _kept_history(here: Here) -> Check | None:
    folder, command = here.history, "export PERFGATE_HISTORY=/path/to/history"
    if folder is None:
        return warn("no home directory, and nothing names another place", command)
    there = next((each for each in (folder.absolute(), *folder.absolute().parents) if each.exists()), None)
    if there is None or not there.is_dir() or not os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return warn(f"{folder} cannot be written", command)
    return ok(str(folder))


@CHECKS("other gates", "Two gates never measure at once on one machine: a check waits for the other to end.")
def _others(_: Here) -> Check | None:
    # the lock is asked for a shared moment and never made
    lock = lock_file(os.environ)
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ok("none measures")
    except OSError as error:
        return unknown(f"{lock}: {error.strerror}")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        found = claim_of(descriptor)
        who = f"another perfgate measures (process {found.pid})" if found else "another program holds its lock"
        return warn(who)
    except OSError as error:
        return unknown(f"{lock}: {error.strerror}")
    finally:
        os.close(descriptor)
    return ok("none measures")


AVAILABLE_WARN = 0.10
"""Share of the memory; the alert HostOutOfMemory of awesome-prometheus-alerts, and where earlyoom ends programs."""
AVAILABLE_BAD = 0.05
"""Half of that: the kernel takes pages back while programs wait."""
SWAP_WARN = 0.05
"""Share of the swap space. Systems put some pages of idle programs there in the course of days."""
SWAPPED_BAD = 64
"""Pages moved while watched, a quarter of a MiB: more than one idle program that wakes up."""


@CHECKS("memory", "With little memory left, programs wait for pages, or the kernel kills one.")
def _available(here: Here) -> Check | None:
    info = here.files.table("proc/meminfo")
    total, free = info.get("MemTotal"), info.get("MemAvailable")
    if not total or free is None:
        return None
    where = ""
    group = memory_limit(here.files)
    if group is not None and group[1] < total and group[0] < free:
        (free, total), where = group, " in its control group"
    value = f"{_gib(free)} of {_gib(total)} available{where}"
    share = free / total if total else 0.0
    if share < AVAILABLE_BAD:
        return bad(value)
    return warn(value) if share < AVAILABLE_WARN else ok(value)


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


@CHECKS("swap", "Reading a page back from disk takes a thousand times as long as from memory.")
def _swap(here: Here) -> Check | None:
    info = here.files.table("proc/meminfo")
    total, free = info.get("SwapTotal"), info.get("SwapFree")
    if total is None or free is None:
        return None
    if not total:
        return ok("none")
    used = total - free
    begin, end = here.window.begin.vmstat, here.window.end.vmstat
    moved = sum(end.get(way, 0) - begin.get(way, 0) for way in ("pswpin", "pswpout"))
    if moved >= SWAPPED_BAD:
        return bad(f"swapping now: {moved} pages while it was watched")
    value = f"{_gib(used)} of {_gib(total)} in use"
    if used > SWAP_WARN * total:
        return warn(value, "sudo swapoff -a && sudo swapon -a")
    return ok(value)


@CHECKS("name in reports", "Reports name the machine by a hash, so that they can be published.")
def _name(_: Here) -> Check | None:
    return ok(str(facts()["hostname"]))


WINDOW = 1.0
"""Seconds that a doctor watches."""
QUICK_WINDOW = 0.4
"""Seconds before a run: forty ticks of a processor, and less than people notice."""

_STATE = (
    "governor", "turbo", "thermal throttling", "power supply", "load", "other processes", "steal time", "cpu quota",
    "cpu pressure", "memory pressure", "io pressure", "memory", "swap",
)  # fmt: skip
"""What changes from hour to hour."""
_MADE = (
    "virtual machine", "smt", "processor kinds", "numa nodes", "affinity", "isolated cpus", "idle states", "aslr",
    "clock source", "tools", "tracer", "temporary files", "name in reports", "history", "other gates",
)  # fmt: skip
"""What stays as it was made or set up."""
_STANDING = ("governor", "power supply", "memory", "temporary files")
"""What can make a machine unfit and is seen without watching it."""


def examine(history: Path | None, tree: Tree | None = None, seconds: float = WINDOW) -> list[Check]:
    """Run every check; it reads, computes for some seconds on one processor, and changes nothing.

    Args:
        history: the file that keeps what is learned; None: no place is known.
        tree: the machine's files.
    """
    return _found((*_STATE, *_MADE), Here(tree or Tree(), seconds, history))


def problems(tree: Tree | None = None, seconds: float = QUICK_WINDOW, *, waits: bool = True) -> list[str]:
    """Name in words what makes the machine unfit now: "steal time: 23.1% of ..."; empty where it is fit.

    Of what can be bad, tools are not looked at: starting them takes longer than all the rest. waits: programs that wait
    for a processor make it unfit as well.
    """
    found = unfit(_found((*_STATE, "temporary files"), Here(tree or Tree(), seconds)))
    return [f"{check.name}: {check.value}" for check in found if waits or check.name not in load.WAITS]


def standing_problems(tree: Tree | None = None) -> list[str]:
    """Name in words what makes the machine unfit as it is set up.

    It is not watched, which takes time: what happens during a run, the states before and after it show.
    """
    found = unfit(_found(_STANDING, Here(tree or Tree(), 0.0)))
    return [f"{check.name}: {check.value}" for check in found]


def unfit(checks: Iterable[Check]) -> list[Check]:
    """Return the checks for which measuring now would mislead; none: the machine is fit."""
    return [check for check in checks if check.state == "bad"]


def _found(names: Iterable[str], here: Here) -> list[Check]:
    every = CHECKS | load.CHECKS | machine.CHECKS
    return [every[name](here) for name in names]
