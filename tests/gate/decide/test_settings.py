"""Findings at several settings of a factor: each is decided by itself, and the settings are named."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main
from tests.support.lines import execution, text

Lines = list[dict[str, Any]]
DIPS = (1.0, 1.004, 0.997, 1.002, 0.999, 1.003, 0.998, 1.001)


def at_settings(change: dict[str, float]) -> Lines:
    """change: head/base at each setting of load; builds differ by less than 1%."""
    return [
        execution(
            side,
            [place * DIPS[(build + shift) % 8] * (ratio if side == "head" else 1.0) for shift in (3, 5)],
            build=build,
            benchmark="request",
            factors={"load": setting},
        )
        for build in range(8)
        for side in ("base", "head")
        for place, (setting, ratio) in enumerate(change.items(), 1)
    ]


def decide(folder: Path, lines: Lines) -> tuple[int, str]:
    """The exit code, and what the terminal shows; report.json is r.json."""
    path, out, err = folder / "m.jsonl", io.StringIO(), io.StringIO()
    path.write_text(text(lines))
    code = main(["decide", str(path), "--json", str(folder / "r.json")], out, err)
    return code, err.getvalue() or out.getvalue()


def test_every_setting_is_a_finding_and_nothing_else_shares_the_error(tmp_path: Path) -> None:
    code, said = decide(tmp_path, at_settings({"idle": 1.0, "busy": 1.3, "full": 1.2}))
    report = json.loads((tmp_path / "r.json").read_text())
    assert (code, report["family"]["size"]) == (1, 3)
    assert {f["factors"]["load"]: f["verdict"] for f in report["findings"]} == {
        "idle": "unchanged", "busy": "regression", "full": "regression",
    }  # fmt: skip
    assert report["summary"]["text"].endswith(" regressed: request")
    assert not {"interactions", "where"} & {*report, *report["findings"][0]}
    assert "by factor" not in said


def test_an_experiment_on_one_side_names_the_command_that_reads_it(tmp_path: Path) -> None:
    head = [line for line in at_settings({"idle": 1.0, "busy": 1.0}) if line["side"] == "head"]
    path = tmp_path / "m.jsonl"
    nothing = f"perfgate: {path}: a study of head alone has nothing to compare: "
    assert decide(tmp_path, head) == (2, f"{nothing}run `perfgate study analyse {path}`\n")
    # a build of base that failed is none
    failure = {"type": "failure", "kind": "build", "side": "base", "build": 0, "status": "exit 2"}
    assert decide(tmp_path, [*head, failure])[0] == 4
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "error"


@pytest.mark.parametrize("number", [1, 5])
def test_the_same_execution_at_one_setting_twice_names_the_setting(tmp_path: Path, number: int) -> None:
    lines = at_settings({"idle": 1.0, "busy": 1.0})
    code, said = decide(tmp_path, [*lines, lines[number]])
    build = lines[number]["build"]
    assert code == 2
    assert f"the same start twice (request, time, base, load=busy, build {build}, start 0)" in said
