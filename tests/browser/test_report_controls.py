"""What the page does, by mouse and by keyboard alone: its table sorts and filters."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from gate.decide.importance import ordered
from gate.words.numbers import word
from tests.gate.report import examples
from tests.support.browser import DESKTOP, Opened, context, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]

NAMES = "() => [...document.querySelectorAll('#findings-table > tbody > tr')].filter(r => r.checkVisibility()).map(r => r.cells[0].querySelector('bdi').textContent)"
FOCUSED = "() => { const e = document.activeElement; return [e.tagName, e.id, e.className, e.textContent.trim().slice(0, 40)].join(' ') }"
# an outline or a border that was not there before: where the keyboard is can be seen
SEEN = """() => {
  const e = document.activeElement, style = getComputedStyle(e);
  return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== 'none';
}"""


def names(page: Opened) -> list[str]:
    found: list[str] = page.evaluate(NAMES)
    return found


@pytest.fixture
def page(browser: Browser, written: Written) -> Iterator[Opened]:
    with context(browser) as inside:
        yield opened(inside, written("regression"))


def by_importance(name: str) -> list[str]:
    return [finding.benchmark for finding in ordered(examples.ALL[name]().findings)]


def test_sorting_puts_the_rows_in_order_and_says_so(page: Opened) -> None:
    assert names(page) == by_importance("regression")
    header = page.page.locator("#findings-table > thead th").nth(0)
    assert header.get_attribute("aria-sort") is None
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert names(page) == sorted(by_importance("regression"))
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert names(page) == sorted(by_importance("regression"), reverse=True)


def test_numbers_sort_as_numbers(page: Opened) -> None:
    ratio = {finding.benchmark: finding.ratio.estimate for finding in examples.ALL["regression"]().findings}
    header = page.page.locator("#findings-table > thead th").filter(has_text="change")
    header.get_by_role("button").click()
    assert page.page.locator("#findings-table > thead th[aria-sort]").count() == 1
    shown = [ratio[name] for name in names(page)]
    assert shown == sorted(shown, key=lambda estimate: estimate or 0.0)
    assert len(shown) == 8


def test_the_filter_hides_rows_and_says_how_many_are_left(page: Opened) -> None:
    page.page.get_by_role("searchbox").fill("AR")
    assert names(page) == [name for name in by_importance("regression") if "ar" in name]
    assert page.page.locator(".count").inner_text() == "2 of 8 results shown"
    page.page.get_by_role("searchbox").fill("no such name")
    assert names(page) == []
    assert page.page.locator(".count").inner_text() == "0 of 8 results shown"
    page.page.get_by_role("searchbox").fill("")
    assert names(page) == by_importance("regression")


def test_verdicts_can_be_hidden(page: Opened) -> None:
    button = page.page.get_by_role("button", name="undecided")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    kept = [f.benchmark for f in ordered(examples.ALL["regression"]().findings) if word(f) != "undecided"]
    assert names(page) == kept
    button.click()
    assert names(page) == by_importance("regression")


def test_the_keyboard_reaches_every_control(page: Opened) -> None:
    page.page.keyboard.press("Tab")
    assert "Skip to the results" in page.evaluate(FOCUSED)
    assert page.page.locator(":focus").bounding_box() is not None
    reached = set()
    for _ in range(300):
        assert page.evaluate(SEEN), page.evaluate(FOCUSED)
        reached.add(page.evaluate("() => [...document.querySelectorAll('*')].indexOf(document.activeElement)"))
        page.page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement === document.body"):
            break
    controls = """() => [...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
        .filter(e => e.checkVisibility({contentVisibilityAuto: true}))
        .map(e => [...document.querySelectorAll('*')].indexOf(e))"""
    assert set(page.evaluate(controls)) <= reached


def test_a_link_opens_the_finding_it_leads_to(browser: Browser, written: Written) -> None:
    with context(browser, DESKTOP) as inside:
        page = opened(inside, written("pass"))
        page.page.locator("#findings-table tbody a").first.click()
        target = page.page.locator(":target")
        assert target.get_by_text("threshold").first.is_visible()
        assert page.heard == []
