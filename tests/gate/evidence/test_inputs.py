"""Which files a RUN argument stands for."""

from __future__ import annotations

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


def test_earlier_runs_are_no_parts(tmp_path: Path) -> None:
    left(tmp_path / "runs" / "perfgate-x-data")
    left(tmp_path / "calibration")
    with pytest.raises(UserError, match=r"measurements\.jsonl: cannot be read"):
        read_inputs([str(tmp_path)])
