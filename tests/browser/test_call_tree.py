"""The call tree of an explanation says what a box is, and enlarges it, by mouse and by keyboard."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support.browser import Opened, context, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]

SHOWN = """() => [...document.querySelectorAll('#why-1-svg g[tabindex]')].filter(g => !g.hasAttribute('hidden'))
  .map(g => [g.querySelector('title').textContent.split(/[ :]/)[0], Math.round(g.querySelector('rect').getAttribute('width'))])"""


@pytest.fixture
def page(browser: Browser, written: Written) -> Iterator[Opened]:
    with context(browser) as inside:
        yield opened(inside, written("explained"))


def shown(page: Opened) -> dict[str, int]:
    return dict(page.evaluate(SHOWN))


def test_a_box_is_enlarged_with_what_it_calls_and_its_callers(page: Opened) -> None:
    before = shown(page)
    assert before["all"] == 1000
    assert before["find_key"] < 400
    box = page.page.locator("#why-1-svg g[tabindex]").filter(has_text="find_key")
    box.click()
    after = shown(page)
    assert after["find_key"] == after["main"] == after["all"] == 1000
    assert after["memcmp"] == pytest.approx(1000 * before["memcmp"] / before["find_key"], abs=4)
    assert "read_string" not in after
    page.page.locator("#why-1-svg g[tabindex]").first.click()
    assert shown(page) == before


def test_the_keyboard_does_the_same_and_what_has_the_focus_is_said(page: Opened) -> None:
    before = shown(page)
    box = page.page.locator("#why-1-svg g[tabindex]").filter(has_text="read_string")
    box.focus()
    said = page.page.locator("figure.flame .readout").first
    assert said.inner_text().startswith("read_string (src/json.c): 38 M instructions → 39 M instructions (+2.6%)")
    page.page.keyboard.press("Enter")
    assert shown(page)["read_string"] == 1000
    page.page.keyboard.press("Escape")
    assert shown(page) == before
