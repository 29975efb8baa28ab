"""perfgate plan for a gate over treatments: its time, its family, and the interactions that it would find."""

from __future__ import annotations

import io
import itertools
import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.commands.plan.command import Options, PlanOptions, run
from gate.config.parse import parse
from gate.config.source import from_tables
from gate.config.types import Config, Gate
from gate.memory.entries import Costs
from gate.model import FindingMemory, Memory, UserError
from gate.planning.basis import from_memory
from gate.planning.plan import Wanted, planned
from gate.planning.text import as_json
from gate.planning.treatments import questions
from gate.stats.remembered_variance import remember
from gate.units import Quantity, Share
from tests.support import lines, simulate
from tests.support.treated import RULES, Shape, crossed, report

LOAD = {"idle": 0.1, "busy": 0.3}
"""Seconds that a program takes at each setting."""
SIZE = (1, 2)
CONFIG: dict[str, Any] = {
    "gate": {"threshold": "3%"},
    "plan": {"budget": "30m"},
    "benchmark": [{"name": "parse", "command": ["parse", "{load}", "{size}"], "instrument": "spawn"}],
    "study": {"gate": True, "factor": {"load": list(LOAD), "size": list(SIZE)}},
}


def measured(
    cells: list[dict[str, Any]], *, rounds: int = 8, shared: float = 0.05, own: float = 0.01, build: float = 10.0
) -> list[dict[str, Any]]:
    """Lines of every treatment; shared: what a build adds at all of them, own: and at each by itself."""
    rng = np.random.default_rng(4)
    found: list[dict[str, Any]] = []
    for side, k in itertools.product(("base", "head"), range(rounds)):
        found.append({"type": "build", "side": side, "build": k, "seconds": build})
        common = rng.normal(1, shared)
        for factors in cells:
            mean = LOAD.get(factors.get("load", "idle"), 0.1) * common * rng.normal(1, own)
            for e in range(3):
                values = (mean * rng.normal(1, 0.01) * rng.normal(1, 0.02, 4)).tolist()
                line = lines.execution(side, values, build=k, execution=e, benchmark="parse", factors=factors)
                found.append({**line, "seconds": sum(values) + 0.02})
    return found


ALL = [{"load": load, "size": size} for load in LOAD for size in SIZE]


def head(config: dict[str, Any] = CONFIG) -> dict[str, Any]:
    return {"type": "run", "schema": 1, "id": "r1", "created": "2026-11-20T09:00:00Z", "config": config}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    return tmp_path


def plan(written: list[dict[str, Any]], config: dict[str, Any] = CONFIG, **options: Any) -> str:
    Path("run.jsonl").write_text(lines.text([head(config), *written]))
    out = io.StringIO()
    assert run(Options(PlanOptions(("run.jsonl",), **options)), out, io.StringIO()) == 0
    return out.getvalue()


def plan_json(written: list[dict[str, Any]], config: dict[str, Any] = CONFIG, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan(written, config, json="-", **options))
    return found


def test_the_time_is_that_of_all_treatments(folder: Path) -> None:
    found = plan_json(measured(ALL))
    counts, one = found["plan"], 0.0
    for each in found["findings"]:
        seconds = each["seconds"]
        assert seconds["iteration"] == pytest.approx(LOAD[each["factors"]["load"]], rel=0.05)
        one += counts["executions"] * (seconds["start"] + counts["iterations"] * seconds["iteration"])
    assert (found["treatments"], found["builds_per_round"]) == (4, 1)
    assert counts["seconds"]["most"] == pytest.approx(2 * counts["looks"][-1] * (10.0 + one))


def test_findings_and_interactions_share_the_error(folder: Path) -> None:
    found = plan_json(measured(ALL))
    assert [tuple(each["factors"].values()) for each in found["findings"]] == [
        ("idle", 1), ("idle", 2), ("busy", 1), ("busy", 2),
    ]  # fmt: skip
    assert found["family"] == 6
    assert [(i["factor"], i["setting"], i["against"], i["over"]) for i in found["interactions"]] == [
        ("load", "busy", ["idle"], ["size"]),
        ("size", 2, [1], ["load"]),
    ]
    text = plan(measured(ALL))
    assert "4 findings and 2 interactions" in text
    assert "plan: at most 4 treatments x " in text
    assert "load=busy against idle" in text


def test_what_builds_have_in_common_is_no_part_of_an_interaction(folder: Path) -> None:
    found = plan_json(measured(ALL, shared=0.05, own=0.002, rounds=20))
    for finding, interaction in zip(found["findings"], found["interactions"], strict=False):
        assert finding["variance"]["planned"]["build"] > 0.03**2
        assert interaction["variance"]["planned"]["build"] < 0.01**2
        assert interaction["variance"]["build_df"] == 19
        assert interaction["half_width"] < finding["half_width"]
    apart = plan_json(measured(ALL, shared=0.0, own=0.05, rounds=20))
    assert min(i["variance"]["planned"]["build"] for i in apart["interactions"]) > 0.02**2


def test_settings_with_builds_of_their_own(folder: Path) -> None:
    config = CONFIG | {"build": {"command": "make LOAD={load}"}}
    written = measured(ALL)
    for line in written:
        if line["type"] == "build":
            line["factors"] = {"load": "idle"}
    written += [line | {"factors": {"load": "busy"}} for line in written if line["type"] == "build"]
    found = plan_json(written, config)
    assert found["builds_per_round"] == 2
    assert {f["seconds"]["build"] for f in found["findings"]} == {20.0}
    assert [i["stratum"] for i in found["interactions"]] == ["build", "build-by-setting"]
    assert "the 2 builds of a side in a round take 20 s" in plan(written, config)


def test_treatments_that_were_not_measured_are_assumed(folder: Path) -> None:
    some = plan_json(measured(ALL[:3]))
    assert some["treatments"] == 4
    assert any(note.startswith("parse: 1 of 4 treatments were not measured") for note in some["notes"])
    none = plan_json(measured([{}]))
    assert (none["treatments"], none["family"]) == (4, 6)
    assert any(note.startswith("parse: none of 4 treatments was measured") for note in none["notes"])
    assert all(i["variance"]["build_df"] == 0 for i in none["interactions"])
    assert "is not known, so the figures count all of it" in plan(measured([{}]))


def test_without_study_gate_nothing_changes(folder: Path) -> None:
    config = {key: value for key, value in CONFIG.items() if key != "study"}
    found = plan_json(measured([{}]), config)
    assert (found["treatments"], found["interactions"], found["family"]) == (1, [], 1)
    with pytest.raises(UserError, match=r"study\.gate"):
        plan(measured([{}]), config, interaction=Share(0.05))
    with pytest.raises(UserError, match="above 0"):
        plan(measured(ALL), interaction=Share(0.0))


def test_a_run_that_decided_nothing(folder: Path) -> None:
    config = CONFIG | {"plan": {"metrics": ["memory"]}}
    with pytest.raises(UserError, match=r"run\.jsonl: nothing to plan from: no metric is decided"):
        plan(measured(ALL), config)


def test_an_interaction_to_be_found(folder: Path) -> None:
    found = plan_json(measured(ALL), interaction=Share(0.015))
    assert found["reached"]
    assert max(i["smallest_difference"] for i in found["interactions"]) <= 0.0151
    # looks end a benchmark that is settled, whatever its interactions need
    assert len(found["plan"]["looks"]) == 1
    assert "an interaction of 1.5% found in 80% of the runs" in found["aim"]
    less = plan_json(measured(ALL))
    assert less["plan"]["seconds"]["most"] < found["plan"]["seconds"]["most"]


def test_from_memory() -> None:
    rng = np.random.default_rng(1)
    findings = []
    for factors in ALL:
        base, top = (simulate.sample(rng, simulate.normal, (0.01, 0.02, 0.03), (12, 5, 10)) for _ in range(2))
        found = remember(base, top, None, session="s1", created="2026-11-20T09:00:00Z")
        assert found is not None
        findings.append(
            FindingMemory(benchmark="parse", metric="time", factors=factors, statistic="mean", sessions=[found])
        )
    memory = Memory(findings=findings, contrast_nu=None, build_nu=None, unused=[])
    costs = {"parse": Costs(build=10.0, start=0.02, iteration=0.2, warmup=0.0)}
    config = parse(from_tables(CONFIG, "test"))
    gathered = from_memory(memory, costs, config, ["parse"], "here")
    assert (gathered.treatments, gathered.findings, gathered.size) == (4, 4, 6)
    found_plan = json.loads(as_json(planned(gathered, Wanted(None, None, None))))
    assert found_plan["family"] == 6
    assert all(i["smallest_difference"] < 0.2 for i in found_plan["interactions"])
    # what the builds of two settings share is not remembered
    assert [i["variance"]["build_df"] for i in found_plan["interactions"]] == [0, 0]


def test_what_is_not_remembered_counts_with_all_its_questions() -> None:
    config = parse(from_tables(CONFIG, "test"))
    assert questions(config) == 6
    three = CONFIG | {"study": {"gate": True, "factor": {"load": ["a", "b", "c"], "size": [1, 2]}}}
    # six treatments, three settings against the others and one pair
    assert questions(parse(from_tables(three, "test"))) == 10
    assert questions(parse(from_tables(CONFIG | {"study": {"factor": {"load": ["a", "b"]}}}, "test"))) == 1


@pytest.mark.parametrize("shape", [Shape(builds=3), Shape(by_treatment=1, common=0.0)], ids=["builds", "by treatment"])
def test_the_interaction_that_is_predicted_is_found_in_80_of_100_runs(folder: Path, shape: Shape) -> None:
    rng = np.random.default_rng(9)
    config = CONFIG | {"study": {"gate": True, "factor": {"f0": [0, 1], "f1": [0, 1]}}}
    known = report(rng, 200, 1, (2, 2), shape)
    written = [
        lines.execution(side, [float(value)], build=k // 4, execution=k % 4, benchmark="parse", factors=case.factors)
        | {"seconds": 1.02 * float(value)}
        for case in known.cases
        for side in ("base", "head")
        for k, value in enumerate(getattr(case, side).values)
    ]
    found = plan_json(written, config, interaction=Share(0.05))
    counts = found["plan"]
    size = found["interactions"][0]["smallest_difference"]
    assert 0.03 < size < 0.0505
    # findings that are beyond their threshold too would leave the interactions a larger share of the error
    rules = msgspec.structs.replace(RULES, config=Config(gate=Gate(threshold=Share(0.5), floor=Quantity.parse("0"))))
    reports, rejected = 300, 0
    for _ in range(reports):
        drawn = report(
            rng, counts["builds"], 1, (2, 2), shape, interaction=math.log1p(size), executions=counts["executions"]
        )
        rejected += crossed(drawn, rules)[0].regression.rejected
    assert rejected / reports == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / reports))
