"""A response through every method: known effects come out, and the words say what the numbers say."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.commands.study.analysis import Method, analyse
from gate.commands.study.observations import Abridgement, Observed, Observing, observations
from gate.commands.study.tables import linear
from gate.model import UserError
from gate.model.study import Factor, LinearModel, Response, Scale
from tests.gate.commands.study.analysis import designs
from tests.support.lines import execution
from tests.support.samples import there
from tests.support.units_frame import WARPBREAKS

TAUS = (0.1, 0.5, 0.9, 0.99)


def analysed(lines: list[dict[str, Any]], *abridgements: Abridgement, order: int = 2) -> Response:
    wanted = Observing(scale="value", declared=(), order={"load": ("idle", "busy")})
    observed = observations(designs.records(lines), "time", wanted)
    method = Method(order=order, taus=TAUS, confidence=0.95, iid=False, seed=1, abridgements=abridgements)
    return analyse(observed, method)


def model(response: Response) -> LinearModel:
    return there(response.linear)


def effects(response: Response) -> dict[str, float]:
    return {term.term: term.effects[0].estimate for term in model(response).terms}


def test_known_effects_come_out_and_are_named() -> None:
    lines = designs.lines(designs.LOAD, designs.additive, 6)
    found = analysed(lines)
    assert effects(found)["load"] == pytest.approx(2, abs=0.15)
    assert effects(found)["sched"] == pytest.approx(1, abs=0.15)
    assert effects(found)["clients"] == pytest.approx(0, abs=0.15)
    assert (found.balanced, found.lacking, len(found.treatments)) == (True, [], 8)
    # the series is in the order of the run
    assert [point.order for point in found.series] == list(range(48))
    for point, line in zip(found.series, lines, strict=True):
        assert found.treatments[point.treatment].settings == line["factors"]
        assert point.value == pytest.approx(np.mean(line["metrics"]["time"]["values"]))
    assert found.words[0].startswith("load has the largest effect on the mean: +")
    assert "from idle to busy" in found.words[0]
    assert any(text.startswith("sched has an effect on the mean, too: +") for text in found.words)
    assert any("Without a clear effect on the mean: clients (at most" in text for text in found.words)
    assert [b.order for b in found.blocks if b.factor == "load"] == [["idle", "busy"]]


def test_the_linear_model_misses_what_the_99th_percentile_shows() -> None:
    """QR sections 5.2 and 6: a factor that acts on the upper tail alone is small on the mean and large on p99."""
    found = analysed(designs.lines(designs.LOAD, designs.tail, 8))
    by_tau = {m.tau: {e.term: e for e in m.effects} for m in there(found.quantiles).models}
    assert by_tau[0.99]["sched"].estimate > 10 * effects(found)["sched"]
    assert there(by_tau[0.99]["sched"].low) > 0
    assert (by_tau[0.5]["sched"].p or 0) > 0.05
    assert abs(effects(found)["load"]) > abs(effects(found)["sched"])
    assert any(text.startswith("sched matters most in the tail: +") for text in found.words)
    assert "sched acts at p99 only; elsewhere its effect is smaller, if there is one." in found.words


def test_abridged_data_sets_are_analysed_beside() -> None:
    lines = designs.lines(designs.LOAD, designs.additive, 4)
    found = analysed(
        lines,
        ("without", ({"sched": "cfs", "clients": "8"},)),
        ("only", ({"load": "idle", "sched": "bfs"}, {"load": "busy", "sched": "bfs"})),
    )
    without, only = found.abridged
    assert without.name == "without sched=cfs, clients=8"
    assert (without.treatments, without.balanced) == (6, False)
    assert any("sched" in text for text in without.linear.inestimable)
    assert only.name == "only load=idle, sched=bfs and load=busy, sched=bfs"
    assert (only.treatments, only.balanced) == (4, True)
    # sched has one setting left, and is no factor any more
    assert [term.term for term in only.linear.terms] == ["load", "clients", "load:clients"]
    by_hand = [line for line in lines if line["factors"]["sched"] == "bfs"]
    assert only.linear.terms[0].effects[0].estimate == pytest.approx(effects(analysed(by_hand))["load"], rel=1e-9)


def test_one_execution_a_treatment_has_estimates_and_says_what_is_lacking() -> None:
    found = analysed(designs.lines(designs.LOAD, designs.additive, 1), order=3)
    assert model(found).residual_df == 0
    assert all(e.low is None for term in model(found).terms for e in term.effects)
    assert any("one execution a treatment: effects have no intervals" in text for text in found.warnings)
    assert found.words
    # without a factor that varies there is nothing to compare
    found = analysed(designs.lines({"a": [1]}, lambda _, rng: list(rng.random(5)), 3))
    assert (found.linear, found.quantiles) == (None, None)
    assert any("there is nothing to compare" in text for text in found.warnings)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.nightly)])
def test_a_factor_that_acts_everywhere_is_never_said_to_act_somewhere_only(seeds: range) -> None:
    """What is not shown is not absent: a factor of 10% on all values, of which some quantiles do not show it."""
    factors: dict[str, list[Any]] = {"a": [1, 2], "c": [1, 2]}

    def values(at: designs.Settings, rng: np.random.Generator) -> list[float]:
        return list(rng.lognormal(0, 0.5, 200) * rng.lognormal(0, 0.05) * (1.1 if at["c"] == 2 else 1))

    for seed in seeds:
        found = analysed(designs.lines(factors, values, 5, seed=seed))
        assert not [text for text in found.words if " only; elsewhere" in text]


def of_builds(seed: int, effect: float) -> list[dict[str, Any]]:
    """Two sides of six builds each, whose luck is larger than what executions differ by; head is slower by `effect`."""
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    for build, side in product(range(6), ("base", "head")):
        luck = rng.normal(0, 0.05) + (effect if side == "head" else 0)
        for load, number in product(("idle", "busy"), range(3)):
            values = np.exp(luck + rng.normal(0, 0.01) + rng.normal(0, 0.1, 100)).tolist()
            at: dict[str, Any] = {"build": build, "execution": number, "factors": {"load": load}, "order": len(found)}
            found.append(execution(side, values, **at))
    return found


def test_the_effect_of_a_side_is_told_by_its_builds() -> None:
    lines = of_builds(1, 0.3)
    found = analysed(lines)
    strata = [(s.name, s.groups, s.df) for s in model(found).strata]
    assert strata == [("build", 12, 5), ("build x treatment", 24, 10), ("execution", 72, 48)]
    (of_side,) = (term for term in model(found).terms if term.term == "side")
    assert (of_side.stratum, of_side.error_df) == ("build", 5)
    # six lines of a build, base before head
    base, head = (
        np.array([np.mean(line["metrics"]["time"]["values"]) for line in lines]).reshape(6, 2, 6).mean(axis=2).T
    )
    assert of_side.p == pytest.approx(stats.ttest_rel(head, base).pvalue, rel=1e-9)
    assert of_side.effects[0].estimate == pytest.approx((head - base).mean() / 2, rel=1e-9)
    assert any(text.startswith("side has the largest effect on the mean") for text in found.words)


def test_one_build_of_each_side_tells_nothing_of_the_side() -> None:
    lines = [line for line in of_builds(3, 0.5) if line["build"] == 0]
    found = analysed(lines)
    assert any(text.startswith("No conclusion about side: too few builds") for text in found.words)
    assert not any("side has" in text or "side (" in text for text in found.words)
    assert any("side varies by build, and a setting has one build only" in text for text in found.warnings)


@pytest.mark.parametrize("effect", [1.0, 0.0])
def test_an_unreplicated_design_is_judged_by_lenths_method(effect: float) -> None:
    factors = {name: [0, 1] for name in "abcd"}

    def values(at: designs.Settings, rng: np.random.Generator) -> list[float]:
        return [10 + effect * at["a"] + effect * at["b"] * at["d"] + 0.02 * float(rng.normal())]

    found = analysed(designs.lines(factors, values, 1, seed=4), order=4)
    if effect:
        assert found.words[0].startswith("Each treatment has one observation; by Lenth's method more than noise: a (+")
        assert {c.term for c in found.claims if c.claimed} == {"a", "b", "d", "b:d"}
    else:
        assert found.words[0] == "By Lenth's method no contrast is more than noise: each treatment has one observation."


def test_sentences_about_a_fraction_name_the_alias_sets() -> None:
    factors = {name: [0, 1] for name in "abc"}

    def values(at: designs.Settings, rng: np.random.Generator) -> list[float]:
        return [10 + at["a"] + 0.05 * float(rng.normal())]

    half = designs.lines(factors, values, 5, leave_out=lambda at: (at["a"] + at["b"] + at["c"]) % 2 == 0)
    found = analysed(half)
    assert found.words[0].startswith("a, or b:c, has the largest effect on the mean: +")
    assert any("b, or a:c, (at most" in text and "c, or a:b, (at most" in text for text in found.words)


STEEL = (
    (360, {"C2": 73, "C3": 83, "C1": 67, "C4": 89}), (370, {"C1": 65, "C3": 87, "C4": 86, "C2": 91}),
    (380, {"C3": 147, "C1": 155, "C2": 127, "C4": 212}), (380, {"C4": 153, "C3": 90, "C2": 100, "C1": 108}),
    (370, {"C4": 150, "C1": 140, "C3": 121, "C2": 142}), (360, {"C1": 33, "C4": 54, "C2": 8, "C3": 46}),
)  # fmt: skip
"""Corrosion of steel bars: heats of a furnace are whole plots (Box, Hunter and Hunter 2005, chapter 9)."""


def test_a_split_plot_without_a_design_is_told_from_its_builds() -> None:
    found = analysed([
        execution("head", [value], build=heat, execution=k, factors={"heat": heated, "coating": coating})
        for heat, (heated, plot) in enumerate(STEEL) for k, (coating, value) in enumerate(plot.items())
    ])  # fmt: skip
    assert [t.term for t in model(found).terms] == ["heat", "coating", "heat:coating"]
    assert [t.sum_of_squares for t in model(found).terms] == pytest.approx([26519.25, 4289.125, 3269.75])
    assert [t.f for t in model(found).terms] == pytest.approx([2.7549, 11.4798, 4.3757], abs=1e-3)
    assert not any(c.claimed for c in found.claims if c.term == "heat")


def test_the_other_scale_is_judged_as_the_sentences_are() -> None:
    """By Holm over the terms alone wool:tension would be clear on the plain scale, where no sentence says so."""
    found = analysed([
        execution("head", [value], execution=k % 9, factors={"wool": "AB"[k // 27], "tension": "LMH"[k // 9 % 3]})
        for k, value in enumerate(WARPBREAKS)
    ])  # fmt: skip
    assert [t.p for t in model(found).terms] == pytest.approx([0.05821, 0.0006926, 0.02104], abs=1e-5)
    assert [c.term for c in found.claims if c.claimed and c.statistic == "mean"] == ["tension"]
    assert found.other_scale == "On the log scale the same terms of the linear model are clear."
    # an effect that cancels is 0, not what rounding leaves of it
    assert model(found).terms[2].effects[0].estimate == 0.0
    # twice the half-width of the difference of two tensions: t of 48 degrees is 2.0106
    reach = 2 * 2.0106 * there(model(found).residual_sd) * (2 / 18) ** 0.5
    assert any(f"A change of the mean by {reach:.1f} s" in words for words in found.words)


def test_an_interaction_beside_an_empty_cell_and_a_mean_near_zero() -> None:
    lines = designs.lines(
        {"a": ["p", "q", "r"], "c": [1, 2, 4]}, lambda _, rng: [rng.normal(10)], 5,
        leave_out=lambda at: (at["a"], at["c"]) == ("r", 4),
    )  # fmt: skip
    found = model(analysed(lines))
    assert found.block is not None
    assert [term.term for term in found.terms] == ["a", "c"]
    # no share of a mean near zero is told
    lines = designs.lines({"a": ["p", "q"]}, lambda at, rng: [rng.normal(5 if at["a"] == "q" else -4.99)], 8)
    (reach,) = (words for words in analysed(lines).words if words.startswith("A change of the mean by"))
    assert "of it" not in reach


def test_blocks_are_named_with_what_the_factors_leave() -> None:
    """The sum of squares of residuals has that of blocks in it, of which the error of terms is free (R's sleep)."""
    first = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
    second = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
    found = analysed([
        execution("head", [value], build=patient, execution=k, factors={"drug": k + 1})
        for patient, both in enumerate(zip(first, second, strict=True)) for k, value in enumerate(both)
    ])  # fmt: skip
    assert model(found).block == "build"
    assert model(found).terms[0].p == pytest.approx(0.002833, abs=1e-6)
    assert linear(found, model(found), 0.95).rows[-1].cells[0].text == "residuals, builds among them"
    assert any("83.9% is noise, what differs between builds, or what was not varied." in words for words in found.words)


# --- lines with factors -> observations -------------------------------------------------------------------------------


def observed(
    lines: list[dict[str, Any]],
    *,
    scale: Scale = "value",
    declared: tuple[Factor, ...] = (),
    order: dict[str, tuple[str, ...]] | None = None,
) -> Observed:
    wanted = Observing(scale=scale, declared=declared, order=order or {})
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
