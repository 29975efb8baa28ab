"""The report fits every window and paper, light and dark, and axe finds no barrier in it."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser

from tests.browser.looks import OPEN_ALL, SIDEWAYS
from tests.browser.situations import MOST_KINDS
from tests.gate.report import examples
from tests.support.browser import DESKTOP, PHONE, Opened, Scheme, context, few, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]
FEW = [name for name in examples.ALL if name != "many"]
"""Without the long one, in which axe finds nothing that it does not find in the others, in twenty times their time."""

# what can be saved from the page is for screens
UNSEEN = """() => [...document.querySelectorAll('details > *:not(summary):not(.save)')].filter(e => !e.checkVisibility(
    {contentVisibilityAuto: true, visibilityProperty: true}) || e.getBoundingClientRect().height === 0
  ).map(e => e.outerHTML.slice(0, 120)).slice(0, 5)"""
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"


def brightness(page: Opened) -> float:
    parts: list[float] = page.evaluate(BACKGROUND)
    return sum(parts) / 3


Looks = tuple[str, Scheme, tuple[int, int]]
# axe takes seconds a page; these hold every element, and in the dark and on a phone other rules of the style sheet hold
AXE: list[Looks] = [
    ("regression", "light", DESKTOP), ("regression", "dark", PHONE), ("failures", "light", DESKTOP), ("hostile", "light", DESKTOP),
]  # fmt: skip
AT_NIGHT: list[Looks] = [
    *((name, "light", DESKTOP) for name in FEW if name not in MOST_KINDS),
    *((name, scheme, size) for name in MOST_KINDS for scheme in get_args(Scheme) for size in (DESKTOP, PHONE)),
]


@pytest.mark.parametrize(
    ("name", "scheme", "size"),
    [*AXE, *(pytest.param(*each, marks=pytest.mark.nightly) for each in AT_NIGHT if each not in AXE)],
)
def test_axe_finds_no_barrier(
    name: str, scheme: Scheme, size: tuple[int, int], browser: Browser, written: Written
) -> None:
    with context(browser, size) as inside:
        page = opened(inside, written(name))
        page.paint(scheme)
        page.evaluate(OPEN_ALL)
        assert (brightness(page) < 100) == (scheme == "dark")
        assert page.violations() == []


@pytest.mark.parametrize("name", few((name for name in FEW if name != "hostile"), MOST_KINDS))
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


def test_on_a_phone_no_cell_of_a_row_runs_into_the_next(browser: Browser, written: Written) -> None:
    wide = "() => [...document.querySelectorAll('.forest tbody .say')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    with context(browser, PHONE) as inside:
        for name in MOST_KINDS:
            assert opened(inside, written(name)).page.evaluate(f"({wide})().map(e => e.textContent)") == []
