"""What every suite shares, with a tool that names what a test wants."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from gate.formats.parts.output import Series, Suite
from harness.instruments.jmh import Jmh
from harness.instruments.protocol import Collected, Context, Unusable
from harness.instruments.pytest_benchmark import PytestBenchmark
from harness.instruments.suite import Call, SuiteInstrument
from harness.process.execute import Outcome


@dataclass(frozen=True)
class Tool(SuiteInstrument):
    suite: Suite

    def options(self, call: Call) -> tuple[str, ...]:
        return ("--values", str(call.values), "--to", str(call.output))

    def read(self, call: Call) -> Suite:
        return self.suite

    def explain(self, outcome: Outcome, said: str) -> str:
        return f"{outcome.status}: explained"


FOUR = Suite({name: {"time": Series("s", [3.0, 1.0])} for name in ("a", "ab", "b")}, {"ac": "went wrong"})


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(tmp_path, {}, "base", 1, 0, 5, tmp_path)


def collected(context: Context, suite: Suite = FOUR, status: str = "", **keys: object) -> Collected | Unusable:
    benchmark = Benchmark(name="s", command="run", instrument="go", **keys)  # type: ignore[arg-type]
    return Tool(suite).collect(benchmark, context, Outcome(status, "", 1.0, "said"))


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


def test_the_warm_up_of_each_is_dropped_and_one_too_short_for_it_fails_alone(context: Context) -> None:
    short = Suite({**FOUR.benchmarks, "short": {"time": Series("s", [1.0])}}, {})
    found = collected(context, short, warmup=1)
    assert isinstance(found, Collected)
    assert found.benchmarks["a"]["time"].values == [1.0]
    assert found.benchmarks["a"]["time"].dropped == [3.0]
    assert set(found.failures) == {"short"}


def test_no_benchmark_at_all_or_a_failed_exit_is_no_result(context: Context) -> None:
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
        (FOUR, Outcome("exit 1", "", 1.0, "said", 1), True),
        # no exit code: a time-out may have hidden anything
        (FOUR, Outcome("time-out after 10m", "", 1.0, "said"), False),
        # nothing says what failed
        (Suite(FOUR.benchmarks, {}), Outcome("exit 1", "", 1.0, "said", 1), False),
        (Suite({}, FOUR.errors), Outcome("exit 1", "", 1.0, "said", 1), False),
    ],
)
def test_what_a_tool_tells_from_what_failed_is_measured(
    context: Context, suite: Suite, outcome: Outcome, kept: bool
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
        (Outcome(f"exit {code}", "", 1.0, said, code), empty),
        # killed: nobody's word
        (Outcome("time-out after 10m", "", 1.0, said), False),
    ):
        found = tool.collect(benchmark, context, outcome)
        assert isinstance(found, Unusable)
        assert found.empty == none
