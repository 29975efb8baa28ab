"""pytest-benchmark and pyperf themselves, on the programs that the captured outputs were made with.

PERFGATE_TEST_PYTHON names a Python that has them, where the one that runs the tests has not.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark
from harness.instruments.protocol import Collected, Context, Unusable
from harness.instruments.pyperf import Pyperf
from harness.instruments.pytest_benchmark import PytestBenchmark
from harness.instruments.suite import SuiteInstrument
from harness.process.execute import ProcessExecutor

DATA = Path(__file__).parent.parent / "data"
PYTHON = os.environ.get("PERFGATE_TEST_PYTHON", sys.executable)
pytestmark = pytest.mark.tools


@pytest.fixture
def context(tmp_path: Path) -> Context:
    (tmp_path / "it's 🐢").mkdir()
    environment = {"PATH": os.environ["PATH"], "PERFGATE_TEST_OWN": "set"}
    return Context(tmp_path, environment, "head", 17, padding=5, iterations=3, scratch=tmp_path / "it's 🐢")


def need(module: str) -> None:
    if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode:
        pytest.skip(f"absent: {module} (its adapter was tested with captured outputs only)")


def collected(
    tool: SuiteInstrument, context: Context, command: list[str] | str, **options: Any
) -> Collected | Unusable:
    benchmark = Benchmark(name="b", command=command, **options)
    instrument = tool
    return instrument.collect(benchmark, context, ProcessExecutor().run(instrument.prepare(benchmark, context)))


def counts(found: Collected | Unusable, metric: str = "time") -> dict[str, tuple[int, int]]:
    assert isinstance(found, Collected), found
    taken = {name: each[metric] for name, each in found.benchmarks.items() if metric in each}
    assert all(value > 0 for each in taken.values() for value in each.values)
    return {name: (len(each.dropped), len(each.values)) for name, each in taken.items()}


def test_pytest_benchmark(context: Context) -> None:
    need("pytest_benchmark")
    shutil.copy(DATA / "pytest-benchmark/pytest_suite.py", context.directory / "test_suite.py")
    command = [PYTHON, "-m", "pytest", "-q", "test_suite.py", "--benchmark-min-time=0.001"]
    found = collected(PytestBenchmark(), context, command, warmup=2)
    assert counts(found) == {
        "test_suite.py::test_upper[a b/'c'\"d\"]": (2, 3),
        "test_suite.py::test_upper[\\n\\t\\x01]": (2, 3),
        "test_suite.py::test_upper[\\U0001f422 \\xe9]": (2, 3),
        "test_suite.py::test_upper[x]]": (2, 3),
        "test_suite.py::TestSum::test_upper": (2, 3),
        "test_suite.py::test_marked": (2, 1),
    }
    assert isinstance(found, Collected)
    assert found.failures["test_suite.py::test_pedantic"].status == "2 values of 'time', and warmup takes 2"


def test_pytest_benchmark_that_does_not_run(context: Context) -> None:
    need("pytest_benchmark")
    shutil.copy(DATA / "pytest-benchmark/pytest_suite.py", context.directory / "test_suite.py")
    for more, status in (
        (["-k", "nothing"], "exit 5: pytest collected no tests"),
        (["-k", "plain"], "pytest-benchmark wrote nothing: no test that ran uses its fixture"),
        (["-p", "no:benchmark"], "exit 4: pytest does not know --benchmark-json"),
    ):
        found = collected(PytestBenchmark(), context, [PYTHON, "-m", "pytest", "-q", "test_suite.py", *more])
        assert isinstance(found, Unusable)
        assert found.status.startswith(status)


def test_pytest_benchmark_beside_xdist(context: Context) -> None:
    need("pytest_benchmark")
    need("xdist")
    shutil.copy(DATA / "pytest-benchmark/pytest_suite.py", context.directory / "test_suite.py")
    command = [PYTHON, "-m", "pytest", "-q", "test_suite.py", "--benchmark-min-time=0.001"]
    found = collected(PytestBenchmark(), context, [*command, "-n", "2"])
    assert isinstance(found, Unusable)
    assert found.status == "exit 4: pytest-xdist, which switches benchmarks off, is on: add -n 0 to the command"
    assert len(counts(collected(PytestBenchmark(), context, [*command, "-n", "2", "-n", "0"]))) == 7


def test_pyperf(context: Context) -> None:
    need("pyperf")
    shutil.copy(DATA / "pyperf/pyperf_suite.py", context.directory)
    # its benchmark "seed" fails where PERFGATE_SEED does not reach the worker
    found = collected(Pyperf(), context, [PYTHON, "pyperf_suite.py", "--min-time=0.001"], warmup=1)
    assert counts(found) == {"upper a b/'c'\"d\"\\t🐢": (1, 3), "sum": (1, 3), "seed": (1, 3)}
    assert counts(found, "memory") == {"size": (1, 3)}
    assert counts(found, "count") == {"answer": (1, 3)}


def workers(context: Context) -> set[str]:
    found = set((context.directory / "workers").read_text().splitlines())
    assert all(line.startswith("set ") for line in found)
    return found


def test_pyperf_timeit_passes_the_environment_and_calibrates_without_loops_only(context: Context) -> None:
    need("pyperf")
    note = "import os; open('workers', 'a').write(f'{os.environ[\"PERFGATE_TEST_OWN\"]} {os.getpid()}\\n')"
    command = [PYTHON, "-m", "pyperf", "timeit", "--min-time=0.001", "-s", note, "sum(range(10))"]
    assert counts(collected(Pyperf(), context, command)) == {"timeit": (0, 3)}
    assert len(workers(context)) == 2
    (context.scratch / "output").unlink()
    (context.directory / "workers").unlink()
    assert counts(collected(Pyperf(), context, [*command, "--loops=8"])) == {"timeit": (0, 3)}
    assert len(workers(context)) == 1


def test_pyperf_as_text_with_options_of_ones_own(context: Context) -> None:
    need("pyperf")
    command = f"'{PYTHON}' -m pyperf command -p 2 -n 1 -w 1 -l 1 -q --name=x -o {{output}} true"
    assert counts(collected(Pyperf(), context, command)) == {"x": (0, 2)}


def test_pyperf_that_does_not_run(context: Context) -> None:
    need("pyperf")
    (context.directory / "plain.py").write_text("import argparse\nargparse.ArgumentParser().parse_args()\n")
    (context.directory / "bad.py").write_text(
        "import pyperf\nr = pyperf.Runner()\nr.bench_func('good', len, '')\nr.bench_func('bad', lambda: 1 / 0)\n"
    )
    found = collected(Pyperf(), context, [PYTHON, "plain.py"])
    assert isinstance(found, Unusable)
    assert found.status.startswith("exit 2: the program does not take pyperf's options")
    found = collected(Pyperf(), context, [PYTHON, "bad.py", "--min-time=0.001"])
    assert isinstance(found, Unusable)
    assert found.status == "exit 1"
    assert "ZeroDivisionError" in found.stderr
