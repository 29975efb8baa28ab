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

from tests.support import lines, runs
from tests.support.compared import compare as run
from tests.support.compared import in_terminal, rows, rows_of, shown

GOLDEN = Path(__file__).parents[3] / "golden" / "compare"
HOST = {"hostname": "vm", "fingerprint": "f" * 64, "kernel": "6.1", "boot_id": "b1"}
LAPTOP = {"hostname": "laptop", "fingerprint": "0" * 64, "kernel": "6.2", "boot_id": "b9"}
APART = "! measured separately: "
TWICE = "nothing to compare: base and head are the same measurements\n"
Line = dict[str, Any]


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def table(*argv: str) -> list[dict[str, str]]:
    return rows_of(shown(*argv, "--format", "csv"))


def ratio_of(row: dict[str, str]) -> list[float]:
    return [float(row[key]) for key in ("ratio", "ratio_low", "ratio_high")]


def run_line(name: str, **changes: Any) -> Line:
    commits = {"base": {"ref": "main", "sha": "1a" * 20}, "head": {"ref": name, "sha": "9f" * 20}}
    return {"type": "run", "id": name, "created": "2026-11-20T09:00:00Z", "host": HOST, **commits, **changes}


def drawn(seed: int, mean: float, builds: int = 5, spread: float = 0.01) -> list[list[list[float]]]:
    rng = np.random.default_rng(seed)
    return [[(mean * b * rng.normal(1, spread, 3)).tolist() for _ in range(2)] for b in rng.normal(1, spread, builds)]


def head(seed: int, mean: float = 0.1, builds: int = 5, **more: Any) -> list[Line]:
    return lines.builds("head", drawn(seed, mean, builds), **more)


def later(found: list[Line], by: int = 2) -> list[Line]:
    """The same in executions of their own."""
    return [line | {"execution": line["execution"] + by} for line in found]


def write(file: Path, *found: Line) -> str:
    file.write_text(lines.text(found), encoding="utf-8")
    return str(file)


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """Two runs with both sides: in the second everything of head takes 10% more, but for one case."""
    files = []
    for number, (name, factor) in enumerate((("monday", 1.0), ("friday", 1.1))):
        found = [run_line(name)]
        for k, (benchmark, mean, own) in enumerate(
            (("parse", 0.1, factor), ("encode", 0.02, 1.0), ("sort", 0.4, factor))
        ):
            seed = 100 * number + 10 * k
            found += lines.builds("base", drawn(seed + 4, mean), benchmark=benchmark)
            found += head(seed, mean * own, benchmark=benchmark)
        files.append(write(tmp_path / f"{name}.jsonl", *found))
    return files[0], files[1]


def build_means(nested: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    return [sum(sum(e) for e in build) / sum(len(e) for e in build) for build in nested]


def fieller(base: Sequence[float], head: Sequence[float], alpha: float = 0.05) -> tuple[float, float, float]:
    """Ratio and its set, by looking for the ends: |y - theta x| = t se(theta), Satterthwaite's degrees at y/x."""
    x, y = sum(base) / len(base), sum(head) / len(head)
    vx, vy = float(stats.sem(base)) ** 2, float(stats.sem(head)) ** 2
    wx = (y / x) ** 2 * vx
    df = (wx + vy) ** 2 / (wx**2 / (len(base) - 1) + vy**2 / (len(head) - 1))
    t = float(stats.t.ppf(1 - alpha / 2, df))
    ends = []
    for far in (0.5, 2.0):
        near, away = y / x, far * y / x
        for _ in range(100):
            middle = (near + away) / 2
            outside = abs(y - middle * x) > t * math.sqrt(vy + middle**2 * vx)
            near, away = (near, middle) if outside else (middle, away)
        ends.append(near)
    return y / x, ends[0], ends[1]


def test_ratio_and_interval_are_those_of_independent_code(tmp_path: Path) -> None:
    base, other = drawn(1, 0.1, builds=6), drawn(2, 0.105, builds=4, spread=0.03)
    a = write(tmp_path / "a.jsonl", *lines.builds("head", base))
    b = write(tmp_path / "b.jsonl", *lines.builds("base", other))
    (row,) = table(a, b)
    assert ratio_of(row) == pytest.approx(fieller(build_means(base), build_means(other)), rel=1e-9)
    for side, nested in (("base", base), ("head", other)):
        means = build_means(nested)
        half = stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
        wanted = [np.mean(means), np.mean(means) - half, np.mean(means) + half]
        assert [float(row[side + end]) for end in ("", "_low", "_high")] == pytest.approx(wanted, rel=1e-9)
        assert int(row[f"{side}_builds"]) == len(nested)


def test_a_change_is_shown_exactly_where_the_interval_excludes_1(tmp_path: Path) -> None:
    a, b = [], []
    for k in range(60):
        metric: Line = {"benchmark": f"case{k}", "better": "higher" if k % 2 else "lower"}
        a += head(2 * k, 1.0, **metric)
        b += head(2 * k + 1, 1 + 0.001 * (k - 30), **metric)
    rows = [row for row in table(write(tmp_path / "a", *a), write(tmp_path / "b", *b)) if row["row"] == "benchmark"]
    assert len(rows) == 60
    for row in rows:
        _, low, high = ratio_of(row)
        slower, faster = ("worse", "better") if row["better"] == "lower" else ("better", "worse")
        assert row["change"] == (slower if low > 1 else faster if high < 1 else "not shown")
    assert {row["change"] for row in rows} == {"worse", "better", "not shown"}


def test_without_a_direction_a_change_is_neither_and_a_share_changes_by_points(tmp_path: Path) -> None:
    def found(metric: str, base: float, other: float, form: str) -> str:
        for name, value in (("a", base), ("b", other)):
            nested = [[[value * (1 + k / 1000)]] for k in range(5)]
            write(tmp_path / name, *lines.builds("head", nested, metric=metric, unit=""))
        return shown(str(tmp_path / "a"), str(tmp_path / "b"), "--format", form)

    assert "MatchesFound, direction unknown" in found("MatchesFound", 100.0, 120.0, "text")
    row = json.loads(found("MatchesFound", 100.0, 120.0, "json"))["rows"][0]
    (change,) = row["changes"].values()
    assert (row["better"], change["shown"]) == (None, "differs")
    assert change["ratio"] == pytest.approx(1.2, abs=0.01)
    points = found("error_rate", 0.0, 0.05, "text")
    assert "error_rate, lower is better, changes in percentage points" in points and "+5.0%" in points


def test_the_same_measurements_twice_are_nothing_to_compare_and_others_are_apart(
    two: tuple[str, str], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(Path(two[0]).read_bytes())
    for other in (two[0], str(copy)):
        code, out, _ = run(two[0], other)
        assert (code, TWICE in out, APART in out) == (4, True, False)
    # nor is a result file and itself, however few its values are; two such files are only suspicious
    file, again = tmp_path / "old.txt", tmp_path / "new.txt"
    for each in (file, again):
        each.write_text("BenchmarkA 1000 1052341 ns/op\n")
    assert run(str(file), str(file))[0] == run(f"a={file}", f"b={file}")[0] == 4
    assert run(str(file), str(again))[0] == 0
    # one of several
    assert "! a and c are the same measurements" in shown(f"a={two[0]}", f"b={two[1]}", f"c={two[0]}")
    # other measurements of the same id, and files without a line, are not the same
    a, b = (write(tmp_path / name, run_line("x", id="one"), *head(k)) for k, name in enumerate("ab"))
    assert APART in shown(a, b) and TWICE not in shown(a, b)
    assert TWICE not in run(write(tmp_path / "c"), write(tmp_path / "d"))[1]


def test_head_is_taken_where_there_are_both_and_else_the_only_one(two: tuple[str, str], tmp_path: Path) -> None:
    old = write(tmp_path / "old", *lines.builds("base", drawn(8, 0.1), benchmark="parse"))
    # a long path is broken over lines
    out = "".join(shown(old, two[1]).split())
    assert f"base{old},itsbase:" in out
    assert f"head{two[1]},itshead:friday9f9f9f9f9f,2026-11-2009:00onvm" in out


def test_one_run_is_its_base_against_its_head_and_bases_are_compared_by_a_filter(two: tuple[str, str]) -> None:
    bases = [row["base"] for file in two for row in table(file) if row["benchmark"] == "parse"]
    found = rows("--by", "file", "--filter", "side:base name:parse", *two)
    assert [row["value"] for row in found] == bases
    assert APART in shown(*two) and APART not in shown(two[1])


def test_a_filter_leaves_out_the_times_of_builds_too(tmp_path: Path) -> None:
    config = {"build": {"command": "make"}, "benchmark": [{"name": "bench", "command": "x", "instrument": "values"}]}
    built = [
        {"type": "build", "side": side, "build": build, "seconds": 9.0 + build + (side == "head")}
        for side in ("base", "head") for build in range(5)
    ]  # fmt: skip
    file = write(tmp_path / "a", run_line("x", config=config), *built, *lines.builds("base", drawn(1, 0.1)), *head(2))

    def metrics(*more: str) -> list[str]:
        return [row["metric"] for row in table(file, *more)]

    assert metrics() == metrics("--filter", "unit:s") == ["time", "build-time"]
    assert metrics("--filter", "metric:time") == metrics("--filter", "name:bench") == ["time"]
    assert metrics("--filter=-metric:build-time") == ["time"]


def test_one_side_is_one_column(two: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [(row["head_builds"], row["change"]) for row in table(write(tmp_path / "a", *head(1)))] == [("5", "")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(two[0]).read_bytes())))
    assert table("-", two[1]) == table(*two)
    assert run("-", "-") == (2, "", "perfgate: only one of the files can come from standard input\n")


FAILURE = {"type": "failure", "kind": "execution", "benchmark": "bench", "side": "head", "build": 1, "status": "exit 3"}
OF_BASE = FAILURE | {"side": "base", "status": "exit 9"}
CALLGRIND = {"benchmark": [{"name": "bench", "command": "x", "instrument": "callgrind"}]}
COUNTED = lines.builds("head", [[[1_234_567]]] * 2, metric="instructions", unit="count")


def suite(name: str, unit: str) -> list[Line]:
    """A suite of two in a unit, and a benchmark that is alone."""
    each = [line for k in range(2) for line in head(1, 1.0, benchmark=f"all/{k}", unit=unit, suite="all")]
    named = {"base": ["all", "solo"], "head": ["all", "solo"]}
    return [run_line("x", benchmarks=named), *each, *head(ord(name), 1.0, benchmark="solo")]


def test_what_is_said_beside_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")

    def said(code: int, a: list[Line], b: list[Line], *sentences: str) -> None:
        found, out, err = run(write(tmp_path / "a", *a), write(tmp_path / "b", *b))
        assert (found, err) == (code, "")
        places = [out.index(each) for each in sentences]
        assert places == sorted(places)
        # of the side that is not compared nothing is said, and what one side never had is no failure
        assert ("failed on" in out) == any("failed on" in each for each in sentences)
        assert not re.search("exit 9|missing|only in", out)

    on = "! base was measured on host vm (kernel 6.1, machine ffffffff), head on host laptop (kernel 6.2"
    said(0, [run_line("a"), *head(1)], [run_line("b", host=LAPTOP), *head(2)], on, APART)
    # failures do not fail
    sound = head(3, benchmark="sound")
    failed = "\nbench failed on head: exit 3 (build 1)\n"
    said(0, [*head(1), *sound], [*head(2), *sound, FAILURE, OF_BASE], failed)
    nothing = "\nnothing to compare: base and head have no benchmark in common"
    said(4, [*head(1), FAILURE], head(2), f"{nothing} that did not fail\n", failed.replace("head", "base"))
    said(4, head(1), head(1, benchmark="other"), f"{nothing}\n")
    # in the words of the columns
    files = [f"{n}={write(tmp_path / n, *head(1, benchmark=n))}" for n in "xyz"]
    for which, told in (
        (files[:2], "y and x have no benchmark in common"),
        (files, "y has no benchmark in common with"),
    ):
        code, out, _ = run(*which, "--base", "y")
        assert (code, f"nothing to compare: {told}" in out) == (4, True)
    said(4, head(1), [], "\nnothing to compare: ")
    unlike = "\nnothing to compare: what base and head have in common is in other units or directions\n"
    units = "\nnot comparable: time is in s in base and in B"
    said(4, head(1), head(1, unit="B"), unlike, f"{units} in head: bench\n")
    said(4, head(1), [*head(1), *head(1, 1.0, 9, unit="B")[-2:]], f"{units} and in s in head: bench\n")
    # a suite of which nothing can be compared is not missing
    said(0, suite("a", "s"), suite("b", "B"), f"{units} in head: all/0, all/1\n")
    look = {"type": "look", "look": 4, "settled": []}
    said(0, [run_line("x"), *head(1), look], [run_line("y"), *head(2)], "! measured with early stopping: ")
    counted = [run_line("x", config=CALLGRIND), *COUNTED]
    said(0, counted, [run_line("y", config=CALLGRIND), *COUNTED], "1,234,567 ± 0%  1,234,567 ± 0%  = (exact)\n")


def test_one_build_shows_an_estimate_and_the_spread_of_its_values_and_claims_nothing(tmp_path: Path) -> None:
    a, b = (write(tmp_path / name, *head(k, builds=1)) for k, name in enumerate("ab"))
    out = shown(a, b)
    assert re.search(r"bench +\S+ σ [\d.]+% +\S+ σ [\d.]+%  [+-][\d.]+% ¹\n", out)
    assert not re.search(r"~|±|interval\)", out)
    assert table(write(tmp_path / "equal", *lines.builds("head", [[[0.1] * 3]])), b)[0]["base_sd"] == "0.0"


def test_what_only_one_file_has_is_a_row_with_an_empty_cell(tmp_path: Path) -> None:
    def both(name: str, *more: Line) -> str:
        return write(tmp_path / name, *head(6, benchmark="common"), *head(3, benchmark=name), *more)

    a = both("old", *later(head(1, benchmark="common", metric="user"), 9))
    b = both("new", *head(4, benchmark="common", factors={"size": 2}))
    rows = [row for row in table(a, b) if row["row"] == "benchmark"]
    sides = {(r["benchmark"], r["metric"], r["factors"]): [s for s in ("base", "head") if s in r] for r in rows}
    of_common = {("common", "time", ""): ["base", "head"], ("common", "user", ""): ["base"]}
    of_one = {("old", "time", ""): ["base"], ("new", "time", ""): ["head"], ("common", "time", '{"size":2}'): ["head"]}
    assert sides == of_common | of_one
    assert sorted(row["change"] for row in rows) == [*[""] * 4, "not shown"]
    out = shown(a, b)
    assert re.search(r"\nnew  +\S+ ±  ?\S+%\n", out)
    assert not re.search("failed|missing", out)


def test_what_is_unlike_is_named_and_the_rest_is_compared(tmp_path: Path) -> None:
    def mixed_suite(name: str, unit: str, better: str) -> str:
        cases: list[tuple[str, str, str, Line]] = [("same", "s", "lower", {}), ("turned", "1/s", better, {})]
        cases += [("sized", unit, "lower", {"n": 1}), ("sized", "ms", "lower", {"n": 2}), ("other", unit, "lower", {})]
        found = [run_line("x", benchmarks={side: ["all"] for side in ("base", "head")})]
        for benchmark, own, way, factors in cases:
            more = {"benchmark": benchmark, "unit": own, "better": way, "factors": factors, "suite": "all"}
            found += lines.builds("head", [[[1.0 + 0.1 * build]] for build in range(3)], **more)
        return write(tmp_path / name, *found)

    a, b = mixed_suite("a", "ms", "lower"), mixed_suite("b", "", "higher")
    out = shown(a, b)
    assert [row["benchmark"] for row in table(a, b) if row["change"]] == ["same", "sized"]
    assert 'not comparable: time is in s in base and without a unit in head: other, sized at {"n":1}\n' in out
    assert "not comparable: time is better when lower in base and better when higher in head: turned\n" in out
    assert not re.search("failed|missing|only in", out)
    left_out = json.loads(shown(a, b, "--format", "json"))["left_out"]
    assert left_out == [line for line in out.split("\n") if line.startswith("not comparable: ")]
    # a direction that the rules name is that of both
    rules = tmp_path / "rules.toml"
    rules.write_text('[[benchmark]]\nname = "turned"\ncommand = "x"\n[benchmark.metric.time]\nbetter = "higher"\n')
    assert "turned" in {row["benchmark"] for row in table(a, b, "--config", str(rules)) if row["change"]}


def test_several_sessions_are_the_units_and_one_alone_has_no_interval(tmp_path: Path) -> None:
    def sessions(k: int, *numbers: int) -> str:
        each = (line for number in numbers for line in head(10 * k + number, session=number))
        return write(tmp_path / str(k), run_line(str(k), sessions=len(numbers)), *each)

    two, three, single = sessions(0, 0, 1), sessions(1, 0, 1, 2), sessions(2, 0)
    (row,) = table(two, three)
    means = [[float(np.mean(build_means(drawn(10 * k + s, 0.1)))) for s in range(n)] for k, n in enumerate((2, 3))]
    assert ratio_of(row) == pytest.approx(fieller(means[0], means[1]), rel=1e-6)
    # of two runs no round has both sides on one machine, whatever a gate asks about
    assert table(two, three, "--set", "gate.sessions=fixed") == [row]
    (row,) = table(two, single)
    assert row["ratio_low"] == ""
    assert "one session of head" in row["notes"]


def test_rounds_of_two_runs_are_never_paired(two: tuple[str, str]) -> None:
    def methods(*argv: str) -> set[str]:
        rows = json.loads(shown(*argv, "--format", "json"))["rows"]
        return {change["method"] for row in rows if row["row"] == "benchmark" for change in row["changes"].values()}

    used = dict.fromkeys(("auto", "fieller-paired", "fieller-moderated"), "fieller") | {"fieller-kj": "fieller-kj"}
    for interval, method in used.items():
        assert methods(*two, "--set", f"gate.interval={interval}") == {method}
    assert methods(two[1], "--set", "gate.interval=fieller-paired") == {"fieller-paired"}


def test_files_that_hold_the_same_values_are_not_compared(tmp_path: Path) -> None:
    # as where the second run read the output file of the first
    values = np.random.default_rng(1).normal(0.1, 0.001, (5, 3, 8)).tolist()
    a, b = (write(tmp_path / day, run_line(day), *lines.builds("head", values)) for day in ("monday", "friday"))
    code, out, _ = run(a, b)
    assert code == 4 and "nothing to compare" in out
    same = "bench failed on head: the same values of time twice: was a file of an earlier run read?"
    assert same in " ".join(out.split())
    # a file against itself is no mistake of a run, and says what it is
    assert TWICE in (out := run(a, a)[1])
    assert "failed" not in out


def test_confidence_and_statistics_come_from_the_rules(two: tuple[str, str], tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[gate]\nconfidence = 0.9\nthreshold = "50%"\n'
        '[[benchmark]]\nname = "parse"\ncommand = "x"\n[benchmark.metric.time]\nstatistics = ["mean", "p50"]\nthreshold = "70%"\n'
    )
    rows = table(*two, "--config", str(rules))
    assert {row["confidence"] for row in rows} == {"0.9"}
    # of a gate's threshold nothing is left
    shown = [(row["benchmark"], row["statistic"], row["change"]) for row in rows]
    assert shown[:3] == [("parse", "mean", "worse"), ("encode", "mean", "not shown"), ("sort", "mean", "worse")]
    assert shown[3:] == [("all", "mean", ""), ("parse", "p50", "no interval")]
    assert {row["confidence"] for row in table(*two, "--set", "gate.confidence=0.99")} == {"0.99"}
    for key in ("gate.threshold", "gate.floor", "gate.family", "gate.min_builds"):
        refused = f"perfgate: --set {key}: compare has no gate and shows every change; use `perfgate decide`\n"
        assert run(*two, "--set", f"{key}=5") == (2, "", refused)


def test_benchmarks_are_selected(two: tuple[str, str]) -> None:
    found = table(*two, "--benchmark", "*se", "--benchmark", "sort")
    assert [row["benchmark"] for row in found] == ["parse", "sort", "all"]
    assert run(*two, "--benchmark", "x*")[::2] == (2, "perfgate: --benchmark x*: matches none of encode, parse, sort\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no such file"), (b"nonsense\n", "in no format that perfgate knows"), (b'{"findings": []}', "")],
)
def test_a_bad_file_is_one_line(two: tuple[str, str], tmp_path: Path, content: bytes | None, said: str) -> None:
    bad = tmp_path / "bad.json"
    if content is not None:
        bad.write_bytes(content)
    code, out, err = run(two[0], str(bad))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    # of a torn line the rest is there
    bad.write_bytes(b"{")
    code, out, err = run(two[0], str(bad))
    assert (code, err) == (4, "") and "the last line is incomplete" in " ".join(out.split())


def hostile() -> tuple[str, ...]:
    for number, name in enumerate("ab"):
        found = [run_line("<b>@x|`", id=name)]
        for k, benchmark in enumerate(runs.HOSTILE):
            found += head(50 * number + k, 10.0 ** -(k % 7), 3, benchmark=benchmark, factors={"|k": "<b>"})
        write(Path(name), *found)
    return "a", "b"


def mixed() -> tuple[str, ...]:
    """Two suites, a count that is exact, a benchmark of one build, one that failed and one on each side alone."""
    exact = {"name": "binary", "command": "x", "instrument": "values", "metric": {"size": {"exact": True}}}
    config = {"benchmark": [{"name": "text", "command": "x"}, {"name": "image", "command": "x"}, exact]}
    for number, (name, factor) in enumerate((("monday", 1.0), ("friday", 1.08))):
        found = [run_line(name, config=config, base=None)]
        for k, benchmark in enumerate(("text/parse", "text/encode", "image/load", "image/resize")):
            factors = {"size": 10} if k == 3 else {}
            mean = 0.003 * (k + 1) * (factor if k < 2 else 1)
            found += head(20 * number + k, mean, benchmark=benchmark, factors=factors)
        found += head(20 * number + 9, 0.005, 1, benchmark="once")
        found += lines.builds("head", [[[4096 + 512 * number]]] * 2, benchmark="binary", metric="size", unit="B")
        rate: Line = {"metric": "rate", "unit": "req/s", "better": "higher"}
        found += head(20 * number + 7, 4000 * factor, benchmark="serve", **rate)
        found += head(3, benchmark=f"only-{name}")
        write(Path(f"{name}"), *found)
    return "monday", "friday"


LOOKS: dict[str, Callable[[], tuple[str, ...]]] = {"mixed": mixed, "hostile": hostile}
PAGES = {"mixed.80.txt", "mixed.50.txt", "mixed.md", "hostile.80.txt", "hostile.md"}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_output_is_the_one_that_was_looked_at(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, *width, kind = name.split(".")
    monkeypatch.chdir(tmp_path)
    form = {"txt": "text", "md": "markdown"}[kind]
    got = in_terminal(*LOOKS[made](), "--format", form, width=int(width[0]) if width else 100)
    path = GOLDEN / name
    if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
        path.write_text(got, encoding="utf-8", newline="")
    assert got == path.read_bytes().decode("utf-8")
    assert not {c for c in got if not c.isprintable()} - set("\n\r\t")
    assert {path.name for path in GOLDEN.iterdir()} == PAGES
