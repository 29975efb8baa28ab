"""The report opens in a browser without a word, with and without scripts, and everything in it leads somewhere."""

import base64
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser

from gate.model import Report
from gate.words import bars, verdict_line
from tests.browser import situations
from tests.browser.looks import LOST, NAMELESS, OPEN_ALL, OVERLAPPING, SIDEWAYS, WRONG
from tests.gate.report import examples
from tests.support.browser import SIZES, Opened, context, few, opened

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


@pytest.fixture(scope="module", params=[*examples.ALL, *situations.ALL])
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


@pytest.mark.parametrize("name", ["regression", "hostile"])
def test_the_data_of_the_page_can_be_had_from_it(name: str, browser: Browser, written: Written) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        links = page.evaluate("() => [...document.querySelectorAll('a[download]')].map(a => a.href)")
    kind, _, data = links[0].partition(",")
    assert (len(links), kind) == (1, "data:application/gzip;base64")
    assert gzip.decompress(base64.b64decode(data)).startswith(b'{"type":"run"}\n</script>')
