"""Values that are written in coarse steps: bounds that hold whatever they were, against values that are known."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from gate.model import Sample
from gate.stats.bootstrap import bootstrap_ratio
from gate.stats.centers import reduce_to
from gate.stats.fixed_sessions import machine, stacked
from gate.stats.levels import of_rounds
from gate.stats.power import needed, worse_ratio
from gate.stats.ratio import LogPair, MeanPair, Method, Ratio, RoundedRatio, Tail, ratio_of, rounded
from gate.stats.rounding import Array, unknown_rounding
from tests.support.samples import ends, nested, there

Noise = Callable[[np.random.Generator, int], Array]


def side(values: Array | list[float], step: float = 1.0, each: int = 1, sessions: int = 1) -> Sample:
    """One execution a build of so many values."""
    builds = np.reshape(values, (-1, 1, each))
    return nested(builds, [len(builds) // sessions] * sessions, step=step)


def limits(base: Sample, head: Sample, method: Method = "fieller", alpha: float = 0.05) -> tuple[float, float]:
    found = ratio_of(reduce_to(base, head, None, exact=False), method).limits(alpha)
    assert found.kind == "bounded"
    return ends(found)


@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        ([12, 12, 12, 12], 0.5), ([12, 12, 12, 13], 0.25), ([12, 13, 13, 13], 0.25), ([12, 13], 0.0),
        ([12, 13, 14], 0.0), ([12, 12, 12, 12, 17], 0.0),
    ],
)  # fmt: skip
def test_the_mean_is_at_the_edge_of_a_step_at_most(values: list[float], unknown: float) -> None:
    assert unknown_rounding(np.array(values, dtype=float), 1.0) == pytest.approx(unknown)
    assert unknown_rounding(1e-9 * np.array(values), 1e-9) == pytest.approx(1e-9 * unknown)
    assert unknown_rounding(np.full(5, 1001.0), 1.0) == 0
    # of what is not rounded nothing is unknown, not even a hair
    assert unknown_rounding(np.full(7, 0.1), 0.0) == 0


@pytest.mark.parametrize("method", ["fieller", "fieller-paired", "paired", "fieller-kj"])
def test_the_interval_holds_all_values_that_are_written_like_this(method: Method) -> None:
    low, high = limits(side([12.0] * 5), side([24.0] * 5), method)
    # nothing of it is less than bounds say, and beside them it has the noise that a step hides
    assert 1.8 < low < 23.5 / 12.5
    assert 24.5 / 11.5 < high < 2.25
    more = limits(side([12.0] * 100), side([24.0] * 100), method)
    assert more == pytest.approx((23.5 / 12.5, 24.5 / 11.5), rel=0.01)


@pytest.mark.parametrize(("step", "trouble"), [(0.0, "no-spread"), (0.011, "no-spread"), (0.012, ""), (1.0, "")])
def test_more_than_three_digits_do_not_stay_the_same(step: float, trouble: str) -> None:
    assert reduce_to(side([12.0] * 5, step), side([13.0] * 5, step), None, exact=False).trouble == trouble
    assert reduce_to(side([12.0] * 30, step, 6), side([13.0] * 30, step, 6), 0.5, exact=False).trouble in (
        trouble, "few-values",
    )  # fmt: skip


def test_what_is_alike_or_rounded_in_part() -> None:
    # one side alone may be rounded, and a part of it keeps its step
    found = reduce_to(side([12.0] * 5), side([24.01, 24.52, 25.04, 24.33, 23.91], 0.01), None, exact=False)
    assert (found.rounding, found.base.gap) == ((0.5, 0.0), 1)
    assert of_rounds(side([12.0] * 5), 3).step == 1
    # quantiles that are alike are bounded though values differ
    values = np.tile([11.0, 12.0, 12.0, 12.0, 13.0] * 8, 5)
    found = reduce_to(side(values, each=40), side(values * 2, each=40), 0.5, exact=False)
    assert not found.trouble
    assert found.rounding == pytest.approx((0.5, 0.5))
    assert there(ratio_of(found, "paired").limits(0.05).low) < 23.5 / 12.5
    # resamples of values that are alike are not asked
    base, head = side([12.0] * 5), side([24.0] * 5)
    asked = bootstrap_ratio(base, head, scheme="RRR", bca=False, seed=1, alphas=(0.05,), sessions=False, cap=2000)
    assert asked.limits(0.05).kind == "withheld"


def test_machines_count_alike() -> None:
    base, head = ([12.0] * 4 + [120.0] * 4, [24.0] * 4 + [240.0] * 4)
    found = [machine(s, side(base, sessions=2), side(head, sessions=2), None, exact=False) for s in (0, 1)]
    assert [each.trouble for each in found] == ["", ""]
    reduced = stacked(found)
    assert reduced.rounding[0] / reduced.x == pytest.approx((0.5 / 12 + 0.5 / 120) / 2)
    assert reduced.rounding[1] / reduced.y == pytest.approx((0.5 / 24 + 0.5 / 240) / 2)


# --- the ratio of bounds ----------------------------------------------------------------------------------------------

PAIR = MeanPair(12.0, 13.0, 0.02, 0.03, 0.01, 4.0)


@pytest.mark.parametrize("pair", [PAIR, LogPair(PAIR.logs)])
def test_the_p_agrees_with_the_limits(pair: MeanPair | LogPair) -> None:
    found = rounded(pair, 0.5, 0.4)
    assert isinstance(found, RoundedRatio)
    assert (found.x, found.y, found.df) == (pair.x, pair.y, pair.df)
    assert found.bounds == pytest.approx((12.6 / 12.5, 13.4 / 11.5))
    for alpha in (0.05, 0.01):
        (low, high), (plain_low, plain_high) = ends(found.limits(alpha)), ends(pair.limits(alpha))
        assert low < plain_low < plain_high < high
        assert [found.p(low, "above"), found.p(high, "below")] == pytest.approx([alpha] * 2)
        low, high = ends(found.difference_limits(alpha))
        assert [found.p_difference(low, "above"), found.p_difference(high, "below")] == pytest.approx([alpha] * 2)
    assert found.leaves_open(1.1) and not found.leaves_open(1.0) and not found.leaves_open(1.2)
    assert found.logs.v_yy > pair.logs.v_yy
    assert rounded(pair, 0.0, 0.0) is pair


def test_what_is_withheld_or_unbounded_stays_so() -> None:
    nothing = rounded(MeanPair(12.0, 13.0, 0.0, 0.0, 0.0, None), 0.5, 0.5)
    assert nothing.limits(0.05).kind == "withheld" and nothing.p(1.0, "above") is None
    wide = rounded(MeanPair(1.0, 1.0, 9.0, 9.0, 0.0, 4.0), 0.5, 0.5)
    assert wide.limits(0.05).kind != "bounded"
    # half a step may be more than the value, which is not below 0
    least = rounded(MeanPair(0.2, 0.2, 0.001, 0.001, 0.0, 4.0), 0.5, 0.5).limits(0.05)
    assert least.low is None or least.low >= -0.2
    assert rounded(LogPair(MeanPair(-2.0, -2.0, 0.01, 0.01, 0.0, 4.0)), 5.0, 5.0).limits(0.05).kind == "bounded"


@pytest.mark.parametrize("lower", [True, False])
def test_what_would_have_shown_counts_the_bounds(lower: bool) -> None:
    def size(ratio: Ratio) -> float:
        wanted = needed(4.0, 0.05, 0.8)
        return there(worse_ratio(ratio, wanted, threshold=0.03, floor=None, share=1.0, lower=lower))

    plain, bound = size(PAIR), size(rounded(PAIR, 0.5, 0.4))
    tested = MeanPair(12.5, 12.6, 0.02, 0.03, 0.01, 4.0) if lower else MeanPair(11.5, 13.4, 0.02, 0.03, 0.01, 4.0)
    assert bound == pytest.approx(size(tested) * (13 / 12) / (tested.y / tested.x))
    assert (bound > plain) == lower


# --- promises ---------------------------------------------------------------------------------------------------------


NOISES: dict[str, Noise] = {
    "normal": lambda rng, count: rng.normal(0, 1, count),
    "skewed": lambda rng, count: rng.exponential(1.0, count) - 1,
}


def missed(builds: int, sd: float, method: Method, noise: str, reports: int, *, each: int = 1) -> float:
    """The larger share of intervals beyond the true ratio on a side, of values of 8 to 40 steps that are then rounded."""
    rng, ratio = np.random.default_rng([builds, int(100 * sd), each, len(noise)]), 1.03
    count: dict[Tail, int] = {"above": 0, "below": 0}
    for _ in range(reports):
        mean = math.exp(rng.uniform(math.log(8), math.log(40)))
        sides = [
            side(np.maximum(np.round(at + sd * NOISES[noise](rng, builds * each)), 0.0), each=each)
            for at in (mean, ratio * mean)
        ]
        found = reduce_to(sides[0], sides[1], None, exact=False)
        assert found.trouble == ""
        for tail in count:
            count[tail] += there(ratio_of(found, method).p(ratio, tail)) < 0.05
    return max(count.values()) / reports


@pytest.mark.parametrize(("sd", "noise"), [(0.0, "normal"), (0.05, "skewed"), (0.2, "normal"), (0.5, "skewed")])
def test_few_intervals_of_rounded_values_miss_the_true_ratio(sd: float, noise: str) -> None:
    # three standard errors of 250 above 2.5%
    assert missed(5, sd, "fieller", noise, 250) <= 0.055


@pytest.mark.promise
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("method", ["fieller", "paired"])
@pytest.mark.parametrize(("builds", "each"), [(5, 1), (10, 1), (5, 10), (12, 3)])
@pytest.mark.parametrize("sd", [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0])
def test_rounded_values_hold_the_true_ratio(builds: int, each: int, sd: float, method: Method, noise: str) -> None:
    reports = 4000
    # skewed noise moves one tail of any t interval over few builds, rounded or not
    bound = 0.025 if noise == "normal" else 0.06
    assert missed(builds, sd, method, noise, reports, each=each) <= bound + 3 * math.sqrt(bound * (1 - bound) / reports)


@pytest.mark.promise
@pytest.mark.parametrize("sd", [0.0, 0.2, 0.5, 1.0])
def test_a_doubling_shows_at_any_noise_of_a_step(sd: float) -> None:
    rng = np.random.default_rng(7)
    seen = 0
    for _ in range(1000):
        mean = rng.uniform(11.5, 12.5)
        sides = [side(np.round(at + sd * rng.normal(0, 1, 5))) for at in (mean, 2 * mean)]
        p = ratio_of(reduce_to(sides[0], sides[1], None, exact=False), "fieller").p(1.03, "above")
        seen += p is not None and p < 0.05
    assert seen >= 990
