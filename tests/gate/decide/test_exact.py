"""What needs no ratio (docs/method.md): counts are compared as numbers, also from 0, and shares by their difference."""

import io
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main
from gate.decide.next_steps import next_step
from gate.model import Report, reasons
from gate.model.warnings.estimates import NotExact
from gate.words import findings, verdict_line
from gate.writing.units import ratio_of
from tests.gate.decide.decided import both, decided, ones, only
from tests.support.warned import kind

GATE = {"threshold": "3%", "interval": "fieller"}
RULES = """[[benchmark]]
name = "BenchmarkEnc"
command = ["go", "test", "-bench=.", "-benchmem"]
instrument = "go"
[benchmark.metric."allocs/op"]
exact = true
"""
GO = "pkg: x/y\nBenchmarkEnc-8 \t 1000000\t        {time} ns/op\t       {bytes} B/op\t       {count} allocs/op\nPASS\n"


def report(base: list[list[float]], head: list[list[float]], accept: Any = (), **metric: Any) -> Report:
    """Decide over a count; base, head: by build its values."""
    rules = {"allocs": {"unit": "count", "exact": True, **metric}}
    table = {"name": "enc", "command": "x", "instrument": "values", "metric": rules}
    lines = both([[own] for own in base], [[own] for own in head], benchmark="enc", metric="allocs", unit="count")
    return decided(lines, {"gate": GATE, "benchmark": [table], "accept": list(accept)})


@pytest.mark.parametrize(
    ("base", "head", "rules", "verdict", "reason"),
    [
        (100, 100, {}, "unchanged", "same-count"),
        (100, 102, {}, "unchanged", "exact-within"),
        (100, 104, {}, "regression", "exact-exceeds"),
        (100, 90, {}, "improvement", "exact-exceeds"),
        (100, 101, {"floor": 5}, "unchanged", "exact-within"),
        (101, 100, {"floor": 5}, "unchanged", "exact-within"),
        (100, 104, {"floor": 5}, "inconclusive", "below-floor"),
        (104, 100, {"floor": 5}, "inconclusive", "below-floor"),
        # just the threshold, whatever its float is
        (100, 107, {"threshold": "7%"}, "unchanged", "exact-within"),
        (100, 114, {"threshold": "14%"}, "unchanged", "exact-within"),
        (1000, 1029, {"threshold": "2.9%"}, "unchanged", "exact-within"),
        (10, 11, {"threshold": "10%"}, "unchanged", "exact-within"),
        (5, 5, {"threshold": "0%"}, "unchanged", "same-count"),
        (0, 1, {}, "regression", "zero-base-exceeds"),
        (0, 1, {"better": "higher"}, "improvement", "zero-base-exceeds"),
        (1, 0, {}, "improvement", "exact-exceeds"),
        (0, 0, {}, "unchanged", "both-zero"),
        (0, 5, {"floor": 3}, "regression", "zero-base-exceeds"),
        (0, 2, {"floor": 3}, "inconclusive", "below-floor"),
    ],
)
def test_a_count_is_a_number(base: float, head: float, rules: dict[str, Any], verdict: str, reason: str) -> None:
    found = report([[base]] * 2, [[head]] * 2, **rules)
    (finding,) = found.findings
    assert (finding.verdict, kind(finding.reason), found.family.size) == (verdict, reason, 0)
    if base:
        assert (finding.ratio.low, finding.ratio.high, finding.ratio.method) == (head / base, head / base, "exact")
        assert finding.not_worse == (
            verdict in ("unchanged", "improvement") or (verdict, head < base) == ("inconclusive", True)
        )


@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [([0.0, 0.0], [1.0, 2.0], "regression"), ([0.0, 0.0], [0.0, 2.0], "inconclusive")],
)
def test_what_is_above_0_in_every_build_has_left_it(base: list[float], head: list[float], verdict: str) -> None:
    assert report([base] * 5, [head] * 5).findings[0].verdict == verdict


@pytest.mark.parametrize(("spread", "other"), [(0.1, 0.1), (0.1, 0.0), (0.0, 0.1)])
def test_a_count_that_spreads_on_a_side_is_measured(spread: float, other: float) -> None:
    base, head = ([[10 + by * (build % 2)] for build in range(5)] for by in (spread, other))
    (found,) = report(base, head).findings
    assert (found.ratio.method, found.warnings) == ("fieller", [NotExact("values")])


@pytest.mark.parametrize(("head", "verdict"), [(108, "accepted"), (109, "regression")])
def test_an_entry_accepts_it_up_to_its_size(head: float, verdict: str) -> None:
    entry = {"benchmark": "enc", "up_to": "8%", "until": "2026-12-31", "reason": "see #123"}
    assert report([[100]] * 2, [[head]] * 2, [entry]).findings[0].verdict == verdict


def test_a_time_that_is_0_on_base_has_no_ratio_and_a_floor_that_tells() -> None:
    lines = ones([0.0] * 5, [0.99, 1.0, 1.01, 1.005, 0.995])
    found = {floor: only(lines, {"gate": {**GATE, "floor": floor}}) for floor in ("1us", "2s", "0")}
    assert [each.verdict for each in found.values()] == ["regression", "inconclusive", "inconclusive"]
    assert found["0"].ratio.estimate is None


def test_the_sentences_say_from_0_to_what_and_what_a_floor_allows() -> None:
    found = report([[0.0]] * 5, [[1.0]] * 5)
    assert found.exit_code == 1
    assert found.findings[0].reason == reasons.ZeroBaseExceeds(floor=None, unit="count")
    assert verdict_line.text(found).startswith(
        "Regression: enc allocs went from 0 to 1, base is 0, and head is above it"
    )
    assert findings.conclusion(found.findings[0]) == (
        "allocs went from 0 to 1: regression, base is 0, and head is above it in every build"
    )
    found = report([[0.0]] * 5, [[2.0]] * 5, floor=3)
    assert getattr(next_step(found), "kind", "") == "lower-floor"
    # what the rules allow does not block where noise does
    assert (found.findings[0].is_below_floor, found.findings[0].is_open) == (True, False)
    assert "allocs went from 0 to 2: undecided, beyond" in findings.conclusion(found.findings[0])
    assert not report([[0.0]] * 5, [[2.0, 4.0]] * 5, floor=3).findings[0].is_below_floor


def test_allocations_of_go_that_go_from_0_to_1_fail_the_gate(tmp_path: Path) -> None:
    for k in range(5):
        (tmp_path / f"b{k}.txt").write_text(GO.format(time=51 + k / 10, bytes=0, count=0))
        (tmp_path / f"h{k}.txt").write_text(GO.format(time=51.05 + k / 10, bytes=16, count=1))
    (tmp_path / "perfgate.toml").write_text(RULES)
    out = io.StringIO()
    sides = [f"{side}={tmp_path}/{side[0]}*.txt" for side in ("base", "head")]
    assert main(["decide", *sides, "--config", str(tmp_path / "perfgate.toml")], out, io.StringIO()) == 1
    assert "Regression: BenchmarkEnc allocs/op went from 0 to 1" in out.getvalue()


# --- shares: the difference in percentage points, so that base may be 0 -------------------------------------------------

WOBBLE = (-1.0, 0.4, 0.8, -0.5, 0.3, 0.1)


def of_shares(
    base: float, head: float, *, metric: str = "error_rate", unit: str = "", spread: float = 0.02, rules: str = "3%"
) -> Report:
    """Decide over six builds of each that spread by a share around their values; rules: the threshold."""
    sides = ([[[value * (1 + spread * by), value * (1 - spread * by / 2)]] for by in WOBBLE] for value in (base, head))
    lines = both(*sides, metric=metric, unit=unit)
    return decided(lines, {"gate": {"threshold": rules}})


@pytest.mark.parametrize("spread", [0.02, 0.0])
@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [
        (0.0, 0.05, "regression"),
        (0.05, 0.0, "improvement"),
        (0.0, 0.01, "unchanged"),
        # twice as many, and a tenth of a point
        (0.001, 0.002, "unchanged"),
        (0.5, 0.54, "regression"),
        (0.0, 0.0, "unchanged"),
    ],
)
def test_a_difference_beyond_the_threshold_is_a_change(base: float, head: float, verdict: str, spread: float) -> None:
    (found,) = of_shares(base, head, spread=spread).findings
    assert found.verdict == verdict
    assert found.ratio.estimate == pytest.approx(1 + head - base, abs=0.002)
    assert (found.base.value, found.head.value) == pytest.approx((base, head), abs=0.002)


def test_a_smaller_threshold_is_one_of_points_too_and_the_columns_are_no_riddle() -> None:
    assert of_shares(0.0, 0.01, rules="0.5%").findings[0].verdict == "regression"
    assert findings.from_columns(of_shares(0.001, 0.002).findings[0]) == ""


@pytest.mark.parametrize(
    ("metric", "unit", "base", "head", "verdict"),
    [
        ("success", "", 0.99, 0.95, "regression"),
        ("success", "", 0.99, 0.98, "unchanged"),
        ("miss-rate", "%", 0.0, 5.0, "regression"),
        ("miss-rate", "%", 1.0, 2.0, "unchanged"),
        ("hit-rate", "%", 80.0, 70.0, "regression"),
        ("failed", "share", 0.0, 0.2, "regression"),
        ("error_rate", "1", 0.0, 0.2, "regression"),
        ("error_rate", "ratio", 0.0, 0.2, "regression"),
        ("success", "fraction", 0.99, 0.0, "regression"),
        ("miss-rate", "percent", 0.0, 5.0, "regression"),
        # of what is no share by its name a ratio has any size
        ("errors", "ratio", 0.0, 0.2, "inconclusive"),
        # of no share 0 has no ratio
        ("errors", "count", 0.0, 5.0, "inconclusive"),
    ],
)
def test_what_is_a_share(metric: str, unit: str, base: float, head: float, verdict: str) -> None:
    (found,) = of_shares(base, head, metric=metric, unit=unit, spread=0.001).findings
    assert found.verdict == verdict


def test_the_words_say_points() -> None:
    found = of_shares(0.0, 0.05)
    assert verdict_line.text(found).startswith(
        "Regression: bench error_rate is 5.0 points higher (at least 5.0 points)"
    )
    assert findings.conclusion(found.findings[0]).startswith("error_rate 5.0 points higher (at least 5.0 points)")
    assert "threshold 3 points: regression" in findings.conclusion(found.findings[0])
    step = next_step(found)
    # there is a ratio, so that an [[accept]] entry covers it
    assert step is not None and step.details["from_zero"] is False
    # without an interval it is the difference too
    assert ratio_of("error_rate", "", 0.0, 0.05) == pytest.approx(1.05)
    assert ratio_of("miss-rate", "%", 20.0, 10.0) == pytest.approx(0.9)
    assert ratio_of("time", "s", 2.0, 3.0) == 1.5
    assert ratio_of("time", "s", 0.0, 3.0) is None
