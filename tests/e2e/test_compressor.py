"""The example that docs/study.md walks through: `make study` makes its page, and writes its numbers into the text."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import environment

ROOT = Path(__file__).parent.parent.parent
STUDY = ROOT / "examples" / "study.py"
SOURCES = ROOT / "examples" / "compressor"


def study(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, STUDY, "compressor", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment(**env),
    )


def test_the_samples_are_of_their_seed(tmp_path: Path) -> None:
    found = {}
    for place, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / place).mkdir()
        # the smallest sizes: what matters is in them
        text = (SOURCES / "samples.py").read_text(encoding="utf-8").replace("(2, 8, 32)", "(1, 2)")
        subprocess.run([sys.executable, "-c", text, seed], cwd=tmp_path / place, check=True)
        found[place] = {file.name: file.read_bytes() for file in (tmp_path / place / "data").iterdir()}
    assert found["a"] == found["b"]
    assert {name: len(data) >> 20 for name, data in found["a"].items()} == {
        "log-1": 1, "log-2": 2, "sensor-1": 1, "sensor-2": 2,
    }  # fmt: skip
    assert all(found["a"][name] != found["c"][name] for name in found["a"])
    assert found["a"]["log-2"].startswith(found["a"]["log-1"])


def test_the_walk_shows_the_config_and_has_its_numbers() -> None:
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    config = (SOURCES / "perfgate.toml").read_text(encoding="utf-8")
    assert f"```toml\n{config[config.index('[build]') :]}```\n" in page
    blocks = dict(re.findall(r"<!-- from `make study`: (\w+) -->\n(.*?)<!-- end -->", page, re.DOTALL))
    assert set(blocks) == {"shows"}
    assert "24 treatments" in " ".join(blocks["shows"].split())
    assert "compress: time" in blocks["shows"]


def test_without_zstd_one_line_says_what_is_needed(tmp_path: Path) -> None:
    done = study("--out", tmp_path, PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"this example needs .*zstd on PATH: install it and run this again\n", done.stderr)


# by day that of the scheduler is written so
@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("zstd"), reason="absent: zstd (the compressor example was not run)")
def test_the_study_writes_its_page_by_one_command(tmp_path: Path) -> None:
    before = (ROOT / "docs" / "study.md").read_bytes()
    done = study("--out", tmp_path, "--replicates", "1", "--work", "0.05")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compress: time" in done.stdout
    assert "output: bytes" in done.stdout
    assert str(tmp_path) not in (tmp_path / "study.html").read_text(encoding="utf-8")
    # only a study that is committed changes the text
    assert (ROOT / "docs" / "study.md").read_bytes() == before
