"""Output of `go test -bench`: names of both sides, failures, what is decided of it, and what is refused."""

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
from tests.support.foreign import of_text

HEADER = "goos: linux\ngoarch: amd64\npkg: x/y\ncpu: A\n"
END = "PASS\nok  \tx/y\t1.0s\n"


def test_what_is_no_output_of_go() -> None:
    rows = (
        "Benchmark            (size)  Mode  Cnt    Score    Error  Units\n"
        "BenchmarkCopy.copy     1024  avgt    5  195.104 ± 39.240  ns/op\n"
    )
    for text in (rows, "Benchmark 7 compares matching output\n"):
        assert recognised(Source("x", None, text.encode())) is None
    assert recognised(Source("x", None, b"BenchmarkCopy 1 +Inf ns/op\n")) == "go_bench"


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
def test_gomaxprocs_is_what_lets_names_agree(base: list[str], head: list[str], alike: list[list[str]]) -> None:
    sides = named_alike([of_names(*(f"Benchmark{name}" for name in own)) for own in (base, head)])
    assert [[m.benchmark.removeprefix("Benchmark") for m in each.measured] for each in sides] == alike


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
