"""What is known of the machine and its state; host names and boot ids do not leave it, and still tell machines apart."""

import json
import os
import re
import socket
from pathlib import Path

import pytest

from harness.host.facts import UNKNOWN, Facts, cpu_model, facts, fingerprint, machine_key, pseudonym
from harness.host.fitness.counters import MachineFiles, state
from tests.support.machines import machine
from tests.support.project import small_project


def test_facts_are_json_and_complete_also_without_nice_values(monkeypatch: pytest.MonkeyPatch) -> None:
    known = facts()
    assert json.loads(json.dumps(known)) == known
    names = "os kernel machine cpu cores affinity memory priority hostname python boot_id fingerprint"
    assert list(known) == names.split()
    assert all(value != "" for value in known.values())
    assert facts()["fingerprint"] == known["fingerprint"]
    # the same boot by either
    assert known["boot_id"] == state().get("boot_id", "unknown")
    monkeypatch.delattr(os, "getpriority")
    assert facts()["priority"] == 0


SEEN = [(1, 0.93), (1, 1.0), (2, 1.91), (7, 6.76), (8, 7.5), (8, 7.75), (16, 15.49), (16, 15.51), (24, 23.45), (24, 23.55),
        (32, 30.6), (64, 62.49), (64, 62.51), (512, 503.4)]  # fmt: skip
"""GiB of memory that is sold, and that Linux tells of."""


def test_the_fingerprint_knows_the_make_and_not_the_machine_and_stays_what_it_was() -> None:
    known = facts() | {"cpu": "x", "cores": 8, "memory": 16 * 2**30}
    same = known | {"hostname": "other", "boot_id": "other", "kernel": "9", "python": "3.99", "affinity": 1}
    assert fingerprint(same) == fingerprint(known)
    # what the kernel keeps of the memory is no other machine
    for sold, seen in SEEN:
        alike, other = known | {"memory": int(seen * 2**30)}, known | {"memory": sold * 2**30}
        assert fingerprint(alike) == fingerprint(other)
    changes: list[Facts] = [
        {"cpu": "y"}, {"cores": 4}, {"memory": 8 * 2**30}, {"machine": "z80"}, {"memory": UNKNOWN}, {"os": "x"},
    ]  # fmt: skip
    for change in changes:
        assert fingerprint(known | change) != fingerprint(known)
    # what was calibrated by an earlier perfgate stays usable: this hash does not change
    known = {"cpu": "x", "cores": 8, "memory": 16 * 2**30, "machine": "x86_64", "os": "Linux"}
    assert fingerprint(known) == "f46a24c003593beb4ec7b0d478741bb8ecfb42e788e9d4b87c4d3cf536667339"


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("model\t\t: 1\nmodel name\t: AMD EPYC  9V74 80-Core\nbogomips\t: 5\n\n", "AMD EPYC 9V74 80-Core"),
        ("BogoMIPS\t: 50\nCPU implementer\t: 0x41\nCPU part\t: 0xd49\n", "ARM implementer 0x41 part 0xd49"),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
    ],
)
def test_the_processors_name(text: str, model: str) -> None:
    assert cpu_model(text) == model


def test_the_state_of_a_machine(tmp_path: Path) -> None:
    found = state(machine(tmp_path / "vm", "cloud-vm"))
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
    laptop = state(machine(tmp_path / "laptop", "laptop"))
    assert (laptop["governor"], laptop["turbo"], laptop["thermal_throttles"]) == ("powersave", True, 0)
    assert "throttled" not in laptop, "its control group has no quota"
    # what cannot be read is left out
    assert set(state(MachineFiles(tmp_path / "nowhere"))) == {"time"}
    here = state()
    assert json.loads(json.dumps(here)) == here


NAME = "db-primary-7.internal.example"


def test_a_pseudonym_is_the_same_on_one_machine_and_another_on_another(tmp_path: Path) -> None:
    one, other = b"0123456789abcdef0123456789abcdef", b"f123456789abcdef0123456789abcdef"
    first = pseudonym("host", NAME, one)
    assert re.fullmatch("[0-9a-f]{12}", first)
    assert pseudonym("host", NAME, one) == first
    others = [pseudonym("host", NAME, other), pseudonym("host", "db-primary-8", one), pseudonym("boot", NAME, one)]
    assert len({first, *others}) == 4
    for name, text in (("empty", ""), ("first-boot", "uninitialized\n"), ("id", "abc\n"), ("later", "xyz\n")):
        (tmp_path / name).write_text(text)
    names = ("missing", "empty", "first-boot", "id", "later")
    assert machine_key(tuple(str(tmp_path / name) for name in names)) == b"abc"
    assert machine_key((str(tmp_path / "missing"),)) == machine_key(()) != b""


@pytest.mark.xdist_group("measures")
def test_nothing_that_a_check_writes_names_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: NAME)
    project = small_project(tmp_path / "repo")
    done = project.perfgate("check")
    assert done.returncode == 0, done.stderr
    secrets = [NAME, Path("/etc/machine-id").read_text().strip() if Path("/etc/machine-id").exists() else ""]
    real = Path("/proc/sys/kernel/random/boot_id")
    secrets += [real.read_text().strip()] if real.exists() else []
    files = [path for path in (project.top / ".perfgate").rglob("*") if path.is_file()]
    written = [path.read_text(errors="replace") for path in files] + [done.stdout, done.stderr]
    assert len(files) >= 4
    assert not [secret for secret in secrets if secret and any(secret in text for text in written)]
    host = json.loads((project.top / ".perfgate/report.json").read_text())["run"]["host"]
    assert host["hostname"] == pseudonym("host", NAME)
