"""What the kernel does beside the measured program, from the files of machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.host.fitness.check import Check, Here
from harness.host.fitness.examination import CHECKS
from harness.host.fitness.kernel_files import Tree
from tests.support.machines import write

CPUS = "sys/devices/system/cpu"
UNSHOWN = "this system does not show it"


def look(name: str, files: Tree) -> Check:
    return CHECKS[name](Here(files, 0))


IRQ = "proc/irq/9/smp_affinity_list"


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
    ],
)  # fmt: skip
def test_single_checks(tmp_path: Path, name: str, files: dict[str, str], state: str, value: str) -> None:
    write(tmp_path, {f"{CPUS}/online": "0-7", **files})
    check = look(name, Tree(tmp_path))
    assert (check.state, check.value) == (state, value)
    assert (check.command is not None) == (state == "warn")
