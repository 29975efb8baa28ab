"""JMH with a real jar, built by Maven: measured, and its results."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.instruments.jmh import Jmh
from harness.instruments.protocol import Collected, Unusable
from tests.support.foreign import measured as processes
from tests.support.tools import DATA, good, measured, read_as, run, status

SHORT = ["-w", "20ms", "-r", "20ms"]
FOLD, OTHERS = "tiny.Tiny.fold:{size=10,text=a b}", "tiny.Tiny.Others"
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(
        shutil.which("mvn") is None or shutil.which("java") is None,
        reason="absent: mvn or java (no benchmark of JMH ran)",
    ),
    # JMH's lock lets one run at a time
    pytest.mark.xdist_group("jmh"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jmh") / "a b"
    shutil.copytree(DATA / "jmh/project", path)
    subprocess.run(["mvn", "-q", "-B", "package"], cwd=path, check=True)
    return path


def of(project: Path, *options: str, fail: bool = False) -> Collected | Unusable:
    java = ["java", f"-Dtiny.fail={str(fail).lower()}", "-jar", "target/benchmarks.jar", *SHORT, *options]
    return measured(Jmh(), project, java, instrument="jmh")


def test_modes_parameters_and_a_profiler(project: Path) -> None:
    found = good(of(project, "Tiny.fold", "-p", "size=10", "-p", "text=a b", "-prof", "gc")).benchmarks
    assert set(found) == {f"{FOLD}:thrpt", f"{FOLD}:avgt"}
    throughput, time = found[f"{FOLD}:thrpt"]["throughput"], found[f"{FOLD}:avgt"]["time"]
    assert (throughput.unit, throughput.better) == ("1/s", "higher")
    assert (time.unit, time.better) == ("s", "lower")
    assert [(len(each.values), len(each.dropped)) for each in (throughput, time)] == [(2, 1)] * 2
    # ten rounds of a loop take between a nanosecond and a millisecond, whatever the machine
    assert all(1e-9 < value < 1e-3 for value in time.values)
    assert all(1e3 < value < 1e9 for value in throughput.values)
    assert "gc.alloc.rate.norm" in found[f"{FOLD}:avgt"]


def test_the_other_modes_and_a_failure_that_is_never_passed_over(project: Path) -> None:
    found = good(of(project, "Others", "-wi", "0")).benchmarks
    assert set(found) == {f"{OTHERS}.sampled:sample", f"{OTHERS}.shot:ss", f"{OTHERS}.fails:thrpt"}
    assert len(found[f"{OTHERS}.sampled:sample"]["p0.99"].values) == 2
    assert status(of(project, "Others", "-wi", "0", fail=True)) == f"exit 1: {OTHERS}.fails failed"
    own = ["-wi", "0", "-i", "2", "-f", "1", "-rf", "json", "-rff", "{output}"]
    assert status(of(project, "Others", *own, fail=True)) == f"JMH reports a failure of {OTHERS}.fails"


def test_its_file(project: Path) -> None:
    options = ["-p", "size=10", "-bm", "thrpt", "-f", "2", "-i", "3", "-r", "5ms", "-wi", "0"]
    file = ["-p", "text=a b", "-rf", "json", "-rff", "out.json"]
    run("java", "-jar", "target/benchmarks.jar", "Tiny.fold", *options, *file, folder=project)
    found = read_as("jmh", project / "out.json")
    assert [len(m.metrics["throughput"].values) for m in processes(found, f"{FOLD}:thrpt")] == [3, 3]
