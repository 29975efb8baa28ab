"""A sentence that is true of many cases is said once, and where a warning stands hangs on what it is, not on its words."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest

from gate.model import Finding, Report, reasons
from gate.model.warnings.estimates import EarlyStop
from gate.model.warnings.measured import ExecutionsShort
from gate.report import terminal
from gate.report.formats import markdown
from gate.report.measurements import Material
from gate.report.page import html
from gate.words import notes
from tests.gate.report import examples

FORMATS: dict[str, Callable[[Report], str]] = {
    "text 60": lambda report: terminal.render(report, width=60),
    "text 100": lambda report: terminal.render(report, width=100),
    "text 200, all": lambda report: terminal.render(report, width=200, every=True),
    "comment": markdown.comment,
    "summary": markdown.summary,
}


def noisy(name: str, size: float) -> Finding:
    why = reasons.TooNoisy(detectable=size, wanted=0.1, unit="s", better="lower", hopeless=True)
    return examples.finding(name, "inconclusive", half=size / 2, detectable=size, reason=why, stopped="futility")


def many() -> Report:
    found = [noisy(f"case-{number}", 0.2 + number / 100) for number in range(21)]
    found = [msgspec.structs.replace(f, warnings=[EarlyStop(4 + n % 3, 12)]) for n, f in enumerate(found)]
    return examples.report("inconclusive", found)


@pytest.mark.parametrize("name", FORMATS)
def test_one_reason_of_21_findings_is_said_once(name: str) -> None:
    text = " ".join(re.sub(r"&#\d+;|<!-- -->", "", FORMATS[name](many())).split())
    # the line of verdict says it of the worst and the next step what follows, and a sentence both of all
    assert text.count("this run catches slowdowns above") <= 2
    assert text.count("more builds alone would not help") <= 2
    # a comment shows none of these rows at first sight, and says what they have to mind on the page
    assert text.count("the size may be over") == (name != "comment")
    assert "; the figures are those of the first" in text or name == "comment"
    # each row says by itself what it could not see, where there is room
    assert len(re.findall(r"too noisy, catches \d+\.\d%", text)) >= {"text 60": 0, "text 100": 3}.get(name, 20)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_beyond_the_threshold_as_measured_may_be_a_regression(name: str) -> None:
    noise = {"estimate": 1.04, "half": 0.05, "reason": examples.wide()}
    for how in ({"estimate": 1.02}, {"estimate": 0.9}, {"not_worse": True}, {"floor": 0.02}, {"better": "higher"}, {}):
        found = examples.finding("parse", "inconclusive", **(noise | how))
        text = FORMATS[name](examples.report("inconclusive", [found])).partition("<script")[0]
        assert ("may be a regression" in text.replace("\n  ", " ")) == (how == {}), how


def test_the_page_says_it_once_with_links_to_what_it_concerns() -> None:
    page = html.render(many(), Material())
    assert len(re.findall(r">[^<>]*the size may be over", page.partition("<script")[0])) == 1
    (item,) = re.findall(r"<li>[^<]*the size may be over.*?</li>", page)
    assert re.findall(r'href="#(finding-\d+)"', item) == [f"finding-{number}" for number in range(1, 22)]


def test_sentences_are_of_one_kind_if_only_their_figures_differ() -> None:
    few = [noisy("a", 0.3), noisy("b", 0.4)]
    one, other = (each.reason for each in few)
    assert notes.kind(one) == notes.kind(other) != notes.kind(msgspec.structs.replace(one, better="higher"))
    assert notes.kind(EarlyStop(4, 12)) == notes.kind(EarlyStop(6, 12)) != notes.kind(ExecutionsShort("a", "", 1, 2, 3))
    # what is of two findings stays with each
    assert notes.shared(few, notes.why) == {}
    assert terminal.render(examples.report("inconclusive", few), every=True).count("(a pass needs 10%)") >= 2


def test_a_warning_of_many_benchmarks_names_them_in_one_sentence() -> None:
    found = [ExecutionsShort(name, "", 9, 10, 10) for name in "abc"]
    assert notes.once(found) == ["a: base has 9 and head 10 of 10 starts; likewise b, c"]
    other = [*found, ExecutionsShort("d", "", 8, 10, 10)]
    assert notes.once(other) == ["a: base has 9 and head 10 of 10 starts; likewise, with other figures, b, c, d"]
    assert len(notes.once(found[:2])) == 2
