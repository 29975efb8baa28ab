"""All checks of the machine, or the quick ones that come before measuring; and those of its memory, disks and tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable

from gate.model.warnings.hosts import LittleMemory, NoTemporaryFiles, Problem
from harness.host.facts import install
from harness.host.fitness import load, machine
from harness.host.fitness.host_check import Check, Checks, Here, bad, ok, warn
from harness.host.fitness.kernel_files import Tree, memory_limit
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
        problem = NoTemporaryFiles(directory, "unreadable", error=str(error.strerror))
        return bad(f"{directory}: {error.strerror}", problem, command)
    free = status.f_bavail * status.f_frsize
    if status.f_flag & os.ST_RDONLY or not os.access(directory, os.W_OK | os.X_OK):
        return bad(f"{directory} cannot be written", NoTemporaryFiles(directory, "unwritable"), command)
    if status.f_flag & getattr(os, "ST_NOEXEC", 0):
        said = f"{directory} is mounted noexec: what is built there does not start"
        return bad(said, NoTemporaryFiles(directory, "noexec"), command)
    value = f"{free / 2**30:.1f} GiB free in {directory}"
    if free < FREE_BAD:
        return bad(value, NoTemporaryFiles(directory, "full", free), command)
    return warn(value, command) if free < FREE_WARN else ok(value)


AVAILABLE_WARN = 0.10
"""Share of the memory; the alert HostOutOfMemory of awesome-prometheus-alerts, and where earlyoom ends programs."""
AVAILABLE_BAD = 0.05
"""Half of that: the kernel takes pages back while programs wait."""


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
        return bad(value, LittleMemory(free, total, bool(where)))
    return warn(value) if share < AVAILABLE_WARN else ok(value)


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


WINDOW = 1.0
"""Seconds that a doctor watches."""
QUICK_WINDOW = 0.4
"""Seconds before a run: forty ticks of a processor, and less than people notice."""

_STATE = (
    "governor", "turbo", "thermal throttling", "power supply", "load", "other processes", "steal time", "cpu quota",
    "cpu pressure", "memory pressure", "io pressure", "memory",
)  # fmt: skip
"""What changes from hour to hour."""
_MADE = (
    "virtual machine", "smt", "processor kinds", "affinity", "isolated cpus", "aslr",
    "tools", "tracer", "temporary files",
)  # fmt: skip
"""What stays as it was made or set up."""
_STANDING = ("governor", "power supply", "memory", "temporary files")
"""What can make a machine unfit and is seen without watching it."""


def examine(tree: Tree | None = None, seconds: float = WINDOW) -> list[Check]:
    """Run every check; it reads, computes for some seconds on one processor, and changes nothing.

    tree: the machine's files.
    """
    return _found((*_STATE, *_MADE), Here(tree or Tree(), seconds))


def problems(tree: Tree | None = None, seconds: float = QUICK_WINDOW, *, waits: bool = True) -> list[str]:
    """Name in words what makes the machine unfit now: "steal time: 23.1% of ..."; empty where it is fit.

    Of what can be bad, tools are not looked at: starting them takes longer than all the rest. waits: programs that wait
    for a processor make it unfit as well.
    """
    found = unfit(_found((*_STATE, "temporary files"), Here(tree or Tree(), seconds)))
    return [f"{check.name}: {check.value}" for check in found if waits or check.name not in load.WAITS]


def standing_problems(tree: Tree | None = None) -> list[Problem]:
    """Return what makes the machine unfit as it is set up.

    It is not watched, which takes time: what happens during a run, the states before and after it show.
    """
    found = unfit(_found(_STANDING, Here(tree or Tree(), 0.0)))
    return [check.problem for check in found if check.problem is not None]


def unfit(checks: Iterable[Check]) -> list[Check]:
    """Return the checks for which measuring now would mislead; none: the machine is fit."""
    return [check for check in checks if check.state == "bad"]


def _found(names: Iterable[str], here: Here) -> list[Check]:
    every = CHECKS | load.CHECKS | machine.CHECKS
    return [every[name](here) for name in names]
