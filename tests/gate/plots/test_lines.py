"""The line chart: a whole, plain, accessible SVG whose points are where they belong."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from gate.plots.lines import Chart, Line, line_chart

SVG = "{http://www.w3.org/2000/svg}"
ONE = Line("one & <only>", ((2.0, 0.5), (4.0, 1.0)))


def chart(*lines: Line, **more: object) -> Chart:
    given = {"title": "Power & more", "description": "what it shows", "x_label": "builds", "y_label": "power"}
    return Chart(**{**given, "lines": lines, **more})  # type: ignore[arg-type]  # keyword arguments by name


def drawn(*lines: Line, **more: object) -> ET.Element:
    return ET.fromstring(line_chart(chart(*lines, **more)))  # our own output


def points(root: ET.Element) -> list[list[tuple[float, float]]]:
    found = []
    for line in root.iter(f"{SVG}polyline"):
        pairs = (pair.split(",") for pair in line.attrib["points"].split())
        found.append([(float(x), float(y)) for x, y in pairs])
    return found


def test_it_tells_screen_readers_what_it_shows() -> None:
    root = drawn(ONE)
    named = {element.attrib["id"]: element.text for element in root if "id" in element.attrib}
    assert [named[name] for name in root.attrib["aria-labelledby"].split()] == ["Power & more", "what it shows"]
    assert root.attrib["role"] == "img"


def test_it_has_labels_legend_and_no_scripts() -> None:
    root = drawn(ONE)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"builds", "power", "one & <only>", "0%", "100%"} <= set(texts)
    assert "script" not in line_chart(chart(ONE)) and "href" not in line_chart(chart(ONE))


def test_points_are_in_proportion() -> None:
    ((low, high),) = points(drawn(ONE, y_range=(0.0, 1.0)))
    # the axes of a 720 x 400 picture run from 64 to 514 and from 352 up to 44
    assert (low, high) == ((64, 198), (514, 44))


def test_a_logarithmic_axis_is_spaced_by_ratio() -> None:
    ((left, middle, right),) = points(drawn(Line("x", ((2.0, 0.0), (8.0, 0.0), (32.0, 1.0))), log=True))
    assert middle[0] == pytest.approx((left[0] + right[0]) / 2, abs=0.1)


def test_what_is_outside_of_the_range_lies_on_its_edge() -> None:
    ((low, high),) = points(drawn(Line("x", ((1.0, 0.5), (2.0, 2.0))), y_range=(0.9, 1.0)))
    assert (low[1], high[1]) == (352, 44)


def test_lines_differ_in_more_than_colour() -> None:
    lines = [Line(str(k), ((1.0, 0.1 * k), (2.0, 1.0))) for k in range(6)]
    root = drawn(*lines)
    dashes = [line.attrib.get("stroke-dasharray", "") for line in root.iter(f"{SVG}polyline")]
    assert len(set(dashes)) == len(dashes)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} >= {"circle", "rect", "polygon"}


def test_numbers_that_are_no_shares_stay_numbers() -> None:
    texts = [e.text for e in drawn(Line("x", ((1.0, 0.0), (9.0, 3.0))), percent=False, guide=1.5).iter(f"{SVG}text")]
    assert "3" in texts and "3%" not in texts


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_a_flat_line_is_drawn(value: float) -> None:
    assert len(points(drawn(Line("flat", ((1.0, value), (3.0, value)))))[0]) == 2
