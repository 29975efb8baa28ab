"""Edges that gave a false answer, as a user meets them: perfgate decide over a file, in process."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gate.cli.main import main
from tests.support import lines

Line = dict[str, Any]
Draw = Callable[[str, int, int], list[float]]


def executions(draw: Draw, builds: int = 6, each: int = 3, **more: Any) -> list[Line]:
    """The executions of both sides; draw: side, build and execution -> values."""
    return [
        lines.execution(side, draw(side, b, e), build=b, execution=e, **more)
        for b in range(builds)
        for e in range(each)
        for side in ("base", "head")
    ]


def decided(folder: Path, found: list[Line], *options: str) -> dict[str, Any]:
    """What report.json says of a file, with "code" and the text beside it."""
    file, report = folder / "measurements.jsonl", folder / "report.json"
    file.write_text(lines.text(found), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    code = main(["decide", str(file), "--json", str(report), *options], out, err)
    told: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return {**told, "code": code, "text": " ".join(out.getvalue().split())}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a perfgate.toml in the working directory has rules
    monkeypatch.chdir(tmp_path)


# --- floors -----------------------------------------------------------------------------------------------------------


def doubled(seed: int = 1) -> list[Line]:
    """A benchmark of 400 ns whose head takes 1,200 ns."""
    rng = np.random.default_rng(seed)
    return executions(lambda side, *_: (rng.normal(1, 0.02, 5) * (400e-9 if side == "base" else 1200e-9)).tolist())


def of_instrument(instrument: str) -> Line:
    return {
        "type": "run", "config": {"benchmark": [{"name": "bench", "command": "./bench", "instrument": instrument}]},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("run", "floor", "verdict"),
    [
        ([], "none", "regression"),
        ([of_instrument("values")], "none", "regression"),
        ([of_instrument("pyperf")], "1ns", "regression"),
        ([of_instrument("hyperfine")], "1us", "unchanged"),
        ([of_instrument("spawn")], "1us", "unchanged"),
    ],
)
def test_only_instruments_that_are_coarse_have_a_floor(
    tmp_path: Path, run: list[Line], floor: str, verdict: str
) -> None:
    report = decided(tmp_path, [*run, *doubled()])
    assert report["findings"][0]["verdict"] == verdict
    assert report["policy"]["gate"]["floor"] == floor
    assert report["code"] == (1 if verdict == "regression" else 0)


BY_FLOOR = "beyond it, but smaller than the floor of 1 us"


def test_a_finding_that_the_floor_decides_says_so_in_every_format(tmp_path: Path) -> None:
    # more than ten others, so that a comment shows only what is worth a row
    rng = np.random.default_rng(2)
    others = [
        line
        for k in range(25)
        for line in executions(lambda *_: (0.1 * rng.normal(1, 0.002, 5)).tolist(), benchmark=f"other-{k}")
    ]
    files = {kind: tmp_path / kind for kind in ("markdown", "html", "junit")}
    options = [part for kind, file in files.items() for part in (f"--{kind}", str(file))]
    report = decided(tmp_path, [*doubled(), *others], "--set", "gate.floor=1us", *options)
    found = next(f for f in report["findings"] if f["benchmark"] == "bench")
    assert found["verdict"] == "unchanged"
    assert {**found["reason"], "text": ""} == {
        "kind": "below-floor", "threshold": 0.03, "floor": 1e-6, "unit": "s", "text": "",
    }  # fmt: skip
    assert found["reason"]["text"] == "beyond the threshold of 3%, but smaller than the floor of 1 us"
    assert BY_FLOOR in report["text"]
    files["summary"] = tmp_path / "summary"
    with files["summary"].open("w", encoding="utf-8") as out:
        main(["report", str(tmp_path / "report.json"), "--format", "summary"], out, io.StringIO())
    for kind, file in files.items():
        assert BY_FLOOR in " ".join(file.read_text(encoding="utf-8").replace("&nbsp;", " ").split()), kind
    # of the comment's table it is the first row
    assert "`bench`" in next(line for line in files["markdown"].read_text().splitlines() if "unchanged |" in line)


def test_a_change_within_floor_and_threshold_needs_no_word_about_the_floor(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    same = executions(lambda *_: (4e-7 * rng.normal(1, 0.3, 5)).tolist())
    report = decided(tmp_path, same, "--set", "gate.floor=1us")
    assert report["findings"][0]["reason"]["kind"] == "below-floor"
    assert report["findings"][0]["reason"]["threshold"] is None
    assert "floor of" not in report["text"]


# --- rounding ---------------------------------------------------------------------------------------------------------

TOO_COARSE = "no spread: the timer may be too coarse (declare a count or size with `exact = true`)"


def ticking(seed: int, statistic: str = "", **more: Any) -> list[Line]:
    """Base always takes 0.1 s and head 0.2 s, but for a unit of last place here and there."""
    rng = np.random.default_rng(seed)
    start = {"base": 0.1, "head": 0.2}
    return executions(lambda side, *_: (start[side] * (1 + 2.0**-52 * rng.integers(0, 2, 25))).tolist(), **more)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("options", [(), ("--set", "gate.interval=bootstrap"), ("--set", "gate.interval=fieller-kj")])
def test_a_unit_of_last_place_is_no_spread(tmp_path: Path, seed: int, options: tuple[str, ...]) -> None:
    report = decided(tmp_path, ticking(seed), *options)
    (found,) = report["findings"]
    assert (found["verdict"], found["reason"]["kind"]) == ("inconclusive", "no-spread")
    assert found["p"] is None
    assert TOO_COARSE in report["text"]
    assert report["code"] == 0


def declared(**metric: Any) -> Line:
    rules = {"name": "bench", "command": "./bench", "instrument": "values", "metric": {"time": metric}}
    return {"type": "run", "config": {"benchmark": [rules]}}


def test_nor_is_it_one_of_a_quantile_or_of_several_sessions(tmp_path: Path) -> None:
    quantile = decided(tmp_path, [declared(statistics=["p50"]), *ticking(1)])
    assert [f["reason"]["kind"] for f in quantile["findings"]] == ["no-spread"]
    many = [line for session in range(3) for line in ticking(session, session=session)]
    assert [f["reason"]["kind"] for f in decided(tmp_path, many)["findings"]] == ["no-spread"]


def test_an_exact_metric_stays_exact(tmp_path: Path) -> None:
    report = decided(tmp_path, [declared(exact=True), *ticking(2)])
    (found,) = report["findings"]
    assert (found["verdict"], found["reason"]["kind"], found["warnings"]) == ("regression", "exact-exceeds", [])


def test_a_setting_whose_values_differ_by_rounding_has_no_interaction(tmp_path: Path) -> None:
    lines = [
        {**line, "factors": {"load": load}} for seed, load in enumerate(("idle", "busy")) for line in ticking(seed)
    ]
    (told,) = decided(tmp_path, lines)["interactions"]
    assert (told["verdict"], told["outcome"]["why"]["kind"]) == ("inconclusive", "no-spread")
