"""The pictures of the report are painted, both sides of them, in light and dark."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser

from gate.model import SIDES
from tests.support.browser import DESKTOP, PHONE, Scheme, context, opened

# one process: a browser costs more than what these tests do with it
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

Written = Callable[[str], Path]


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
