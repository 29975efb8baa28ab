"""A real git repository in a temporary directory, whatever the user's git configuration; a clock that jumps."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.source.repository import Repository
from tests.support.fakes import Clock
from tests.support.project import empty, written_down

ISOLATED = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A U Thor",
    "GIT_AUTHOR_EMAIL": "author@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter",
    "GIT_COMMITTER_EMAIL": "committer@example.com",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


class Checkout:
    """A checkout that tests fill and look at."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.objects = ""
        """Where git looks for more objects: see sees."""

    def sees(self, repository: Repository) -> Repository:
        """Let its git see what perfgate made of it from now on."""
        if repository.store.made:
            self.objects = repository.git.environment["GIT_OBJECT_DIRECTORY"]
        return repository

    def git(self, *arguments: str) -> str:
        """Run git in it, as a user would; file: URLs are allowed, submodules in tests have no others."""
        # nothing here lives long enough to be tidied
        settings = ["-c", "protocol.file.allow=always", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]
        argv = ["git", "-C", str(self.path), *settings, *arguments]
        environment = {**os.environ, "GIT_ALTERNATE_OBJECT_DIRECTORIES": self.objects}
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout.removesuffix("\n")

    def write(self, **files: str) -> None:
        """Write files; "__" in a name stands for a slash, "_dot_" for a dot."""
        for name, content in files.items():
            self.file(name.replace("__", "/").replace("_dot_", "."), content)

    def file(self, name: str, content: str = "") -> Path:
        """Write one file of any name."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def commit(self, message: str = "a change", **files: str) -> str:
        """Write files, commit everything and give the commit."""
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return written_down(self.path) or self.git("rev-parse", "HEAD")


@pytest.fixture
def isolated_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No configuration of the user's, no CI, and a temporary directory of the test's own; gives that directory."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITHUB_", "CI_")) or name == "CI":
            monkeypatch.delenv(name)
    for name, value in ISOLATED.items():
        monkeypatch.setenv(name, value)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


@pytest.fixture
def checkout(tmp_path: Path, isolated_git: Path) -> Checkout:
    """An empty repository on main, its path with spaces and letters beyond ASCII."""
    path = tmp_path / "my projéct ☃"
    shutil.copytree(empty(), path)
    return Checkout(path)


@pytest.fixture
def over_once(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Let a minute be over as soon as a file is there: no process is too slow to have written it."""

    def over(file: Path) -> None:
        clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + 60 * file.exists())
        monkeypatch.setattr("harness.process.execute.time", clock)

    return over


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let each look at whether a group has ended take a second; gives the clock that counts them."""
    clock = Clock()

    def sleep(_: float) -> None:
        time.sleep(0.001)
        clock.now += 1

    monkeypatch.setattr("harness.process.process_groups.time", SimpleNamespace(monotonic=clock, sleep=sleep))
    return clock
