"""What suites add to a user's command, what they take, what they say of failures, and what they read when nothing was written."""

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gate.config.rules import matches
from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError, Series, Suite
from harness.instruments.asv import Asv
from harness.instruments.criterion import Criterion
from harness.instruments.go import Go
from harness.instruments.google_benchmark import GoogleBenchmark
from harness.instruments.jmh import Jmh
from harness.instruments.protocol import Collected, Context, Unusable, at_least
from harness.instruments.pyperf import Pyperf
from harness.instruments.pytest_benchmark import PytestBenchmark
from harness.instruments.suite import Call, SuiteInstrument
from harness.process.execute import ProcessEnd


def call(command: str, values: int = 12, scratch: Path = Path("/s")) -> Call:
    return Call(tuple(shlex.split(command)), values, scratch / "output", scratch / "stdout", 1000.0)


ROUNDS = (
    "--benchmark-json=/s/output --benchmark-only --benchmark-enable --benchmark-min-rounds=7 --benchmark-max-time=0 "
    "--benchmark-warmup=off --benchmark-storage=file:///s/storage"
)


@pytest.mark.parametrize(
    ("tool", "command", "values", "added"),
    [
        (Go(), "go test ./...", 12, "-bench=. -run=^$ -count=12 -v"),
        (Go(), "GOGC=off /usr/local/go/bin/go1.26 -C dir test", 12, "-bench=. -run=^$ -count=12 -v"),
        (Go(), "go test -bench Sum --run=Test -count=3 -v", 12, ""),
        (Go(), "go test -test.bench=. -benchtime=1x -benchmem", 12, "-run=^$ -count=12 -v"),
        (Go(), "go test -bench=. -args -own", 12, "-test.run=^$ -test.count=12 -test.v"),
        (Go(), "./a.test -test.bench=.", 12, "-test.run=^$ -test.count=12 -test.v"),
        (Criterion(), "cargo bench", 12, "-- --noplot --sample-size=12 --nresamples=1001"),
        (Criterion(), "cargo bench", 1, "-- --noplot --sample-size=10 --nresamples=1001"),
        (Criterion(), "cargo +nightly bench --bench x -- parse", 12, "--noplot --sample-size=12 --nresamples=1001"),
        (Criterion(), "cargo bench --bench x -- -n --sample-size 50", 12, "--nresamples=1001"),
        (Criterion(), "cargo bench -- --noplot --quick", 12, ""),
        (Criterion(), "target/release/deps/x-1", 12, "--bench --noplot --sample-size=12 --nresamples=1001"),
        (Criterion(), "target/release/deps/x-1 --bench", 12, "--noplot --sample-size=12 --nresamples=1001"),
        (Jmh(), "java -jar x.jar", 12, "-rf json -rff /s/output -f 1 -i 12 -foe true"),
        (Jmh(), "java -jar x.jar -wi 5 -prof gc -foo", 12, "-rf json -rff /s/output -f 1 -i 12 -foe true"),
        (Jmh(), "java -jar x.jar -f 3 -i5 --foe=false", 12, "-rf json -rff /s/output"),
        (Jmh(), "java -jar x.jar -rf json -rff own.json", 12, "-f 1 -i 12 -foe true"),
        (PytestBenchmark(), "pytest bench", 7, f"{ROUNDS} --benchmark-min-time=0.01"),
        (PytestBenchmark(), "pytest --benchmark-min-time=1", 7, ROUNDS),
        (PytestBenchmark(), "pytest --benchmark-min-time 1", 7, ROUNDS),
        # one worker with the environment
        (Pyperf(), "python bench.py", 7, "--processes=1 --values=7 --warmups=0 --copy-env --output=/s/output"),
        # every repetition
        (GoogleBenchmark(), "./bench", 7, ("--benchmark_out=/s/output --benchmark_out_format=json "
         "--benchmark_repetitions=7 --benchmark_report_aggregates_only=false")),
    ],
)  # fmt: skip
def test_what_is_added_to_a_users_command(tool: SuiteInstrument, command: str, values: int, added: str) -> None:
    assert tool.options(call(command, values)) == tuple(added.split())


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


USAGE = "usage: x.py [-h]\nx.py: error: unrecognized arguments: --processes=1 --values=3"


@pytest.mark.parametrize(
    ("tool", "code", "said", "words"),
    [
        (PytestBenchmark(), 1, "FAILED a - 3 failed things\n=== 2 failed, 1 error in 2.57s ===", "exit 1: 2 failed and 1 error"),
        (PytestBenchmark(), 1, "2 failed, 7 passed, 2 skipped in 2.88s", "exit 1: 2 failed"),
        (PytestBenchmark(), 1, "No module named pytest", "exit 1"),
        (PytestBenchmark(), 2, "!!! Interrupted: 1 error during collection !!!\n1 error in 0.18s", "exit 2: 1 error"),
        (PytestBenchmark(), 4, "ERROR: file or directory not found: nowhere.py", "exit 4"),
        (PytestBenchmark(), 4, "python -m pytest: error: unrecognized arguments: --benchmark-json=o.json --benchmark-only",
         "exit 4: pytest does not know --benchmark-json; pytest-benchmark is not installed beside it"),
        (PytestBenchmark(), 4, "ERROR: Can't have both --benchmark-only and --benchmark-disable options. Note that",
         "exit 4: pytest-xdist, which switches benchmarks off, is on: add -n 0 to the command"),
        (PytestBenchmark(), 5, "9 deselected in 0.01s", "exit 5: pytest collected no tests"),
        (PytestBenchmark(), None, "1 failed", "signal SIGSEGV"),
        (Pyperf(), 2, USAGE, "exit 2: the program does not take pyperf's options, as one with a pyperf.Runner does"),
        (Pyperf(), 1, "Exception: Command failed with exit code 2", ("exit 1: the benchmarked command failed; after `pyperf "
         "command` options belong before the program: write them there, with --output {output}")),
        (Pyperf(), 1, "ZeroDivisionError", "exit 1"),
        (GoogleBenchmark(), 1, "x", "exit 1"),
        (Asv(), 1, "No module named 'asv_runner'", "exit 1: asv_runner is not installed beside it"),
    ],
)  # fmt: skip
def test_the_words_of_a_tool_that_failed(tool: SuiteInstrument, code: int | None, said: str, words: str) -> None:
    outcome = ProcessEnd("signal SIGSEGV" if code is None else f"exit {code}", "", 1.0, "", code)
    assert tool.explain(outcome, said) == words


@pytest.mark.parametrize(
    ("tool", "command", "empty", "why"),
    [
        (PytestBenchmark(), "pytest", False, "pytest-benchmark wrote nothing: no test that ran uses its fixture"),
        # 3.x opens its file before it runs
        (PytestBenchmark(), "pytest", True, "pytest-benchmark wrote nothing: no test that ran uses its fixture"),
        (Pyperf(), "python b.py", False, "pyperf wrote nothing: the program runs no benchmark"),
        (Pyperf(), "python -m pyperf command x", False, "pyperf wrote nothing: after `pyperf command`"),
        (Asv(), "python", False, "perfgate_asv wrote nothing: the folder has no time_"),
        (Jmh(), "java -jar x.jar", False, "JMH wrote nothing"),
        (GoogleBenchmark(), "./b", False, "Google Benchmark wrote nothing: main"),
        (GoogleBenchmark(), "./b", True, "Google Benchmark ran nothing: --benchmark_filter matches no benchmark"),
    ],
)
def test_nothing_was_written(tool: SuiteInstrument, command: str, empty: bool, why: str, tmp_path: Path) -> None:
    output = tmp_path / "output"
    if empty:
        output.touch()
    with pytest.raises(OutputError, match=why):
        tool.read(call(command, scratch=tmp_path))
    own = {
        Asv: {"PYTHONPATH": str(tmp_path / "perfgate-perfgate_asv")},
        PytestBenchmark: {
            "PYTHONPATH": str(tmp_path / "perfgate-perfgate_pytest"),
            "COLUMNS": "200",
        },
        Jmh: {"PERFGATE_WORKER": "1"},
    }
    assert tool.environment(call(command, scratch=tmp_path)) == own.get(type(tool), {})


def test_results_of_an_older_run_are_never_read_and_files_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        new = tmp_path / "output" / name / "new"
        new.mkdir(parents=True)
        (new / "benchmark.json").write_text(f'{{"full_id": "{name}"}}')
        (new / "sample.json").write_text('{"iters": [1], "times": [5]}' + " " * 500)
    with pytest.raises(OutputError, match="max_output"):
        Criterion().read(call("cargo bench", scratch=tmp_path))
    shutil.rmtree(tmp_path / "output")
    old = tmp_path / "target" / "x" / "new"
    old.mkdir(parents=True)
    (old / "benchmark.json").write_text('{"full_id": "x"}')
    (old / "sample.json").write_text('{"iters": [1], "times": [5]}')
    (tmp_path / "output").symlink_to(tmp_path / "target")
    with pytest.raises(OutputError, match="a link or a file"):
        Criterion().read(call("cargo bench", scratch=tmp_path))
    (tmp_path / "output").unlink()
    assert Go().read(call("go test", scratch=tmp_path)).benchmarks == {}
    assert Criterion().environment(call("cargo bench")) == {"CRITERION_HOME": "/s/output"}
    (tmp_path / "output" / "x").mkdir(parents=True)
    (tmp_path / "output" / "x" / "new").symlink_to(old)
    with pytest.raises(OutputError, match="no results"):
        Criterion().read(call("cargo bench", scratch=tmp_path))


# --- what every suite shares, with a tool that names what a test wants


@dataclass(frozen=True)
class Tool(SuiteInstrument):
    suite: Suite

    def options(self, call: Call) -> tuple[str, ...]:
        return ("--values", str(call.values), "--to", str(call.output))

    def read(self, call: Call) -> Suite:
        return self.suite

    def explain(self, outcome: ProcessEnd, said: str) -> str:
        return f"{outcome.status}: explained"


FOUR = Suite({name: {"time": Series("s", [3.0, 1.0])} for name in ("a", "ab", "b")}, {"ac": "went wrong"})


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(tmp_path, {}, "base", 1, 0, 5, tmp_path)


def collected(context: Context, suite: Suite = FOUR, status: str = "", **keys: object) -> Collected | Unusable:
    benchmark = Benchmark(name="s", command="run", instrument="go", **keys)  # type: ignore[arg-type]
    return Tool(suite).collect(benchmark, context, ProcessEnd(status, "", 1.0, "said"))


@pytest.mark.parametrize(
    ("glob", "names", "other"),
    [
        # a name that has brackets, and not all that begins like it
        ("Vec<[u8; 8]>::pop", ["Vec<[u8; 8]>::pop"], "Vec<[u8; 8]>::push"),
        ("a[xy]b*", ["axbc"], "axc"),
        # a bracket may be one of the characters; one that stays open stands for itself
        ("[]x]y", ["]y", "[]x]y"], "]"),
        ("a[]b", ["a[]b"], "ab"),
        ("a[b?", ["a[bc"], "a[b"),
    ],
)
def test_a_filter_means_what_a_glob_does_and_little_more(glob: str, names: list[str], other: str) -> None:
    pattern = re.compile(at_least([glob]))
    assert all(matches(glob, name) and pattern.fullmatch(name) for name in names)
    assert not matches(glob, other) and not pattern.fullmatch(other)


@pytest.mark.parametrize(
    ("include", "exclude", "names", "failed"),
    [
        (["*"], [], {"a", "ab", "b"}, {"ac"}),
        (["a*"], [], {"a", "ab"}, {"ac"}),
        (["a*"], ["?c"], {"a", "ab"}, set()),
        (["b", "ab"], ["a*"], {"b"}, set()),
        (["none"], [], set(), set()),
    ],
)
def test_globs_choose_what_is_taken_also_of_what_failed(
    context: Context, include: list[str], exclude: list[str], names: set[str], failed: set[str]
) -> None:
    found = collected(context, include=include, exclude=exclude)
    assert isinstance(found, Collected)
    assert (set(found.benchmarks), set(found.failures)) == (names, failed)


def test_the_warm_up_of_each_is_dropped_and_no_benchmark_or_a_failed_exit_is_no_result(context: Context) -> None:
    short = Suite({**FOUR.benchmarks, "short": {"time": Series("s", [1.0])}}, {})
    found = collected(context, short, warmup=1)
    assert isinstance(found, Collected)
    assert found.benchmarks["a"]["time"].values == [1.0]
    assert found.benchmarks["a"]["time"].dropped == [3.0]
    assert set(found.failures) == {"short"}
    assert collected(context, Suite({}, {})) == Unusable("no benchmarks", "said", empty=True)
    assert collected(context, status="exit 1") == Unusable("exit 1: explained", "said")
    declared = collected(context, metric={"allocs": {}})
    assert declared == Unusable("no values of 'allocs'", "said")


@dataclass(frozen=True)
class Telling(Tool):
    def rest(self, call: Call) -> Suite:
        return self.suite


@pytest.mark.parametrize(
    ("suite", "outcome", "kept"),
    [
        (FOUR, ProcessEnd("exit 1", "", 1.0, "said", 1), True),
        # no exit code: a time-out may have hidden anything
        (FOUR, ProcessEnd("time-out after 10m", "", 1.0, "said"), False),
        # nothing says what failed
        (Suite(FOUR.benchmarks, {}), ProcessEnd("exit 1", "", 1.0, "said", 1), False),
        (Suite({}, FOUR.errors), ProcessEnd("exit 1", "", 1.0, "said", 1), False),
    ],
)
def test_what_a_tool_tells_from_what_failed_is_measured(
    context: Context, suite: Suite, outcome: ProcessEnd, kept: bool
) -> None:
    benchmark = Benchmark(name="s", command="run", instrument="go")
    found = Telling(suite).collect(benchmark, context, outcome)
    if kept:
        assert isinstance(found, Collected)
        assert (set(found.benchmarks), found.failures) == ({"a", "ab", "b"}, {"ac": Unusable("went wrong", "said")})
    else:
        assert found == Unusable(f"{outcome.status}: explained", "said")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["run", "a b"], ("run", "a b", "--values", "6", "--to", "OUT")),
        ("run 'a b'\n", ("sh", "-c", "run 'a b' --values 6 --to OUT")),
        (["run", "{output}"], ("run", "OUT")),
    ],
)
def test_options_are_added_unless_the_command_has_its_own_output(
    context: Context, command: str | list[str], expected: tuple[str, ...]
) -> None:
    benchmark = Benchmark(name="s", command=command, instrument="go", warmup=1)
    argv = Tool(FOUR).prepare(benchmark, context).argv
    assert tuple(part.replace(str(context.scratch / "output"), "OUT") for part in argv) == expected


@pytest.mark.parametrize(
    ("tool", "code", "said", "empty"),
    [
        (PytestBenchmark(), 5, "no tests ran in 0.01s", True),
        (PytestBenchmark(), 1, "1 failed", False),
        (Jmh(), 1, "No matching benchmarks. Miss-spelled regexp?\n", True),
        (Jmh(), 1, "ERROR: Another JMH instance might be running.\n", False),
    ],
)
def test_some_tools_fail_where_they_find_no_benchmark(
    context: Context, tool: PytestBenchmark | Jmh, code: int, said: str, empty: bool
) -> None:
    benchmark = Benchmark(name="b", command=["run"], instrument="pytest-benchmark")
    for outcome, none in (
        (ProcessEnd(f"exit {code}", "", 1.0, said, code), empty),
        # killed: nobody's word
        (ProcessEnd("time-out after 10m", "", 1.0, said), False),
    ):
        found = tool.collect(benchmark, context, outcome)
        assert isinstance(found, Unusable)
        assert found.empty == none
