"""The quantile-effect curve."""

from __future__ import annotations

import math

import pytest

from gate.model import QuantileCurve, QuantileEffect
from gate.plots.changes import effects
from gate.plots.picture import Picture
from tests.gate.plots.drawn import assert_sound, corners, marks, paths, texts
from tests.gate.report import examples

FINDING = examples.finding("parse", threshold=0.03)


def curve(*points: tuple[float, float, float | None, float | None]) -> QuantileCurve:
    found = [QuantileEffect(tau=tau, ratio=ratio, low=low, high=high) for tau, ratio, low, high in points]
    return QuantileCurve(benchmark="parse", metric="time", factors={}, effects=found)


def drawn(*points: tuple[float, float, float | None, float | None]) -> Picture:
    picture = effects(curve(*points), FINDING, "p")
    assert picture is not None
    assert_sound(picture, "p")
    return picture


def test_each_quantile_is_marked_and_its_band_is_shaded() -> None:
    picture = drawn((0.1, 1.01, 1.0, 1.02), (0.5, 1.02, 1.01, 1.03), (0.9, 1.06, 1.03, 1.08))
    assert marks(picture, "point") == 3
    assert marks(picture, "spread") == 1
    assert "pointwise, 95%, clustered by build" in " ".join(picture.reading)
    assert "no band" not in picture.caption


def test_of_several_machines_it_says_what_is_pooled() -> None:
    points = ((0.1, 1.01, 1.0, 1.02), (0.9, 1.06, 1.03, 1.08))
    picture = effects(curve(*points), examples.machines().findings[0], "p")
    assert picture is not None
    assert "clustered by session" in " ".join(picture.reading)
    assert "All sessions are in one curve" in picture.caption
    assert "session" not in drawn(*points).caption


def test_the_thresholds_and_no_change_are_lines() -> None:
    picture = drawn((0.1, 1.01, 1.0, 1.02), (0.9, 1.06, 1.03, 1.08))
    upper, _, lower, _ = corners(paths(picture, "limit")[0])
    zero = corners(paths(picture, "zero")[0])[0]
    assert upper[1] < zero[1] < lower[1]
    assert (lower[1] - zero[1]) * 1.03 == pytest.approx(zero[1] - upper[1], abs=0.21)
    assert {"+3%", "−2.91%"} <= set(texts(picture)), "1.03 and its inverse decide"
    assert "+3%, and the same ratio in the other direction, 1/1.03, which is −2.91%." in " ".join(picture.reading)


def test_a_curve_that_is_short_says_why() -> None:
    short = drawn((0.2, 1.01, 1.0, 1.02), (0.8, 1.06, 1.03, 1.08))
    assert "Quantiles below 20% or above 80% need more values." in short.caption
    assert "need more" not in drawn((0.1, 1.01, 1.0, 1.02), (0.99, 1.06, 1.03, 1.08)).caption


def test_thresholds_close_to_each_other_are_labelled_once() -> None:
    picture = drawn((0.1, 1.9, 1.0, 2.0), (0.9, 2.0, 1.9, 2.1))
    assert "+3%" in texts(picture)
    assert "−2.91%" not in texts(picture)


def test_a_missing_band_is_left_out_and_said() -> None:
    picture = drawn(
        (0.1, 1.01, 1.0, 1.02), (0.2, 1.01, 1.0, 1.02), (0.5, 1.02, None, None), (0.9, 1.06, 1.03, 1.08)
    )  # fmt: skip
    assert marks(picture, "spread") == 1
    assert marks(picture, "wing-head") == 1, "a lone band is a line"
    assert "1 of 4 points have no band" in picture.caption


def test_a_band_of_any_width_does_not_flatten_the_curve() -> None:
    picture = drawn((0.1, 1.01, 1.0, 1.02), (0.5, 1.05, 1.0, 1.06), (0.99, 1.06, 1e-9, 1e9))
    heights = [y for _, y in corners(paths(picture, "curve")[0])]
    assert max(heights) - min(heights) > 10
    assert "continues beyond it" in picture.caption


def test_up_is_worse_only_where_lower_is_better() -> None:
    assert "↑ worse   ↓ better" in texts(drawn((0.5, 1.0, None, None)))
    higher = effects(curve((0.5, 1.0, None, None)), examples.finding("x", better="higher"), "p")
    assert higher is not None
    assert "↑ better   ↓ worse" in texts(higher)


def test_no_point_is_no_picture() -> None:
    assert effects(curve(), FINDING, "p") is None
    assert effects(curve((0.5, math.inf, None, None)), FINDING, "p") is None


def test_a_threshold_of_nothing_is_drawn_too() -> None:
    picture = effects(curve((0.5, 1.0, None, None)), examples.finding("x", threshold=0.0), "p")
    assert picture is not None
    assert_sound(picture, "p")
