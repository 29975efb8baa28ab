"""The report opens without a word, with and without scripts: all of it leads somewhere and is painted, and names are text."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from playwright.sync_api import Browser

from gate.cli.main import main
from gate.decide.importance import ordered
from gate.document import bars
from gate.model import Report
from gate.words import verdict_line
from gate.words.numbers import word
from tests.browser import situations
from tests.browser.looks import LOST, MOVED, NAMELESS, OPEN_ALL, OVERLAPPING, SIDEWAYS, STRANGE, WRONG
from tests.browser.situations import MOST_KINDS
from tests.gate.report import examples
from tests.support import runs
from tests.support.browser import DESKTOP, PHONE, SIZES, Opened, Scheme, context, few, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]

ROWS = "() => document.querySelectorAll('#findings-table > tbody > tr').length"
DETAILS = "() => [...document.querySelectorAll('[id]')].filter(e => /^finding-[0-9]+$/.test(e.id) && e.textContent.length > 200).length"
# what reads as text, closed details included
TEXT = "() => document.body.textContent.replace(/\\s+/g, ' ')"


class Shown(NamedTuple):
    """A report, and its page."""

    report: Report
    page: Opened


@pytest.fixture(scope="module", params=few(examples.ALL | situations.ALL, (*situations.MOST_KINDS, *situations.ALL)))
def shown(request: pytest.FixtureRequest, browser: Browser, written: Written) -> Iterator[Shown]:
    """One page after the other, each opened once for all tests that only look at it."""
    with context(browser) as inside:
        yield Shown((examples.ALL | situations.ALL)[request.param](), opened(inside, written(request.param)))


def test_the_report_opens_without_a_word(shown: Shown) -> None:
    report, page = shown
    assert page.heard == []
    assert page.page.title() == f"perfgate: {verdict_line.text(report)}"
    assert page.page.locator("h1").inner_text() == f"{bars.of_report(report)} {verdict_line.text(report)}"
    assert page.evaluate(ROWS) == len(report.findings)
    assert page.evaluate(LOST) == []
    assert page.evaluate(NAMELESS) == []


@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_every_picture_is_drawn(shown: Shown, size: tuple[int, int]) -> None:
    page = shown.page
    page.evaluate(OPEN_ALL)
    page.resize(size)
    # no window needs sideways scrolling
    assert page.evaluate(SIDEWAYS) == []
    assert page.evaluate(WRONG) == []
    assert page.evaluate(OVERLAPPING) == []
    assert page.heard == []


@pytest.mark.parametrize("name", few(examples.ALL, situations.MOST_KINDS))
def test_the_report_reads_without_scripts(name: str, browser: Browser, written: Written) -> None:
    report = examples.ALL[name]()
    with context(browser, scripts=False) as inside:
        page = opened(inside, written(name))
        assert page.heard == []
        assert page.page.locator("h1").inner_text() == f"{bars.of_report(report)} {verdict_line.text(report)}"
        assert page.evaluate(ROWS) == len(report.findings)
        assert page.evaluate(DETAILS) == len(report.findings)
        # what needs a script is not shown without one
        assert page.page.locator("button:visible, input:visible, select:visible").count() == 0
        text = page.evaluate(TEXT)
        assert all(f.benchmark in text for f in report.findings if f.benchmark.isprintable())


# --- names from elsewhere: nothing of them runs, leads out, or moves what stands beside them ---------------------------

# characters that a page may not hold: those that do not print, or that turn the text around
UNPRINTABLE = """() => [...document.querySelectorAll('body *:not(script)')].flatMap(e => [...e.childNodes])
  .filter(n => n.nodeType === Node.TEXT_NODE && n.parentElement.tagName !== 'SCRIPT').map(n => n.data)
  .filter(t => /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]/.test(t)).slice(0, 5)"""


def judge(page_file: Path, browser: Browser) -> None:
    for scripts in (True, False):
        with context(browser, scripts=scripts) as inside:
            page = opened(inside, page_file)
            page.evaluate(OPEN_ALL)
            for size in (DESKTOP, PHONE):
                page.resize(size)
                assert page.evaluate(MOVED) == []
            assert page.evaluate(STRANGE) == []
            assert page.evaluate(UNPRINTABLE) == []
            assert page.heard == []


def test_names_of_a_report_are_text(browser: Browser, written: Written) -> None:
    judge(written("hostile"), browser)


def test_names_of_a_run_are_text(browser: Browser, tmp_path: Path) -> None:
    folder = runs.write(tmp_path / "run", runs.hostile())
    with (tmp_path / "out").open("w") as out:
        assert main(["report", str(folder), "--format", "json"], out, out) == 4
    judge(folder / "report.html", browser)


# --- every window and paper, light and dark ---------------------------------------------------------------------------


# one process: a browser costs more than what these tests do with it

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


# --- what the page does, by mouse and by keyboard alone ---------------------------------------------------------------


# one process: a browser costs more than what these tests do with it


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
