"""Which columns there are: files of a label together, globs, folders, commits, measurings of one file, keys."""

import io
import json
import random
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.compared import compare as run
from tests.support.compared import rows, shown

DATA = Path(__file__).parents[3] / "data"


def unbroken(text: str) -> str:
    """Take away where lines are broken, which may be within a long path."""
    return "".join(text.split())


def titles(*argv: str) -> list[str]:
    return [line.split()[0] for line in shown(*argv, "--list").splitlines()]


def cells(*argv: str) -> dict[tuple[str, str], float]:
    return {(r["benchmark"], r["column"]): float(r["value"]) for r in rows(*argv) if r["row"] == "benchmark"}


def go(path: Path, values: Mapping[str, Sequence[float]], **labels: str) -> str:
    """Write a file of Go's benchmarks, in ns/op."""
    lines = [f"{key}: {value}\n" for key, value in labels.items()]
    lines += [f"Benchmark{name} \t 100\t {value} ns/op\n" for name, own in values.items() for value in own]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def test_files_of_one_label_are_builds_of_one_column(tmp_path: Path) -> None:
    draw = random.Random(1)
    files = [
        f"{label}={go(tmp_path / f'{label}{k}.txt', {'A': [100 + 5 * draw.random() for _ in range(3)]})}"
        for label in ("old", "new")
        for k in range(3)
    ]
    found = rows(*files)
    assert [(r["column"], r["builds"], r["executions"], r["values"]) for r in found] == [
        ("old", "3", "3", "9"), ("new", "3", "3", "9"),
    ]  # fmt: skip
    assert found[1]["change"] in ("worse", "better", "not shown")
    # a glob behind a label is the same
    assert rows(f"old={tmp_path}/old*.txt", f"new={tmp_path}/new*.txt") == found
    # without labels each file is a column, as of benchstat, and a folder gives all that are in it
    assert titles(f"{tmp_path}/*.txt") == titles(str(tmp_path)) == ["new0", "new1", "new2", "old0", "old1", "old2"]


def test_the_base_is_the_first_column_or_the_one_that_is_named(tmp_path: Path) -> None:
    files = [f"{name}={go(tmp_path / name, {'A': [value]})}" for name, value in (("a", 10), ("b", 20), ("c", 40))]
    ratios = {r["column"]: (r["base"], r["ratio"]) for r in rows(*files)}
    assert ratios == {"a": ("", ""), "b": ("a", "2.0"), "c": ("a", "4.0")}
    ratios = {r["column"]: (r["base"], r["ratio"]) for r in rows(*files, "--base", "c")}
    assert ratios == {"a": ("c", "0.25"), "b": ("c", "0.5"), "c": ("", "")}
    assert run(*files, "--base", "d")[::2] == (2, "perfgate: --base d: no column has this label; there are a, b, c\n")
    # of two that it may name none is taken in silence
    twice = [f"x={tmp_path}/a", f"xy={tmp_path}/b"]
    assert run(*twice, "--base", "xyz")[::2] == (2, "perfgate: --base xyz: no column has this label; there are x, xy\n")


def test_a_commit_is_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    go(tmp_path / "bench.txt", {"A": [10.0]})
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    go(tmp_path / "bench.txt", {"A": [30.0]})
    assert cells("git:HEAD:bench.txt", "bench.txt") == {
        ("BenchmarkA", "base"): pytest.approx(1e-8), ("BenchmarkA", "head"): pytest.approx(3e-8),
    }  # fmt: skip
    assert cells("old=git:HEAD", "new=bench.txt").keys() == {("BenchmarkA", "old"), ("BenchmarkA", "new")}


def test_standard_input_is_a_result_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = go(tmp_path / "a", {"A": [10.0]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(file).read_bytes())))
    assert len(cells("old=-", f"new={file}")) == 2


def test_a_single_file_is_one_column_without_changes(tmp_path: Path) -> None:
    file = go(tmp_path / "bench.txt", {"A": [10.0, 11.0], "B": [20.0, 22.0]})
    assert [(r["benchmark"], r["column"], r["ratio"]) for r in rows(file)][:2] == [
        ("BenchmarkA", "bench", ""), ("BenchmarkB", "bench", ""),
    ]  # fmt: skip
    assert "change" not in shown(file)


def data_js(path: Path, commits: int) -> str:
    entries = [
        {
            "commit": {"id": f"{k:08x}{0:032x}", "message": "", "timestamp": "", "url": ""}, "date": 1000 * k, "tool": "customSmallerIsBetter",
            "benches": [{"name": "A", "value": 10 + k, "unit": "ms"}],
        }
        for k in range(commits)
    ]  # fmt: skip
    document = {"lastUpdate": 1, "repoUrl": "", "entries": {"Suite": entries}}
    path.write_text(f"window.BENCHMARK_DATA = {json.dumps(document)}", encoding="utf-8")
    return str(path)


def test_of_the_commits_of_one_file_the_last_few_are_columns(tmp_path: Path) -> None:
    file = data_js(tmp_path / "data.js", 8)
    assert titles(file) == [f"{k:08x}" for k in range(3, 8)]
    assert [float(r["value"]) for r in rows(file)] == pytest.approx([0.013, 0.014, 0.015, 0.016, 0.017])
    assert unbroken(f"the last 5 of 8 commits in {file}; `--by commit` shows all") in unbroken(shown(file))
    assert len(titles(file, "--by", "commit")) == 8
    two = f"commit:({1:08x} OR {2:08x})"
    assert [float(r["value"]) for r in rows(file, "--by", "commit", "--filter", two)] == pytest.approx([0.011, 0.012])
    # beside another file it is its newest
    assert [float(r["value"]) for r in rows(file, data_js(tmp_path / "b.js", 3))] == pytest.approx([0.017, 0.012])


def test_keys_make_columns_and_rows(tmp_path: Path) -> None:
    names = {f"Encode/format={f}/n={n}": [float(n * k)] for k, f in enumerate(("json", "gob"), 1) for n in (10, 20)}
    file = go(tmp_path / "a.txt", names, goos="linux")
    other = go(tmp_path / "b.txt", names, goos="darwin")
    assert cells(file, "--by", "/format") == {
        ("BenchmarkEncode/n=10", "json"): pytest.approx(10e-9), ("BenchmarkEncode/n=10", "gob"): pytest.approx(20e-9),
        ("BenchmarkEncode/n=20", "json"): pytest.approx(20e-9), ("BenchmarkEncode/n=20", "gob"): pytest.approx(40e-9),
    }  # fmt: skip
    assert titles(file, other, "--by", "goos,/format") == ["linux", "linux", "darwin", "darwin"]
    assert cells(file, "--by", "/n", "--rows", "/format").keys() == {
        ("format=json", "10"), ("format=json", "20"), ("format=gob", "10"), ("format=gob", "20"),
    }  # fmt: skip
    # as critcmp's --group: what the expression matches makes the column, the rest the row
    assert cells(file, "--by", "benchmark~format=(\\w+)", "--filter", "/n:10").keys() == {
        ("BenchmarkEncode/format=/n=10", "json"), ("BenchmarkEncode/format=/n=10", "gob"),
    }  # fmt: skip
    code, _, err = run(file, "--by", "goarch")
    assert code == 2
    assert (
        "--by goarch: no value has this key; there are benchmark, name, file, label, side, metric, unit, /format, /n"
        in err
    )


def test_what_is_mixed_and_what_differs_is_told(tmp_path: Path) -> None:
    a = go(tmp_path / "a.txt", {"A/n=1": [10.0], "A/n=2": [20.0]}, goos="linux")
    b = go(tmp_path / "b.txt", {"A/n=1": [10.0], "A/n=2": [20.0]}, goos="darwin")
    assert "! base and head differ in system (linux, darwin): the ratio also compares these\n" in shown(a, b)
    assert "differ in" not in shown(a, b, "--ignore", "goos")
    # of what is no fact of a machine too
    on = go(tmp_path / "on.txt", {"A/n=1": [10.0], "A/n=2": [20.0]}, experiment="on")
    off = go(tmp_path / "off.txt", {"A/n=1": [10.0], "A/n=2": [20.0]}, experiment="off")
    assert "\nthe columns differ in experiment (on, off)\n" in shown(on, off)
    assert "differ in" not in shown(on, off, "--by", "experiment") + shown(on, on)
    assert "values vary in goos in every row\n" in shown(f"x={a}", f"x={b}", f"y={a}")
    some = go(tmp_path / "some.txt", {"A/n=1": [10.0]}, goos="darwin")
    assert re.search(
        r"BenchmarkA/n=1 (.) .*\nBenchmarkA/n=2  .*\n(.*\n)*\1 values vary in goos\n",
        shown(f"x={a}", f"x={some}", f"y={a}"),
    )
    assert "vary" not in shown(f"x={a}", f"x={b}", f"y={a}", "--ignore", "goos")
    assert "values vary in /n\n" in shown(a, b, "--rows", ".name")


def test_a_filter_that_matches_nothing_says_so(tmp_path: Path) -> None:
    a = go(tmp_path / "a.txt", {"A": [10.0]}, goos="linux")
    assert run(a, "--filter", "goos:plan9")[::2] == (2, "perfgate: --filter goos:plan9: matches none of the values\n")
    assert run(a, "--filter", "goarch:arm64")[0] == 2
    assert cells(a, "--filter", "goos:linux .unit:sec/op").keys() == {("BenchmarkA", "a")}


def test_rows_are_in_the_order_of_the_file_or_as_asked(tmp_path: Path) -> None:
    a = go(tmp_path / "a", {"C": [10.0], "A10": [30.0], "A9": [20.0]})
    b = go(tmp_path / "b", {"A9": [60.0], "C": [11.0], "A10": [29.9], "D": [1.0]})

    def order(*argv: str) -> list[str]:
        return list(dict.fromkeys(r["benchmark"] for r in rows(a, b, *argv) if r["row"] == "benchmark"))

    assert order() == ["BenchmarkC", "BenchmarkA10", "BenchmarkA9", "BenchmarkD"]
    assert order("--sort", "name") == ["BenchmarkA9", "BenchmarkA10", "BenchmarkC", "BenchmarkD"]
    assert order("--sort", "value") == ["BenchmarkD", "BenchmarkC", "BenchmarkA9", "BenchmarkA10"]
    assert order("--sort", "change") == ["BenchmarkA9", "BenchmarkC", "BenchmarkA10", "BenchmarkD"]
    assert order("--min-change", "5%") == ["BenchmarkC", "BenchmarkA9", "BenchmarkD"]
    assert "1 row changed less than --min-change and is hidden\n" in shown(a, b, "--min-change", "5%")


def test_statistics_are_those_that_are_asked_for(tmp_path: Path) -> None:
    a = go(tmp_path / "a", {"A": [10.0, 20.0, 60.0]})
    found = {r["statistic"]: float(r["value"]) for r in rows(a, "--statistic", "mean,median,min,max,p90")}
    assert found == pytest.approx({"mean": 30e-9, "p50": 20e-9, "min": 10e-9, "max": 60e-9, "p90": 60e-9})
    code, _, err = run(a, "--statistic", "mode")
    assert code == 2
    assert "'mode' is not mean, median, min, max or a quantile such as p99" in err


def test_runs_of_perfgate_take_part_and_several_are_sessions(tmp_path: Path) -> None:
    files = []
    for k in range(4):
        values = [[100e-9 * (1 + 0.01 * ((7 * k + 3 * b) % 5))] * 2 for b in range(3)]
        lines = [
            {"type": "execution", "benchmark": "BenchmarkA", "side": "head", "build": b, "execution": 0,
             "metrics": {"time": {"unit": "s", "values": own}}}
            for b, own in enumerate(values)
        ]  # fmt: skip
        file = tmp_path / f"{k}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        files.append(f"{'old' if k < 2 else 'new'}={file}")
    assert [(r["column"], r["builds"]) for r in rows(*files)] == [("old", "6"), ("new", "6")]
    code, _, err = run(*files, f"old={go(tmp_path / 'a.txt', {'A': [1.0]})}")
    assert code == 2
    assert "runs of perfgate and files of other tools cannot be one column" in err
    # beside them they can
    assert titles(*files, go(tmp_path / "a.txt", {"A": [1.0]})) == ["old", "new", "a"]


def test_files_can_be_processes_of_one_build_or_sessions(tmp_path: Path) -> None:
    files = [
        f"{label}={go(tmp_path / f'{label}{k}.txt', {'A': [10.0 + k, 11.0 + k]})}"
        for label in ("old", "new")
        for k in range(3)
    ]
    found = rows(*files, "--each", "execution")
    assert [(r["builds"], r["executions"], r["change"]) for r in found] == [("1", "3", ""), ("1", "3", "no interval")]
    found = rows(*files, "--each", "session")
    assert [(r["builds"], r["change"]) for r in found] == [("3", ""), ("3", "not shown")]


def test_a_page_never_replaces_a_file_that_is_compared(tmp_path: Path) -> None:
    file = go(tmp_path / "a.txt", {"A": [10.0]})
    before = Path(file).read_bytes()
    code, out, err = run(f"old={file}", "--html", file)
    assert (code, out) == (2, "")
    assert "is read as an input" in err
    assert Path(file).read_bytes() == before
    assert "old  " in shown(f"old={file}", "--html", str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_settings_and_sides_of_a_run_make_columns(tmp_path: Path) -> None:
    lines = [
        {"type": "execution", "benchmark": "req", "side": side, "build": build, "execution": 0, "factors": {"load": load},
         "metrics": {"time": {"unit": "s", "values": [mean * (1 + 0.01 * ((3 * build) % 4))]}}}
        for side, load, mean in (("base", "idle", 1.0), ("base", "busy", 2.0), ("head", "idle", 4.0), ("head", "busy", 8.0))
        for build in range(4)
    ]  # fmt: skip
    file = tmp_path / "run.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def ratios(*argv: str) -> dict[str, float]:
        found = [r for r in rows(str(file), *argv) if r["row"] == "benchmark"]
        return {r["column"]: float(r["ratio"] or 1) for r in found}

    # base and head of a run are never one column
    assert ratios("--by", "load") == pytest.approx({"idle": 1, "busy": 2})
    assert unbroken(f"only head of {file} is shown") in unbroken(shown(str(file), "--by", "load"))
    assert ratios("--by", "load", "--filter", "side:base") == pytest.approx({"idle": 1, "busy": 2})
    assert ratios("--by", "side,load") == pytest.approx(
        {"base idle": 1, "base busy": 2, "head idle": 4, "head busy": 8}
    )
    assert ratios("--by", "side", "--filter", "load:idle") == pytest.approx({"base": 1, "head": 4})
    assert titles(str(file), "--filter", "side:base") == ["base"]


def test_a_group_that_no_row_has_is_an_error(tmp_path: Path) -> None:
    a = tmp_path / "a.txt"
    a.write_text("BenchmarkA 1 10 ns/op\nBenchmarkB 1 10 ns/op\n")
    assert run(str(a), "--group", "nope")[2].startswith("perfgate: --group nope: no value has this key")
