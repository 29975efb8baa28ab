"""Two trees differ by whatever a program can ask for."""

import os
import sys
from pathlib import Path

import pytest

from gate.model import Side
from harness.source.differences import differences


@pytest.fixture
def trees(tmp_path: Path) -> dict[Side, Path]:
    """Two trees with a file a."""
    made: dict[Side, Path] = {"base": tmp_path / "base", "head": tmp_path / "head"}
    for tree in made.values():
        tree.mkdir()
        (tree / "a").write_text("1")
    return made


def test_what_files_share_or_have_besides_their_content_differs(trees: dict[Side, Path]) -> None:
    for tree in trees.values():
        (tree / "sub").mkdir()
        for name in ("sub/b", "c"):
            (tree / name).write_text("1")
    assert differences(trees).paths == frozenset()
    (trees["head"] / "sub/b").unlink()
    os.link(trees["head"] / "a", trees["head"] / "sub/b")
    found = differences(trees)
    assert found.paths == found.modes == {"a", "sub/b"}
    assert found.hashes["base"] != found.hashes["head"]


@pytest.mark.skipif(sys.platform != "linux", reason="extended attributes by os.setxattr")
def test_attributes_differ(trees: dict[Side, Path]) -> None:
    for side, tree in trees.items():
        try:
            os.setxattr(tree / "a", "user.side", side.encode())
        except OSError:
            pytest.skip("the file system has no attributes")
    assert differences(trees).paths == {"a"}


def test_compiled_python_may_hold_the_time_of_its_own_source(trees: dict[Side, Path]) -> None:
    def compiled(side: Side, flags: int, time: int, code: bytes = b"code") -> None:
        folder = trees[side] / "__pycache__"
        folder.mkdir(parents=True, exist_ok=True)
        header = b"mgic" + flags.to_bytes(4, "little") + time.to_bytes(4, "little") + b"size"
        (folder / "a.cpython-311.pyc").write_bytes(header + code)

    for second, side in enumerate(trees, 100):
        compiled(side, 0, second)
        (trees[side] / "a.py").write_text("1")
        os.utime(trees[side] / "a.py", (second + 0.5, second + 0.5))
    found = differences(trees)
    assert not found.paths and found.hashes["base"] == found.hashes["head"]
    # other code; a time that Python would not accept; no time at all, but a hash
    for flags, time, code in (0, 101, b"more"), (0, 100, b"code"), (3, 101, b"code"):
        compiled("head", flags, time, code)
        assert differences(trees).paths == {"__pycache__/a.cpython-311.pyc"}
