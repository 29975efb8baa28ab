"""The perf_stat and callgrind instruments against the real perf and valgrind of this host."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from gate.model import Metric
from harness.instruments.callgrind import find_callgrind
from harness.instruments.perf_stat import find_perf
from harness.instruments.protocol import Context, Instrument, Unusable
from harness.process.execute import ProcessExecutor
from tests.support.tools import DATA, need, read_as

FORK = DATA / "callgrind/fork.c"
ENVIRONMENT = {"PATH": os.environ["PATH"]}
pytestmark = pytest.mark.tools


@pytest.fixture
def perf() -> Instrument:
    found = find_perf(os.environ)
    if isinstance(found, str):
        pytest.skip(f"absent: perf ({found})")
    return found.instrument


@pytest.fixture
def callgrind(request: pytest.FixtureRequest) -> Instrument:
    found = find_callgrind(os.environ)
    if isinstance(found, str):
        pytest.skip(f"absent: valgrind ({found})")
    if found.limits and request.node.name == "test_callgrind_repeats_to_the_instruction":
        pytest.skip(f"absent: fixed addresses ({found.limits})")
    return found.instrument


def collected(
    instrument: Instrument, place: Path, command: str | list[str], environment: dict[str, str] | None = None
) -> dict[str, Metric] | Unusable:
    each = Benchmark(name="b", command=command, instrument="spawn")
    scratch = Path(tempfile.mkdtemp(dir=place, prefix="%p "))
    context = Context(place, environment or ENVIRONMENT, "base", 17, 0, 3, scratch)
    found = instrument.collect(each, context, ProcessExecutor().run(instrument.prepare(each, context)))
    assert isinstance(found, dict | Unusable)
    return found


def good(found: dict[str, Metric] | Unusable) -> dict[str, Metric]:
    assert not isinstance(found, Unusable), found
    return found


def compiled(place: Path, source: Path) -> str:
    program = place / "program"
    subprocess.run([need("gcc", why="nothing to compile with"), "-O0", "-o", str(program), str(source)], check=True)
    return str(program)


def test_perf_tells_waiting_from_computing(perf: Instrument, tmp_path: Path) -> None:
    waiting = good(collected(perf, tmp_path, ["sleep", "0.05"]))
    assert all(value >= 0.05 for value in waiting["time"].values)
    assert all(0 < value < 0.05 for value in waiting["task-clock"].values)
    loop = [sys.executable, "-S", "-c", "for i in range(2_000_000): pass"]
    assert all(value > 0.02 for value in good(collected(perf, tmp_path, loop))["task-clock"].values)
    assert {len(metric.values) for metric in waiting.values()} == {3}


@pytest.mark.parametrize("name", ["perf", "callgrind"])
def test_they_pass_on_how_the_program_ended(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> None:
    instrument: Instrument = request.getfixturevalue(name)
    assert collected(instrument, tmp_path, "echo why >&2; exit 3") == Unusable("exit 3", "why\n")
    ended, missing = (collected(instrument, tmp_path, each) for each in ("kill -SEGV $$", ["./nosuch"]))
    assert isinstance(ended, Unusable) and ended.status == "signal SIGSEGV"
    assert isinstance(missing, Unusable) and missing.status == 'cannot start: there is no program "./nosuch"'
    if name == "perf":
        assert missing == Unusable(missing.status, "", True)
        (tmp_path / "plain").write_text("x")
        plain = Unusable('cannot start: "./plain" is not executable', "", True)
        assert collected(instrument, tmp_path, ["./plain"]) == plain


def test_callgrind_repeats_to_the_instruction(callgrind: Instrument, tmp_path: Path) -> None:
    program = compiled(tmp_path, FORK)
    counts = [good(collected(callgrind, tmp_path, [program]))["instructions"].values for _ in range(3)]
    assert counts[0] == counts[1] == counts[2]
    python = [sys.executable, "-S", "-c", "print({str(i) for i in range(99)})"]
    counts = [good(collected(callgrind, tmp_path, python))["instructions"].values for _ in range(2)]
    assert counts[0] == counts[1]


def test_what_callgrind_writes_is_read_as_a_file(tmp_path: Path) -> None:
    source = str(DATA / "callgrind/tiny.c")
    build = [need("gcc"), "-O1", "-nostdlib", "-static", "-o", "tiny", source]
    if subprocess.run(build, cwd=tmp_path, check=False).returncode:
        pytest.skip("absent: a compiler for x86-64 (callgrind was tested with captured files only)")
    command = [need("valgrind"), "--tool=callgrind", "--callgrind-out-file=out", "./tiny"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stderr
    collected = re.search(rb"Collected : (\d+)", said)
    assert collected
    (process,) = read_as("callgrind", tmp_path / "out").measured
    assert process.metrics["instructions"].values == [float(collected[1])]


def test_callgrind_counts_children_once(callgrind: Instrument, tmp_path: Path) -> None:
    # 100,000 iterations before the fork and 50,000 in the child, some instructions each; start-up beside them
    program = compiled(tmp_path, FORK)
    [alone] = good(collected(callgrind, tmp_path, [program]))["instructions"].values
    [twice] = good(collected(callgrind, tmp_path, f"{program}; {program}"))["instructions"].values
    assert 2 * alone < twice < 2.5 * alone
    loop = FORK.read_text().replace("50000", "0")
    (tmp_path / "half.c").write_text(loop)
    [without] = good(collected(callgrind, tmp_path, [compiled(tmp_path, tmp_path / "half.c")]))["instructions"].values
    # were the parent's counts in the child's profile too, the child's share would be a fifth
    assert 0.25 < (alone - without) / alone < 0.35
