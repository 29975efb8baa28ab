"""Folders, tools and the lock."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from harness.host.fitness.examination import CHECKS
from harness.host.fitness.host_check import Check, Here
from harness.host.fitness.kernel_files import Tree
from harness.host.lock import Claim, host_lock


def look(name: str, history: Path | None = None) -> Check:
    return CHECKS[name](Here(Tree(), 0, history))


def test_a_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert look("temporary files").state == "bad"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    real = os.statvfs(tmp_path)
    kept = {name: getattr(real, name) for name in ("f_bavail", "f_frsize", "f_flag")}

    def with_(**changes: int) -> str:
        status = type("Status", (), {**kept, "f_flag": 0, "f_frsize": 1, "f_bavail": 2**40, **changes})
        monkeypatch.setattr("harness.host.fitness.examination.os.statvfs", lambda _: status)
        return look("temporary files").state

    assert with_() == "ok"
    assert with_(f_bavail=2**29) == "warn"
    assert with_(f_bavail=2**20) == "bad"
    assert with_(f_flag=os.ST_RDONLY) == "bad"
    assert with_(f_flag=os.ST_NOEXEC) == "bad"


def test_the_place_of_the_history(tmp_path: Path) -> None:
    assert look("history", tmp_path / "new" / "history").state == "ok"
    (tmp_path / "file").touch()
    assert look("history", tmp_path / "file" / "history").state == "warn"
    assert look("history").state == "warn"
    assert not (tmp_path / "new").exists()


def test_another_gate_that_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "lock"
    monkeypatch.setenv("PERFGATE_LOCK", str(lock))
    assert look("other gates").state == "ok"
    assert not lock.exists(), "looking makes nothing"
    with host_lock(Claim.own("perfgate check", "r", tmp_path, tmp_path), lock, wait=0, waiting=print):
        check = look("other gates")
        assert (check.state, check.value) == ("warn", f"another perfgate measures (process {os.getpid()})")
        lock.write_text("[]")
        assert look("other gates").value == "another program holds its lock"
    assert look("other gates").state == "ok"
    (tmp_path / "link").symlink_to(lock)
    monkeypatch.setenv("PERFGATE_LOCK", str(tmp_path / "link"))
    assert look("other gates").state == "unknown"


def tool(folder: Path, name: str, says: str, status: int = 0) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    file.chmod(0o755)


def test_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    own = tmp_path / "environment"
    own.mkdir()
    monkeypatch.setattr(sys, "executable", str(own / "python"))
    check = look("tools")
    assert (check.state, check.value, check.command) == ("bad", "no git", None)
    tool(tmp_path, "apt", "")
    as_root = "" if os.geteuid() == 0 else "sudo "
    assert look("tools").command == f"{as_root}apt install git"
    tool(tmp_path, "git", "git version 2.39.5")
    tool(tmp_path, "perf", "WARNING: perf not found for kernel 6.8", 2)
    tool(tmp_path, "setarch", "setarch from util-linux 2.38.1")
    check = look("tools")
    assert (check.state, check.value) == ("warn", "setarch; no hyperfine, perf, valgrind, taskset")
    assert check.command == f"{as_root}apt install hyperfine"
    tool(tmp_path, "hyperfine", "hyperfine 1.15.0")
    check = look("tools")
    which = f"hyperfine 1.15.0 (on PATH: {tmp_path}/hyperfine)"
    assert (check.state, check.value) == ("ok", f"{which}, setarch; no perf, valgrind, taskset")
    tool(own, "hyperfine", "hyperfine 2.0.0")
    assert look("tools").value.startswith(f"hyperfine 2.0.0 (comes with perfgate: {own}/hyperfine), setarch; no ")
