"""Result files of other tools as people have them: one measurement twice, other machines, figures, few digits, other names."""

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main

BASE = [1001.0, 1002.0, 1003.0, 1004.0, 1005.0]
SLOWER = [value + 500 for value in BASE]
MACHINES = "the ratio also compares these"
SEPARATE = "measured separately: changes of the machine between the runs are part of every ratio"
SAME = "base and head are the same measurements"
DOUBTFUL = "base and head have the same values, so every ratio is 1: are they the same measurements?"
Number = float | str
"""What a tool writes; a text: with these digits."""
Tool = Callable[[Any], str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(command: str, *argv: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main([command, *argv], out, err)
    assert err.getvalue() == ""
    return code, " ".join(out.getvalue().split())


def both(command: str = "decide", *argv: str) -> tuple[int, str]:
    return run(command, "base=b*", "head=h*", *argv)


def sides(base: Sequence[str], head: Sequence[str]) -> None:
    """Write one file for each build of each side."""
    for side, texts in (("b", base), ("h", head)):
        for number, text in enumerate(texts):
            Path(f"{side}{number}").write_text(text, encoding="utf-8")


# --- files as the tools write them ------------------------------------------------------------------------------------


def go(ns: Number, cpu: str = "A", arch: str = "amd64", procs: int = 8, extra: str = "") -> str:
    suffix = f"-{procs}" if procs > 1 else ""
    value = ns if isinstance(ns, str) else f"{ns:g}"
    return (
        f"goos: linux\ngoarch: {arch}\npkg: x/y\ncpu: {cpu}\n"
        f"BenchmarkParse{suffix} \t    1000\t      {value} ns/op{extra}\nPASS\nok  \tx/y\t1.0s\n"
    )


def events(ns: Number) -> str:
    lines = [{"Action": "output", "Package": "x/y", "Output": f"{line}\n"} for line in go(ns).splitlines()]
    return "\n".join(map(json.dumps, lines))


def libtest(ns: Number) -> str:
    value = ns if isinstance(ns, str) else f"{ns:,.0f}"
    return f"running 1 test\ntest parse ... bench: {value:>11} ns/iter (+/- 14)\n"


def benchmark_js(per_second: Number) -> str:
    value = per_second if isinstance(per_second, str) else f"{per_second:,.0f}"
    return f"parse x {value} ops/sec ±0.50% (90 runs sampled)\n"


def pyperf(values: Sequence[float], **metadata: Any) -> str:
    runs = [{"values": [value], "metadata": {"date": "2026-11-01 10:00:00"}} for value in values]
    own = {"name": "b", "unit": "second", "loops": 1} | metadata
    return json.dumps({"version": "1.0", "benchmarks": [{"runs": runs, "metadata": own}]})


def google(ns: Sequence[float], **context: Any) -> str:
    rows = [
        {"name": "BM_x", "run_type": "iteration", "iterations": 10, "real_time": t, "cpu_time": t, "time_unit": "ns"}
        for t in ns
    ]
    return json.dumps({"context": {"date": "2026-11-01T10:00:00+00:00", "num_cpus": 2} | context, "benchmarks": rows})


# --- files that are named twice ----------------------------------------------------------------


def refused(*files: str) -> str:
    err = io.StringIO()
    assert main(["decide", *files], io.StringIO(), err) == 2
    return err.getvalue()


def test_a_file_that_is_named_twice_is_no_second_build() -> None:
    sides([*map(go, BASE)], [*map(go, SLOWER)])
    for files, said in (
        (("base=*", "head=h*"), "h0: is named for base and for head"),
        (("base=b0", "base=b*", "head=h*"), "b0: is named twice"),
        (("base=b*", "head=h*", "head=./h1"), "h1: is named twice"),
    ):
        assert f"{said}: each file is a build of its own, of one side; does a glob match too much?" in refused(*files)


# --- the same measurements on both sides ------------------------------------------------------------------------------

COPIES: list[tuple[list[str], list[str]]] = [
    *(
        (texts, [texts[place] for place in (3, 0, 4, 1, 2)])
        for texts in (
            [*map(go, BASE)],
            [pyperf([value * 1e-6, value * 1.01e-6]) for value in BASE],
            [google([value]) for value in BASE],
            [go(value, extra="\t  3 allocs/op") for value in BASE],
        )
    ),
    # a file of many values and its copy, one file under ten names, two formats of one run
    ([pyperf([value * 1e-6 for value in BASE])], [pyperf([value * 1e-6 for value in reversed(BASE)])]),
    ([pyperf([value * 1e-6 for value in BASE])] * 5, [pyperf([value * 1e-6 for value in BASE])] * 5),
    ([*map(go, BASE)], [*map(events, BASE)]),
]


@pytest.mark.parametrize(("base", "head"), COPIES)
def test_copies_under_other_names_are_an_error_in_whatever_order(base: list[str], head: list[str]) -> None:
    sides(base, head)
    code, out = both()
    assert (code, SAME in out, "next Name the results of different runs" in out) == (4, True, True), out
    code, out = both("compare")
    assert (code, f"nothing to compare: {SAME}" in out) == (4, True), out


def test_few_different_values_may_come_of_a_coarse_timer_and_counts_may_be_equal() -> None:
    ticks = [1000.0, 2000.0, 1000.0, 2000.0, 1000.0]
    sides([go(value) for value in ticks], [go(value) for value in sorted(ticks)])
    for command in ("decide", "compare"):
        code, out = both(command)
        assert (code, SAME in out, DOUBTFUL in out) == (0, False, True), out
    counts = "\t  64 B/op\t  3 allocs/op"
    for base, head in (
        ([go(v, extra=counts) for v in BASE], [go(v + 1, extra=counts) for v in BASE]),
        # one value that differs is another measurement, and so are those of another machine
        ([go(value) for value in BASE], [go(value) for value in (*BASE[:4], 1006)]),
        ([go(v, procs=8) for v in BASE], [go(v, procs=4) for v in BASE]),
    ):
        sides(base, head)
        code, out = both()
        assert (code, "the same" in out) == (0, False), out


@pytest.mark.parametrize(
    ("base", "head", "code"),
    [
        ("\t  0 allocs/op", "\t  1 allocs/op", 1),
        ("\t  1 allocs/op", "\t  0 allocs/op", 0),
        ("\nBenchmarkOther-8 \t 100\t 20 ns/op", "\nBenchmarkOther-8 \t 100\t 40 ns/op", 1),
        ("", "\nBenchmarkNew-8 \t 100\t 20 ns/op", 0),
        ("\nBenchmarkOld-8 \t 100\t 20 ns/op", "", 4),
        ("\nBenchmarkOther-8 \t 100\t 20 ns/op", "\n--- FAIL: BenchmarkOther-8", 4),
    ],
)
def test_sides_that_differ_in_anything_are_two_measurements(base: str, head: str, code: int) -> None:
    sides([go(v, extra=base) for v in BASE], [go(v, extra=head) for v in BASE])
    found, out = both()
    assert (found, "the same" in out, "regression" in out) == (code, False, code == 1), out


# --- machines ---------------------------------------------------------------------------------------------------------


def test_everything_that_a_go_log_knows_of_its_machine() -> None:
    sides([go(v, "Intel Xeon 8171M") for v in BASE], [go(v, "AMD EPYC 7763", "arm64", 16) for v in SLOWER])
    said = (
        "base and head differ in cpu (Intel Xeon 8171M, AMD EPYC 7763), architecture (amd64, arm64), GOMAXPROCS "
        f"(8, 16): {MACHINES}"
    )
    for command, expected in (("decide", 1), ("compare", 0)):
        code, out = both(command)
        assert (code, said in out, SEPARATE in out) == (expected, True, True), out
    assert "base and head differ in GOMAXPROCS (8, 16):" in both("compare", "--ignore", "cpu,goarch")[1]
    sides([go(v, procs=1) for v in BASE], [go(v, procs=4) for v in SLOWER])
    assert f"base and head differ in GOMAXPROCS (1, 4): {MACHINES}" in both()[1]


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        (
            partial(pyperf, python_version="3.11.7 (64-bit)"),
            partial(pyperf, python_version="3.12.1 (64-bit)"),
            "Python version (3.11.7 (64-bit), 3.12.1 (64-bit))",
        ),
        (
            partial(google, library_build_type="release"),
            partial(google, library_build_type="debug"),
            "build type (release, debug)",
        ),
        (partial(google, num_cpus=4), partial(google, num_cpus=8), "processors (4, 8)"),
        (google, partial(google, date="2027-03-01T10:00:00"), "date (2026-11-01, 2027-03-01)"),
        (partial(google, compiler="gcc 12"), partial(google, compiler="gcc 13"), "compiler (gcc 12, gcc 13)"),
    ],
)
def test_what_other_files_know(base: Callable[..., str], head: Callable[..., str], said: str) -> None:
    sides([base([v]) for v in BASE], [head([v]) for v in SLOWER])
    for command in ("decide", "compare"):
        assert f"base and head differ in {said}: {MACHINES}" in both(command)[1]


# --- figures instead of samples ---------------------------------------------------------------------------------------


def pytest_benchmark(ns: float) -> str:
    stats = {"min": ns - 5, "max": ns + 5, "mean": ns, "median": ns, "stddev": 1.0, "rounds": 9}
    found = {key: value * 1e-9 if key != "rounds" else value for key, value in stats.items()}
    return json.dumps(
        {"machine_info": {}, "benchmarks": [{"fullname": "t.py::t", "name": "t", "stats": found}], "version": "5"}
    )


def hyperfine_csv(ns: float) -> str:
    cells = [f"{value * 1e-3:g}" for value in (ns, ns / 99, ns, ns / 2, ns / 3, ns * 0.99, ns * 1.01)]
    return f"command,mean,stddev,median,user,system,min,max\np,{','.join(cells)}\n"


FIGURES = [libtest, pytest_benchmark, lambda ns: benchmark_js(1e9 / ns), hyperfine_csv]


@pytest.mark.parametrize("tool", FIGURES)
def test_one_figure_in_each_of_five_builds_decides(tool: Callable[[float], str]) -> None:
    sides(list(map(tool, BASE)), list(map(tool, SLOWER)))
    code, out = both()
    assert (code, "✖ regression" in out) == (1, True), out
    assert "that the tool gives for a build, not one measured" in out
    code, out = both("compare")
    assert (code, "95% interval" in out) == (0, True)
    code, out = run("decide", "base=b0", "head=h0")
    assert code == 4
    assert "nothing was decided: the files hold" in out
    assert "next Build and measure base and head 5 times each, in turns, and name all files" in out


def test_figures_without_a_change_pass_and_three_builds_are_too_few() -> None:
    sides(list(map(libtest, BASE)), [libtest(v + 1) for v in BASE])
    assert both()[0] == 0
    sides(list(map(libtest, BASE)), list(map(libtest, SLOWER)))
    code, out = run("decide", "base=b[0-2]", "head=h[0-2]")
    assert (code, "undecided" in out, "5 builds" in out or "5 times" in out) == (0, True, True), out


def test_figures_that_were_imported_decide_too_and_only_once() -> None:
    sides(list(map(libtest, BASE)), list(map(libtest, SLOWER)))
    assert main(["import", "base=b*", "head=h*", "--out", "m.jsonl"], io.StringIO(), io.StringIO()) == 0
    code, out = run("decide", "m.jsonl")
    assert (code, "✖ regression" in out) == (1, True), out
    Path("again.jsonl").write_bytes(Path("m.jsonl").read_bytes())
    assert "m.jsonl:2 and again.jsonl:2: the same start twice (parse, time, base, build 0" in refused(
        "m.jsonl", "again.jsonl"
    )


def test_what_is_no_centre_stays_recorded() -> None:
    def only(ns: float) -> str:
        own = {"name": "p", "min": ns * 1e-6, "p99": ns * 2e-6, "mean": None}
        return json.dumps({"files": [{"filepath": "/a", "groups": [{"fullName": "a", "benchmarks": [own]}]}]})

    sides(list(map(only, BASE)), list(map(only, SLOWER)))
    code, out = both()
    assert (code, "nothing was compared" in out) == (4, True), out


def hyperfine(command: str, times: Sequence[float], **more: Any) -> str:
    return json.dumps({"results": [{"command": command, "mean": 9.0, "times": [*times], **more}]})


def test_samples_win_over_figures_and_a_mean_goes_with_samples() -> None:
    def export(ns: float) -> str:
        times = [ns * 1e-6 * share for share in (0.99, 1.0, 1.01, 1.002, 0.998)]
        return hyperfine("p", times, median=9.0, user=0.1, exit_codes=[0] * 5)

    sides(list(map(export, BASE)), list(map(export, SLOWER)))
    code, out = both()
    assert (code, "✖ regression" in out, "figure" in out) == (1, True, False), out
    sides(list(map(export, BASE)), [hyperfine_csv(v * 1e-3) for v in SLOWER])
    code, out = both()
    assert (code, "p is 49.9% slower" in out) == (1, True), out


# --- values that are the same in every file, since the tool writes few digits: decided by what these may hide -----------


def action(value: str) -> str:
    run = {"commit": {"id": "a"}, "date": 1, "tool": "cargo"}
    run["benches"] = [{"name": "parse", "unit": "ns/iter", "value": float(value)}]
    return json.dumps({"lastUpdate": 1, "repoUrl": "https://example.com", "entries": {"Benchmark": [run]}})


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
    "go's events": events,
    "action": action,
    "divan": divan,
    "criterion": lambda value: f"parse                   time:   [{value} ns {value} ns {value} ns]\n",
}


def found(*argv: str) -> tuple[int, str, dict[str, Any]]:
    """Return the code, the text, and the first finding."""
    code, text = run(*argv, "--json", "report.json")
    return code, text, json.loads(Path("report.json").read_text(encoding="utf-8"))["findings"][0]


def decided(tool: Tool, base: str, head: str, *argv: str, files: int = 5) -> tuple[int, str, dict[str, Any]]:
    """Decide five files a side, all alike."""
    sides([tool(base)] * files, [tool(head)] * files)
    return found("decide", "base=b?", "head=h?", *argv)


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
    base = found("decide", "base=b?", "head=h?", metrics)[2]["base"]
    # measured, as one that differs is, and 5 is 5 on base
    assert base["low"] == base["high"] == 5


def test_two_neighbours_lie_near_the_edge_between_them_or_on_both_sides_of_it() -> None:
    """12.45 and 12.55 may be written 12 and 13: a few of the other value do not show where the mean is."""
    decided(libtest, "12", "13")
    Path("b4").write_text(libtest("13"), encoding="utf-8")
    finding = found("decide", "base=b?", "head=h?")[2]
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
    code, _, finding = found("decide", "lines.jsonl")
    assert (code, finding["verdict"]) == (int(verdict == "regression"), verdict)


def test_compare_shows_the_same_interval() -> None:
    _, text, _ = decided(libtest, "12", "24")
    _, compared = run("compare", "base=b?", "head=h?")
    assert "+82.7% to +120%" in text and "+82.7%" in compared and "+120%" in compared


# --- other names ------------------------------------------------------------------------------------------------------


def test_one_benchmark_a_side_under_another_name() -> None:
    own = [[ns, ns + 0.1, ns + 0.2] for ns in (*BASE, *SLOWER)]
    sides(
        [hyperfine("./base/app run", each) for each in own[:5]], [hyperfine("./pr/app run", each) for each in own[5:]]
    )
    for more in ((), ("--set", "gate.missing=pass")):
        code, out = both("decide", *more)
        assert code == 4
        assert "nothing was compared: base has only ./base/app run, and head only ./pr/app run" in out
        assert "next Measure both sides under one name (`hyperfine -n NAME COMMAND`)" in out
        assert "gate.missing" not in out


def test_no_name_in_common() -> None:
    sides([go(v) for v in BASE], [go(v).replace("Parse", "Read") for v in SLOWER])
    code, out = both()
    assert (code, "next Give a benchmark the same name on both sides" in out) == (4, True)
    # another metric is no other name
    sides([go(v) for v in BASE], [go(v).replace("ns/op", "widgets") for v in SLOWER])
    code, out = both()
    assert (code, "nothing was compared: base has only" in out) == (4, False), out
