"""The report opens in a browser without a word, with and without scripts, and everything in it leads somewhere."""

import base64
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from gate.report import json as to_json
from gate.words import marks, verdict_line
from tests.gate.report import examples
from tests.support.browser import context, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]

LOST = """() => {
  const all = [...document.querySelectorAll('[id]')].map(e => e.id);
  const known = new Set(all);
  const lost = all.filter((id, i) => all.indexOf(id) !== i).map(id => 'twice: ' + id);
  for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!known.has(decodeURIComponent(link.getAttribute('href').slice(1)))) lost.push('link: ' + link.outerHTML);
  for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for', 'headers'])
    for (const e of document.querySelectorAll(`[${name}]`))
      for (const id of e.getAttribute(name).split(/\\s+/))
        if (!known.has(id)) lost.push(`${name}: ${id}`);
  for (const e of document.querySelectorAll('use, [clip-path], [marker-end], [fill^="url"]'))
    for (const a of e.attributes) {
      const to = /^(?:url\\(["']?)?#([^"')]+)/.exec(a.value);
      if (to && !known.has(to[1])) lost.push(`${a.name}: ${a.value}`);
    }
  return lost;
}"""
ROWS = "() => document.querySelectorAll('#findings-table > tbody > tr').length"
DETAILS = "() => [...document.querySelectorAll('[id]')].filter(e => /^finding-[0-9]+$/.test(e.id) && e.textContent.length > 200).length"
# what reads as text, closed details included
TEXT = "() => document.body.textContent.replace(/\\s+/g, ' ')"


@pytest.mark.parametrize("name", examples.ALL)
def test_the_report_opens_without_a_word(name: str, browser: Browser, written: Written) -> None:
    report = examples.ALL[name]()
    with context(browser) as inside:
        page = opened(inside, written(name))
        assert page.heard == []
        assert page.page.title() == f"perfgate: {verdict_line.text(report)}"
        assert page.page.locator("h1").inner_text() == f"{marks.of_report(report)} {verdict_line.text(report)}"
        assert page.evaluate(ROWS) == len(report.findings)
        assert page.evaluate(LOST) == []


@pytest.mark.parametrize("name", examples.ALL)
def test_the_report_reads_without_scripts(name: str, browser: Browser, written: Written) -> None:
    report = examples.ALL[name]()
    with context(browser, scripts=False) as inside:
        page = opened(inside, written(name))
        assert page.heard == []
        assert page.page.locator("h1").inner_text() == f"{marks.of_report(report)} {verdict_line.text(report)}"
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
        report = page.evaluate("() => document.getElementById('report-data').text")
        links = page.evaluate("() => [...document.querySelectorAll('a[download]')].map(a => a.href)")
    assert to_json.read(report.encode()) == examples.ALL[name]()
    kind, _, data = links[0].partition(",")
    assert (len(links), kind) == (1, "data:application/gzip;base64")
    assert gzip.decompress(base64.b64decode(data)).startswith(b'{"type":"run"}\n</script>')
