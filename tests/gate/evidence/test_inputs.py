"""Which files a RUN argument stands for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gate.evidence.inputs import read_inputs
from gate.model import UserError
from tests.support.lines import builds, text


def left(folder: Path) -> Path:
    """Leave measurements in a folder."""
    folder.mkdir(parents=True)
    file = folder / "measurements.jsonl"
    file.write_text(text(builds("base", [[[0.1]]])))
    return file


def test_a_folder_of_downloads_stands_for_all_parts(tmp_path: Path) -> None:
    parts = [left(tmp_path / f"perfgate-x-data-shard{number}of2-session0") for number in (2, 1)]
    left(tmp_path / "something-else")
    assert read_inputs([str(tmp_path)]).files == parts[::-1]
    own = tmp_path / "measurements.jsonl"
    own.write_text(parts[0].read_text())
    assert read_inputs([str(tmp_path)]).files == [own]


def test_a_commit_keeps_measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = left(tmp_path / "kept")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "kept"]):
        named = ["-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run(["git", *named, *command], cwd=tmp_path, check=True, capture_output=True)
    kept = read_inputs([str(file)]).records
    file.write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("git:main:kept", "git:HEAD:kept/measurements.jsonl"):
        found = read_inputs([name])
        assert ([each.record for each in found.records], found.files) == ([each.record for each in kept], [])
        assert {each.path.partition(":")[0] for each in found.records} == {"git"}


@pytest.mark.parametrize("name", ["study.json", "study.html", "report.html"])
def test_a_result_is_no_measurements(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match=rf"{name}: is a result, not measurements: give its folder"):
        read_inputs([str(tmp_path / name)])


def test_earlier_runs_are_no_parts(tmp_path: Path) -> None:
    left(tmp_path / "runs" / "perfgate-x-data")
    left(tmp_path / "calibration")
    with pytest.raises(UserError, match=r"has no measurements\.jsonl"):
        read_inputs([str(tmp_path)])


@pytest.mark.parametrize(
    "content", ['{"name": "x", "version": "1"}', "a,b\n1,2\n", '<?xml version="1.0"?>\n<testsuites/>\n', "SF:a.c\n"]
)
def test_a_file_that_is_neither_measurements_nor_a_result(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other"
    file.write_text(content, encoding="utf-8")
    for argument in (str(file), f"base={file}", f"base={tmp_path}/o*r"):
        with pytest.raises(UserError, match="other: is in no format that perfgate knows"):
            read_inputs([argument])


@pytest.mark.parametrize("content", ["", "\n", '{"ty'])
def test_measurements_that_ended_at_once_are_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.jsonl").write_text(content, encoding="utf-8")
    assert read_inputs([str(tmp_path / "m.jsonl")]).records == []


def test_a_report_stands_for_the_run_beside_it(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text('{"findings": []}', encoding="utf-8")
    with pytest.raises(UserError, match=r"is a report without its measurements\.jsonl beside it; `perfgate report"):
        read_inputs([str(report)])
    measured = tmp_path / "measurements.jsonl"
    measured.write_text(text(builds("base", [[[0.1]]])))
    assert read_inputs([str(report)]).files == [measured]
