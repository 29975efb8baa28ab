"""The page of a trend: opens silently, fits its screens, works without scripts and by keyboard, is accessible."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from playwright.sync_api import Browser

from gate.cli.main import main
from gate.model.history import AcceptedChange, Machine
from tests.browser.looks import LOST, OVERLAPPING, WRONG
from tests.support.browser import SIZES, Opened, Scheme, context, opened
from tests.support.histories import FACTS, MACHINE, creep, flat, history, kept, step

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

HOSTILE = '<img src=x onerror="window.hacked=1">\u202e\'"&{{7*7}}</style></title>' + "long" * 60
Page = Callable[[str], Path]
EXAMPLES = ("changed", "short", "hostile", "many")


def written_to(folder: Path, name: str) -> Path:
    other = Machine(id="m2", facts={**FACTS, "kernel": "6.8"})
    rng = np.random.default_rng(1)
    if name == "short":
        records = history(1, {"parse": flat(3)})
    elif name == "hostile":
        strange = Machine(id=HOSTILE, facts={"cpu": HOSTILE})
        accepted = {30: AcceptedChange(up_to=1, until=None, reason=HOSTILE)}
        records = history(2, {HOSTILE: step(60, 30, 0.3)}, machines=[MACHINE] * 40 + [strange], accepted=accepted)
        records = [msgspec.structs.replace(each, subject=HOSTILE) for each in records]
    elif name == "many":
        true = {f"suite/case-{k:02}": step(500, 200, 0.1) if k % 10 == 0 else flat(500) for k in range(50)}
        records = history(3, true, machines=[MACHINE] * 300 + [other], offsets=[0.0] * 300 + [0.2])
    else:
        true = {"parse": step(120, 60, 0.1), "encode": creep(rng, 120, 30, size=0.02), "idle": flat(120)}
        accepted = {60: AcceptedChange(up_to=0.12, until=None, reason="checksums")}
        machines = [MACHINE] * 90 + [other]
        records = history(4, true, machines=machines, offsets=[0.0] * 90 + [0.3], accepted=accepted)
    page = folder / "page.html"
    argv = ["history", "trend", "--history", str(kept(folder / "h", records)), "--html", str(page)]
    assert main(argv, io.StringIO(), io.StringIO()) == 0
    return page


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Page:
    pages: dict[str, Path] = {}

    def write(name: str) -> Path:
        if name not in pages:
            pages[name] = written_to(tmp_path_factory.mktemp(name), name)
        return pages[name]

    return write


@pytest.fixture(scope="module", params=EXAMPLES)
def shown(request: pytest.FixtureRequest, browser: Browser, written: Page) -> Iterator[Opened]:
    """One page after the other, each opened once for all tests that only look at it."""
    with context(browser) as inside:
        yield opened(inside, written(request.param))


def test_it_opens_silently_and_everything_leads_somewhere(shown: Opened) -> None:
    assert shown.heard == []
    assert shown.evaluate(LOST) == []
    assert shown.evaluate("() => window.hacked") is None
    assert shown.evaluate("() => document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_texts_of_pictures_do_not_meet(shown: Opened, size: tuple[int, int]) -> None:
    shown.resize(size)
    assert shown.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    assert shown.evaluate(WRONG) == []
    assert shown.evaluate(OVERLAPPING) == []


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_serious(scheme: Scheme, browser: Browser, written: Page) -> None:
    with context(browser) as inside:
        page = opened(inside, written("changed"))
        page.paint(scheme)
        assert page.violations() == []


def test_many_cases_stay_small_and_folded(browser: Browser, written: Page) -> None:
    path = written("many")
    assert path.stat().st_size < 4_000_000
    with context(browser) as inside:
        page = opened(inside, path)
        assert page.evaluate("() => document.querySelectorAll('details.finding[open]').length") == 0
        # a link opens the case that it leads to
        page.evaluate("() => document.querySelector('a[href=\"#case-41\"]').click()")
        page.page.wait_for_selector("#case-41[open]")
        assert page.evaluate("() => document.querySelectorAll('details.finding').length") == 50


def test_arrow_keys_go_from_commit_to_commit(browser: Browser, written: Page) -> None:
    with context(browser) as inside:
        page = opened(inside, written("changed"))
        press = """() => {
          const frame = document.querySelector("figure.trend .scroll");
          frame.focus();
          const said = [];
          for (const key of ["ArrowRight", "ArrowRight", "PageDown", "ArrowLeft"]) {
            frame.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            said.push(document.querySelector("figure.trend .readout").textContent);
          }
          return said;
        }"""
        said = page.evaluate(press)
        assert "the commit before the first" in said[0]
        assert "Change number 1" in said[1] and "to its parent" in said[1]
        assert "Change number 21" in said[2] and "Change number 20" in said[3]
