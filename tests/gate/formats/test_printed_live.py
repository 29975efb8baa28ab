"""Formats of values that benchmark programs print: the output of the real tools, shortened."""

from pathlib import Path

import pytest

from gate.formats import benchmark_js, catch2, divan, libtest, nanobench, vitest
from gate.formats.parts.output import Live, OutputError
from gate.model.digits import step_of

# benchmark.js 2.1.4, of a script with three suites that compare the same libraries
BENCHMARK_JS = """
# Strings
  classnames   x 4,000,000 ops/sec ±0.50% (95 runs sampled)
  a x b        x 250.50 ops/sec ±12.50% (7 runs sampled)
Fastest is a x b

=== Arrays ===
classnames x 2,000,000 ops/sec ±0.50% (95 runs sampled)
a x b: Error: it threw
classnames x 1,000,000 ops/sec ±0.50% (1 run sampled)
"""
# vitest 3.2.7
VITEST = (
    '{"files": [{"filepath": "/src/a.bench.ts", "groups": [{"fullName": "a.bench.ts > sort", "benchmarks": ['
    '{"name": "small", "mean": 0.5, "samples": [], "min": 0.25, "median": 0.375}, {"name": "large", "mean": 2}]}, '
    '{"fullName": "a.bench.ts", "benchmarks": [{"name": "small", "mean": 1}]}]}]}'
)
# bencher 0.1.5, and rustc 1.95's libtest in the third line
LIBTEST = """
running 3 tests
test a    ... bench:          12 ns/iter (+/- 0)
test tput ... bench:       1,356 ns/iter (+/- 158) = 280 MB/s
test m::b ... bench:          45.23 ns/iter (+/- 1.41)
test c ... ignored

test result: ok. 0 passed; 0 failed; 1 ignored; 3 measured
"""
# divan 0.1.21
DIVAN = """\
Timer precision: 19 ns
d              fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ arg                       │               │               │               │         │
│  ├─ 1        0.914 ns      │ 1.897 ns      │ 1.376 ns      │ 1.37 ns       │ 100     │ 204800
│  ╰─ 10 11    37.82 ns      │ 57.2 ns       │ 46.3 ns       │ 46.6 µs       │ 100     │ 6400
├─ simple      1.086 ns      │ 1.811 ns      │ 1.216 ns      │ 1.249 ms      │ 100     │ 204800
╰─ inner                     │               │               │               │         │
   ├─ cnt      15.63 ns      │ 56.16 ns      │ 18.87 ns      │ 20.1 ns       │ 100     │ 6400
   │           6.396 GB/s    │ 1.78 GB/s     │ 5.298 GB/s    │ 4.973 GB/s    │         │
   │           max alloc:    │               │               │               │         │
   │             1           │ 1             │ 1             │ 1             │         │
   ├─ ign      (ignored)     │               │               │               │         │
   ╰─ gen                    │               │               │               │         │
      ╰─ u8                  │               │               │               │         │
         ╰─ 2  0.024 ns      │ 0.238 ns      │ 0.081 ns      │ 0.085 ns      │ 100     │ 819200
"""
# nanobench 4.6.0
NANOBENCH = """
|               ns/op |                op/s |    err% |     total | benchmark
|--------------------:|--------------------:|--------:|----------:|:----------
|                1.20 |      800,000,000.00 |    1.4% |      0.01 | `some | double ops`

| relative |             ns/byte |              byte/s |    err% |     total | group
|---------:|--------------------:|--------------------:|--------:|----------:|:------
|   100.0% |                0.12 |            1,000.00 |    0.4% |      0.02 | `x`
|    78.5% |                0.15 |            2,000.00 |   27.8% |      0.01 | :wavy_dash: `y` (Unstable with ~434,015.8 iters. Increase `minEpochIterations` to e.g. 4340158)
"""
# Catch2 3.7.1
CATCH2 = """<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="t" rng-seed="3238752779" xml-format-version="3" catch2-version="3.7.1" filters="[!benchmark]">
  <TestCase name="Fibonacci &amp; co" tags="[!benchmark][.]" filename="t.cpp" line="4">
    <BenchmarkResults name="fib &quot;10&quot;" samples="20" resamples="100000" iterations="64" clockResolution="26.8">
      <!-- All values in nano seconds -->
      <mean value="436.03" lowerBound="435.427" upperBound="437.634" ci="0.95"/>
      <standardDeviation value="2.09383" lowerBound="0.862343" upperBound="3.97661" ci="0.95"/>
    </BenchmarkResults>
    <Section name="inner" filename="t.cpp" line="4">
      <BenchmarkResults name="fib 12" samples="20" resamples="100000" iterations="26" clockResolution="26.8">
        <mean value="1123.32" lowerBound="1042.08" upperBound="1444.56" ci="0.95"/>
      </BenchmarkResults>
    </Section>
    <OverallResult success="true" skips="0"/>
  </TestCase>
</Catch2TestRun>
"""


@pytest.mark.parametrize(
    ("read", "text", "values"),
    [
        (libtest.LIVE, LIBTEST, {"a": 12e-9, "tput": 1356e-9, "m::b": 45.23e-9}),
        (
            divan.LIVE,
            DIVAN,
            {"arg::1": 1.37e-9, "arg::10 11": 46.6e-6, "simple": 1.249e-3, "inner::cnt": 20.1e-9, "inner::gen::u8::2": 0.085e-9},
        ),
        (nanobench.LIVE, NANOBENCH, {"some | double ops": 1.25e-9, "group/x": 1e-3, "group/y": 0.5e-3}),
        (
            benchmark_js.LIVE,
            BENCHMARK_JS,
            {"Strings/classnames": 4e6, "Strings/a x b": 250.5, "Arrays/classnames": 2e6, "Arrays/classnames (2)": 1e6},
        ),
        (vitest.LIVE, VITEST, {"a.bench.ts > sort > small": 0.5e-3, "a.bench.ts > sort > large": 2e-3, "a.bench.ts > small": 1e-3}),
        (catch2.LIVE, CATCH2, {'Fibonacci & co/fib "10"': 436.03e-9, "Fibonacci & co/inner/fib 12": 1123.32e-9}),
    ],
    ids=["libtest", "divan", "nanobench", "benchmark.js", "vitest", "catch2"],
)  # fmt: skip
def test_one_value_of_each_benchmark(read: Live, text: str, values: dict[str, float]) -> None:
    found = {name: each for name, each in read(text.encode(), {}).items() if each.view_of is None}
    unit = "1/s" if text == BENCHMARK_JS else "s"
    assert {name: each.unit for name, each in found.items()} == dict.fromkeys(values, unit)
    for name, value in values.items():
        assert found[name].values == pytest.approx([value])


@pytest.mark.parametrize(
    ("read", "text", "seconds"),
    [
        (
            divan.LIVE,
            DIVAN,
            {
                "arg::1": (1.376e-9, 0.914e-9), "arg::10 11": (46.3e-9, 37.82e-9), "simple": (1.216e-9, 1.086e-9),
                "inner::cnt": (18.87e-9, 15.63e-9), "inner::gen::u8::2": (0.081e-9, 0.024e-9),
            },
        ),
        # large and the other small one are as vitest 1 wrote them, without a median
        (vitest.LIVE, VITEST, {"a.bench.ts > sort > small": (0.375e-3, 0.25e-3)}),
        (catch2.LIVE, CATCH2, {}),
        (benchmark_js.LIVE, BENCHMARK_JS, {}),
        (nanobench.LIVE, NANOBENCH, {}),
        (libtest.LIVE, LIBTEST, {}),
    ],
    ids=["divan", "vitest", "catch2", "benchmark.js", "nanobench", "libtest"],
)  # fmt: skip
def test_median_and_fastest_stand_beside_the_mean(
    read: Live, text: str, seconds: dict[str, tuple[float, float]]
) -> None:
    found = {name: each for name, each in read(text.encode(), {}).items() if each.view_of is not None}
    # load moves the mean of one long sample among 100, and not the median
    assert {name: (each.view_of, each.unit, each.sharp) for name, each in found.items()} == {
        f"{name}.{view}": (name, "s", view == "median") for name in seconds for view in ("median", "fastest")
    }
    for name, (median, fastest) in seconds.items():
        assert found[f"{name}.median"].values == pytest.approx([median])
        assert found[f"{name}.fastest"].values == pytest.approx([fastest])


def test_a_benchmark_has_its_name_before_a_view_of_another() -> None:
    text = VITEST.replace('"large"', '"small.median"')
    found = vitest.LIVE(text.encode(), {})
    own = found["a.bench.ts > sort > small.median"]
    assert (own.values, own.view_of) == ([2e-3], None)
    assert found["a.bench.ts > sort > small.fastest"].view_of == "a.bench.ts > sort > small"


@pytest.mark.parametrize("median", ["0", "null", "NaN", "-1", "Infinity", "1e-300"])
def test_a_median_of_which_there_is_no_ratio_is_left_out(median: str) -> None:
    found = vitest.LIVE(VITEST.replace("0.375", median).encode(), {})
    assert [name for name, each in found.items() if each.view_of] == ["a.bench.ts > sort > small.fastest"]


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


@pytest.mark.parametrize(
    "read", [libtest.LIVE, divan.LIVE, nanobench.LIVE, benchmark_js.LIVE, vitest.LIVE, catch2.LIVE]
)
@pytest.mark.parametrize("data", [b"", b"12.5\n", b"\xff\xfe|`:|", b"<a/>"])
def test_other_output_is_refused(read: Live, data: bytes) -> None:
    with pytest.raises(OutputError):
        read(data, {})


@pytest.mark.parametrize("end", ["txt", "no-analysis.txt", "xml"])
def test_the_table_of_catch2_fails_as_its_xml_does(end: str) -> None:
    data = (Path(__file__).parents[2] / f"data/results/catch2/3.7.1.{end}").read_bytes()
    with pytest.raises(OutputError, match=r"^benchmark 'fails/throws': no such file$"):
        catch2.LIVE(data, {})
