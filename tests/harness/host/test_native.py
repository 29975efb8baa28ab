"""Which commands start machine code of their own: real programs of this host, and files that only look like them."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from harness.host.shims import is_native


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program of machine code in the project."""
    found = shutil.which("ls")
    assert found is not None
    shutil.copy(Path(found).resolve(), tmp_path / "app")
    return "./app"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["./app", "x"], True),
        ("./app --input 'a b' > /dev/null", True),
        ("LANG=C exec ./app", True),
        (["ls"], True),
        (["./script"], False),
        (["./absent"], False),
        (["python3", "-c", "1"], False),
        ([sys.executable], False),
        ("sh -c ./app", False),
        ("'unfinished", False),
        ([], False),
    ],
)
def test_native(tmp_path: Path, program: str, command: str | list[str], *, expected: bool) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    assert is_native(command, os.environ, tmp_path) is expected


def test_a_link_to_an_interpreter_is_one(tmp_path: Path) -> None:
    (tmp_path / "app").symlink_to(sys.executable)
    assert not is_native(["./app"], os.environ, tmp_path)
