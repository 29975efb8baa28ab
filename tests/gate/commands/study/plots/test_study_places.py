"""Where the pictures of a study put their points: each place computed again from the ticks that the picture shows."""

import math
import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest

from gate.commands.study import words as say
from gate.commands.study.plots.effects import quantile_effects
from gate.commands.study.plots.intervals import means_by_metric, one_way, sample_sizes
from gate.commands.study.plots.means import blocks, interactions, mains
from gate.commands.study.plots.of_values import bins, boots, boxes, residuals, series, violins
from gate.commands.study.plots.styles import TreatmentValues
from gate.model.study import Box, Factor, MeanInterval, QuantileEffects, Residual, Response
from gate.plots.picture import Picture
from tests.gate.commands.study.plots import examples as examples
from tests.gate.commands.study.plots.test_study_pictures import dependence
from tests.gate.plots.drawn import SVG, corners, marks, paths, texts
from tests.support.samples import there

replace = msgspec.structs.replace
SCHED, CLIENTS, LOAD = examples.SCHED, examples.CLIENTS, examples.LOAD


def ticks_of(picture: Picture, left: float) -> dict[float, float]:
    """Numbers at the left of a panel and their pixels."""
    found = {}
    for text in ElementTree.fromstring(picture.svg).iter(f"{SVG}text"):
        number = (text.text or "").replace("−", "-")
        beside = text.get("text-anchor") == "end" and abs(float(text.get("x", "0")) - left) < 40
        if beside and re.fullmatch(r"-?[0-9.]+", number):
            found[float(number)] = float(text.get("y", "0"))
    return found


def pixel(ticks: dict[float, float], value: float) -> float:
    """Where a value stands on a linear axis with these ticks."""
    (one, at), *_, (two, to) = sorted(ticks.items())
    return at + (value - one) / (two - one) * (to - at)


def xs_of(picture: Picture, name: str, index: int = 0) -> list[tuple[float, float]]:
    return corners(paths(picture, name)[index])


def heights(picture: Picture, name: str, index: int = 0) -> list[float]:
    return [y for _, y in xs_of(picture, name, index)]


def at(picture: Picture, left: float, values: Iterable[float]) -> Any:
    """Where values stand by the ticks at the left of a panel."""
    ticks = ticks_of(picture, left)
    return pytest.approx([pixel(ticks, value) for value in values], abs=0.3)


# --- effects over the quantiles -------------------------------------------------------------------------------------


def effects_of(effects: QuantileEffects, confidence: float = 0.95, **more: Any) -> Picture:
    return there(quantile_effects("q", examples.response((SCHED,), **more), effects, confidence))


def test_effects_stand_at_their_quantile_and_height() -> None:
    effects = examples.quantile_effects((SCHED,), order=1, half=0.001)
    picture = effects_of(effects)
    line = xs_of(picture, "line-s0", 1)
    # of the second panel, which begins a third to the right
    ticks = {number: at for number, at in ticks_of(picture, 270).items() if abs(number) < 30}
    wanted = [pixel(ticks, m.effects[1].estimate * 1000) for m in effects.models]
    assert [y for _, y in line] == pytest.approx(wanted, abs=0.3)
    taus, places = np.array([m.tau for m in effects.models]), np.array([x for x, _ in line])
    slope = (places[-1] - places[0]) / (taus[-1] - taus[0])
    assert places == pytest.approx(places[0] + slope * (taus - taus[0]), abs=0.2)


def test_quantiles_without_enough_values_are_hollow_and_said() -> None:
    picture = effects_of(examples.quantile_effects((SCHED,), order=1, enough_below=0.85))
    # 90%, 95% and 99% of the intercept and of the effect
    assert (marks(picture, "spot-s0"), marks(picture, "wheel-s0")) == (8 * 2, 3 * 2)
    assert "fewer than 10 values beyond" in picture.caption
    whole = effects_of(examples.quantile_effects((SCHED,), enough_below=2), 0.9)
    assert marks(whole, "wheel-s0") == 0 and "Hollow" not in whole.caption
    assert "pointwise, 90%, with values dependent within a start (480 of them)" in whole.caption


def test_on_a_log_scale_effects_are_percent() -> None:
    effects = examples.quantile_effects((SCHED,), order=1)
    logs = [
        replace(
            m, effects=[examples.effect(e.term, e.settings, math.log(1.1)) for e in m.effects if e.settings], iid=None
        )
        for m in effects.models
    ]
    picture = effects_of(replace(effects, models=logs), scale="log")
    assert "effect on latency, %" in texts(picture)
    assert "sched: 10% at 0.1, 10% at 0.99" in picture.svg


# --- residuals ------------------------------------------------------------------------------------------------------


def test_normal_residuals_lie_on_the_line() -> None:
    quantiles = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]
    found = [Residual(fitted=0.02 + k * 0.001, residual=q * 0.003, quantile=q, cook=None, order=k)
             for k, q in enumerate(quantiles)]  # fmt: skip
    picture = there(residuals("r", examples.response(), replace(examples.diagnostics(3), residuals=found)))
    dots = np.array(sorted(xs_of(picture, "spot-s0", 1)[::2]))
    assert dots[:, 1] == pytest.approx(np.interp(dots[:, 0], *np.array(xs_of(picture, "zero", 1)).T), abs=0.3)
    assert dots[:, 1].tolist() == at(picture, 50, [q * 3 for q in quantiles])


# --- main effects and interactions ----------------------------------------------------------------------------------


def test_means_stand_at_their_heights_with_one_scale() -> None:
    own = examples.response((LOAD, SCHED))
    picture = there(mains("m", own))
    every = [[p.mean * 1000 for p in main.points] for main in own.mains]
    for number, means in enumerate(every):
        assert heights(picture, "line-s0", number) == at(picture, 20, means)
    assert heights(picture, "dotted")[:1] == at(picture, 20, [float(np.mean(np.concatenate(every)))])
    assert "not balanced" not in picture.caption
    assert "not balanced" in there(mains("m", replace(own, balanced=False))).caption


def test_an_interaction_has_a_line_for_each_setting_of_the_smaller_factor() -> None:
    own = examples.response((LOAD, SCHED))
    picture = there(interactions("i", own, own.interactions))
    by = {(p.settings["sched"], p.settings["load"]): p.mean * 1000 for p in own.interactions[0].points}
    for sched, name in (("cfs", "line-s0"), ("bfs", "line-s1")):
        assert heights(picture, name) == at(picture, 20, [by[sched, load] for load in LOAD.settings])
    assert {"cfs", "bfs", "sched by load"} <= set(texts(picture))


# --- blocks ---------------------------------------------------------------------------------------------------------


def test_every_box_holds_its_points() -> None:
    own = examples.response()
    picture = there(blocks("b", own, own.blocks[1]))
    boxes = [corners(path) for path in paths(picture, "shell")]
    assert len(boxes) == 12
    ticks = ticks_of(picture, 100)
    for box, drawn in zip(own.blocks[1].boxes, boxes, strict=True):
        ys = [pixel(ticks, mean * 1000) for _, mean in box.points]
        assert min(y for _, y in drawn) == pytest.approx(min(ys) - 9, abs=0.3)
        assert max(y for _, y in drawn) == pytest.approx(max(ys) + 9, abs=0.3)
    assert "dashed" not in picture.caption, "all boxes have the same order"


def test_a_box_is_dashed_unfilled_or_red_and_chance_is_said() -> None:
    own = examples.response((SCHED, LOAD))
    found = own.blocks[0]
    odd = Box(at={"load": "encode"}, points=[("cfs", 0.05), ("bfs", 0.04)])
    mixed = replace(found, boxes=[*found.boxes[:2], odd], complete=3, order=None, same=2, chance=None)
    picture = there(blocks("b", own, mixed))
    assert (marks(picture, "shell"), marks(picture, "limit")) == (2, 1)
    assert "dashed edge" in picture.caption
    lacking = replace(found, boxes=[*found.boxes[:2], Box(at={"load": "encode"}, points=[("cfs", 0.05)])], complete=2)
    picture = there(blocks("b", own, lacking))
    assert (marks(picture, "shell"), marks(picture, "frame"), marks(picture, "limit")) == (2, 1, 0)
    assert "1 of 3 boxes lack a setting" in picture.caption
    alone = there(blocks("b", own, replace(found, boxes=found.boxes[:1], complete=1)))
    assert "too few complete boxes to compare" in alone.caption
    # questionable treatments are red
    doubted = replace(own, questionable=[{"sched": "bfs", "load": "encode"}])
    picture = there(blocks("b", doubted, own.blocks[0]))
    assert marks(picture, "mark-regression") == marks(picture, "fine-regression") == 1
    assert "questionable" in picture.caption
    assert "questionable" not in there(blocks("b", own, own.blocks[0])).caption
    # the chance that all agree
    nist = replace(found, complete=12, chance=0.5**11)
    assert say.blocks(own, nist).endswith("in all 12 boxes; by chance alone in 0.049% of such experiments")
    assert say.blocks(own, replace(nist, chance=0.5**23)).endswith("in less than 0.001% of such experiments")
    assert say.blocks(own, replace(nist, order=None, same=11)) == "sched: the same order in 11 of 12 boxes"


# --- values, time, sessions -----------------------------------------------------------------------------------------


def test_violins_have_all_or_thinned_values_their_mean_and_rows() -> None:
    # few values are all drawn, many are thinned
    four = examples.response((SCHED, CLIENTS))
    few = there(violins("v", four, examples.samples(four.factors, 50)))
    beyond = marks(few, "edge-s0") + marks(few, "edge-s1")
    assert marks(few, "dot-s0") + marks(few, "tri-s1") >= 200 - 4 * beyond
    assert "are drawn" not in few.caption
    many = there(violins("v", four, examples.samples(four.factors, 1000)))
    assert "of 4,000 values are drawn" in many.caption
    assert marks(many, "dot-s0") + marks(many, "tri-s1") < 620
    # the bar is the mean of the values
    samples = [TreatmentValues({"sched": s}, np.linspace(a, a + 0.01, 20)) for s, a in (("bfs", 0.03), ("cfs", 0.01))]
    picture = there(violins("v", examples.response((SCHED,)), samples))
    bars = [corners(path)[0][1] for path in paths(picture, "mean")]
    assert bars == at(picture, 90, [15, 35]), "in the order of the settings"
    # more treatments than a row holds stand in rows, and the rest is said
    forty = Factor(name="forty", settings=list(range(40)))
    own = examples.response((forty, SCHED))
    picture = there(violins("v", own, examples.samples(own.factors, 12)))
    assert "The first 72 of 80 treatments are drawn." in picture.caption
    tops = {round(corners(path)[0][1]) for path in paths(picture, "axis")}
    assert len(tops) == 3


def test_an_axis_is_a_logarithm_where_the_analysis_is_one() -> None:
    own = examples.response((SCHED,))
    samples = [TreatmentValues({"sched": s}, np.geomspace(1e-4, 1e-1, 40)) for s in ("cfs", "bfs")]
    assert not any("(log axis)" in text for text in texts(there(violins("v", own, samples))))
    logs = [replace(t, mean=math.log(t.mean)) for t in own.treatments]
    picture = there(violins("v", replace(own, scale="log", treatments=logs), samples))
    assert any("(log axis)" in text for text in texts(picture))
    (one, at), (two, to), *_ = sorted(ticks_of(picture, 90).items())
    mean = math.log10(float(np.geomspace(1e-4, 1e-1, 40).mean()) * 1000)
    wanted = at + (mean - math.log10(one)) / (math.log10(two) - math.log10(one)) * (to - at)
    assert corners(paths(picture, "mean")[0])[0][1] == pytest.approx(wanted, abs=0.5)


def test_units_stand_in_their_order_with_sessions_parted() -> None:
    own = examples.response((SCHED,))
    points = [
        replace(own.series[0], order=o, session=o // 4, treatment=0, value=0.01 + 0.001 * (o % 3)) for o in range(8)
    ]
    picture = there(series("s", replace(own, series=points[::-1], treatments=own.treatments[:1])))
    dots = xs_of(picture, "spot-s0")[::2]
    assert [y for _, y in dots] == at(picture, 30, [p.value * 1000 for p in points])
    steps = np.diff([x for x, _ in dots])
    assert steps == pytest.approx(steps[0], abs=0.2)
    assert xs_of(picture, "axis")[0][0] == pytest.approx((dots[3][0] + dots[4][0]) / 2, abs=0.2)
    assert "session 0" in texts(picture)


def test_boots_stand_in_their_order_with_their_means() -> None:
    own = replace(examples.response((SCHED,)), dependences=[dependence("it does not matter")])
    drawn = [(s, 0.01 * (k + 1) + np.linspace(0, 0.001, 30)) for k, s in enumerate(("cfs", "bfs", "bfs", "cfs"))]
    picture = there(boots("t", own, "session", drawn, SCHED, adjusted=False))
    bars = [corners(path)[0][1] for path in paths(picture, "mean")]
    assert bars == at(picture, 30, [float(values.mean()) * 1000 for _, values in drawn])
    assert (marks(picture, "dot-s0"), marks(picture, "tri-s1")) == (60, 60), "each unit in the colour of its setting"
    assert {"0", "1", "2", "3", "session", "cfs", "bfs"} <= set(texts(picture))
    assert "It does not matter." in picture.caption and "taken off" not in picture.caption
    assert boots("t", own, "session", drawn[:1], SCHED, adjusted=False) is None, "one boot"
    adjusted = there(boots("t", own, "session", [(None, values) for _, values in drawn], None, adjusted=True))
    assert "What the treatments differ in is taken off." in adjusted.caption


# --- boxes, histograms, spread, means ---------------------------------------------------------------------------------


def test_a_box_has_its_quartiles_outliers_and_mean_at_their_heights() -> None:
    values = np.array([*np.linspace(0.02, 0.03, 50), 0.045])
    samples = [TreatmentValues({"sched": s}, values) for s in ("cfs", "bfs")]
    picture = there(boxes("x", examples.response((SCHED,)), samples))
    first, third = np.quantile(values, (0.25, 0.75), method="median_unbiased") * 1000
    assert sorted({*heights(picture, "box-s0")}, reverse=True) == at(picture, 90, [first, third])
    ends = {y for path in paths(picture, "fine-s0") for _, y in corners(path)}
    assert any([y] == at(picture, 90, [30]) for y in ends), "the last value within reach"
    assert heights(picture, "ring-s0")[:1] == at(picture, 90, [45])
    cross = np.mean(heights(picture, "mean"))
    assert cross == pytest.approx(pixel(ticks_of(picture, 90), float(values.mean()) * 1000), abs=0.5)


def test_a_histogram_counts_every_value_once() -> None:
    rng = np.random.default_rng(3)
    for values in (rng.gamma(3, 0.01, 700), np.round(rng.gamma(3, 0.01, 700), 3), np.repeat([0.1, 0.2], 9)):
        steps, counts = there(bins(values))
        assert int(counts.sum()) == values.size
        assert steps[0] <= values.min() and steps[-1] >= values.max() - 1e-12
        for k, count in enumerate(counts):
            inside = (values >= steps[k] - 1e-9) & (values < steps[k + 1] - 1e-9)
            assert int(count) == pytest.approx(int(inside.sum()), abs=1 if k == len(counts) - 1 else 0)
    rounded, _ = there(bins(np.round(rng.normal(0.5, 0.01, 4000), 3)))
    step = (rounded[1] - rounded[0]) / 0.001
    assert step == pytest.approx(round(step)), "bars are whole steps of what an instrument rounds to"


def test_means_and_their_intervals_have_one_span_for_metrics_of_one_unit() -> None:
    def of(metric: str, shift: float) -> Response:
        made = examples.response((SCHED,), metric=metric)
        means = [
            MeanInterval(settings=t.settings, units=20, mean=t.mean + shift, low=t.mean + shift - 0.001, high=t.mean + shift + 0.001)
            for t in made.treatments
        ]  # fmt: skip
        return replace(made, means=means, treatments=[replace(t, mean=t.mean + shift) for t in made.treatments])

    picture = there(means_by_metric("i", [of("user", 0.0), of("elapsed", 1.0)], 0.95))
    bars = [corners(path) for name in ("fine-s0", "fine-s1") for path in paths(picture, name)]
    heights = {round(max(y for _, y in bar) - min(y for _, y in bar), 0) for bar in bars if bar[0][0] == bar[1][0]}
    assert len(heights) == 1, "intervals as wide are as high in every panel"
    assert {"user, ms", "elapsed, s"} <= {text.replace("…", "") for text in texts(picture)}


# --- sample sizes and one-way ---------------------------------------------------------------------------------------


def test_coverage_and_the_nominal_line_stand_at_their_heights() -> None:
    sizes = examples.sample_sizes()
    picture = there(sample_sizes("z", examples.response(), sizes))
    nominal = xs_of(picture, "dotted", 1)[0][1]
    line = xs_of(picture, "line-s0", 1)
    shares = [r.coverage for r in sizes.rows if r.method == "t"]
    scale = (line[0][1] - nominal) / (shares[0] - 0.95)
    assert [y for _, y in line] == pytest.approx([nominal + scale * (s - 0.95) for s in shares], abs=0.2)
    assert scale < 0
    steps = np.diff([x for x, _ in line])
    assert steps == pytest.approx(steps[0], abs=0.2), "sizes double, on a log axis"


def test_boxes_go_from_quartile_to_quartile_and_units_stand_on_them() -> None:
    one = examples.one_way(LOAD)
    units = {s: np.linspace(0.021, 0.022, 30) for s in LOAD.settings}
    picture = there(one_way("o", examples.response(), one, units))
    ticks = {n: y for n, y in ticks_of(picture, 20).items() if y < 270}
    for number, row in enumerate(one.rows):
        box = corners(paths(picture, f"box-s{number}")[0])
        wanted = {round(pixel(ticks, row.quantiles[q] * 1000), 1) for q in ("25%", "75%")}
        assert sorted({y for _, y in box}) == pytest.approx(sorted(wanted), abs=0.3)
    assert (marks(picture, "dot-s0"), marks(picture, "tri-s1"), marks(picture, "tri-s2")) == (30, 30, 30)
    assert {"a", "b"} <= set(texts(picture))
