"""The script behind .github/workflows/update.yml, against a bare remote and a `gh` that writes down what it is asked."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$ASKED"
case $2 in list) printf '%s' "$OPEN" ;; esac
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "remote")
    git(tmp_path, "clone", "--quiet", "remote", "clone")
    folder = tmp_path / "clone"
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "propose", folder / "scripts" / "propose")
    for name in ("requirements.lock", "requirements-dev.lock", "other"):
        (folder / name).write_text("numpy==1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "push", "--quiet", "origin", "HEAD:main")
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(GH)
    gh.chmod(0o755)
    return folder


def propose(clone: Path, *, open_: str = "") -> list[str]:
    asked = clone.parent / "asked"
    path = f"{clone.parent / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "ASKED": str(asked), "OPEN": open_, "GH_TOKEN": "t"}
    subprocess.run(["scripts/propose", "update/locks", "Raise them"], cwd=clone, env=environment, check=True)
    return asked.read_text().splitlines() if asked.exists() else []


def test_changed_locks_alone_are_pushed_and_proposed_once(clone: Path) -> None:
    (clone / "other").write_text("changed\n")
    assert propose(clone) == []
    assert git(clone, "ls-remote", "origin", "refs/heads/update/locks") == ""
    (clone / "requirements.lock").write_text("numpy==2\n")
    asked = propose(clone)
    assert [line.split()[:2] for line in asked] == [["pr", "list"], ["pr", "create"]]
    git(clone, "fetch", "--quiet", "origin", "update/locks")
    assert git(clone, "diff", "--name-only", "origin/main", "FETCH_HEAD") == "requirements.lock"
