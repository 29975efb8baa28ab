"""Processor frequency: governor, turbo, heat."""

from __future__ import annotations

from collections import Counter

from gate.model.warnings.hosts import HeldDown, LowPowerProfile
from harness.host.fitness.counters import FIRMWARE, Window, governors, turbo
from harness.host.fitness.reading import CPUS, Check, Tree, unreadable

SCALING_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp"})
"""Drivers whose "powersave" follows the load; that of all others stays at the lowest frequency
(Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst, cpufreq.rst)."""
_POWERSAVE = "power"
_LOW_POWER = "low-power"
_NOW = 0xF
_EVER = 0xF0000
_FIRMWARE_BITS = ("too little voltage", "frequency capped", "throttled", "soft temperature limit")


def governor(tree: Tree) -> Check:
    """Look at what decides the frequency; bad where it is held down."""
    why = "When the frequency follows the load, a program's speed depends on what ran before it."
    command = f"echo performance | sudo tee /{CPUS}/cpu*/cpufreq/scaling_governor"
    profile = tree.text("sys/firmware/acpi/platform_profile")
    found = Counter(governors(tree))
    if profile == _LOW_POWER:
        held = "The platform saves power: the processors do not reach the speed that users see."
        return Check(
            "governor", "bad", "platform profile low-power", held,
            "echo balanced | sudo tee /sys/firmware/acpi/platform_profile", LowPowerProfile(),
        )  # fmt: skip
    if not found:
        return unreadable("governor", why)
    names = tuple(found) if len(found) == 1 else tuple(f"{name} on {found[name]}" for name in sorted(found))
    value = ", ".join(names)
    if set(found) == {"performance"}:
        return Check("governor", "ok", value, why)
    if "powersave" in found and _held_down(tree):
        held = "The processors stay near their lowest frequency, where a program has other bottlenecks than usual."
        return Check("governor", "bad", value, held, command, HeldDown(names))
    return Check("governor", "warn", value, why, command)


def _held_down(tree: Tree) -> bool:
    drivers = set(tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/scaling_driver").values())
    preferences = set(tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/energy_performance_preference").values())
    return bool(drivers - SCALING_DRIVERS) or _POWERSAVE in preferences


def boost(tree: Tree) -> Check:
    """Look whether processors may go beyond their nominal frequency."""
    why = "How long turbo lasts depends on heat and on what the other processors do."
    on = turbo(tree)
    if on is None:
        return unreadable("turbo", why)
    intel = tree.exists(f"{CPUS}/intel_pstate/no_turbo")
    everywhere = f"/{CPUS}/cpufreq/boost" if tree.exists(f"{CPUS}/cpufreq/boost") else f"/{CPUS}/cpu*/cpufreq/boost"
    command = f"echo 1 | sudo tee /{CPUS}/intel_pstate/no_turbo" if intel else f"echo 0 | sudo tee {everywhere}"
    return Check("turbo", "warn", "on", why, command) if on else Check("turbo", "ok", "off", why)


def heat(tree: Tree, window: Window) -> Check:
    """Look whether processors are slowed down for their heat; bad when that happens now."""
    why = "A hot processor slows down in the middle of a measurement."
    name = "thermal throttling"
    count, before = window.end.throttles, window.begin.throttles
    if count is None or before is None:
        return _firmware(tree, name, why)
    if count > before:
        return Check(name, "bad", f"{count - before} times while it was watched", why)
    if count:
        return Check(name, "warn", f"{count} times since boot, not now", why)
    return Check(name, "ok", "never since boot", why)


def _firmware(tree: Tree, name: str, why: str) -> Check:
    try:
        bits = int(tree.text(FIRMWARE) or "", 16)
    except ValueError:
        return unreadable(name, why)
    if bits & _NOW:
        return Check(name, "bad", f"now: {_named(bits)}", why)
    if bits & _EVER:
        return Check(name, "warn", f"since boot, not now: {_named(bits >> 16)}", why)
    return Check(name, "ok", "never since boot", why)


def _named(bits: int) -> str:
    return ", ".join(text for place, text in enumerate(_FIRMWARE_BITS) if bits >> place & 1)
