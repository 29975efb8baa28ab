import contextlib
from pathlib import Path

import pytest

from gate.formats.go_bench import suite as parse
from gate.formats.parts.output import OutputError, Series, Suite

DATA = Path(__file__).parents[2] / "data" / "go"
SIZES = ["a", "a-2", "size=10", "with_space", "quote\"'", "new_line", "🐢", "Benchmark_1"]
ALL = [
    "example.com/tiny.BenchmarkSum",
    *(f"example.com/tiny.BenchmarkSizes/{each}" for each in SIZES),
    *(f"example.com/tiny.Benchmark{each}" for each in ("Prints", "Logs", "OnlyOwn", "Trouble")),
    "example.com/tiny/sub.BenchmarkSum",
]


def read(name: str, *, several: bool = False) -> Suite:
    return parse((DATA / name).read_bytes(), several=several)


def why(data: bytes) -> str:
    with pytest.raises(OutputError) as caught:
        parse(data, several=False)
    assert str(caught.value).isprintable()
    return str(caught.value)


def lines(*results: str) -> bytes:
    return "\n".join([*results, "PASS", ""]).encode()


def line(name: str, *pairs: str) -> str:
    return "\t".join([f"{name}   ", "     100", *pairs])


@pytest.mark.parametrize("name", ["plain.txt", "verbose.txt"])
def test_every_benchmark_of_every_package_has_its_two_values(name: str) -> None:
    suite = read(name)
    assert list(suite.benchmarks) == ALL
    assert {len(each.values) for metrics in suite.benchmarks.values() for each in metrics.values()} == {2}
    assert suite.errors == {}


def test_the_values_are_those_of_the_lines_in_seconds() -> None:
    text = (DATA / "plain.txt").read_text(encoding="utf-8")
    said = [float(row.split()[2]) for row in text.splitlines() if row.startswith("BenchmarkSizes/a-2-2 ")]
    found = read("plain.txt").benchmarks["example.com/tiny.BenchmarkSizes/a-2"]["time"]
    assert found == Series("s", [value * 1e-9 for value in said])
    assert found.step == pytest.approx(1e-11)
    assert len(said) == 2


def test_ns_op_may_be_taken_back() -> None:
    assert read("plain.txt").benchmarks["example.com/tiny.BenchmarkOnlyOwn"] == {"gain": Series("", [-4, -4])}


@pytest.mark.parametrize("name", ["one-cpu.txt", "one-cpu-plain.txt"])
def test_a_name_that_ends_like_a_number_of_processors_keeps_its_end(name: str) -> None:
    found = [each for each in read(name).benchmarks if "/a" in each]
    assert found == ["BenchmarkSizes/a", "BenchmarkSizes/a-2"]


def test_several_numbers_of_processors_are_told_apart_and_a_name_that_two_have_is_refused() -> None:
    suite = read("cpus.txt")
    assert list(suite.benchmarks) == [
        "BenchmarkSizes/a",
        "BenchmarkSizes/a-2-2",
        "BenchmarkSizes/with_space",
        "BenchmarkSizes/with_space-2",
        "BenchmarkSizes/Benchmark_1",
        "BenchmarkSizes/Benchmark_1-2",
    ]
    assert suite.errors == {"BenchmarkSizes/a-2": "two benchmarks have this name"}


def test_the_package_leads_the_name_where_there_may_be_others() -> None:
    assert next(iter(read("one-cpu.txt", several=True).benchmarks)) == "example.com/tiny.BenchmarkSizes/a"


def test_a_value_that_is_no_number() -> None:
    suite = read("nan.txt")
    assert (suite.benchmarks, suite.errors) == ({}, {"BenchmarkTrouble": "nan in 'score' is not a finite number"})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("panic.txt", "the output reports a failure: 'panic: as asked'"),
        ("binary-fail.txt", "the output reports a failure: '--- FAIL: BenchmarkTrouble'"),
        ("binary-exit.txt", "example.com/tiny ends without PASS: it is cut short"),
        ("binary-panic.txt", "example.com/tiny ends without PASS: it is cut short"),
        ("two-binaries.txt", "example.com/tiny ends without PASS: it is cut short"),
    ],
)
def test_output_that_is_not_all_of_it(name: str, expected: str) -> None:
    assert why((DATA / name).read_bytes()) == expected


@pytest.mark.parametrize(
    "end", [b"FAIL\n", b"FAIL\texample.com/x [build failed]\n", b"--- FAIL: TestX (0.00s)\nPASS\n"]
)
def test_a_failure_beside_good_results(end: bytes) -> None:
    assert why(lines(line("BenchmarkX", "5.0 ns/op")) + end).startswith("the output reports a failure: ")


GOOD = "pkg: x/b\nBenchmarkY\nBenchmarkY-2  \t     100\t5.0 ns/op\nPASS\nok  \tx/b\t1.0s\n"


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("pkg: x/a\nBenchmarkX\n    a_test.go:3: boom\n--- FAIL: BenchmarkX\nFAIL\nexit status 1\nFAIL\tx/a\t0.1s\n", {"x/a.BenchmarkX": "it failed"}),
        ("pkg: x/a\nBenchmarkX\npanic: boom\n\ngoroutine 1 [running]:\nx.BenchmarkZ(0xc0001)\n\t/a_test.go:19 +0x18b\nexit status 2\nFAIL\tx/a\t0.1s\n", {"x/a.BenchmarkX": "panic: boom"}),
        ("FAIL\tx/a [build failed]\n", {"x/a": "[build failed]"}),
    ],
    ids=["fails", "panics", "is not built"],
)  # fmt: skip
def test_what_a_command_that_failed_measured_besides(text: str, errors: dict[str, str]) -> None:
    for data in (text + GOOD, GOOD + text):
        suite = parse(data.encode(), several=True, failed=True)
        assert suite == Suite({"x/b.BenchmarkY": {"time": Series("s", [5e-9])}}, errors)
    with pytest.raises(OutputError):
        parse((text + GOOD).encode(), several=True)


@pytest.mark.parametrize("data", [b"", b"PASS\n", (DATA / "nothing.txt").read_bytes()])
def test_no_benchmark(data: bytes) -> None:
    assert parse(data, several=False) == Suite({}, {})


@pytest.mark.parametrize("line", ["BenchmarkX-2 10", "BenchmarkX-2 10 1", "BenchmarkX-2 ten 1 ns/op"])
def test_a_line_that_is_half_of_a_result_is_an_error_of_its_benchmark(line: str) -> None:
    suite = parse(lines(line, "BenchmarkY-2  \t     100\t6.0 ns/op"), several=False)
    assert suite.errors == {"BenchmarkX": f"line 1: its results cannot be read: {line!r}"}
    assert list(suite.benchmarks) == ["BenchmarkY"]


def test_results_without_a_name_are_not_passed_over() -> None:
    for results in ("     100\t5.0 ns/op", "     100 5.0 ns/op"):
        assert why(lines("    text BenchmarkX-2   \tmore", results)) == "line 2: results without a name"


def test_what_a_benchmark_prints_is_no_result() -> None:
    printed = ["BenchmarkX", "took 12\t3 ms", "    BenchmarkY\t     100\t1.0 ns/op", line("BenchmarkX-4", "5.0 ns/op")]
    suite = parse(lines(*printed), several=False)
    assert suite.benchmarks == {"BenchmarkX": {"time": Series("s", [5e-9])}}


def test_a_metric_that_some_lines_lack_is_left_out_but_never_the_time() -> None:
    both = [line("BenchmarkX", "5.0 ns/op", "1.0 gc-ns"), line("BenchmarkX", "6.0 ns/op")]
    assert parse(lines(*both), several=False).benchmarks == {"BenchmarkX": {"time": Series("s", [5e-9, 6 * 1e-9])}}
    without = [line("BenchmarkX", "5.0 ns/op", "1.0 gc-ns"), line("BenchmarkX", "2.0 gc-ns")]
    assert parse(lines(*without), several=False).errors == {"BenchmarkX": "ns/op is missing in some of its results"}


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("user-ns/op", Series("s", [2.0 * 1e-9])),
        ("min-latency-us", Series("s", [2.0 * 1e-6])),
        ("heap-MB", Series("B", [2e6])),
        ("bytes/op", Series("B", [2.0])),
        ("things/ns", Series("", [2.0])),
        ("hits/sec", Series("hits/sec", [2.0])),
        ("throughput", Series("", [2.0])),
        ("%-of-all", Series("", [2.0])),
    ],
)
def test_units_of_ones_own(unit: str, expected: Series) -> None:
    found = parse(lines(line("BenchmarkX", "5.0 ns/op", f"2.0 {unit}")), several=False).benchmarks["BenchmarkX"]
    assert found[unit] == expected


def test_the_format_as_its_specification_has_it() -> None:
    text = """\
commit: 0a1b2c3
note: fields between any blanks

Unit kept-bytes better=higher assume=exact
BenchmarkParse/size=1-8   20   7.5e+01 ns/op  +3 kept-bytes
BenchmarkParse/size=1-8 \t 20 \t76 ns/op\t4 kept-bytes
Benchmark 1 .5 sec/op
a line of something else, and BenchmarkParse
BenchmarkParse took 12 3 ms
"""
    suite = parse(text.encode(), several=False)
    assert suite.errors == {}
    assert suite.benchmarks == {
        "BenchmarkParse/size=1-8": {
            "time": Series("s", [75 * 1e-9, 76 * 1e-9]),
            "kept-bytes": Series("B", [3.0, 4.0], "higher"),
        },
        "Benchmark": {"time": Series("s", [0.5])},
    }


@pytest.mark.parametrize("end", ["ok  \texample.com/x\t0.1", "ok  \texam", "PASS", "o"])
def test_a_last_line_that_is_cut_off(end: str) -> None:
    # what the other packages wrote may be missing too
    text = f"pkg: example.com/x\nBenchmarkX \t 1\t 100 ns/op\nPASS\n{end}"
    assert parse(text.encode() + b"\n", several=False).errors == {}
    assert "has no newline at its end" in why(text.encode())


@pytest.mark.parametrize("between", [" ", "\t"])
def test_a_unit_twice_in_a_line(between: str) -> None:
    text = between.join(["BenchmarkX", "       1", "1 ns/op", "2 ns/op"])
    found = parse(f"{text}\nPASS\n".encode(), several=False)
    assert found.errors == {"BenchmarkX": "one of its lines has a unit twice"}


@pytest.mark.parametrize("text", ["BenchmarkX ١ 5 ns/op\n", "BenchmarkX 1 ٥ ns/op\n"])
def test_digits_of_other_scripts_are_no_results(text: str) -> None:
    assert parse((text + "PASS\n").encode(), several=False).benchmarks == {}
    hidden = parse((text.replace(" ", "\t       ") + "PASS\n").encode(), several=False)
    assert (hidden.benchmarks, list(hidden.errors)) == ({}, ["BenchmarkX"])


def test_a_unit_that_is_better_in_both_directions() -> None:
    text = b"Unit a better=higher\nUnit a better=lower\nBenchmarkX 1 1 a\n"
    assert why(text) == "the unit 'a' is better both lower and higher"


@pytest.mark.parametrize(
    "torture",
    [
        "Benchmark" * 40_000,
        "Benchmark" * 40_000 + " \t1",
        "\t 1 x" * 60_000 + "\t!",
        "1" * 400_000 + " x",
        "BenchmarkX " + "1" * 400_000 + "x 1 ns/op",
        "BenchmarkX 1 " + "1" * 400_000 + "x ns/op",
        "BenchmarkX 1 " + "1." * 200_000 + " ns/op",
        "-1" * 200_000,
        " " * 400_000 + "1\t",
        "BenchmarkX\t" + "       1\t" * 40_000 + "x",
    ],
    ids=range(10),
)
def test_a_long_line_takes_no_longer_than_its_length(torture: str) -> None:
    """Quadratic matching would take minutes; nothing is timed."""
    announced = "Benchmark" + "a" * 200_000
    with contextlib.suppress(OutputError):
        parse(f"{torture}\nBenchmarkA 1 1 ns/op\nPASS\n".encode(), several=False)
    with contextlib.suppress(OutputError):
        parse(f"{announced}\n{torture}\nPASS\n".encode(), several=False)


def test_two_metrics_of_one_name() -> None:
    found = parse(lines(line("BenchmarkX", "5.0 ns/op", "2.0 sec/op")), several=False)
    assert found.errors == {"BenchmarkX": "two of its metrics are called 'time'"}
