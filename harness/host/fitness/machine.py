"""The kind of machine: virtual or not, on battery, its clock, its address layout, what it lets programs do."""

from __future__ import annotations

import re

from gate.model.warnings.hosts import OnBattery
from harness.host.fitness.host_check import Check, Checks, Here, bad, ok, unknown, warn
from harness.host.fitness.kernel_files import Tree

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
        return bad("battery, discharging", OnBattery())
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
