"""Plans that go on as far as their budget reaches, against their promises (docs/method.md, stopping early).

The gate here is a literal one over arrays: t of the log ratios of rounds, Holm over the benchmarks of a report, futility by
the first look that sees enough. tests/gate/decide/test_no_sign.py compares its rules with those of decide.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from gate.config.rules import MOST_BUILDS
from gate.evidence.time_spent import with_end
from gate.model import HostState
from gate.stats.rounding import Array
from gate.stats.sequential import FIRST_STAGE, largest_futile, look_rounds, spending
from tests.gate.decide.test_no_sign import power_needs
from tests.promise.test_gate import at_most, standard_error
from tests.support.seeds import some

Mask = npt.NDArray[np.bool_]
SHORT, LONG = look_rounds(4, 12), look_rounds(4, MOST_BUILDS)


@dataclass(frozen=True)
class Found:
    """Of reports x benchmarks: what is called, what is no pass though it is not called, the rounds of each."""

    called: Mask
    inconclusive: Mask
    rounds: Array

    @property
    def failed(self) -> float:
        return float(self.called.any(1).mean())


@cache
def needs(df: int, level: float) -> float:
    """The noncentrality with which T is beyond its limit in 80% of the runs."""
    return power_needs(float(stats.t.isf(level / 2, df)), df)


def gate(ratios: Array, looks: tuple[int, ...], threshold: float) -> Found:
    """Judge reports by the logarithms of the ratios of rounds; shape (reports, benchmarks, rounds)."""
    reports, cases, _ = ratios.shape
    design, edge, wanted, last = spending(looks), math.log1p(threshold), 2 * threshold or 0.1, len(looks) - 1
    called, passed = np.zeros((2, reports, cases), dtype=bool)
    still_open, rounds = ~called, np.full((reports, cases), float(looks[-1]))
    for k, count in enumerate(looks):
        mean = ratios[:, :, :count].mean(2)
        error = ratios[:, :, :count].std(2, ddof=1) / math.sqrt(count)
        t, df = (mean - edge) / error, count - 1
        p = np.where(still_open & (count >= 5), 2 * stats.t.sf(t, df), 1.0)
        order, alive, before = np.argsort(p, axis=1), np.ones(reports, dtype=bool), called.sum(1)
        levels = np.array([design.nominal(k, 0.05 / (cases - j), paired=True) for j in range(cases)] + [0.0])
        row = np.arange(reports)
        for j in range(cases):
            alive &= p[row, order[:, j]] < levels[np.minimum(before + j, cases)]
            called[row[alive], order[alive, j]] = True
        sign = (stats.t.sf(mean / error, df) < 0.025) & (t > 0)
        z = -stats.norm.ppf(np.clip(stats.t.sf(t, df), 1e-300, 1 - 1e-16))
        futile, sees, decided = np.zeros_like(called), np.zeros_like(called), np.zeros_like(called)
        for end in range(min(k + 1, last), last + 1):
            if looks[end] < FIRST_STAGE and end < last:
                continue
            level = design.nominal(end, 0.05 / cases, paired=True)
            size = (1 + threshold) * np.exp(needs(looks[end] - 1, level) * error * math.sqrt(count / looks[end])) - 1
            now = ~decided & (((size <= wanted) & ~sign) | (end == last))
            nearly = (size > wanted) & (size <= 1.5 * wanted)
            futile |= now & (~nearly & (z < largest_futile(count / looks[end], level / 2)) if k < last else True)
            sees |= now & (size <= wanted) & ~sign
            decided |= now
        shown = t < -stats.t.isf(design.nominal(k, 0.05, paired=True) / 2, df)
        ends = still_open & (called | shown | futile)
        passed |= ends & ~called & (shown | sees)
        rounds[ends] = count
        still_open &= ~ends
    return Found(called, ~called & ~passed, rounds)


def normal(change: float, sd: float, *, first: bool = False) -> Callable[[np.random.Generator, int, int], Array]:
    """Rounds that differ by sd, head slower by a change; first: in the first benchmark only."""

    def draw(rng: np.random.Generator, reports: int, cases: int) -> Array:
        found: Array = rng.normal(0, sd, (reports, cases, LONG[-1]))
        found[:, : 1 if first else cases] += math.log1p(change)
        return found

    return draw


SHAPES: dict[str, Callable[[Array], Array]] = {
    "normal": stats.norm.ppf,
    "50:50": lambda u: np.where(u < 0.5, -1.0, 1.0),
    "20:80": lambda u: np.where(u < 0.2, 2.0, -0.5),
    "5:95": lambda u: np.where(u < 0.05, -4.3589, 0.22942),
    "95:5": lambda u: np.where(u < 0.95, -0.22942, 4.3589),
}
"""The effect of a layout by its rank: of mean 0 and spread 1."""


def unlike(base: str, head: str, sd: float, correlation: float) -> Callable[[np.random.Generator, int, int], Array]:
    """Programs that are equally fast over layouts, which differ otherwise on base and on head."""

    def draw(rng: np.random.Generator, reports: int, cases: int) -> Array:
        z, other = rng.normal(size=(2, reports, cases, LONG[-1]))
        w = correlation * z + math.sqrt(1 - correlation**2) * other
        layouts = SHAPES[head](stats.norm.cdf(w)) - SHAPES[base](stats.norm.cdf(z))
        found: Array = sd * layouts + rng.normal(0, 0.005, z.shape)
        return found

    return draw


def judged(
    draw: Callable[[np.random.Generator, int, int], Array], cases: int, reports: int, threshold: float,
    looks: tuple[int, ...] = LONG,
) -> Found:  # fmt: skip
    return gate(draw(np.random.default_rng([7, cases]), reports, cases)[:, :, : looks[-1]], looks, threshold)


REPORTS = {1: 4000, 5: 2000, 20: 1000}


@pytest.mark.promise
@pytest.mark.parametrize("cases", REPORTS)
@pytest.mark.parametrize("sd", [0.003, 0.01, 0.035, 0.1])
def test_false_alarms_of_all_looks(cases: int, sd: float) -> None:
    # without a change, at the threshold itself, and within it
    for change, threshold, promise in (
        (0, 0.0, 0.025), (0, 0.02, 0.005), (0.02, 0.02, 0.025), (0.03, 0.03, 0.025), (0.02, 0.03, 0.015),
    ):  # fmt: skip
        at_most(judged(normal(change, sd), cases, REPORTS[cases], threshold).failed, promise, REPORTS[cases])


@pytest.mark.promise
@pytest.mark.parametrize("cases", REPORTS)
@pytest.mark.parametrize(
    ("base", "head", "correlation"),
    [
        *((*shapes, rho) for shapes, rho in itertools.product(
            [("normal", "50:50"), ("normal", "20:80"), ("normal", "95:5"), ("normal", "5:95")], (0.0, 0.6, 0.95),
        )),
        ("50:50", "50:50", 0.0), ("50:50", "normal", 0.9),
    ],
)  # fmt: skip
def test_unlike_layouts_of_base_and_head(base: str, head: str, correlation: float, cases: int) -> None:
    for sd in (0.02, 0.041):
        found = judged(unlike(base, head, sd, correlation), cases, REPORTS[cases] // 2, 0.02)
        at_most(found.failed, 0.012, REPORTS[cases] // 2)


@pytest.mark.parametrize("reports", some([400, 4000], 1))
def test_power(reports: int) -> None:
    for cases, rounds in ((1, 7.0), (20, 10.5)):
        # what shows early is called as early as by four looks
        early = judged(normal(0.06, 0.01, first=True), cases, reports // cases, 0.03)
        assert early.called[:, 0].mean() >= 0.99 and early.rounds[:, 0].mean() < rounds
    late, short = (judged(normal(0.06, 0.035, first=True), 1, reports, 0.03, looks) for looks in (LONG, SHORT))
    assert late.called.mean() >= 0.95 - 3 * standard_error(0.95, reports)
    assert short.called.mean() < 0.8


@pytest.mark.parametrize("reports", some([200, 4000], 1))
def test_quiet_programs_end_early_and_pass(reports: int) -> None:
    for cases in (1, 5, 20):
        for sd, rounds in ((0.003, 4.05), (0.01, 4.4)):
            found = judged(normal(0, sd), cases, reports // cases, 0.02)
            # nothing changed: it ends as a short plan does, and passes
            assert found.rounds.mean() < rounds
            assert not found.inconclusive.any()
        # rounds that differ by 2% pass too, within the long plan
        assert judged(normal(0, 0.02), cases, reports // cases, 0.02).inconclusive.mean() < 0.01
        assert judged(normal(0, 0.02), cases, reports // cases, 0.02, SHORT).inconclusive.mean() > 0.02


@pytest.mark.promise
@pytest.mark.parametrize("sd", [0.005, 0.01, 0.02])
def test_a_slowdown_of_the_wanted_size_seldom_passes(sd: float) -> None:
    found = judged(normal(0.04, sd, first=True), 1, 4000, 0.02)
    passes = float((~found.called & ~found.inconclusive).mean())
    at_most(passes, 0.02, 4000)


@pytest.mark.promise
@pytest.mark.parametrize("sd", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("planned", [(4, 6, 8, 12), (4, 6, 8, 12, 18, 20)])
def test_a_budget_that_ends_between_looks_adds_one(sd: float, planned: tuple[int, ...]) -> None:
    """Where a budget ends depends on values that are seconds; the look there keeps the promise nevertheless."""
    reports, rng = 20_000, np.random.default_rng([int(1000 * sd), len(planned)])
    base, head = np.exp(rng.normal(0, sd, (2, reports, planned[-1])))
    room = 0.75 * planned[-1] * 2 * math.exp(sd**2 / 2)
    done = ((base + head).cumsum(1) <= room).sum(1)
    ratios, called, added = np.log(head / base), np.zeros(reports, dtype=bool), 0
    for end in np.unique(done):
        records = [HostState(when="end", session=0, time="", state={}, stop="budget")]
        looks, own = tuple(with_end(planned, int(end), records)), np.flatnonzero(done == end)
        added += len(own) * (len(looks) > len(planned))
        for k, rounds in enumerate(each for each in looks if each <= end):
            part = ratios[own, :rounds]
            t = part.mean(1) / (part.std(1, ddof=1) / math.sqrt(rounds))
            called[own] |= 2 * stats.t.sf(t, rounds - 1) < spending(looks).nominal(k, 0.05, paired=True)
    assert added > reports / 4
    at_most(float(called.mean()), 0.025, reports)
