"""Which options go, criterion and jmh add to a user's command, and what they read when it is done."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from gate.formats.parts.output import OutputError
from harness.instruments.criterion import Criterion
from harness.instruments.go import Go
from harness.instruments.google_benchmark import GoogleBenchmark
from harness.instruments.jmh import Jmh
from harness.instruments.pytest_benchmark import PytestBenchmark
from harness.instruments.suite import Call


def call(command: str, values: int = 12, scratch: Path = Path("/s")) -> Call:
    return Call(tuple(shlex.split(command)), values, scratch / "output", scratch / "stdout", 1000.0)


@pytest.mark.parametrize(
    ("command", "added"),
    [
        ("go test ./...", "-bench=. -run=^$ -count=12 -v"),
        ("GOGC=off /usr/local/go/bin/go1.26 -C dir test", "-bench=. -run=^$ -count=12 -v"),
        ("go test -bench Sum --run=Test -count=3 -v", ""),
        ("go test -test.bench=. -benchtime=1x -benchmem", "-run=^$ -count=12 -v"),
        ("go test -bench=. -args -own", "-test.run=^$ -test.count=12 -test.v"),
        ("./a.test -test.bench=.", "-test.run=^$ -test.count=12 -test.v"),
    ],
)
def test_go(command: str, added: str) -> None:
    assert Go().options(call(command)) == tuple(added.split())


@pytest.mark.parametrize(
    ("tool", "command", "globs", "added"),
    [
        (GoogleBenchmark(), "./b", ["BM_x/1", "BM_y*"], ["--benchmark_filter=^(BM_x/1|BM_y.*)($|/)"]),
        (GoogleBenchmark(), "./b --benchmark_filter=x", ["BM_x/1"], []),
        (Criterion(), "cd x && ./b --bench", ["a/b c"], ["^(a/b c)($|/)"]),
        (Criterion(), "./b --bench own", ["a"], []),
        (Criterion(), "cargo bench", ["a"], []),
        (Go(), "./a.test -test.bench=.", ["BenchmarkX/n=1", "BenchmarkY"], ["-test.bench=^(BenchmarkX)$/^(n=1)$|^(BenchmarkY)$"]),
        (Go(), "./a.test", ["BenchmarkX/n=*", "BenchmarkY/*/b", "BenchmarkZ[12]"], ["-test.bench=^(BenchmarkX)$/^(n=)|^(BenchmarkY)$/^()|^(BenchmarkZ)"]),
        (Go(), "go test ./...", ["BenchmarkX"], ["-bench=^(BenchmarkX)$"]),
        (Go(), "go test ./...", ["a.b/c.BenchmarkX"], []),
        (Go(), "go test -bench=Sum", ["BenchmarkX"], []),
        (Go(), "./a.test", ["*X"], []),
        (Jmh(), "java -jar b.jar x", ["o.A.m:{n=1}:avgt", "o.B.*"], ["-e", r"^(?!(o\.A\.m|o\.B\..*)$)"]),
        (Jmh(), "java -jar b.jar", ["*m*"], []),
        (PytestBenchmark(), "pytest t", ["t/a.py::test_x[1-2]", "t/a.py::T::test_y"], ["-k", "test_x or test_y"]),
        (PytestBenchmark(), "pytest t -k z", ["t/a.py::test_x"], []),
        (PytestBenchmark(), "pytest t", ["*x*"], []),
    ],
)  # fmt: skip
def test_what_is_chosen_is_the_suites_own_filter(tool: Any, command: str, globs: list[str], added: list[str]) -> None:
    assert list(tool.only(call(command), globs)) == added


@pytest.mark.parametrize(
    ("command", "values", "added"),
    [
        ("cargo bench", 12, "-- --noplot --sample-size=12 --nresamples=1001"),
        ("cargo bench", 1, "-- --noplot --sample-size=10 --nresamples=1001"),
        ("cargo +nightly bench --bench x -- parse", 12, "--noplot --sample-size=12 --nresamples=1001"),
        ("cargo bench --bench x -- -n --sample-size 50", 12, "--nresamples=1001"),
        ("cargo bench -- --noplot --quick", 12, ""),
        ("target/release/deps/x-1", 12, "--bench --noplot --sample-size=12 --nresamples=1001"),
        ("target/release/deps/x-1 --bench", 12, "--noplot --sample-size=12 --nresamples=1001"),
    ],
)
def test_criterion(command: str, values: int, added: str) -> None:
    assert Criterion().options(call(command, values)) == tuple(added.split())
    assert Criterion().environment(call(command)) == {"CRITERION_HOME": "/s/output"}


@pytest.mark.parametrize(
    ("command", "added"),
    [
        ("java -jar x.jar", "-rf json -rff /s/output -f 1 -i 12 -foe true"),
        ("java -jar x.jar -wi 5 -prof gc -foo", "-rf json -rff /s/output -f 1 -i 12 -foe true"),
        ("java -jar x.jar -f 3 -i5 --foe=false", "-rf json -rff /s/output"),
        ("java -jar x.jar -rf json -rff own.json", "-f 1 -i 12 -foe true"),
    ],
)
def test_jmh(command: str, added: str) -> None:
    assert Jmh().options(call(command)) == tuple(added.split())


def test_nothing_was_written(tmp_path: Path) -> None:
    assert Go().read(call("go test", scratch=tmp_path)).benchmarks == {}
    with pytest.raises(OutputError, match="Criterion wrote no results"):
        Criterion().read(call("cargo bench", scratch=tmp_path))
    with pytest.raises(OutputError, match="JMH wrote nothing"):
        Jmh().read(call("java -jar x.jar", scratch=tmp_path))


def test_results_of_an_older_run_are_never_read(tmp_path: Path) -> None:
    old = tmp_path / "target" / "x" / "new"
    old.mkdir(parents=True)
    (old / "benchmark.json").write_text('{"full_id": "x"}')
    (old / "sample.json").write_text('{"iters": [1], "times": [5]}')
    (tmp_path / "output").symlink_to(tmp_path / "target")
    with pytest.raises(OutputError, match="a link or a file"):
        Criterion().read(call("cargo bench", scratch=tmp_path))
    (tmp_path / "output").unlink()
    (tmp_path / "output" / "x").mkdir(parents=True)
    (tmp_path / "output" / "x" / "new").symlink_to(old)
    with pytest.raises(OutputError, match="no results"):
        Criterion().read(call("cargo bench", scratch=tmp_path))


def test_criterion_files_beyond_the_limit(tmp_path: Path) -> None:
    for name in ("a", "b"):
        new = tmp_path / "output" / name / "new"
        new.mkdir(parents=True)
        (new / "benchmark.json").write_text(f'{{"full_id": "{name}"}}')
        (new / "sample.json").write_text('{"iters": [1], "times": [5]}' + " " * 500)
    with pytest.raises(OutputError, match="max_output"):
        Criterion().read(call("cargo bench", scratch=tmp_path))
