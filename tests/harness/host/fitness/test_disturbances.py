"""What the kernel does beside the measured program, from the files of machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.host.fitness import Check, Tree
from harness.host.fitness.check import Here
from harness.host.fitness.examination import CHECKS
from tests.support.machines import machine, write

CPUS = "sys/devices/system/cpu"
GROUP = "sys/fs/cgroup/job"
UNSHOWN = "this system does not show it"
V2 = {
    "proc/self/cgroup": "0::/job",
    "sys/fs/cgroup/cgroup.procs": "",
    f"{GROUP}/cgroup.procs": "",
    f"{CPUS}/online": "0-7",
}


def look(name: str, files: Tree) -> Check:
    return CHECKS[name](Here(files, 0))


IRQ, EFFECTIVE = "proc/irq/9/smp_affinity_list", f"{GROUP}/cpuset.cpus.effective"


def idling(*states: tuple[str, int, int]) -> dict[str, str]:
    """Name, latency and whether it is disabled of each state."""
    return {
        f"{CPUS}/cpu0/cpuidle/state{number}/{name}": str(text)
        for number, (label, latency, disabled) in enumerate(states)
        for name, text in (("name", label), ("latency", latency), ("disable", disabled))
    }


@pytest.mark.parametrize(
    ("name", "files", "state", "value"),
    [
        ("interrupts", {}, "unknown", UNSHOWN),
        ("interrupts", {IRQ: "0-7"}, "ok", "on processors 0-7"),
        ("interrupts", {IRQ: "0-3", "proc/irq/10/smp_affinity_list": "5"}, "ok", "on processors 0-3,5, never on 4,6-7"),
        ("interrupts", {IRQ: "0-7", f"{CPUS}/isolated": "6-7"}, "warn", "also on the isolated processors 6-7"),
        ("interrupts", {IRQ: "0-5", f"{CPUS}/isolated": "6-7"}, "ok", "on processors 0-5, never on 6-7"),
        ("idle states", {}, "unknown", UNSHOWN),
        ("idle states", {f"{CPUS}/cpuidle/current_driver": "none"}, "ok", "none"),
        ("idle states", idling(("POLL", 0, 0), ("C1", 2, 0)), "ok", "down to C1, which takes 2 us to leave"),
        ("idle states", idling(("POLL", 0, 0), ("C1", 2, 0), ("C10", 890, 0)), "warn", "down to C10, which takes 890 us to leave"),
        ("idle states", idling(("POLL", 0, 0), ("C1", 2, 0), ("C10", 890, 1)), "ok", "down to C1, which takes 2 us to leave"),
        ("cpuset", {}, "ok", "none"),
        ("nmi watchdog", {"proc/sys/kernel/nmi_watchdog": "0"}, "ok", "off"),
        ("nmi watchdog", {"proc/sys/kernel/nmi_watchdog": "1"}, "warn", "on"),
        ("nmi watchdog", {"proc/sys/kernel/nmi_watchdog": ""}, "unknown", UNSHOWN),
        ("cpuset", {EFFECTIVE: "0-7"}, "ok", "none: all 8 processors"),
        ("cpuset", {EFFECTIVE: "2-3"}, "warn", "2 of 8 processors (2-3), shared with other groups"),
        ("cpuset", {EFFECTIVE: "2-3", f"{GROUP}/cpuset.cpus.partition": "isolated"}, "ok", "2 of 8 processors (2-3), for this group alone"),
        ("cpuset", {"proc/self/cgroup": ""}, "unknown", UNSHOWN),
        # of the group around it
        ("cpuset", {"sys/fs/cgroup/cpuset.cpus.effective": "0-3"}, "warn", "4 of 8 processors (0-3), shared with other groups"),
    ],
)  # fmt: skip
def test_single_checks(tmp_path: Path, name: str, files: dict[str, str], state: str, value: str) -> None:
    write(tmp_path, {**V2, **files})
    check = look(name, Tree(tmp_path))
    assert (check.state, check.value) == (state, value)
    assert name == "cpuset" or (check.command is not None) == (state == "warn")


def test_cpusets_of_version_1(tmp_path: Path) -> None:
    of = machine(tmp_path, "cloud-vm")
    assert (look("cpuset", of).state, look("cpuset", of).value) == ("ok", "none: all 2 processors")
    write(
        tmp_path, {"sys/fs/cgroup/cpuset/cpuset.effective_cpus": "1", "sys/fs/cgroup/cpuset/cpuset.cpu_exclusive": "0"}
    )
    check = look("cpuset", of)
    assert (check.state, check.value) == ("warn", "1 of 2 processors (1), shared with other groups")


@pytest.mark.parametrize(("given", "told"), [(-20, "go before others"), (0, "share processors with others")])
def test_whether_measured_programs_go_first(monkeypatch: pytest.MonkeyPatch, given: int, told: str) -> None:
    monkeypatch.setattr("harness.host.fitness.examination.given_priority", lambda: given)
    found = look("priority", Tree())
    assert (found.state, found.value) == ("ok", f"{given}: measured programs {told}")
