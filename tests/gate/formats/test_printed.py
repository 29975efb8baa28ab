"""What benchmark programs print, as values of one execution and as a file: whole, mixed with other text, cut off."""

from pathlib import Path

import pytest

from gate.formats import benchmark_js, catch2, divan, libtest, nanobench, vitest
from gate.formats.parts.output import Live, OutputError
from tests.support.foreign import failed, of_text

PRINTS = Path(__file__).parents[2] / "data" / "printed"
SORT = "a.bench.ts > sort"


def printed(name: str) -> str:
    return (PRINTS / name).read_text(encoding="utf-8")


BENCHMARK_JS, VITEST, LIBTEST = map(printed, ("benchmark.js-2.1.4.txt", "vitest-3.2.7.json", "libtest.txt"))
DIVAN, NANOBENCH, CATCH2 = map(printed, ("divan-0.1.21.txt", "nanobench-4.6.0.md", "catch2-3.7.1.xml"))


def test_a_benchmark_has_its_name_before_a_view_of_another() -> None:
    text = VITEST.replace('"large"', '"small.median"')
    found = vitest.LIVE(text.encode(), {})
    own = found[f"{SORT} > small.median"]
    assert (own.values, own.view_of) == ([2e-3], None)
    assert found[f"{SORT} > small.fastest"].view_of == f"{SORT} > small"


@pytest.mark.parametrize("median", ["0", "null", "NaN", "-1", "Infinity", "1e-300"])
def test_a_median_of_which_there_is_no_ratio_is_left_out(median: str) -> None:
    found = vitest.LIVE(VITEST.replace("0.375", median).encode(), {})
    assert [name for name, each in found.items() if each.view_of] == [f"{SORT} > small.fastest"]


def rate(text: str) -> str:
    return f"a x {text} ops/sec ±0.50% (9 runs sampled)\n"


def case(inner: str) -> str:
    return f'<Catch2TestRun name="t">\n{inner}</Catch2TestRun>\n'


TWICE, CUT = "two benchmarks are called", "no newline at its end, so it may be cut off"


@pytest.mark.parametrize(
    ("read", "text", "why"),
    [
        (libtest.LIVE, "test a ... hello\n", "benchmark 'a': line 1: it began, and its result cannot be read"),
        (libtest.LIVE, "test a ... bench: 1 oops\n", "benchmark 'a': line 1: its result cannot be read"),
        (libtest.LIVE, LIBTEST + LIBTEST, TWICE),
        (libtest.LIVE, LIBTEST[:-1], CUT),
        (divan.LIVE, "├─ a    hello\n", "benchmark 'a': line 1: it began, and has no times"),
        (divan.LIVE, "├─ a    1.0 ns │ 1.0 ns │ 1.0 ns │ oops │ 1 │ 1\n", "benchmark 'a': line 1: its times cannot"),
        (divan.LIVE, DIVAN.replace("20.1 ns", "2.0.1 ns"), r"'2\.0\.1' is not a number"),
        (divan.LIVE, DIVAN + DIVAN, TWICE),
        (divan.LIVE, DIVAN[:-1], CUT),
        (nanobench.LIVE, NANOBENCH + NANOBENCH, TWICE),
        (nanobench.LIVE, NANOBENCH[:-1], CUT),
        (benchmark_js.LIVE, "a x 12 ops\n", "benchmark 'a': line 1: its rate cannot be read"),
        (benchmark_js.LIVE, rate("0"), "benchmark 'a': it gives 0 ops/sec, which is no rate"),
        (benchmark_js.LIVE, rate("NaN"), "benchmark 'a': it gives NaN ops/sec"),
        (benchmark_js.LIVE, rate("1,2.3.4"), "benchmark 'a': 1,2.3.4 is not a number"),
        (benchmark_js.LIVE, BENCHMARK_JS[:-1], CUT),
        (vitest.LIVE, VITEST.replace('"large"', '"small"'), f"{TWICE} 'a.bench.ts > sort > small': give each a name of its own"),
        (vitest.LIVE, VITEST.replace('"mean": 2', '"rank": 0'), "benchmark 'a.bench.ts > sort > large': no values: it failed, or did not run"),
        (vitest.LIVE, VITEST.replace("files", "testResults"), "no benchmark in the output: the JSON of `vitest bench --outputJson` is expected"),
        (catch2.LIVE, case('<TestCase name="x"><BenchmarkResults name="b"><failed message="no"/></BenchmarkResults></TestCase>'), "'x/b': no"),
        (catch2.LIVE, case('<BenchmarkResults name="b"><mean value="z"/></BenchmarkResults>'), "'b': it has no mean"),
        (catch2.LIVE, case('<BenchmarkResults name="b"><mean value="nan"/></BenchmarkResults>'), "not a finite number"),
        (catch2.LIVE, case('<TestCase name="x"><OverallResult success="false"/></TestCase>'), "'x': the test case failed"),
        (catch2.LIVE, case('<TestCase name="x">'), "the XML is cut off or broken: "),
        (catch2.LIVE, case('<!DOCTYPE a [<!ENTITY b "c">]>&b;'), "document type"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said(read: Live, text: str, why: str) -> None:
    with pytest.raises(OutputError, match=why):
        read(text.encode(), {})


INDENT = " " * 24


def test_results_without_a_name_and_names_that_stand_elsewhere() -> None:
    text = "test a ... bench:       1,000 ns/iter (+/- 3)\nbench:       6,000 ns/iter (+/- 3)\n"
    assert of_text(text).left_out == ["line 2: a result without a name"]
    line = f"{INDENT}time:   [1.0 ns 2.0 ns 3.0 ns]\n"
    found = of_text(f"Benchmarking fs/read:\n{line}Benchmarking fs/write: Analyzing\n{line}")
    assert [each.benchmark for each in found.aggregates] == ["fs/read", "fs/write"]
    why = "line 1: an estimate without a name: 'time:   [1.0 ns 2.0 ns 3.0 ns]'"
    assert failed(of_text(f"{line}a{line}")) == [(None, why)]
