"""The gallery: which verdicts it asks for, what its pages say, and that they do not name the machine."""

import shutil
import socket
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))

import gallery  # noqa: E402  # a script beside its neighbours, found by the line above


@pytest.mark.endtoend
@pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="absent: make or cc")
def test_pages_of_one_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "GALLERY", tmp_path)
    assert gallery.show(["tokenizer"], ["documentation"], tmp_path)
    folder = tmp_path / "tokenizer" / "documentation"
    assert {file.name for file in folder.iterdir()} == {"report.html"}
    for file in tmp_path.rglob("*.*"):
        text = file.read_text(encoding="utf-8")
        ours = (
            "perfgate-gallery-", f"{Path.home()}/", str(ROOT), "boot_id", "fingerprint", f'"{socket.gethostname()}"',
        )  # fmt: skip
        assert [word for word in ours if word in text] == [], file
