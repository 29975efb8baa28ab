"""Going through directories: as os.walk does, and however deep they are."""

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

from gate.commands.init.tree import read_tree
from gate.evidence.foreign import named
from gate.formats.parts.output import EmptyError
from gate.model import UserError
from gate.walking import descend, size_of, walk
from harness.build.changed_files import ArtifactError, Artifacts, ProjectPlace, hash_artifacts
from harness.instruments.criterion import Criterion
from harness.instruments.suite import Call
from harness.sandbox.home import copy
from harness.source.trees import _stamp

DEEP = 200


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A directory with more levels than the stack has frames, and a file in the last one."""
    top = tmp_path / "deep"
    place = top.joinpath(*"d" * DEEP)
    place.mkdir(parents=True)
    (place / "file").write_text("x")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    yield top
    sys.setrecursionlimit(before)


def test_it_is_os_walk(tmp_path: Path) -> None:
    for name in ("a/x/y", "b", "c/z"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").touch()
    (tmp_path / "a/link").symlink_to(tmp_path / "b")
    (tmp_path / "a/circle").symlink_to("circle")
    (tmp_path / "a/up").symlink_to("..")
    os.mkfifo(tmp_path / "b/pipe")

    def of(walked: Iterator[tuple[str, list[str], list[str]]]) -> list[object]:
        seen: list[object] = []
        for parent, folders, files in walked:
            folders[:] = sorted(name for name in folders if name != "z")
            seen.append((parent, list(folders), sorted(files)))
        return seen

    assert of(walk(tmp_path)) == of(os.walk(tmp_path))
    assert list(walk(tmp_path / "gone")) == list(walk(tmp_path / "b/file")) == []
    failed: list[OSError] = []
    assert list(walk(tmp_path / "gone", failed.append)) == [] and isinstance(failed[0], FileNotFoundError)


def test_a_descent_enters_each_directory_and_leaves_it_in_order(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").touch()
    (tmp_path / "link").symlink_to("a")
    seen = [
        (stop.left, "/".join(stop.names), sorted(stop.folders), sorted(stop.files), os.fstat(stop.fd).st_ino)
        for stop in descend(tmp_path)
    ]
    inodes = [(tmp_path / name).stat().st_ino for name in ("", "a", "a/b", "a", "")]
    assert seen == [
        (False, "", ["a"], ["link"], inodes[0]),
        (False, "a", ["b"], [], inodes[1]),
        (False, "a/b", [], ["file"], inodes[2]),
        (True, "a/b", [], [], inodes[3]),
        (True, "a", [], [], inodes[4]),
    ]
    with pytest.raises(OSError, match="link"):
        next(descend(tmp_path / "link"))


def _nothing_in(folder: Path) -> None:
    with pytest.raises(UserError, match=r"has no measurements\.jsonl"):
        named([str(folder)])


def _nothing_of_criterion(folder: Path) -> None:
    with pytest.raises(EmptyError):
        Criterion().read(Call((), 1, folder, folder / "stdout", 1e6))


@pytest.mark.parametrize(
    "use",
    [
        lambda deep: hash_artifacts(ProjectPlace(deep.parent, PurePosixPath(), deep.parent), ["deep"]),
        lambda deep: Artifacts.of(ProjectPlace(deep.parent, PurePosixPath(), deep.parent), {"deep": ""}).changed(
            ProjectPlace(deep.parent, PurePosixPath(), deep.parent)
        ),
        lambda deep: _stamp(deep, 10**18),
        size_of,
        lambda deep: copy(deep, deep.parent / "copied"),
        _nothing_of_criterion,
        lambda deep: list(descend(deep)),
        read_tree,
        _nothing_in,
    ],
    ids=lambda use: getattr(use, "__name__", ""),
)
def test_all_that_goes_through_what_a_build_made_gets_to_its_end(deep: Path, use: Callable[[Path], object]) -> None:
    use(deep)


def test_what_cannot_be_hashed_is_named(tmp_path: Path) -> None:
    """An artifact that nobody saw whole is not the same as another one."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArtifactError, match="artifact pipe cannot be read: is no regular file"):
        hash_artifacts(ProjectPlace(tmp_path, PurePosixPath(), tmp_path), ["pipe"])
