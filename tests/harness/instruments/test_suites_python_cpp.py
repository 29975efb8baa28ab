"""The tools of three suites: their options, what they say of failures, and what they read when nothing was written."""

import dataclasses
import os
import sys
from pathlib import Path

import msgspec
import pytest

from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError
from gate.model import Metric
from harness.instruments.asv import Asv
from harness.instruments.google_benchmark import GoogleBenchmark
from harness.instruments.protocol import Collected, Context, Unusable
from harness.instruments.pyperf import Pyperf
from harness.instruments.pytest_benchmark import PytestBenchmark
from harness.instruments.suite import Call, SuiteInstrument
from harness.process.execute import Outcome, ProcessExecutor

SCRATCH = Path("/scratch it's")


def call(*words: str, output: Path = SCRATCH / "output") -> Call:
    return Call(words=words, values=7, output=output, stdout=output.parent / "stdout", limit=1e6)


def exited(code: int) -> Outcome:
    return Outcome(f"exit {code}", "", 1.0, "", code)


def test_pytest_benchmark_takes_counted_rounds() -> None:
    options = PytestBenchmark().options(call("pytest", "bench"))
    assert options == (
        f"--benchmark-json={SCRATCH}/output",
        "--benchmark-only",
        "--benchmark-enable",
        "--benchmark-min-rounds=7",
        "--benchmark-max-time=0",
        "--benchmark-warmup=off",
        f"--benchmark-storage=file://{SCRATCH}/storage",
        "--benchmark-min-time=0.01",
    )
    for own in (["--benchmark-min-time=1"], ["--benchmark-min-time", "1"]):
        assert PytestBenchmark().options(call("pytest", *own)) == options[:-1]


@pytest.mark.parametrize(
    ("outcome", "said", "words"),
    [
        (exited(1), "FAILED a - 3 failed things\n=== 2 failed, 1 error in 2.57s ===", "exit 1: 2 failed and 1 error"),
        (exited(1), "2 failed, 7 passed, 2 skipped in 2.88s", "exit 1: 2 failed"),
        (exited(1), "No module named pytest", "exit 1"),
        (exited(2), "!!! Interrupted: 1 error during collection !!!\n1 error in 0.18s", "exit 2: 1 error"),
        (exited(4), "ERROR: file or directory not found: nowhere.py", "exit 4"),
        (
            exited(4),
            "python -m pytest: error: unrecognized arguments: --benchmark-json=o.json --benchmark-only",
            "exit 4: pytest does not know --benchmark-json; pytest-benchmark is not installed beside it",
        ),
        (
            exited(4),
            "ERROR: Can't have both --benchmark-only and --benchmark-disable options. Note that",
            "exit 4: pytest-xdist, which switches benchmarks off, is on: add -n 0 to the command",
        ),
        (exited(5), "9 deselected in 0.01s", "exit 5: pytest collected no tests"),
        (Outcome("signal SIGSEGV", "", 1.0, ""), "1 failed", "signal SIGSEGV"),
    ],
)
def test_the_words_of_pytest(outcome: Outcome, said: str, words: str) -> None:
    assert PytestBenchmark().explain(outcome, said) == words


def test_pyperf_takes_one_worker_with_the_environment() -> None:
    assert Pyperf().options(call("python", "bench.py")) == (
        "--processes=1",
        "--values=7",
        "--warmups=0",
        "--copy-env",
        f"--output={SCRATCH}/output",
    )


def test_the_words_of_pyperf() -> None:
    said = "usage: x.py [-h]\nx.py: error: unrecognized arguments: --processes=1 --values=3"
    assert Pyperf().explain(exited(2), said).startswith("exit 2: the program does not take pyperf's options")
    assert "--output {output}" in Pyperf().explain(exited(1), "Exception: Command failed with exit code 2")
    assert Pyperf().explain(exited(1), "ZeroDivisionError") == "exit 1"


def test_google_benchmark_writes_every_repetition() -> None:
    assert GoogleBenchmark().options(call("./bench")) == (
        f"--benchmark_out={SCRATCH}/output",
        "--benchmark_out_format=json",
        "--benchmark_repetitions=7",
        "--benchmark_report_aggregates_only=false",
    )
    assert GoogleBenchmark().explain(exited(1), "x") == "exit 1"


@pytest.mark.parametrize(
    ("tool", "words", "empty", "why"),
    [
        (PytestBenchmark(), ["pytest"], False, "pytest-benchmark wrote nothing: no test that ran uses its fixture"),
        # 3.x opens its file before it runs
        (PytestBenchmark(), ["pytest"], True, "pytest-benchmark wrote nothing: no test that ran uses its fixture"),
        (Pyperf(), ["python", "b.py"], False, "pyperf wrote nothing: the program runs no benchmark"),
        (Pyperf(), ["python", "-m", "pyperf", "command", "x"], False, "pyperf wrote nothing: after `pyperf command`"),
        (Asv(), ["python"], False, "perfgate_asv wrote nothing: the folder has no time_"),
        (GoogleBenchmark(), ["./b"], False, "Google Benchmark wrote nothing: main"),
        (GoogleBenchmark(), ["./b"], True, "Google Benchmark ran nothing: --benchmark_filter matches no benchmark"),
    ],
)
def test_nothing_was_written(tool: SuiteInstrument, words: list[str], empty: bool, why: str, tmp_path: Path) -> None:
    output = tmp_path / "output"
    if empty:
        output.touch()
    with pytest.raises(OutputError, match=why):
        tool.read(call(*words, output=output))
    modules = {PytestBenchmark: ["sitecustomize"], Asv: ["sitecustomize", "perfgate_asv"]}.get(type(tool), [])
    path = ":".join(str(tmp_path / f"perfgate-{name}") for name in modules)
    assert tool.environment(call(*words, output=output)) == ({"PYTHONPATH": path} if path else {})


@pytest.fixture
def context(tmp_path: Path) -> Context:
    (tmp_path / "it's 🐢").mkdir()
    environment = {"PATH": os.environ["PATH"]}
    return Context(tmp_path, environment, "head", 17, padding=5, iterations=2, scratch=tmp_path / "it's 🐢")


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
    instrument = PytestBenchmark()
    found = instrument.collect(benchmark, context, ProcessExecutor().run(instrument.prepare(benchmark, context)))
    assert isinstance(found, Collected), found
    assert list(found.benchmarks) == ["test_b.py::test_a"]
    time = found.benchmarks["test_b.py::test_a"]["time"]
    assert (len(time.values), len(time.dropped), time.unit, time.better) == (2, 1, "s", "lower")
    assert not (context.directory / ".benchmarks").exists()


def test_pytest_benchmark_with_a_clock_of_cpu_time(context: Context) -> None:
    (context.directory / "test_b.py").write_text(
        "import time\ndef test_a(benchmark): benchmark.pedantic(time.sleep, (0.05,), rounds=2)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "test_b.py", "--benchmark-timer=time.process_time"]
    benchmark = Benchmark(name="b", command=command, instrument="pytest-benchmark")
    instrument = PytestBenchmark()
    found = instrument.collect(benchmark, context, ProcessExecutor().run(instrument.prepare(benchmark, context)))
    assert isinstance(found, Collected), found
    # named for what it is: it does not see the test wait
    assert list(found.benchmarks["test_b.py::test_a"]) == ["cpu_time"]
    assert max(found.benchmarks["test_b.py::test_a"]["cpu_time"].values) < 0.05


CLOCKED = """
import os, subprocess, sys, threading, time
import theirs
def work(): return sum(range(20_000))
def both():
    other = threading.Thread(target=work)
    other.start(), work(), other.join()
def test_work(benchmark): benchmark(work)
def test_sleep(benchmark): benchmark.pedantic(time.sleep, (0.02,), rounds=3)
def test_threads(benchmark): benchmark(both)
def test_child(benchmark): benchmark.pedantic(subprocess.run, ([sys.executable, "-c", "sum(range(10**6))"],), rounds=3)
def test_others_see_nothing_of_it(benchmark):
    benchmark(work)
    assert os.environ["PYTHONPATH"] == "theirs" and "PYTEST_PLUGINS" not in os.environ
    assert sys.modules["sitecustomize"].IS_THEIRS
"""


def clocked(context: Context, *words: str) -> dict[str, dict[str, Metric]]:
    (context.directory / "test_b.py").write_text(CLOCKED)
    (context.directory / "theirs").mkdir()
    (context.directory / "theirs/theirs.py").touch()
    (context.directory / "theirs/sitecustomize.py").write_text("IS_THEIRS = True\n")
    # a warning would be an error
    command = [*words, "-m", "pytest", "-q", "-W", "error", "test_b.py", "--benchmark-min-time=0.0005"]
    benchmark = Benchmark(name="b", command=command, instrument="pytest-benchmark")
    instrument, own = PytestBenchmark(), {**context.environment, "PYTHONPATH": "theirs"}
    prepared = instrument.prepare(benchmark, dataclasses.replace(context, environment=own))
    found = instrument.collect(benchmark, context, ProcessExecutor().run(prepared))
    assert isinstance(found, Collected), found
    return {name.partition("::")[2]: metrics for name, metrics in found.benchmarks.items()}


@pytest.mark.skipif(not Path("/proc/thread-self/schedstat").exists(), reason="this kernel counts no waiting")
def test_a_round_is_known_without_what_it_waited_for_a_processor(context: Context) -> None:
    found = clocked(context, sys.executable, "-W", "error")
    # of work in other threads and processes nobody knows how long it waited
    assert {name: metrics["active"].sharp for name, metrics in found.items()} == {
        "test_work": True, "test_sleep": True, "test_threads": False, "test_child": False,
        "test_others_see_nothing_of_it": True,
    }  # fmt: skip
    for metrics in found.values():
        time, active = metrics["time"], metrics["active"]
        assert (list(metrics), active.view_of) == (["time", "active"], "time")
        assert (active.unit, active.better, len(active.values)) == ("s", "lower", len(time.values))
        assert min(active.values) > 0
        # but for what it takes to ask the kernel; a busy machine stops most rounds just then, few of three
        longer = [own - wall for own, wall in zip(active.values, time.values, strict=True)]
        assert min(longer) < max(1e-4, 0.02 * min(time.values))
    # it is no processor time: a sleep is seen
    assert min(found["test_sleep"]["active"].values) > 0.019


def test_an_interpreter_that_ignores_the_clock_measures_wall_time_alone(context: Context) -> None:
    (context.directory / "test_b.py").write_text("def test_a(benchmark): benchmark(sum, range(99))\n")
    command = [sys.executable, "-E", "-m", "pytest", "-q", "test_b.py", "--benchmark-min-time=0.0005"]
    benchmark = Benchmark(name="b", command=command, instrument="pytest-benchmark")
    instrument = PytestBenchmark()
    found = instrument.collect(benchmark, context, ProcessExecutor().run(instrument.prepare(benchmark, context)))
    assert isinstance(found, Collected), found
    assert list(found.benchmarks["test_b.py::test_a"]) == ["time"]


def test_failing_tests_are_counted(context: Context) -> None:
    (context.directory / "test_b.py").write_text("def test_a(benchmark):\n    benchmark(len, '')\n    assert 0\n")
    command = [sys.executable, "-m", "pytest", "-q", "test_b.py", "--benchmark-min-time=0.0001"]
    benchmark = Benchmark(name="b", command=command, instrument="pytest-benchmark")
    instrument = PytestBenchmark()
    found = instrument.collect(benchmark, context, ProcessExecutor().run(instrument.prepare(benchmark, context)))
    assert isinstance(found, Unusable)
    assert found.status == "exit 1: 1 failed"
    assert "assert 0" in found.stderr


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
    found = instrument.collect(benchmark, context, ProcessExecutor().run(instrument.prepare(benchmark, context)))
    assert isinstance(found, Collected)
    assert set(found.benchmarks) == {"a.time_busy(1)", "b.time_c"}
    assert [(name, "ZeroDivisionError" in why.stderr) for name, why in found.failures.items()] == [
        ("a.time_fails", True)
    ]
    for metrics in found.benchmarks.values():
        assert [len(metric.values) for metric in metrics.values()] == [2] * len(metrics)
        if "active" in metrics:  # where the kernel counts how long a thread waits
            assert (metrics["active"].view_of, metrics["active"].sharp) == ("time", True)
    one = msgspec.structs.replace(benchmark, include=["b.*"])
    assert instrument.prepare(one, context).argv[-1] == "--bench=^(b\\..*)$"
    found = instrument.collect(one, context, ProcessExecutor().run(instrument.prepare(one, context)))
    assert isinstance(found, Collected)
    assert (set(found.benchmarks), found.failures) == ({"b.time_c"}, {})
    assert "asv_runner is not installed" in instrument.explain(exited(1), "No module named 'asv_runner'")
