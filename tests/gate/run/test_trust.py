"""Whose code a run measures, and what follows for caches and instruments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.run.refusal import build_cache, is_foreign, is_proposed

BRANCH = {"ref": "refs/heads/main", "repository": {"full_name": "acme/widget", "default_branch": "main"}}
SHA = "a" * 40


def pull(*, fork: bool) -> dict[str, Any]:
    repository = {"full_name": "someone/widget" if fork else "acme/widget", "fork": fork}
    base = {"ref": "main", "sha": SHA, "repo": {"full_name": "acme/widget"}}
    head = {"ref": "topic", "sha": SHA, "repo": repository}
    return {**BRANCH, "number": 7, "pull_request": {"number": 7, "title": "", "base": base, "head": head}}


def environment(tmp_path: Path, name: str, payload: dict[str, Any], ref: str = "refs/heads/main") -> dict[str, str]:
    event = tmp_path / "event.json"
    event.write_text(json.dumps(payload))
    return {
        "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "acme/widget", "GITHUB_REF": ref, "GITHUB_SHA": SHA, "GITHUB_RUN_ID": "1",
        "GITHUB_RUN_ATTEMPT": "1", "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_API_URL": "https://api.github.example", "RUNNER_ENVIRONMENT": "self-hosted",
    }  # fmt: skip


def test_at_home_head_is_the_users_own() -> None:
    assert not is_proposed({}) and not is_foreign({})


def test_what_runs_in_ci_is_a_proposal_unless_it_is_known_to_be_the_default_branch(tmp_path: Path) -> None:
    assert is_proposed({"CI": "true"})
    pushed = {**BRANCH, "before": SHA, "after": SHA}
    assert not is_proposed(environment(tmp_path, "push", pushed))
    assert is_proposed(environment(tmp_path, "push", pushed, ref="refs/heads/topic"))
    assert is_proposed(environment(tmp_path, "pull_request", pull(fork=False), ref="refs/pull/7/merge"))
    assert is_proposed({"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push"}), "an event without a file"


@pytest.mark.parametrize("fork", [False, True])
def test_a_forks_code_is_foreign(tmp_path: Path, fork: bool) -> None:
    assert is_foreign(environment(tmp_path, "pull_request", pull(fork=fork), ref="refs/pull/7/merge")) == fork


def test_in_ci_builds_are_kept_in_a_sandbox_only_and_of_a_proposal_only_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    at_home = build_cache(sandboxed=False)
    assert at_home is not None and set(at_home.keeps) == {"base", "head"}
    monkeypatch.setenv("CI", "true")
    assert build_cache(sandboxed=False) is None
    in_ci = build_cache(sandboxed=True)
    assert in_ci is not None and set(in_ci.keeps) == {"base"}
