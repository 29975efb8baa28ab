"""Removing what measured code left: any depth, any mode, and never through a link."""

import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.github.runner import remove
from gate.removal import remove_tree
from gate.run.run_folder import make_room
from harness.sandbox.sandbox import _clear
from harness.source.workdir import WorkDirectory, remove_leftovers

DEEP = 200
NAME = "d" * 30
"""So long that the path to the deepest one is longer than PATH_MAX."""


@pytest.fixture(autouse=True)
def small_stack() -> Iterator[None]:
    """A stack with fewer frames than there are levels: 1,500 of these, as a benchmark made them, take long to make."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    yield
    sys.setrecursionlimit(before)


def deepen(directory: Path, levels: int = DEEP) -> Path:
    """Fill a directory: one in another, a file in each tenth."""
    directory.mkdir(exist_ok=True)
    here = os.open(directory, os.O_RDONLY)
    for level in range(levels):
        os.mkdir(NAME, dir_fd=here)
        inner = os.open(NAME, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
        if level % 10 == 0:
            os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)
    return directory


def test_a_run_is_not_ended_by_the_depth_of_what_it_left(tmp_path: Path) -> None:
    work = WorkDirectory(tmp_path / "checkout", tmp_path / "state")
    deepen(work.path)
    work.close()
    assert work.left == []
    assert list(tmp_path.glob("state/*")) == []


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    work = WorkDirectory(tmp_path / "checkout", tmp_path / "state")
    place = deepen(work.path)
    work.close(keep=True)
    (tmp_path / "state/work").mkdir(parents=True)
    record = f'{{"directory": "{place}", "pid": {2**22 + 1}, "started": 1, "inode": {place.stat().st_ino}}}'
    (tmp_path / "state/work/x.json").write_text(record)
    assert remove_leftovers(tmp_path / "state") == []
    assert not place.exists()


def test_all_that_removes_what_measured_code_made_does(tmp_path: Path) -> None:
    """A step's directory for temporary files, a command file's place, a folder among past runs."""
    _clear(deepen(tmp_path / "tmp").parent)
    assert list(tmp_path.iterdir()) == []
    remove(deepen(tmp_path / "output"))
    assert list(tmp_path.iterdir()) == []
    for number in range(11):
        (tmp_path / f"runs/{number:02}").mkdir(parents=True)
    deepen(tmp_path / "runs/00")
    (tmp_path / "report.json").write_text("{}")
    make_room(tmp_path)
    assert not (tmp_path / "runs/00").exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").touch()
    (tmp_path / "tree/in").mkdir(parents=True)
    (tmp_path / "tree/in/link").symlink_to(tmp_path / "outside")
    assert remove_tree(tmp_path / "tree") is None
    assert (tmp_path / "outside/file").exists()
    (tmp_path / "tree").symlink_to(tmp_path / "outside")
    assert remove_tree(tmp_path / "tree") is not None
    assert (tmp_path / "outside/file").exists()


def test_a_directory_moved_meanwhile_takes_nothing_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is above it then is not what it was entered from."""
    (tmp_path / "tree/in").mkdir(parents=True)
    (tmp_path / "tree/in/file").touch()
    (tmp_path / "other/in").mkdir(parents=True)
    real = os.unlink

    def unlink(name: str, *, dir_fd: int | None = None) -> None:
        real(name, dir_fd=dir_fd)
        (tmp_path / "tree/in").rename(tmp_path / "other/moved")

    monkeypatch.setattr("os.unlink", unlink)
    assert remove_tree(tmp_path / "tree") is None
    assert sorted(each.name for each in (tmp_path / "other").iterdir()) == ["in", "moved"]


def test_what_cannot_be_removed_is_named_by_a_short_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deepen(tmp_path / "tree", 2)
    real = os.unlink

    def refuse(name: str, *, dir_fd: int | None = None) -> None:
        if name == "file":
            raise PermissionError(1, "Operation not permitted", name)
        real(name, dir_fd=dir_fd)

    monkeypatch.setattr("os.unlink", refuse)
    assert remove_tree(tmp_path / "tree") == f"{tmp_path}/tree/{NAME}/file: Operation not permitted"
    deep = tmp_path / "other/a/b/c/d/e"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    assert remove_tree(tmp_path / "other") == f"{tmp_path}/other/.../e/file: Operation not permitted"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_directories_are_opened_first(tmp_path: Path) -> None:
    (tmp_path / "tree/a/b").mkdir(parents=True)
    (tmp_path / "tree/a/b/file").touch()
    for mode, name in ((0, "tree/a/b"), (0o500, "tree/a"), (0, "tree")):
        (tmp_path / name).chmod(mode)
    assert remove_tree(tmp_path / "tree") is None
