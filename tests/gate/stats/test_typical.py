"""The typical value against its parts by hand and by scipy, and which executions are neighbours."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from gate.model import Sample
from gate.stats.centers import FEWEST_PAIRS, first_round_noise, reduce_to, squared_error
from gate.stats.components import remember
from gate.stats.levels import trimmed_mean, typical_pair
from gate.stats.ratio import ratio_of
from gate.stats.rounding import Array
from tests.support.samples import ends, nested, there
from tests.support.turns import of_starts


def literally(values: Sequence[float]) -> float:
    """The mean of what is left when a fifth of the values is taken away at each end."""
    left = sorted(values)
    for _ in range(len(values) // 5):
        left = left[1:-1]
    return math.fsum(left) / len(left)


def lists(builds: Sequence[Sequence[float]], orders: Sequence[int] | None = None, first: int = 0) -> Sample:
    """Executions of one value by build."""
    of = nested([[[value] for value in build] for build in builds])
    units = tuple((0, first + k) for k in range(len(builds)))
    return Sample(of.values, of.counts, units, None if orders is None else np.array(orders))


def ratios_of(base: Sample, head: Sample, *, sessions: bool = False) -> Array:
    one, other = there(typical_pair(base, head, sessions=sessions))
    return other.values - one.values


def test_a_fifth_is_cut_at_each_end_and_the_error_is_yuens() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 4, 5, 9, 10, 24, 25, 50):
        values = rng.lognormal(size=n)
        assert trimmed_mean(values) == pytest.approx(literally(values.tolist()))
    one, other = rng.lognormal(size=23), rng.lognormal(size=31)
    t = (trimmed_mean(one) - trimmed_mean(other)) / math.sqrt(squared_error(one) + squared_error(other))
    assert t == pytest.approx(stats.ttest_ind(one, other, equal_var=False, trim=0.2).statistic)


def test_a_round_is_the_trimmed_mean_of_its_pairs_log_ratios() -> None:
    rng = np.random.default_rng(2)
    base, head = rng.lognormal(size=(4, 10)), rng.lognormal(0.1, 1, size=(4, 10))
    pair = there(typical_pair(of_starts(base), of_starts(head), sessions=False))
    ratios = [literally([math.log(y / x) for x, y in zip(*both, strict=True)]) for both in zip(base, head, strict=True)]
    middles = [
        literally([(math.log(x) + math.log(y)) / 2 for x, y in zip(*both, strict=True)])
        for both in zip(base, head, strict=True)
    ]
    assert pair[1].values - pair[0].values == pytest.approx(ratios)
    assert (pair[1].values + pair[0].values) / 2 == pytest.approx(middles)
    assert pair[0].log and pair[1].log and pair[0].units == ((0, 0), (0, 1), (0, 2), (0, 3))
    # what the instrument can tell, as a share of where the typical value lies
    steps = np.diff(np.sort(base.ravel())).min(), np.diff(np.sort(head.ravel())).min()
    centers = [math.exp(np.mean(middles) + by * np.mean(ratios) / 2) for by in (-1, 1)]
    assert [each.gap for each in pair] == pytest.approx([s / c for s, c in zip(steps, centers, strict=True)])
    found = reduce_to(of_starts(base), of_starts(head), "typical", exact=False)
    wanted = stats.ttest_1samp(ratios, 0).confidence_interval(0.95)
    limits = ends(ratio_of(found, "paired").limits(0.05))
    assert limits == pytest.approx((math.exp(wanted.low), math.exp(wanted.high)))
    assert found.y / found.x == pytest.approx(math.exp(np.mean(ratios)))
    assert found.x == pytest.approx(math.exp(np.mean(middles) - np.mean(ratios) / 2))


def test_what_a_pair_and_a_session_are() -> None:
    # an execution of several values counts by its mean
    values = np.random.default_rng(3).lognormal(size=(2, 5, 4))
    several, means = (
        ratios_of(each, of_starts(np.ones((2, 5)))) for each in (nested(values), of_starts(values.mean(axis=2)))
    )
    assert several == pytest.approx(means)
    # what hits one of two neighbours does not count
    x, y = np.full((3, 10), 2.0), np.full((3, 10), 2.1)
    # of each round two starts meet something, and drift moves both sides alike
    y[:, 3], x[:, 8] = 9.0, 7.0
    drift = np.linspace(1, 3, 10)
    assert np.exp(ratios_of(of_starts(x * drift), of_starts(y * drift))) == pytest.approx([1.05] * 3)
    # rounds of one side do not count
    pair = typical_pair(lists([[1.0], [2.0], [3.0]]), lists([[4.0], [6.0], [9.0]], first=1), sessions=False)
    assert pair is not None and pair[0].units == ((0, 1), (0, 2))
    assert np.exp(pair[1].values - pair[0].values) == pytest.approx([2.0, 2.0])
    # sessions are the means of their rounds
    one, other = (nested(side, [1, 3]) for side in np.random.default_rng(4).lognormal(size=(2, 4, 6, 1)))
    rounds = ratios_of(one, other)
    assert ratios_of(one, other, sessions=True) == pytest.approx([rounds[0], rounds[1:].mean()])


@pytest.mark.parametrize(
    ("base", "head", "partners"),
    [
        # ABBA BAAB, and base's first start is missing: its partner stays alone
        ([3, 5, 6], [1, 2, 4, 7], [22.0, 24.0, 26.0]),
        # by number where the positions are not known, or tell of no turns
        ([0, 1, 2], [3, 4, 5, 6], [20.0, 22.0, 24.0]),
        (None, None, [20.0, 22.0, 24.0]),
    ],
)
def test_others_keep_their_neighbours(base: list[int] | None, head: list[int] | None, partners: list[float]) -> None:
    found = ratios_of(lists([[11.0, 12.0, 13.0]], base), lists([[20.0, 22.0, 24.0, 26.0]], head))
    assert found == pytest.approx([np.log(np.array(partners) / [11.0, 12.0, 13.0]).mean()])


def test_what_has_no_logarithm_or_no_partner_has_no_ratio() -> None:
    one, zero = of_starts(np.ones((3, 4))), of_starts(np.array([[1.0] * 4] * 2 + [[1.0, 0.0, 1.0, 1.0]]))
    assert reduce_to(one, zero, "typical", exact=False).trouble == "zero-quantile"
    assert reduce_to(one, of_starts(-np.ones((3, 4))), "typical", exact=False).trouble == "negative"
    assert (
        reduce_to(lists([[1.0], [2.0]]), lists([[1.0], [2.0]], first=2), "typical", exact=False).trouble == "no-rounds"
    )
    assert reduce_to(one, of_starts(np.ones((1, 4))), "typical", exact=False).trouble == "one-unit"
    assert reduce_to(one, one, "typical", exact=False).trouble == "no-spread"
    # counts are compared as numbers, whatever is asked for
    assert reduce_to(one, of_starts(2 * np.ones((3, 4))), "typical", exact=True).exact


def test_the_noise_of_a_view_is_that_of_its_first_round() -> None:
    rng = np.random.default_rng(5)
    base, head = rng.lognormal(0, 0.01, (3, 20)), rng.lognormal(0, 0.01, (3, 20))
    sides = of_starts(base), of_starts(head)
    typical, mean = (first_round_noise(*sides, center) for center in ("typical", None))
    assert typical == pytest.approx(math.sqrt(squared_error(np.log(head[0] / base[0]))))
    apart = head[0] / head[0].mean() - base[0] / base[0].mean()
    assert mean == pytest.approx(apart.std(ddof=1) / math.sqrt(20))
    # a change of any size, and all later rounds, are no part of it
    other = of_starts(np.vstack([7 * head[:1], rng.lognormal(0, 9, (2, 20))]))
    assert first_round_noise(sides[0], other, "typical") == pytest.approx(typical)
    assert first_round_noise(sides[0], other, None) == pytest.approx(mean)
    few = of_starts(base[:, : FEWEST_PAIRS - 1])
    assert first_round_noise(few, few, "typical") is None
    assert first_round_noise(of_starts(0 * base), sides[1], "typical") is None
    assert first_round_noise(of_starts(0 * base), sides[1], None) is None


def test_what_is_remembered_is_the_contrast_of_both_sides() -> None:
    rng = np.random.default_rng(6)
    base, head = (of_starts(rng.lognormal(0, 0.1, (6, 10))) for _ in range(2))
    found = there(remember(base, head, "typical", session="s", created="2026-11-20T09:00:00Z"))
    assert there(found.contrast).value == pytest.approx(float(ratios_of(base, head).var(ddof=1)))
    # that of one start, beside which the typical value of many has 1.08 times the spread of their mean
    assert found.iteration is None
    assert there(found.execution).value == pytest.approx(0.1**2 * 1.08**2, rel=0.3)
    assert remember(base, None, "typical", session="s", created="2026-11-20T09:00:00Z") is None
