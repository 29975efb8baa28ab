"""The forest of a comparison, a group of lines for each row and a colour for each column, and the quantile-effect curve."""

import math

import pytest

from gate.model import Finding, QuantileCurve, QuantileEffect
from gate.plots.changes import ROWS, Drawn, DrawnRow, changes, effects
from gate.plots.picture import Picture
from tests.gate.plots.drawn import assert_sound, corners, marks, paths, texts
from tests.gate.report import examples
from tests.support.samples import there

WORSE = Drawn(1.1, 1.05, 1.15, True)
OPEN = Drawn(1.01, 0.98, 1.04, False)
BARE = Drawn(0.9, None, None, False)


def sound(picture: Picture | None) -> Picture:
    assert_sound(there(picture), "p")
    return there(picture)


def drawn(rows: list[DrawnRow], columns: list[str]) -> Picture:
    return sound(changes(rows, columns, "old", "p"))


def test_each_row_and_column_has_its_change_and_interval() -> None:
    picture = drawn([DrawnRow("parse", [WORSE, BARE]), DrawnRow("encode", [OPEN, None])], ["new", "next"])
    found = set(texts(picture))
    assert {"parse", "encode", "new", "next"} <= found
    assert {"+10%", "+5.0% to +15.0%", "+1.0%", "−2.0% to +4.0%", "−10.0%", "no interval"} <= {
        text.replace("+10.0%", "+10%") for text in found
    }
    # two estimates with an interval and the mark of the legend; of the second column an outline
    assert marks(picture, "mark-s0") == 3
    assert (marks(picture, "hollow-s1"), marks(picture, "mark-s1")) == (1, 1)
    assert "An outline is an estimate without an interval." in picture.caption


def test_what_is_left_out() -> None:
    # one column needs no legend
    picture = drawn([DrawnRow("parse", [WORSE])], ["new"])
    assert "new" not in texts(picture) and "outline" not in picture.caption
    picture = drawn([DrawnRow(f"case{k}", [WORSE]) for k in range(ROWS + 5)], ["new"])
    assert f"The first {ROWS} of {ROWS + 5} rows are drawn." in picture.caption
    # what cannot be drawn; nothing changed, and nothing is known of it
    lone = [[DrawnRow("x", [own])] for own in (None, Drawn(0.0, None, None, False), Drawn(1.0, None, None, False))]
    assert [changes(rows, ["new"], "old", "p") for rows in ([], *lone)] == [None] * 4


@pytest.mark.parametrize("far", [1e9, 1e-9])
def test_one_far_out_does_not_hide_the_others(far: float) -> None:
    rows = [DrawnRow(f"case{k}", [WORSE]) for k in range(8)] + [DrawnRow("far", [Drawn(far, far / 2, far * 2, True)])]
    picture = drawn(rows, ["new"])
    assert "An arrow marks what continues beyond the axis." in picture.caption


def test_many_columns_and_hostile_names_are_sound() -> None:
    columns = [f'<b onload="x">{k} {"long" * 30}' for k in range(12)]
    drawn([DrawnRow("<script>&]]>" * 30, [WORSE] * 12)], columns)


# --- the quantile-effect curve

FINDING = examples.finding("parse", threshold=0.03)


def curve(*points: tuple[float, float, float | None, float | None]) -> QuantileCurve:
    found = [QuantileEffect(tau=tau, ratio=ratio, low=low, high=high) for tau, ratio, low, high in points]
    return QuantileCurve(benchmark="parse", metric="time", factors={}, effects=found)


def curved(*points: tuple[float, float, float | None, float | None], finding: Finding = FINDING) -> Picture:
    return sound(effects(curve(*points), finding, "p"))


def test_each_quantile_is_marked_and_its_band_is_shaded() -> None:
    picture = curved((0.1, 1.01, 1.0, 1.02), (0.5, 1.02, 1.01, 1.03), (0.9, 1.06, 1.03, 1.08))
    assert marks(picture, "point") == 3
    assert marks(picture, "spread") == 1
    assert "pointwise, 95%, clustered by build" in " ".join(picture.reading)
    assert "no band" not in picture.caption


def test_of_several_machines_it_says_what_is_pooled() -> None:
    points = ((0.1, 1.01, 1.0, 1.02), (0.9, 1.06, 1.03, 1.08))
    picture = curved(*points, finding=examples.machines().findings[0])
    assert "clustered by session" in " ".join(picture.reading)
    assert "All sessions are in one curve" in picture.caption
    assert "session" not in curved(*points).caption


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
