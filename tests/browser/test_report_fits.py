"""The report fits every window and paper, light and dark, and axe finds no barrier in it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import situations
from tests.gate.report import examples
from tests.support.browser import DESKTOP, PHONE, SMALL_PHONE, TABLET, WIDE, Opened, Scheme, context, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]
FEW = [name for name in examples.ALL if name != "many"]
"""Without the long one, in which axe finds nothing that it does not find in the others, in twenty times their time."""

MOST_KINDS = ("regression", "failures", "explained")
OTHERS: list[tuple[Scheme, tuple[int, int]]] = [("light", PHONE), ("dark", PHONE), ("dark", DESKTOP)]

OPEN_ALL = "() => document.querySelectorAll('details').forEach(d => d.open = true)"
# the page scrolls sideways, or an element outside of a part that scrolls reaches beyond the window, or is cut off
SIDEWAYS = """() => {
  const page = document.scrollingElement, found = [];
  if (page.scrollWidth > page.clientWidth) found.push(`page: ${page.scrollWidth} of ${page.clientWidth}`);
  const style = e => getComputedStyle(e);
  // read aloud only: one pixel on the page
  const hidden = e => /inset|rect/.test(style(e).clipPath);
  const scrolls = e => e && (/(auto|scroll|hidden)/.test(style(e).overflowX) || scrolls(e.parentElement));
  for (const e of document.querySelectorAll('body *:not(svg *)')) {
    const reaches = e.getBoundingClientRect().right > page.clientWidth + 1 && !scrolls(e.parentElement);
    const cut = e.scrollWidth > e.clientWidth + 1 && style(e).overflowX === 'hidden';
    if ((reaches || cut) && !hidden(e))
      found.push(`${e.tagName} ${reaches ? 'beyond' : 'cut'}: ${e.textContent.slice(0, 60)}`);
  }
  return found.slice(0, 5);
}"""
# what can be saved from the page is for screens
UNSEEN = """() => [...document.querySelectorAll('details > *:not(summary):not(.save)')].filter(e => !e.checkVisibility(
    {contentVisibilityAuto: true, visibilityProperty: true}) || e.getBoundingClientRect().height === 0
  ).map(e => e.outerHTML.slice(0, 120)).slice(0, 5)"""
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"


@pytest.mark.parametrize("name", [*examples.ALL, *situations.ALL])
def test_no_window_needs_sideways_scrolling(name: str, browser: Browser, written: Written) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        page.evaluate(OPEN_ALL)
        # the long one has no other elements, but takes seconds to lay out
        for size in (WIDE, DESKTOP, TABLET, PHONE, SMALL_PHONE) if name != "many" else (DESKTOP, SMALL_PHONE):
            page.resize(size)
            assert page.evaluate(SIDEWAYS) == [], size


# how far "no change" on the axis is from the line that each bar draws for it, in pixels
APART = """() => {
  const middle = e => (r => (r.left + r.right) / 2)(e.getBoundingClientRect());
  const named = [...document.querySelectorAll('#findings-table thead text')].find(e => e.textContent === '0');
  return [...document.querySelectorAll('#findings-table .bar .one')].map(e => Math.abs(middle(e) - middle(named)));
}"""


@pytest.mark.parametrize("name", ["regression", "quantiles", "sixty"])
def test_the_axis_is_as_wide_as_the_bars(name: str, browser: Browser, written: Written) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        for size in (WIDE, DESKTOP, TABLET, PHONE, SMALL_PHONE):
            page.resize(size)
            assert max(page.evaluate(APART)) < 1.5, size


def brightness(page: Opened) -> float:
    parts: list[float] = page.evaluate(BACKGROUND)
    return sum(parts) / 3


# axe takes seconds a page; these hold every element, `make tools` looks at the others too
PLAIN = ("regression", "failures", "hostile")


@pytest.mark.parametrize(
    "name", [name if name in PLAIN else pytest.param(name, marks=pytest.mark.tools) for name in FEW]
)
def test_axe_finds_no_barrier(name: str, browser: Browser, written: Written) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        page.evaluate(OPEN_ALL)
        assert page.violations() == []
        # on a phone and in the dark other rules of the style sheet hold, for all reports the same
        for scheme, size in OTHERS if name in MOST_KINDS else []:
            page.paint(scheme)
            page.resize(size)
            assert (brightness(page) < 100) == (scheme == "dark")
            assert page.violations() == [], (scheme, size)


@pytest.mark.parametrize("name", [name for name in FEW if name != "hostile"])
def test_paper_is_white_and_shows_what_the_screen_shows(name: str, browser: Browser, written: Written) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        page.paint("dark", "print")
        assert brightness(page) == 255
        # a sheet of A4 in pixels, less its margins
        page.resize((688, 1000))
        assert page.evaluate(SIDEWAYS) == []
        # what is folded keeps its line, and what a reader opens before is printed
        assert page.page.locator("details:not(.read) > summary:visible").count() > 0
        page.evaluate(OPEN_ALL)
        # what was folded is laid out with the next frame
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate(UNSEEN) == []
        assert page.evaluate(SIDEWAYS) == []


@pytest.mark.parametrize("scripts", [True, False])
def test_printing_makes_a_pdf(scripts: bool, browser: Browser, written: Written) -> None:
    with context(browser, scripts=scripts) as inside:
        page = opened(inside, written("regression"))
        data = page.page.pdf(format="A4")
        assert data.startswith(b"%PDF")
        # an empty sheet takes a tenth of it
        assert len(data) > 50_000
