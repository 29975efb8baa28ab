"""compare where nothing says which direction is better, and where the metric is a share."""

import io
import json
from pathlib import Path

import pytest

from gate.cli.main import main
from tests.support.lines import builds, text


def compared(folder: Path, metric: str, base: float, head: float, *options: str) -> str:
    for side, value in (("base", base), ("head", head)):
        lines = builds(side, [[[value * (1 + k / 1000)]] for k in range(5)], metric=metric, unit="")
        (folder / f"{side}.jsonl").write_text(text(lines))
    out = io.StringIO()
    assert main(["compare", str(folder / "base.jsonl"), str(folder / "head.jsonl"), *options], out, io.StringIO()) == 0
    return out.getvalue()


def test_a_change_of_unknown_direction_is_neither_worse_nor_better(tmp_path: Path) -> None:
    assert "MatchesFound, direction unknown" in compared(tmp_path, "MatchesFound", 100.0, 120.0)
    rows = json.loads(compared(tmp_path, "MatchesFound", 100.0, 120.0, "--format", "json"))["rows"]
    (change,) = rows[0]["changes"].values()
    assert (rows[0]["better"], change["shown"]) == (None, "differs")
    assert change["ratio"] == pytest.approx(1.2, abs=0.01)


def test_a_share_changes_by_points_from_0_too(tmp_path: Path) -> None:
    found = compared(tmp_path, "error_rate", 0.0, 0.05)
    assert "error_rate, lower is better, changes in percentage points" in found
    assert "+5.0%" in found
