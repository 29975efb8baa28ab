"""One clean <svg> element: its text and its paths."""

import numpy as np
import pytest

from gate.model import Sample
from gate.plots.picture import Sheet, legal
from gate.plots.scales import (
    Axis,
    build_sizes,
    density,
    limits,
    log_ticks,
    measure,
    places,
    thinned,
    ticks,
)
from gate.writing.plain import clip
from tests.gate.plots.drawn import assert_sound, corners, paths, sample, texts
from tests.gate.report.examples import HOSTILE
from tests.support.samples import nested, there


def test_a_sheet_becomes_one_sound_element() -> None:
    sheet = Sheet(100, 50)
    sheet.lines("grid", [[(0, 0), (10, 0)], [(0, 5), (10, 20.04)]])
    sheet.text(50, 40, "here", "soft", "middle")
    picture = sheet.picture("a", "title", "description", "caption")
    assert_sound(picture, "a")
    assert paths(picture, "grid") == ["m0 0h10m-10 5l10 15"]
    assert '<text class="p-soft" x="50.0" y="40.0" text-anchor="middle">here</text>' in picture.svg
    assert picture.caption == "caption"


@pytest.mark.parametrize("name", [*HOSTILE, "$x^2$ \\frac{1}{", "ベンチ مرحبا 🙂", "\x00\ud800\ufffe"])
def test_any_text_arrives_as_it_is(name: str) -> None:
    sheet = Sheet(100, 50)
    sheet.text(0, 20, name, full=f"{name}.")
    picture = sheet.picture("a", name, name, name)
    assert_sound(picture, "a")
    assert legal(name).count("<") == 0
    assert f">{legal(name)}<title>{legal(clip(name + '.', 240))}</title></text>" in picture.svg


def test_what_xml_cannot_hold_is_replaced_and_the_middle_of_a_long_name_is_left_out() -> None:
    assert legal("a\x00\x1b\ud800\uffff\tb&<>") == "a\ufffd\ufffd\ufffd\ufffd\tb&amp;&lt;&gt;"
    names = [("abcdefghij", 10), ("abcdefghijk", 10), ("ベンチマーク試験", 9), ("e\u0301" * 6, 6)]
    assert [clip(*name) for name in names] == ["abcdefghij", "abcde…hijk", "ベン…試験", "e\u0301" * 6]


def test_rounding_does_not_add_up_along_a_path_and_an_area_ends_where_it_began() -> None:
    sheet = Sheet(400, 50)
    sheet.lines("grid", [[(k * 0.333, 10 + k % 2 * 0.06) for k in range(900)]])
    x, y = corners(paths(sheet.picture("a", "", "", ""), "grid")[0])[-1]
    assert abs(x - 899 * 0.333) < 0.051
    assert abs(y - 10.06) < 0.051
    # an area ends where it began
    sheet = Sheet(60, 60)
    sheet.marks("mark-head", "square", [(10, 10), (30, 10)], 2)
    assert paths(sheet.picture("a", "", "", ""), "mark-head") == ["m8.1 8.1h3.8v3.8h-3.8zm20 0h3.8v3.8h-3.8z"]


def test_the_same_drawing_is_the_same_bytes_but_for_the_prefix_and_last_bits() -> None:
    def drawn(prefix: str, error: float = 0.0) -> str:
        sheet = Sheet(60, 60)
        sheet.lines("grid", [[(0.25 + error, 0.35 + error), (8.15 + error, 3)]])
        sheet.marks("mark-head", "diamond", [(20, 30), (1.26, 3)], 5)
        sheet.text(0.25 + error, 0.35 + error, "prefix")
        return sheet.picture(prefix, "t", "d", "c").svg

    assert drawn("one", -1e-12) == drawn("one") == drawn("one", 1e-12) == drawn("two").replace("two-", "one-")


def test_labels_of_a_row_never_meet() -> None:
    sheet = Sheet(400, 50)
    sheet.row(30, [(40 + 38 * k, f"{k + 95}") for k in range(10)], "soft")
    # three digits take 25 pixels
    assert texts(sheet.picture("a", "", "", "")) == [f"{k}" for k in range(95, 105)]
    sheet = Sheet(400, 50)
    sheet.row(30, [(40 + 30 * k, f"{k + 95}") for k in range(10)])
    assert texts(sheet.picture("a", "", "", "")) == ["95", "97", "99", "101", "103"]
    # where nothing fits there is one
    sheet = Sheet(400, 50)
    sheet.row(30, [(40, "one long label"), (41, "another one")])
    assert texts(sheet.picture("a", "", "", "")) == ["one long label"]


def test_colours_are_those_of_the_page_and_only_the_rules_in_use_are_written() -> None:
    sheet = Sheet(60, 60)
    sheet.marks("mark-regression", "diamond", [(20, 30)])
    svg = sheet.picture("a", "", "", "").svg
    assert "#a-svg .p-mark-regression{fill:var(--regression);" in svg
    assert "var(--head)" not in svg
    assert texts(sheet.picture("a", "", "", "")) == []


# --- units, limits and ticks that people can read ---------------------------------------------------------------------


def labels(low: float, high: float, count: int = 6) -> list[str]:
    return [tick.label for tick in ticks(low, high, count)]


def test_ticks_are_round_within_and_differ() -> None:
    assert labels(0.93, 1.11) == ["0.95", "1.00", "1.05", "1.10"]
    assert labels(-3.4, 7.9) == ["-2", "0", "2", "4", "6"]
    assert labels(96, 111) == ["97.5", "100.0", "102.5", "105.0", "107.5", "110.0"]
    # close numbers get digits enough to differ
    found = labels(1.0000001, 1.0000008)
    assert len(set(found)) == len(found) > 2
    # on a log axis as dense as there is room
    assert [t.label for t in log_ticks(0, 1, 6)] == ["1", "2", "5", "10"]
    assert [t.label for t in log_ticks(-3.2, 2, 6)] == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert len(log_ticks(-100, 100, 6)) <= 6


def test_values_choose_their_unit_and_axis_and_not_a_few_outliers() -> None:
    found = there(measure(np.array([0.1] * 50 + [40.0]), "s"))
    assert (found.unit, found.factor, found.log) == ("ms", 1e-3, False)
    # orders of magnitude need a log axis, and outliers do not
    body = np.geomspace(1, 1000, 100)
    values = (body, -body, np.append(np.linspace(1, 2, 99), 5000.0))
    assert [there(measure(own, "")).log for own in values] == [True, False, False]


@pytest.mark.parametrize(
    ("size", "unit", "name"),
    [(1e9, "count", "count ×10⁹"), (1e-50, "", "×10⁻⁵¹"), (1e50, "s", "s ×10⁴⁸"), (7.0, "req/s", "req/s")],
)
def test_huge_and_tiny_numbers_name_their_power(size: float, unit: str, name: str) -> None:
    found = there(measure(np.array([1.0, 1.5]) * size, unit))
    assert found.unit == name
    assert 1 <= abs(float(found.of(np.array([size]))[0])) < 1e5


def test_an_axis_holds_numbers_within_its_ends() -> None:
    axis = Axis(0, 10, 100, 0)
    assert [axis.at(v) for v in (0, 5, 10, 11, -1)] == [100, 50, 0, 0, 100]
    assert axis.all(np.array([2.5, 99.0])) == [75, 0]
    # values that are all 0 have none, ends that are one number no ticks
    assert measure(np.array([0.0, 0.0]), "s") is None
    assert ticks(3.0, 3.0, 5) == []


def test_an_outlier_does_not_flatten_the_rest() -> None:
    body = np.linspace(10, 11, 40)
    low, high = limits(np.append(body, 500.0))
    assert low < 10 and 11 < high < 15
    # a second mode is none
    assert limits(np.append(np.linspace(10, 11, 90), np.linspace(30, 31, 10)))[1] > 31
    # further numbers are held unless far out
    assert limits(body, [11.5])[1] > 11.5
    assert limits(body, [100.0])[1] < 12


# --- which values are drawn, and how all are spread


def uneven() -> Sample:
    return nested([[[0, 1], [2, 3, 4]], [[5]], [[6, 7, 8, 9]]])


def test_uneven_counts_are_followed() -> None:
    assert build_sizes(uneven()).tolist() == [5, 1, 4]
    build, share = places(uneven(), np.arange(10))
    assert build.tolist() == [0] * 5 + [1] + [2] * 4
    # in the middle half of their execution, which is half of the first build
    assert share.tolist()[:6] == pytest.approx([3 / 16, 5 / 16, 4 / 6, 3 / 4, 5 / 6, 1 / 2])


@pytest.mark.parametrize("builds", [1, 5, 40, 150])
def test_thinning_keeps_the_extremes_and_every_build(builds: int) -> None:
    rng = np.random.default_rng(builds)
    of = sample(rng.exponential(size=builds * 4 * 100), builds, 4)
    kept = thinned(of, 200)
    assert kept.size <= 202
    assert kept.tolist() == sorted(set(kept.tolist())) == thinned(of, 200).tolist()
    assert {int(of.values.argmin()), int(of.values.argmax())} <= set(kept.tolist())
    assert set(places(of, kept)[0].tolist()) == set(range(builds))
    # of an even choice about 5% are above the 95% quantile
    assert (of.values[kept] > np.quantile(of.values, 0.95)).mean() < 0.12


def test_a_density_follows_the_values_and_ends_with_them() -> None:
    values = np.random.default_rng(2).normal(5, 1, 20_000)
    found = there(density(values, 0, 10, 101))
    assert (found.low, found.high, found.heights.max()) == (values.min(), values.max(), 1)
    at = np.linspace(found.low, found.high, 101)
    assert np.abs(found.heights - np.exp(-0.5 * (at - 5) ** 2)).max() < 0.06
    # what lies beyond the axis is no part of it
    found = there(density(np.append(np.linspace(4, 6, 50), 1000.0), 0, 10, 20))
    assert (found.low, found.high) == (4, 6)
    # values that are all the same have one, too few, or none on the axis, have none
    found = there(density(np.full(50, 5.0), 0, 10, 21))
    assert (found.low, found.high, found.heights.tolist()) == (5, 5, [1, 1])
    assert density(np.ones(7), 0, 10, 20) is density(np.full(50, 99.0), 0, 10, 20) is None
