import os
from pathlib import Path

import pytest

from harness.loop.execution import Scratch


def test_each_execution_finds_an_empty_directory_under_a_new_name_of_the_same_length(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    names = set()
    for _ in range(5):
        directory = scratch.fresh()
        assert list(directory.iterdir()) == []
        names.add(directory.name)
        (directory / "output").write_text("1\n")
        (directory / "more").mkdir()
        (directory / "more" / "file").touch()
        (directory / "link").symlink_to("/etc")
    assert len(names) == 5
    assert {len(name) for name in names} == {12}
    assert len(list(tmp_path.iterdir())) == 1
    scratch.clear()
    assert list(tmp_path.iterdir()) == []
    assert scratch.fresh().is_dir()


def test_a_program_that_removes_its_directory_costs_nobody_theirs(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.fresh().rmdir()
    assert list(scratch.fresh().iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may delete anything")
def test_what_cannot_be_emptied_is_left_behind(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    first = scratch.fresh()
    (first / "output").touch()
    first.chmod(0o500)
    second = scratch.fresh()
    assert second != first
    assert list(second.iterdir()) == []
    first.chmod(0o700)
