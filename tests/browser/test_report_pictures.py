"""The pictures of the report are drawn: none is empty, no text is cut, no two labels lie on each other."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser

from gate.model import SIDES
from tests.browser import situations
from tests.gate.report import examples
from tests.support.browser import DESKTOP, PHONE, TABLET, WIDE, Scheme, context, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]

OPEN_ALL = "() => document.querySelectorAll('details').forEach(d => d.open = true)"
# boxes in the units of each picture's viewBox, so that its size on the page does not matter
WRONG = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg:not(svg svg)')) {
    const name = svg.id || svg.getAttribute('aria-labelledby') || svg.getAttribute('class');
    const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    if (!(box.width > 10 && box.height > 5)) { found.push(`${name}: empty`); continue; }
    const scale = view.width ? box.width / view.width : 1, room = 2;
    for (const text of svg.querySelectorAll('text')) {
      const at = text.getBoundingClientRect();
      if (!at.width) continue;
      const left = (at.left - box.left) / scale, right = (box.right - at.right) / scale;
      const top = (at.top - box.top) / scale, bottom = (box.bottom - at.bottom) / scale;
      if (Math.min(left, right, top, bottom) < -room)
        found.push(`${name}: "${text.textContent.slice(0, 50)}" cut by ${Math.min(left, right, top, bottom).toFixed(1)}`);
    }
    if (!svg.querySelector('path, line, rect, circle, polygon, polyline, use')) found.push(`${name}: nothing drawn`);
  }
  return found.slice(0, 8);
}"""
OVERLAPPING = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg:not(svg svg)')) {
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    for (let i = 0; i < texts.length; i++) for (let j = 0; j < i; j++) {
      const [a, b] = [texts[i][1], texts[j][1]];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 0.4 * Math.min(a.height, b.height))
        found.push(`"${texts[j][0].slice(0, 30)}" under "${texts[i][0].slice(0, 30)}"`);
    }
  }
  return found.slice(0, 8);
}"""
NAMELESS = """() => [...document.querySelectorAll('svg:not(svg svg)')].filter(svg => {
    const ids = (svg.getAttribute('aria-labelledby') || '').split(/\\s+/).filter(Boolean);
    const said = ids.map(id => document.getElementById(id)?.textContent || '').join('') + (svg.getAttribute('aria-label') || '');
    return svg.getAttribute('aria-hidden') !== 'true' && !said.trim();
  }).map(svg => svg.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("name", [*examples.ALL, *situations.ALL])
def test_every_picture_is_drawn_and_named(name: str, browser: Browser, written: Written) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        page.evaluate(OPEN_ALL)
        assert page.evaluate(NAMELESS) == []
        for size in (WIDE, DESKTOP, TABLET, PHONE) if name != "many" else (TABLET, PHONE):
            page.resize(size)
            assert page.evaluate(WRONG) == [], size
            assert page.evaluate(OVERLAPPING) == [], size


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
