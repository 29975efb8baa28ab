import itertools
import math
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from gate.stats.sequential import (
    FOUND,
    FUTILE,
    bh,
    holm,
    largest_futile,
    look_rounds,
    share,
    spending,
    weighted_holm,
    within,
    z_of,
)
from tests.support.seeds import seeds, some


@pytest.mark.parametrize(
    ("minimum", "maximum", "looks"),
    [
        (4, 12, (4, 6, 8, 12)), (4, 5, (4, 5)), (3, 3, (3,)), (5, 4, (4,)), (4, 6, (4, 5, 6)),
        # a longer plan looks as a short one does, and then seldom, at last after its last round
        (4, 13, (4, 6, 8, 12, 13)), (4, 18, (4, 6, 8, 12, 18)), (4, 30, (4, 6, 8, 12, 18, 28, 30)),
        (4, 56, (4, 6, 8, 12, 18, 28, 56)), (2, 20, (2, 4, 7, 12, 18, 20)), (20, 60, (20, 28, 56, 60)),
        (12, 13, (12, 13)), (4, 1000, (4, 6, 8, 12, 18, 28, 56, 112, 224, 448, 896, 1000)),
    ],
)  # fmt: skip
def test_looks_are_placed(minimum: int, maximum: int, looks: tuple[int, ...]) -> None:
    assert look_rounds(minimum, maximum) == looks


def test_published_boundaries_of_lan_and_demets() -> None:
    # O'Brien-Fleming type spending, five equal looks, two-sided 5%: Lan and DeMets 1983; Jennison and Turnbull 2000
    found = [stats.norm.isf(spending((1, 2, 3, 4, 5)).nominal(k, 0.05) / 2) for k in range(5)]
    assert found == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=2e-4)


def literal(looks: tuple[int, ...], alpha: float) -> list[float]:
    """Armitage, McPherson and Rowe's recursion on a plain grid, for one one-sided alpha: z at each look."""
    times = [rounds / looks[-1] for rounds in looks]
    end = min(looks[-1], 12)
    first = alpha if looks[-1] <= 12 else 0.8 * alpha

    def spent(t: float) -> float:
        rounds = t * looks[-1]
        if rounds > end + 1e-9:
            return first + (alpha - first) * math.log(rounds / end) / math.log(looks[-1] / end)
        return float(2 * stats.norm.sf(stats.norm.isf(first / 2) / math.sqrt(rounds / end)))

    z = [float(stats.norm.isf(spent(times[0])))]
    grid = np.linspace(-9, z[0] * math.sqrt(times[0]), 1501)
    density = stats.norm.pdf(grid, 0, math.sqrt(times[0]))
    for before, now in itertools.pairwise(times):
        sd = math.sqrt(now - before)
        low, high = -2.0, 12.0
        for _ in range(80):
            middle = (low + high) / 2
            crossing = np.trapezoid(density * stats.norm.sf((middle - grid) / sd), grid)
            low, high = (middle, high) if crossing > spent(now) - spent(before) else (low, middle)
        z.append(low / math.sqrt(now))
        new = np.linspace(-9, low, 1501)
        kernel = stats.norm.pdf(new[:, None], grid[None, :], sd)
        density = np.asarray(np.trapezoid(kernel * density[None, :], grid, axis=1))
        grid = new
    return z


LOOKS = [(4, 6, 8, 12), (2, 3), (1, 2, 3, 4), (4, 6, 8, 12, 18, 28, 56), (20, 28, 30)]
LEVELS = [0.1, 0.025, 0.00125, 1e-6]


# each of them once; the rest of their combinations is a promise
@pytest.mark.parametrize(
    ("looks", "alpha"),
    some(sorted(itertools.product(LOOKS, LEVELS), key=lambda of: (LEVELS.index(of[1]) - LOOKS.index(of[0])) % 3), 4),
)
def test_against_the_literal_recursion(looks: tuple[int, ...], alpha: float) -> None:
    ours = [float(stats.norm.isf(spending(looks).nominal(k, 2 * alpha) / 2)) for k in range(len(looks))]
    assert ours == pytest.approx(literal(looks, alpha), abs=2e-4)


@pytest.mark.parametrize("paired", [False, True])
def test_spent_is_the_inverse_of_nominal(paired: bool) -> None:
    design = spending((4, 6, 8, 12))
    for k in range(4):
        for alpha in (0.3, 0.05, 1e-3, 1e-9, 1e-20):
            assert design.spent(k, design.nominal(k, alpha, paired=paired), paired=paired) == pytest.approx(alpha)
        assert design.spent(k, 1.0) == 1.0
        assert design.spent(k, 0.0) == 0.0


def test_paired_spends_nine_tenths_and_scores_are_finite() -> None:
    design = spending((4, 12))
    assert design.nominal(1, 0.05, paired=True) == pytest.approx(design.nominal(1, 0.045))
    assert spending((7,)).nominal(0, 0.05, paired=True) == 0.05
    assert spending((7,)).spent(0, 0.03, paired=True) == 0.03
    # scores of extreme p are finite
    assert [z_of(p) for p in (0.025, 0.975, 0.0, 1.0)] == pytest.approx([1.959964, -1.959964, 40, -40], abs=1e-6)


def test_a_long_plan_asks_little_more_at_first_and_much_the_same_later() -> None:
    short, long = spending((4, 6, 8, 12)), spending((4, 6, 8, 12, 18, 28, 56))
    z = [float(stats.norm.isf(long.nominal(k, 0.05) / 2)) for k in range(7)]
    # by the literal recursion on a grid of its own
    assert z == pytest.approx([3.86, 3.10, 2.65, 2.08, 2.62, 2.73, 2.70], abs=5e-3)
    assert all(0 < z[k] - stats.norm.isf(short.nominal(k, 0.05) / 2) < 0.16 for k in range(4))


@pytest.mark.parametrize("looks", [(1, 3, 8, 12), (1, 60), (2, 9, 42, 200)])
def test_a_first_look_that_spends_less_than_a_float_can_hold(looks: tuple[int, ...]) -> None:
    design = spending(looks)
    levels = [design.nominal(k, 0.05) for k in range(len(looks))]
    assert all(0 < level <= 0.05 * (1 + 1e-9) for level in levels)
    assert levels[-1] == pytest.approx(2 * stats.norm.sf(literal(looks, 0.025)[-1]), rel=1e-3)
    # at the first look the spending function itself says what a p has spent
    w, share = stats.norm.isf(1e-12 / 4), 1.0 if looks[-1] <= 12 else 0.8
    expected = 4 * stats.norm.sf(w * math.sqrt(looks[0] / min(looks[-1], 12))) / share
    assert design.spent(0, 1e-12) == pytest.approx(min(1.0, float(expected)), rel=1e-6)
    assert design.spent(0, 0.5) == 1.0


@pytest.mark.parametrize("looks", [(), (4, 4), (6, 4), (0, 4)])
def test_looks_must_ascend(looks: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        spending(looks)


@pytest.mark.parametrize("time", [1 / 3, 1 / 2, 2 / 3])
@pytest.mark.parametrize("level", [0.0125, 0.001])
def test_at_the_boundary_the_last_look_rejects_with_the_least_chance(time: float, level: float) -> None:
    edge = largest_futile(time, level)
    critical = stats.norm.isf(level)
    drift = critical + stats.norm.ppf(FOUND)
    # as a formula, and by Brownian motion from where the look is to the end
    chance = stats.norm.sf((critical - edge * np.sqrt(time) - drift * (1 - time)) / np.sqrt(1 - time))
    assert chance == pytest.approx(FUTILE)
    steps = np.random.default_rng(3).normal(0, 1, 200_000)
    end = edge * np.sqrt(time) + drift * (1 - time) + np.sqrt(1 - time) * steps
    assert float((end > critical).mean()) == pytest.approx(FUTILE, abs=0.005)


# --- hypotheses -------------------------------------------------------------------------------------------------------


def test_holm_by_a_worked_example_and_without_a_family() -> None:
    # p of four hypotheses; at 5% the levels are 1.25, 1.67, 2.5, 5%: the first two are rejected
    found = holm([0.01, 0.04, 0.03, 0.005], 0.05)
    assert [t.p_adjusted for t in found] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [t.rejected for t in found] == [True, False, False, True]
    assert [t.alpha for t in found] == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
    # an empty family, and none
    assert holm([], 0.05) == []
    assert [t.rejected for t in share("none", [0.04, 0.06], 0.05)] == [True, False]


def test_benjamini_and_hochbergs_own_example() -> None:
    # the fifteen p of their section 4.1 (1995): at 5% four are rejected, where Bonferroni takes three
    p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
        0.7590, 1.0,
    ]  # fmt: skip
    found = share("bh", p[::-1], 0.05)[::-1]
    assert [t.rejected for t in found] == [True] * 4 + [False] * 11
    assert {t.alpha for t in found} == {0.05 * 4 / 15}
    assert [t.p_adjusted for t in found] == pytest.approx(list(stats.false_discovery_control(p)))
    assert bh([], 0.05) == []


@pytest.mark.parametrize("seed", seeds(30))
def test_bh_decides_as_its_adjusted_p_and_as_its_own_alpha(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = list(rng.uniform(0, 1, 12) ** rng.integers(1, 6))
    for tested, value in zip(bh(p, 0.05), p, strict=True):
        assert tested.rejected == (tested.p_adjusted < 0.05) == (value < tested.alpha)


@pytest.mark.parametrize("seed", some(range(20), 8, pytest.mark.nightly))
def test_holm_with_weights_is_the_closed_test_of_weighted_bonferroni(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = (rng.random(5) ** 4).tolist()
    # with equal weights it is Holm's own
    weights = [0.3] * 5 if seed % 2 else rng.uniform(0.01, 1, 5).tolist()
    found = weighted_holm(p, weights, 0.05)
    if seed % 2:
        assert [own.p_adjusted for own in found] == pytest.approx([own.p_adjusted for own in holm(p, 0.05)])
    for i, own in enumerate(found):
        least = 0.0
        for number in range(1, 2**5):
            members = [k for k in range(5) if number >> k & 1]
            if i in members:
                total = sum(weights[k] for k in members)
                least = max(least, min(p[k] * total / weights[k] for k in members))
        assert own.p_adjusted == pytest.approx(min(1.0, least))
        assert own.rejected == (own.p_adjusted < 0.05)
        assert own.rejected == (p[i] < own.alpha)


@pytest.mark.parametrize("method", ["holm", "bh", "none"])
@pytest.mark.parametrize("seed", range(10))
def test_hypotheses_share_a_question_by_weights(method: Literal["holm", "bh", "none"], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = [0.8, 0.2]
    p = rng.random((6, 2)) ** 4
    smallest = np.minimum((p / weights).min(axis=1), 1.0).tolist()
    for question, both in zip(share(method, smallest, 0.05), p.tolist(), strict=True):
        found = within(question, both, weights, 0.05)
        for own, value in zip(found, both, strict=True):
            assert own.rejected == (own.p_adjusted < 0.05) == (value < own.alpha)
        assert any(own.rejected for own in found) == question.rejected
        assert min(own.p_adjusted for own in found) == question.p_adjusted
        assert sum(own.alpha for own in found) == pytest.approx(question.alpha)
    assert within(question, [0.02], [1.0], 0.05) == [question]
