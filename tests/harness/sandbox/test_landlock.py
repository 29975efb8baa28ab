"""Rulesets, made by the kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.sandbox import landlock
from harness.sandbox.landlock import DEVICE, READ, WRITE, Rule, ruleset

pytestmark = pytest.mark.skipif(landlock.version() == 0, reason="Landlock is Linux's")


def test_a_ruleset_is_a_descriptor_that_no_command_inherits() -> None:
    made = ruleset([Rule(Path("/"), READ)])
    try:
        assert not os.get_inheritable(made)
        assert "landlock" in str(Path(f"/proc/self/fd/{made}").readlink())
    finally:
        os.close(made)


def test_paths_that_are_not_there_and_rights_that_files_do_not_have_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    paths = (tmp_path / "absent", tmp_path / "dangling", file, Path("/dev/null"), tmp_path)
    os.close(ruleset([*(Rule(each, WRITE) for each in paths), Rule(file, 0), Rule(Path("/dev/null"), DEVICE)]))


def test_what_lies_on_a_file_system_of_the_kernels_is_left_out() -> None:
    reading, writing = os.pipe()
    try:
        os.close(ruleset([Rule(Path(f"/proc/self/fd/{reading}"), READ)]))
    finally:
        os.close(reading)
        os.close(writing)


def test_an_older_kernel_is_asked_for_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in range(1, landlock.version() + 1):
        monkeypatch.setattr(landlock, "version", lambda version=version: version)
        assert landlock.stops_signals() == (version >= 6)
        os.close(ruleset([Rule(Path("/"), WRITE)]))


def test_rights_that_the_kernel_does_not_know_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "WRITE", 1 << 60)
    with pytest.raises(OSError, match="Invalid argument"):
        ruleset([])
