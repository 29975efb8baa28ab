"""Lines with factors -> observations: settings in order, units of analysis, what does not go together."""

from typing import Any

import numpy as np
import pytest

from gate.commands.study.observations import Observed, Wanted, observations
from gate.model import UserError
from gate.model.study import Factor, Scale
from tests.gate.commands.study.analysis import designs
from tests.support.lines import execution


def observed(
    lines: list[dict[str, Any]],
    *,
    scale: Scale = "value",
    declared: tuple[Factor, ...] = (),
    order: dict[str, tuple[str, ...]] | None = None,
) -> Observed:
    wanted = Wanted(scale=scale, declared=declared, order=order or {})
    return observations(designs.records(lines), "time", wanted)


def test_units_are_the_means_of_executions_in_the_order_of_the_run() -> None:
    lines = designs.lines(designs.LOAD, designs.additive, 3)
    found = observed(lines)
    assert [f.name for f in found.factors] == ["load", "clients", "sched"]
    # no design says otherwise: numbers ascend, text stands in the order of the alphabet
    assert [f.settings for f in found.factors] == [["busy", "idle"], [1, 8], ["bfs", "cfs"]]
    assert len(found.units) == 24
    assert len(found.values) == 24 * 12
    for row, line in zip(found.units.to_dict("records"), lines, strict=True):
        assert row["y"] == pytest.approx(np.mean(line["metrics"]["time"]["values"]), rel=1e-12)
        assert found.settings([int(row[f"f{i}"]) for i in range(3)]) == line["factors"]
        assert (row["order"], row["build"], row["count"]) == (line["order"], line["build"], 12)


def test_a_design_and_the_user_say_the_order_and_numbers_are_one_setting() -> None:
    lines = designs.lines(designs.LOAD, designs.additive, 1)
    declared = (Factor(name="load", settings=["idle", "busy"]), Factor(name="clients", settings=[8, 1]))
    found = observed(lines, declared=declared, order={"sched": ("cfs", "bfs")})
    assert [f.settings for f in found.factors] == [["idle", "busy"], [8, 1], ["cfs", "bfs"]]
    # 1, 1.0 and text are one setting
    lines = [execution("head", [1.0], build=b, factors={"a": a}) for b, a in enumerate((1, 1.0, 2, True))]
    assert observed(lines[:3]).factors[0].settings == [1, 2]
    assert observed(lines).factors[0].settings == ["1", "2", "true"]
    # logarithms, and base units
    lines = [execution("head", [1.0, 100.0], build=b, unit="ms", factors={"a": b}) for b in range(2)]
    assert observed(lines).units["y"].tolist() == pytest.approx([0.0505] * 2)
    logs = observed(lines, scale="log")
    assert logs.units["y"].tolist() == pytest.approx([np.log([1e-3, 0.1]).mean()] * 2)


def test_side_is_a_factor_where_both_were_measured_and_builds_are_told_apart() -> None:
    lines = [
        line
        for side in ("head", "base")
        for line in designs.lines({"a": [1, 2]}, lambda _, rng: [rng.random()], 2, side=side)
    ]
    found = observed(lines)
    of_a, of_side = ((f.name, f.settings, f.varies) for f in found.factors)
    assert (of_a, of_side) == (("a", [1, 2], "execution"), ("side", ["base", "head"], "build"))
    assert found.units["build"].nunique() == 4


def one_by_one(build: int, factors: dict[str, Any], **more: Any) -> dict[str, Any]:
    return execution("head", [1.0], build=build, factors=factors, **more)


def test_a_build_of_a_factor_that_varies_by_build_is_its_own() -> None:
    lines = designs.lines({"opt": ["O2", "O3"], "b": [1, 2]}, lambda _, rng: [rng.random()], 3)
    assert observed(lines).units["build"].nunique() == 3
    declared = (Factor(name="opt", settings=["O2", "O3"], varies="build"),)
    assert observed(lines, declared=declared).units["build"].nunique() == 6
    # sessions of runners that number them alike are told apart
    lines = [
        one_by_one(b, {"machine": m}, session=s, execution=n)
        for n, m in enumerate("xy") for s in range(2) for b in range(2)
    ]  # fmt: skip
    declared = (Factor(name="machine", settings=["x", "y"], varies="session"),)
    units = observed(lines, declared=declared).units
    assert (units["session"].nunique(), units["build"].nunique()) == (4, 8)


def test_a_factor_that_is_the_same_within_each_session_or_build_varies_by_it() -> None:
    of_session = [
        one_by_one(b, {"machine": m, "a": a}, session=s) for s, m in enumerate("xy") for b in range(2) for a in (1, 2)
    ]
    of_build = [one_by_one(b, {"opt": b % 2, "a": a}) for b in range(4) for a in (1, 2)]
    one = [line for line in of_build if line["build"] == 0]
    varies = [[f.varies for f in observed(lines).factors] for lines in (of_session, of_build, one)]
    assert varies == [["session", "execution"], ["build", "execution"], ["execution"] * 2]


def test_orders_run_on_over_sessions_and_are_unknown_when_one_line_lacks_it() -> None:
    lines = [one_by_one(b, {"a": a}, session=s, order=2 * b + a - 1) for s in (1, 0) for b in (1, 0) for a in (2, 1)]
    assert observed(lines).units["order"].tolist() == list(range(8))
    del lines[3]["order"]
    assert set(observed(lines).units["order"]) == {-1}


@pytest.mark.parametrize(
    ("lines", "scale", "said"),
    [
        ([execution("head", [1.0], factors={"side": "x"})], "value", "has side=x in its factors"),
        ([execution("head", [1.0]), execution("head", [1.0], build=1, better="higher")], "value", "disagree which direction"),
        ([execution("head", [1.0], factors={"a": 1}), execution("head", [1.0], build=1)], "value", "no setting of the factor a"),
        ([execution("head", [0.0], factors={"a": 1})], "log", "has the value 0, which has no logarithm"),
        ([execution("head", [1.0], unit="s"), execution("head", [1.0], build=1, unit="B")], "value", "several units, B, s"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_line(lines: list[dict[str, Any]], scale: Scale, said: str) -> None:
    with pytest.raises(UserError) as caught:
        observed(lines, scale=scale)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
