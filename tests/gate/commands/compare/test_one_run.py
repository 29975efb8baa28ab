"""One run has one interval: check, decide, report and compare show the same of every finding."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.cli.main import main
from gate.model import SIDES, FindingMemory, Memory
from gate.stats.components import remember
from tests.support import lines, simulate
from tests.support.compared import rows_of

Line = dict[str, Any]
Shown = dict[tuple[str, str], tuple[float, ...]]
CREATED = "2026-11-20T09:00:00Z"


def run(*argv: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    main(argv, out, err)
    assert not err.getvalue()
    return out.getvalue()


def said(*argv: str) -> str:
    return " ".join(run(*argv).split())


def shown(report: str) -> Shown:
    """What a reader of a report sees: the intervals of findings and of recorded metrics."""
    read = json.loads(report)
    each = [*read["findings"], *read["recorded"]]
    return {
        (f["benchmark"], f["metric"]): tuple(f["ratio"][key] for key in ("low", "high", "confidence")) for f in each
    }


def compared(folder: Path) -> Shown:
    rows = [row for row in rows_of(run("compare", str(folder), "--format", "csv")) if row["row"] == "benchmark"]
    ends = ("ratio_low", "ratio_high", "confidence")
    return {(row["benchmark"], row["metric"]): tuple(float(row[key]) for key in ends) for row in rows}


def written(folder: Path, rounds: dict[str, int], plan: Line, *more: Line, **run_line: Any) -> Path:
    """A run of some rounds of each benchmark, which share the drift of the rounds; "slow" takes 12% more in head."""
    rng = np.random.default_rng(3)
    drift = rng.normal(1, 0.03, 12)
    config = {"gate": {"floor": "0", **run_line.pop("gate", {})}, "plan": {"metrics": ["time"], **plan}}
    found: list[Line] = [{"type": "run", "created": CREATED, "config": config, **run_line}]
    for name, count in rounds.items():
        for side in SIDES:
            for build, own in enumerate(rng.normal(1, 0.01, 12)[:count]):
                mean = drift[build] * own * (1.12 if (name, side) == ("slow", "head") else 1.0)
                values = {metric: (mean * rng.normal(1, 0.005, 3)).tolist() for metric in ("time", "user")}
                metrics = {metric: {"unit": "s", "values": each} for metric, each in values.items()}
                found.append(lines.execution(side, [], build=build, benchmark=name) | {"metrics": metrics})
    folder.mkdir()
    (folder / "measurements.jsonl").write_text(lines.text([*found, *more]))
    return folder


def looks_of(folder: Path, rounds: dict[str, int], last: int, *more: Line) -> Path:
    """A run that may stop after its fourth round, and in which "slow" does after its sixth."""
    looks = [{"type": "look", "look": n, "settled": ["slow"] if n >= 6 else []} for n in range(1, last + 1)]
    return written(folder, rounds, {"builds": {"min": 4, "max": 12}}, *looks, *more, looks=12)


def remembered() -> Any:
    rng = np.random.default_rng(5)
    base, head = (simulate.sample(rng, simulate.normal, (0.02, 0.0, 0.01), (20, 1, 3)) for _ in SIDES)
    session = remember(base, head, None, session="calibration", created="2026-11-20T08:00:00Z")
    assert session is not None
    each = [
        FindingMemory(benchmark=name, metric="time", factors={}, statistic="mean", sessions=[session])
        for name in ("slow", "same")
    ]
    return msgspec.to_builtins(Memory(findings=each, contrast_nu=None, build_nu=None, unused=[]))


def test_one_run_has_one_interval(tmp_path: Path) -> None:
    def both(count: int) -> dict[str, int]:
        return {"slow": count, "same": count}

    ended = {"type": "host", "when": "end", "time": "2026-11-20T09:09:00Z", "state": {}, "stop": "budget"}
    level = {"family": "none", "confidence": 0.9}
    for folder in (
        written(tmp_path / "fixed", both(5), {"builds": 5}),
        looks_of(tmp_path / "looks", {"slow": 6, "same": 12}, 12),
        written(tmp_path / "memory", both(3), {"builds": 3}, memory=remembered()),
        looks_of(tmp_path / "budget", both(5), 5, ended),
        written(tmp_path / "level", both(6), {"builds": 6}, gate=level),
    ):
        decided = shown(run("decide", str(folder), "--json", "-"))
        assert len(decided) == 4
        assert shown(run("report", str(folder), "--format", "json")) == decided, folder.name
        found = compared(folder)
        assert found.keys() == decided.keys()
        for key, interval in decided.items():
            assert found[key] == pytest.approx(interval, rel=1e-9), (folder.name, key)
    text = said("compare", str(tmp_path / "looks"))
    assert "as `perfgate decide` shows them" in text and "after correction for 2 comparisons" in text
    assert "No correction for multiple" not in text and "early stopping" not in text.partition("time")[0]
    rows = rows_of(run("compare", str(tmp_path / "looks"), "--format", "csv"))
    assert {(row["benchmark"], row["change"]) for row in rows} >= {("slow", "worse"), ("same", "not shown")}


def test_views_are_blocks_of_their_own_and_a_note_names_the_one_that_decided(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    benchmark = {"name": "parse", "command": "x", "instrument": "spawn"}
    config = {"benchmark": [benchmark], "plan": {"builds": 6, "executions": 10, "iterations": 1}}
    found: list[Line] = [{"type": "run", "created": CREATED, "turns": True, "config": config}]
    for number in range(120):
        place, at = divmod(number, 2)
        side = SIDES[(place + at) % 2]
        active = {"base": 0.02, "head": 0.0212}[side] * rng.normal(1, 0.001)
        times = {"time": active * rng.lognormal(0.2, 0.2), "active": active, "user": active}
        metrics: Line = {name: {"unit": "s", "better": "lower", "values": [value]} for name, value in times.items()}
        metrics["active"] |= {"view_of": "time", "sharp": True}
        build, execution = divmod(place, 10)
        line = lines.execution(side, [], build=build, execution=execution, benchmark="parse", order=number, own=1.0)
        found.append(line | {"metrics": metrics})
    (tmp_path / "measurements.jsonl").write_text(lines.text(found))
    (decided,) = json.loads(run("decide", str(tmp_path), "--json", "-"))["findings"]
    assert (decided["metric"], decided["statistic"], decided["verdict"]) == ("active", "typical", "regression")
    titles = [text for text in run("compare", str(tmp_path)).splitlines() if "lower is better" in text]
    blocks = ["time in ms", "active time in ms", "user in ms"]
    assert titles == [f"{block}, lower is better{', recorded only' * (block[0] == 'u')}" for block in blocks]
    assert "the gate decides by active time: wall time varied" in said("compare", str(tmp_path))
    found_by_compare = compared(tmp_path)
    for view in (decided, *decided["beside"]):
        low = found_by_compare["parse", view["metric"]][0]
        assert low == pytest.approx(view["ratio"]["low"], rel=1e-9)
