"""pytest-benchmark and the runner of asv, by real processes."""

import sys
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from gate.config.types import Benchmark
from harness.instruments.asv import Asv
from harness.instruments.protocol import Collected, Context, Unusable
from harness.instruments.pytest_benchmark import PytestBenchmark
from tests.harness.instruments.conftest import collected


@pytest.fixture
def context(context: Context) -> Context:
    return replace(context, iterations=2)


def of_pytest(context: Context, text: str, *words: str, **keys: Any) -> Any:
    """Run a file of tests by a real pytest."""
    (context.directory / "test_b.py").write_text(text)
    command = [sys.executable, *words, "-m", "pytest", "-q", "test_b.py", "--benchmark-min-time=0.0005"]
    return collected(
        PytestBenchmark(), Benchmark(name="b", command=command, instrument="pytest-benchmark", **keys), context
    )


@pytest.mark.endtoend
@pytest.mark.parametrize("as_text", [True, False])
def test_the_real_pytest_benchmark(context: Context, as_text: bool) -> None:
    (context.directory / "test_b.py").write_text(
        "def test_a(benchmark): benchmark(len, '')\ndef test_b(): assert 0\ndef test_c(benchmark): benchmark(len, 'c')\n"
    )
    (context.directory / "pytest.ini").write_text("[pytest]\naddopts = --benchmark-disable --benchmark-skip\n")
    words = [sys.executable, "-m", "pytest", "-q", "test_b.py", "--benchmark-min-time=0.0001"]
    # a directory of the machine's may hold spaces
    command: str | list[str] = "'" + "' '".join(words) + "'" if as_text else words
    benchmark = Benchmark(name="b", command=command, instrument="pytest-benchmark", warmup=1, exclude=["*_c"])
    found = collected(PytestBenchmark(), benchmark, context)
    assert isinstance(found, Collected), found
    assert list(found.benchmarks) == ["test_b.py::test_a"]
    time = found.benchmarks["test_b.py::test_a"]["time"]
    assert (len(time.values), len(time.dropped), time.unit, time.better) == (2, 1, "s", "lower")
    assert not (context.directory / ".benchmarks").exists()


@pytest.mark.endtoend
def test_other_clocks_are_named_and_failures_counted(context: Context) -> None:
    (context.directory / "pytest.ini").write_text("[pytest]\naddopts = --benchmark-timer=time.process_time\n")
    text = "import time\ndef test_a(benchmark): benchmark.pedantic(time.sleep, (0.05,), rounds=2)\n"
    found = of_pytest(context, text)
    assert isinstance(found, Collected), found
    # named for what it is: it does not see the test wait
    assert list(found.benchmarks["test_b.py::test_a"]) == ["cpu_time"]
    assert max(found.benchmarks["test_b.py::test_a"]["cpu_time"].values) < 0.05
    failed = of_pytest(context, "def test_a(benchmark):\n    benchmark(len, '')\n    assert 0\n")
    assert isinstance(failed, Unusable)
    assert failed.status == "exit 1: 1 failed"
    assert "assert 0" in failed.stderr


BESIDE = """\
import pytest
pytestmark = pytest.mark.benchmark(group="g")
@pytest.fixture
def bench(benchmark): return benchmark
def test_through(bench): bench(len, "")
def test_once(tmp_path): (tmp_path / "d").mkdir()
"""
MARKED = """\
import time, unittest, pytest
@pytest.fixture
def given(): return 0.02
@pytest.mark.benchmark(max_rounds=5)
def test_a(given): time.sleep(given)
@pytest.mark.benchmark(group="x")
class TestC:
    @pytest.mark.parametrize("n", [1, 2])
    def test_b(self, n): time.sleep(n * 0.01)
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.benchmark)])
def test_d(n): assert n == 2
def test_of_conftest(): pass
def test_no_benchmark(): assert 0
class TestOld(unittest.TestCase):
    @pytest.mark.benchmark
    def test_old(self): pass
"""
CONFTEST = """\
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        if "conftest" in item.name:
            item.add_marker(pytest.mark.benchmark)
"""


@pytest.mark.endtoend
def test_a_test_that_is_only_marked_is_measured_as_a_whole(context: Context) -> None:
    (context.directory / "conftest.py").write_text(CONFTEST)
    found = of_pytest(context, MARKED)
    assert isinstance(found, Collected), found
    lengths = {name.removeprefix("test_b.py::"): each["time"].values for name, each in found.benchmarks.items()}
    assert [*lengths] == ["test_a", "TestC::test_b[1]", "TestC::test_b[2]", "test_d[2]", "test_of_conftest"]
    assert [len(each) for each in lengths.values()] == [2] * 5
    least = dict(zip(lengths, (0.02, 0.01, 0.02), strict=False))
    assert all(min(lengths[name]) >= seconds for name, seconds in least.items())


@pytest.mark.endtoend
@pytest.mark.parametrize("words", [[], ["-I"], ["-E"]])
def test_where_the_fixture_is_the_mark_gives_options(context: Context, words: list[str]) -> None:
    # also where Python looks in no folder of ours
    found = of_pytest(context, BESIDE, *words)
    assert isinstance(found, Collected), found
    assert [*found.benchmarks] == ["test_b.py::test_through"]


@pytest.mark.endtoend
def test_where_python_does_not_look_for_it_what_is_only_marked_is_skipped(context: Context) -> None:
    found = of_pytest(context, MARKED, "-I")
    assert isinstance(found, Unusable)
    assert found.empty


DISCOVERY = """\
import time, timeit
class Case:
    type, timer, warmup_time = "time", staticmethod(timeit.default_timer), -1
    def __init__(self, name, params, work):
        self.name, self.params, self.work = name, params, work
    def set_param_idx(self, place): self.value = [*self.params, [None]][0][place]
    def do_setup_cache(self): return None
    def do_setup(self): return self.value == "skipped"
    def do_teardown(self): pass
    def do_run(self):
        assert self.repeat[0] == self.repeat[1] and self.sample_time == 0.01 == self.warmup_time
        timer = timeit.Timer(self.work, timer=self.timer)
        return {"number": 2, "samples": [each / 2 for each in timer.repeat(self.repeat[0], 2)]}
def disc_benchmarks(name):
    assert name == "suite"
    busy, waiting = lambda: sum(range(30000)), lambda: 1 / 0
    return [Case("a.time_busy", [["1", "skipped"]], busy), Case("a.time_fails", [], waiting), Case("b.time_c", [], busy)]
"""


def test_the_runner_of_asv(context: Context) -> None:
    """asv_runner's own classes are stood in for: tests/tools has the real ones."""
    (context.directory / "asv_runner").mkdir()
    (context.directory / "asv_runner" / "__init__.py").touch()
    (context.directory / "asv_runner" / "discovery.py").write_text(DISCOVERY)
    command = [sys.executable, "-m", "perfgate_asv", "suite", "--sample-time=0.01"]
    benchmark, instrument = Benchmark(name="s", command=command, instrument="asv", warmup=1), Asv()
    found = collected(instrument, benchmark, context)
    assert isinstance(found, Collected)
    assert set(found.benchmarks) == {"a.time_busy(1)", "b.time_c"}
    assert [(name, "ZeroDivisionError" in why.stderr) for name, why in found.failures.items()] == [
        ("a.time_fails", True)
    ]
    for metrics in found.benchmarks.values():
        assert [len(metric.values) for metric in metrics.values()] == [2] * len(metrics)
    one = msgspec.structs.replace(benchmark, include=["b.*"])
    assert instrument.prepare(one, context).argv[-1] == "--bench=^(b\\..*)$"
    found = collected(instrument, one, context)
    assert isinstance(found, Collected)
    assert (set(found.benchmarks), found.failures) == ({"b.time_c"}, {})
