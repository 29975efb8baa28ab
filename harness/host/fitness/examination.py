"""All checks of the machine, or the quick ones that come before measuring; and those of all but its load."""

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable

from gate.writing.units import plural
from harness.host.facts import install
from harness.host.fitness import checks
from harness.host.fitness.checks import Check, Checks, Here, bad, ok, unknown, warn
from harness.host.fitness.counters import CPUS, MachineFiles, governors, memory_limit, turbo
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
        return bad(value)
    return warn(value) if share < AVAILABLE_WARN else ok(value)


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


NO_RANDOMIZE = 0x0040000
"""ADDR_NO_RANDOMIZE of personality(2), as `setarch -R` sets it."""
# In DMI, as systemd-detect-virt knows them (src/basic/virt.c).
_VENDORS = re.compile(
    "QEMU|KVM|VMware|VirtualBox|innotek|Xen|Bochs|Parallels|BHYVE|OpenStack|Amazon EC2|Google Compute Engine|"
    "Virtual Machine|Apple Virtualization"
)


@CHECKS("aslr", "Leave it on: each start then samples another layout, and one lucky layout decides nothing.")
def _aslr(here: Here) -> Check | None:
    setting = here.files.number("proc/sys/kernel/randomize_va_space")
    if setting is None:
        return None
    if setting < 2:
        return warn("off" if setting == 0 else "partly off", "sudo sysctl kernel.randomize_va_space=2")
    try:
        personality = int(here.files.text("proc/self/personality") or "0", 16)
    except ValueError:
        personality = 0
    if personality & NO_RANDOMIZE:
        return warn("off for this process (setarch -R)")
    return ok("on")


@CHECKS("power supply", "On battery power the processors run slower.")
def _power(here: Here) -> Check | None:
    folder = "sys/class/power_supply"
    if not here.files.exists(folder):
        return None
    batteries, mains = [], []
    for supply in here.files.found(f"{folder}/*"):
        if here.files.text(f"{supply}/type") == "Battery":
            # scope Device: of a mouse or a headset
            batteries += [here.files.text(f"{supply}/status")] if here.files.text(f"{supply}/scope") != "Device" else []
        elif here.files.text(f"{supply}/type") in ("Mains", "USB"):
            mains.append(here.files.text(f"{supply}/online"))
    if "Discharging" in batteries:
        return bad("battery, discharging")
    if not batteries:
        return ok("no battery")
    if "1" in mains or {"Charging", "Full", "Not charging"} & set(batteries):
        return ok("mains")
    return unknown("a battery of unknown status")


def is_virtual(tree: MachineFiles) -> bool | None:
    """Return whether this is a virtual machine; None when nothing tells."""
    named = " ".join(
        tree.text(f"sys/class/dmi/id/{what}") or "" for what in ("sys_vendor", "product_name", "bios_vendor")
    )
    if _VENDORS.search(named):
        # a bare-metal instance of Amazon's has its maker's name in DMI as well
        return ".metal" not in named
    flags = re.search(r"^flags\s*:(.*)$", tree.text("proc/cpuinfo") or "", flags=re.MULTILINE)
    if flags is not None:
        return "hypervisor" in flags[1].split()
    # a board that is described by its device tree, or a maker's name that is not one of a hypervisor
    model = (tree.text("proc/device-tree/model") or "").strip("\0")
    if tree.exists("proc/device-tree/hypervisor") or tree.exists("sys/hypervisor/type") or model == "linux,dummy-virt":
        return True
    return False if model or named.strip() else None


@CHECKS("virtual machine", "Neighbours on the same hardware take caches, memory bandwidth and processor time.")
def _virtualization(here: Here) -> Check | None:
    virtual = is_virtual(here.files)
    return None if virtual is None else warn("yes") if virtual else ok("no")


@CHECKS("smt", "Two threads on one core slow each other down: a neighbour's work becomes part of the time.")
def _smt(here: Here) -> Check | None:
    active = here.files.text(f"{CPUS}/smt/active")
    if active == "1":
        return warn("on: processors share cores", f"echo off | sudo tee /{CPUS}/smt/control")
    if active != "0":
        return None
    if is_virtual(here.files) is not False:
        return unknown("none visible, but a virtual machine may have half cores")
    return ok("off")


SCALING_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp"})
"""Drivers whose "powersave" follows the load; that of all others stays at the lowest frequency
(Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst, cpufreq.rst)."""
_POWERSAVE = "power"


@CHECKS("governor", "When the frequency follows the load, a program's speed depends on what ran before it.")
def _governor(here: Here) -> Check | None:
    command = f"echo performance | sudo tee /{CPUS}/cpu*/cpufreq/scaling_governor"
    found = Counter(governors(here.files))
    if not found:
        return None
    value = ", ".join(found if len(found) == 1 else (f"{name} on {found[name]}" for name in sorted(found)))
    if set(found) == {"performance"}:
        return ok(value)
    drivers = set(here.files.texts(f"{CPUS}/cpu[0-9]*/cpufreq/scaling_driver").values())
    preferences = here.files.texts(f"{CPUS}/cpu[0-9]*/cpufreq/energy_performance_preference").values()
    if "powersave" in found and (drivers - SCALING_DRIVERS or _POWERSAVE in preferences):
        held = "The processors stay near their lowest frequency, where a program has other bottlenecks than usual."
        return bad(value, command, held)
    return warn(value, command)


@CHECKS("turbo", "How long turbo lasts depends on heat and on what the other processors do.")
def _boost(here: Here) -> Check | None:
    on = turbo(here.files)
    if on is None:
        return None
    intel = here.files.exists(f"{CPUS}/intel_pstate/no_turbo")
    everywhere = (
        f"/{CPUS}/cpufreq/boost" if here.files.exists(f"{CPUS}/cpufreq/boost") else f"/{CPUS}/cpu*/cpufreq/boost"
    )
    command = f"echo 1 | sudo tee /{CPUS}/intel_pstate/no_turbo" if intel else f"echo 0 | sudo tee {everywhere}"
    return warn("on", command) if on else ok("off")


@CHECKS("thermal throttling", "A hot processor slows down in the middle of a measurement.")
def _heat(here: Here) -> Check | None:
    before, count = (each.throttles for each in here.window)
    if count is None or before is None:
        return None
    if count > before:
        return bad(f"{plural(count - before, 'time')} while it was watched")
    if count:
        return warn(f"{plural(count, 'time')} since boot, not now")
    return ok("never since boot")


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
    "virtual machine", "smt", "aslr",
    "tools", "tracer", "temporary files",
)  # fmt: skip
"""What stays as it was made or set up."""
_STANDING = ("governor", "power supply", "memory", "temporary files")
"""What can make a machine unfit and is seen without watching it."""


def examine(tree: MachineFiles | None = None, seconds: float = WINDOW) -> list[Check]:
    """Run every check; it reads, computes for some seconds on one processor, and changes nothing.

    tree: the machine's files.
    """
    return _found((*_STATE, *_MADE), Here(tree or MachineFiles(), seconds))


def problems(tree: MachineFiles | None = None, seconds: float = QUICK_WINDOW, *, waits: bool = True) -> list[str]:
    """Name in words what makes the machine unfit now: "steal time: 23.1% of ..."; empty where it is fit.

    Of what can be bad, tools are not looked at: starting them takes longer than all the rest. waits: programs that wait
    for a processor make it unfit as well.
    """
    found = unfit(_found((*_STATE, "temporary files"), Here(tree or MachineFiles(), seconds)))
    return [f"{check.name}: {check.value}" for check in found if waits or check.name not in checks.WAITS]


def standing_problems(tree: MachineFiles | None = None) -> list[str]:
    """Name in words what makes the machine unfit as it is set up.

    It is not watched, which takes time: what happens during a run, the states before and after it show.
    """
    found = unfit(_found(_STANDING, Here(tree or MachineFiles(), 0.0)))
    return [f"{check.name}: {check.value}" for check in found]


def unfit(checks: Iterable[Check]) -> list[Check]:
    """Return the checks for which measuring now would mislead; none: the machine is fit."""
    return [check for check in checks if check.state == "bad"]


def _found(names: Iterable[str], here: Here) -> list[Check]:
    every = CHECKS | checks.CHECKS
    return [every[name](here) for name in names]
