"""Nights against a pin: the formulas against a slow twin."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from gate.stats.creep import ALLOWANCE, CAP, LAGS, NIGHTS, WINDOWS, creeping, more_nights, noise, spread_of
from gate.stats.rounding import Array
from tests.support.samples import there

NOTHING = spread_of([])
EDGE = math.log(1.03)


def drawn(seed: int, nights: int = 45) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    ratios = EDGE + 0.01 * rng.normal(size=nights) + np.linspace(-0.01, 0.02, nights)
    return ratios, 1e-5 * rng.chisquare(11, nights) / 11


def slow(ratios: list[float], variances: list[float], cases: int, alpha: float) -> tuple[float, float, int]:
    """The p, the least log ratio and the window of the last night, by plain loops."""
    within = sum(variances) / len(variances)
    between = 0.0
    for lag in LAGS:
        pairs = [(one, two) for one, two in zip(ratios[lag:], ratios[:-lag], strict=True)]
        if pairs:
            halves = sorted((one - two) ** 2 / 2 for one, two in pairs)
            middle = (halves[(len(halves) - 1) // 2] + halves[len(halves) // 2]) / 2
            between = max(between, sum(min(each, CAP * middle) for each in halves) / len(halves))
    variance = within + ALLOWANCE * max(between - within, 0)
    df = 2 / 3 * (len(ratios) - 1)
    found = []
    for window in WINDOWS:
        if window > len(ratios):
            continue
        kept = sorted(ratios[-window:])[:-1]
        mean, error = sum(kept) / len(kept), math.sqrt(variance / len(kept))
        shares = NIGHTS * len(WINDOWS) * cases
        p = min(1.0, shares * float(student.sf((mean - EDGE) / error, df)))
        found.append((p, mean - float(student.isf(alpha / shares, df)) * error, window))
    return min(found, key=lambda each: each[0])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("nights", [4, 5, 16, 45])
def test_the_last_night_is_as_a_slow_twin_has_it(seed: int, nights: int) -> None:
    ratios, variances = drawn(seed, nights)
    found = creeping(ratios, variances, EDGE, 0.05, 3, NOTHING)
    p, low, window = slow(ratios.tolist(), variances.tolist(), 3, 0.05)
    assert found.p[-1] == pytest.approx(p, rel=1e-6)
    assert found.window[-1] == window or p == 1
    if p < 1:
        assert found.low[-1] == pytest.approx(low)


def test_every_night_is_judged_by_those_before_it_alone() -> None:
    ratios, variances = drawn(1)
    whole = creeping(ratios, variances, EDGE, 0.05, 1, NOTHING)
    for nights in range(1, len(ratios) + 1):
        part = creeping(ratios[:nights], variances[:nights], EDGE, 0.05, 1, NOTHING)
        assert (part.p[-1], part.alarm[-1], part.window[-1]) == (
            whole.p[nights - 1], whole.alarm[nights - 1], whole.window[nights - 1],
        )  # fmt: skip


def test_the_noise_of_nights_against_an_earlier_pin_counts_and_its_level_does_not() -> None:
    ratios, variances = drawn(2)
    shifted = spread_of([(ratios + 0.5, variances)])
    plain = spread_of([(ratios, variances)])
    for moved, own in zip(shifted.halves, plain.halves, strict=True):
        assert moved == pytest.approx(own)
    _, few = noise(ratios[:5], variances[:5], plain)
    assert few[-1] == pytest.approx(2 / 3 * (len(ratios) - 1 + 4))


def test_what_raises_no_alarm() -> None:
    # too few nights, however large the change
    for few in (1, 2, 3):
        found = creeping(np.full(few, 3.0), np.full(few, 1e-9), EDGE, 0.05, 1, NOTHING)
        assert not found.alarm.any() and not found.window.any()
    # one bad night, and a repair ends one
    nights, variances = np.tile(0.002 * np.random.default_rng(5).normal(size=40), (2, 1)), np.full((2, 40), 4e-6)
    bad, crept = nights
    bad[30] = 1.0
    crept[10:30] += math.log(1.06)
    of_bad, of_crept = creeping(nights, variances, EDGE, 0.05, 1, NOTHING).alarm
    assert not of_bad.any()
    assert of_crept[22:30].all() and not of_crept[31:].any()
    # the threshold itself without any noise
    still = np.zeros(8)
    assert creeping(still + EDGE + 1e-6, still, EDGE, 0.05, 1, NOTHING).alarm[-1]
    assert not creeping(still + EDGE, still, EDGE, 0.05, 1, NOTHING).alarm.any()


def test_more_nights_are_said_where_they_would_do() -> None:
    ratios, variances = drawn(3, 12)
    beyond = ratios - ratios.mean() + math.log(1.06)
    more = there(more_nights(beyond, variances, EDGE, 0.05, 1, NOTHING))
    mean, of_night = beyond[-4:].mean(), variances.mean()
    later = np.concatenate([beyond, mean + np.sqrt(of_night) * np.tile([1.0, -1.0], more)])
    known = np.concatenate([variances, np.full(2 * more, of_night)])
    assert creeping(later, known, EDGE, 0.05, 1, NOTHING).alarm[-1]
    assert more_nights(ratios - 1, variances, EDGE, 0.05, 1, NOTHING) is None
