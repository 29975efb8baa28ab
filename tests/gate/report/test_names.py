"""Two cases never share one short name, in any format, at any width; settings tell them apart."""

import html as escaping
import re
from itertools import product
from xml.etree import ElementTree as ET

import msgspec
import pytest

from gate.document.html import broken
from gate.model import Failure, Report
from gate.model.history import Controls
from gate.report import terminal
from gate.report.formats import junit, markdown
from gate.report.measurements import Material
from gate.report.page import html
from gate.words import verdict_line
from gate.words.short_names import Names, NameSet
from gate.writing.phrases import named
from gate.writing.plain import columns
from tests.gate.report import examples

QUEUES = ("SpscArrayQueue", "MpscArrayQueue", "spscArrayQueue")
NAMES = [
    f"jmh/org.jctools.jmh.baseline.{'throughput.' * 8}SingleThreaded{side}.{side.lower()}Loop:{{qType={queue}}}:avgt"
    for side, queue in product(("Poll", "Offer"), QUEUES)
]
WORDS = [(side, queue) for side, queue in product(("Poll", "Offer"), QUEUES)]
"""What tells each name from the others."""


def long_names() -> Report:
    found = [examples.regressed(name, estimate=1.2 - number / 100) for number, name in enumerate(NAMES)]
    recorded = [examples.recorded(name, "user", unit="s") for name in NAMES]
    failures = [Failure(kind="execution", benchmark=f"{name}:failed", side="head", status="exit 1") for name in NAMES]
    made = examples.report("regression", found)
    return msgspec.structs.replace(made, recorded=recorded, failures=failures, new=[f"{name}:new" for name in NAMES])


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_terminal_shows_no_name_twice(width: int) -> None:
    text = terminal.render(long_names(), width=width, every=True)
    assert all(columns(line) <= width for line in text.splitlines())
    # in the table, or in a block a finding
    rows = re.findall(r"^(\S.*?)(?=\s{2,}|\n\s+✖)", text.partition("\n\n")[2], flags=re.MULTILINE)
    shown = [row for row in rows if "…" in row or ":avgt" in row][: len(NAMES)]
    assert len({*shown}) == len(shown) == len(NAMES), shown
    # a name that is wider than a line goes on below it
    failed = re.findall(r"  (\S+?) ?failed ?on ?head", re.sub(r"(?<=\S)\n {4}", "", text))
    assert len({*failed}) == len(NAMES), failed


def test_markdown_shows_no_name_twice() -> None:
    text = markdown.comment(long_names())
    rows = re.findall(r"&nbsp;`([^`]+)`<br>\*\*regression", text)
    assert len({*rows}) == len(rows) == len(NAMES)
    assert all(side in row and queue[:4] in row for row, (side, queue) in zip(rows, WORDS, strict=True))
    new = re.search(r"[Nn]ew in head, not compared: (.*)", text)
    assert new is not None and len({*re.findall(r"`([^`]+)`", new[1])}) == len(NAMES)


def test_the_page_shows_no_name_twice_and_breaks_none_within_a_number() -> None:
    page = html.render(long_names(), Material())
    rows = re.findall(r'<th scope="row"[^>]*><a href="#finding-\d+"><bdi>(.*?)</bdi>', page)
    assert len({*rows}) == len(rows) == len(NAMES)
    pieces = re.findall(r">([^<>]+)<", str(broken("Search_Easy0_CachedDFA/1048576 3276.5us")))
    assert "1048576 " in pieces and "3276.5" in "".join(piece for piece in pieces if "3276" in piece)
    assert "".join(pieces) == "Search_Easy0_CachedDFA/1048576 3276.5us"
    assert str(broken("<b>1")).count("<b>") == 0


def test_junit_and_headlines_show_no_name_twice() -> None:
    report = long_names()
    cases = [
        (each.get("classname"), each.get("name")) for each in ET.fromstring(junit.written(report)).iter("testcase")
    ]
    assert len({*cases}) == len(cases)
    headlines = set()
    for each in report.findings:
        first = msgspec.structs.replace(each, ratio=examples.interval(1.5, 0.1))
        others = [f for f in report.findings if f is not each]
        headlines.add(verdict_line.verdict_line(msgspec.structs.replace(report, findings=[first, *others])).name)
    assert len(headlines) == len(NAMES)


def test_settings_and_metrics_stay_apart_too_and_a_list_shortens_its_names_together() -> None:
    cases = [
        examples.finding("a", metric=f"{'latency_of_requests_' * 3}{end}", factors={"x": f"{'v' * 60}{number}"})
        for number, end in product((1, 2), ("hit", "miss"))
    ]
    names = Names(examples.report("pass", cases))
    assert len({(names.quantity(case), names.settings(case)) for case in cases}) == 4
    assert len({names.label(case) for case in cases}) == 2
    said, more, _ = named(NAMES, 3).rpartition(" and 3 more")
    assert (len({*said.split(", ")}), bool(more)) == (3, True)
    # what is not of the set is shortened by itself
    assert columns(NameSet(NAMES).short("other" * 30, 20)) <= 20


# --- settings ---------------------------------------------------------------------------------------------------------


def test_settings_that_look_alike_are_told_apart_in_every_format() -> None:
    alike = [examples.finding("parse", factors={"n": value}) for value in (1, "1", "one")]
    report = msgspec.structs.replace(examples.factors(), findings=alike)
    for render in (terminal.render, markdown.comment, html.render, junit.written):
        said = escaping.unescape(render(report))
        assert {'n="1"', "n=1", "n=one"} <= set(re.findall(r'n=(?:"1"|1|one)', said)), render


def test_every_format_says_how_many_controls_alarmed() -> None:
    report = msgspec.structs.replace(examples.regression(), controls=Controls(count=40, alarmed=2, e_value=1.1))
    for said in (junit.written(report), markdown.comment(report), terminal.render(report, every=True)):
        assert "2 of 40 controls showed a regression where nothing differs, 2.5% do by chance" in said
    assert "alarmed" not in terminal.render(report)
