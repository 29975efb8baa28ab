"""Host names and boot ids do not leave the machine, and still tell machines apart."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest

from harness.host import facts
from harness.host.fitness.counters import state
from harness.host.fitness.kernel_files import Tree
from tests.support.project import small_project

NAME = "db-primary-7.internal.example"
BOOT = "8f14e45f-ceea-467f-a0e6-1a2b3c4d5e6f"


def test_it_is_the_same_on_one_machine_and_another_on_another() -> None:
    one, other = b"0123456789abcdef0123456789abcdef", b"f123456789abcdef0123456789abcdef"
    first = facts.pseudonym("host", NAME, one)
    assert re.fullmatch("[0-9a-f]{12}", first)
    assert facts.pseudonym("host", NAME, one) == first
    others = [
        facts.pseudonym("host", NAME, other),
        facts.pseudonym("host", "db-primary-8", one),
        facts.pseudonym("boot", NAME, one),
    ]
    assert len({first, *others}) == 4


def test_the_key_is_the_first_file_that_holds_one(tmp_path: Path) -> None:
    for name, text in (("empty", ""), ("first-boot", "uninitialized\n"), ("id", "abc\n"), ("later", "xyz\n")):
        (tmp_path / name).write_text(text)
    names = ("missing", "empty", "first-boot", "id", "later")
    assert facts.machine_key(tuple(str(tmp_path / name) for name in names)) == b"abc"
    assert facts.machine_key((str(tmp_path / "missing"),)) == facts.machine_key(()) != b""


def test_facts_and_states_hold_hashes_that_agree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: NAME)
    found = facts.facts()
    assert found["hostname"] == facts.pseudonym("host", NAME)
    # the same boot by either
    assert found["boot_id"] == state().get("boot_id", "unknown")
    boot = tmp_path / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True)
    boot.write_text(BOOT + "\n")
    assert state(Tree(tmp_path))["boot_id"] == facts.pseudonym("boot", BOOT)


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
    assert host["hostname"] == facts.pseudonym("host", NAME)
