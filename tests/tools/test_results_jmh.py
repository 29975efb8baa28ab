"""Results of JMH in each of its formats, written by a real jar."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source
from tests.support.foreign import aggregates, measured

PROJECT = Path(__file__).parent.parent / "data" / "jmh" / "project"
FOLD = "tiny.Tiny.fold:{size=10,text=a b}:thrpt"
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
    path = tmp_path_factory.mktemp("jmh") / "project"
    shutil.copytree(PROJECT, path)
    subprocess.run(["mvn", "-q", "-B", "package"], cwd=path, check=True)
    return path


def run(project: Path, form: str) -> Reading:
    options = [
        "Tiny.fold",
        "-p",
        "size=10",
        "-p",
        "text=a b",
        "-bm",
        "thrpt",
        "-f",
        "2",
        "-i",
        "3",
        "-r",
        "5ms",
        "-wi",
        "0",
    ]
    command = ["java", "-jar", "target/benchmarks.jar", *options, "-rf", form, "-rff", f"out.{form}"]
    subprocess.run(command, cwd=project, capture_output=True, check=True)
    return read(Source("out", project / f"out.{form}"))


def test_json_has_the_forks(project: Path) -> None:
    own = measured(run(project, "json"), FOLD)
    assert [len(m.metrics["throughput"].values) for m in own] == [3, 3]


@pytest.mark.parametrize("form", ["csv", "scsv"])
def test_csv_has_the_mean(project: Path, form: str) -> None:
    mean = aggregates(run(project, form), FOLD, "throughput")["mean"]
    assert (mean.unit, mean.better, mean.count, mean.confidence) == ("1/s", "higher", 6, 0.999)
