"""Logs that people really have: what was printed into them, cut off or in other units is decided, or said."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.formats.parts.reading import Reading, named_alike, read
from gate.formats.parts.source import Source

HEADER = "goos: linux\ngoarch: amd64\npkg: x/y\ncpu: A\n"
END = "PASS\nok  \tx/y\t1.0s\n"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the rules of this repository."""
    monkeypatch.chdir(tmp_path)


def run(*argv: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(list(argv), out, err)
    return code, " ".join(out.getvalue().split()) + err.getvalue()


def decided(folder: Path, base: Callable[[int], str], head: Callable[[int], str], *more: str) -> tuple[int, str]:
    """Decide five files a side, each of its number."""
    for number in range(5):
        (folder / f"b{number}.txt").write_text(base(number), encoding="utf-8")
        (folder / f"h{number}.txt").write_text(head(number), encoding="utf-8")
    return run("decide", "base=b*.txt", "head=h*.txt", *more)


def names(folder: Path) -> list[tuple[str, str]]:
    found = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return [(each["benchmark"], each["verdict"]) for each in found["findings"]]


def read_text(text: str) -> Reading:
    return read(Source("x", None, text.encode()))


def failed(text: str) -> list[tuple[str | None, str]]:
    return [(each.benchmark, each.status) for each in read_text(text).failed]


# --- go: what is printed into a line ----------------------------------------------------------------------------------


def test_a_line_that_something_was_printed_into_and_the_sound_one_behind_it(tmp_path: Path) -> None:
    def side(parse: int) -> Callable[[int], str]:
        return lambda number: (
            f"{HEADER}BenchmarkLoad-8 \tprogress 10%     1000\t       52{number}.0 ns/op\n"
            f"BenchmarkParse-8 \t    1000\t       {parse + number}.0 ns/op\n"
            f"BenchmarkOther-8 \t    1000\t       32{number}.0 ns/op\n{END}"
        )

    code, text = decided(tmp_path, side(220), side(440), "--json", "report.json")
    assert code == 1
    assert "Parse is 99.1% slower" in text
    assert sorted(names(tmp_path)) == [
        ("BenchmarkLoad", "unchanged"), ("BenchmarkOther", "unchanged"), ("BenchmarkParse", "regression"),
    ]  # fmt: skip
    said = "b0.txt: line 5: something was printed into the results of BenchmarkLoad-8, read without it"
    assert said in text and "and 9 more such lines" in text


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("BenchmarkLoad-8 \tover the results", "line 5: what it prints hides its results"),
        ("BenchmarkLoad-8 10", "line 5: its results cannot be read: 'BenchmarkLoad-8 10'"),
        ("BenchmarkLoad-8 10 1", "line 5: its results cannot be read: 'BenchmarkLoad-8 10 1'"),
        ("BenchmarkLoad-8 10 1 ns/op 3", "line 5: its results cannot be read: 'BenchmarkLoad-8 10 1 ns/op 3'"),
        ("BenchmarkLoad-8 \t--- FAIL: BenchmarkLoad-8", "it failed"),
    ],
)
def test_a_benchmark_that_cannot_be_read_has_failed_and_the_others_count(line: str, status: str) -> None:
    reading = read_text(f"{HEADER}{line}\nBenchmarkParse-8 \t    1000\t       221.0 ns/op\n{END}")
    assert [(each.benchmark, each.status) for each in reading.failed] == [("BenchmarkLoad", status)]
    assert [each.benchmark for each in reading.measured] == ["BenchmarkParse"]


def test_the_beginning_of_a_unit_is_no_unit() -> None:
    whole = "BenchmarkA-8 \t 1000\t 221.0 ns/op\t 12 hits\n"
    assert failed(whole + "BenchmarkB-8 \t 1000\t 221.0 ns/op\t 1 hit") == [
        ("BenchmarkB", "line 2: the file is cut off within its results")
    ]
    # a last line that is whole but for its newline
    assert failed(whole + "BenchmarkB-8 \t 1000\t 221.0 ns/op\t 1 hits") == []
    assert failed("BenchmarkB-8 \t 1000\t 221.0 ns/op") == []


def test_a_benchmark_prints_before_its_name_and_behind_it() -> None:
    # as go 1.26 writes it, of fmt.Print("x\\t1 y") and of fmt.Println("slow"): the first run comes before the name
    text = (
        f"{HEADER}x\t1 yBenchmarkSub/size-8-2         \tx\t1 y      50\t      2666 ns/op\n"
        "BenchmarkSub/size-8-2         \tx\t1 y      50\t      2667 ns/op\n"
        "slow BenchmarkErr-2           \tslow\n      50\t      2494 ns/op\n"
        f"lost BenchmarkLost-2          \tover\nBenchmarkParse-2   \t      50\t      1719 ns/op\n{END}"
    )
    reading = read_text(text)
    assert [(m.benchmark, len(m.metrics["time"].values)) for m in reading.measured] == [
        ("BenchmarkSub/size-8", 2), ("BenchmarkErr", 1), ("BenchmarkParse", 1),
    ]  # fmt: skip
    assert failed(text) == [("BenchmarkLost", "line 9: what it prints hides its results")]


def test_what_an_announced_benchmark_prints_is_no_result_of_another() -> None:
    # four spaces: as b.Log writes it
    logged = "--- BENCH: BenchmarkA-8\n    BenchmarkY-8 \t     100\t       1.0 ns/op\n"
    printed = f"{HEADER}BenchmarkA\nBenchmarkA 3 times\nBenchmarkA-8 \t    1000\t       221.0 ns/op\n{logged}{END}"
    reading = read_text(printed)
    assert [list(each.metrics["time"].values) for each in reading.measured] == [[221e-9]]
    assert (reading.failed, reading.left_out) == ([], [])


def test_a_line_that_comes_again_is_said_where_it_cannot_be_read() -> None:
    reading = read_text("BenchmarkA-8 1 2 ns/op\nBenchmarkA-8 1 2\nBEFORE: BenchmarkA-8\t       1\t       7 ns/op\n")
    assert [list(each.metrics["time"].values) for each in reading.measured] == [[2e-9]]
    assert reading.left_out == [
        "line 3: a result of BenchmarkA-8 is left out: something stands before its name",
        "BenchmarkA-8: line 2: its results cannot be read: 'BenchmarkA-8 1 2'",
    ]


def test_a_result_behind_what_another_benchmark_printed_is_read() -> None:
    reading = read_text(f"{HEADER}BenchmarkA-8 1 2 ns/op\n.....BenchmarkB-8\t       1\t       7 ns/op\n{END}")
    assert [each.benchmark for each in reading.measured] == ["BenchmarkA", "BenchmarkB"]
    assert reading.left_out == ["line 6: a result of BenchmarkB-8 read without what stands before it"]


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-05-01T12:00:00.1234567Z ",
        "bench\tgo test\t2026-05-01T12:00:00.1234567Z ",
        "[2026-05-01 12:00:00,123] ",
        "12:00:00 ",
        "[12:00:00.123] ",
        "2026-05-01T12:00:00.123456789Z stdout F ",
        "\x1b_bk;t=1777636800123\x07",
    ],
)
def test_the_log_of_a_ci_is_read_without_its_times_and_colours(stamp: str) -> None:
    plain = f"{HEADER}BenchmarkA-8 \t 1000\t 221.0 ns/op\n{END}"
    log = "".join(f"{stamp}\x1b[1m{line}\x1b[0m\r\n" for line in plain.splitlines())
    one, other = read_text(plain), read_text(log)
    assert (one.measured, one.about) == (other.measured, other.about)


# --- go: which numbers end names --------------------------------------------------------------------------------------


def size(name: str, nanoseconds: int = 1000) -> Callable[[int], str]:
    return lambda number: f"{HEADER}{name} \t    1000\t      {nanoseconds + number} ns/op\n{END}"


@pytest.mark.parametrize(
    ("base", "head", "name"),
    [
        ("BenchmarkParse/size-8-8", "BenchmarkParse/size-8", "BenchmarkParse/size-8"),
        ("BenchmarkParse/size-8", "BenchmarkParse/size-8-4", "BenchmarkParse/size-8"),
        ("BenchmarkParse/size-8", "BenchmarkParse/size-4", "BenchmarkParse/size"),
        ("BenchmarkParse/size-8", "BenchmarkParse/size-8", "BenchmarkParse/size"),
        ("BenchmarkParse-8", "BenchmarkParse", "BenchmarkParse"),
        ("BenchmarkParse/n=16-16", "BenchmarkParse/n=16-2", "BenchmarkParse/n=16"),
    ],
)
def test_gomaxprocs_is_what_lets_the_names_of_both_sides_agree(tmp_path: Path, base: str, head: str, name: str) -> None:
    code, text = decided(tmp_path, size(base), size(head, 2000), "--json", "report.json")
    assert (code, names(tmp_path)) == (1, [(name, "regression")]), text
    code, text = run("compare", "base=b*.txt", "head=h*.txt")
    assert (code, f"{name} " in text) == (0, True), text


def test_settings_of_cpu_pair_with_each_other() -> None:
    line = "{} 1 2 ns/op\n"
    one, both = (
        read_text("".join(map(line.format, own))) for own in (["BenchmarkA-2"], ["BenchmarkA-2", "BenchmarkA-4"])
    )
    assert [[m.benchmark for m in r.measured] for r in named_alike([one, both])] == [
        ["BenchmarkA-2"], ["BenchmarkA-2", "BenchmarkA-4"],
    ]  # fmt: skip


def test_one_setting_pairs_with_its_like_among_several_of_cpu() -> None:
    several = read_text(
        "".join(f"BenchmarkA{end} 1 2 ns/op\nBenchmarkB/k-4{end} 1 2 ns/op\n" for end in ("", "-2", "-4"))
    )
    one = read_text("BenchmarkA-4 1 2 ns/op\nBenchmarkB/k-4-4 1 2 ns/op\n")
    assert [m.benchmark for m in named_alike([several, one])[1].measured] == ["BenchmarkA-4", "BenchmarkB/k-4-4"]


def test_a_new_benchmark_does_not_rename_the_others() -> None:
    one = read_text("BenchmarkA/n-8 1 2 ns/op\n")
    both = read_text("BenchmarkA/n-8 1 2 ns/op\nBenchmarkA/m-16 1 2 ns/op\n")
    found = [[m.benchmark for m in r.measured] for r in named_alike([one, both])]
    assert found == [["BenchmarkA/n-8"], ["BenchmarkA/n-8", "BenchmarkA/m-16"]]


def test_what_the_log_announces_is_its_name() -> None:
    announced = read_text("BenchmarkA/size-8\nBenchmarkA/size-8 \t       1\t         2 ns/op\nPASS\n")
    assert [(m.benchmark, m.otherwise) for m in announced.measured] == [("BenchmarkA/size-8", None)]


def test_a_failure_has_the_name_that_others_have() -> None:
    good = read_text("BenchmarkA/size-8-8 1 2 ns/op\nBenchmarkB-8 1 2 ns/op\n")
    bad = read_text("--- FAIL: BenchmarkA/size-8\nBenchmarkB-8 1 2 ns/op\nFAIL\n")
    assert [f.benchmark for f in named_alike([good, bad])[1].failed] == ["BenchmarkA/size-8"]


# --- failures by identity ---------------------------------------------------------------------------------------------


def packages(nanoseconds: int, *, fails: bool) -> Callable[[int], str]:
    def text(number: int) -> str:
        own = "--- FAIL: BenchmarkParse-8\n    a_test.go:3: boom\nFAIL\nexit status 1\nFAIL\tx/a\t0.1s\n"
        good = f"BenchmarkParse-8 \t    1000\t      {1001 + number} ns/op\nPASS\nok  \tx/a\t1.0s\n"
        line = f"BenchmarkParse-8 \t    1000\t      {nanoseconds + number} ns/op\nPASS\nok  \tx/b\t1.0s\n"
        return f"pkg: x/a\n{own if fails else good}pkg: x/b\n{line}"

    return text


def test_a_package_that_fails_hides_no_regression_of_another(tmp_path: Path) -> None:
    files = ("--json", "report.json", "--markdown", "comment.md", "--junit", "junit.xml", "--html", "page.html")
    code, text = decided(tmp_path, packages(2001, fails=False), packages(3001, fails=True), *files)
    assert code == 1
    assert "Regression: BenchmarkParse (pkg=x/b) is 49.9% slower" in text
    assert "BenchmarkParse (pkg=x/a) failed on head: it failed" in text
    assert "in h0.txt" in text
    for name in ("comment.md", "page.html"):
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert "49.9% slower" in written and "BenchmarkParse (pkg=x/a) failed on head" in written
    junit = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert 'name="BenchmarkParse [pkg=x/b]"' in junit and 'name="BenchmarkParse [pkg=x/a]"' in junit
    code, text = run("compare", "base=b*.txt", "head=h*.txt")
    assert "BenchmarkParse (pkg=x/b)" in text and "+49.9%" in text


# --- units ------------------------------------------------------------------------------------------------------------


def aggregates(text: str) -> list[tuple[str, str, float, str, str | None]]:
    found = read_text(text).aggregates
    return [(a.benchmark, a.metric, float(f"{a.value:.9g}"), a.unit, a.better) for a in found]


def test_every_unit_of_a_bench_line_is_read() -> None:
    text = (
        "test enc ... bench:        2835 ns/iter (+/- 14)\n"
        "test enc_cycles ... bench:        2835 cycles/iter (+/- 14)\n"
        "test enc_more ... bench:        2.835 Kcycles/iter (+/- 14)\n"
        "test enc_ms ... bench:        2,835 ms/iter (+/- 14)\n"
        "test enc_us ... bench:        1.5 us/iter (+/- 1)\n"
        "test enc_mu ... bench:        1.5 µs/iter (+/- 1)\n"
        "test download ... bench:        9001 MB/s (+/- 69)\n"
        "test own ... bench:        12 widgets/iter (+/- 1)\n"
        "test two ... bench:        12.5 K instructions/iter (+/- 1)\n"
    )
    assert aggregates(text) == [
        ("enc", "time", 2.835e-6, "s", "lower"),
        ("enc_cycles", "cycles", 2835, "cycles", "lower"),
        ("enc_more", "cycles", 2835, "cycles", "lower"),
        ("enc_ms", "time", 2.835, "s", "lower"),
        ("enc_us", "time", 1.5e-6, "s", "lower"),
        ("enc_mu", "time", 1.5e-6, "s", "lower"),
        ("download", "throughput", 9001e6, "B/s", "higher"),
        ("own", "widgets", 12, "widgets", "lower"),
        ("two", "instructions", 12500, "instructions", "lower"),
    ]


CRITERION = " " * 24


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("1.5 K instructions", ("instructions", 1500, "instructions", "lower")),
        ("12   allocs", ("allocs", 12, "allocs", "lower")),
        ("12 bytes", ("B", 12, "B", "lower")),
        ("950.0 ps", ("time", 950e-12, "s", "lower")),
    ],
)
def test_what_a_measurement_of_criterion_measures(printed: str, expected: tuple[str, float, str, str]) -> None:
    assert aggregates(f"a                       time:   [{printed} {printed} {printed}]\n") == [("a", *expected)]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("1.25 cpb", ("throughput", 1.25, "cpb", "lower")),
        ("1.25 Kcycles/B", ("throughput", 1250, "cycles/B", "lower")),
        ("1.25 Kelem/s", ("throughput", 1250, "1/s", "higher")),
        ("1.25 elements/s", ("throughput", 1.25, "1/s", "higher")),
        ("1.25 MiB/s", ("throughput", 1.25 * 1024**2, "B/s", "higher")),
        ("1.25 Mb/s", ("throughput", 1.25e6, "bit/s", "higher")),
        ("1.25 GFLOP/s", ("throughput", 1.25e9, "FLOP/s", "higher")),
    ],
)
def test_what_a_throughput_of_criterion_is(printed: str, expected: tuple[str, float, str, str]) -> None:
    text = "a                       time:   [1 cycles 1 cycles 1 cycles]\n"
    text += f"{CRITERION}thrpt:  [{printed} {printed} {printed}]\n"
    assert aggregates(text)[1:] == [("a", *expected)]


# --- other tools: what is printed into a benchmark, or is not there ---------------------------------------------------


DIVAN = "d         fastest  │ slowest  │ median   │ mean     │ samples │ iters\n"
CATCH2 = "benchmark name    samples    iterations    mean\n-----------------------\n"
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
{CRITERION}change: [-1.0% +2.0% +3.0%] (p = 0.50 > 0.05)
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
    "divan, whole": (f"{DIVAN}├─ a      1.0 ms   │ 1.0 ms   │ 1.0 ms   │ 1.0 ms   │ 100     │ 100\n", {"a": 1e-3}, []),
    # the milliseconds of the mean may be minutes
    "divan, cut": (f"{DIVAN}├─ a      1.0 ms   │ 1.0 ms   │ 1.0 ms   │ 1.0 m", {}, [("a", "line 2: its times cannot be read")]),
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
    "catch2, minutes": (f"{CATCH2}a        20        5      4.3 m\n", {"a": 258.0}, []),
    "catch2, minutes or milliseconds": (f"{CATCH2}a        20        5      4.3 m", {}, [("a", "line 3: its mean cannot be read")]),
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
    "gungraun": (
        "b::g::f short:1\n  Instructions:        92|82      (+12.1951%) [+1.12195x]\n  L1 Hits:        9progress8|87   (+12%)\n",
        {},
        [("b::g::f short", "line 3: a count cannot be read: 'L1 Hits:        9progress8|87   (+12%)'")],
    ),
}  # fmt: skip
"""What benchmarks print into the output of their tool, and where it is cut off: what is read, and what has failed."""


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_printed_into_results_hides_no_more_than_its_own(name: str) -> None:
    text, values, failures = PRINTED[name]
    found: dict[str, float] = {}
    for benchmark, _, value, _, _ in aggregates(text):
        found.setdefault(benchmark, value)
    assert found == pytest.approx(values)
    assert failed(text) == failures


def test_a_bench_line_without_a_name_is_said() -> None:
    text = "test a ... bench:       1,000 ns/iter (+/- 3)\nbench:       6,000 ns/iter (+/- 3)\n"
    assert read_text(text).left_out == ["line 2: a result without a name"]


def test_names_of_criterion_that_stand_elsewhere() -> None:
    line = f"{CRITERION}time:   [1.0 ns 2.0 ns 3.0 ns]\n"
    assert [each[0] for each in aggregates(f"Benchmarking fs/read:\n{line}Benchmarking fs/write: Analyzing\n{line}")] == [
        "fs/read", "fs/write",
    ]  # fmt: skip
    assert failed(f"{line}a{line}") == [(None, "line 1: an estimate without a name: 'time:   [1.0 ns 2.0 ns 3.0 ns]'")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "Running 2s test @ http://h/a\n  2 threads and 4 connections\n    Latency    47.30ms    7.3",
            "line 3 cannot be read: 'Latency    47.30ms    7.3'",
        ),
        (
            "Running 2s test @ http://h/a\n  2 threads and 4 connections\n    Latency    47.30xs    7.30ms  60.03ms   92.40%\n",
            "line 3 cannot be read: 'Latency    47.30xs    7.30ms  60.03ms   92.40%'",
        ),
        (
            "Running 2s test @ http://h/a\n  2 threads and 4 connections\n    Latency    47.30ms    7.30ms  60.03ms   92.40%\n",
            "no requests are counted: was its output cut off?",
        ),
        (
            "Summary:\n  Success rate:\t100.00%\n  Total:\t1.0 sec\n\nStatus code distribution:\n  [200] 20 responses\n",
            "mean, Requests/sec cannot be read: was its output cut off?",
        ),
        (
            "Requests      [total, rate, throughput]  100, 10.00, 10.00\nLatencies     [mean, 50, max]  1.x2ms, 1ms, 1ms\n",
            "latencies cannot be read: was its output cut off?",
        ),
    ],
    ids=["wrk cut", "wrk", "wrk without requests", "oha", "vegeta"],
)
def test_a_load_test_that_is_cut_off(text: str, why: str) -> None:
    assert why in [status for _, status in failed(text)]


@pytest.mark.parametrize(
    "text",
    [
        "pid: 1\ncmd: ./a\nevents: Ir\nfn=main\n1 1234\ntotals: 123",
        "==7== Command: ./a\n==7== Events    : Ir\n==7== Collected : 123",
    ],
)
def test_a_count_that_is_cut_off_is_none(text: str) -> None:
    assert failed(text) == [("a", "no totals: the file is cut off")]
    assert [list(m.metrics["instructions"].values) for m in read_text(f"{text}4\n").measured] == [[1234.0]]


# --- several results on one line --------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", ["", " ", "\t", "\t  0 B/op\t  0 allocs/op"])
def test_files_of_go_that_were_put_together_without_a_newline(tmp_path: Path, between: str) -> None:
    def side(parse: int) -> Callable[[int], str]:
        return lambda number: (
            f"{HEADER}BenchmarkParse-8 \t    1000\t       {parse + number}.0 ns/op{between}"
            f"BenchmarkLoad-8 \t    1000\t       52{number}.0 ns/op\n{END}"
        )

    code, text = decided(tmp_path, side(220), side(440), "--json", "report.json")
    assert code == 1, text
    assert {("BenchmarkParse", "regression"), ("BenchmarkLoad", "unchanged")} <= set(names(tmp_path))


def test_results_behind_a_name_are_not_those_of_the_name_before_it() -> None:
    found = read_text(
        f"{HEADER}BenchmarkLoad-8 \tloading BenchmarkParse-8 \t    1000\t       220.0 ns/op\n"
        f"BenchmarkSize/Benchmark_1-8 \t    1000\t       320.0 ns/op\n{END}"
    )
    assert [each.benchmark for each in found.measured] == ["BenchmarkParse", "BenchmarkSize/Benchmark_1"]
    assert [(each.benchmark, each.status) for each in found.failed] == [
        ("BenchmarkLoad", "line 5: what it prints hides its results")
    ]


def test_events_of_go_beside_what_a_build_left() -> None:
    events = "".join(
        json.dumps({"Action": "output", "Package": "x/y", "Output": text}) + "\n"
        for text in (HEADER, "BenchmarkA-8 \t", "    1000\t       220.0 ns/op\n", "PASS\n")
    )
    alone, beside = read_text(events), read_text(f"go: downloading x v1\n{events}exit status 1\n")
    assert [m.benchmark for m in alone.measured] == ["BenchmarkA"]
    assert (beside.measured, beside.failed) == (alone.measured, alone.failed)


@pytest.mark.parametrize("first", ['{"level":"info","n":1}\n', "[1/2] building\n"])
def test_results_of_go_behind_a_log_of_another_kind(first: str) -> None:
    text = f"{HEADER}BenchmarkA-8 \t    1000\t       220.0 ns/op\n{END}"
    assert read_text(first + text).measured == read_text(text).measured
