"""What is out of sight."""

from __future__ import annotations

from pathlib import Path

from harness.sandbox.landlock import READ, READ_DIR, Rule, runner_secrets, sight


def seen(rules: list[Rule], path: Path) -> bool:
    """Whether a rule lets a file be read."""
    return any(rule.access == READ and path.is_relative_to(rule.path) for rule in rules)


def test_without_secrets_all_is_seen() -> None:
    assert list(sight([])) == [Rule(Path("/"), READ)]
    assert list(sight([Path("/no/such/place")])) == [Rule(Path("/"), READ)]


def test_a_hidden_directory_is_not_read_and_its_neighbours_are(tmp_path: Path) -> None:
    for name in (".ssh/id", ".cargo/registry/index", ".cargo/credentials.toml", "file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to(tmp_path / ".ssh")
    rules = list(sight([tmp_path / ".ssh", tmp_path / ".cargo/credentials.toml"]))
    assert not seen(rules, tmp_path / ".ssh/id") and not seen(rules, tmp_path / ".cargo/credentials.toml")
    assert all(seen(rules, tmp_path / each) for each in (".cargo/registry/index", "file"))
    assert seen(rules, Path("/usr/bin/env"))
    # of links, only where they lead
    assert tmp_path / "link" not in [rule.path for rule in rules]
    # names are seen everywhere
    assert Rule(Path("/"), READ_DIR) in rules


def test_what_is_hidden_through_a_link_is_hidden_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert not seen(list(sight([tmp_path / "link"])), tmp_path / "real/key")


def test_a_runners_registration_lies_beside_its_program(tmp_path: Path) -> None:
    workspace = tmp_path / "runner/_work/widget/widget"
    workspace.mkdir(parents=True)
    environment = {"GITHUB_WORKSPACE": str(workspace), "RUNNER_TEMP": "relative"}
    assert runner_secrets(environment) == []
    (tmp_path / "runner/.runner").touch()
    found = runner_secrets(environment)
    assert {tmp_path / "runner" / each for each in (".credentials", ".runner", "_diag")} <= set(found)
    assert runner_secrets({}) == []
