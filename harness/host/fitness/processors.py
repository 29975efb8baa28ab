"""Processors: siblings, kinds, nodes, which of them this process may use, and their frequency."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from gate.model.warnings.hosts import HeldDown, LowPowerProfile
from gate.units import plural
from harness.host.fitness.counters import FIRMWARE, Window, governors, turbo
from harness.host.fitness.kernel_files import CPUS, Check, Tree, cpu_list, unreadable, whole, written
from harness.host.fitness.machine import is_virtual

OTHER_KIND = 0.9
"""A processor whose highest frequency is below this share of the fastest is of another kind. Favoured cores of one
kind differ by some percent (Intel Turbo Boost Max 3.0), big and little ones by a third and more."""


def smt(tree: Tree) -> Check:
    """Look whether two processors share one core."""
    name, why = "smt", "Two threads on one core slow each other down: a neighbour's work becomes part of the time."
    active = tree.text(f"{CPUS}/smt/active")
    if active == "1":
        return Check(name, "warn", "on: processors share cores", why, f"echo off | sudo tee /{CPUS}/smt/control")
    if active != "0":
        return unreadable(name, why)
    if is_virtual(tree) is not False:
        return unreadable(name, why, "none visible, but a virtual machine may have half cores")
    return Check(name, "ok", "off", why)


def isolated(tree: Tree) -> Check:
    """Tell which processors the scheduler leaves alone: information."""
    name, why = "isolated cpus", "Nothing else runs on an isolated processor (isolcpus=)."
    texts = {what: tree.text(f"{CPUS}/{what}") for what in ("isolated", "nohz_full")}
    if texts["isolated"] is None:
        return unreadable(name, why)
    # "(null)" is what some kernels write for none
    parts = [f"{text} {what}" for what, text in texts.items() if text and text != "(null)"]
    hint = f'; cpus = "{texts["isolated"]}" in a [[benchmark]] uses them' if texts["isolated"] else ""
    return Check(name, "ok", ", ".join(parts) + hint if parts else "none", why)


def affinity(tree: Tree) -> Check:
    """Look at the processors that this process may use."""
    name = "affinity"
    why = "With a single processor, perfgate and all services run on the one that is measured."
    status = re.search(r"^Cpus_allowed_list:\s*(\S+)$", tree.text("proc/self/status") or "", flags=re.MULTILINE)
    online = tree.text(f"{CPUS}/online")
    if status is None:
        return unreadable(name, why)
    allowed = len(cpu_list(status[1]))
    every = len(cpu_list(online)) if online else allowed
    of = f" of {every}" if online else ""
    value = f"{allowed}{of} {'processor' if every == 1 else 'processors'} ({status[1]})"
    return Check(name, "warn" if allowed == 1 else "ok", value, why)


def kinds(tree: Tree) -> Check:
    """Look whether the processors are of one kind."""
    name = "processor kinds"
    why = "A program takes longer on a slow core than on a fast one, and the scheduler chooses which."
    groups = _groups(tree)
    if not groups:
        return unreadable(name, why)
    if len(groups) == 1:
        return Check(name, "ok", "all of one kind", why)
    value = "; ".join(f"{kind}: {written(cpus)}" for kind, cpus in groups.items())
    fastest = written(next(iter(groups.values())))
    return Check(name, "warn", value, why, f'cpus = "{fastest}"  # in each [[benchmark]] of perfgate.toml')


def _groups(tree: Tree) -> dict[str, list[int]]:
    """Group the processors by kind, the fastest kind first; empty where nothing tells."""
    hybrid = {
        "fast cores": tree.text("sys/devices/cpu_core/cpus"),
        "slow cores": tree.text("sys/devices/cpu_atom/cpus"),
    }
    if all(hybrid.values()):
        return {kind: cpu_list(text or "") for kind, text in hybrid.items()}
    speeds = _speeds(tree)
    models = _models(tree)
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


def _speeds(tree: Tree) -> dict[int, int]:
    # cpu_capacity knows that a little core does less with a cycle
    for what in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        found = {
            int(name.removeprefix(f"{CPUS}/cpu").partition("/")[0]): whole(text)
            for name, text in tree.texts(f"{CPUS}/cpu[0-9]*/{what}").items()
        }
        known = {cpu: speed for cpu, speed in found.items() if speed}
        if known:
            return known
    return {}


def _models(tree: Tree) -> dict[int, str]:
    models = {}
    for block in (tree.text("proc/cpuinfo") or "").split("\n\n"):
        fields = dict(re.findall(r"^([^\t\n:]+?)[ \t]*:[ \t]*(.+?)[ \t]*$", block, flags=re.MULTILINE))
        cpu = whole(fields.get("processor"))
        part = f"part {fields['CPU part']}" if "CPU part" in fields else ""
        if cpu is not None:
            models[cpu] = part or fields.get("model name", "")
    return models


def nodes(tree: Tree) -> Check:
    """Look whether all memory is equally near to all processors."""
    name = "numa nodes"
    why = "Memory of another node is slower, so a program's speed depends on where it runs."
    online = tree.text("sys/devices/system/node/online")
    if online is None:
        return unreadable(name, why)
    count = len(cpu_list(online))
    if count <= 1:
        return Check(name, "ok", "1", why)
    near = tree.text(f"sys/devices/system/node/node{cpu_list(online)[0]}/cpulist")
    command = f'cpus = "{near}"  # in each [[benchmark]] of perfgate.toml' if near else None
    return Check(name, "warn", str(count), why, command)


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
    drivers = set(tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/scaling_driver").values())
    preferences = tree.texts(f"{CPUS}/cpu[0-9]*/cpufreq/energy_performance_preference").values()
    if "powersave" in found and (drivers - SCALING_DRIVERS or _POWERSAVE in preferences):
        held = "The processors stay near their lowest frequency, where a program has other bottlenecks than usual."
        return Check("governor", "bad", value, held, command, HeldDown(names))
    return Check("governor", "warn", value, why, command)


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
        try:
            bits = int(tree.text(FIRMWARE) or "", 16)
        except ValueError:
            return unreadable(name, why)
        if bits & _NOW:
            return Check(name, "bad", f"now: {_named(bits)}", why)
        if bits & _EVER:
            return Check(name, "warn", f"since boot, not now: {_named(bits >> 16)}", why)
        return Check(name, "ok", "never since boot", why)
    if count > before:
        return Check(name, "bad", f"{plural(count - before, 'time')} while it was watched", why)
    if count:
        return Check(name, "warn", f"{plural(count, 'time')} since boot, not now", why)
    return Check(name, "ok", "never since boot", why)


def _named(bits: int) -> str:
    return ", ".join(text for place, text in enumerate(_FIRMWARE_BITS) if bits >> place & 1)
