"""The pages of compare, study and trend: open silently, fit screens, show nothing foreign, and are accessible."""

import io
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
from playwright.sync_api import Browser

from gate.cli.main import main
from gate.model.history import Machine
from gate.model.reasons import Accepted
from tests.browser.looks import LOST, OPEN_ALL, OVERLAPPING, WRONG
from tests.gate.commands.study.analysis import designs
from tests.support.browser import SIZES, Opened, Scheme, context, few, opened
from tests.support.histories import FACTS, MACHINE, creep, flat, history, kept, step
from tests.support.lines import text

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]

HOSTILE = '<img src=x onerror="window.hacked=1">\u202e\'"&{{7*7}}</style></title>' + "long" * 22
Page = Callable[[str], Path]


def compared(name: str, folder: Path) -> list[str]:
    draw = random.Random(1)

    def file(name: str, times: dict[str, float]) -> str:
        path = folder / f"{name}.json"
        results = [
            {"command": n, "mean": m, "times": [m * draw.gauss(1, 0.02) for _ in range(4)]} for n, m in times.items()
        ]
        path.write_text(json.dumps({"results": results}), encoding="utf-8")
        return str(path)

    if name == "hostile":
        named = (f"<script>hacked()\u202e'&{{{{7}}}}{k}={file(str(k), {HOSTILE: 0.1, 'x': 2.0})}" for k in range(3))
        return ["compare", *named]
    names = {f"suite{k % 3}/case{k}": 0.01 * (k + 1) for k in range(12)}
    slower = [{n: m * (1 + 0.03 * label) for n, m in names.items()} for label in range(7)]
    return ["compare", *(f"column{at}={file(f'{at}-{k}', slower[at])}" for at in range(7) for k in range(4))]


def trend(name: str, folder: Path) -> list[str]:
    other = Machine(id="m2", facts={**FACTS, "kernel": "6.8"})
    rng = np.random.default_rng(1)
    if name == "hostile":
        strange = Machine(id=HOSTILE, facts={"cpu": HOSTILE})
        accepted = {30: Accepted(up_to=1, until=None, reason=HOSTILE)}
        records = history(2, {HOSTILE: step(60, 30, 0.3)}, machines=[MACHINE] * 40 + [strange], accepted=accepted)
        records = [msgspec.structs.replace(each, subject=HOSTILE) for each in records]
    else:
        true = {"parse": step(120, 60, 0.1), "encode": creep(rng, 120, 30, size=0.02), "idle": flat(120)}
        accepted = {60: Accepted(up_to=0.12, until=None, reason="checksums")}
        machines = [MACHINE] * 90 + [other]
        records = history(4, true, machines=machines, offsets=[0.0] * 90 + [0.3], accepted=accepted)
    return ["history", "trend", "--history", str(kept(folder / "h", records))]


def many() -> list[dict[str, object]]:
    """Four factors, three settings among them, two sessions, treatments left out, a second response."""
    factors: dict[str, list[Any]] = {
        "load": ["idle", "mixed", "cpu"], "clients": [1, 8], "opt": ["O2", "O3"], "vm": ["off", "on"],
    }  # fmt: skip

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


STUDIES: dict[str, Callable[[], list[dict[str, object]]]] = {
    "tail": lambda: designs.lines(designs.LOAD, designs.tail, 5, metric="latency"),
    "many": many,
    "hostile": hostile,
}


def study(name: str, folder: Path) -> list[str]:
    (folder / "lines.jsonl").write_text(text(STUDIES[name]()), encoding="utf-8")
    return ["study", "analyse", str(folder / "lines.jsonl"), "--iid"]


PAGES = {
    **{f"compare {name}": compared for name in ("many", "hostile")},
    **{f"study {name}": study for name in STUDIES},
    **{f"trend {name}": trend for name in ("changed", "hostile")},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Page:
    @cache
    def write(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
        page = folder / "page.html"
        argv, out = PAGES[name](name.split()[1], folder), io.StringIO()
        wanted = ("--format", "html") if name.startswith("compare") else ("--html", "-")
        assert main([*argv, *wanted], out, io.StringIO()) == 0
        page.write_text(out.getvalue(), encoding="utf-8")
        return page

    return write


@pytest.fixture(scope="module", params=few(PAGES, [name for name in PAGES if name != "study many"]))
def shown(request: pytest.FixtureRequest, browser: Browser, written: Page) -> Iterator[tuple[str, Opened]]:
    """One page after the other, each opened once for all tests that only look at it."""
    with context(browser) as inside:
        yield request.param, opened(inside, written(request.param))


def test_it_opens_silently_and_everything_leads_somewhere(shown: tuple[str, Opened]) -> None:
    name, page = shown
    assert page.heard == []
    assert page.evaluate(LOST) == []
    assert page.evaluate("() => window.hacked") is None
    foreign = "img" if name.startswith("trend") else "script, img"
    assert page.evaluate(f"() => document.querySelectorAll('{foreign}').length") == 0


@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_texts_of_pictures_do_not_meet(shown: tuple[str, Opened], size: tuple[int, int]) -> None:
    name, page = shown
    page.resize(size)
    if name.startswith("study"):
        page.evaluate(OPEN_ALL)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate(WRONG) == []
    assert page.evaluate(OVERLAPPING) == []


# the long page of a study takes axe twenty times as long
PAINTED = ("compare many", "study tail", "trend changed", "study many")
AXE = [(kind, scheme) for kind in PAINTED for scheme in get_args(Scheme)]


@pytest.mark.parametrize(
    ("name", "scheme"),
    [pytest.param(*each, marks=[pytest.mark.nightly] * (each[0] == "study many" or each[1] == "dark")) for each in AXE],
)
def test_axe_finds_nothing_serious(name: str, scheme: Scheme, browser: Browser, written: Page) -> None:
    with context(browser) as inside:
        page = opened(inside, written(name))
        page.paint(scheme)
        assert page.violations() == []


def test_arrow_keys_go_from_commit_to_commit(browser: Browser, written: Page) -> None:
    with context(browser) as inside:
        page = opened(inside, written("trend changed"))
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
