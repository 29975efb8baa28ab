"""The page of a comparison: opens silently without scripts, fits its screens, shows nothing foreign, is accessible."""

import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from gate.cli.main import main
from tests.browser.looks import LOST, OVERLAPPING, WRONG
from tests.support.browser import SIZES, Opened, Scheme, context, opened

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

HOSTILE = '<img src=x onerror="window.hacked=1">\u202e\'"&{{7*7}}</style></title>' + "long" * 60
Page = Callable[[str], Path]


def file(path: Path, draw: random.Random, names: dict[str, float]) -> str:
    results = [
        {"command": n, "mean": m, "times": [m * draw.gauss(1, 0.02) for _ in range(4)]} for n, m in names.items()
    ]
    path.write_text(json.dumps({"results": results}), encoding="utf-8")
    return str(path)


def arguments(name: str, folder: Path) -> list[str]:
    draw = random.Random(1)
    if name == "single":
        return [file(folder / "a.json", draw, {"parse": 0.1})]
    if name == "hostile":
        return [
            f"<script>hacked()\u202e'&{{{{7}}}}{k}={file(folder / f'{k}.json', draw, {HOSTILE: 0.1, 'x': 2.0})}"
            for k in range(3)
        ]
    names = {f"suite{k % 3}/case{k}": 0.01 * (k + 1) for k in range(12)}
    labels = {"two": 2, "many": 7}[name]
    return [
        f"column{label}={file(folder / f'{label}-{k}.json', draw, {n: m * (1 + 0.03 * label) for n, m in names.items()})}"
        for label in range(labels)
        for k in range(4)
    ]


EXAMPLES = ("single", "two", "many", "hostile")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Page:
    pages: dict[str, Path] = {}

    def write(name: str) -> Path:
        if name not in pages:
            folder = tmp_path_factory.mktemp(name)
            page = folder / "page.html"
            argv = ["compare", *arguments(name, folder), "--html", str(page)]
            assert main(argv, io.StringIO(), io.StringIO()) == 0
            pages[name] = page
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
    assert shown.evaluate("() => document.querySelectorAll('script, img').length") == 0


@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_texts_of_pictures_do_not_meet(shown: Opened, size: tuple[int, int]) -> None:
    shown.resize(size)
    assert shown.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    assert shown.evaluate(WRONG) == []
    assert shown.evaluate(OVERLAPPING) == []


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_serious(scheme: Scheme, browser: Browser, written: Page) -> None:
    with context(browser) as inside:
        page = opened(inside, written("two"))
        page.paint(scheme)
        assert page.violations() == []
