"""The forest of a comparison: a group of lines for each row, a colour for each column."""

from __future__ import annotations

import pytest

from gate.plots.changes import ROWS, Drawn, DrawnRow, changes
from gate.plots.picture import Picture
from tests.gate.plots.drawn import assert_sound, marks, texts

WORSE = Drawn(1.1, 1.05, 1.15, True)
OPEN = Drawn(1.01, 0.98, 1.04, False)
BARE = Drawn(0.9, None, None, False)


def drawn(rows: list[DrawnRow], columns: list[str]) -> Picture:
    picture = changes(rows, columns, "old", "p")
    assert picture is not None
    assert_sound(picture, "p")
    return picture


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


def test_one_column_needs_no_legend() -> None:
    picture = drawn([DrawnRow("parse", [WORSE])], ["new"])
    assert "new" not in texts(picture)
    assert "outline" not in picture.caption


def test_what_cannot_be_drawn_is_left_out() -> None:
    assert changes([], ["new"], "old", "p") is None
    assert changes([DrawnRow("x", [None])], ["new"], "old", "p") is None
    assert changes([DrawnRow("x", [Drawn(0.0, None, None, False)])], ["new"], "old", "p") is None
    # nothing changed, and nothing is known of it
    assert changes([DrawnRow("x", [Drawn(1.0, None, None, False)])], ["new"], "old", "p") is None


@pytest.mark.parametrize("far", [1e9, 1e-9])
def test_one_far_out_does_not_hide_the_others(far: float) -> None:
    rows = [DrawnRow(f"case{k}", [WORSE]) for k in range(8)] + [DrawnRow("far", [Drawn(far, far / 2, far * 2, True)])]
    picture = drawn(rows, ["new"])
    assert "An arrow marks what continues beyond the axis." in picture.caption


def test_many_rows_are_cut_and_that_is_said() -> None:
    picture = drawn([DrawnRow(f"case{k}", [WORSE]) for k in range(ROWS + 5)], ["new"])
    assert f"The first {ROWS} of {ROWS + 5} rows are drawn." in picture.caption


def test_many_columns_and_hostile_names_are_sound() -> None:
    columns = [f'<b onload="x">{k} {"long" * 30}' for k in range(12)]
    drawn([DrawnRow("<script>&]]>" * 30, [WORSE] * 12)], columns)
