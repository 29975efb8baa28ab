"""perfgate explain: from the profiles of a run, in process; profiling itself is tested where it happens."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gate.evidence.records import Appender
from gate.model.profile import Profile
from gate.run import profiling
from tests.gate.report import examples
from tests.gate.typed import run
from tests.support.lines import builds, text


def profiles(benchmark: str) -> list[dict[str, Any]]:
    both: list[dict[str, Any]] = msgspec.to_builtins([replace(p, benchmark=benchmark) for p in examples.profiles()])
    return both


def add(folder: Path, *lines: dict[str, Any]) -> Path:
    with (folder / "measurements.jsonl").open("a") as file:
        file.write(text(lines))
    return folder


def refused(*argv: str) -> str:
    code, out, err = run("explain", *argv)
    assert (code, out) == (2, "")
    return err


def test_the_functions_behind_a_regression(folder: Path, tmp_path: Path) -> None:
    code, out, err = run("explain", str(add(folder, *profiles("encode"))))
    assert (code, err) == (0, "")
    title, first = out.splitlines()[:2]
    assert title.startswith("why encode (callgrind, instructions +17.5%")
    assert first.startswith("  find_key: +92% of the change, src/keys.c; ")
    page, comment = tmp_path / "why.html", tmp_path / "why.md"
    code, found, _ = run("explain", str(folder), "--json", "-", "--html", str(page), "--markdown", str(comment))
    assert code == 0
    assert json.loads(found)["explanations"][0]["candidates"][0]["frame"]["function"] == "find_key"
    assert "find_key" in page.read_text() and "\n- find_key: +92% of the change" in comment.read_text()
    # a report and a file name the same run
    run("report", str(folder))
    assert {run("explain", str(folder / name))[:2] for name in ("", "report.json", "measurements.jsonl")} == {(0, out)}
    # the profiles of several jobs are read together
    part = tmp_path / "parts" / "perfgate-1-data-0"
    part.mkdir(parents=True)
    (folder / "measurements.jsonl").rename(part / "measurements.jsonl")
    assert run("explain", str(tmp_path / "parts"))[:2] == (0, out)


def test_what_did_not_regress_is_explained_by_name(folder: Path) -> None:
    add(folder, *profiles("encode"), *profiles("parse"))
    assert "why parse" not in run("explain", str(folder))[1]
    code, out, _ = run("explain", str(folder), "--benchmark", "par*")
    assert (code, out[:10], "encode" in out) == (0, "why parse ", False)


def test_nothing_regressed_is_said_but_of_a_run_that_failed_why(tmp_path: Path) -> None:
    lines = [*builds("base", [[[1.0]]] * 6), *builds("head", [[[1.0]]] * 6)]
    (tmp_path / "measurements.jsonl").write_text(text(lines))
    code, out, _ = run("explain", str(tmp_path))
    assert code == 0
    assert out.startswith("Nothing regressed, so there is nothing to explain.")
    add(tmp_path, {"type": "failure", "kind": "build", "side": "head", "build": 6, "status": "exit 2", "stderr": ""})
    code, out, _ = run("explain", str(tmp_path))
    assert (code, run("decide", str(tmp_path))[0]) == (4, 4)
    assert out.startswith("Error: head does not build: exit 2") and "Nothing regressed" not in out
    assert " ".join(out.split()).endswith("Fix the failure and run the check again.")


def test_what_is_not_slower_is_explained_where_it_is_asked_for_alone(folder: Path) -> None:
    with Appender(folder / "measurements.jsonl") as append:
        append(*(replace(each, benchmark="parse") for each in examples.profiles()))
    assert run("explain", str(folder), "--benchmark", "parse")[1].startswith("why parse (")
    code, out, _ = run("decide", str(folder), "--set", "gate.threshold=50%")
    assert (code, "why parse" in out, "why parse" in run("decide", str(folder))[1]) == (0, False, False)


def test_what_cannot_be_explained_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, why in (("nowhere", "no such file"), (".", "has no measurements.jsonl")):
        assert why in refused(name) and refused(name).count("\n") == 1
    assert "--benchmark nothing*: matches none of encode, parse" in refused(str(folder), "--benchmark", "nothing*")
    # a run of another project
    assert "has no run line" in refused(str(folder))
    # a file, which gets no profiles
    other = folder / "measured.jsonl"
    (folder / "measurements.jsonl").rename(other)
    assert "gate.explain = true" in refused(str(other))


def test_profiles_are_made_now_and_told_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("report", str(folder))
    asked: list[list[str]] = []

    def profile_run(folder: Path, benchmarks: list[str], err: io.StringIO, *, quiet: bool) -> list[Profile]:
        asked.append(list(benchmarks))
        err.write("profiling\n")
        found = [replace(each, benchmark="encode") for each in examples.profiles()]
        with Appender(folder / "measurements.jsonl") as append:
            append(*found)
        return found

    monkeypatch.setattr(profiling, "profile_run", profile_run)
    code, out, err = run("explain", str(folder))
    assert (code, asked, out[:11]) == (0, [["encode"]], "why encode ")
    first, second, last = err.splitlines()
    said = "perfgate: no profile yet of encode: builds both again and executes 1 benchmark of each side"
    assert first.startswith(said)
    assert (second, last.startswith("perfgate: the profiles are in ")) == ("profiling", True)
    # the folder's report has it from now on, with the verdict that it had
    kept = json.loads((folder / "report.json").read_text())
    assert (kept["exit_code"], kept["explanations"][0]["benchmark"]) == (1, "encode")
    assert run("explain", str(folder)) == (0, out, "")
    assert len(asked) == 1


def test_without_a_profiler_it_fails_and_names_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def profile_run(folder: Path, *_: Any, **__: Any) -> list[dict[str, Any]]:
        lacking = {"type": "unprofiled", "benchmark": "encode", "kind": "no-profiler", "profiler": "callgrind"}
        lacking["install"] = "apt-get install valgrind"
        add(folder, lacking)
        return [lacking]

    monkeypatch.setattr(profiling, "profile_run", profile_run)
    code, out, err = run("explain", str(folder))
    assert code == 4
    assert "the profiles are in" not in err
    assert "callgrind is not installed; `apt-get install valgrind`" in " ".join(out.split())
