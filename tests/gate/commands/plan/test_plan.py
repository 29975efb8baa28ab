"""perfgate plan, in process, on measured lines; and a check that plans itself."""

import io
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gate.cli.groups import RulesOptions
from gate.commands.plan.command import Options, PlanOptions, run
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.rules import most_builds
from gate.config.types import Builds, Config
from gate.model import FindingMemory, Memory, Remembered, UserError
from gate.planning.basis import from_memory
from gate.planning.plan import Wanted, planned
from gate.run.memory import project_name
from gate.stats.components import remember
from gate.stats.sequential import look_rounds
from gate.store.memory import Costs, Learned, Session, Sessions, Setup
from gate.units import Duration, Share
from harness.host.facts import facts
from harness.source.repository import find_repository
from tests.support import lines, simulate
from tests.support.project import Project as Checkout

CONFIG: dict[str, Any] = {
    "gate": {"threshold": "3%"},
    "plan": {"budget": "15m"},
    "benchmark": [{"name": name, "command": name, "instrument": "spawn"} for name in ("parse", "encode")],
}
PARSE = (0.01, 0.02, 0.03)
ENCODE = (0.002, 0.0, 0.05)


def measured(
    name: str,
    components: tuple[float, float, float],
    *,
    builds: int = 6,
    executions: int = 5,
    iterations: int = 10,
    mean: float = 0.1,
    seed: int = 1,
    **more: Any,
) -> list[dict[str, Any]]:
    """Lines of one benchmark on both sides: two iterations of warm-up, 20 ms to start."""
    rng = np.random.default_rng([seed, len(name)])
    found = []
    for side in ("base", "head"):
        nested = simulate.sample(rng, simulate.normal, components, (builds, executions, iterations), mean).values
        for line in lines.builds(side, nested.reshape(builds, executions, iterations).tolist(), benchmark=name, **more):
            (metric,) = line["metrics"].values()
            metric["dropped"] = [mean, mean]
            found.append({"warmup": 2, "seconds": sum(metric["values"]) + 2 * mean + 0.02, **line})
    return found


def built(builds: int = 6, seconds: float = 12.0) -> list[dict[str, Any]]:
    return [
        {"type": "build", "side": side, "build": b, "seconds": seconds}
        for side in ("base", "head")
        for b in range(builds)
    ]


def head(config: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "type": "run",
        "schema": 1,
        "id": "r1",
        "created": "2026-11-20T09:00:00Z",
        "config": config or CONFIG,
        **more,
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def write(folder: Path, *parts: Any, name: str = "run.jsonl") -> str:
    flat = [line for part in parts for line in (part if isinstance(part, list) else [part])]
    (folder / name).write_text(lines.text(flat), encoding="utf-8")
    return name


def plan(*runs: str, sets: tuple[str, ...] = (), benchmarks: tuple[str, ...] = (), **options: Any) -> str:
    out, err = io.StringIO(), io.StringIO()
    wanted: dict[str, Any] = {"history": None, "budget": None, "target": None, "detect": None, "json": None, **options}
    assert run(Options(PlanOptions(runs, **wanted), rules=RulesOptions(None, None, sets, benchmarks)), out, err) == 0
    return out.getvalue()


def plan_json(*runs: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan(*runs, json="-", **options))
    return found


def section(text: str) -> Config:
    """Parse the [plan] section that a text ends with, as perfgate.toml would."""
    return parse(from_tables(tomllib.loads(text[text.index("[plan]") :]), "plan"))


def two(folder: Path) -> str:
    return write(folder, head(), built(), measured("parse", PARSE), measured("encode", ENCODE))


# --- what it says -----------------------------------------------------------------------------------------------------


def test_text(folder: Path) -> None:
    text = plan(two(folder))
    assert text.startswith("from run.jsonl: 2 findings, confidence 95%, family holm; wanted: a change of\n")
    assert "a build takes 12 s" in text
    assert re.search(r"parse +20\.0 ms +200 ms +\d+(\.\d)? ms\n", text)
    assert re.search(
        r"encode +(adds nothing|0\.\d+%) +(adds nothing|\d\.\d+%) +\d\.\d% +(many|\d+) x (many|\d+)\n", text
    )
    assert "The noise of builds has 10 degrees of freedom: the true noise may be 0.70 to" in text
    assert max(map(len, text.splitlines())) <= 80
    config = section(text)
    assert config.plan.budget == Duration(900)
    assert "metrics" not in text


def test_the_section_is_the_plan(folder: Path) -> None:
    run_name = two(folder)
    found = plan_json(run_name)
    config = section(plan(run_name)).plan
    assert config == section(found["toml"]).plan
    assert (config.executions, config.iterations) == (found["plan"]["executions"], found["plan"]["iterations"])
    looks = found["plan"]["looks"]
    if isinstance(config.builds, Builds):
        assert list(look_rounds(config.builds.min, most_builds(config))) == looks
    else:
        assert looks == [config.builds]
    assert found["reached"]
    assert all(each["smallest_change"] <= 0.1 for each in found["findings"])


def test_components_and_costs_are_those_of_the_run(folder: Path) -> None:
    many = measured("parse", PARSE, builds=40, executions=8)
    found = plan_json(write(folder, head(), built(40), many), budget=Duration(36000))["findings"][0]
    t2 = found["variance"]["t2"]
    assert [t2[level] ** 0.5 for level in ("build", "execution", "iteration")] == pytest.approx(PARSE, rel=0.2)
    assert found["variance"]["build_df"] == 78
    costs = found["seconds"]
    assert (costs["build"], costs["warmup"]) == (12, pytest.approx(0.2))
    assert costs["start"] == pytest.approx(0.02)
    assert costs["iteration"] == pytest.approx(0.1, rel=0.02)
    # sqrt(2.2 x 9/4) = 2.2 and sqrt(120/2.2 x 4/1) = 14.8, from the estimates
    assert found["optimum"]["iterations"] in (2, 3)
    assert 10 <= found["optimum"]["executions"] <= 20


def test_each_setting_of_a_factor_has_costs_of_its_own(folder: Path) -> None:
    parts = [measured("sort", PARSE, mean=mean, factors={"size": size}) for size, mean in ((1, 0.1), (9, 0.9))]
    found = plan_json(write(folder, *parts))
    small, large = (each["seconds"]["iteration"] for each in found["findings"])
    assert (small, large) == (pytest.approx(0.1, rel=0.1), pytest.approx(0.9, rel=0.1))


def test_several_runs_are_pooled(folder: Path) -> None:
    one = write(folder, head(), built(), measured("parse", PARSE, seed=1), name="one.jsonl")
    # of another commit: a gate would refuse them together
    two = write(folder, head(base={"sha": "2" * 40}), built(), measured("parse", PARSE, seed=2), name="two.jsonl")
    found = plan_json(one, two)
    assert found["findings"][0]["variance"]["build_df"] == 20
    assert found["origin"] == "one.jsonl, two.jsonl"
    assert found["family"] == 1


def test_the_family_makes_smaller_changes_hard_to_find(folder: Path) -> None:
    name = two(folder)
    both = plan_json(name, budget=Duration(200))["findings"]
    alone = plan_json(name, budget=Duration(200), sets=("gate.family=none",))["findings"]
    assert all(b["smallest_change"] > a["smallest_change"] for a, b in zip(alone, both, strict=True))


def test_target_detect_and_budget(folder: Path) -> None:
    name = two(folder)
    wide, narrow = (plan_json(name, target=Share(t), budget=Duration(36000)) for t in (0.03, 0.015))
    assert all(f["half_width"] <= 0.015 for f in narrow["findings"])
    assert narrow["plan"]["seconds"]["most"] > 1.5 * wide["plan"]["seconds"]["most"]
    change = plan_json(name, detect=Share(0.08))
    assert all(f["smallest_change"] <= 0.0801 for f in change["findings"])
    assert "found in 80% of the runs" in change["aim"]


def test_a_budget_too_small_gives_the_nearest_and_says_what_it_takes(folder: Path) -> None:
    name = two(folder)
    text = plan(name, budget=Duration(160), target=Share(0.02))
    flat = " ".join(text.split())
    assert "no plan within the budget of 2 min 40 s reaches a half-width of 2.0% (it takes " in flat
    assert "this one comes nearest" in flat
    assert section(text).plan.budget == Duration(160)
    # rounds differ: a tenth of the budget stays free
    assert plan_json(name, budget=Duration(160), target=Share(0.02))["plan"]["seconds"]["most"] <= 0.9 * 160


@pytest.mark.endtoend
def test_what_no_plan_reaches_is_said_and_has_no_section_to_copy(folder: Path) -> None:
    name = two(folder)
    text = plan(name, target=Share(0.00001))
    assert "no plan reaches a half-width of 0.001%, however long" in " ".join(text.split())
    assert "[plan]" not in text
    assert (plan_json(name, target=Share(0.00001))["toml"], plan_json(name)["toml"][:6]) == (None, "[plan]")


def test_below_min_builds_it_finds_nothing(folder: Path) -> None:
    text = plan(two(folder), budget=Duration(90))
    assert re.search(r"parse .* nothing ", text)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("fixed", "The plan is for each machine by itself, which needs at least 3 builds. Over all 4 machines"),
        ("random", "the interval also contains how the change differs from machine to machine"),
    ],
)
def test_a_plan_of_several_sessions_says_what_it_is_for(folder: Path, mode: str, said: str) -> None:
    def told(sessions: int) -> str:
        config = {**CONFIG, "gate": {"sessions": mode}, "plan": {"sessions": sessions}}
        return " ".join(plan(write(folder, head(config), built(), measured("parse", PARSE))).split())

    assert said in told(4)
    assert "about 2.0 times narrower" in told(4) or mode == "random"
    assert "machine" not in told(1)


def test_metrics_of_the_config_stay_in_the_section(folder: Path) -> None:
    config = {**CONFIG, "plan": {"metrics": ["time", "user"]}}
    text = plan(write(folder, head(config), built(), measured("parse", PARSE)))
    assert section(text).plan.metrics == ["time", "user"]


def test_a_file_for_the_json(folder: Path) -> None:
    text = plan(two(folder), json="plan.json")
    assert "[plan]" in text
    assert json.loads((folder / "plan.json").read_text())["schema"] == 1


def test_json_on_stdout_warns_beside_it(folder: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    options = PlanOptions((two(folder),), None, Duration(160), Share(0.02), None, json="-")
    assert run(Options(options), out, err) == 0
    assert json.loads(out.getvalue())["reached"] is False
    assert err.getvalue() == "perfgate: no plan within the budget reaches a half-width of 2.0%\n"


def test_a_narrow_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = plan(two(folder))
    assert max(map(len, text.splitlines())) <= 44
    assert section(text).plan.budget == Duration(900)


# --- what it goes by --------------------------------------------------------------------------------------------------


def test_a_quantile_keeps_its_values(folder: Path) -> None:
    config = {
        **CONFIG,
        "benchmark": [
            {
                "name": "parse",
                "command": "x",
                "instrument": "values",
                "metric": {"time": {"statistics": ["mean", "p90"]}},
            }
        ],
    }
    run_name = write(
        folder, head(config), built(), measured("parse", (0.002, 0.002, 0.05), executions=4, iterations=50)
    )
    found = plan_json(run_name, sets=("gate.threshold=10%",), budget=Duration(36000))
    assert [f["statistic"] for f in found["findings"]] == ["mean", "p90"]
    assert found["plan"]["executions"] * found["plan"]["iterations"] >= 200
    assert "in build" in plan(run_name, budget=Duration(36000))


def test_levels_that_were_not_repeated_are_not_told_apart(folder: Path) -> None:
    text = plan(write(folder, head(), built(), measured("parse", PARSE, executions=1)))
    assert re.search(r"parse +\d\.\d% +not apart +\d\.\d% +1 x \d+", text)


def test_an_exact_metric_needs_no_plan(folder: Path) -> None:
    metric = {"size": {"unit": "B", "exact": True}}
    config = {**CONFIG, "benchmark": [{"name": "parse", "command": "x", "instrument": "values", "metric": metric}]}
    sizes = measured("parse", (0, 0, 0), metric="size", unit="B", mean=4096.0)
    with pytest.raises(UserError, match="exact metrics are compared as numbers"):
        plan(write(folder, head(config), built(), sizes))


def test_an_execution_that_does_not_say_what_an_iteration_takes(folder: Path) -> None:
    rates = measured("parse", PARSE, metric="rate", unit="1/s", mean=3.0)
    config = {**CONFIG, "benchmark": [{"name": "parse", "command": "x", "instrument": "values"}]}
    for line in rates:
        line["seconds"] = 6.0
    found = plan_json(write(folder, head(config), built(), rates))
    # 6 seconds over 2 of warm-up and 10 measured
    assert found["findings"][0]["seconds"]["iteration"] == pytest.approx(0.5)
    # what starting it costs is not known: as much as all iterations, so that no plan takes longer than it says
    assert found["findings"][0]["seconds"]["start"] == pytest.approx(5.0)
    assert any("the time of a value is not in the values" in note for note in found["notes"])


def test_the_values_of_a_suite_are_means_over_batches_that_take_longer(folder: Path) -> None:
    # go test -benchtime=200ms: a value of 1 us takes 200 ms
    lines = measured("parse", PARSE, mean=1e-6)
    for line in lines:
        line.update(seconds=2.4, suite="go")
    found = plan_json(write(folder, head(), built(), lines))
    assert found["findings"][0]["seconds"]["iteration"] == pytest.approx(0.2)
    assert any("the time of a value is not in the values" in note for note in found["notes"])


def test_builds_without_a_time_cost_nothing_and_it_says_so(folder: Path) -> None:
    found = plan_json(write(folder, head(), measured("parse", PARSE)))
    assert found["findings"][0]["seconds"]["build"] == 0
    assert "the cost of a build is not known: counted as 0" in found["notes"]


def test_only_the_benchmarks_asked_for(folder: Path) -> None:
    found = plan_json(two(folder), benchmarks=("enc*",))
    assert [f["benchmark"] for f in found["findings"]] == ["encode"]
    assert found["family"] == 1


def test_correlated_iterations_count_for_less(folder: Path) -> None:
    rng = np.random.default_rng(5)
    rows = measured("parse", (0.0, 0.0, 0.0), iterations=40)
    for line in rows:
        values = line["metrics"]["time"]["values"]
        state = 0.0
        for k in range(len(values)):
            state = 0.7 * state + rng.normal(0, 0.003)
            values[k] = 0.1 + state
    found = plan_json(write(folder, head(), built(), rows))["findings"][0]
    assert found["variance"]["correlation"] == pytest.approx(0.7, abs=0.08)


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ([head(), built(1), measured("parse", PARSE, builds=1)], {}, "one build of each"),
        ([head()], {}, "both sides have no benchmark in common"),
        ([head(), built(), measured("parse", PARSE)], {"budget": Duration(20)}, "more than the budget of 20 s leaves"),
        ([head(), built(), measured("parse", PARSE)], {"detect": Share(0.02)}, "fails only beyond its threshold of 3.0%"),
        ([head(), built(), measured("parse", PARSE)], {"sets": ("gate.threshold=0", "gate.detectable=threshold")}, "add --target or --detect"),
        ([head(), built(), measured("parse", (0, 0, 0))], {}, "no spread over builds"),
    ],
)  # fmt: skip
def test_errors(folder: Path, parts: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        plan(write(folder, *parts), **options)
    assert "\n" not in str(error.value)


def test_lines_without_any_time(folder: Path) -> None:
    rows = measured("parse", PARSE, metric="rate", unit="1/s")
    for line in rows:
        del line["seconds"]
    config = {**CONFIG, "benchmark": [{"name": "parse", "command": "x", "instrument": "values"}]}
    with pytest.raises(UserError, match="has no durations for the starts of parse"):
        plan(write(folder, head(config), rows))


# --- what is remembered -----------------------------------------------------------------------------------------------

REPOSITORY = """\
[gate]
threshold = "5%"
[[benchmark]]
name = "bench"
command = "python3 bench.py {output}"
instrument = "values"
"""
COSTS = {"parse": Costs(build=12.0, start=0.02, iteration=0.1, warmup=0.2)}


def remembered(builds: int = 20, components: tuple[float, float, float] = PARSE, seed: int = 1) -> Remembered:
    rng = np.random.default_rng(seed)
    sides = [simulate.sample(rng, simulate.normal, components, (builds, 5, 10)) for _ in range(2)]
    found = remember(sides[0], sides[1], None, session=f"s{seed}", created="2026-11-20T09:00:00Z")
    assert found is not None
    return found


def memory(*benchmarks: str) -> Memory:
    findings = [
        FindingMemory(
            benchmark=name,
            metric="time",
            factors={},
            statistic="mean",
            sessions=[remembered(seed=s) for s in (1, 2, 3)],
        )
        for name in benchmarks
    ]
    return Memory(findings=findings, contrast_nu=None, build_nu=None, unused=[])


def config(**tables: Any) -> Config:
    return parse(from_tables({**CONFIG, **tables}, "test"))


def test_a_plan_from_the_history_of_this_host(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "GITHUB_BASE_REF"):
        monkeypatch.delenv(name, raising=False)
    checkout = Checkout(folder / "widget")
    checkout.bench(1.0, **{"perfgate.toml": REPOSITORY})
    checkout.commit("base")
    monkeypatch.chdir(checkout.top)
    path = folder / "history"
    with pytest.raises(UserError, match=r"nothing is remembered about this project in .*history: name a RUN"):
        plan(history=path)
    project = project_name(find_repository(checkout.top))
    setup = Setup(command="python3 bench.py {output}", instrument="values", warmup=0, build=None)
    history = Sessions(path)
    for day, build in ((18, 30.0), (19, 12.0)):
        created = f"2026-11-{day}T09:00:00Z"
        session = Session(id=f"s{day}", created=created, kind="calibration", project=project, host=facts(), commit=None)
        learned = Learned(
            benchmark="bench",
            metric="time",
            factors={},
            statistic="mean",
            setup=setup,
            remembered=remembered(seed=day),
            costs=Costs(build=build, start=0.02, iteration=0.1, warmup=0.2),
        )
        history.add(session, [learned])
    found = plan_json(history=path)
    assert found["origin"] == "the memory of this host"
    (finding,) = found["findings"]
    # two sessions of 20 rounds on both sides
    assert finding["variance"]["build_df"] == 76
    # of independent layouts, which the checks do not have
    assert finding["memory_df"] == 0
    assert finding["threshold"] == 0.05
    # the newest session's
    assert finding["seconds"]["build"] == 12
    assert "degrees" in plan(history=path, sets=("build.layouts=independent",))


def test_a_calibrated_host_needs_fewer_builds() -> None:
    # a build so dear that its number is what counts
    costs = {"parse": Costs(build=600.0, start=0.0, iteration=0.1, warmup=0.2)}
    wide = config(
        gate={"threshold": "6%", "detectable": "threshold"}, plan={"budget": "10h"}, build={"layouts": "independent"}
    )
    found = planned(from_memory(memory("parse"), costs, wide, ["parse"], "here"), Wanted(None, None, None))
    assert len(found.plan.looks) == 1 and found.plan.looks[0] < 5


def test_what_is_not_remembered_is_named_and_counts_in_the_family() -> None:
    found = from_memory(memory("parse"), COSTS, config(), ["parse", "encode"], "here")
    assert found.notes[:1] == ("encode: nothing is remembered, so the plan leaves it out",)
    assert found.size == 2


@pytest.mark.parametrize(
    ("known", "costs", "tables", "why"),
    [
        (memory(), COSTS, {}, "nothing is remembered about parse"),
        (memory("gone"), COSTS, {}, "nothing is remembered about parse"),
        (memory("parse"), {}, {}, "has no durations for"),
        (memory("parse"), COSTS, {"plan": {"budget": "5s"}}, "two rounds of one start"),
        (memory("parse"), COSTS, {"gate": {"threshold": 0, "detectable": "threshold"}}, "threshold of 0"),
    ],
)
def test_what_cannot_be_planned_from_memory(
    known: Memory, costs: dict[str, Costs], tables: dict[str, Any], why: str
) -> None:
    with pytest.raises(UserError, match=why):
        planned(from_memory(known, costs, config(**tables), ["parse"], "here"), Wanted(None, None, None))


def test_recorded_metrics_are_not_planned_for() -> None:
    known = memory("parse")
    user = [FindingMemory(**{**_fields(f), "metric": "user"}) for f in known.findings]
    both = Memory(findings=[*known.findings, *user], contrast_nu=None, build_nu=None, unused=[])
    assert from_memory(both, COSTS, config(), ["parse"], "here").size == 1


def _fields(found: FindingMemory) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__struct_fields__}
