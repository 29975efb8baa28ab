"""Values that are the same in every file, since the tool writes few digits: decided by what the digits may hide."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main

Tool = Callable[[str], str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def libtest(value: str) -> str:
    return f"running 1 test\ntest parse ... bench:  {value} ns/iter (+/- 0)\n"


def go(value: str) -> str:
    return f"goos: linux\npkg: x/y\nBenchmarkParse-8 \t    1000\t      {value} ns/op\nPASS\nok  \tx/y\t1.0s\n"


def go_events(value: str) -> str:
    lines = [line + "\n" for line in go(value).splitlines()]
    return "".join(json.dumps({"Action": "output", "Package": "x/y", "Output": line}) + "\n" for line in lines)


def action(value: str) -> str:
    run = {"commit": {"id": "a"}, "date": 1, "tool": "cargo"}
    run["benches"] = [{"name": "parse", "unit": "ns/iter", "value": float(value)}]
    return json.dumps({"lastUpdate": 1, "repoUrl": "https://example.com", "entries": {"Benchmark": [run]}})


def benchmark_js(value: str) -> str:
    return f"parse x {value} ops/sec ±0.00% (90 runs sampled)\n"


def divan(value: str) -> str:
    return (
        "bench         fastest       │ slowest       │ median        │ mean          │ samples │ iters\n"
        f"╰─ parse      {value} ns   │ {value} ns    │ {value} ns    │ {value} ns    │ 100     │ 100\n"
    )


TOOLS: dict[str, Tool] = {
    "libtest": libtest,
    "go": go,
    "go, twice": lambda value: go(value).replace(
        "BenchmarkParse", f"BenchmarkParse-8 \t 1000\t {value} ns/op\nBenchmarkParse"
    ),
    "go, with something printed": lambda value: go(value).replace("-8 \t", "-8 \thello\n"),
    "go's events": go_events,
    "action": action,
    "divan": divan,
    "criterion": lambda value: f"parse                   time:   [{value} ns {value} ns {value} ns]\n",
}


def run(*argv: str) -> tuple[int, str, dict[str, Any]]:
    """Return the code, the text, and the first finding."""
    out, err = io.StringIO(), io.StringIO()
    code = main([*argv, "--json", "report.json"], out, err)
    assert err.getvalue() == ""
    finding = json.loads(Path("report.json").read_text(encoding="utf-8"))["findings"][0]
    return code, " ".join(out.getvalue().split()), finding


def decided(tool: Tool, base: str, head: str, *argv: str, files: int = 5) -> tuple[int, str, dict[str, Any]]:
    """Decide five files a side, all alike."""
    for side, value in (("b", base), ("h", head)):
        for number in range(files):
            Path(f"{side}{number}").write_text(tool(value), encoding="utf-8")
    return run("decide", "base=b?", "head=h?", *argv)


@pytest.mark.parametrize("name", TOOLS)
def test_a_doubling_of_whole_numbers_is_one(name: str) -> None:
    for base, head in (("12", "24"), ("10", "20")):
        code, text, finding = decided(TOOLS[name], base, head)
        assert (code, finding["verdict"]) == (1, "regression"), text
        # the bounds are in the interval
        assert 1.03 < finding["ratio"]["low"] <= (float(head) - 0.5) / (float(base) + 0.5)
        back, text, finding = decided(TOOLS[name], head, base)
        assert (back, finding["verdict"]) == (0, "improvement"), text


def test_the_digits_tell_how_much_they_hide() -> None:
    said = {
        "regression": [("0.25", "0.50"), ("0.50", "1.00"), ("12.0", "12.6"), ("1e3", "9e3")],
        "inconclusive": [("12", "13"), ("12", "12"), ("1", "2"), ("1e3", "2e3")],
        "unchanged": [("200", "200")],
    }
    for verdict, pairs in said.items():
        for pair in pairs:
            code, text, finding = decided(go, *pair)
            assert (code, finding["verdict"]) == (int(verdict == "regression"), verdict), text


def test_what_rounding_hides_says_so_and_the_way_on_works() -> None:
    code, text, finding = decided(libtest, "12", "13")
    assert code == 0
    assert finding["reason"] == {
        "kind": "rounded",
        "text": "all values are rounded to 1 ns, which alone leaves the change between +0.0% and +17.4%",
        "details": {"step": 1e-9, "unit": "s", "low": 1.0, "high": pytest.approx(13.5 / 11.5)},
    }  # fmt: skip
    assert finding["more_builds"] is None
    assert "do more work for each value, or write more digits" in text
    # more digits
    assert decided(libtest, "12.4", "13.1")[0] == 1
    # more work: a hundred times as much
    assert decided(libtest, "249", "257")[2]["verdict"] in ("regression", "inconclusive")
    assert decided(libtest, "240", "280")[0] == 1
    # more files do not help
    assert decided(libtest, "12", "13", files=9)[2]["reason"]["kind"] == "rounded"


@pytest.mark.parametrize(("base", "head"), [("1,001", "2,002"), ("12.345678", "24.691356")])
def test_more_than_three_digits_that_are_the_same_are_no_measurements(base: str, head: str) -> None:
    """The files are copies of one run, or a clock has coarser ticks than is written."""
    code, text, finding = decided(libtest, base, head)
    assert (code, finding["reason"]["kind"]) == (0, "no-spread")
    assert "make sure that no run is there twice" in text


def test_a_rate_that_is_written_in_whole_numbers() -> None:
    code, text, finding = decided(benchmark_js, "24", "12")
    assert (code, finding["verdict"]) == (1, "regression"), text
    assert decided(benchmark_js, "13", "12")[2]["reason"]["kind"] == "rounded"


def test_nothing_rounds_a_count() -> None:
    def allocations(value: str) -> str:
        return go("12").replace(" ns/op", f" ns/op\t {value} allocs/op")

    metrics = '--set=plan.metrics=["allocs/op"]'
    code, text, finding = decided(allocations, "5", "6", metrics)
    assert (code, finding["verdict"], finding["reason"]["kind"]) == (1, "regression", "exact-exceeds"), text
    for number in range(4):
        Path(f"h{number}").write_text(allocations("7"), encoding="utf-8")
    base = run("decide", "base=b?", "head=h?", metrics)[2]["base"]
    # measured, as one that differs is, and 5 is 5 on base
    assert base["low"] == base["high"] == 5


def test_two_neighbours_lie_near_the_edge_between_them_or_on_both_sides_of_it() -> None:
    """12.45 and 12.55 may be written 12 and 13: a few of the other value do not show where the mean is."""
    decided(libtest, "12", "13")
    Path("b4").write_text(libtest("13"), encoding="utf-8")
    finding = run("decide", "base=b?", "head=h?")[2]
    assert (finding["verdict"], finding["ratio"]["low"] < 1) == ("inconclusive", True)


@pytest.mark.parametrize(("head", "verdict"), [(24, "regression"), (13, "inconclusive")])
def test_lines_of_json_have_the_digits_that_stand_in_them(head: int, verdict: str) -> None:
    lines = [
        {"type": "execution", "benchmark": "parse", "side": side, "build": build, "execution": 0,
         "metrics": {"time": {"unit": "ns", "values": [value] * 3}}}
        for side, value in (("base", 12), ("head", head))
        for build in range(5)
    ]  # fmt: skip
    Path("lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    code, _, finding = run("decide", "lines.jsonl")
    assert (code, finding["verdict"]) == (int(verdict == "regression"), verdict)


def test_compare_shows_the_same_interval() -> None:
    _, text, _ = decided(libtest, "12", "24")
    out = io.StringIO()
    assert main(["compare", "base=b?", "head=h?"], out, io.StringIO()) == 0
    assert "+82.7% to +120%" in text and "+82.7%" in out.getvalue() and "+120%" in out.getvalue()
