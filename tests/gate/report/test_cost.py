"""Where the time went, in every format that says it."""

import html as entities

from gate.model import Cost, Report
from gate.report import json
from gate.report.markdown import comment, summary
from gate.report.measurements import Material
from gate.report.page import html
from gate.report.text import terminal
from tests.gate.report import examples

COST = Cost(
    setup=60.0, compile=100.0, link=8.0, probe=1.0, measure=540.0, decide=4.0, other=0.0, total=713.0,
    compiled=2, linked=22,
)  # fmt: skip
SAID = "11 min 53 s: set-up 1 min, 2 builds 1 min 40 s, 22 links 8.0 s, measuring 9 min, interim checks 4.0 s"


def report(cost: Cost | None) -> Report:
    return examples.report("regression", [examples.finding("lex")], run=examples.run_facts(cost=cost))


def test_the_formats_for_people_say_it() -> None:
    found = report(COST)
    assert f"time      {SAID}" in terminal.render(found, width=200, every=True)
    for markdown in (comment.render(found), summary.render(found)):
        assert f"time: {SAID}" in entities.unescape(markdown)
    assert SAID in html.render(found, Material())


def test_report_json_has_it_and_is_read_again() -> None:
    found = report(COST)
    assert json.read(json.render(found)).run.cost == COST


def test_nothing_is_said_of_what_is_not_known() -> None:
    found = report(None)
    assert "\ntime  " not in terminal.render(found, width=200, every=True)
    assert "- time:" not in summary.render(found)
