"""Names from elsewhere are text: nothing of them runs, leads out, or moves what stands beside them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from gate.cli.main import main
from tests.support import runs
from tests.support.browser import DESKTOP, PHONE, context, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]

OPEN_ALL = "() => document.querySelectorAll('details').forEach(d => d.open = true)"
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
