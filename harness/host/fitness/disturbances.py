"""What the kernel does beside the measured program: interrupts, idle states, its watchdog, groups of programs."""

from __future__ import annotations

from harness.host.fitness.cgroup import group
from harness.host.fitness.kernel_files import CPUS, Check, Tree, cpu_list, unreadable, whole, written

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


def autogroup(tree: Tree) -> Check:
    """Tell how the scheduler divides processors, sched(7): information, as perfgate starts programs in own sessions."""
    name = "autogroup"
    why = "The scheduler shares processors between groups first: a load of many processes gets as much as one process."
    on = tree.text("proc/sys/kernel/sched_autogroup_enabled")
    if on not in ("0", "1"):
        return unreadable(name, why)
    value = "on: benchmark, service and load are one scheduling group each" if on == "1" else "off"
    return Check(name, "ok", value, why)


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
