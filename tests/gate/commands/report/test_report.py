"""perfgate report: every format of a run, from what is there; in process."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from gate.codes import Exit
from gate.model import SIDES
from tests.gate.typed import run
from tests.support.lines import builds, execution, text


def test_every_format_of_a_run(folder: Path) -> None:
    shown = {}
    for form in ("text", "markdown", "summary", "json", "html", "junit", "csv"):
        code, shown[form], err = run("report", str(folder), "--format", form)
        assert (code, err) == (1, ""), form
    assert shown["text"].startswith("✖ Regression: encode is ")
    assert shown["markdown"].startswith("❌ **Regression**: `encode` is ")
    assert json.loads(shown["json"])["exit_code"] == 1
    assert shown["html"].startswith("<!DOCTYPE html>")
    assert ET.fromstring(shown["junit"]).find(".//failure") is not None
    assert len(list(csv.DictReader(io.StringIO(shown["csv"])))) == 2 * 2 * 6 * 2 * 5
    # of executions that all have the same place
    path = folder / "measurements.jsonl"
    path.write_text(text([{**json.loads(line), "order": 0} for line in path.read_text().splitlines()]))
    assert run("report", str(folder), "--format", "html")[1].startswith("<!DOCTYPE html>")


def test_a_format_goes_to_a_file_too(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.xml"
    code, out, _ = run("decide", str(folder), "--junit", str(file), "--quiet")
    assert (code, out) == (1, "✖ Regression: encode is 20.0% slower (at least 19.5%), threshold 2%\n")
    assert ET.parse(file).getroot().find(".//failure") is not None
    named = ("--set", "gate.threshold=2%", "--benchmark", "par*")
    page = run("decide", str(folder), *named, "--html", "-")[1]
    # how to decide the same again
    assert "--set gate.threshold=2% --benchmark &#39;par*&#39;" in page


def test_a_report_that_was_decided_shows_the_values_beside_it(folder: Path, tmp_path: Path) -> None:
    # by other rules than the run's: it stays as it was decided
    strict = ("--set", "gate.threshold=50%")
    assert run("report", str(folder), *strict, "--out", str(folder))[0] == 0
    code, page, _ = run("report", str(folder), "--format", "html")
    pictures = run("report", str(folder), *strict, "--format", "html")[1].count('class="picture"')
    assert (code, page.count('class="picture"'), pictures > 0) == (0, pictures, True)
    lonely, out = tmp_path / "report.json", ("--out", str(tmp_path / "out"))
    lonely.write_bytes((folder / "report.json").read_bytes())
    code, page, _ = run("report", str(lonely), "--format", "html", *out)
    assert (code, "violin" in page) == (0, False)
    code, _, err = run("report", str(lonely), "--format", "csv", *out)
    assert (code, err.count("\n"), "name measurements.jsonl too" in err) == (2, 1, True)
    # of an older schema
    lonely.write_text('{"schema": 1, "verdict": "pass", "exit_code": 0, "findings": []}')
    code, shown, err = run("report", str(lonely))
    assert (code, shown, len(err.splitlines())) == (Exit.USAGE, "", 1)
    assert "its schema is 1, and this perfgate reads schema 2: decide its measurements again" in err


@pytest.mark.parametrize("other", [("--set", "gate.threshold=50%"), ("--benchmark", "parse")])
def test_another_view_of_a_run_never_replaces_its_report(other: tuple[str, str], folder: Path) -> None:
    assert run("report", str(folder))[0] == 1
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert run("report", str(folder), *other)[0] == 0
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("command", ["report", "decide"])
def test_files_are_left_as_they_are(
    command: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "empty" / "values.jsonl"
    file.parent.mkdir()
    values = [[[1.0, 1.01]]] * 5
    names = [f"case-{number}" for number in range(30)]
    file.write_text(text([line for name in names for s in SIDES for line in builds(s, values, benchmark=name)]))
    monkeypatch.chdir(file.parent)
    _, out, err = run(command, file.name)
    assert (err, [each.name for each in file.parent.iterdir()]) == ("", [file.name])
    assert "run it again with `--all`" in out
    assert "report.json" not in out and "report.html" not in out and "perfgate report" not in out
    # the report of a folder names the folder
    monkeypatch.chdir(tmp_path)
    assert f"`perfgate report {folder} --all`" in run("report", str(folder))[1]


def test_values_of_another_run_are_never_shown_beside_a_report(folder: Path) -> None:
    run("report", str(folder))
    measurements = folder / "measurements.jsonl"
    first = {"type": "run", "id": "another", "base": {"sha": "1" * 40}, "head": {"sha": "2" * 40}}
    measurements.write_text(text([first]) + measurements.read_text())
    code, page, _ = run("report", str(folder), "--format", "html")
    assert (code, page.count("violin"), "no pictures of the values" in page) == (1, 0, True)
    code, _, err = run("report", str(folder), "--format", "csv")
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.endtoend
def test_a_pipe_beside_a_report_is_not_waited_for(folder: Path) -> None:
    assert run("report", str(folder))[0] == Exit.REGRESSION
    (folder / "measurements.jsonl").unlink()
    os.mkfifo(folder / "measurements.jsonl")
    command = [sys.executable, "-m", "gate", "report", str(folder), "--html", str(folder / "page.html")]
    assert subprocess.run(command, check=False, capture_output=True, timeout=60).returncode == Exit.REGRESSION


def test_csv_holds_every_value_also_of_what_failed(folder: Path) -> None:
    measurements = folder / "measurements.jsonl"
    place = {"benchmark": "encode", "side": "head", "build": 0}
    failed = {"type": "failure", "kind": "execution", **place, "status": "exit 1"}
    measurements.write_text(measurements.read_text() + text([failed, execution("head", [1.0, 2.0], benchmark="new")]))
    assert run("decide", str(folder), "--quiet")[0] == 4
    code, shown, err = run("report", str(folder), "--format", "csv")
    assert (code, err) == (4, "")
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert len(rows) == 2 * 2 * 6 * 2 * 5 + 2
    assert [row["value"] for row in rows if row["benchmark"] == "new"] == ["1.0", "2.0"]


def test_a_selection_says_that_it_is_one(folder: Path) -> None:
    code, out, _ = run("decide", str(folder), "--benchmark", "parse")
    assert code == 0
    assert "1 of 2 measured benchmarks is decided (--benchmark)" in " ".join(out.split())
    assert "(--benchmark)" not in run("decide", str(folder), "--benchmark", "*")[1]


def test_the_comment_points_to_the_run_of_a_workflow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"):
        monkeypatch.delenv(f"GITHUB_{name}", raising=False)
    assert "http" not in run("report", str(folder), "--format", "markdown")[1]
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/widget")
    monkeypatch.setenv("GITHUB_RUN_ID", "42")
    for form in ("markdown", "summary"):
        shown = run("report", str(folder), "--format", form)[1]
        assert "(https://github.example/acme/widget/actions/runs/42)" in shown
    assert "runs/42" in (folder / "comment.md").read_text()


def test_measurements_may_be_compressed(folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "measurements.jsonl.gz"
    packed.write_bytes(gzip.compress((folder / "measurements.jsonl").read_bytes()))
    assert run("decide", str(packed)) == run("decide", str(folder))
    packed.write_bytes(packed.read_bytes()[:-20])
    code, _, err = run("decide", str(packed))
    assert (code, err.count("\n")) == (2, 1)
    assert "cannot be unpacked" in err
