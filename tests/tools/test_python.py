"""pytest-benchmark, pyperf and asv themselves: measured, and their files against what they say of them."""

import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from gate.formats.parts.reading import columns
from harness.instruments.protocol import Collected, Unusable
from harness.instruments.pyperf import Pyperf
from harness.instruments.pytest_benchmark import PytestBenchmark
from harness.instruments.suite import SuiteInstrument
from tests.support.tools import DATA, PYTHON, good, measured, need_module, read_as, run, status

pytestmark = pytest.mark.tools
PYTEST = [PYTHON, "-m", "pytest", "-q", "test_suite.py"]
QUICK = "--benchmark-min-time=0.001"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    shutil.copy(DATA / "pytest-benchmark/pytest_suite.py", tmp_path / "project/test_suite.py")
    shutil.copy(DATA / "pyperf/pyperf_suite.py", tmp_path / "project")
    return tmp_path / "project"


def of(tool: SuiteInstrument, folder: Path, command: list[str] | str, **options: Any) -> Collected | Unusable:
    options = {"warmup": 0, **options}
    return measured(tool, folder, command, iterations=3, environment={"PERFGATE_TEST_OWN": "set"}, **options)


def counts(found: Collected | Unusable, metric: str = "time") -> dict[str, tuple[int, int]]:
    taken = {name: each[metric] for name, each in good(found).benchmarks.items() if metric in each}
    assert all(value > 0 for each in taken.values() for value in each.values)
    return {name: (len(each.dropped), len(each.values)) for name, each in taken.items()}


# --- pytest-benchmark -------------------------------------------------------------------------------------------------


def test_pytest_benchmark(folder: Path) -> None:
    need_module("pytest_benchmark")
    found = of(PytestBenchmark(), folder, [*PYTEST, QUICK], warmup=2)
    settings = ("a b/'c'\"d\"", "\\n\\t\\x01", "\\U0001f422 \\xe9", "x]")
    assert counts(found) == {
        **{f"test_suite.py::test_upper[{each}]": (2, 3) for each in settings},
        "test_suite.py::TestSum::test_upper": (2, 3),
        "test_suite.py::test_marked": (2, 1),
    }
    why = "2 values of 'time', and warmup takes 2"
    assert good(found).failures["test_suite.py::test_pedantic"].status == why


def test_pytest_benchmark_beside_xdist(folder: Path) -> None:
    need_module("pytest_benchmark", "xdist")
    why = "exit 4: pytest-xdist, which switches benchmarks off, is on: add -n 0 to the command"
    assert status(of(PytestBenchmark(), folder, [*PYTEST, QUICK, "-n", "2"])) == why
    assert len(counts(of(PytestBenchmark(), folder, [*PYTEST, QUICK, "-n", "2", "-n", "0"]))) == 7


def test_files_of_pytest_benchmark(folder: Path) -> None:
    need_module("pytest_benchmark")
    options = (
        "--benchmark-only", "--benchmark-max-time=0.01", "--benchmark-storage=file://saved", "--benchmark-save=x",
    )  # fmt: skip
    run(*PYTEST, *options, "--benchmark-json=full.json", folder=folder)
    own = {each["fullname"]: each["stats"] for each in json.loads((folder / "full.json").read_text())["benchmarks"]}
    full = read_as("pytest_benchmark", folder / "full.json").measured
    assert len(full) == len(own) > 5
    assert sorted(len(m.metrics["time"].values) for m in full) == sorted(stats["rounds"] for stats in own.values())
    means = sorted(statistics.fmean(m.metrics["time"].values) for m in full)
    assert means == pytest.approx(sorted(stats["mean"] for stats in own.values()))
    saved = read_as("pytest_benchmark", next((folder / "saved").glob("*/*.json")))
    assert not saved.measured
    assert {a.benchmark for a in saved.aggregates} == {m.benchmark for m in full}


# --- pyperf -----------------------------------------------------------------------------------------------------------


def test_pyperf(folder: Path) -> None:
    need_module("pyperf")
    # its benchmark "seed" fails where PERFGATE_SEED does not reach the worker
    found = of(Pyperf(), folder, [PYTHON, "pyperf_suite.py", "--min-time=0.001"], warmup=1)
    assert counts(found) == {"upper a b/'c'\"d\"\\t🐢": (1, 3), "sum": (1, 3), "seed": (1, 3)}
    assert counts(found, "memory") == {"size": (1, 3)}
    assert counts(found, "count") == {"answer": (1, 3)}


@pytest.mark.parametrize(
    ("command", "include", "wanted"),
    [
        (["pyperf_suite.py"], ["s*", "none"], {"sum", "seed", "size"}),
        # its own names may be globs that do not mean themselves
        (["pyperf_suite.py"], ["upper a b/'c'\"d\"\\t🐢"], {"upper a b/'c'\"d\"\\t🐢"}),
        (["-m", "pyperf", "timeit", "--name=a[1]", "sum(range(10))"], ["a[1]"], {"a[1]"}),
    ],
)
def test_pyperf_runs_what_is_chosen(folder: Path, command: list[str], include: list[str], wanted: set[str]) -> None:
    need_module("pyperf")
    # what is left out would say so
    script = folder / "pyperf_suite.py"
    script.write_text(script.read_text() + 'runner.bench_time_func("late", lambda loops: 1 / 0)\n')
    found = of(Pyperf(), folder, [PYTHON, *command, "--min-time=0.001"], include=include)
    assert {*good(found).benchmarks} == wanted
    assert not good(found).failures


def test_pyperf_without_a_chosen_name_has_nothing(folder: Path) -> None:
    need_module("pyperf")
    found = of(Pyperf(), folder, [PYTHON, "pyperf_suite.py"], include=["none"])
    assert status(found).startswith("pyperf wrote nothing")


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_files_of_pyperf(folder: Path, name: str) -> None:
    need_module("pyperf")
    options = ("--processes=3", "--values=2", "--warmups=1", "--min-time=0.001", "-q", "-o", name)
    run(PYTHON, "-m", "pyperf", "timeit", *options, "sum(range(10))", folder=folder)
    found = [(m.execution, m.metrics["time"]) for m in read_as("pyperf", folder / name).measured]
    assert [(n, len(time.values), len(time.dropped)) for n, time in found] == [(0, 2, 1), (1, 2, 1), (2, 2, 1)]
    said = run(PYTHON, "-c", f"import pyperf; print(pyperf.Benchmark.load({name!r}).median())", folder=folder)
    assert statistics.median(v for _, time in found for v in time.values) == pytest.approx(float(said))


# --- asv --------------------------------------------------------------------------------------------------------------


def test_files_of_asv(tmp_path: Path) -> None:
    need_module("asv")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("")
    (tmp_path / "benchmarks" / "tiny.py").write_text(
        "class Suite:\n    params = [1, 2]\n    param_names = ['n']\n    number = repeat = 3\n    warmup_time = 0\n"
        "    def time_it(self, n):\n        sum(range(n))\n    def peakmem_it(self, n):\n        pass\n"
    )
    config = {"version": 1, "project": "x", "project_url": "x", "repo": ".", "environment_type": "existing"}
    (tmp_path / "asv.conf.json").write_text(json.dumps(config | {"results_dir": "results"}))
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
    run("git", "init", "-q", ".", folder=tmp_path)
    run(*git, "commit", "-q", "--allow-empty", "-m", "x", folder=tmp_path)
    sha = run("git", "rev-parse", "HEAD", folder=tmp_path).decode().strip()
    asv, home = (PYTHON, "-m", "asv"), {"HOME": str(tmp_path)}
    run(*asv, "machine", "--yes", folder=tmp_path, env=home)
    run(*asv, "run", "--python=same", "--set-commit-hash", sha, "--record-samples", folder=tmp_path, env=home)
    ((label, reading),) = columns(read_as("asv", tmp_path / "results"))
    assert label == sha[:8]
    assert {(m.benchmark, m.labels["n"], *m.metrics) for m in reading.measured} == {
        (f"tiny.Suite.{name}_it({n})", n, metric)
        for name, metric in (("time", "time"), ("peakmem", "memory"))
        for n in "12"
    }
