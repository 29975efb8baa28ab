"""What benchmark programs print, as values of one execution and as a file: whole, mixed with other text, cut off."""

from pathlib import Path

import pytest

from gate.formats import benchmark_js, catch2, divan, libtest, nanobench, vitest
from gate.formats.parts.output import Live, OutputError
from gate.model.digits import step_of
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


@pytest.mark.parametrize(
    ("read", "text", "step"),
    [
        (libtest.LIVE, "test a ... bench:          12 ns/iter (+/- 0)\n", 1e-9),
        (benchmark_js.LIVE, "a x 1,200 ops/sec ±0.50% (9 runs sampled)\n", 1.0),
        (
            nanobench.LIVE,
            "|  ns/op |   op/s | err% | total | benchmark\n|---:|---:|---:|---:|:---\n| 12.505 | 80.00 | 1% | 0.01 | `a`\n",
            1e-12,
        ),
    ],
    ids=["libtest", "benchmark.js", "nanobench"],
)
def test_the_digits_that_are_printed_bound_what_rounding_hides(read: Live, text: str, step: float) -> None:
    assert step_of(read(text.encode(), {})["a"].values) == pytest.approx(step)


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


# --- files: what is printed into a benchmark, or is not there ---------------------------------------------------------

INDENT = " " * 24
TREE = "d         fastest  │ slowest  │ median   │ mean     │ samples │ iters\n"
TABLE = "benchmark name    samples    iterations    mean\n-----------------------\n"
OVERFLOW = "it has no time: iterations overflow. Maybe your code got optimized away?"
PRINTED: dict[str, tuple[str, dict[str, float], list[tuple[str, str]]]] = {
    "libtest": (
        """\
running 6 tests
test a ... hello
bench:       1,234 ns/iter (+/- 5)
test b ... hello
test c ... bench:          12 ns/iter (+/- 1)
test d ... bench: oops
test e ... ok
test f ... ignored, slow
test g ... bench:         1,2""",
        {"a": 1234e-9, "c": 12e-9},
        [
            ("b", "line 4: it began, and its result cannot be read"),
            ("d", "line 6: its result cannot be read: 'test d ... bench: oops'"),
            ("g", "line 9: its result cannot be read: 'test g ... bench:         1,2'"),
        ],
    ),
    "libtest without newlines": (
        """\
test parse ... bench:       1,000 ns/iter (+/- 3)test load ... bench:       2,000 ns/iter (+/- 3) = 95 MB/s \
test save ... bench:  3,000 ns/iter (+/- 3)test cut ... bench:  4,0
loadingtest glued ... bench:       5,000 ns/iter (+/- 3)
""",
        {"parse": 1e-6, "load": 2e-6, "save": 3e-6, "glued": 5e-6},
        [("cut", "line 1: its result cannot be read: 'test cut ... bench:  4,0'")],
    ),
    "criterion": (
        f"""\
Benchmarking a
Benchmarking a: Warming up for 3.0000 s
a                       time:   [1.0 ns 2.0 ns 3.0 ns]
{INDENT}change: [-1.0% +2.0% +3.0%] (p = 0.50 > 0.05)
Benchmarking lost: Collecting 100 samples in estimated 5.0 s (10 iterations)
cut                     time:   [1.0 ns 2.0""",
        {"a": 2e-9},
        [
            ("cut", "line 6: its time cannot be read: 'cut                     time:   [1.0 ns 2.0'"),
            ("lost", "line 5: it began, and no estimate of it is there"),
        ],
    ),
    "divan": (
        """\
d              fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ arg                       │               │               │               │         │
│  ╰─ 10       hello
               37.82 ns      │ 57.2 ns       │ 46.3 ns       │ 46.6 ns       │ 100     │ 6400
├─ lost        hello
├─ simple      hello 1.086 ns      │ 1.811 ns      │ 1.216 ns      │ 1.249 ns      │ 100     │ 204800
├─ long        1.5 m         │ 1.5 m         │ 1.5 m         │ 1.5 m         │ 1       │ 1
├─ ign         (ignored)     │               │               │               │         │
╰─ cut         15.63 ns      │ 56.16 ns      │ 18.""",
        {"arg::10": 46.6e-9, "simple": 1.249e-9, "long": 90.0},
        [("lost", "line 5: it began, and has no times"), ("cut", "line 9: its times cannot be read")],
    ),
    "divan, whole": (f"{TREE}├─ a      1.0 ms   │ 1.0 ms   │ 1.0 ms   │ 1.0 ms   │ 100     │ 100\n", {"a": 1e-3}, []),
    # the milliseconds of the mean may be minutes
    "divan, cut": (f"{TREE}├─ a      1.0 ms   │ 1.0 ms   │ 1.0 ms   │ 1.0 m", {}, [("a", "line 2: its times cannot be read")]),
    "nanobench": (
        """\
|               ns/op |                op/s |    err% |     total | benchmark
|--------------------:|--------------------:|--------:|----------:|:----------
|                   - |                   - |       - |         - | :boom: `a` (iterations overflow. Maybe your code got optimized away?)
|                   - |                   - |       - |         - | :boom: iterations overflow. Maybe your code got optimized away? `b`
|                2.00 |      500,000,000.00 |    9.0% |      0.00 | :hand: `c`
progress...|                2.00 |      500,000,000.00 |    0.0% |      0.00 | `d`
|                2.00 |      500,000,000.00 |    9.0% |      0.00 | :wavy_dash: `e` (Unstable with ~1 iters. Increase `minEpochIterations` to e.g. 10)
""",
        dict.fromkeys("cde", 2e-9),
        [("a", f"line 3: {OVERFLOW}"), ("b", f"line 4: {OVERFLOW}")],
    ),
    "catch2": (
        """\
benchmark name                       samples       iterations    est run time
                                     mean          low mean      high mean
                                     std dev       low std dev   high std dev
-------------------------------------------------------------------------------
first                                           20          5342     427.36 us
progress 10%                            4.41885 ns    4.32866 ns    4.77926 ns
                                       0.392461 ns  0.0009252 ns   0.779866 ns

lost                                            20          5342     427.36 us
it prints over its mean
second                                          20          5342     427.36 us
loading
                                        4.41885 ns    4.32866 ns    4.77926 ns
                                       0.392461 ns  0.0009252 ns   0.779866 ns
cut                                             20          5342     427.36 us
                                        4.41885 ns    4.32866 ns    4.7""",
        dict.fromkeys(("first", "second"), 4.41885e-9),
        [("lost", "line 9: its mean cannot be read"), ("cut", "line 15: its mean cannot be read")],
    ),
    "catch2, minutes": (f"{TABLE}a        20        5      4.3 m\n", {"a": 258.0}, []),
    "catch2, minutes or milliseconds": (f"{TABLE}a        20        5      4.3 m", {}, [("a", "line 3: its mean cannot be read")]),
    "benchmark.js": (
        "a x 4,000 ops/sec ±0.50% (95 runs sampled)\nb x 12 ops/sec oops\nc: TypeError: x is no function\nd x 4,0 ops/s",
        {"a": 4000.0},
        [
            ("b", "line 2: its rate cannot be read: 'b x 12 ops/sec oops'"),
            ("c", "line 3: it threw: TypeError: x is no function"),
            ("d", "line 4: its rate cannot be read: 'd x 4,0 ops/s'"),
        ],
    ),
    "benchmark.js on one line": (
        "parse x 1,000 ops/sec ±0.5% (90 runs sampled)load x 500 ops/sec ±0.5% (90 runs sampled)old: Error: no\n",
        {"parse": 1000.0, "load": 500.0},
        [("old", "line 1: it threw: Error: no")],
    ),
}  # fmt: skip
"""What benchmarks print into the output of their tool, and where it is cut off: what is read, and what has failed."""


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_printed_into_results_hides_no_more_than_its_own(name: str) -> None:
    text, values, failures = PRINTED[name]
    found: dict[str, float] = {}
    for each in of_text(text).aggregates:
        found.setdefault(each.benchmark, each.value)
    assert found == pytest.approx(values)
    assert failed(of_text(text)) == failures


def test_results_without_a_name_and_names_that_stand_elsewhere() -> None:
    text = "test a ... bench:       1,000 ns/iter (+/- 3)\nbench:       6,000 ns/iter (+/- 3)\n"
    assert of_text(text).left_out == ["line 2: a result without a name"]
    line = f"{INDENT}time:   [1.0 ns 2.0 ns 3.0 ns]\n"
    found = of_text(f"Benchmarking fs/read:\n{line}Benchmarking fs/write: Analyzing\n{line}")
    assert [each.benchmark for each in found.aggregates] == ["fs/read", "fs/write"]
    why = "line 1: an estimate without a name: 'time:   [1.0 ns 2.0 ns 3.0 ns]'"
    assert failed(of_text(f"{line}a{line}")) == [(None, why)]
