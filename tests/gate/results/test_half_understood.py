"""Logs that people really have: what was printed into them, cut off or in other units is decided, or said."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.results.reading import Reading, named_alike, read
from gate.results.source import Source

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
    assert "BenchmarkParse is 99.1% slower" in text
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


def test_prose_about_benchmarks_is_no_failure() -> None:
    assert (
        failed(f"Benchmarking is fun\t12\nBenchmark\tns/op\nBenchmarkLoad is slow\nBenchmarkA 1 2 ns/op\n{END}") == []
    )


def test_the_beginning_of_a_unit_is_no_unit() -> None:
    whole = "BenchmarkA-8 \t 1000\t 221.0 ns/op\t 12 hits\n"
    assert failed(whole + "BenchmarkB-8 \t 1000\t 221.0 ns/op\t 1 hit") == [
        ("BenchmarkB", "line 2: the file is cut off within its results")
    ]
    # a last line that is whole but for its newline
    assert failed(whole + "BenchmarkB-8 \t 1000\t 221.0 ns/op\t 1 hits") == []
    assert failed("BenchmarkB-8 \t 1000\t 221.0 ns/op") == []


def test_a_line_that_comes_again_is_said_where_it_cannot_be_read() -> None:
    reading = read_text("BenchmarkA-8 1 2 ns/op\nBenchmarkA-8 1 2\nBEFORE: BenchmarkA-8\t       1\t       7 ns/op\n")
    assert [list(each.metrics["time"].values) for each in reading.measured] == [[2e-9]]
    assert reading.left_out == [
        "line 3: a result of BenchmarkA-8 is left out: something stands before its name",
        "BenchmarkA-8: line 2: its results cannot be read: 'BenchmarkA-8 1 2'",
    ]


def test_a_result_behind_what_another_benchmark_printed_is_read() -> None:
    reading = read_text("BenchmarkA-8 1 2 ns/op\n.....BenchmarkB-8\t       1\t       7 ns/op\n")
    assert [each.benchmark for each in reading.measured] == ["BenchmarkA", "BenchmarkB"]
    assert reading.left_out == ["line 2: a result of BenchmarkB-8 read without what stands before it"]


@pytest.mark.parametrize(
    "stamp",
    ["2026-05-01T12:00:00.1234567Z ", "bench\tgo test\t2026-05-01T12:00:00.1234567Z ", "[2026-05-01 12:00:00,123] "],
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
    for name in ("comment.md", "page.html"):
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert "49.9% slower" in written and "BenchmarkParse (pkg=x/a) failed on head" in written
    junit = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert 'name="time mean [pkg=x/b]"' in junit and 'name="execution on head [pkg=x/a]"' in junit
    code, text = run("compare", "base=b*.txt", "head=h*.txt")
    assert "BenchmarkParse (pkg=x/b)" in text and "+49.9%" in text


def test_without_a_regression_the_failure_is_the_verdict(tmp_path: Path) -> None:
    code, text = decided(tmp_path, packages(2001, fails=False), packages(2001, fails=True))
    assert code == 4 and "BenchmarkParse pkg=x/b" in text


def test_a_package_that_fails_on_both_sides_leaves_the_other(tmp_path: Path) -> None:
    code, text = decided(tmp_path, packages(2001, fails=True), packages(3001, fails=True))
    assert code == 1, text
