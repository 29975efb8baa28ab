"""perfgate import and decide over result files of another tool: whose side, which level, and what is never decided."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.gate.typed import run

DATA = Path(__file__).parents[3] / "data" / "results" / "hyperfine"


def export(file: Path, times: dict[str, list[float]], **more: Any) -> str:
    results = [{"command": name, "mean": float(np.mean(own)), "times": own, **more} for name, own in times.items()]
    file.write_text(json.dumps({"results": results}), encoding="utf-8")
    return str(file)


def drawn(folder: Path, side: str, files: int, mean: float = 0.1, seed: int = 1) -> list[str]:
    rng = np.random.default_rng([seed, ord(side[0]), int(mean * 1e6)])
    own = []
    for number in range(files):
        times = (mean * rng.normal(1, 0.01) * rng.normal(1, 0.01, 8)).tolist()
        own.append(f"{side}=" + export(folder / f"{side}{number}.json", {"parse": times}))
    return own


def lines_of(file: Path, kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [line for line in found if line["type"] == kind]


@pytest.mark.parametrize(("level", "second"), [("build", (0, 1, 0)), ("execution", (0, 0, 1)), ("session", (1, 0, 0))])
def test_the_user_may_say_what_a_file_is(tmp_path: Path, level: str, second: tuple[int, int, int]) -> None:
    files, out = [*drawn(tmp_path, "base", 2), *drawn(tmp_path, "head", 3)], tmp_path / "m.jsonl"
    code, text, err = run("import", *files, "--each", level, "--out", str(out))
    assert (code, text) == (0, "")
    executions = lines_of(out, "execution")
    assert [e["side"] for e in executions] == ["base"] * 2 + ["head"] * 3
    assert [(e["session"], e["build"], e["execution"]) for e in executions[:2]] == [(0, 0, 0), second]
    assert [len(e["metrics"]["time"]["values"]) for e in executions] == [8] * 5
    assert level != "build" or ("base  " in err and "1 benchmark, 3 builds, 3 starts, 24 values" in err)


def test_five_builds_a_side_decide_and_one_is_withheld_however_large_the_change(tmp_path: Path) -> None:
    base, slower = drawn(tmp_path, "base", 5), drawn(tmp_path, "head", 5, mean=0.12)
    code, text, _ = run("decide", *base, *slower, "--all")
    assert code == 1, text
    assert "by hyperfine, 5 builds x 1 start x 8 values of each" in " ".join(text.split())
    code, text, _ = run("decide", *drawn(tmp_path, "base", 5, seed=2), *drawn(tmp_path, "head", 5, seed=3))
    assert code == 0, text
    code, text, _ = run("decide", *drawn(tmp_path, "base", 1), *drawn(tmp_path, "head", 1, mean=1.0))
    said = " ".join(text.split())
    assert (code, "one build of each gives no interval" in said) == (0, True)
    assert "Build and measure base and head 5 times each" in said


def test_an_import_decides_as_its_files_do(tmp_path: Path) -> None:
    """Builds of each would be paired if they were a run of perfgate's own; nothing says that these took turns."""
    files = [*drawn(tmp_path, "base", 6), *drawn(tmp_path, "head", 6, mean=0.12)]
    out = tmp_path / "m.jsonl"
    assert run("import", *files, "--out", str(out))[0] == 0
    imported, whole = (json.loads(run("decide", *each, "--json", "-")[1]) for each in ([str(out)], files))
    assert imported == whole
    assert {f["ratio"]["method"] for f in whole["findings"]} == {"fieller"}


def test_aggregates_are_shown_and_never_decided(tmp_path: Path) -> None:
    means = {"a": 1.0, "b": 3.0}
    for name, mean in means.items():
        (tmp_path / name).write_text(json.dumps({"results": [{"command": "x", "mean": mean, "stddev": 0.1}]}))
    files = [str(tmp_path / name) for name in means]
    code, text, _ = run("decide", *files)
    said = "the files hold 1 aggregate without the values behind it"
    assert (code, said in " ".join(text.split()), "+200%" in text) == (4, True, True)
    out = tmp_path / "m.jsonl"
    run("import", *files, "--out", str(out))
    found = [(s["side"], s["value"], s["sd"]) for s in lines_of(out, "summary")]
    assert found == [("base", 1.0, 0.1), ("head", 3.0, 0.1)]


def test_what_failed_or_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    shutil.copy(DATA / "failing.json", file)
    code, text, _ = run("decide", f"base={file}", f"head={file}")
    assert (code, "exit 3 in 4 of 4 runs" in text) == (4, True)
    good = {"command": "a", "mean": 1, "times": [1, 2]}
    file.write_text(json.dumps({"results": [good, {"command": "b", "times": [1, None]}]}))
    code, text, _ = run("decide", f"base={file}", f"head={file}")
    said = "b failed on base: results[1]: Expected float, got null - at $.times[1]"
    assert (code, said in " ".join(text.split())) == (4, True)


def test_parameters_are_labels_and_become_factors_where_names_are_equal(tmp_path: Path) -> None:
    one = {"command": "same", "mean": 1, "times": [1.0, 2.0]}
    sizes = [{"size": "1"}, {"size": "2"}]
    (tmp_path / "a.json").write_text(json.dumps({"results": [{**one, "parameters": size} for size in sizes]}))
    out = tmp_path / "m.jsonl"
    run("import", str(tmp_path / "a.json"), "--side", "base", "--out", str(out))
    found = lines_of(out, "execution")
    assert [e["factors"] for e in found] == [e["labels"] for e in found] == sizes


def test_bad_input_gets_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        export(Path(f"{name}.json"), {"x": [1.0, 2.0]})
    Path("other.txt").write_text("hello\n", encoding="utf-8")
    Path("nothing.txt").write_text("\n", encoding="utf-8")
    Path("m.jsonl").write_text('{"type":"run","id":"r"}\n', encoding="utf-8")
    Path("empty").mkdir()
    read, write = os.pipe()
    os.close(write)
    cases = {
        ("a.json", "b.json", "c.json"): "a.json, b.json, c.json: of base or of head? write base=FILE or head=FILE",
        ("old=a.json", "b.json"): "old=a.json: a side is base or head: write base=FILE or head=FILE",
        ("other.txt",): "other.txt: is in no format that perfgate knows (`perfgate import --help` lists them; --from "
        "names one): write the values of another tool as JSON lines, see docs/import.md\n",
        ("nothing.txt",): "nothing.txt: is empty",
        ("m.jsonl",): "m.jsonl: is a measurements file already: `perfgate decide` reads it as it is",
        ("empty",): "empty: has no measurements.jsonl, nor a result file in a format that perfgate knows",
        (f"/dev/fd/{read}",): f"/dev/fd/{read}: is a pipe, which can be read only once: ",
        ("gone.json",): "gone.json: no such file or folder",
        ("base=no-*.json",): "no-*.json: no file matches",
        ("git:no-such-ref:a.json",): "git:no-such-ref:a.json: ",
        ("a.json", "--from", "hyperfin"): "",
    }
    for argv, expected in cases.items():
        code, out, err = run("import", *argv)
        assert (code, out) == (2, ""), argv
        assert err.startswith(f"perfgate: {expected}") or not expected, err
        assert len(err.splitlines()) == 1 or not expected, err
    os.close(read)


def test_out_never_replaces_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    export(Path("a.json"), {"x": [1.0, 2.0]})
    mine = Path("m.jsonl")
    mine.write_text('{"type":"run","id":"r"}\n', encoding="utf-8")
    code, _, err = run("import", "a.json", "--out", "m.jsonl")
    assert (code, mine.read_text(encoding="utf-8")) == (2, '{"type":"run","id":"r"}\n')
    assert err == "perfgate: --out m.jsonl exists and was not written by `perfgate import`: name another file\n"
    assert run("import", "a.json", "--out", "a.json")[0] == 2
    for _ in range(2):
        assert run("import", "a.json", "--out", "new.jsonl")[0] == 0
    assert run("import", "a.json")[1] == Path("new.jsonl").read_text(encoding="utf-8")


def test_what_to_do_after_failures_is_about_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    export(Path("a.json"), {"x": [1.0, 1.25, 1.5, 1.75, 1.875, 1.9375]})
    export(Path("b.json"), {"y": [1.0, 2.0]})
    export(Path("c.json"), {"x": [1.0, 2.0]}, exit_codes=[0, 1])
    export(Path("d.json"), {"x": [1.0, 1.3], "z": [1.0, 1.1]})
    export(Path("e.json"), {"x": [1.0, 1.4], "y": [1.0, 1.2]})
    one_name = "Measure both sides under one name (`hyperfine -n NAME COMMAND`), or write it"
    allow = "`perfgate decide base=d.json head=a.json --set gate.missing=pass`"
    for base, head, step in (
        ("a", "a", "Name the results of different runs: the same values stand in several files"),
        ("a", "c", "Fix what failed, measure it again, and name the new files"),
        ("d", "b", one_name),
        # of two commands, one has another name
        ("d", "e", one_name),
        ("d", "a", f"Name files that hold the missing benchmarks, or allow it with {allow}"),
    ):
        code, text, _ = run("decide", f"base={base}.json", f"head={head}.json")
        assert (code, step in " ".join(text.split())) == (4, True), text


def test_the_commands_of_one_file_have_a_way_to_be_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    export(Path("both.json"), {"./base/app run": [0.1, 0.102, 0.098], "./pr/app run": [0.12, 0.122, 0.118]})
    code, text, _ = run("decide", "both.json")
    assert code == 4
    command = "perfgate compare both.json --by benchmark --rows file"
    assert f"`perfgate decide base=FILE head=FILE`; `{command}`" in " ".join(text.split())
    code, text, _ = run(*command.split()[1:])
    assert code == 0
    assert "+20.0%" in text
    # and those of a file that has no values
    rows = "command,mean,stddev,median,user,system,min,max\na,0.1,0,0.1,0,0,0.1,0.1\nb,0.12,0,0.12,0,0,0.12,0.12\n"
    Path("both.csv").write_text(rows, encoding="utf-8")
    text = " ".join(run("decide", "both.csv")[1].split())
    assert f"`{command.replace('json', 'csv')}` compares the benchmarks of one file" in text
    assert "a, b: in head alone, not compared" in text
    # one benchmark cannot be compared with itself
    export(Path("one.json"), {"a": [0.1, 0.2]})
    assert "perfgate compare" not in run("decide", "one.json")[1]
