"""The machine: virtual or not, on battery, its clock, its address layout; its processors and which may be used."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from gate.units import plural
from harness.host.fitness.counters import governors, turbo
from harness.host.fitness.host_check import Check, Checks, Here, bad, ok, unknown, warn
from harness.host.fitness.kernel_files import CPUS, Tree, cpu_list, whole, written

CHECKS = Checks()
_CLOCK = "sys/devices/system/clocksource/clocksource0"
FAST_CLOCKS = frozenset(
    {
        "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "riscv_clocksource", "tod",
    }
)  # fmt: skip
"""Clocks that a program reads without entering the kernel, or nearly so."""
SLOW_CLOCKS = frozenset({"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen", "hyperv_clocksource_msr"})
"""Clocks behind a system call and a device or a hypercall; xen: Amazon advises tsc in its place."""
NO_RANDOMIZE = 0x0040000
"""ADDR_NO_RANDOMIZE of personality(2), as `setarch -R` sets it."""
# Names in DMI, as systemd-detect-virt knows them (src/basic/virt.c).
_VENDORS = {
    "QEMU": "QEMU", "VMware": "VMware", "VirtualBox": "VirtualBox", "innotek": "VirtualBox", "Xen": "Xen",
    "Bochs": "Bochs", "Parallels": "Parallels", "BHYVE": "bhyve", "KVM": "KVM", "OpenStack": "OpenStack",
    "Amazon EC2": "Amazon EC2", "Google Compute Engine": "Google Compute Engine", "Virtual Machine": "Hyper-V",
    "Apple Virtualization": "Apple Virtualization",
}  # fmt: skip

_CLOCKS = {"kvm-clock": "KVM", "hyperv_clocksource": "Hyper-V", "xen": "Xen"}


@CHECKS("clock source", "A slow clock adds a microsecond or more to each reading, which distorts short iterations.")
def _clock(here: Here) -> Check | None:
    current = here.files.text(f"{_CLOCK}/current_clocksource")
    if current in FAST_CLOCKS:
        return ok(current)
    if current not in SLOW_CLOCKS:
        return unknown(f"{current}, which perfgate does not know") if current else None
    others = FAST_CLOCKS & set((here.files.text(f"{_CLOCK}/available_clocksource") or "").split())
    command = f"echo {min(others)} | sudo tee /{_CLOCK}/current_clocksource" if others else None
    return warn(current, command)


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


def hypervisor(tree: Tree) -> str | None:
    """Name what virtual machine this is; "" for none, None when nothing tells."""
    named = " ".join(
        tree.text(f"sys/class/dmi/id/{what}") or "" for what in ("sys_vendor", "product_name", "bios_vendor")
    )
    for text, kind in _VENDORS.items():
        if text in named:
            # a bare-metal instance of Amazon's has its maker's name in DMI as well
            return "" if ".metal" in named else kind
    flags = re.search(r"^flags\s*:(.*)$", tree.text("proc/cpuinfo") or "", flags=re.MULTILINE)
    if flags is not None:
        # one that has no DMI, such as Firecracker's, is known by the clock that it offers
        clocks = tree.text(f"{_CLOCK}/available_clocksource") or ""
        kind = next((kind for clock, kind in _CLOCKS.items() if clock in clocks), "of unknown type")
        return kind if "hypervisor" in flags[1].split() else ""
    if tree.exists("proc/device-tree/hypervisor") or tree.exists("sys/hypervisor/type"):
        return "of unknown make"
    # a board that is described by its device tree, or a maker's name that is not one of a hypervisor
    model = (tree.text("proc/device-tree/model") or "").strip("\0")
    if model == "linux,dummy-virt":
        return "QEMU"
    return "" if model or named.strip() else None


def is_virtual(tree: Tree) -> bool | None:
    """Return whether this is a virtual machine; None when nothing tells."""
    kind = hypervisor(tree)
    return None if kind is None else kind != ""


@CHECKS("virtual machine", "Neighbours on the same hardware take caches, memory bandwidth and processor time.")
def _virtualization(here: Here) -> Check | None:
    kind = hypervisor(here.files)
    if kind is None:
        return None
    return warn(f"yes, {kind}") if kind else ok("no")


DEEP = 50
"""Microseconds to wake up from which a sleep is deep: five percent of a millisecond."""
OTHER_KIND = 0.9
"""A processor whose highest frequency is below this share of the fastest is of another kind. Favoured cores of one
kind differ by some percent (Intel Turbo Boost Max 3.0), big and little ones by a third and more."""


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


@CHECKS("affinity", "With a single processor, perfgate and all services run on the one that is measured.")
def _affinity(here: Here) -> Check | None:
    status = re.search(r"^Cpus_allowed_list:\s*(\S+)$", here.files.text("proc/self/status") or "", flags=re.MULTILINE)
    online = here.files.text(f"{CPUS}/online")
    if status is None:
        return None
    allowed = len(cpu_list(status[1]))
    every = len(cpu_list(online)) if online else allowed
    of = f" of {every}" if online else ""
    value = f"{allowed}{of} {'processor' if every == 1 else 'processors'} ({status[1]})"
    return warn(value) if allowed == 1 else ok(value)


@CHECKS("isolated cpus", "Nothing else runs on an isolated processor (isolcpus=), unless interrupts are handled there.")
def _isolated(here: Here) -> Check | None:
    text = here.files.text(f"{CPUS}/isolated")
    if text in (None, "", "(null)"):  # what some kernels write for none
        return None if text is None else ok("none")
    interrupts = here.files.texts("proc/irq/[0-9]*/smp_affinity_list").values()
    met = {cpu for each in interrupts for cpu in cpu_list(each)} & {*cpu_list(text)}
    if met:
        others = written({*cpu_list(here.files.text(f"{CPUS}/online") or "")} - {*cpu_list(text)})
        command = f"for irq in /proc/irq/[0-9]*; do echo {others} | sudo tee $irq/smp_affinity_list; done"
        return warn(f"{text}; {written(met)} may handle interrupts", command)
    return ok(f'{text}; cpus = "{text}" in a [[benchmark]] uses them')


@CHECKS(
    "idle states", "When a program has waited, its processor is asleep, and waking it is part of the measured time."
)
def _idle(here: Here) -> Check | None:
    # Documentation/admin-guide/pm/cpuidle.rst
    states: dict[int, str] = {}
    for folder in here.files.found(f"{CPUS}/cpu0/cpuidle/state[0-9]*"):
        latency = whole(here.files.text(f"{folder}/latency"))
        if latency is not None and here.files.text(f"{folder}/disable") != "1":
            states[latency] = here.files.text(f"{folder}/name") or ""
    if not states:
        return ok("none") if here.files.text(f"{CPUS}/cpuidle/current_driver") == "none" else None
    value = f"down to {states[max(states)]}, which takes {max(states)} us to leave"
    return ok(value) if max(states) < DEEP else warn(value, f"sudo cpupower idle-set --disable-by-latency {DEEP}")


@CHECKS("processor kinds", "A program takes longer on a slow core than on a fast one, and the scheduler chooses which.")
def _kinds(here: Here) -> Check | None:
    groups = _groups(here.files)
    if not groups:
        return None
    if len(groups) == 1:
        return ok("all of one kind")
    value = "; ".join(f"{kind}: {written(cpus)}" for kind, cpus in groups.items())
    fastest = written(next(iter(groups.values())))
    return warn(value, f'cpus = "{fastest}"  # in each [[benchmark]] of perfgate.toml')


def _groups(tree: Tree) -> dict[str, list[int]]:
    """Group the processors by kind, the fastest kind first; empty where nothing tells."""
    hybrid = {
        "fast cores": tree.text("sys/devices/cpu_core/cpus"),
        "slow cores": tree.text("sys/devices/cpu_atom/cpus"),
    }
    if all(hybrid.values()):
        return {kind: cpu_list(text or "") for kind, text in hybrid.items()}
    speeds: dict[int, int] = {}
    # cpu_capacity knows that a little core does less with a cycle
    for what in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        for name, text in tree.texts(f"{CPUS}/cpu[0-9]*/{what}").items() if not speeds else ():
            if speed := whole(text):
                speeds[int(name.removeprefix(f"{CPUS}/cpu").partition("/")[0])] = speed
    models = {}
    for block in (tree.text("proc/cpuinfo") or "").split("\n\n"):
        fields = dict(re.findall(r"^([^\t\n:]+?)[ \t]*:[ \t]*(.+?)[ \t]*$", block, flags=re.MULTILINE))
        if (cpu := whole(fields.get("processor"))) is not None:
            models[cpu] = f"part {fields['CPU part']}" if "CPU part" in fields else fields.get("model name", "")
    fastest = max(speeds.values(), default=0)
    groups: dict[tuple[float, str], list[int]] = defaultdict(list)
    for cpu in sorted(speeds.keys() | models.keys()):
        speed = speeds.get(cpu, fastest)
        # of one kind with the fastest, whatever the last percents
        rounded = fastest if speed >= OTHER_KIND * fastest else speed
        groups[-rounded, models.get(cpu, "")].append(cpu)
    return {
        " ".join(part for part in (model, f"{-speed / fastest:.0%} speed" if speed > -fastest else "") if part)
        or "full speed": cpus
        for (speed, model), cpus in sorted(groups.items())
    }


@CHECKS("numa nodes", "Memory of another node is slower, so a program's speed depends on where it runs.")
def _nodes(here: Here) -> Check | None:
    online = here.files.text("sys/devices/system/node/online")
    if online is None:
        return None
    count = len(cpu_list(online))
    if count <= 1:
        return ok("1")
    near = here.files.text(f"sys/devices/system/node/node{cpu_list(online)[0]}/cpulist")
    command = f'cpus = "{near}"  # in each [[benchmark]] of perfgate.toml' if near else None
    return warn(str(count), command)


SCALING_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp"})
"""Drivers whose "powersave" follows the load; that of all others stays at the lowest frequency
(Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst, cpufreq.rst)."""
_POWERSAVE = "power"
_LOW_POWER = "low-power"


@CHECKS("governor", "When the frequency follows the load, a program's speed depends on what ran before it.")
def _governor(here: Here) -> Check | None:
    command = f"echo performance | sudo tee /{CPUS}/cpu*/cpufreq/scaling_governor"
    profile = here.files.text("sys/firmware/acpi/platform_profile")
    found = Counter(governors(here.files))
    if profile == _LOW_POWER:
        held = "The platform saves power: the processors do not reach the speed that users see."
        command = "echo balanced | sudo tee /sys/firmware/acpi/platform_profile"
        return bad("platform profile low-power", command, held)
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
    count, before = here.window.end.throttles, here.window.begin.throttles
    if count is None or before is None:
        return None
    if count > before:
        return bad(f"{plural(count - before, 'time')} while it was watched")
    if count:
        return warn(f"{plural(count, 'time')} since boot, not now")
    return ok("never since boot")
