"""The page's section about profiles: complete without JavaScript, and safe whatever a function is called."""

import re
import xml.etree.ElementTree as ET

import pytest
from msgspec.structs import replace

from gate.explain.explain import explain
from gate.model import Report
from gate.model.profile import Frame
from gate.plots.changes import flame_graph
from gate.report.markdown import comment, summary
from gate.report.page import html
from gate.report.text import terminal
from tests.gate.report import examples


def hostile() -> Report:
    """Functions and files with names that a program may choose."""
    names = iter(examples.HOSTILE * 2)
    base, head = examples.profiles()
    frames = [Frame(next(names), next(names)) for _ in head.frames]
    base, head = replace(base, frames=frames[: len(base.frames)]), replace(head, frames=frames)
    report = examples.explained()
    broken = replace(report.unprofiled[0], detail=examples.HOSTILE[0], install="`" + examples.HOSTILE[4])
    return replace(report, explanations=[explain(base, head)], unprofiled=[broken])


def test_the_section_has_functions_what_moved_and_what_is_not_shown() -> None:
    page = html.render(examples.explained())
    section = page[page.index('aria-labelledby="why"') : page.index('id="more"')]
    for text in ("find_key", "src/keys.c", "+92%", "Moved, not added", "The profile does not show", "apt-get install"):
        assert text in section, text
    assert '<a href="#why">Functions</a>' in page


def test_a_report_without_profiles_has_no_section() -> None:
    page = html.render(examples.regression())
    assert 'id="why"' not in page


@pytest.mark.parametrize("render", [html.render, comment.render, summary.render, terminal.render])
def test_no_name_becomes_markup(render: object) -> None:
    text = render(hostile())  # type: ignore[operator]
    assert "<script>alert" not in text
    assert "\x1b[31m" not in text
    assert "\u202e" not in text


def test_the_tree_is_one_svg_whose_boxes_say_their_costs() -> None:
    found = examples.explained().explanations[0]
    picture = flame_graph(found, "parse", "why-1")
    assert picture is not None
    root = ET.fromstring(picture.svg)
    space = "{http://www.w3.org/2000/svg}"
    boxes = [group for group in root.iter(f"{space}g") if group.get("tabindex") == "0"]
    assert len(boxes) == len(found.flame)
    titles = [box.findtext(f"{space}title", "") for box in boxes]
    assert any(
        title.startswith("find_key (src/keys.c): 10 M instructions → 23 M instructions (+130%)") for title in titles
    )
    # what is called lies below and within what calls it
    rects = [box.find(f"{space}rect") for box in boxes]
    places = [(float(r.get("x", 0)), float(r.get("width", 0)), float(r.get("y", 0))) for r in rects if r is not None]
    assert all(x >= 0 and x + width <= 1000.3 for x, width, _ in places)
    first = min(y for _, _, y in places)
    assert places[0] == (0, 1000, first)


def test_hostile_names_make_a_valid_picture() -> None:
    (found,) = hostile().explanations
    picture = flame_graph(found, "parse", "why-1")
    assert picture is not None
    ET.fromstring(picture.svg)
    assert not re.search(r"<script", picture.svg)


def test_an_explanation_without_a_tree_has_no_picture() -> None:
    assert flame_graph(examples.explained().explanations[1], "parse", "why-2") is None
