"""One clean <svg> element: its text and its paths."""

import pytest

from gate.plots.picture import Sheet, legal
from gate.writing.plain import clip
from tests.gate.plots.drawn import assert_sound, corners, paths, texts
from tests.gate.report.examples import HOSTILE


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
