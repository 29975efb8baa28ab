"""perfgate compare, in process: numbers against independent code, whose side plays what, what is said beside the table."""

import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.cli.main import main
from tests.support import lines, runs
from tests.support.compared import Terminal, rows_of
from tests.support.compared import compare as run

GOLDEN = Path(__file__).parents[3] / "golden" / "compare"
HOST = {"hostname": "vm", "fingerprint": "f" * 64, "kernel": "6.1", "boot_id": "b1"}
APART = "! measured separately: "
Line = dict[str, Any]


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def in_terminal(*argv: str) -> str:
    """What a terminal without colour shows."""
    out = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        main(["compare", *argv], out, io.StringIO())
    return out.getvalue()


def table(*argv: str) -> list[dict[str, str]]:
    code, out, err = run(*argv, "--format", "csv")
    assert (code, err) == (0, "")
    return rows_of(out)


def run_line(name: str, **changes: Any) -> Line:
    commits = {"base": {"ref": "main", "sha": "1a" * 20}, "head": {"ref": name, "sha": "9f" * 20}}
    return {"type": "run", "id": name, "created": "2026-11-20T09:00:00Z", "host": HOST, **commits, **changes}


def drawn(seed: int, mean: float, builds: int = 5, spread: float = 0.01) -> list[list[list[float]]]:
    rng = np.random.default_rng(seed)
    return [[(mean * b * rng.normal(1, spread, 3)).tolist() for _ in range(2)] for b in rng.normal(1, spread, builds)]


def write(file: Path, *found: Line) -> str:
    file.write_text(lines.text(found), encoding="utf-8")
    return str(file)


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """Two runs with both sides: in the second everything of head takes 10% more, but for one case."""
    files = []
    for number, (name, factor) in enumerate((("monday", 1.0), ("friday", 1.1))):
        found = [run_line(name, host=HOST | {"boot_id": "b1"})]
        for k, (benchmark, mean, own) in enumerate(
            (("parse", 0.1, factor), ("encode", 0.02, 1.0), ("sort", 0.4, factor))
        ):
            for side in ("base", "head"):
                seed = 100 * number + 10 * k + len(side) * (side == "base")
                found += lines.builds(side, drawn(seed, mean * (own if side == "head" else 1)), benchmark=benchmark)
        files.append(write(tmp_path / f"{name}.jsonl", *found))
    return files[0], files[1]


# --- numbers ----------------------------------------------------------------------------------------------------------


def build_means(nested: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    return [sum(sum(e) for e in build) / sum(len(e) for e in build) for build in nested]


def fieller(base: Sequence[float], head: Sequence[float], alpha: float = 0.05) -> tuple[float, float, float]:
    """Ratio and its set, by looking for the ends: |y - theta x| = t se(theta), Satterthwaite's degrees at y/x."""
    x, y = sum(base) / len(base), sum(head) / len(head)
    vx, vy = float(stats.sem(base)) ** 2, float(stats.sem(head)) ** 2
    wx = (y / x) ** 2 * vx
    df = (wx + vy) ** 2 / (wx**2 / (len(base) - 1) + vy**2 / (len(head) - 1))
    t = float(stats.t.ppf(1 - alpha / 2, df))

    def outside(theta: float) -> bool:
        return bool(abs(y - theta * x) > t * math.sqrt(vy + theta**2 * vx))

    ends = []
    for far in (0.5, 2.0):
        near, away = y / x, far * y / x
        for _ in range(100):
            middle = (near + away) / 2
            near, away = (near, middle) if outside(middle) else (middle, away)
        ends.append(near)
    return y / x, ends[0], ends[1]


def test_ratio_and_interval_are_those_of_independent_code(tmp_path: Path) -> None:
    base, head = drawn(1, 0.1, builds=6), drawn(2, 0.105, builds=4, spread=0.03)
    a = write(tmp_path / "a.jsonl", *lines.builds("head", base))
    b = write(tmp_path / "b.jsonl", *lines.builds("base", head))
    (row,) = table(a, b)
    assert [float(row[key]) for key in ("ratio", "ratio_low", "ratio_high")] == pytest.approx(
        fieller(build_means(base), build_means(head)), rel=1e-9
    )
    for side, nested in (("base", base), ("head", head)):
        means = build_means(nested)
        half = stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
        wanted = [np.mean(means), np.mean(means) - half, np.mean(means) + half]
        assert [float(row[side + end]) for end in ("", "_low", "_high")] == pytest.approx(wanted, rel=1e-9)
        assert int(row[f"{side}_builds"]) == len(nested)


def test_the_geometric_mean_is_that_of_the_ratios_with_the_builds_as_units(two: tuple[str, str]) -> None:
    *rows, overall = table(*two)
    assert (overall["row"], overall["benchmark"]) == ("geomean", "all")
    # over builds: the mean of the logarithms of the build means is a mean of all cases, and Welch's test is on those
    logs: list[list[float]] = []
    for number, factor in enumerate((1.0, 1.1)):
        means = [
            build_means(drawn(100 * number + 10 * k, mean * own))
            for k, (mean, own) in enumerate(((0.1, factor), (0.02, 1.0), (0.4, factor)))
        ]
        logs.append(np.log(means).mean(axis=0).tolist())
    wanted = stats.ttest_ind(logs[1], logs[0], equal_var=False)
    interval = wanted.confidence_interval(0.95)
    found = [float(overall[key]) for key in ("ratio", "ratio_low", "ratio_high")]
    difference = np.mean(logs[1]) - np.mean(logs[0])
    assert np.log(found) == pytest.approx([difference, interval.low, interval.high], rel=1e-9)
    # and it is the geometric mean of the rows, but for the curvature of a logarithm over builds
    ratios = [float(row["ratio"]) for row in rows]
    assert found[0] == pytest.approx(math.exp(np.mean(np.log(ratios))), rel=1e-3)


def test_without_spread_the_geometric_mean_is_exactly_that_of_the_ratios(tmp_path: Path) -> None:
    files = []
    for name, factors in (("a", (1.0, 1.0, 1.0)), ("b", (1.1, 0.7, 1.3))):
        found = [
            line
            for k, factor in enumerate(factors)
            for line in lines.builds("head", [[[factor * (k + 1)]]] * 3, benchmark=f"case{k}")
        ]
        files.append(write(tmp_path / name, *found))
    *rows, overall = table(*files)
    assert float(overall["ratio"]) == pytest.approx(
        math.exp(sum(math.log(float(r["ratio"])) for r in rows) / 3), rel=1e-12
    )


def test_a_change_is_shown_exactly_where_the_interval_excludes_1(tmp_path: Path) -> None:
    a, b = [], []
    for k in range(60):
        metric = {"benchmark": f"case{k}", "better": "higher" if k % 2 else "lower"}
        a += lines.builds("head", drawn(2 * k, 1.0), **metric)
        b += lines.builds("head", drawn(2 * k + 1, 1 + 0.001 * (k - 30)), **metric)
    rows = [row for row in table(write(tmp_path / "a", *a), write(tmp_path / "b", *b)) if row["row"] == "benchmark"]
    assert len(rows) == 60
    for row in rows:
        low, high = float(row["ratio_low"]), float(row["ratio_high"])
        slower = "worse" if row["better"] == "lower" else "better"
        faster = "better" if row["better"] == "lower" else "worse"
        assert row["change"] == (slower if low > 1 else faster if high < 1 else "not shown")
    assert {row["change"] for row in rows} == {"worse", "better", "not shown"}


def test_a_run_compared_with_itself_has_ratio_1_everywhere(two: tuple[str, str]) -> None:
    rows = table(two[0], two[0])
    assert [float(row["ratio"]) for row in rows] == [1.0] * 4
    assert {row["change"] for row in rows} == {"not shown", ""}
    assert TWICE in run(two[0], two[0])[1]


TWICE = "! base and head are the same measurements: every ratio is 1, whatever was measured\n"


def test_other_measurements_under_the_same_id_are_apart(tmp_path: Path) -> None:
    first = run_line("x", id="one")
    a = write(tmp_path / "a", first, *lines.builds("head", drawn(1, 1.0)))
    b = write(tmp_path / "b", first, *lines.builds("head", drawn(2, 1.3)))
    out = run(a, b)[1]
    assert APART in out
    assert TWICE not in out


def test_a_copy_of_a_file_is_the_same_measurements_and_not_apart(two: tuple[str, str], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(Path(two[0]).read_bytes())
    out = run(two[0], str(copy))[1]
    assert TWICE in out
    assert APART not in out
    # the two sides of it took turns
    assert table(two[0], str(copy), "--side-a", "base") == table(two[0])
    # and files without a line are not the same measurements
    assert TWICE not in run(write(tmp_path / "c"), write(tmp_path / "d"))[1]


# --- whose side plays what --------------------------------------------------------------------------------------------


def test_head_is_taken_where_there_are_both_and_else_the_only_one(two: tuple[str, str], tmp_path: Path) -> None:
    old = write(tmp_path / "old", *lines.builds("base", drawn(8, 0.1), benchmark="parse"))
    assert [row["ratio"] for row in table(old, two[1]) if row.get("ratio")] != []
    # a long path is broken over lines
    out = "".join(run(old, two[1])[1].split())
    assert f"base{old},itsbase:" in out
    assert f"head{two[1]},itshead:friday9f9f9f9f9f,2026-11-2009:00onvm" in out


def test_sides_can_be_chosen(two: tuple[str, str]) -> None:
    def values(*argv: str) -> list[tuple[str, str]]:
        return [(row["base"], row["head"]) for row in table(*argv)]

    heads = values(two[0], two[1])
    bases = values(two[0], two[1], "--side-a", "base", "--side-b", "base")
    assert [head for _, head in values(two[0], two[1], "--side-a", "base")] == [head for _, head in heads]
    assert [base for base, _ in values(two[0], two[1], "--side-a", "base")] == [base for base, _ in bases]
    assert bases != heads


def test_one_run_alone_is_its_base_against_its_head_and_not_measured_apart(two: tuple[str, str]) -> None:
    alone, twice = run(two[1])[1], run(two[1], two[1], "--side-a", "base")[1]
    assert APART not in alone
    assert alone == twice
    assert APART in run(*two)[1]


def test_a_side_that_is_not_there_is_refused(tmp_path: Path) -> None:
    a = write(tmp_path / "a", *lines.builds("head", drawn(1, 0.1)))
    message = f"perfgate: {a}: has no measurements of base, only of head\n"
    assert run(a, a, "--side-a", "base") == run(a, "--side-a", "base") == (2, "", message)
    # alone it is one column
    assert [(row["head_builds"], row["change"]) for row in table(a)] == [("5", "")]


def test_standard_input_is_one_of_the_two(two: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(two[0]).read_bytes())))
    assert table("-", two[1]) == table(*two)
    assert run("-", "-") == (2, "", "perfgate: only one of the files can come from standard input\n")


# --- what is said beside the table ------------------------------------------------------------------------------------


def test_one_build_has_no_interval_and_says_why(tmp_path: Path) -> None:
    a, b = (write(tmp_path / name, *lines.builds("head", drawn(k, 0.1, builds=1))) for k, name in enumerate("ab"))
    (row,) = table(a, b)
    assert (row["ratio_low"], row["ratio_high"], row["change"]) == ("", "", "no interval")
    assert "no interval" in row["notes"]
    out = run(a, b)[1]
    # the estimate is shown all the same, with the spread of the values of the one build, and nothing is claimed
    assert re.search(r"bench +\S+ σ [\d.]+% +\S+ σ [\d.]+%  [+-][\d.]+% ¹\n", out)
    assert "~" not in out and "±" not in out and "interval)" not in out
    values = drawn(0, 0.1, builds=1)[0]
    sd = np.std([value for execution in values for value in execution], ddof=1)
    assert float(row["base_sd"]) == pytest.approx(sd, rel=1e-12)
    assert table(write(tmp_path / "equal", *lines.builds("head", [[[0.1] * 3]])), b)[0]["base_sd"] == "0.0"


def test_other_machines_are_named_before_all_else(two: tuple[str, str], tmp_path: Path) -> None:
    other = {"hostname": "laptop", "fingerprint": "0" * 64, "kernel": "6.2", "boot_id": "b9"}
    b = write(tmp_path / "b", run_line("b", host=other), *lines.builds("head", drawn(5, 0.1), benchmark="parse"))
    out = " ".join(run(two[0], b)[1].split())
    assert "! base was measured on host vm (kernel 6.1, machine ffffffff), head on host laptop (kernel 6.2" in out
    assert out.index("! base was measured on") < out.index(APART)


def test_what_only_one_file_has_is_named(tmp_path: Path) -> None:
    def both(*names: str) -> list[Line]:
        return [line for name in names for line in lines.builds("head", drawn(len(name), 0.1), benchmark=name)]

    user = lines.builds("head", [[[line] for line in (0.1, 0.2)]], benchmark="common", metric="user")
    sized = lines.builds("head", drawn(4, 0.1), benchmark="common", factors={"size": 2})
    a = write(tmp_path / "a", *both("common", "old"), *[line | {"execution": line["execution"] + 9} for line in user])
    b = write(tmp_path / "b", *both("common", "new"), *sized)
    code, out, _ = run(a, b)
    assert code == 0
    assert "failed" not in out
    assert "missing" not in out
    rows = {(row["benchmark"], row["metric"], row["factors"]): row for row in table(a, b) if row["row"] == "benchmark"}
    has = {key: ("base" in row, "head" in row, row["change"]) for key, row in rows.items()}
    assert has == {
        ("common", "time", ""): (True, True, "not shown"),
        ("old", "time", ""): (True, False, ""),
        ("new", "time", ""): (False, True, ""),
        ("common", "user", ""): (True, False, ""),
        ("common", "time", '{"size":2}'): (False, True, ""),
    }
    # an empty cell
    assert re.search(r"\nnew  +\S+ ±  ?\S+%\n", out)


def test_failures_are_named_and_do_not_fail(two: tuple[str, str], tmp_path: Path) -> None:
    failure = {
        "type": "failure",
        "kind": "execution",
        "benchmark": "parse",
        "side": "head",
        "build": 1,
        "status": "exit 3",
    }
    other = failure | {"side": "base", "benchmark": "encode", "status": "exit 9"}
    b = tmp_path / "b"
    b.write_text(Path(two[1]).read_text() + lines.text([failure, other]))
    code, out, _ = run(two[0], str(b))
    assert code == 0
    assert "parse failed on head: exit 3 (build 1)\n" in out
    # the side that is not compared may have failed
    assert "exit 9" not in out
    assert "only in" not in out


def test_units_that_differ_are_named(tmp_path: Path) -> None:
    a = write(tmp_path / "a", *lines.builds("head", drawn(1, 1.0), unit="s"))
    b = write(tmp_path / "b", *lines.builds("head", drawn(1, 1.0), unit="B"))
    code, out, _ = run(a, b)
    assert code == 4
    assert "\nnothing to compare: what base and head have in common is in other units or directions\n" in out
    assert out.endswith("\nnot comparable: time is in s in base and in B in head: bench\n")
    assert "failed" not in out


def test_what_is_unlike_is_named_and_the_rest_is_compared(tmp_path: Path) -> None:
    def suite(build: int, unit: str, better: str) -> list[Line]:
        told: dict[str, Any] = {"build": build, "suite": "all"}
        return [
            lines.execution("head", [1.0 + 0.1 * build], benchmark=name, unit=own, better=way, factors=factors, **told)
            for name, own, way, factors in (
                ("same", "s", "lower", {}), ("turned", "1/s", better, {}), ("sized", unit, "lower", {"n": 1}),
                ("sized", "ms", "lower", {"n": 2}), ("other", unit, "lower", {}),
            )
        ]  # fmt: skip

    first = run_line("x", benchmarks={side: ["all"] for side in ("base", "head")})
    a = write(tmp_path / "a", first, *(line for k in range(3) for line in suite(k, "ms", "lower")))
    b = write(tmp_path / "b", first, *(line for k in range(3) for line in suite(k, "", "higher")))
    code, out, _ = run(a, b)
    assert code == 0
    assert [row["benchmark"] for row in table(a, b) if row["change"]] == ["same", "sized"]
    assert 'not comparable: time is in s in base and without a unit in head: other, sized at {"n":1}\n' in out
    assert "not comparable: time is better when lower in base and better when higher in head: turned\n" in out
    assert "failed" not in out and "missing" not in out and "only in" not in out
    left_out = json.loads(run(a, b, "--format", "json")[1])["left_out"]
    assert left_out == [line for line in out.split("\n") if line.startswith("not comparable: ")]
    # a direction that the rules name is that of both
    rules = tmp_path / "rules.toml"
    rules.write_text('[[benchmark]]\nname = "turned"\ncommand = "x"\n[benchmark.metric.time]\nbetter = "higher"\n')
    assert "turned" in {row["benchmark"] for row in table(a, b, "--config", str(rules)) if row["change"]}


def test_a_suite_of_which_nothing_can_be_compared_is_not_missing(tmp_path: Path) -> None:
    first = run_line("x", benchmarks={side: ["all", "solo"] for side in ("base", "head")})
    files = []
    for name, unit in (("a", "s"), ("b", "B")):
        suite = [lines.builds("head", drawn(1, 1.0), benchmark=f"all/{k}", unit=unit, suite="all") for k in range(2)]
        solo = lines.builds("head", drawn(ord(name), 1.0), benchmark="solo")
        files.append(write(tmp_path / name, first, *suite[0], *suite[1], *solo))
    code, out, _ = run(*files)
    assert code == 0
    assert out.endswith("\nnot comparable: time is in s in base and in B in head: all/0, all/1\n")
    assert "missing" not in out and "failed" not in out


def test_several_units_on_one_side_are_all_named(tmp_path: Path) -> None:
    a = write(tmp_path / "a", *lines.builds("head", drawn(1, 1.0)))
    b = write(tmp_path / "b", *lines.builds("head", drawn(1, 1.0)), lines.execution("head", [1.0], build=9, unit="B"))
    assert "not comparable: time is in s in base and in B and in s in head: bench\n" in run(a, b)[1]


def test_nothing_in_common_but_what_failed_is_told(tmp_path: Path) -> None:
    failure = {"type": "failure", "kind": "execution", "benchmark": "bench", "side": "head", "build": 1}
    a = write(tmp_path / "a", *lines.builds("head", drawn(1, 1.0)), failure | {"status": "exit 3"})
    b = write(tmp_path / "b", *lines.builds("head", drawn(2, 1.0)))
    code, out, _ = run(a, b)
    assert code == 4
    assert "nothing to compare: base and head have no benchmark in common that did not fail\n" in out


def test_early_stopping_is_told_and_the_geometric_mean_takes_the_rounds_that_all_have(tmp_path: Path) -> None:
    files = []
    for number, name in enumerate(("a", "b")):
        found = [run_line(name)]
        for k, builds in enumerate((4, 4, 12)):
            found += lines.builds("head", drawn(10 * number + k, 0.1, builds), benchmark=f"case{k}")
        looks = [
            {"type": "look", "look": 4, "settled": ["case0", "case1"]},
            {"type": "look", "look": 12, "settled": []},
        ]
        files.append(write(tmp_path / name, *found, *looks))
    out = run(*files)[1]
    assert "! measured with early stopping: " in out
    assert "over the first 4 rounds, which all rows have\n" in out
    assert [row["head_builds"] for row in table(*files)][:3] == ["4", "4", "12"]
    assert table(*files)[3]["notes"] == "over the first 4 rounds, which all rows have"


@pytest.mark.parametrize(
    ("budget", "seconds", "more", "sessions"),
    [
        # as `perfgate check` writes them, a line after each round is no look of its own: the looks are those of the plan
        ("15m", None, {}, 1),
        # each session looks first by its own cost: of 4 rounds of 20 s, all together would seem to afford 1
        ("85s", 5.0, {"sessions": 3}, 3),
        # and a shard where its plan says
        ("41s", 50.0, {"shard": "1/2"}, 1),
    ],
)
def test_the_first_look_is_that_of_the_plan(
    budget: str, seconds: float | None, more: Line, sessions: int, tmp_path: Path
) -> None:
    config = {"plan": {"builds": {"min": 4, "max": 12}, "budget": budget}, "benchmark": [{"name": "a", "command": "x"}]}
    looks = [{"type": "look", "look": k, "settled": []} for k in range(1, 6)]
    files = []
    for number, name in enumerate("xy"):
        found = [
            line | {"session": session, "seconds": seconds}
            for session in range(sessions)
            for k, benchmark in enumerate("ab")
            for line in lines.builds("head", drawn(100 * number + 10 * session + k, 0.1, 5), benchmark=benchmark)
        ]
        files.append(write(tmp_path / name, run_line(name, config=config, looks=12, **more), *found, *looks))
    out = run(*files)[1]
    assert "over the first 4 rounds, which all rows have\n" in out
    assert "(no interval)" not in out


def test_settings_that_differ_are_told(tmp_path: Path) -> None:
    def config(iterations: int, command: str) -> Line:
        benchmarks = [{"name": "bench", "command": command, "instrument": "spawn"}]
        return {
            "plan": {"iterations": iterations, "executions": 2},
            "build": {"command": "make"},
            "benchmark": benchmarks,
        }

    a, b = (
        write(tmp_path / name, run_line(name, config=config(*settings)), *lines.builds("head", drawn(1, 0.1)))
        for name, settings in (("a", (3, "./app")), ("b", (10, "./app --fast")))
    )
    out = " ".join(run(a, b)[1].split())
    assert (
        "the two runs are set up differently, and the ratio includes that: [plan] iterations; command of bench" in out
    )


def test_an_exact_count_that_is_the_same_is_equal(tmp_path: Path) -> None:
    config = {"benchmark": [{"name": "bench", "command": "x", "instrument": "callgrind"}]}
    counted = lines.builds("head", [[[1_234_567]]] * 2, metric="instructions", unit="count")
    a, b = (write(tmp_path / name, run_line(name, config=config), *counted) for name in "ab")
    assert "1,234,567 ± 0%  1,234,567 ± 0%  = (exact)\n" in run(a, b)[1]
    assert [row["change"] for row in table(a, b)] == ["same"]


def test_several_sessions_are_the_units_and_one_alone_has_no_interval(tmp_path: Path) -> None:
    def sessions(seed: int, *numbers: int) -> list[Line]:
        return [
            line | {"session": number} for number in numbers for line in lines.builds("head", drawn(seed + number, 0.1))
        ]

    two, three, single = (
        write(tmp_path / str(k), run_line(str(k), sessions=len(numbers)), *sessions(10 * k, *numbers))
        for k, numbers in enumerate(((0, 1), (0, 1, 2), (0,)))
    )
    (row,) = table(two, three)
    means = [[float(np.mean(build_means(drawn(10 * k + s, 0.1)))) for s in range(n)] for k, n in enumerate((2, 3))]
    assert [float(row[key]) for key in ("ratio", "ratio_low", "ratio_high")] == pytest.approx(
        fieller(means[0], means[1]), rel=1e-6
    )
    # of two runs no round has both sides on one machine, whatever a gate asks about
    assert table(two, three, "--set", "gate.sessions=fixed") == [row]
    (row,) = table(two, single)
    assert row["ratio_low"] == ""
    assert "one session of head" in row["notes"]


@pytest.mark.parametrize("interval", ["auto", "fieller-paired", "fieller-moderated", "fieller-kj", "bootstrap-bca"])
def test_rounds_of_two_runs_are_never_paired(two: tuple[str, str], interval: str) -> None:
    unpaired = "fieller" if interval in ("auto", "fieller-paired", "fieller-moderated") else interval
    code, out, _ = run(*two, "--set", f"gate.interval={interval}", "--format", "json")
    assert code == 0
    assert methods(out) == {unpaired}
    same = run(two[1], "--set", "gate.interval=fieller-paired", "--format", "json")[1]
    assert methods(same) == {"fieller-paired"}


def methods(text: str) -> set[str]:
    rows = [row for row in json.loads(text)["rows"] if row["row"] == "benchmark"]
    return {change["method"] for row in rows for change in row["changes"].values()}


# --- rules, selection, ends -------------------------------------------------------------------------------------------


def test_confidence_and_statistics_come_from_the_rules(two: tuple[str, str], tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[gate]\nconfidence = 0.9\nthreshold = "50%"\n'
        '[[benchmark]]\nname = "parse"\ncommand = "x"\n[benchmark.metric.time]\nstatistics = ["mean", "p50"]\nthreshold = "70%"\n'
    )
    rows = table(*two, "--config", str(rules))
    assert {row["confidence"] for row in rows} == {"0.9"}
    assert [(row["benchmark"], row["statistic"]) for row in rows] == [
        ("parse", "mean"), ("encode", "mean"), ("sort", "mean"), ("all", "mean"), ("parse", "p50"),
    ]  # fmt: skip
    # of a gate's threshold nothing is left
    assert [row["change"] for row in rows] == ["worse", "not shown", "worse", "", "no interval"]
    assert {row["confidence"] for row in table(*two, "--set", "gate.confidence=0.99")} == {"0.99"}


@pytest.mark.parametrize("key", ["gate.threshold", "gate.floor", "gate.family", "gate.min_builds"])
def test_a_rule_of_gates_is_refused(two: tuple[str, str], key: str) -> None:
    code, out, err = run(*two, "--set", f"{key}=5")
    assert (code, out) == (2, "")
    assert err == f"perfgate: --set {key}: compare has no gate and shows every change; use `perfgate decide`\n"


def test_recorded_metrics_have_blocks_of_their_own_after_the_decided(tmp_path: Path) -> None:
    config = {"benchmark": [{"name": "bench", "command": "x", "instrument": "spawn"}]}
    files = []
    for number, name in enumerate("ab"):
        user = lines.builds("head", drawn(number + 5, 1e6), metric="memory", unit="B")
        more = [line | {"execution": line["execution"] + 2} for line in user]
        time = lines.builds("head", drawn(number, 0.1))
        files.append(write(tmp_path / name, run_line(name, config=config), *more, *time))
    titles = [line for line in run(*files)[1].split("\n") if line.endswith(("is better", "recorded only"))]
    assert titles == ["time in ms, lower is better", "memory in KiB, lower is better, recorded only"]


def test_benchmarks_and_metrics_are_selected(two: tuple[str, str]) -> None:
    assert [row["benchmark"] for row in table(*two, "--benchmark", "*se", "--benchmark", "sort")] == [
        "parse",
        "sort",
        "all",
    ]
    assert [row["benchmark"] for row in table(*two, "--benchmark", "sort", "--metric", "t*")] == ["sort"]
    assert run(*two, "--benchmark", "x*")[::2] == (2, "perfgate: --benchmark x*: matches none of encode, parse, sort\n")
    assert run(*two, "--metric", "x")[::2] == (2, "perfgate: --metric x: matches none of time\n")


def test_nothing_in_common_is_exit_4_and_says_so(two: tuple[str, str], tmp_path: Path) -> None:
    b = write(tmp_path / "b", *lines.builds("head", drawn(1, 0.1), benchmark="other"))
    code, out, err = run(two[0], b)
    assert (code, err) == (4, "")
    assert "nothing to compare: base and head have no benchmark in common\n" in out
    assert [(row["benchmark"], "base" in row, "head" in row) for row in rows_of(run(two[0], b, "--format", "csv")[1])] == [
        ("encode", True, False), ("other", False, True), ("parse", True, False), ("sort", True, False),
    ]  # fmt: skip
    assert run(two[0], write(tmp_path / "empty"))[0] == 4


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no such file"), (b"{", "the last line is incomplete"), (b"nonsense\n", "in no format that perfgate knows"), (b'{"findings": []}', "")],
)  # fmt: skip
def test_a_bad_file_is_one_line(two: tuple[str, str], tmp_path: Path, content: bytes | None, said: str) -> None:
    bad = tmp_path / "bad.json"
    if content is not None:
        bad.write_bytes(content)
    code, out, err = run(two[0], str(bad))
    if content == b"{":
        # the path may be long enough for a line break
        assert (code, err) == (4, "") and said in " ".join(out.split())
    else:
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err


def test_json_has_a_key_for_each_column(two: tuple[str, str]) -> None:
    code, out, _ = run(*two, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert (found["schema"], found["base"], [c["title"] for c in found["columns"]]) == (1, "base", ["base", "head"])
    assert [(row["row"], row["benchmark"]) for row in found["rows"]] == [
        ("benchmark", "encode"), ("benchmark", "parse"), ("benchmark", "sort"), ("geomean", "all"),
    ]  # fmt: skip
    for row in found["rows"]:
        assert row["cells"].keys() == {"base", "head"}
        assert row["changes"].keys() == {"head"}


# --- how it looks -----------------------------------------------------------------------------------------------------


def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a", "b")):
        found = [run_line("<b>@x|`", id=name)]
        for k, benchmark in enumerate(runs.HOSTILE):
            found += lines.builds(
                "head", drawn(50 * number + k, 10.0 ** -(k % 7), 3), benchmark=benchmark, factors={"|k": "<b>"}
            )
        write(tmp_path / name, *found)
    return "a", "b"


def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Two suites, a count that is exact, a benchmark of one build, one that failed and one on each side alone."""
    monkeypatch.chdir(tmp_path)
    exact = {"name": "binary", "command": "x", "instrument": "values", "metric": {"size": {"exact": True}}}
    config = {"benchmark": [{"name": "text", "command": "x"}, {"name": "image", "command": "x"}, exact]}
    for number, (name, factor) in enumerate((("monday", 1.0), ("friday", 1.08))):
        found = [run_line(name, config=config, base=None)]
        for k, benchmark in enumerate(("text/parse", "text/encode", "image/load", "image/resize")):
            more = {"benchmark": benchmark, "factors": {"size": 10} if k == 3 else {}}
            found += lines.builds("head", drawn(20 * number + k, 0.003 * (k + 1) * (factor if k < 2 else 1)), **more)
        found += lines.builds("head", drawn(20 * number + 9, 0.005, 1), benchmark="once")
        found += lines.builds("head", [[[4096 + 512 * number]]] * 2, benchmark="binary", metric="size", unit="B")
        found += lines.builds(
            "head",
            drawn(20 * number + 7, 4000 * factor),
            benchmark="serve",
            metric="rate",
            unit="req/s",
            better="higher",
        )
        found += lines.builds("head", drawn(3, 0.1), benchmark=f"only-{name}")
        write(tmp_path / name, *found)
    return "monday", "friday"


LOOKS: dict[str, Callable[[Path, pytest.MonkeyPatch], tuple[str, ...]]] = {"mixed": mixed, "hostile": hostile}


@pytest.mark.parametrize(
    ("name", "kind", "width"),
    [("mixed", "txt", 80), ("mixed", "txt", 50), ("mixed", "md", 100), ("hostile", "txt", 80), ("hostile", "md", 100)],
)
def test_the_output_is_the_one_that_was_looked_at(
    name: str, kind: str, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    argv = LOOKS[name](tmp_path, monkeypatch)
    got = in_terminal(*argv, "--format", {"txt": "text", "md": "markdown"}[kind])
    path = GOLDEN / (f"{name}.{width}.txt" if kind == "txt" else f"{name}.{kind}")
    if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(got, encoding="utf-8", newline="")
    assert got == path.read_bytes().decode("utf-8")
    assert not {c for c in got if not c.isprintable()} - set("\n\r\t")


def long_names(tmp_path: Path, metric: str, own: Sequence[int]) -> list[Line]:
    """Names of 500 characters that differ in the middle alone."""
    return [
        line
        for k in own
        for line in lines.builds("head", drawn(k, 1.0), benchmark=f"{'a' * 250}{k:03}{'b' * 250}", metric=metric)
    ]


@pytest.mark.parametrize("columns", [40, 66, 100])
def test_long_names_that_differ_in_the_middle_stay_distinguishable(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    # of the second metric some are missing, and the numbers are still those of the same names
    found = [long_names(tmp_path, "time", range(12)), long_names(tmp_path, "user", range(5, 12))]
    moved = [line | {"execution": line["execution"] + 2} for line in found[1]]
    a, b = (write(tmp_path / name, *found[0], *moved) for name in "ab")
    # the stacked form breaks a name over two lines
    whole = re.sub(r"\n  (?=[…ab\d])", "", in_terminal(a, b))
    assert [int(number) for number in re.findall(r"a…(\d{3})…b", whole)] == [*range(12), *range(5, 12)]


def test_csv_has_a_line_a_row_whatever_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(*hostile(tmp_path, monkeypatch))
    assert [row["row"] for row in rows] == ["benchmark"] * len(runs.HOSTILE) + ["geomean"]
    assert {json.loads(row["factors"])["|k"] for row in rows[:-1]} == {"<b>"}
    names = {row["benchmark"] for row in rows}
    assert names >= {name for name in runs.HOSTILE if name.isprintable()}
    mixed(tmp_path, monkeypatch)
    found = table("monday", "friday")
    assert [(row["metric"], row["unit"], row["change"]) for row in found if row["benchmark"] in ("binary", "serve", "once")] == [
        ("time", "s", "no interval"), ("size", "B", "worse"), ("rate", "req/s", "better"),
    ]  # fmt: skip
    assert [(row["benchmark"], row["notes"]) for row in found if row["row"] == "geomean"] == [
        ("text", ""),
        ("image", ""),
        ("all", "of 4 rows, without once"),
    ]


def test_outside_a_terminal_names_are_whole_whatever_the_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    found = long_names(tmp_path, "time", range(3))
    a, b = (write(tmp_path / name, *found) for name in "ab")
    out = run(a, b)[1]
    for k in range(3):
        assert f"{'a' * 250}{k:03}{'b' * 250}  " in out
        assert f"| `{'a' * 250}{k:03}{'b' * 250}` |" in in_terminal(a, b, "--format", "markdown")


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {
        "mixed.80.txt",
        "mixed.50.txt",
        "mixed.md",
        "hostile.80.txt",
        "hostile.md",
    }


def test_files_that_hold_the_same_values_are_not_compared(tmp_path: Path) -> None:
    # as where the second run read the output file of the first
    values = [
        [(0.1 * np.random.default_rng(10 * b + e).normal(1, 0.01, 8)).tolist() for e in range(3)] for b in range(5)
    ]
    a = write(tmp_path / "a", run_line("monday"), *lines.builds("head", values, benchmark="parse"))
    b = write(tmp_path / "b", run_line("friday"), *lines.builds("head", values, benchmark="parse"))
    code, out, _ = run(a, b)
    assert code == 4
    assert "nothing to compare" in out
    assert "parse failed on head: the same values of time twice: was a file of an earlier run read?" in " ".join(
        out.split()
    )
    # a file against itself is no mistake of a run, and says what it is
    code, out, _ = run(a, a)
    assert (code, TWICE in out) == (0, True)
    assert "failed" not in out
