"""Result files of other tools compared: the numbers of benchstat, pyperf and critcmp, intervals, and what is claimed."""

import csv
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pyperf  # type: ignore[import-untyped]  # it has no types
import pytest

from tests.support.compared import hyperfine, rows
from tests.support.compared import shown as run
from tests.support.lines import builds as executions
from tests.support.lines import text

DATA = Path(__file__).parents[3] / "data"
FILES = DATA / "compare"
_UNITS = {"sec/op": "time", "B/s": "MB/s", "B/op": "B/op", "allocs/op": "allocs/op"}


def benchstat(name: str) -> dict[tuple[str, str], tuple[float, float]]:
    """The values of both columns as benchstat gave them, by metric and row."""
    found, metric = {}, ""
    for line in csv.reader((FILES / name).read_text().splitlines()):
        if len(line) > 2 and line[1] in _UNITS:
            metric = _UNITS[line[1]]
        elif len(line) > 3 and re.fullmatch(r"[\d.e+-]+", line[1]):
            row = "all" if line[0] == "geomean" else f"Benchmark{re.sub('-2$', '', line[0])}"
            found[metric, row] = (float(line[1]), float(line[3]))
    return found


def both(found: Sequence[dict[str, str]]) -> dict[tuple[str, str], tuple[float, float]]:
    values: dict[tuple[str, str], list[float]] = {}
    for row in found:
        if row["row"] == "benchmark" or row["benchmark"] == "all":
            values.setdefault((row["metric"], row["benchmark"]), []).append(float(row["value"]))
    return {key: (own[0], own[1]) for key, own in values.items()}


def test_medians_and_geometric_means_are_those_of_benchstat() -> None:
    files = str(FILES / "old.txt"), str(FILES / "new.txt")
    expected = benchstat("benchstat.csv")
    found = rows(*files, "--statistic", "median")
    assert len(expected) == 12
    assert {key: value for key, value in both(found).items() if key in expected} == {
        key: pytest.approx(value, rel=1e-12) for key, value in expected.items()
    }
    ratios = {(r["metric"], r["benchmark"]): float(r["ratio"]) for r in found if r["ratio"]}
    for key, (base, head) in expected.items():
        assert ratios[key] == pytest.approx(head / base, rel=1e-12)
    by_format = benchstat("benchstat-by-format.csv")
    found = rows(files[0], "--by", "/format", "--filter", ".unit:sec/op", "--statistic", "median")
    (row,) = by_format.keys() - {("time", "all")}
    assert both(found) == {row: pytest.approx(by_format[row], rel=1e-12)}


def test_means_and_ratios_are_those_of_pyperf() -> None:
    files = [str(FILES / f"pyperf-{name}.json") for name in "ab"]
    suites = [pyperf.BenchmarkSuite.load(file) for file in files]
    found = rows(*files)
    for name in ("sum", "sort"):
        means = [suite.get_benchmark(name).mean() for suite in suites]
        spreads = [suite.get_benchmark(name).stdev() for suite in suites]
        own = [row for row in found if row["benchmark"] == name]
        assert [float(row["value"]) for row in own] == pytest.approx(means, rel=1e-12)
        assert [float(row["sd"]) for row in own] == pytest.approx(spreads, rel=1e-12)
        assert float(own[1]["ratio"]) == pytest.approx(means[1] / means[0], rel=1e-12)


def test_ratios_are_those_of_critcmp() -> None:
    # critcmp 0.1.8 on the same folder: "new/new/10 after 1.00 3.8ns, before 2.60 9.9ns", "sum 1.00 29.0ns, 4.00 115.8ns"
    found = rows(str(DATA / "results" / "criterion" / "baselines"), "--filter", "metric:time", "--base", "after")
    shown = {(r["benchmark"], r["column"]): (float(r["value"]), r["ratio"]) for r in found if r["row"] == "benchmark"}
    assert shown["new/new/10", "after"][0] == pytest.approx(3.8e-9, abs=5e-11)
    assert shown["sum", "before"][0] == pytest.approx(115.8e-9, abs=5e-11)
    assert float(shown["new/new/10", "before"][1]) == pytest.approx(2.60, abs=5e-3)
    assert float(shown["sum", "before"][1]) == pytest.approx(4.00, abs=5e-3)


def drawn(draw: random.Random, mean: float, spread: float = 0.02, values: int = 5) -> list[float]:
    build = mean * draw.gauss(1, spread)
    return [build * draw.gauss(1, spread / 2) for _ in range(values)]


def sides(folder: Path, draw: random.Random, builds: int, cases: int, factor: float = 1.0) -> list[str]:
    folder.mkdir()
    return [
        f"{label}="
        + hyperfine(folder / f"{label}{k}.json", {f"case{c}": drawn(draw, (c + 1) * own) for c in range(cases)})
        for label, own in (("old", 1.0), ("new", factor))
        for k in range(builds)
    ]


def test_the_interval_is_over_files_as_over_the_builds_of_runs(tmp_path: Path) -> None:
    files = sides(tmp_path / "x", random.Random(3), 6, 1, factor=1.05)
    for label in ("old", "new"):
        read = (json.loads((tmp_path / "x" / f"{label}{k}.json").read_text())["results"][0]["times"] for k in range(6))
        (tmp_path / label).write_text(text(executions("head", [[times] for times in read])))
    ends = ("value", "low", "high", "ratio", "ratio_low", "ratio_high")
    for of_files, of_runs in zip(rows(*files), rows(f"old={tmp_path}/old", f"new={tmp_path}/new"), strict=True):
        assert [float(of_files[key] or 0) for key in ends] == pytest.approx(
            [float(of_runs[key] or 0) for key in ends], rel=1e-12
        )


@pytest.mark.nightly
def test_files_of_the_same_code_show_a_change_in_one_of_twenty_rows(tmp_path: Path) -> None:
    draw = random.Random(5)
    shown = [
        row["change"]
        for pair in range(40)
        for row in rows(*sides(tmp_path / str(pair), draw, 5, 10))
        if row["row"] == "benchmark" and row["ratio"]
    ]
    assert len(shown) == 400
    claims = sum(change in ("worse", "better") for change in shown)
    # 20 are expected; beyond 30 with a probability of 1%
    assert claims <= 30


def test_one_file_a_side_never_claims_a_change(tmp_path: Path) -> None:
    files = sides(tmp_path / "x", random.Random(7), 3, 5, factor=2.0)
    for old, new in ((1, 1), (1, 3), (3, 1)):
        kept = [*files[:old], *files[3 : 3 + new]]
        found = [row for row in rows(*kept) if row["ratio"] and row["row"] == "benchmark"]
        assert len(found) == 5
        for row in found:
            assert (row["change"], row["ratio_low"], row["ratio_high"]) == ("no interval", "", "")
            assert float(row["ratio"]) > 1.5
        text = run(*kept)
        assert "~" not in text and "one build" in text
        assert not re.search(r"\*\*[+-]", run(*kept, "--format", "markdown"))
        assert 'class="badge' not in run(*kept, "--format", "html")


def test_aggregates_are_shown_with_the_interval_of_their_tool(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"results": [{"command": "x", "mean": 0.2, "stddev": 0.01, "user": 0.1}]}))
    other = tmp_path / "b.json"
    other.write_text(json.dumps({"results": [{"command": "x", "mean": 0.3, "times": [0.3, 0.3, 0.3]}]}))
    found = {(r["metric"], r["column"]): r for r in rows(str(file), str(other))}
    assert (found["time", "base"]["value"], found["time", "base"]["sd"]) == ("0.2", "0.01")
    # beside values of the other file
    assert float(found["time", "head"]["ratio"]) == pytest.approx(1.5)
    assert found["time", "head"]["change"] == "no interval"
    assert "an aggregate of another tool, without the values behind it" in found["time", "base"]["notes"]
    assert ("user", "head") not in found
    printed = rows(str(DATA / "results" / "criterion" / "twice.txt"), "--filter", "metric:time")
    assert "an aggregate of another tool with its own interval" in printed[0]["notes"]
    assert float(printed[0]["low"]) < float(printed[0]["value"]) < float(printed[0]["high"])
