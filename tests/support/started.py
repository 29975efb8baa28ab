"""Projects that `perfgate init` starts with: made, initialised, and measured by `perfgate check` as a user would."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import project


def git(directory: Path, *arguments: str) -> None:
    """Run git as somebody."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True)


def perfgate(directory: Path, *arguments: str, timeout: float = 300, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a directory; more: variables."""
    command, env = project.perfgate(*arguments), project.environment(**more)
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=False, timeout=timeout)


def need(*programs: str) -> None:
    """Skip where a program is absent."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"absent: {program} (what `perfgate init` writes for it was not run)")


def made(directory: Path, files: dict[str, str]) -> Path:
    """Make a repository of files, with one commit."""
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    git(directory, "init", "--quiet")
    git(directory, "add", ".")
    git(directory, "commit", "--quiet", "--message=first")
    return directory


def checked(
    directory: Path, *, kind: str, iterations: int = 2, timeout: float = 300, **more: str
) -> list[tuple[str, str]]:
    """Init, commit and check a project; return the cases that were measured. more: variables.

    Of a benchmark with a view of its active time that is the case: which of two views is sharper in two builds is chance.
    """
    done = perfgate(directory, "init", "--no-try")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"detected: {kind} ")
    git(directory, "add", "perfgate.toml")
    git(directory, "commit", "--quiet", "--message=gate")
    before = tracked(directory)
    few = [f"--set=plan.{key}={count}" for key, count in (("builds", 2), ("executions", 1), ("iterations", iterations))]
    done = perfgate(directory, "check", "--base", "HEAD", "--head", "HEAD", *few, timeout=timeout, **more)
    # two builds are too few to call a change: nothing but a failure to build or measure can go wrong
    assert done.returncode == 0, done.stdout + done.stderr
    assert tracked(directory) == before
    report = json.loads((directory / ".perfgate" / "report.json").read_text(encoding="utf-8"))
    assert report["failures"] == []
    views = [[each["metric"] for each in (found, *found["beside"])] for found in report["findings"]]
    names = [found["benchmark"] for found in report["findings"]]
    return [(name, "active" if "active" in own else own[0]) for name, own in zip(names, views, strict=True)]


def tracked(directory: Path) -> str:
    """What git says about the checkout: a check must leave it as it was."""
    command = ["git", "status", "--porcelain", "--ignored", "--", ".", ":!.perfgate"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True).stdout
