"""Two trees differ by whatever a program can ask for."""

import os
import sys
from pathlib import Path

import pytest

from gate.model import Side
from harness.source.differences import differences


def test_what_files_share_or_have_besides_their_content_differs(tmp_path: Path) -> None:
    for side in ("base", "head"):
        (tmp_path / side / "sub").mkdir(parents=True)
        for name in ("a", "sub/b", "c"):
            (tmp_path / side / name).write_text("1")
    trees: dict[Side, Path] = {"base": tmp_path / "base", "head": tmp_path / "head"}
    assert differences(trees).paths == frozenset()
    (tmp_path / "head/sub/b").unlink()
    os.link(tmp_path / "head/a", tmp_path / "head/sub/b")
    found = differences(trees)
    assert found.paths == found.modes == {"a", "sub/b"}
    assert found.hashes["base"] != found.hashes["head"]


@pytest.mark.skipif(sys.platform != "linux", reason="extended attributes by os.setxattr")
def test_attributes_differ(tmp_path: Path) -> None:
    trees: dict[Side, Path] = {"base": tmp_path / "base", "head": tmp_path / "head"}
    for side in trees:
        (tmp_path / side).mkdir()
        (tmp_path / side / "a").write_text("1")
        try:
            os.setxattr(tmp_path / side / "a", "user.side", side.encode())
        except OSError:
            pytest.skip("the file system has no attributes")
    assert differences(trees).paths == {"a"}


def test_compiled_python_may_hold_the_time_of_its_own_source(tmp_path: Path) -> None:
    trees: dict[Side, Path] = {"base": tmp_path / "base", "head": tmp_path / "head"}

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
