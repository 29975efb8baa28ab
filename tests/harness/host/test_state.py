"""The state of a machine as a run keeps it."""

from __future__ import annotations

import json
from pathlib import Path

from harness.host.fitness.counters import state
from harness.host.fitness.kernel_files import Tree
from tests.support.machines import machine


def test_the_state_of_a_virtual_machine(tmp_path: Path) -> None:
    found = state(machine(tmp_path, "cloud-vm"))
    assert found.pop("time").endswith("Z")
    assert found == {
        "kernel": "6.18.44-fc-v657",
        "uptime": 22936.04,
        "load": 2.95,
        "processors": 2,
        "cpu_total": 1892618 + 432213 + 282217 + 1939434 + 11021 + 3999 + 4971,
        "cpu_idle": 1939434 + 11021,
        "cpu_steal": 4971,
        "pressure_cpu": 6643593704,
        "pressure_memory": 0,
        "pressure_io": 144666074,
        "throttled": 0,
        "throttled_seconds": 0.0,
        "swap_in": 0,
        "swap_out": 0,
        "oom_kills": 0,
        "memory_available": 23975404 * 1024,
    }


def test_the_state_of_a_laptop(tmp_path: Path) -> None:
    found = state(machine(tmp_path, "laptop"))
    assert (found["governor"], found["turbo"], found["thermal_throttles"]) == ("powersave", True, 0)
    assert "throttled" not in found, "its control group has no quota"


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    assert set(state(Tree(tmp_path))) == {"time"}


def test_the_state_here_is_json() -> None:
    found = state()
    assert json.loads(json.dumps(found)) == found
