"""Shares are compared by their difference in percentage points, so that base may be 0 (docs/method.md)."""

import pytest

from gate.decide.next_steps import next_step
from gate.model import Report
from gate.units import ratio_of
from gate.words import findings, verdict_line
from tests.gate.decide.decided import both, decided

WOBBLE = (-1.0, 0.4, 0.8, -0.5, 0.3, 0.1)


def report(
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
    (found,) = report(base, head, spread=spread).findings
    assert found.verdict == verdict
    assert found.ratio.estimate == pytest.approx(1 + head - base, abs=0.002)
    assert (found.base.value, found.head.value) == pytest.approx((base, head), abs=0.002)


def test_a_smaller_threshold_is_one_of_points_too_and_the_columns_are_no_riddle() -> None:
    assert report(0.0, 0.01, rules="0.5%").findings[0].verdict == "regression"
    assert findings.from_columns(report(0.001, 0.002).findings[0]) == ""


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
    (found,) = report(base, head, metric=metric, unit=unit, spread=0.001).findings
    assert found.verdict == verdict


def test_the_words_say_points() -> None:
    found = report(0.0, 0.05)
    assert verdict_line.text(found).startswith(
        "Regression: bench error_rate is 5.0 points higher (at least 5.0 points)"
    )
    assert findings.conclusion(found.findings[0]).startswith("error_rate 5.0 points higher (at least 5.0 points)")
    assert "threshold 3 points: regression" in findings.conclusion(found.findings[0])
    step = next_step(found)
    # there is a ratio, so that an [[accept]] entry covers it
    assert step is not None and step.details["from_zero"] is False


def test_without_an_interval_it_is_the_difference_too() -> None:
    assert ratio_of("error_rate", "", 0.0, 0.05) == pytest.approx(1.05)
    assert ratio_of("miss-rate", "%", 20.0, 10.0) == pytest.approx(0.9)
    assert ratio_of("time", "s", 2.0, 3.0) == 1.5
    assert ratio_of("time", "s", 0.0, 3.0) is None
