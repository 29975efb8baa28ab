"""The values of a case by build and execution, in the order of the run, and the change of its quantiles."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from gate.model import Case, Finding, QuantileCurve, QuantileEffect, Sample
from gate.plots.picture import Picture
from gate.plots.violins import effects, series, values
from tests.gate.plots.drawn import assert_sound, case, corners, finding, marks, paths, sample, texts
from tests.gate.report import examples
from tests.support.samples import there
from tests.support.seeds import some

Draw = Callable[[Case, str], Picture | None]


def by_build(of: Case, prefix: str) -> Picture | None:
    return values(of, finding(of), prefix)


def in_order(of: Case, prefix: str) -> Picture | None:
    return series(of, finding(of), prefix)


BOTH = pytest.mark.parametrize("draw", [by_build, in_order])


def normal(seed: int, builds: int, executions: int, iterations: int, mean: float = 0.1) -> Sample:
    values = np.random.default_rng(seed).normal(mean, mean / 50, builds * executions * iterations)
    return sample(values, builds, executions)


def pair(builds: int, executions: int, iterations: int) -> Case:
    return case(normal(1, builds, executions, iterations), normal(2, builds, executions, iterations, 0.104))


@BOTH
def test_few_values_are_all_marked(draw: Draw) -> None:
    picture = there(draw(pair(5, 2, 15), "p"))
    assert_sound(picture, "p")
    assert marks(picture, "dot-base") == marks(picture, "tri-head") == 150
    assert "are drawn" not in picture.caption
    assert {"base", "head", "time, ms"} <= set(texts(picture))


@BOTH
def test_many_values_are_thinned_and_the_caption_says_so(draw: Draw) -> None:
    picture = there(draw(pair(5, 4, 500), "p"))
    drawn = marks(picture, "dot-base") + marks(picture, "tri-head")
    assert 400 <= drawn <= 404
    assert f"{drawn} of 20,000 values are drawn, evenly chosen beside the extremes" in picture.caption


@BOTH
def test_an_outlier_is_marked_at_the_edge_and_counted(draw: Draw) -> None:
    of = pair(5, 2, 10)
    of.base.values[7] *= 50
    of.head.values[60] /= 50
    picture = there(draw(of, "p"))
    assert [marks(picture, of) for of in ("edge-base", "edge-head", "dot-base")] == [1, 1, 99]
    assert "2 of 200 values lie beyond the axis" in picture.caption
    assert_sound(picture, "p")


@BOTH
def test_orders_of_magnitude_are_on_a_log_axis_and_no_spread_is_no_picture(draw: Draw) -> None:
    spread = np.exp(np.random.default_rng(3).normal(-5, 2, 100))
    shown = texts(there(draw(case(sample(spread, 5, 2), sample(spread * 1.1, 5, 2)), "p")))
    assert any("(log axis)" in text for text in shown) and "10" in shown
    assert draw(case(sample(np.full(10, 5.0), 5, 2), sample(np.full(10, 7.0), 5, 2)), "p") is None
    assert in_order(pair(1, 1, 20), "p") is None, "one execution a side is no series"


@BOTH
def test_hostile_names_are_text(draw: Draw) -> None:
    nasty = '</text><script>alert("$x$")</script>'
    of = case(normal(1, 3, 2, 5), normal(2, 3, 2, 5), nasty, nasty, nasty)
    picture = there(draw(of, "p"))
    assert_sound(picture, "p")
    assert "<script" not in picture.svg


def test_every_build_has_its_violin_of_all_values_where_there_is_room_and_else_one_a_side() -> None:
    picture = there(by_build(pair(12, 3, 20), "p"))
    assert marks(picture, "violin-base") == 12 + 1
    assert {str(build) for build in range(12)} <= set(texts(picture))
    assert marks(there(by_build(pair(60, 2, 10), "p")), "violin-head") == 1


def test_base_stands_on_the_left_of_its_build_and_executions_apart() -> None:
    of = case(sample(np.array([1.0, 2.0, 3.0, 4.0]), 1, 2), sample(np.array([1.0, 2.0, 3.0, 4.0]), 1, 2))
    picture = there(by_build(of, "p"))
    base = [x for x, _ in corners(paths(picture, "spot-base")[0])[::2]]
    head = [x for x, _ in corners(paths(picture, "tri-head")[0])[::3]]
    assert max(base) < min(head)
    assert base == sorted(base)
    assert base[2] - base[1] > base[1] - base[0], "executions are farther apart than iterations"


def test_each_side_has_its_own_value_and_interval() -> None:
    of = pair(5, 2, 10)
    picture = there(by_build(of, "p"))
    assert [marks(picture, name) for name in ("bar-base", "bar-head", "arrow-base")] == [3, 3, 0]
    assert f"{of.base.values.mean() * 1000:.1f}" in texts(picture)
    assert picture.caption == ""
    # one that leaves the axis ends in an arrow
    picture = there(values(of, finding(of, 3.0), "p"))
    assert_sound(picture, "p")
    assert marks(picture, "arrow-base") == marks(picture, "arrow-head") == 2
    assert marks(picture, "bar-base") == 1, "no caps where it does not end"
    # a side without an interval says so
    picture = there(values(of, finding(of, None), "p"))
    assert paths(picture, "bar-base") == [] and "has no interval" in picture.caption


def test_shapes_begin_and_end_with_the_values_and_own_values_beyond_the_axis_are_not_marked() -> None:
    of = pair(2, 2, 20)
    picture = there(by_build(of, "p"))
    shape = [y for _, y in corners(paths(picture, "violin-base")[0])]
    dots = [y for _, y in corners(paths(picture, "spot-base" if "spot-base" in picture.svg else "dot-base")[0])]
    assert (min(shape), max(shape)) == pytest.approx((min(dots), max(dots)), abs=0.21)
    # an own value beyond the axis
    of = pair(5, 2, 10)
    of.base.values[7] *= 50
    picture = there(by_build(of, "p"))
    # the mark beside the name is the only one
    assert marks(picture, "big-base") == marks(picture, "arrow-base") == 1
    assert "The mean of base (" in picture.caption


def test_only_the_builds_that_the_finding_rests_on_are_drawn_the_first_of_every_session() -> None:
    of = pair(6, 2, 10)
    picture = there(values(of, finding(of, builds=4), "p"))
    assert_sound(picture, "p")
    assert marks(picture, "dot-base") == marks(picture, "tri-head") == 80
    assert "The result uses only the first 4 of 6 builds, which are drawn." in picture.caption
    assert {"0", "1", "2", "3"} <= set(texts(picture)) and "4" not in texts(picture)
    base, head = (sample(np.random.default_rng(k).normal(1, 0.1, 12), 6, 1, sessions=2) for k in range(2))
    of = case(base, head)
    assert texts(there(values(of, finding(of, builds=4), "p"))).count("1") == 3, "of both sessions, and the session"


def test_sessions_are_named() -> None:
    rng = np.random.default_rng(5)
    base, head = (sample(rng.normal(1, 0.1, 60), 6, 2, sessions=2) for _ in range(2))
    picture = there(by_build(case(base, head), "p"))
    assert {"session 0", "1"} <= set(texts(picture))
    assert {"round 0/0", "1/2"} <= set(texts(there(in_order(case(base, head), "p"))))


def test_a_series_follows_the_order_of_the_run() -> None:
    base = sample(np.array([1.0, 2.0, 3.0, 4.0]), 2, 2, [6, 1, 9, 4])
    head = sample(np.array([1.5, 2.5, 3.5, 4.5]), 2, 2, [2, 7, 5, 8])
    picture = there(in_order(case(base, head), "p"))
    at = [x for x, _ in corners(paths(picture, "spot-base")[0])[::2]]
    # the places among 1 2 4 5 6 7 8 9
    step = (at[1] - at[0]) / (0 - 4)
    assert [round((x - at[1]) / step) for x in at] == [4, 0, 7, 2]
    assert {"start, in the order of the run", "0", "7"} <= set(texts(picture))


def test_a_series_of_executions() -> None:
    of = pair(3, 2, 10)
    # where files do not give an order, or give one place twice, there is no series
    for orders in (None, np.zeros(6, dtype=np.int64)):
        assert in_order(replace(of, base=replace(of.base, orders=orders)), "p") is None
    # executions of several values have their mean
    assert marks(there(in_order(of, "p")), "bar-head") == 6
    assert marks(there(in_order(pair(3, 2, 1), "p")), "bar-head") == 0
    # of the builds that the finding rests on
    of = pair(6, 2, 10)
    picture = there(series(of, finding(of, builds=5), "p"))
    assert marks(picture, "dot-base") == marks(picture, "tri-head") == 100
    assert "The result uses only the first 5 of 6 builds, which are drawn." in picture.caption


def test_rounds_are_shaded_only_where_they_follow_each_other() -> None:
    values = np.random.default_rng(6).normal(1, 0.1, 8)
    for base, head, stripes in (([0, 2, 4, 6], [1, 3, 5, 7], 1), ([0, 4, 2, 6], [1, 5, 3, 7], 0)):
        picture = there(in_order(case(sample(values, 2, 2, base), sample(values, 2, 2, head)), "p"))
        assert marks(picture, "stripe") == stripes
        assert ("Shading separates the rounds." in picture.reading) == bool(stripes)


SCALES = (1e-54, 1e-40, 1e-12, 0.1, 1.0, 1e6, 1e40, 1e54)


def side(rng: np.random.Generator, builds: int, scale: float, kind: int) -> Sample:
    executions = rng.integers(1, 4, builds)
    iterations = rng.integers(1, 30, executions.sum())
    n = int(iterations.sum())
    made = (
        lambda: rng.normal(1, 0.02, n),
        lambda: rng.normal(0, 1, n),
        lambda: np.exp(rng.normal(0, 2, n)),
        lambda: rng.integers(0, 3, n).astype(np.float64),
        lambda: np.ones(n),
        lambda: np.where(rng.random(n) < 0.02, 1e5, 1.0) * rng.normal(1, 0.01, n),
    )
    orders = rng.permutation(int(executions.sum())) if rng.random() < 0.5 else None
    names = tuple((0, k) for k in range(builds))
    return Sample(made[kind]() * scale, (iterations, executions, np.array([builds])), names, orders)


def cases(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    scale = SCALES[seed % len(SCALES)]
    builds = rng.choice([1, 2, 5, 12, 40], 2)
    sides = [side(rng, int(n), scale, int(rng.integers(6))) for n in builds]
    return case(sides[0], sides[1], unit=("s", "B", "", "op/s")[seed % 4])


@pytest.mark.parametrize("seed", some(range(100), 20, pytest.mark.nightly))
def test_whatever_was_measured_gives_sound_pictures_or_none_and_always_the_same_bytes(seed: int) -> None:
    of = cases(seed)
    own = finding(of, None if seed % 5 == 0 else 0.01)
    for draw in (values, series):
        picture = draw(of, own, "v")
        if picture is not None:
            assert_sound(picture, "v")
            assert len(picture.svg) < 24_000
        assert picture == draw(of, own, "v")


# --- the change by quantile -------------------------------------------------------------------------------------------

FINDING = examples.finding("parse", threshold=0.03)


def curve(*points: tuple[float, float, float | None, float | None]) -> QuantileCurve:
    found = [QuantileEffect(tau=tau, ratio=ratio, low=low, high=high) for tau, ratio, low, high in points]
    return QuantileCurve(benchmark="parse", metric="time", factors={}, effects=found)


def curved(*points: tuple[float, float, float | None, float | None], finding: Finding = FINDING) -> Picture:
    picture = there(effects(curve(*points), finding, "p"))
    assert_sound(picture, "p")
    return picture


def test_each_quantile_is_marked_and_its_band_is_shaded() -> None:
    picture = curved((0.1, 1.01, 1.0, 1.02), (0.5, 1.02, 1.01, 1.03), (0.9, 1.06, 1.03, 1.08))
    assert marks(picture, "point") == 3
    assert marks(picture, "spread") == 1
    assert "pointwise, 95%, clustered by build" in " ".join(picture.reading)
    assert "no band" not in picture.caption


def test_the_thresholds_and_no_change_are_lines() -> None:
    picture = curved((0.1, 1.01, 1.0, 1.02), (0.9, 1.06, 1.03, 1.08))
    upper, _, lower, _ = corners(paths(picture, "limit")[0])
    zero = corners(paths(picture, "zero")[0])[0]
    assert upper[1] < zero[1] < lower[1]
    assert (lower[1] - zero[1]) * 1.03 == pytest.approx(zero[1] - upper[1], abs=0.21)
    assert {"+3%", "−2.91%"} <= set(texts(picture)), "1.03 and its inverse decide"
    assert "+3%, and the same ratio in the other direction, 1/1.03, which is −2.91%." in " ".join(picture.reading)


def test_what_a_curve_says_of_what_it_lacks() -> None:
    short = curved((0.2, 1.01, 1.0, 1.02), (0.8, 1.06, 1.03, 1.08))
    assert "Quantiles below 20% or above 80% need more values." in short.caption
    assert "need more" not in curved((0.1, 1.01, 1.0, 1.02), (0.99, 1.06, 1.03, 1.08)).caption
    # a missing band
    picture = curved(
        (0.1, 1.01, 1.0, 1.02), (0.2, 1.01, 1.0, 1.02), (0.5, 1.02, None, None), (0.9, 1.06, 1.03, 1.08)
    )  # fmt: skip
    assert marks(picture, "spread") == 1
    assert marks(picture, "wing-head") == 1, "a lone band is a line"
    assert "1 of 4 points have no band" in picture.caption
    # thresholds close to each other are labelled once, and one of 0 is drawn too
    shown = texts(curved((0.1, 1.9, 1.0, 2.0), (0.9, 2.0, 1.9, 2.1)))
    assert "+3%" in shown and "−2.91%" not in shown
    curved((0.5, 1.0, None, None), finding=examples.finding("x", threshold=0.0))


def test_a_band_of_any_width_does_not_flatten_the_curve() -> None:
    picture = curved((0.1, 1.01, 1.0, 1.02), (0.5, 1.05, 1.0, 1.06), (0.99, 1.06, 1e-9, 1e9))
    heights = [y for _, y in corners(paths(picture, "curve")[0])]
    assert max(heights) - min(heights) > 10
    assert "continues beyond it" in picture.caption


def test_up_is_worse_only_where_lower_is_better() -> None:
    assert "↑ worse   ↓ better" in texts(curved((0.5, 1.0, None, None)))
    higher = curved((0.5, 1.0, None, None), finding=examples.finding("x", better="higher"))
    assert "↑ better   ↓ worse" in texts(higher)
    # no point is no picture
    for points in ((), ((0.5, math.inf, None, None),)):
        assert effects(curve(*points), FINDING, "p") is None
