"""The report opens without a word, with and without scripts: all of it leads somewhere and is painted, and names are text."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser

from gate.cli.main import main
from gate.model import SIDES, Report
from gate.words import bars, verdict_line
from tests.browser import situations
from tests.browser.looks import LOST, NAMELESS, OPEN_ALL, OVERLAPPING, SIDEWAYS, WRONG
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


# --- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["values", "series"])
def test_both_sides_are_seen(kind: str, scheme: Scheme, browser: Browser, written: Written) -> None:
    with context(browser) as inside:
        page = opened(inside, written("regression"))
        page.paint(scheme)
        picture = page.page.locator(f"#finding-1 figure.{kind} svg")
        marks = {side: picture.locator(f"[class*=-{side}]") for side in SIDES}
        painted = {}
        for side, shapes in marks.items():
            shapes.evaluate_all("all => all.forEach(e => { e.style.display = 'none' })")
            without = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
            shapes.evaluate_all("all => all.forEach(e => { e.style.display = '' })")
            whole = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
            changed = ImageChops.difference(whole, without).convert("L").point(lambda v: 255 if v > 40 else 0)
            painted[side] = changed.histogram()[255]
    # as many values on either side, drawn by marks of about one size
    assert min(painted.values()) > 0.4 * max(painted.values()) > 400


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_is_painted(scheme: Scheme, size: tuple[int, int], browser: Browser, written: Written) -> None:
    with context(browser, size) as inside:
        page = opened(inside, written("regression"))
        page.paint(scheme)
        with Image.open(io.BytesIO(page.page.screenshot())) as shot:
            assert shot.size == size
            colours = shot.convert("RGB").getcolors(1 << 24) or []
    # text is drawn in many shades between ink and paper, and paper is most of it
    assert len(colours) > 100
    most = max(colours)
    assert most[0] > 0.5 * size[0] * size[1]


# --- names from elsewhere: nothing of them runs, leads out, or moves what stands beside them ---------------------------

STRANGE = """() => {
  const found = [];
  if (window.hacked !== undefined) found.push('a name ran');
  const tags = 'img, iframe, object, embed, base, form, link, textarea, svg script, svg foreignObject, svg image';
  for (const e of document.querySelectorAll(tags)) found.push(e.outerHTML.slice(0, 120));
  for (const e of document.querySelectorAll('*'))
    for (const a of e.attributes)
      if (/^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value)) found.push(`${e.tagName} ${a.name}=${a.value}`);
  for (const e of document.querySelectorAll('[href], [src], [xlink\\\\:href]')) {
    const to = e.getAttribute('href') || e.getAttribute('src') || '';
    if (!to.startsWith('#') && !to.startsWith('data:application/')) found.push(`leads to ${to}`);
  }
  return found.slice(0, 8);
}"""
# what follows a name in the source stands after it: on a line below, or to the right
MOVED = """() => [...document.querySelectorAll('bdi')].filter(name => {
    const next = name.nextElementSibling;
    if (!next || !next.getClientRects().length || !name.getClientRects().length) return false;
    const last = [...name.getClientRects()].at(-1), after = next.getClientRects()[0];
    return after.top < last.bottom - 2 && after.left < last.right - 1;
  }).map(e => e.parentElement.textContent.slice(0, 80))"""
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
