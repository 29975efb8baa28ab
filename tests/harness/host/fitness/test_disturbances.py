"""What the kernel does beside the measured program, from the files of machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.host.fitness import Tree
from harness.host.fitness.examination import autogroup, cpuset, idle, interrupts, watchdog
from tests.support.machines import machine, write

CPUS = "sys/devices/system/cpu"
GROUP = "sys/fs/cgroup/job"
V2 = {
    "proc/self/cgroup": "0::/job",
    "sys/fs/cgroup/cgroup.procs": "",
    f"{GROUP}/cgroup.procs": "",
    f"{CPUS}/online": "0-7",
}


def tree(root: Path, files: Mapping[str, str | None]) -> Tree:
    write(root, files)
    return Tree(root)


@pytest.mark.parametrize(
    ("files", "state", "value"),
    [
        ({}, "unknown", "this system does not show it"),
        ({"proc/irq/9/smp_affinity_list": "0-7"}, "ok", "on processors 0-7"),
        (
            {"proc/irq/9/smp_affinity_list": "0-3", "proc/irq/10/smp_affinity_list": "5"},
            "ok",
            "on processors 0-3,5, never on 4,6-7",
        ),
        (
            {"proc/irq/9/smp_affinity_list": "0-7", f"{CPUS}/isolated": "6-7"},
            "warn",
            "also on the isolated processors 6-7",
        ),
        ({"proc/irq/9/smp_affinity_list": "0-5", f"{CPUS}/isolated": "6-7"}, "ok", "on processors 0-5, never on 6-7"),
    ],
)
def test_interrupts(tmp_path: Path, files: dict[str, str | None], state: str, value: str) -> None:
    check = interrupts(tree(tmp_path, {f"{CPUS}/online": "0-7", **files}))
    assert (check.state, check.value) == (state, value)
    assert (check.command is not None) == (state == "warn")


def state_files(*states: tuple[str, int, int]) -> dict[str, str | None]:
    return {
        f"{CPUS}/cpu0/cpuidle/state{number}/{name}": str(text)
        for number, (label, latency, disabled) in enumerate(states)
        for name, text in (("name", label), ("latency", latency), ("disable", disabled))
    }


@pytest.mark.parametrize(
    ("files", "state", "value"),
    [
        ({}, "unknown", "this system does not show it"),
        ({f"{CPUS}/cpuidle/current_driver": "none"}, "ok", "none"),
        (state_files(("POLL", 0, 0), ("C1", 2, 0)), "ok", "down to C1, which takes 2 us to leave"),
        (
            state_files(("POLL", 0, 0), ("C1", 2, 0), ("C10", 890, 0)),
            "warn",
            "down to C10, which takes 890 us to leave",
        ),
        (state_files(("POLL", 0, 0), ("C1", 2, 0), ("C10", 890, 1)), "ok", "down to C1, which takes 2 us to leave"),
    ],
)
def test_idle_states(tmp_path: Path, files: dict[str, str | None], state: str, value: str) -> None:
    check = idle(tree(tmp_path, files))
    assert (check.state, check.value) == (state, value)


@pytest.mark.parametrize(("text", "state"), [("0", "ok"), ("1", "warn"), ("", "unknown")])
def test_the_watchdog(tmp_path: Path, text: str, state: str) -> None:
    check = watchdog(tree(tmp_path, {"proc/sys/kernel/nmi_watchdog": text}))
    assert check.state == state
    assert check.command == ("sudo sysctl kernel.nmi_watchdog=0" if state == "warn" else None)


@pytest.mark.parametrize(
    ("text", "state", "value"),
    [
        ("0", "ok", "off"),
        ("1", "ok", "on: benchmark, service and load are one scheduling group each"),
        ("x", "unknown", "this system does not show it"),
    ],
)
def test_autogroups(tmp_path: Path, text: str, state: str, value: str) -> None:
    check = autogroup(tree(tmp_path, {"proc/sys/kernel/sched_autogroup_enabled": text}))
    assert (check.state, check.value) == (state, value)


@pytest.mark.parametrize(
    ("files", "state", "value"),
    [
        ({}, "ok", "none"),
        ({f"{GROUP}/cpuset.cpus.effective": "0-7"}, "ok", "none: all 8 processors"),
        ({f"{GROUP}/cpuset.cpus.effective": "2-3"}, "warn", "2 of 8 processors (2-3), shared with other groups"),
        (
            {f"{GROUP}/cpuset.cpus.effective": "2-3", f"{GROUP}/cpuset.cpus.partition": "isolated"},
            "ok",
            "2 of 8 processors (2-3), for this group alone",
        ),
        ({"proc/self/cgroup": ""}, "unknown", "this system does not show it"),
        # of the group around it
        ({"sys/fs/cgroup/cpuset.cpus.effective": "0-3"}, "warn", "4 of 8 processors (0-3), shared with other groups"),
    ],
)
def test_cpusets(tmp_path: Path, files: dict[str, str | None], state: str, value: str) -> None:
    check = cpuset(tree(tmp_path, {**V2, **files}))
    assert (check.state, check.value) == (state, value)


def test_cpusets_of_version_1(tmp_path: Path) -> None:
    of = machine(tmp_path, "cloud-vm")
    assert (cpuset(of).state, cpuset(of).value) == ("ok", "none: all 2 processors")
    write(
        tmp_path, {"sys/fs/cgroup/cpuset/cpuset.effective_cpus": "1", "sys/fs/cgroup/cpuset/cpuset.cpu_exclusive": "0"}
    )
    assert (cpuset(of).state, cpuset(of).value) == ("warn", "1 of 2 processors (1), shared with other groups")
