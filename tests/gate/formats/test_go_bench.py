"""Output of `go test -bench`: runs, units, names and failures, and what is printed into it, cut off or put together."""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.formats.go_bench import suite as parse
from gate.formats.parts.output import OutputError, Series, Suite
from gate.formats.parts.reading import Reading, named_alike, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import failed, of_text, rounded

TINY, SUB = "example.com/tiny", "example.com/tiny/sub"
HEADER = "goos: linux\ngoarch: amd64\npkg: x/y\ncpu: A\n"
END = "PASS\nok  \tx/y\t1.0s\n"
Values = list[tuple[int, list[float]]]


def values(found: Reading, name: str, metric: str = "time", **labels: str) -> Values:
    return [
        (m.execution, [rounded(v) for v in m.metrics[metric].values])
        for m in found.measured
        if m.benchmark == name and labels.items() <= m.labels.items() and metric in m.metrics
    ]


def names(found: Reading) -> list[str]:
    return [each.benchmark for each in found.measured]


# --- files ------------------------------------------------------------------------------------------------------------


def test_events_beside_what_a_build_left() -> None:
    # a line comes in two of them
    parts = [("a", "BenchmarkX-8 \t"), ("b", "BenchmarkX-8 \t"), ("a", " 10\t 5 ns/op\n"), ("b", " 10\t 7 ns/op\n")]
    events = "".join(json.dumps({"Action": "output", "Package": p, "Output": text}) + "\n" for p, text in parts)
    for text in (events, f"go: downloading x v1\n{events}exit status 1\n"):
        found = of_text(text)
        assert [values(found, "BenchmarkX", pkg=package) for package in "ab"] == [[(0, [5e-9])], [(0, [7e-9])]]
        assert not found.failed


def test_a_benchmark_that_was_killed_keeps_the_results_it_gave() -> None:
    found = of_text(
        "goos: linux\npkg: x\nBenchmarkA-4 1 5 ns/op\nBenchmarkA-4   \tSIGQUIT: quit\nPC=0x7ff8 m=0 sigcode=0\n\n"
        "goroutine 1 [running]:\nx.BenchmarkA(0xc0001)\n\t/src/a_test.go:19 +0x18b\n\nrip    0x7ff8\n"
        "*** Test killed with quit: ran too long (11m0s).\nexit status 2\nFAIL\tx\t660.316s\n"
    )
    assert values(found, "BenchmarkA") == [(0, [5e-9])]
    why = "*** Test killed with quit: ran too long (11m0s)."
    assert [(f.benchmark, f.status, f.execution) for f in found.failed] == [("BenchmarkA", why, 0)]


def test_what_is_a_repetition_and_what_is_not() -> None:
    machines = [f"pkg: x\nBenchmarkA-{n} 1 {n} ns/op\nBenchmarkB-{n} 1 2 ns/op\nPASS\n" for n in (8, 12)]
    found = of_text("".join(machines))
    assert values(found, "BenchmarkA") == [(0, [8e-9]), (0, [12e-9])]
    assert [m.labels["/gomaxprocs"] for m in found.measured] == ["8", "8", "12", "12"]
    # runs that a key tells apart
    run = "toolchain: {}\ngoos: linux\npkg: x\nBenchmarkA-8 1 {} ns/op\nPASS\n"
    found = of_text("".join(run.format(*each) for each in (("a", 1), ("a", 2), ("b", 3), ("b", 4))))
    assert values(found, "BenchmarkA", toolchain="a") == [(0, [1e-9]), (1, [2e-9])]
    assert values(found, "BenchmarkA", toolchain="b") == [(0, [3e-9]), (1, [4e-9])]
    # old Gos end a process with PASS alone
    old = "PASS\nBenchmarkA\t 10\t 2 ns/op\nok  \tx/y\t1.2s\n"
    assert values(of_text(old * 2), "BenchmarkA") == [(0, [2e-9]), (1, [2e-9])]


def test_what_is_no_output_of_go() -> None:
    rows = (
        "Benchmark            (size)  Mode  Cnt    Score    Error  Units\n"
        "BenchmarkCopy.copy     1024  avgt    5  195.104 ± 39.240  ns/op\n"
    )
    for text in (rows, "Benchmark 7 compares matching output\n"):
        assert recognised(Source("x", None, text.encode())) is None
    assert recognised(Source("x", None, b"BenchmarkCopy 1 +Inf ns/op\n")) == "go_bench"
    prose = "Benchmarking is fun\t12\nBenchmark\tns/op\nBenchmarkLoad is slow\nBenchmarkA 1 2 ns/op\nPASS\n"
    assert of_text(prose).failed == []


# --- what is printed into results, cut off or put together ------------------------------------------------------------

GOOD_LINE = "BenchmarkParse-8 \t    1000\t       221.0 ns/op\n"
HITS = "BenchmarkParse-8 1 221.0 ns/op 12 hits\nBenchmarkB-8 \t 1000\t 2 ns/op\t"
TWICE = (
    f"{HEADER}x\t1 yBenchmarkSub/size-8-2         \tx\t1 y      50\t      2666 ns/op\n"
    "BenchmarkSub/size-8-2         \tx\t1 y      50\t      2667 ns/op\n"
    "slow BenchmarkErr-2           \tslow\n      50\t      2494 ns/op\n"
    f"lost BenchmarkLost-2          \tover\nBenchmarkParse-2   \t      50\t      221 ns/op\n{END}"
)
LOGGED = "--- BENCH: BenchmarkParse-8\n    BenchmarkY-8 \t     100\t       1.0 ns/op\n"
LOST_TABS = f"{HEADER}BenchmarkA-8 1 2 ns/op\n[12:01] BenchmarkA-8   100   5.0 ns/op\n{END}"
AGAIN = "BenchmarkA-8 1 2 ns/op\nBenchmarkA-8 1 2\nBEFORE: BenchmarkA-8\t       1\t       7 ns/op\n"
HIDES = "what it prints hides its results"
BEFORE = "a result of BenchmarkA-8 is left out: something stands before its name"
INTO = "something was printed into the results of {}, read without it"


def said(reading: Reading) -> list[str]:
    """Say the nanoseconds of each benchmark, what failed, and what was left out."""
    found = ((each.benchmark, each.metrics["time"].values) for each in reading.measured)
    return [
        *(f"{name.removeprefix('Benchmark')} {' '.join(f'{v * 1e9:.4g}' for v in values)}" for name, values in found),
        *(f"failed {(name or '').removeprefix('Benchmark')}: {why}" for name, why in failed(reading)),
        *reading.left_out,
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # what cannot be read has failed, and the others count
        *[
            (f"{HEADER}{line}\n{GOOD_LINE}{END}", ["Parse 221", f"failed Load: {why}"])
            for line, why in (
                ("BenchmarkLoad-8 \tover the results", f"line 5: {HIDES}"),
                ("BenchmarkLoad-8 10", "line 5: its results cannot be read: 'BenchmarkLoad-8 10'"),
                ("BenchmarkLoad-8 10 1", "line 5: its results cannot be read: 'BenchmarkLoad-8 10 1'"),
                ("BenchmarkLoad-8 10 1 ns/op 3", "line 5: its results cannot be read: 'BenchmarkLoad-8 10 1 ns/op 3'"),
                ("BenchmarkLoad-8 \t--- FAIL: BenchmarkLoad-8", "it failed"),
            )
        ],
        # the beginning of a unit is no unit; a last line may be whole but for its newline
        (f"{HITS} 1 hits", ["Parse 221", "B 2"]),
        ("BenchmarkParse-8 \t 1000\t 221.0 ns/op", ["Parse 221"]),
        (f"{HITS} 1 hit", ["Parse 221", "failed B: line 2: the file is cut off within its results"]),
        # as go 1.26 writes it, of fmt.Print("x\t1 y") and of fmt.Println("slow"): the first run comes before the name
        (
            TWICE,
            [
                *("Sub/size-8 2666 2667", "Err 2494", "Parse 221", f"failed Lost: line 9: {HIDES}"),
                f"line 5: {INTO.format('BenchmarkSub/size-8-2')}",
                f"line 6: {INTO.format('BenchmarkSub/size-8-2')}",
            ],
        ),
        # what an announced benchmark prints is no result of another; four spaces: as b.Log writes it
        (f"{HEADER}BenchmarkParse\nBenchmarkParse 3 times\n{GOOD_LINE}{LOGGED}{END}", ["Parse 221"]),
        # a line that comes again is said where it cannot be read
        (
            AGAIN,
            [
                "A 2",
                f"line 3: {BEFORE}",
                "BenchmarkA-8: line 2: its results cannot be read: 'BenchmarkA-8 1 2'",
            ],
        ),
        (LOST_TABS, ["A 2", f"line 6: {BEFORE}"]),
        (
            f"{HEADER}{GOOD_LINE}.....BenchmarkB-8\t       1\t       7 ns/op\n{END}",
            ["Parse 221", "B 7", f"line 6: {INTO.format('BenchmarkB-8')}"],
        ),
        # files that were put together without a newline; results behind a name are not those of the name before it
        *[
            (f"{HEADER}BenchmarkA-8 \t    1000\t       2 ns/op{between}{GOOD_LINE}{END}", ["A 2", "Parse 221"])
            for between in ("", " ", "\t", "\t  0 B/op\t  0 allocs/op")
        ],
        (
            f"{HEADER}BenchmarkLoad-8 \tloading {GOOD_LINE}BenchmarkSize/Benchmark_1-8 \t    1000\t       2 ns/op\n{END}",
            ["Parse 221", "Size/Benchmark_1 2", f"failed Load: line 5: {HIDES}"],
        ),
        # behind a log of another kind
        (f'{{"level":"info","n":1}}\n{HEADER}{GOOD_LINE}{END}', ["Parse 221"]),
        (f"[1/2] building\n{HEADER}{GOOD_LINE}{END}", ["Parse 221"]),
    ],
)
def test_what_is_printed_into_results_hides_no_more_than_its_own(text: str, expected: list[str]) -> None:
    assert said(of_text(text)) == expected


# --- which numbers end names ------------------------------------------------------------------------------------------


def of_names(*own: str) -> Reading:
    return of_text("".join(f"{name} 1 2 ns/op\n" for name in own))


@pytest.mark.parametrize(
    ("base", "head", "alike"),
    [
        (["Parse/size-8-8"], ["Parse/size-8"], [["Parse/size-8"]] * 2),
        (["Parse/size-8"], ["Parse/size-8-4"], [["Parse/size-8"]] * 2),
        (["Parse/size-8"], ["Parse/size-4"], [["Parse/size"]] * 2),
        (["Parse/size-8"], ["Parse/size-8"], [["Parse/size"]] * 2),
        (["Parse-8"], ["Parse"], [["Parse"]] * 2),
        (["Parse/n=16-16"], ["Parse/n=16-2"], [["Parse/n=16"]] * 2),
        # settings of -cpu pair with each other, one of them with its like among several
        (["A-2"], ["A-2", "A-4"], [["A-2"], ["A-2", "A-4"]]),
        (
            ["A", "A-2", "A-4", "B/k-4", "B/k-4-2", "B/k-4-4"],
            ["A-4", "B/k-4-4"],
            [["A", "A-2", "A-4", "B/k-4", "B/k-4-2", "B/k-4-4"], ["A-4", "B/k-4-4"]],
        ),
        # a new benchmark does not rename the others
        (["A/n-8"], ["A/n-8", "A/m-16"], [["A/n-8"], ["A/n-8", "A/m-16"]]),
    ],
)
def test_gomaxprocs_is_what_lets_the_names_of_both_sides_agree(
    base: list[str], head: list[str], alike: list[list[str]]
) -> None:
    sides = named_alike([of_names(*(f"Benchmark{name}" for name in own)) for own in (base, head)])
    assert [[name.removeprefix("Benchmark") for name in names(each)] for each in sides] == alike


def test_names_that_the_log_announces_and_those_of_failures() -> None:
    announced = of_text("BenchmarkA/size-8\nBenchmarkA/size-8 \t       1\t         2 ns/op\nPASS\n")
    assert [(m.benchmark, m.otherwise) for m in announced.measured] == [("BenchmarkA/size-8", None)]
    bad = of_text("--- FAIL: BenchmarkA/size-8\nBenchmarkB-8 1 2 ns/op\nFAIL\n")
    good = of_names("BenchmarkA/size-8-8", "BenchmarkB-8")
    assert [f.benchmark for f in named_alike([good, bad])[1].failed] == ["BenchmarkA/size-8"]


# --- what is decided of them ------------------------------------------------------------------------------------------


def run(*argv: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(list(argv), out, err)
    return code, " ".join(out.getvalue().split()) + err.getvalue()


Side = Callable[[int], str]
Decide = Callable[..., tuple[int, str, list[tuple[str, str]]]]


@pytest.fixture
def decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Decide:
    """Decide five files a side, each of its number, away from the rules of this repository."""
    monkeypatch.chdir(tmp_path)

    def decide(base: Side, head: Side, *more: str) -> tuple[int, str, list[tuple[str, str]]]:
        for number in range(5):
            (tmp_path / f"b{number}.txt").write_text(base(number), encoding="utf-8")
            (tmp_path / f"h{number}.txt").write_text(head(number), encoding="utf-8")
        code, text = run("decide", "base=b*.txt", "head=h*.txt", "--json", "report.json", *more)
        found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["findings"]
        return code, text, sorted((each["benchmark"], each["verdict"]) for each in found)

    return decide


def test_a_line_that_something_was_printed_into_and_the_sound_one_behind_it(decided: Decide) -> None:
    def side(parse: int) -> Side:
        return lambda number: (
            f"{HEADER}BenchmarkLoad-8 \tprogress 10%     1000\t       52{number}.0 ns/op\n"
            f"BenchmarkParse-8 \t    1000\t       {parse + number}.0 ns/op\n{END}"
        )

    code, text, found = decided(side(220), side(440))
    assert (code, found) == (1, [("BenchmarkLoad", "unchanged"), ("BenchmarkParse", "regression")])
    assert "Parse is 99.1% slower" in text
    said = "b0.txt: line 5: something was printed into the results of BenchmarkLoad-8, read without it"
    assert said in text and "and 9 more such lines" in text


def test_names_that_agree_but_for_gomaxprocs_are_decided_and_compared(decided: Decide) -> None:
    def side(name: str, nanoseconds: int) -> Side:
        return lambda number: f"{HEADER}{name} \t    1000\t      {nanoseconds + number} ns/op\n{END}"

    code, _, found = decided(side("BenchmarkParse/size-8-8", 1000), side("BenchmarkParse/size-8", 2000))
    assert (code, found) == (1, [("BenchmarkParse/size-8", "regression")])
    code, text = run("compare", "base=b*.txt", "head=h*.txt")
    assert (code, "BenchmarkParse/size-8 " in text) == (0, True), text


def packages(nanoseconds: int, *, fails: bool) -> Side:
    def text(number: int) -> str:
        own = "--- FAIL: BenchmarkParse-8\n    a_test.go:3: boom\nFAIL\nexit status 1\nFAIL\tx/a\t0.1s\n"
        good = f"BenchmarkParse-8 \t    1000\t      {1001 + number} ns/op\nPASS\nok  \tx/a\t1.0s\n"
        line = f"BenchmarkParse-8 \t    1000\t      {nanoseconds + number} ns/op\nPASS\nok  \tx/b\t1.0s\n"
        return f"pkg: x/a\n{own if fails else good}pkg: x/b\n{line}"

    return text


def test_a_package_that_fails_hides_no_regression_of_another(decided: Decide, tmp_path: Path) -> None:
    files = ("--markdown", "comment.md", "--junit", "junit.xml", "--html", "page.html")
    code, text, _ = decided(packages(2001, fails=False), packages(3001, fails=True), *files)
    assert code == 1
    assert "Regression: BenchmarkParse (pkg=x/b) is 49.9% slower" in text
    assert "BenchmarkParse (pkg=x/a) failed on head: it failed" in text and "in h0.txt" in text
    for name in ("comment.md", "page.html"):
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert "49.9% slower" in written and "BenchmarkParse (pkg=x/a) failed on head" in written
    junit = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert 'name="BenchmarkParse [pkg=x/b]"' in junit and 'name="BenchmarkParse [pkg=x/a]"' in junit
    code, text = run("compare", "base=b*.txt", "head=h*.txt")
    assert "BenchmarkParse (pkg=x/b)" in text and "+49.9%" in text


# --- the output of one execution --------------------------------------------------------------------------------------

CAPTURED = Path(__file__).parents[2] / "data" / "go"


def suite_of(name: str, *, several: bool = False) -> Suite:
    return parse((CAPTURED / name).read_bytes(), several=several)


def why(data: bytes) -> str:
    with pytest.raises(OutputError) as caught:
        parse(data, several=False)
    assert str(caught.value).isprintable()
    return str(caught.value)


def lines(*results: str) -> bytes:
    return "\n".join([*results, "PASS", ""]).encode()


@pytest.mark.parametrize(("shares", "sharp"), [((0.0, 0.1), True), ((0.04, 0.07), False)])
def test_cpu_time_is_a_view_that_is_sharp_where_it_computes(shares: tuple[float, ...], sharp: bool) -> None:
    times = "BenchmarkA   \t     100\t12.5 ns/op\t11.5 cpu-ns/op"
    rows = [f"{times}\t{each} other-share" for each in shares]
    metrics = parse(lines(*rows), several=False).benchmarks["BenchmarkA"]
    assert list(metrics) == ["time", "cpu_time"]
    assert metrics["cpu_time"] == Series("s", [1.15e-8, 1.15e-8], view_of="time", sharp=sharp)
    # who has such a unit without perfgate has a metric as any other
    alone = parse(lines(times), several=False)
    assert alone.benchmarks["BenchmarkA"]["cpu_time"].view_of is None
    own = parse(lines(f"{times}\t0 other-share".replace("12.5 ns/op", "3 gain")), several=False)
    assert list(own.benchmarks["BenchmarkA"]) == ["gain"]


def test_names_of_several_numbers_of_processors_and_packages() -> None:
    found = suite_of("cpus.txt")
    ends = ["a", "a-2-2", "with_space", "with_space-2", "Benchmark_1", "Benchmark_1-2"]
    assert list(found.benchmarks) == [f"BenchmarkSizes/{end}" for end in ends]
    assert found.errors == {"BenchmarkSizes/a-2": "two benchmarks have this name"}
    # the package leads the name where there may be others
    assert next(iter(suite_of("one-cpu.txt", several=True).benchmarks)) == "example.com/tiny.BenchmarkSizes/a"


REPORTED, CUT_SHORT = "the output reports a failure: ", "example.com/tiny ends without PASS: it is cut short"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # beside good results
        (b"BenchmarkX 1 5 ns/op\nPASS\nFAIL\n", f"{REPORTED}'FAIL'"),
        (b"BenchmarkX 1 5 ns/op\nPASS\nFAIL\tx [build failed]\n", f"{REPORTED}'FAIL x [build failed]'"),
        (b"BenchmarkX 1 5 ns/op\nPASS\n--- FAIL: TestX (0.00s)\nPASS\n", f"{REPORTED}'--- FAIL: TestX (0.00s)'"),
        (b"    text BenchmarkX-2   \tmore\n     100\t5.0 ns/op\nPASS\n", "line 2: results without a name"),
        (
            b"Unit a better=higher\nUnit a better=lower\nBenchmarkX 1 1 a\n",
            "the unit 'a' is better both lower and higher",
        ),
    ],
)
def test_output_that_is_refused(data: str | bytes, expected: str) -> None:
    assert why(data if isinstance(data, bytes) else (CAPTURED / data).read_bytes()) == expected


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


@pytest.mark.parametrize(
    ("results", "errors"),
    [
        ([], {}),
        # a unit twice, two metrics of one name, digits of other scripts
        (["BenchmarkX        1 1 ns/op 2 ns/op"], {"BenchmarkX": "one of its lines has a unit twice"}),
        (["BenchmarkX\t       1\t1 ns/op\t2 ns/op"], {"BenchmarkX": "one of its lines has a unit twice"}),
        (["BenchmarkX 1 5.0 ns/op 2.0 sec/op"], {"BenchmarkX": "two of its metrics are called 'time'"}),
        *[
            ([line], {"BenchmarkX": f"line 1: its results cannot be read: '{line}'"})
            for line in ("BenchmarkX ١ 5 ns/op", "BenchmarkX 1 ٥ ns/op")
        ],
        *[
            ([line], {"BenchmarkX": "line 1: what it prints hides its results"})
            for line in ("BenchmarkX\t       ١\t       5\t       ns/op", "BenchmarkX\t       1\t       ٥\t       ns/op")
        ],
        # a metric that some lines lack is left out, but never the time
        (
            ["BenchmarkX 1 5.0 ns/op 1.0 gc-ns", "BenchmarkX 1 2.0 gc-ns"],
            {"BenchmarkX": "ns/op is missing in some of its results"},
        ),
    ],
)
def test_results_that_give_no_values(results: list[str], errors: dict[str, str]) -> None:
    assert parse(lines(*results), several=False) == Suite({}, errors)


def test_no_benchmark_a_value_that_is_no_number_and_a_metric_that_some_lines_lack() -> None:
    for data in (b"", (CAPTURED / "nothing.txt").read_bytes()):
        assert parse(data, several=False) == Suite({}, {})
    assert suite_of("nan.txt") == Suite({}, {"BenchmarkTrouble": "nan in 'score' is not a finite number"})
    both = lines("BenchmarkX 1 5.0 ns/op 1.0 gc-ns", "BenchmarkX 1 6.0 ns/op")
    assert parse(both, several=False) == Suite({"BenchmarkX": {"time": Series("s", [5e-9, 6 * 1e-9])}}, {})


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("user-ns/op", Series("s", [2.0 * 1e-9])),
        ("heap-MB", Series("B", [2e6])),
        ("things/ns", Series("", [2.0])),
        ("%-of-all", Series("", [2.0])),
    ],
)
def test_units_of_ones_own(unit: str, expected: Series) -> None:
    found = parse(lines(f"BenchmarkX 1 5.0 ns/op 2.0 {unit}"), several=False).benchmarks["BenchmarkX"]
    assert found[unit] == expected


@pytest.mark.parametrize("end", ["ok  \texample.com/x\t0.1", "ok  \texam", "PASS", "o"])
def test_a_last_line_that_is_cut_off(end: str) -> None:
    # what the other packages wrote may be missing too
    text = f"pkg: example.com/x\nBenchmarkX \t 1\t 100 ns/op\nPASS\n{end}"
    assert parse(text.encode() + b"\n", several=False).errors == {}
    assert "has no newline at its end" in why(text.encode())


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
