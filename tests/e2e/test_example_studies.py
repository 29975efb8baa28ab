"""The examples of studies: programs and samples are what they say, and one command makes a report of each."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import environment

ROOT = Path(__file__).parent.parent.parent
COMPRESSOR, LATENCY = (ROOT / "examples" / name for name in ("compressor", "scheduler-latency"))
NEEDED = [tool for tool in ("make", "cc", "chrt") if not shutil.which(tool)]


def study(name: str, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "examples" / "study.py", name, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, env=environment(**env))


@pytest.mark.xdist_group("scheduler latency")
@pytest.mark.endtoend
@pytest.mark.skipif(bool(NEEDED), reason=f"absent: {', '.join(NEEDED)} (the scheduler-latency example was not run)")
def test_the_latency_of_the_scheduler(tmp_path: Path) -> None:
    folder = tmp_path / "example"
    shutil.copytree(LATENCY, folder)
    subprocess.run(["make"], cwd=folder, check=True, capture_output=True)
    for clients in (1, 5):
        words = ["./build/wakeup", str(clients), "4096", "out", "sleep", "0.3"]
        subprocess.run(words, cwd=folder, check=True, timeout=60)
        found: dict[str, list[float]] = {}
        for line in map(json.loads, (folder / "out").read_text(encoding="utf-8").splitlines()):
            found.setdefault(line["metric"], []).append(line["value"])
        (elapsed,) = found["elapsed"]
        assert elapsed >= 0.3
        assert len(found["latency"]) == len(found["work"])
        assert len(found["latency"]) % clients == 0
        # a wake-up each 0.5 to 2.5 ms, and fewer on a busy machine
        assert 5 * clients <= len(found["latency"]) <= elapsed / 0.0005 * clients + clients
        assert all(value > 0 for value in found["latency"])
    out = tmp_path / "study"
    done = study("scheduler-latency", "--out", out, "--replicates", "1", "--work", "0.1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wakeup: latency" in done.stdout
    page = (out / "study.html").read_text(encoding="utf-8")
    assert "Effects over the distribution" in page
    assert str(out) not in page
    assert "/tmp/" not in page


@pytest.mark.endtoend
def test_the_samples_of_the_compressor_are_of_their_seed(tmp_path: Path) -> None:
    found = {}
    for place, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / place).mkdir()
        # the smallest sizes: what matters is in them
        text = (COMPRESSOR / "samples.py").read_text(encoding="utf-8").replace("(2, 8, 32)", "(1, 2)")
        subprocess.run([sys.executable, "-c", text, seed], cwd=tmp_path / place, check=True)
        found[place] = {file.name: file.read_bytes() for file in (tmp_path / place / "data").iterdir()}
    assert found["a"] == found["b"]
    assert {name: len(data) >> 20 for name, data in found["a"].items()} == {
        "log-1": 1, "log-2": 2, "sensor-1": 1, "sensor-2": 2,
    }  # fmt: skip
    assert all(found["a"][name] != found["c"][name] for name in found["a"])
    assert found["a"]["log-2"].startswith(found["a"]["log-1"])


def test_the_walk_through_the_compressor_shows_its_config_and_has_its_numbers() -> None:
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    config = (COMPRESSOR / "perfgate.toml").read_text(encoding="utf-8")
    assert f"```toml\n{config[config.index('[build]') :]}```\n" in page
    ((name, shows),) = re.findall(r"<!-- from `make study`: (\w+) -->\n(.*?)<!-- end -->", page, re.DOTALL)
    assert name == "shows"
    assert "24 treatments" in " ".join(shows.split())
    assert "compress: time" in shows


def test_without_zstd_one_line_says_what_is_needed(tmp_path: Path) -> None:
    done = study("compressor", "--out", tmp_path, PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"this example needs .*zstd on PATH: install it and run this again\n", done.stderr)


# by day that of the scheduler is written so
@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("zstd"), reason="absent: zstd (the compressor example was not run)")
def test_the_study_of_the_compressor_writes_its_page_by_one_command(tmp_path: Path) -> None:
    before = (ROOT / "docs" / "study.md").read_bytes()
    done = study("compressor", "--out", tmp_path, "--replicates", "1", "--work", "0.05")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compress: time" in done.stdout
    assert "output: bytes" in done.stdout
    assert str(tmp_path) not in (tmp_path / "study.html").read_text(encoding="utf-8")
    # only a study that is committed changes the text
    assert (ROOT / "docs" / "study.md").read_bytes() == before
