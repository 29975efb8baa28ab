"""The example of a study: its programs measure what they say, and `make latency` makes a report of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import environment

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "examples" / "scheduler-latency"
NEEDED = [tool for tool in ("make", "cc", "chrt") if not shutil.which(tool)]

pytestmark = [
    pytest.mark.xdist_group("scheduler latency"),
    pytest.mark.endtoend,
    pytest.mark.skipif(bool(NEEDED), reason=f"absent: {', '.join(NEEDED)} (the scheduler-latency example was not run)"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wakeup") / "example"
    shutil.copytree(SOURCES, folder)
    subprocess.run(["make"], cwd=folder, check=True, capture_output=True)
    return folder


def measured(folder: Path, *arguments: str) -> dict[str, list[float]]:
    subprocess.run(["./build/wakeup", *arguments], cwd=folder, check=True, timeout=60)
    found: dict[str, list[float]] = {}
    for line in (folder / "out").read_text(encoding="utf-8").splitlines():
        value = json.loads(line)
        found.setdefault(value["metric"], []).append(value["value"])
    return found


@pytest.mark.parametrize("clients", [1, 5])
def test_every_client_is_woken_for_as_long_as_the_load_runs(built: Path, clients: int) -> None:
    found = measured(built, str(clients), "4096", "out", "sleep", "0.3")
    assert len(found["elapsed"]) == 1
    assert found["elapsed"][0] >= 0.3
    assert len(found["latency"]) == len(found["work"])
    assert len(found["latency"]) % clients == 0
    # a wake-up each 0.5 to 2.5 ms, and fewer on a busy machine
    assert 5 * clients <= len(found["latency"]) <= found["elapsed"][0] / 0.0005 * clients + clients
    assert all(value > 0 for value in found["latency"])


def test_without_compression_only_latency_is_measured(built: Path) -> None:
    assert set(measured(built, "2", "0", "out", "./build/load", "mixed", "20")) == {"latency", "elapsed"}


def test_a_load_that_fails_fails_the_benchmark(built: Path) -> None:
    done = subprocess.run(["./build/wakeup", "1", "0", "out", "false"], cwd=built, check=False, capture_output=True)
    assert done.returncode == 1
    assert b"the load failed" in done.stderr


def test_the_study_writes_its_report_by_one_command(tmp_path: Path) -> None:
    few = ("--replicates", "1", "--work", "0.1")
    command = [sys.executable, str(ROOT / "examples" / "study.py"), "scheduler-latency", "--out", str(tmp_path), *few]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wakeup: latency" in done.stdout
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "Effects over the distribution" in page
    assert str(tmp_path) not in page
    assert "/tmp/" not in page
