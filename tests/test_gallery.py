"""The gallery: which verdicts it asks for, what its pages say, and that they do not name the machine."""

import json
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))

import gallery  # noqa: E402  # a script beside its neighbours, found by the line above


def finding(verdict: str, estimate: float | None, benchmark: str = "b") -> dict[str, Any]:
    return {"verdict": verdict, "benchmark": benchmark, "ratio": None if estimate is None else {"estimate": estimate}}


def report(verdict: str, *findings: dict[str, Any]) -> dict[str, Any]:
    return {"verdict": verdict, "findings": list(findings)}


@pytest.mark.parametrize(
    ("branch", "code", "given", "right"),
    [
        ("regression", 1, report("regression", finding("regression", 1.5)), True),
        ("regression", 0, report("inconclusive", finding("inconclusive", 1.5)), False),
        ("no-change", 0, report("pass", finding("no-sign", 1.0)), True),
        ("no-change", 0, report("inconclusive", finding("inconclusive", 1.0)), False),
        ("no-change", 0, report("pass", finding("improvement", 0.8)), False),
        ("improvement", 0, report("pass", finding("no-sign", 1.0), finding("improvement", 0.8)), True),
        ("improvement", 0, report("pass", finding("no-sign", 0.9)), False),
        ("documentation", 0, report("pass", finding("identical", None)), True),
        ("documentation", 0, report("pass", finding("no-sign", 1.0)), False),
        ("documentation", 4, report("error"), False),
    ],
)
def test_the_verdict_that_a_branch_is_made_to_show(branch: str, code: int, given: dict[str, Any], right: bool) -> None:
    assert (gallery.wrong(branch, code, given) is None) == right


@pytest.mark.endtoend
@pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="absent: make or cc")
def test_pages_of_one_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "GALLERY", tmp_path)
    assert gallery.show(["tokenizer"], ["documentation"], tmp_path)
    folder = tmp_path / "tokenizer" / "documentation"
    assert {file.name for file in folder.iterdir()} == {"report.html", "comment.html", "report.txt"}
    (row,) = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert (row["verdict"], row["change"], row["wrong"]) == ("pass", "not measured", None)
    for file in tmp_path.rglob("*.*"):
        text = file.read_text(encoding="utf-8")
        ours = (
            "perfgate-gallery-",
            f"{Path.home()}/",
            str(ROOT),
            "boot_id",
            "fingerprint",
            f'"{socket.gethostname()}"',
        )
        assert [word for word in ours if word in text] == [], file
    # a second call keeps what the first one showed
    monkeypatch.setattr(gallery, "TOOLCHAINS", {"tokenizer": gallery.Toolchain("C", ("no-such-cc",))})
    assert gallery.show(["tokenizer"], ["documentation"], tmp_path)
    assert len(json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))) == 1
