"""Rulesets, made by the kernel, and what they leave out of sight."""

import os
from pathlib import Path

import pytest

from harness.sandbox import landlock
from harness.sandbox.landlock import DEVICE, READ, READ_DIR, WRITE, Rule, ruleset, runner_secrets, sight

by_the_kernel = pytest.mark.skipif(landlock.version() == 0, reason="Landlock is Linux's")


@by_the_kernel
def test_a_ruleset_is_a_descriptor_that_no_command_inherits() -> None:
    made = ruleset([("/", READ)])
    try:
        assert not os.get_inheritable(made)
        assert "landlock" in str(Path(f"/proc/self/fd/{made}").readlink())
    finally:
        os.close(made)


@by_the_kernel
def test_what_is_not_there_or_has_no_such_rights_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    paths = (tmp_path / "absent", tmp_path / "dangling", file, Path("/dev/null"), tmp_path)
    os.close(ruleset([*((each, WRITE) for each in paths), (file, 0), (Path("/dev/null"), DEVICE)]))
    # nor what lies on a file system of the kernel's
    reading, writing = os.pipe()
    try:
        os.close(ruleset([(Path(f"/proc/self/fd/{reading}"), READ)]))
    finally:
        os.close(reading)
        os.close(writing)


@by_the_kernel
def test_an_older_kernel_is_asked_for_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in range(1, landlock.version() + 1):
        monkeypatch.setattr(landlock, "version", lambda version=version: version)
        assert landlock.stops_signals() == (version >= 6)
        os.close(ruleset([("/", WRITE)]))


@by_the_kernel
def test_rights_that_the_kernel_does_not_know_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "WRITE", 1 << 60)
    with pytest.raises(OSError, match="Invalid argument"):
        ruleset([])


def seen(rules: list[Rule], path: Path) -> bool:
    """Whether a rule lets a file be read."""
    return any(rule[1] == READ and path.is_relative_to(rule[0]) for rule in rules)


def test_what_is_hidden_is_not_read_and_its_neighbours_are(tmp_path: Path) -> None:
    for name in (".ssh/id", ".cargo/registry/index", ".cargo/credentials.toml", "file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to(tmp_path / ".ssh")
    rules = list(sight([tmp_path / ".ssh", tmp_path / ".cargo/credentials.toml"]))
    assert not seen(rules, tmp_path / ".ssh/id") and not seen(rules, tmp_path / ".cargo/credentials.toml")
    assert all(seen(rules, tmp_path / each) for each in (".cargo/registry/index", "file"))
    assert seen(rules, Path("/usr/bin/env"))
    # of links, only where they lead
    assert tmp_path / "link" not in [rule[0] for rule in rules]
    # names are seen everywhere
    assert ("/", READ_DIR) in rules
    (tmp_path / "real").mkdir()
    (tmp_path / "to-real").symlink_to(tmp_path / "real")
    assert not seen(list(sight([tmp_path / "to-real"])), tmp_path / "real/key")
    assert list(sight([])) == [("/", READ)]
    assert list(sight([Path("/no/such/place")])) == [("/", READ)]


def test_a_runners_registration_lies_beside_its_program(tmp_path: Path) -> None:
    workspace = tmp_path / "runner/_work/widget/widget"
    workspace.mkdir(parents=True)
    environment = {"GITHUB_WORKSPACE": str(workspace), "RUNNER_TEMP": "relative"}
    assert runner_secrets(environment) == []
    (tmp_path / "runner/.runner").touch()
    found = runner_secrets(environment)
    assert {tmp_path / "runner" / each for each in (".credentials", ".runner", "_diag")} <= set(found)
    assert runner_secrets({}) == []
