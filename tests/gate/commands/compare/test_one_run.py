"""One run has one interval: check, decide, report and compare show the same of every finding."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.cli.main import main
from gate.model import FindingMemory, MeanSquare, Memory, Remembered
from tests.support import lines
from tests.support.compared import rows_of

Line = dict[str, Any]
Shown = dict[tuple[str, str], tuple[float, float, float]]


def shown(report: Line) -> Shown:
    """What a reader of a report sees: the intervals of findings and of recorded metrics."""
    found = {}
    for f in [*report["findings"], *report["recorded"]]:
        found[f["benchmark"], f["metric"]] = (f["ratio"]["low"], f["ratio"]["high"], f["ratio"]["confidence"])
    return found


def compared(text: str) -> Shown:
    rows = rows_of(text)
    return {
        (row["benchmark"], row["metric"]): (
            float(row["ratio_low"]), float(row["ratio_high"]), float(row["confidence"])
        )
        for row in rows
        if row["row"] == "benchmark"
    }  # fmt: skip


def run(*argv: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    main(argv, out, err)
    assert not err.getvalue()
    return out.getvalue()


def written(folder: Path, rounds: dict[str, int], gate: Line, plan: Line, *more: Line, **run_line: Any) -> Path:
    """A run of some rounds of each benchmark, which share the drift of the rounds; "slow" takes 12% more in head."""
    rng = np.random.default_rng(3)
    drift = rng.normal(1, 0.03, 12)
    config = {"gate": gate, "plan": {"metrics": ["time"], **plan}}
    found: list[Line] = [{"type": "run", "created": "2026-11-20T09:00:00Z", "config": config, **run_line}]
    for name, count in rounds.items():
        for side in ("base", "head"):
            for build, own in enumerate(rng.normal(1, 0.01, 12)[:count]):
                mean = drift[build] * own * (1.12 if (name, side) == ("slow", "head") else 1.0)
                for metric in ("time", "user"):
                    values = (mean * rng.normal(1, 0.005, 3)).tolist()
                    found.append(lines.execution(side, values, build=build, benchmark=name, metric=metric, execution=0))
    merged = {(e["benchmark"], e["side"], e["build"]): e for e in found[1:]}
    for e in found[1:]:
        merged[e["benchmark"], e["side"], e["build"]]["metrics"] |= e["metrics"]
    text = lines.text([found[0], *merged.values(), *more])
    folder.mkdir()
    (folder / "measurements.jsonl").write_text(text)
    return folder


def memory() -> Any:
    session = Remembered(
        session="calibration", created="2026-11-20T08:00:00Z", rounds=20, executions=1, iterations=3, iteration=None,
        execution=None, build=MeanSquare(value=0.02**2, df=38), contrast=MeanSquare(value=0.015**2, df=19),
    )  # fmt: skip
    findings = [
        FindingMemory(benchmark=name, metric="time", factors={}, statistic="mean", sessions=[session])
        for name in ("slow", "same")
    ]
    return msgspec.to_builtins(Memory(findings=findings, contrast_nu=None, build_nu=None, unused=[]))


def looked(*numbers: int) -> list[Line]:
    return [{"type": "look", "look": n, "settled": ["slow"] if n >= 6 else []} for n in numbers]


def runs(folder: Path) -> dict[str, Path]:
    floor = {"floor": "0"}
    early = {"builds": {"min": 4, "max": 12}}
    ended = {"type": "host", "when": "end", "time": "2026-11-20T09:09:00Z", "state": {}, "stop": "budget"}
    return {
        "fixed": written(folder / "fixed", {"slow": 5, "same": 5}, floor, {"builds": 5}),
        "looks": written(
            folder / "looks", {"slow": 6, "same": 12}, floor, early, *looked(*range(1, 13)), looks=12
        ),
        "memory": written(folder / "memory", {"slow": 3, "same": 3}, floor, {"builds": 3}, memory=memory()),
        "budget": written(
            folder / "budget", {"slow": 5, "same": 5}, floor, early, *looked(*range(1, 6)), ended, looks=12
        ),
        "level": written(
            folder / "level", {"slow": 6, "same": 6}, {**floor, "family": "none", "confidence": 0.9}, {"builds": 6}
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["fixed", "looks", "memory", "budget", "level"])
def test_one_run_has_one_interval(tmp_path: Path, name: str) -> None:
    folder = runs(tmp_path)[name]
    decided = shown(json.loads(run("decide", str(folder), "--json", "-")))
    reported = shown(json.loads(run("report", str(folder), "--format", "json")))
    assert len(decided) == 4
    assert reported == decided
    text = compared(run("compare", str(folder), "--format", "csv"))
    assert text.keys() == decided.keys()
    for key, interval in decided.items():
        assert text[key] == pytest.approx(interval, rel=1e-9), key


def test_the_words_say_which_intervals(tmp_path: Path) -> None:
    text = " ".join(run("compare", str(runs(tmp_path)["looks"])).split())
    assert "as `perfgate decide` shows them" in text
    assert "after correction for 2 comparisons" in text
    assert "No correction for multiple comparisons" not in text
    assert "early stopping" not in text.partition("time")[0]


def test_sides_that_were_swapped_are_compared_without_the_gate(tmp_path: Path) -> None:
    folder = str(runs(tmp_path)["looks"])
    text = " ".join(run("compare", folder, folder, "--side-a", "head", "--side-b", "base").split())
    assert "measured with early stopping" in text
    assert "No correction for multiple comparisons" in text


def test_views_are_blocks_of_their_own_and_a_note_names_the_one_that_decided(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    benchmark = {"name": "parse", "command": "x", "instrument": "spawn"}
    config = {"benchmark": [benchmark], "plan": {"builds": 6, "executions": 10, "iterations": 1}}
    run_line = {"type": "run", "created": "2026-11-20T09:00:00Z", "turns": True, "config": config}
    found: list[Line] = []
    for number in range(120):
        place, at = divmod(number, 2)
        side = ("base", "head")[(place + at) % 2]
        active = {"base": 0.02, "head": 0.0212}[side] * rng.normal(1, 0.001)
        times = {"time": active * rng.lognormal(0.2, 0.2), "active": active, "user": active}
        metrics: Line = {name: {"unit": "s", "better": "lower", "values": [value]} for name, value in times.items()}
        metrics["active"] |= {"view_of": "time", "sharp": True}
        found.append({
            "type": "execution", "benchmark": "parse", "side": side, "build": place // 10, "execution": place % 10,
            "order": number, "own": 1.0, "metrics": metrics,
        })  # fmt: skip
    (tmp_path / "measurements.jsonl").write_text(lines.text([run_line, *found]))
    decided = json.loads(run("decide", str(tmp_path), "--json", "-"))["findings"]
    assert [(f["metric"], f["statistic"], f["verdict"]) for f in decided] == [("active", "typical", "regression")]
    text = run("compare", str(tmp_path))
    titles = [text for text in text.splitlines() if "lower is better" in text]
    assert titles == [
        "time in ms, lower is better", "active time in ms, lower is better", "user in ms, lower is better, recorded only"
    ]  # fmt: skip
    assert "the gate decides by active time: wall time varied" in " ".join(text.split())
    shown_by_compare = rows_of(run("compare", str(tmp_path), "--format", "csv"))
    low = {row["metric"]: float(row["ratio_low"]) for row in shown_by_compare if row["row"] == "benchmark"}
    for view in (decided[0], *decided[0]["beside"]):
        assert low[view["metric"]] == pytest.approx(view["ratio"]["low"], rel=1e-9)
