"""Edges that gave a false answer, as a user meets them: perfgate decide over a file, in process."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gate.cli.main import main
from tests.gate.decide.decided import decided as by_rules
from tests.gate.decide.decided import settled
from tests.support import lines
from tests.support.seeds import some
from tests.support.warned import kind as kind_of

Line = dict[str, Any]
Draw = Callable[[str, int, int], list[float]]


def executions(draw: Draw, builds: int = 6, each: int = 3, **more: Any) -> list[Line]:
    """The executions of both sides; draw: side, build and execution -> values."""
    return [
        lines.execution(side, draw(side, b, e), build=b, execution=e, **more)
        for b in range(builds)
        for e in range(each)
        for side in ("base", "head")
    ]


def decided(folder: Path, found: list[Line], *options: str) -> dict[str, Any]:
    """What report.json says of a file, with "code" and the text beside it."""
    file, report = folder / "measurements.jsonl", folder / "report.json"
    file.write_text(lines.text(found), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    code = main(["decide", str(file), "--json", str(report), *options], out, err)
    told: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return {**told, "code": code, "text": " ".join(out.getvalue().split())}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a perfgate.toml in the working directory has rules
    monkeypatch.chdir(tmp_path)


# --- floors -----------------------------------------------------------------------------------------------------------


def doubled(seed: int = 1) -> list[Line]:
    """A benchmark of 400 ns whose head takes 1,200 ns."""
    rng = np.random.default_rng(seed)
    return executions(lambda side, *_: (rng.normal(1, 0.02, 5) * (400e-9 if side == "base" else 1200e-9)).tolist())


def of_instrument(instrument: str) -> Line:
    return {
        "type": "run", "config": {"benchmark": [{"name": "bench", "command": "./bench", "instrument": instrument}]},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("run", "floor", "verdict"),
    [
        ([], "none", "regression"),
        ([of_instrument("values")], "none", "regression"),
        ([of_instrument("pyperf")], "none", "regression"),
        ([of_instrument("hyperfine")], "1us", "inconclusive"),
        ([of_instrument("spawn")], "1us", "inconclusive"),
    ],
)
def test_only_coarse_instruments_have_a_floor(tmp_path: Path, run: list[Line], floor: str, verdict: str) -> None:
    report = decided(tmp_path, [*run, *doubled()])
    assert report["findings"][0]["verdict"] == verdict
    assert report["policy"]["gate"]["floor"] == floor
    assert report["code"] == (1 if verdict == "regression" else 0)


BY_FLOOR = "beyond it, but smaller than the floor of 1 us"


def test_a_finding_that_the_floor_decides_says_so_in_every_format(tmp_path: Path) -> None:
    # more than ten others, so that a comment shows only what is worth a row
    rng = np.random.default_rng(2)
    found = doubled()
    for k in range(12):
        found += executions(lambda *_: (0.1 * rng.normal(1, 0.002, 5)).tolist(), benchmark=f"other-{k}")
    files = {kind: tmp_path / kind for kind in ("markdown", "html", "junit", "summary")}
    options = [part for kind, file in files.items() if kind != "summary" for part in (f"--{kind}", str(file))]
    report = decided(tmp_path, found, "--set", "gate.floor=1us", "--set", "gate.threshold=3%", *options)
    finding = next(f for f in report["findings"] if f["benchmark"] == "bench")
    assert (finding["verdict"], finding["not_worse"]) == ("inconclusive", False)
    assert finding["reason"] == {
        "kind": "below-floor", "text": "beyond the threshold of 3%, but smaller than the floor of 1 us",
        "details": {"threshold": 0.03, "floor": 1e-6, "unit": "s"},
    }  # fmt: skip
    assert BY_FLOOR in report["text"]
    with files["summary"].open("w", encoding="utf-8") as out:
        main(["report", str(tmp_path / "report.json"), "--format", "summary"], out, io.StringIO())
    for kind, file in files.items():
        assert BY_FLOOR in " ".join(file.read_text(encoding="utf-8").replace("&nbsp;", " ").split()), kind
    # of the comment's table it is the first row
    rows = (line for line in files["markdown"].read_text().splitlines() if "| " in line and "<br>" in line)
    assert "`bench`" in next(rows)


# --- rounding ---------------------------------------------------------------------------------------------------------


def ticking(seed: int, **more: Any) -> list[Line]:
    """Base always takes 0.1 s and head 0.2 s, but for a unit of last place here and there."""
    rng = np.random.default_rng(seed)
    start = {"base": 0.1, "head": 0.2}
    return executions(lambda side, *_: (start[side] * (1 + 2.0**-52 * rng.integers(0, 2, 25))).tolist(), **more)


def declared(**metric: Any) -> Line:
    rules = {"name": "bench", "command": "./bench", "instrument": "values", "metric": {"time": metric}}
    return {"type": "run", "config": {"benchmark": [rules]}}


@pytest.mark.parametrize(
    ("lines", "rules", "verdict", "reason"),
    [
        *((ticking(seed), {}, "inconclusive", "no-spread") for seed in range(3)),
        (ticking(0), {"gate": {"interval": "bootstrap"}}, "inconclusive", "no-spread"),
        (ticking(0), {"gate": {"interval": "fieller-kj"}}, "inconclusive", "no-spread"),
        ([declared(statistics=["p50"]), *ticking(1)], None, "inconclusive", "no-spread"),
        ([line for s in range(3) for line in ticking(s, session=s)], {}, "inconclusive", "no-spread"),
        # an exact metric stays exact
        ([declared(exact=True), *ticking(2)], None, "regression", "exact-exceeds"),
    ],
)
def test_a_unit_of_last_place_is_no_spread(lines: list[Line], rules: Any, verdict: str, reason: str) -> None:
    report = by_rules(lines, rules)
    (found,) = report.findings
    assert (found.verdict, kind_of(found.reason), report.exit_code) == (verdict, reason, int(verdict == "regression"))
    assert found.warnings == [] if reason == "exact-exceeds" else found.p is None


# --- the same values twice --------------------------------------------------------------------------------------------

TWICE = "bench failed on head: the same values of time twice: was a file of an earlier run read?"


def drawn(seed: int, count: int) -> list[float]:
    values: list[float] = np.random.default_rng(seed).normal(1, 0.05, count).tolist()
    return values


def kinds(report: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(f["kind"], f["benchmark"], f["side"]) for f in report["failures"]}


def test_the_same_values_in_every_execution_are_a_failure(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    report = decided(tmp_path, executions(lambda *_: drawn(1, 200)), "--junit", str(junit))
    assert (report["verdict"], report["exit_code"], report["code"]) == ("error", 4, 4)
    assert report["findings"] == []
    assert kinds(report) == {("repeated", "bench", "base"), ("repeated", "bench", "head")}
    assert len(report["failures"]) == 35
    assert TWICE in report["text"]
    assert "they are the values of build 0, start 0 of base" in report["text"]
    assert TWICE in junit.read_text(encoding="utf-8")


@pytest.mark.parametrize("count", [5, 200])
def test_two_executions_of_many_are_enough_and_other_benchmarks_go_on(tmp_path: Path, count: int) -> None:
    rng = np.random.default_rng(7)
    stale = drawn(2, count)
    twice = {("base", 1, 1), ("head", 4, 0)}

    def draw(*place: Any) -> list[float]:
        values: list[float] = rng.normal(1, 0.01, count).tolist()
        return stale if place in twice else values

    found = executions(draw)
    twice.clear()
    found += executions(draw, benchmark="other")
    report = decided(tmp_path, found)
    assert (report["verdict"], report["code"]) == ("error", 4)
    assert [(f["side"], f["build"], f["execution"]) for f in report["failures"]] == [("head", 4, 0)]
    assert [f["benchmark"] for f in report["findings"]] == ["other"]


def sides(found: list[Line], rules: Any = None) -> set[str]:
    """The sides of which the same values came twice."""
    return {failure.side or "" for failure in by_rules(found, rules).failures}


def test_what_may_well_come_twice_is_no_failure() -> None:
    # four distinct values, an exact count, and what is recorded and not decided
    assert sides(executions(lambda *_: [1.0, 1.1, 1.2, 1.3, 1.1, 1.0])) == set()
    assert sides([declared(exact=True), *executions(lambda *_: drawn(3, 20))]) == set()
    rng = np.random.default_rng(9)
    found = executions(lambda *_: rng.normal(1, 0.01, 6).tolist())
    for line in found:
        line["metrics"]["inputs"] = {"unit": "", "values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    assert sides(found, {"plan": {"metrics": ["time"]}}) == set()


@pytest.mark.parametrize("seed", some(range(20), 8, pytest.mark.nightly))
def test_a_timer_of_few_ticks_repeats_short_series_by_chance(seed: int) -> None:
    # 240 executions of 5 values on 7 ticks: in one file of four two series of 5 distinct values agree
    rng = np.random.default_rng(seed)
    assert sides(executions(lambda *_: (0.001 * rng.integers(8, 15, 5)).tolist(), 10, 12)) == set()
    # but one file that every execution of head reads is a failure
    again = [0.008, 0.009, 0.010, 0.011, 0.012]
    stale = executions(lambda side, *_: again if side == "head" else (0.001 * rng.integers(8, 15, 5)).tolist(), 10, 12)
    assert sides(stale) == {"head"}


@pytest.mark.parametrize("jitter", [0.2, 0.3, 0.5])
@pytest.mark.parametrize(
    "ticks",
    [
        (21, 16, 14, 13, 12, 12, 12, 12, 12, 12),
        (5, 9, 14, 20, 27, 35, 44, 54, 65, 77),
        (12, 12, 30, 12, 13, 31, 14, 12, 33),
    ],
    ids=["warm-up", "inputs", "collections"],
)
def test_a_timer_of_few_ticks_repeats_a_pattern_by_chance(ticks: tuple[int, ...], jitter: float) -> None:
    rng = np.random.default_rng(5)
    assert sides(executions(lambda *_: [0.001 * round(tick + rng.normal(0, jitter)) for tick in ticks])) == set()


def test_a_file_that_grows_is_read_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    written: list[float] = []

    def appended(*_: object) -> list[float]:
        written.extend(rng.normal(1, 0.05, 40).tolist())
        return list(written)

    report = decided(tmp_path, executions(appended))
    assert (report["code"], len(report["failures"])) == (4, 35)
    assert TWICE.replace("head", "base") in report["text"]
    assert "they begin with the values of build 0, start 0 of base" in report["text"]
    # more ticks may well follow on the same beginning
    ticks = (21, 16, 14, 13, 12, 12, 12)
    assert (
        sides(executions(lambda _, b, e: [round(t + rng.normal(0, 0.2)) / 1000 for t in ticks[: 5 + (b + e) % 3]]))
        == set()
    )


def test_a_look_ends_what_reads_an_old_file() -> None:
    rng = np.random.default_rng(4)
    run = {"type": "run", "looks": 4, "config": {"plan": {"builds": {"min": 2, "max": 4}}}}
    looks: list[Line] = [{"type": "look", "look": number, "settled": []} for number in (1, 2)]
    stale, fresh = (
        executions(draw, 2, 2) for draw in (lambda *_: drawn(4, 6), lambda *_: rng.normal(1, 0.3, 6).tolist())
    )
    assert settled([run, *stale, *looks]) == {"bench"}
    assert settled([run, *fresh, *looks]) == frozenset()


# --- unlike spreads ---------------------------------------------------------------------------------------------------


def layouts(seed: int, base: float, head: float) -> list[Line]:
    """Twelve builds of each of the same mean, of two layouts that differ by a share of it."""
    rng = np.random.default_rng(seed)
    apart = {"base": base, "head": head}

    def draw(side: str, b: int, _: int) -> list[float]:
        values: list[float] = rng.normal(1 + apart[side] * (b % 2 - 0.5), 0.005, 5).tolist()
        return values

    return executions(draw, builds=12)


def test_a_layout_that_only_base_has_is_a_warning(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    report = decided(tmp_path, layouts(1, 0.1, 0.0), "--html", str(page))
    (found,) = report["findings"]
    (warning,) = [w for w in found["warnings"] if w["kind"] == "unlike-spreads"]
    assert (warning["details"]["side"], warning["details"]["unit"]) == ("base", "build")
    assert 10 < warning["details"]["times"] < 100
    assert warning["text"].startswith("base's builds spread ")
    assert warning["text"].endswith(" times as much as head's: the mean may not tell the whole story")
    assert warning["text"] in report["text"]
    assert warning["text"].replace("'", "&#39;") in page.read_text(encoding="utf-8")
    # a layout that both sides have is none
    (both,) = decided(tmp_path, layouts(2, 0.1, 0.1))["findings"]
    assert both["warnings"] == []
