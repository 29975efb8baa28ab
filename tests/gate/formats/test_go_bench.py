import contextlib
from functools import partial
from pathlib import Path

import pytest

from gate.formats.go_bench import suite as parse
from gate.formats.parts.output import OutputError, Series, Suite
from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import of_text, reading

read_file = partial(reading, "go_bench")
read_text = partial(of_text, "go_bench")
TINY, SUB = "example.com/tiny", "example.com/tiny/sub"


def values(reading: Reading, name: str, metric: str = "time", **labels: str) -> list[tuple[int, list[float]]]:
    return [
        (m.execution, [float(f"{v:.12g}") for v in m.metrics[metric].values])
        for m in reading.measured
        if m.benchmark == name and labels.items() <= m.labels.items() and metric in m.metrics
    ]


def test_runs_in_one_file_are_executions_and_count_is_iterations() -> None:
    reading = read_file("runs.txt")
    assert values(reading, "BenchmarkSum", pkg=TINY) == [
        (0, [57.89e-9, 57.99e-9]),
        (1, [61.59e-9, 65.39e-9]),
        (2, [60.49e-9, 96.64e-9]),
    ]
    # another package with a benchmark of the same name
    assert values(reading, "BenchmarkSum", pkg=SUB) == [
        (0, [9.61e-9, 8.22e-9]),
        (1, [2.2e-9, 4.71e-9]),
        (2, [5.01e-9, 6.01e-9]),
    ]
    assert values(reading, "BenchmarkSizes/a", "MB/s")[1] == (1, [2812.94e6, 2788.62e6])
    assert reading.about.host == {"goos": "linux", "goarch": "amd64", "cpu": "AMD EPYC"}
    sizes = next(m for m in reading.measured if m.benchmark == "BenchmarkSizes/a")
    assert {name: (each.unit, each.better) for name, each in sizes.metrics.items()} == {
        "time": ("s", "lower"),
        "MB/s": ("B/s", "higher"),
        "p99-ns": ("s", "lower"),
        "req/s": ("req/s", "higher"),
        "widgets/op": ("", None),
        "B/op": ("B", "lower"),
        "allocs/op": ("", "lower"),
    }
    assert sizes.labels == {
        "goos": "linux", "goarch": "amd64", "cpu": "AMD EPYC", "pkg": TINY, "/gomaxprocs": "2"
    }  # fmt: skip
    assert not reading.failed


def test_all_of_the_format() -> None:
    reading = read_file("units.txt")
    name = "BenchmarkHash/format=sha1/10"
    assert values(reading, name, note="before") == [(0, [12e-9, 14e-9])]
    assert values(reading, name, note="after") == [(0, [24e-9])]
    # a key without a value takes it away; sec/op and B/s are the tidied units
    last = next(m for m in reading.measured if m.benchmark == name and "note" not in m.labels)
    assert last.labels == {"commit": "7cd9055", "/format": "sha1", "/gomaxprocs": "4"}
    assert list(last.metrics["time"].values) == pytest.approx([15e-9, 16e-9, 17e-9])
    assert list(last.metrics["MB/s"].values) == [2e6, 4e6, 3e6]
    first = reading.measured[0].metrics
    assert first["score"].better == "higher"
    # assume=exact: a value repeated says nothing new
    assert list(first["instructions/op"].values) == [5000.0]
    assert [(f.benchmark, f.status) for f in reading.failed] == [
        ("BenchmarkHash/format=crc/10", "nan in 'time' is not a finite number")
    ]
    assert reading.about.commit == "7cd9055"


def test_json() -> None:
    reading = read_file("json.txt")
    assert values(reading, "BenchmarkSum", pkg=TINY) == [(0, [204.8e-9, 315.3e-9, 64.79e-9])]
    assert values(reading, "BenchmarkPrints", pkg=TINY) == [(0, [556.7e-9, 647.7e-9, 381e-9])]
    assert reading.about.created == "2026-11-25T17:45:42.872580732Z"
    assert len(values(reading, "BenchmarkSum", pkg=SUB)[0][1]) == 3


def test_json_whose_line_comes_in_two_events() -> None:
    events = [
        ("a", "BenchmarkX-8 \\t"),
        ("b", "BenchmarkX-8 \\t"),
        ("a", " 10\\t 5 ns/op\\n"),
        ("b", " 10\\t 7 ns/op\\n"),
    ]
    lines = [f'{{"Action":"output","Package":"{package}","Output":"{text}"}}\n' for package, text in events]
    reading = read(Source("x", None, "".join(lines).encode()))
    assert values(reading, "BenchmarkX", pkg="a") == [(0, [5e-9])]
    assert values(reading, "BenchmarkX", pkg="b") == [(0, [7e-9])]


def test_verbose_and_what_a_benchmark_prints() -> None:
    reading = read_file("verbose.txt")
    assert values(reading, "BenchmarkSizes/a") == [(0, [54.78e-9, 53.47e-9])]
    assert values(reading, "BenchmarkSizes/a-2") == [(0, [37.06e-9, 56.58e-9])]
    assert values(reading, "BenchmarkPrints") == [(0, [507.6e-9, 620.5e-9])]


@pytest.mark.parametrize(("file", "status"), [("failing.txt", "it failed"), ("panic.txt", "panic: as asked")])
def test_a_failure_leaves_the_others(file: str, status: str) -> None:
    reading = read_file(file)
    assert [(f.benchmark, f.status, f.labels["pkg"]) for f in reading.failed] == [("BenchmarkTrouble", status, TINY)]
    assert {(m.benchmark, m.labels["pkg"]) for m in reading.measured} == {("BenchmarkSum", TINY), ("BenchmarkSum", SUB)}


def test_a_benchmark_that_was_killed_keeps_the_results_it_gave() -> None:
    reading = read_text(
        "goos: linux\npkg: x\nBenchmarkA-4 1 5 ns/op\nBenchmarkA-4   \tSIGQUIT: quit\nPC=0x7ff8 m=0 sigcode=0\n\n"
        "goroutine 1 [running]:\nx.BenchmarkA(0xc0001)\n\t/src/a_test.go:19 +0x18b\n\nrip    0x7ff8\n"
        "*** Test killed with quit: ran too long (11m0s).\nexit status 2\nFAIL\tx\t660.316s\n"
    )
    assert values(reading, "BenchmarkA") == [(0, [5e-9])]
    assert [(f.benchmark, f.status, f.execution) for f in reading.failed] == [
        ("BenchmarkA", "*** Test killed with quit: ran too long (11m0s).", 0)
    ]


def test_two_machines_in_one_file() -> None:
    runs = [f"pkg: x\nBenchmarkA-{procs} 1 {procs} ns/op\nBenchmarkB-{procs} 1 2 ns/op\nPASS\n" for procs in (8, 12)]
    reading = read_text("".join(runs))
    # not repetitions of each other
    assert values(reading, "BenchmarkA") == [(0, [8e-9]), (0, [12e-9])]
    assert [m.labels["/gomaxprocs"] for m in reading.measured] == ["8", "8", "12", "12"]


def test_runs_that_a_key_tells_apart_are_no_repetitions() -> None:
    run = "goos: linux\npkg: x\nBenchmarkA-8 1 {} ns/op\nPASS\n"
    text = "".join(f"toolchain: {key}\n{run.format(value)}" for key, value in (("a", 1), ("a", 2), ("b", 3), ("b", 4)))
    reading = read_text(text)
    assert values(reading, "BenchmarkA", toolchain="a") == [(0, [1e-9]), (1, [2e-9])]
    assert values(reading, "BenchmarkA", toolchain="b") == [(0, [3e-9]), (1, [4e-9])]


def test_a_table_of_jmh_is_not_of_go() -> None:
    rows = (
        "Benchmark            (size)  Mode  Cnt    Score    Error  Units\n"
        "BenchmarkCopy.copy     1024  avgt    5  195.104 ± 39.240  ns/op\n"
    )
    assert recognised(Source("x", None, rows.encode())) is None
    prose = "Benchmark 7 compares matching output\n"
    assert recognised(Source("x", None, prose.encode())) is None
    assert recognised(Source("x", None, b"BenchmarkCopy 1 +Inf ns/op\n")) == "go_bench"


def test_results_whose_tabs_were_lost_do_not_vanish() -> None:
    head, end = "goos: linux\npkg: x\n", "BenchmarkB-8 1 2 ns/op\nPASS\nok  \tx\t1.2s\n"
    reading = read_text(f"{head}[12:01] BenchmarkA-8       100     5.0 ns/op   3 B/op\n{end}")
    assert [(f.benchmark, f.status) for f in reading.failed] == [
        ("BenchmarkA", "line 3: its results cannot be read: their tabs are lost")
    ]
    assert values(reading, "BenchmarkB") == [(0, [2e-9])]
    # -v announces it, and the count follows its name at once
    reading = read_text(f"{head}BenchmarkA\nBenchmarkA-812345678        57.89 ns/op\n{end}")
    assert [(f.benchmark, f.status) for f in reading.failed] == [
        ("BenchmarkA", "line 4: its results cannot be read: 'BenchmarkA-812345678        57.89 ns/op'")
    ]
    reading = read_text(
        f"{head}BenchmarkA-8 1 2 ns/op\n[12:01] BenchmarkA-8   100   5.0 ns/op\n   100   5.0 ns/op\n{end}"
    )
    assert values(reading, "BenchmarkA") == [(0, [2e-9])]
    assert reading.left_out == [
        "line 5: results without a name",
        "BenchmarkA-8: line 4: its results cannot be read: their tabs are lost",
    ]


def test_old_gos_end_a_process_with_pass_alone() -> None:
    old = "PASS\nBenchmarkA\t 10\t 2 ns/op\nok  \tx/y\t1.2s\n"
    assert values(read_text(old * 2), "BenchmarkA") == [(0, [2e-9]), (1, [2e-9])]


def test_prose_about_benchmarks_is_no_failure() -> None:
    text = "Benchmarking is fun\t12\nBenchmark\tns/op\nBenchmarkLoad is slow\nBenchmarkA 1 2 ns/op\nPASS\n"
    assert read_text(text).failed == []


CAPTURED = Path(__file__).parents[2] / "data" / "go"
SIZES = ["a", "a-2", "size=10", "with_space", "quote\"'", "new_line", "🐢", "Benchmark_1"]
ALL = [
    "example.com/tiny.BenchmarkSum",
    *(f"example.com/tiny.BenchmarkSizes/{each}" for each in SIZES),
    *(f"example.com/tiny.Benchmark{each}" for each in ("Prints", "Logs", "OnlyOwn", "Trouble")),
    "example.com/tiny/sub.BenchmarkSum",
]


def suite_of(name: str, *, several: bool = False) -> Suite:
    return parse((CAPTURED / name).read_bytes(), several=several)


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
    suite = suite_of(name)
    assert list(suite.benchmarks) == ALL
    assert {len(each.values) for metrics in suite.benchmarks.values() for each in metrics.values()} == {2}
    assert suite.errors == {}


def test_the_values_are_those_of_the_lines_in_seconds() -> None:
    text = (CAPTURED / "plain.txt").read_text(encoding="utf-8")
    said = [float(row.split()[2]) for row in text.splitlines() if row.startswith("BenchmarkSizes/a-2-2 ")]
    found = suite_of("plain.txt").benchmarks["example.com/tiny.BenchmarkSizes/a-2"]["time"]
    assert found == Series("s", [value * 1e-9 for value in said])
    assert found.step == pytest.approx(1e-11)
    assert len(said) == 2


@pytest.mark.parametrize(("shares", "sharp"), [((0.0, 0.1), True), ((0.04, 0.07), False)])
def test_cpu_time_is_a_view_that_is_sharp_where_it_computes(shares: tuple[float, ...], sharp: bool) -> None:
    rows = [line("BenchmarkA", "12.5 ns/op", "11.5 cpu-ns/op", f"{each} other-share") for each in shares]
    metrics = parse(lines(*rows), several=False).benchmarks["BenchmarkA"]
    assert list(metrics) == ["time", "cpu_time"]
    assert metrics["cpu_time"] == Series("s", [1.15e-8, 1.15e-8], view_of="time", sharp=sharp)
    # who has such a unit without perfgate has a metric as any other
    alone = parse(lines(line("BenchmarkA", "12.5 ns/op", "11.5 cpu-ns/op")), several=False)
    assert alone.benchmarks["BenchmarkA"]["cpu_time"].view_of is None
    own = parse(lines(line("BenchmarkA", "3 gain", "11.5 cpu-ns/op", "0 other-share")), several=False)
    assert list(own.benchmarks["BenchmarkA"]) == ["gain"]


def test_ns_op_may_be_taken_back() -> None:
    assert suite_of("plain.txt").benchmarks["example.com/tiny.BenchmarkOnlyOwn"] == {"gain": Series("", [-4, -4])}


@pytest.mark.parametrize("name", ["one-cpu.txt", "one-cpu-plain.txt"])
def test_a_name_that_ends_like_a_number_of_processors_keeps_its_end(name: str) -> None:
    found = [each for each in suite_of(name).benchmarks if "/a" in each]
    assert found == ["BenchmarkSizes/a", "BenchmarkSizes/a-2"]


def test_several_numbers_of_processors_are_told_apart_and_a_name_that_two_have_is_refused() -> None:
    suite = suite_of("cpus.txt")
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
    assert next(iter(suite_of("one-cpu.txt", several=True).benchmarks)) == "example.com/tiny.BenchmarkSizes/a"


def test_a_value_that_is_no_number() -> None:
    suite = suite_of("nan.txt")
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
    assert why((CAPTURED / name).read_bytes()) == expected


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


@pytest.mark.parametrize("data", [b"", b"PASS\n", (CAPTURED / "nothing.txt").read_bytes()])
def test_no_benchmark(data: bytes) -> None:
    assert parse(data, several=False) == Suite({}, {})


def test_results_without_a_name_are_not_passed_over() -> None:
    for results in ("     100\t5.0 ns/op", "     100 5.0 ns/op"):
        assert why(lines("    text BenchmarkX-2   \tmore", results)) == "line 2: results without a name"


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
