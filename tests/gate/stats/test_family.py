from statistics import fmean
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from gate.stats.family import bh, holm, share, weighted_holm, within
from tests.support.seeds import seeds, some


def test_holms_worked_example() -> None:
    # p of four hypotheses; at 5% the levels are 1.25, 1.67, 2.5, 5%: the first two are rejected
    found = holm([0.01, 0.04, 0.03, 0.005], 0.05)
    assert [t.p_adjusted for t in found] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [t.rejected for t in found] == [True, False, False, True]
    assert [t.alpha for t in found] == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])


@pytest.mark.parametrize("seed", seeds(50))
def test_holm_decides_as_its_adjusted_p_and_as_its_own_alpha(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = list(rng.uniform(0, 1, 12) ** rng.integers(1, 6))
    for tested, value in zip(holm(p, 0.05), p, strict=True):
        assert tested.rejected == (tested.p_adjusted < 0.05) == (value < tested.alpha)


def test_holm_keeps_the_familys_error() -> None:
    rng = np.random.default_rng(0)
    false = fmean(any(t.rejected for t in holm(list(rng.uniform(0, 1, 20)), 0.05)) for _ in range(4000))
    assert false < 0.05 + 3 * (0.05 * 0.95 / 4000) ** 0.5


def test_an_empty_family() -> None:
    assert holm([], 0.05) == []


def test_without_a_family_each_has_the_whole_alpha() -> None:
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
def test_holm_with_equal_weights_is_holm(seed: int) -> None:
    p = (np.random.default_rng(seed).random(6) ** 3).tolist()
    assert [t.p_adjusted for t in weighted_holm(p, [0.3] * 6, 0.05)] == pytest.approx(
        [t.p_adjusted for t in holm(p, 0.05)]
    )
    assert [t.rejected for t in weighted_holm(p, [0.3] * 6, 0.05)] == [t.rejected for t in holm(p, 0.05)]


@pytest.mark.parametrize("seed", some(range(20), 8, pytest.mark.nightly))
def test_holm_with_weights_is_the_closed_test_of_weighted_bonferroni(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, weights = (rng.random(5) ** 4).tolist(), rng.uniform(0.01, 1, 5).tolist()
    found = weighted_holm(p, weights, 0.05)
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
def test_the_hypotheses_of_a_question_share_what_it_gets_by_weights(
    method: Literal["holm", "bh", "none"], seed: int
) -> None:
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
