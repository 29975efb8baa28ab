"""perfgate plan, in process, on measured lines."""

import io
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.cli.main import main
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.rules import most_builds
from gate.config.types import Builds, Config
from gate.model import FindingMemory, Memory
from gate.stats.components import remember
from gate.stats.sequential import look_rounds
from gate.writing.units import Duration
from tests.support import lines, simulate

Line = dict[str, Any]
CONFIG: Line = {
    "gate": {"threshold": "3%"},
    "plan": {"budget": "15m"},
    "benchmark": [{"name": name, "command": name, "instrument": "spawn"} for name in ("parse", "encode")],
}
PARSE = (0.01, 0.02, 0.03)
ENCODE = (0.002, 0.0, 0.05)


def of_values(**metrics: Any) -> Line:
    """Rules for a benchmark that gives values."""
    return {**CONFIG, "benchmark": [{"name": "parse", "command": "x", "instrument": "values", "metric": metrics}]}


def measured(
    name: str, components: tuple[float, float, float], counts: tuple[int, int, int] = (6, 5, 10), *,
    mean: float = 0.1, seed: int = 1, **more: Any,
) -> list[Line]:  # fmt: skip
    """Lines of one benchmark on both sides: two iterations of warm-up, 20 ms to start."""
    rng = np.random.default_rng([seed, len(name)])
    found = []
    for side in ("base", "head"):
        nested = simulate.sample(rng, simulate.normal, components, counts, mean).values
        for line in lines.builds(side, nested.reshape(counts).tolist(), benchmark=name, **more):
            (metric,) = line["metrics"].values()
            metric["dropped"] = [mean, mean]
            found.append({"warmup": 2, "seconds": sum(metric["values"]) + 2 * mean + 0.02, **line})
    return found


def head(config: Line | None = None, *, builds: int = 6, **more: Any) -> list[Line]:
    """The line of a run, and its builds of 12 s each."""
    run = {"type": "run", "schema": 1, "id": "r1", "created": "2026-11-20T09:00:00Z", "config": config or CONFIG}
    sides = ("base", "head")
    built = [{"type": "build", "side": side, "build": b, "seconds": 12.0} for side in sides for b in range(builds)]
    return [run | more, *built]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def write(*parts: list[Line], name: str = "run.jsonl") -> str:
    Path(name).write_text(lines.text(line for part in parts for line in part), encoding="utf-8")
    return name


def run(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(("plan", *argv), out, err), out.getvalue(), err.getvalue()


def plan(*argv: str) -> tuple[str, Line]:
    """The text, and the JSON that is written beside it."""
    code, out, err = run(*argv, "--json", "plan.json")
    assert (code, err) == (0, "")
    found: Line = json.loads(Path("plan.json").read_text())
    return out, found


def section(text: str) -> Config:
    """Parse the [plan] section that a text ends with, as perfgate.toml would."""
    return parse(from_tables(tomllib.loads(text[text.index("[plan]") :]), "plan"))


@pytest.fixture
def two(folder: Path) -> str:
    return write(head(), measured("parse", PARSE), measured("encode", ENCODE))


def test_the_text_and_the_section_are_the_plan(two: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, found = plan(two)
    assert text.startswith("from run.jsonl: 2 findings, confidence 95%, family holm; wanted: a change of\n")
    assert "a build takes 12 s" in text
    assert re.search(r"parse +20\.0 ms +200 ms +\d+(\.\d)? ms\n", text)
    levels = r"encode +(adds nothing|0\.\d+%) +(adds nothing|\d\.\d+%) +\d\.\d% +(many|\d+) x (many|\d+)\n"
    assert re.search(levels, text)
    assert "The noise of builds has 10 degrees of freedom: the true noise may be 0.70 to" in text
    assert max(map(len, text.splitlines())) <= 80
    # what was not repeated is not told apart
    once = plan(write(head(), measured("parse", PARSE, (6, 1, 10)), name="once.jsonl"))[0]
    assert re.search(r"parse +\d\.\d% +not apart +\d\.\d% +1 x \d+", once)
    text, found = plan(two)
    config = section(text).plan
    assert config.budget == Duration(900)
    assert "metrics" not in text
    assert config == section(found["toml"]).plan
    assert (config.executions, config.iterations) == (found["plan"]["executions"], found["plan"]["iterations"])
    builds = config.builds
    looks = list(look_rounds(builds.min, most_builds(config))) if isinstance(builds, Builds) else [builds]
    assert found["plan"]["looks"] == looks
    assert (found["schema"], found["reached"]) == (1, True)
    assert all(each["smallest_change"] <= 0.1 for each in found["findings"])
    monkeypatch.setenv("COLUMNS", "40")
    narrow = plan(two)[0]
    assert max(map(len, narrow.splitlines())) <= 44
    assert section(narrow).plan == config


def test_a_level_that_adds_nothing_is_left_out() -> None:
    left_out = set()
    for seed in (0, 1):
        text, found = plan(write(head(), measured("flat", (0.05, 0.0, 0.05), seed=seed)))
        variance = found["findings"][0]["variance"]
        nothing = variance["t2"]["execution"] <= 0
        assert variance["dropped"] == (["execution"] if nothing else [])
        assert (variance["planned"]["execution"] == 0, "adds nothing" in text) == (nothing, nothing)
        left_out.add(nothing)
    assert left_out == {True, False}


def test_components_and_costs_are_those_of_the_run() -> None:
    many = measured("parse", PARSE, (40, 8, 10))
    (found,) = plan(write(head(builds=40), many), "--budget", "10h")[1]["findings"]
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


def test_each_setting_of_a_factor_has_costs_of_its_own_and_a_build_without_a_time_costs_nothing() -> None:
    parts = [measured("sort", PARSE, mean=mean, factors={"size": size}) for size, mean in ((1, 0.1), (9, 0.9))]
    found = plan(write(*parts))[1]
    small, large = (each["seconds"] for each in found["findings"])
    assert (small["iteration"], large["iteration"]) == (pytest.approx(0.1, rel=0.1), pytest.approx(0.9, rel=0.1))
    assert small["build"] == 0
    assert "the cost of a build is not known: counted as 0" in found["notes"]


def test_several_runs_are_pooled() -> None:
    one = write(head(), measured("parse", PARSE, seed=1), name="one.jsonl")
    # of another commit: a gate would refuse them together
    other = write(head(base={"sha": "2" * 40}), measured("parse", PARSE, seed=2), name="two.jsonl")
    found = plan(one, other)[1]
    assert found["findings"][0]["variance"]["build_df"] == 20
    assert (found["origin"], found["family"]) == ("one.jsonl, two.jsonl", 1)


def test_a_name_that_is_not_utf8_is_written(folder: Path) -> None:
    found = plan(write(head(), measured("parse", PARSE), name="caf\udce9.jsonl"))[1]
    assert found["origin"] == "caf\\udce9.jsonl"


def test_only_the_benchmarks_asked_for_and_the_family_makes_smaller_changes_hard_to_find(two: str) -> None:
    both = plan(two, "--budget", "200s")[1]["findings"]
    alone = plan(two, "--budget", "200s", "--set", "gate.family=none")[1]["findings"]
    assert all(b["smallest_change"] > a["smallest_change"] for a, b in zip(alone, both, strict=True))
    found = plan(two, "--benchmark", "enc*")[1]
    assert ([f["benchmark"] for f in found["findings"]], found["family"]) == (["encode"], 1)


def test_target_detect_and_budget(two: str) -> None:
    wide, narrow = (plan(two, "--target", target, "--budget", "10h")[1] for target in ("3%", "1.5%"))
    assert all(f["half_width"] <= 0.015 for f in narrow["findings"])
    assert narrow["plan"]["seconds"]["most"] > 1.5 * wide["plan"]["seconds"]["most"]
    change = plan(two, "--detect", "8%")[1]
    assert all(f["smallest_change"] <= 0.0801 for f in change["findings"])
    assert "found in 80% of the runs" in change["aim"]


def test_a_budget_too_small_gives_the_nearest_and_says_what_it_takes(two: str) -> None:
    text, found = plan(two, "--budget", "160s", "--target", "2%")
    nearest = "no plan within the budget of 2 min 40 s reaches a half-width of 2.0% (it takes "
    assert nearest in " ".join(text.split()) and "this one comes nearest" in " ".join(text.split())
    assert section(text).plan.budget == Duration(160)
    # rounds differ: a tenth of the budget stays free
    assert found["plan"]["seconds"]["most"] <= 0.9 * 160
    code, out, err = run(two, "--budget", "160s", "--target", "2%", "--json", "-")
    assert (code, json.loads(out)["reached"]) == (0, False)
    assert err == "perfgate: no plan within the budget reaches a half-width of 2.0%\n"
    # below min_builds it finds nothing
    assert re.search(r"parse .* nothing ", plan(two, "--budget", "90s")[0])


@pytest.mark.endtoend
def test_what_no_plan_reaches_is_said_and_has_no_section_to_copy(two: str) -> None:
    text, found = plan(two, "--target", "0.001%")
    assert "no plan reaches a half-width of 0.001%, however long" in " ".join(text.split())
    assert "[plan]" not in text and found["toml"] is None


def test_a_plan_of_several_sessions_says_what_it_is_for() -> None:
    config = {**CONFIG, "gate": {"sessions": "fixed"}, "plan": {"sessions": 4}}
    told = " ".join(plan(write(head(config), measured("parse", PARSE)))[0].split())
    assert "it cannot show how 4 of them differ (gate.sessions = fixed)" in told


def test_a_quantile_keeps_its_values_and_the_metrics_of_the_config_stay_in_the_section() -> None:
    config = of_values(time={"statistics": ["mean", "p90"]}) | {"plan": {"metrics": ["time", "user"]}}
    run_name = write(head(config), measured("parse", (0.002, 0.002, 0.05), (6, 4, 50)))
    text, found = plan(run_name, "--set", "gate.threshold=10%", "--budget", "10h")
    assert [f["statistic"] for f in found["findings"]] == ["mean", "p90"]
    assert found["plan"]["executions"] * found["plan"]["iterations"] >= 200
    assert "in build" in text
    assert section(text).plan.metrics == ["time", "user"]


def test_where_the_time_of_a_value_is_not_in_the_values_it_is_that_of_the_execution() -> None:
    rates = measured("parse", PARSE, metric="rate", unit="1/s", mean=3.0)
    # 6 seconds over 2 of warm-up and 10 measured; go test -benchtime=200ms: a value of 1 us takes 200 ms
    batches = measured("parse", PARSE, mean=1e-6, suite="go")
    for config, rows, seconds, iteration in ((of_values(), rates, 6.0, 0.5), (CONFIG, batches, 2.4, 0.2)):
        found = plan(write(head(config), [line | {"seconds": seconds} for line in rows]))[1]
        costs = found["findings"][0]["seconds"]
        # what starting it costs is not known: as much as all iterations, so that no plan takes longer than it says
        assert (costs["iteration"], costs["start"]) == pytest.approx((iteration, 10 * iteration))
        assert any("the time of a value is not in the values" in note for note in found["notes"])


def test_what_cannot_be_planned_is_refused_in_one_line() -> None:
    def refused(message: str, *argv: str, rows: list[Line] | None = None, config: Line = CONFIG) -> None:
        code, out, err = run(write(head(config), measured("parse", PARSE) if rows is None else rows), *argv)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err

    refused("one build of each", rows=measured("parse", PARSE, (1, 5, 10)))
    refused("both sides have no benchmark in common", rows=[])
    refused("no spread over builds", rows=measured("parse", (0, 0, 0)))
    refused("more than the budget of 20 s leaves", "--budget", "20s")
    refused("fails only beyond its threshold of 3.0%", "--detect", "2%")
    refused("add --target or --detect", "--set", "gate.threshold=0", "--set", "gate.detectable=threshold")
    sizes = measured("parse", (0, 0, 0), metric="size", unit="B", mean=4096.0)
    exact = of_values(size={"unit": "B", "exact": True})
    refused("exact metrics are compared as numbers", rows=sizes, config=exact)
    rates = measured("parse", PARSE, metric="rate", unit="1/s")
    untimed = [{key: value for key, value in line.items() if key != "seconds"} for line in rates]
    refused("has no durations for the starts of parse", rows=untimed, config=of_values())


def test_what_a_run_remembers_counts_where_its_layouts_are_those_of_the_next_checks() -> None:
    rng = np.random.default_rng(1)
    sides = [simulate.sample(rng, simulate.normal, PARSE, (20, 5, 10)) for _ in range(2)]
    session = remember(sides[0], sides[1], None, session="s", created="2026-11-20T08:00:00Z")
    assert session is not None
    finding = FindingMemory(benchmark="parse", metric="time", factors={}, statistic="mean", sessions=[session])
    memory = msgspec.to_builtins(Memory(findings=[finding], contrast_nu=None, build_nu=None, unused=[]))
    text, found = plan(write(head(memory=memory), measured("parse", PARSE)))
    assert found["findings"][0]["memory_df"] > 0
    assert "degrees" in text
