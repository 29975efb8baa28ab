"""Which columns there are: files of a label together, globs, folders, commits, measurings of one file, keys."""

import json
import random
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gate.commands.compare.keys import Item, filter_of, keys_of, ordered, value_of, without
from gate.model import UserError
from tests.support.compared import compare as run
from tests.support.compared import hyperfine, in_terminal, rows, shown
from tests.support.lines import builds, text


def unbroken(text: str) -> str:
    """Take away where lines are broken, which may be within a long path."""
    return "".join(text.split())


def titles(*argv: str) -> list[str]:
    return [column["title"] for column in json.loads(shown(*argv, "--format", "json"))["columns"]]


def cells(*argv: str) -> dict[tuple[str, str], float]:
    return {(r["benchmark"], r["column"]): float(r["value"]) for r in rows(*argv) if r["row"] == "benchmark"}


def refused(*argv: str) -> str:
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    return err.removeprefix("perfgate: ")


def go(path: Path, values: Mapping[str, Sequence[float]], **labels: str) -> str:
    """Write a file of Go's benchmarks, in ns/op."""
    lines = [f"{key}: {value}\n" for key, value in labels.items()]
    lines += [f"Benchmark{name} \t 100\t {value} ns/op\n" for name, own in values.items() for value in own]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def test_files_of_one_label_are_builds_processes_or_sessions_of_one_column(tmp_path: Path) -> None:
    draw = random.Random(1)
    files = [
        f"{label}={go(tmp_path / f'{label}{k}.txt', {'A': [100 + 5 * draw.random() for _ in range(3)]})}"
        for label in ("old", "new")
        for k in range(3)
    ]
    found = rows(*files)
    counts = [(r["column"], r["builds"], r["executions"], r["values"]) for r in found]
    assert counts == [("old", "3", "3", "9"), ("new", "3", "3", "9")]
    assert found[1]["change"] in ("worse", "better", "not shown")
    # a glob behind a label is the same
    assert rows(f"old={tmp_path}/old*.txt", f"new={tmp_path}/new*.txt") == found
    # without labels each file is a column, as of benchstat, and a folder gives all that are in it
    assert titles(f"{tmp_path}/*.txt") == titles(str(tmp_path)) == ["new0", "new1", "new2", "old0", "old1", "old2"]
    found = rows(*files, "--each", "execution")
    assert [(r["builds"], r["executions"], r["change"]) for r in found] == [("1", "3", ""), ("1", "3", "no interval")]
    found = rows(*files, "--each", "session")
    assert [(r["builds"], r["change"]) for r in found] == [("3", ""), ("3", "not shown")]


def test_the_base_is_the_first_column_or_the_one_that_is_named(tmp_path: Path) -> None:
    files = [f"{name}={go(tmp_path / name, {'A': [value]})}" for name, value in (("a", 10), ("b", 20), ("c", 40))]
    ratios = {r["column"]: (r["base"], r["ratio"]) for r in rows(*files)}
    assert ratios == {"a": ("", ""), "b": ("a", "2.0"), "c": ("a", "4.0")}
    ratios = {r["column"]: (r["base"], r["ratio"]) for r in rows(*files, "--base", "c")}
    assert ratios == {"a": ("c", "0.25"), "b": ("c", "0.5"), "c": ("", "")}
    assert refused(*files, "--base", "d") == "--base d: no column has this label; there are a, b, c\n"
    # of two that it may name none is taken in silence
    twice = [f"x={tmp_path}/a", f"xy={tmp_path}/b"]
    assert refused(*twice, "--base", "xyz") == "--base xyz: no column has this label; there are x, xy\n"


def test_a_commit_is_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    go(tmp_path / "bench.txt", {"A": [10.0]})
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    go(tmp_path / "bench.txt", {"A": [30.0]})
    both = {("BenchmarkA", "base"): 1e-8, ("BenchmarkA", "head"): 3e-8}
    assert cells("git:HEAD:bench.txt", "bench.txt") == pytest.approx(both)
    assert cells("old=git:HEAD", "new=bench.txt").keys() == {("BenchmarkA", "old"), ("BenchmarkA", "new")}


def test_a_single_file_is_one_column_without_changes(tmp_path: Path) -> None:
    file = go(tmp_path / "bench.txt", {"A": [10.0, 11.0], "B": [20.0, 22.0]})
    found = [(r["benchmark"], r["column"], r["ratio"]) for r in rows(file)]
    assert found[:2] == [("BenchmarkA", "bench", ""), ("BenchmarkB", "bench", "")]
    assert "change" not in shown(file)


def data_js(path: Path, commits: int) -> str:
    entries = [
        {
            "commit": {"id": f"{k:08x}{0:032x}", "message": "", "timestamp": "", "url": ""},
            "date": 1000 * k,
            "tool": "customSmallerIsBetter",
            "benches": [{"name": "A", "value": 10 + k, "unit": "ms"}],
        }
        for k in range(commits)
    ]
    document = {"lastUpdate": 1, "repoUrl": "", "entries": {"Suite": entries}}
    path.write_text(f"window.BENCHMARK_DATA = {json.dumps(document)}", encoding="utf-8")
    return str(path)


def test_of_the_commits_of_one_file_the_last_few_are_columns(tmp_path: Path) -> None:
    file = data_js(tmp_path / "data.js", 8)
    assert titles(file) == [f"{k:08x}" for k in range(3, 8)]
    assert [float(r["value"]) for r in rows(file)] == pytest.approx([0.013, 0.014, 0.015, 0.016, 0.017])
    assert unbroken(f"the last 5 of 8 commits in {file}; `--by commit` shows all") in unbroken(shown(file))
    assert len(titles(file, "--by", "commit")) == 8
    some = f"commit:({1:08x} OR {2:08x})"
    assert [float(r["value"]) for r in rows(file, "--by", "commit", "--filter", some)] == pytest.approx([0.011, 0.012])
    # beside another file it is its newest
    assert [float(r["value"]) for r in rows(file, data_js(tmp_path / "b.js", 3))] == pytest.approx([0.017, 0.012])


def test_keys_make_columns_and_rows(tmp_path: Path) -> None:
    names = {f"Encode/format={f}/n={n}": [float(n * k)] for k, f in enumerate(("json", "gob"), 1) for n in (10, 20)}
    file = go(tmp_path / "a.txt", names, goos="linux")
    other = go(tmp_path / "b.txt", names, goos="darwin")

    def keys(*argv: str) -> set[tuple[str, str]]:
        return set(cells(file, *argv))

    by_format = {(f"BenchmarkEncode/n={n}", f): n * k * 1e-9 for k, f in ((1, "json"), (2, "gob")) for n in (10, 20)}
    assert cells(file, "--by", "/format") == pytest.approx(by_format)
    assert titles(file, other, "--by", "goos,/format") == [
        f"{os} {f}" for os in ("linux", "darwin") for f in ("json", "gob")
    ]
    both = {(f"format={f}", n) for f in ("json", "gob") for n in ("10", "20")}
    assert keys("--by", "/n", "--rows", "/format") == both
    none = "no value has this key; there are benchmark, name, file, label, side, metric, unit, /format, /n"
    assert refused(file, "--by", "goarch").startswith(f"--by goarch: {none}")
    assert refused(file, "--filter", "goos:plan9") == "--filter goos:plan9: matches none of the values\n"
    assert "goarch" in refused(file, "--filter", "goarch:arm64")
    assert keys("--filter", "goos:linux .unit:sec/op") == {(f"Benchmark{name}", "a") for name in names}


def test_what_is_mixed_and_what_differs_is_told(tmp_path: Path) -> None:
    values = {"A/n=1": [10.0], "A/n=2": [20.0]}
    a, b = (go(tmp_path / f"{goos}.txt", values, goos=goos) for goos in ("linux", "darwin"))
    assert "! base and head differ in system (linux, darwin): the ratio also compares these\n" in shown(a, b)
    assert "differ in" not in shown(a, b, "--ignore", "goos")
    assert "values vary in goos\n" in shown(f"x={a}", f"x={b}", f"y={a}")
    assert "vary" not in shown(f"x={a}", f"x={b}", f"y={a}", "--ignore", "goos")
    # each metric has its own rows: their names do not say that of the first one
    assert "metric=" not in shown(a, b, "--rows", "metric")
    assert "values vary in /n\n" in shown(a, b, "--rows", ".name")


def test_rows_are_in_the_order_of_the_file_or_as_asked(tmp_path: Path) -> None:
    a = go(tmp_path / "a", {"C": [10.0], "A10": [30.0], "A9": [20.0]})
    b = go(tmp_path / "b", {"A9": [60.0], "C": [11.0], "A10": [29.9], "D": [1.0]})

    def order(*argv: str) -> str:
        found = dict.fromkeys(r["benchmark"] for r in rows(a, b, *argv) if r["row"] == "benchmark")
        return " ".join(found).replace("Benchmark", "")

    assert order() == "C A10 A9 D"
    assert order("--sort", "change") == "A9 C A10 D"


def test_statistics_are_those_that_are_asked_for(tmp_path: Path) -> None:
    a = go(tmp_path / "a", {"A": [10.0, 20.0, 60.0]})
    found = {r["statistic"]: float(r["value"]) for r in rows(a, "--statistic", "mean,median,min,max,p90")}
    assert found == pytest.approx({"mean": 30e-9, "p50": 20e-9, "min": 10e-9, "max": 60e-9, "p90": 60e-9})
    assert "'mode' is not mean, median, min, max or a quantile such as p99" in refused(a, "--statistic", "mode")


def test_runs_of_perfgate_take_part_and_several_are_sessions(tmp_path: Path) -> None:
    files = []
    for k in range(4):
        values = [[[100e-9 * (1 + 0.01 * ((7 * k + 3 * b) % 5))] * 2] for b in range(3)]
        (tmp_path / f"{k}.jsonl").write_text(text(builds("head", values, benchmark="BenchmarkA")))
        files.append(f"{'old' if k < 2 else 'new'}={tmp_path}/{k}.jsonl")
    assert [(r["column"], r["builds"]) for r in rows(*files)] == [("old", "6"), ("new", "6")]
    a = go(tmp_path / "a.txt", {"A": [1.0]})
    assert "runs of perfgate and files of other tools cannot be one column" in refused(*files, f"old={a}")
    # beside them they can
    assert titles(*files, a) == ["old", "new", "a"]


def test_settings_and_sides_of_a_run_make_columns(tmp_path: Path) -> None:
    means = (("base", "idle", 1.0), ("base", "busy", 2.0), ("head", "idle", 4.0), ("head", "busy", 8.0))
    lines = [
        line
        for side, load, mean in means
        for line in builds(side, [[[mean * (1 + 0.01 * k)]] for k in (0, 3, 2, 1)], factors={"load": load})
    ]
    file = str(tmp_path / "run.jsonl")
    Path(file).write_text(text(lines))

    def ratios(*argv: str) -> dict[str, float]:
        return {r["column"]: float(r["ratio"] or 1) for r in rows(file, *argv) if r["row"] == "benchmark"}

    # base and head of a run are never one column
    assert ratios("--by", "load") == pytest.approx({"idle": 1, "busy": 2})
    assert unbroken(f"only head of {file} is shown") in unbroken(shown(file, "--by", "load"))
    assert ratios("--by", "load", "--filter", "side:base") == pytest.approx({"idle": 1, "busy": 2})
    all_four = {"base idle": 1, "base busy": 2, "head idle": 4, "head busy": 8}
    assert ratios("--by", "side,load") == pytest.approx(all_four)
    assert ratios("--by", "side", "--filter", "load:idle") == pytest.approx({"base": 1, "head": 4})
    assert titles(file, "--filter", "side:base") == ["base"]


# --- keys and filters -------------------------------------------------------------------------------------------------


NAME = "BenchmarkEncode/format=json/512-8"
LABELS = {"goos": "linux", "pkg": "example.com/a", "n": 10}
ITEM = Item(NAME, LABELS, file="old.txt", label="old", side="head", metric="time", unit="s")


def test_a_key_gives_what_a_value_says() -> None:
    wanted = {"goos": "linux", "n": "10", "file": "old.txt", "label": "old", "side": "head", "metric": "time"}
    wanted |= {".unit": "s", "benchmark": NAME, ".fullname": NAME, ".name": "BenchmarkEncode"}
    wanted |= {"/format": "json", "/2": "512-8", "/gomaxprocs": "8"}
    assert {key: value_of(key, ITEM) for key in wanted} == wanted
    assert [value_of(key, ITEM) for key in ("goarch", "/size")] == [None] * 2


def test_keys_stand_with_commas_between_them_and_columns_come_in_the_order_of_their_values() -> None:
    assert keys_of("goos, /format") == ("goos", "/format")
    assert keys_of(None) == ()
    for wrong in ("goos,,pkg", ",x"):
        with pytest.raises(UserError, match="an empty key"):
            keys_of(wrong)
    values = [("b", "10"), ("a", "9"), ("a", "10"), ("b", "9")]
    assert ordered(values) == [("b", "10"), ("b", "9"), ("a", "10"), ("a", "9")]


def test_parts_of_names_that_are_columns_leave_the_row() -> None:
    assert without("Encode/format=json/512-8", keys_of("/format")) == "Encode/512-8"
    assert without("Encode/format=json/512-8", keys_of("/gomaxprocs")) == "Encode/format=json/512"
    assert without("Encode/format=json/512-8", keys_of("/2")) == "Encode/format=json-8"
    assert without("Encode/format=json-8", keys_of("/format")) == "Encode-8"
    assert without("Encode/format=json", keys_of("goos")) == "Encode/format=json"


# of golang.org/x/perf/benchproc/syntax: key:value, key:"value", key:/regexp/, key:(a OR b), -, AND
@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        (True, ["goos:linux", "-goos:darwin", "goos:(darwin OR linux)", 'goos:("linux")', '"goos":linux']),
        (True, ["goos:linux AND n:10", ".name:Encode", ".name:BenchmarkEncode", ".name:/Enc.*/", "/format:json"]),
        (True, ["pkg:/example.com\\/./", ".unit:s", ".unit:sec/op", ".unit:ns/op", ".file:old.txt"]),
        # an expression is of the whole value; what a value does not say is the empty word
        (True, ['goarch:""']),
        (False, ["goos:darwin", "goos:linux n:11", ".name:/Enc/", ".unit:B/op", '-goarch:""']),
    ],
)
def test_a_filter_is_read_as_benchstat_reads_it(wanted: bool, texts: list[str]) -> None:
    assert {text: filter_of(text).test(ITEM) for text in texts} == dict.fromkeys(texts, wanted)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", 1), ("goos", 1), ("goos:", 1), ("goos:(a", 1), ("goos:(a b)", 1), ('goos:"a', 1), ("(goos:a)", 1),
        ("goos:a)", 1), ("goos:a OR n:10", 8), ("goos:a AND", 8), ("*", 1),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_be_read_says_where(text: str, at: int) -> None:
    with pytest.raises(UserError) as caught:
        filter_of(text)
    assert str(caught.value).startswith(f"--filter {text}: expected KEY:VALUE")
    assert str(caught.value).endswith(f"at character {at}")


def test_a_filter_with_a_wrong_expression_is_refused() -> None:
    with pytest.raises(UserError, match="--filter goos:/\\(/: /\\(/ is not a regular expression"):
        filter_of("goos:/(/")


# --- how several columns look -----------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four columns of three builds; the second has no `sort`, and the third is 20% slower."""
    found = []
    for column, factor in {"a": 1.0, "b": 1.01, "c": 1.2, "d": 0.9}.items():
        means = {"parse": 0.1, "sort": 0.2, "encode/a-very-long-name-that-fills-the-line": 0.3}
        if column == "b":
            del means["sort"]
        for k in range(3):
            spread = [factor * (1 + 0.01 * ((k * 7 + i * 3) % 4)) for i in range(3)]
            values = {name: [mean * each for each in spread] for name, mean in means.items()}
            found.append(f"{column}={hyperfine(tmp_path / f'{column}{k}.json', values)}")
    return found


@pytest.mark.parametrize(("width", "parts"), [(80, 3), (100, 3), (139, 2)])
def test_a_terminal_has_what_fits_and_the_base_in_each_part(files: list[str], width: int, parts: int) -> None:
    out = in_terminal(*files, width=width)
    assert max(map(len, out.split("\n"))) <= width
    heads = [line.split() for line in out.split("\n") if line.startswith("benchmark")]
    assert all(head[:2] == ["benchmark", "a"] for head in heads)
    assert [name for head in heads for name in head[2::2]] == ["b", "c", "d"]
    assert len(heads) == parts
    assert "time in ms, lower is better; changes against a with 95% intervals\n" in out


def test_rows_that_a_column_lacks_have_empty_cells_and_json_has_the_documented_keys(files: list[str]) -> None:
    (line,) = (line for line in shown(*files, "--format", "markdown").split("\n") if line.startswith("| `sort`"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert (cells[2], cells[3]) == ("", "")
    assert all(cells[place] for place in (0, 1, 4, 5, 6, 7))
    found = json.loads(shown(*files, "--format", "json"))
    assert (found["schema"], found["base"], [c["title"] for c in found["columns"]]) == (1, "a", ["a", "b", "c", "d"])
    assert [row["benchmark"] for row in found["rows"]][1::2] == ["sort", "all"]
    row, sort = found["rows"][:2]
    assert sort["cells"]["b"] is None
    assert sort["changes"].keys() == {"c", "d"}
    page = (Path(__file__).parents[4] / "docs" / "compare.md").read_text(encoding="utf-8")
    documented = page[page.index("`--format json` has stable keys") :].partition("\n\n")[0]
    keys = {*found, *found["columns"][0], *row, *row["cells"]["a"], *row["changes"]["c"]}
    assert keys == set(re.findall(r"`(\w+)`", documented))


def test_the_page_has_a_table_and_nothing_from_elsewhere(files: list[str]) -> None:
    text = shown(*files, "--format", "html")
    tags = re.findall(r"<(\w+)", text)
    assert tags.count("table") == 1 and not {"script", "link", "img", "svg"} & set(tags)
    assert not re.search(r"(src|href)=(?!\"#)", text)
    assert [text.count(f'class="badge {tone}"') for tone in ("regression", "improvement")] == [3, 3]


def test_two_values_that_are_0_are_no_riddle(tmp_path: Path) -> None:
    for side, errors in (("a", 0), ("b", 0), ("c", 3)):
        text = f"BenchmarkParse 10 5 ns/op {errors} err/op\nBenchmarkWrite 10 7 ns/op {errors} err/op\n"
        (tmp_path / f"{side}.txt").write_text(text, encoding="utf-8")
    a, b, c = (str(tmp_path / f"{side}.txt") for side in "abc")
    assert "BenchmarkParse     0     0  both 0 ¹\n" in shown(a, b)
    assert "BenchmarkParse     0     3  no ratio ²\n" in shown(a, c)
    assert "² the base is 0, so there is no ratio\n" in shown(a, c)
    # with one build of each that is why, also of an extreme
    assert "one build of each" in shown(a, c, "--statistic", "min")
    # what has no ratio is in no geometric mean
    assert "geomean" not in shown(a, b, "--filter", "metric:err/op")
