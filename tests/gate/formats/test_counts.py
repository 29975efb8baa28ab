"""What callgrind, cachegrind and perf stat count."""

import json
from pathlib import Path
from typing import Any

import pytest

from gate.formats import benchmark_js, catch2, divan, libtest, nanobench, vitest
from gate.formats.callgrind import instructions
from gate.formats.hyperfine import complaint, runs, version
from gate.formats.parts.output import Live, OutputError
from gate.formats.parts.reading import Reading
from gate.formats.perf_stat import Counted, parse
from gate.model import UserError
from tests.support.foreign import DATA, failed, of_text

CAPTURED = Path(__file__).parents[2] / "data"

# --- callgrind and cachegrind -----------------------------------------------------------------------------------------

PLAIN = (DATA / "callgrind/plain.out").read_bytes()


def one(reading: Reading) -> dict[str, float]:
    return {name: metric.values[0] for name, metric in reading.measured[0].metrics.items()}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # parts are summed
        (PLAIN + PLAIN, 12004),
        # a profile that is cut off still has its summary
        (PLAIN[: PLAIN.index(b"fn=")], 6002),
        (PLAIN[: PLAIN.index(b"summary:")], None),
        # of a number that is cut off the beginning is one, too
        ("pid: 1\ncmd: ./tiny\nevents: Ir\nfn=main\n1 1234\ntotals: 123", None),
        ("pid: 1\ncmd: ./tiny\nevents: Ir\nfn=main\n1 1234\ntotals: 1234\n", 1234),
    ],
)
def test_sums_and_what_is_cut_off(text: str | bytes, count: int | None) -> None:
    found = of_text(text)
    if count is None:
        assert failed(found) == [("tiny", "no totals: the file is cut off")]
    else:
        assert one(found) == {"instructions": count}


HEAD = b"# callgrind format\nversion: 1\nevents: Ir\n"


def test_the_profiles_of_one_execution() -> None:
    # of a process that forks
    profiles = [(CAPTURED / f"callgrind/{name}.txt").read_bytes() for name in ("parent-1", "parent-2", "child")]
    assert instructions(profiles) == 821618 + 1994 + 350780
    # among other events
    assert instructions([b"events: Dr Ir Dw\ntotals: 5 70 1\n", HEAD + b"totals: 2\n"]) == 72
    assert instructions([b"events: Dr Ir\ntotals: 5\n"]) == 0


@pytest.mark.parametrize(
    ("profiles", "why"),
    [
        ([], "callgrind wrote no profile"),
        ([HEAD + b"summary: 5\n1 2\n"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 5\n", b""], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 82161"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: " + b"1" * 5000 + b"\n"], "line 4: '1+…"),
        ([HEAD + b"totals: x\n"], "line 4: 'x' are no counts of events"),
        ([b"events: Dr\ntotals: 5\n"], r"a profile of callgrind holds no count of instructions \(Ir\)"),
    ],
)
def test_profiles_that_cannot_be_used(profiles: list[bytes], why: str) -> None:
    with pytest.raises(OutputError, match=rf"\A{why}\Z"):
        instructions(profiles)


# --- perf stat --------------------------------------------------------------------------------------------------------


def test_counters_that_ran_part_of_the_time_and_a_clock_whose_run_time_is_something_else() -> None:
    found = parse("1000;;cycles;5;62.50;;\n<not counted>;;instructions;0;0.00;;\n7;;branches;5;100.00;;\n")
    assert found == Counted({"cycles": 1000.0}, {"instructions": "not counted"}, frozenset(), {"cycles": 0.625})
    assert parse("100.00;msec;task-clock;5;100.00;;\n").values == {"task-clock": pytest.approx(0.1)}


ROWS = (
    "garbage 1;;cycles x;;cycles;5;100.00;; 1;;cycles;5;x;; inf;;cycles;5;100.00;; nan;;cycles;5;100.00;; "
    "-1;;cycles;5;100.00;; 1;;cycles;-5;100.00;; 1;;cycles;5;inf;;"
)


@pytest.mark.parametrize("line", [*ROWS.split(), "1;;a b;5;100.00;;"])
def test_rows_of_perf_that_are_not_as_expected(line: str) -> None:
    with pytest.raises(OutputError, match=r"\Aperf stat's output is not as expected: '[^\n]*\Z"):
        parse(line)


def test_a_row_of_perf_that_is_cut_off() -> None:
    whole = (CAPTURED / "perf/virtual.txt").read_text()
    for length in range(whole.rindex("\n", 0, -1) + 2, len(whole)):
        with pytest.raises(OutputError):
            parse(whole[:length])


# --- what benchmark programs print ------------------------------------------------------------------------------------


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


# --- hyperfine's CSV and JSON in both schemas, as a file and as one execution; its version, and what ------------------


def test_a_csv_that_is_cut_off() -> None:
    whole = (DATA / "hyperfine/sleep.csv").read_bytes()
    with pytest.raises(UserError, match=r"x: hyperfine: line 3: the mean is no number: is the file cut off\?"):
        of_text(whole[: whole.rindex(b"sleep 0.002") + 12])


# --- one execution ----------------------------------------------------------------------------------------------------


def captured(name: str) -> bytes:
    return (Path(__file__).parents[2] / "data/hyperfine" / name).read_bytes()


def test_the_memory_of_1_20_is_a_running_maximum_and_only_taken_on_demand() -> None:
    memory = runs(captured("1.20.0.json"), memory_by_run=True)["memory"]
    assert memory.unit == "B"
    # run 1 alone took 50 MB more: what follows is its shadow
    assert memory.values == sorted(memory.values)
    assert memory.values[3] == memory.values[1] > memory.values[0] + 40e6
    assert "memory" not in runs(captured("1.15.0.json"), memory_by_run=True)


def test_schema_2_gives_the_memory_of_each_run() -> None:
    series = runs(captured("2.0.0.json"), memory_by_run=False)
    first, second, third, _ = series["memory"].values
    assert second > first + 40e6 > third
    # one that some runs lack is left out
    export: dict[str, Any] = json.loads(captured("2.0.0.json"))
    del export["results"][0]["measurements"][1]["memory_peak_resident"]
    assert "memory" not in runs(json.dumps(export).encode(), memory_by_run=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hyperfine, a package for spectra 1.2.3",
        "error: unexpected argument '--frobnicate' found\n",
        "Error: something else\n",
    ],
)
def test_what_hyperfine_does_not_say(text: str) -> None:
    assert (version(text), complaint(text)) == (None, None)
