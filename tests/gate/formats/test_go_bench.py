from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.source import Source

DATA = Path(__file__).parents[2] / "data" / "results" / "go_bench"
TINY, SUB = "example.com/tiny", "example.com/tiny/sub"


def read_text(text: str) -> Reading:
    return read(Source("x", None, text.encode()), "go_bench")


def read_file(name: str) -> Reading:
    return read(Source(name, DATA / name))


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


def test_a_package_that_does_not_build() -> None:
    reading = read_text("FAIL\tx/y [build failed]\npkg: x/z\nBenchmarkA-8 1 2 ns/op\nPASS\nok  \tx/z\t1.2s\n")
    assert [(f.benchmark, f.status, f.labels) for f in reading.failed] == [
        (None, "x/y: [build failed]", {"pkg": "x/y"})
    ]
    assert values(reading, "BenchmarkA", pkg="x/z") == [(0, [2e-9])]


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
