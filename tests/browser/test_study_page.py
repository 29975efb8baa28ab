"""The page of a study: opens silently without scripts, fits its screens, shows nothing foreign, and is accessible."""

import io
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from playwright.sync_api import Browser

from gate.cli.main import main
from tests.browser.looks import LOST, OPEN_ALL, OVERLAPPING, WRONG
from tests.gate.commands.study.analysis import designs
from tests.support.browser import DESKTOP, PHONE, Opened, Scheme, context, opened
from tests.support.lines import execution, text

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

HOSTILE = '<img src=x onerror="window.hacked=1">\u202e\'"&{{7*7}}' + "long" * 22
Page = Callable[[str], Path]


def tail() -> list[dict[str, object]]:
    return designs.lines(designs.LOAD, designs.tail, 5, metric="latency")


def many() -> list[dict[str, object]]:
    """Four factors, three settings among them, two sessions, treatments left out, a second response."""
    factors: dict[str, list[Any]] = {
        "load": ["idle", "mixed", "cpu"],
        "clients": [1, 8],
        "opt": ["O2", "O3"],
        "vm": ["off", "on"],
    }

    def values(at: designs.Settings, rng: np.random.Generator) -> list[float]:
        level = {"idle": 1.0, "mixed": 2.0, "cpu": 4.0}[at["load"]] * (1.5 if at["clients"] == 8 else 1)
        return list(level * 1e-4 * rng.lognormal(0, 0.2, 30))

    found = []
    for session in range(2):
        found += designs.lines(
            factors, values, 2, seed=session, session=session,
            leave_out=lambda at: at["load"] == "idle" and at["vm"] == "on",
        )  # fmt: skip
    rate = {"rate": {"unit": "req/s", "better": "higher", "values": [5.0, 6.0]}}
    return [{**line, "metrics": {**line["metrics"], **rate}} for line in found]


def hostile() -> list[dict[str, object]]:
    factors = {HOSTILE: [HOSTILE, "</script><script>window.hacked=1</script>"], "b": ["x" * 200, "y"]}
    return designs.lines(factors, lambda _, rng: list(rng.random(20)), 3, benchmark=HOSTILE, metric=HOSTILE)


def single() -> list[dict[str, object]]:
    return [execution("head", [1.0 + a], build=b, factors={"a": a}) for a in (1, 2) for b in range(2)]


EXAMPLES = {"tail": tail, "many": many, "hostile": hostile, "single": single}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("studies")

    @cache
    def write(name: str) -> Path:
        measurements = folder / f"{name}.jsonl"
        measurements.write_text(text(EXAMPLES[name]()), encoding="utf-8")
        page = folder / f"{name}.html"
        arguments = ["study", "analyse", str(measurements), "--iid", "--html", str(page)]
        assert main(arguments, io.StringIO(), io.StringIO()) == 0
        return page

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


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_it_fits_and_texts_of_pictures_do_not_meet(shown: Opened, size: tuple[int, int]) -> None:
    shown.resize(size)
    shown.evaluate(OPEN_ALL)
    assert shown.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    assert shown.evaluate(WRONG) == []
    assert shown.evaluate(OVERLAPPING) == []


# the long page takes axe twenty times as long
@pytest.mark.parametrize(
    ("name", "scheme"),
    [("tail", "light"), *(pytest.param("many", scheme, marks=pytest.mark.nightly) for scheme in get_args(Scheme))],
)
def test_axe_finds_nothing_serious(name: str, scheme: Scheme, browser: Browser, written: Page) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        page.paint(scheme)
        assert page.violations() == []
