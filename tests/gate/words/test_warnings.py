"""Where formats show a warning: by what it is, never by its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from gate.model import Report
from gate.model.warnings import AnyWarning
from gate.model.warnings import estimates as e
from gate.model.warnings.base import Base
from gate.report import junit
from gate.report.markdown import comment, summary
from gate.report.measurements import Material
from gate.report.page import html
from gate.report.page.html import page_of
from gate.report.text import terminal as plain_text
from gate.words.notes import weigh
from tests.gate.model.test_sentences import WARNINGS
from tests.gate.report import examples


@pytest.fixture
def nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence is "blah" and its kind's number: nothing in it can be read."""
    monkeypatch.setattr(Base, "sentence", lambda self: f"blah {get_args(AnyWarning).index(type(self))}.")


def shape(report: Report) -> list[object]:
    """How many warnings stand where, and in which order."""
    told = [each.sentence() for each in report.warnings]
    first, later = weigh(report.warnings, 5)
    page = page_of(report, Material())
    return [
        [told.index(each) for each in first],
        [told.index(each) for each in later],
        [len(row.notes) for row in page.rows],
    ]


def every_warning() -> Report:
    every = [*{type(warning): warning for warning, _ in WARNINGS}.values()]
    return examples.report("pass", [examples.finding("lex", warnings=every)], warnings=every)


def test_order_and_place_do_not_depend_on_words(request: pytest.FixtureRequest) -> None:
    report = every_warning()
    before = shape(report)
    request.getfixturevalue("nonsense")
    assert shape(report) == before


def test_what_is_for_experts_is_shown_on_demand(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("nonsense")
    pair: list[AnyWarning] = [e.NormalTail(5, 5), e.Drift(0.1, "s")]
    report = examples.report("pass", [examples.finding("lex", warnings=pair)])
    short, every = (plain_text.render(report, every=each) for each in (False, True))
    assert [each.sentence() in every for each in pair] == [True, True]
    assert [each.sentence() in short for each in pair] == [False, True]


@pytest.mark.parametrize("written", [comment.render, summary.render, junit.render], ids=["comment", "summary", "junit"])
def test_what_is_for_experts_is_in_the_details_of_the_page_alone(written: Callable[[Report], str]) -> None:
    pair: list[AnyWarning] = [e.NormalTail(5, 5), e.Drift(0.1, "s")]
    report = examples.report("regression", [examples.finding("lex", warnings=pair)])
    assert [each in written(report) for each in ("normally distributed", "host drift")] == [False, True]
    page = html.render(report, Material())
    assert "normally distributed" in page[page.index('id="details"') :]
    assert "normally distributed" not in page[: page.index('id="details"')]
    assert "1 warning<" in page
