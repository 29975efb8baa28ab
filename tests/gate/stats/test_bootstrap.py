"""Replicates against full enumeration, closed forms; limits and p against each other."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.stats
from scipy.special import ndtri

from gate.model import Sample
from gate.stats import bootstrap
from gate.stats.bootstrap import CHUNK, Distribution, Hierarchy, Scheme, bootstrap_ratio, hierarchy, replicate_means
from gate.stats.levels import tops_of
from gate.stats.ratio import Ratio, Tail
from gate.stats.rounding import Array
from tests.support.kalibera_jones import TABLE_V_NEW, TABLE_V_OLD
from tests.support.samples import ends, nested, there
from tests.support.seeds import some
from tests.support.warned import kinds

SCHEMES: tuple[Scheme, ...] = ("RRR", "RRN", "RNN", "FLAT")
ALPHAS = (0.05, 0.0025)
TAILS: tuple[Tail, Tail] = ("above", "below")
Tree = Any
"""A value, or a list of trees: session, build, execution, value."""

TINY: list[Tree] = [[[[1, 2], [4, 9]], [[17, 33], [64, 130]]]]
UNBALANCED: list[Tree] = [[[[1, 2, 5], [11]], [[23, 47]], [[95], [191, 383]]]]
SESSIONS: list[Tree] = [[[[1, 2], [4]], [[9, 17]]], [[[33], [64, 130]]]]


def flat(tree: Tree) -> list[float]:
    return [value for part in tree for value in flat(part)] if isinstance(tree, list) else [tree]


def sample(sessions: list[Tree]) -> Sample:
    return nested([build for session in sessions for build in session], [len(session) for session in sessions])


def reduced(sessions: list[Tree], scheme: Scheme, with_sessions: bool) -> list[Tree]:
    """What a scheme resamples, as nested lists."""
    if scheme == "FLAT":
        return flat(sessions)
    depth = {"RRR": 0, "RRN": 1, "RNN": 2}[scheme]
    tree = sessions if with_sessions else [build for session in sessions for build in session]

    def means(tree: Tree, height: int) -> Tree:
        if height > depth:
            return [means(part, height - 1) for part in tree]
        return mean(tree)

    return [means(part, 3 if with_sessions else 2) for part in tree]


def mean(tree: Tree) -> Fraction:
    """Unweighted at every level."""
    return sum(map(mean, tree), Fraction(0)) / len(tree) if isinstance(tree, list) else Fraction(tree)


def exact(tree: Tree) -> dict[Fraction, Fraction]:
    """The distribution of the resampled mean, by all resamples."""
    if not isinstance(tree, list):
        return {Fraction(tree): Fraction(1)}
    total: dict[Fraction, Fraction] = defaultdict(Fraction)
    parts = [exact(part) for part in tree]
    n = len(tree)
    for chosen in product(parts, repeat=n):
        for outcome in product(*(part.items() for part in chosen)):
            total[sum((value for value, _ in outcome), Fraction(0)) / n] += math.prod(
                (share for _, share in outcome), start=Fraction(1, n**n)
            )
    return total


def variance(tree: Tree) -> float:
    """Of the resampled mean: each of n draws takes a child at random, and then resamples it."""
    if not isinstance(tree, list):
        return 0.0
    means = [float(mean(part)) for part in tree]
    return float((np.mean([variance(part) for part in tree]) + np.var(means)) / len(tree))


def means_of(side: Hierarchy, chunks: int, seed: int = 1) -> Array:
    return replicate_means([side], seed, range(chunks))[0]


# the one of most resamples last
TREES = [(TINY, False), (SESSIONS, True), (SESSIONS, False), (UNBALANCED, False)]


@pytest.mark.parametrize(
    ("tree", "sessions", "scheme"), some([(*tree, scheme) for scheme in SCHEMES[::-1] for tree in TREES], 15)
)
def test_replicates_have_the_distribution_of_all_resamples(tree: list[Tree], sessions: bool, scheme: Scheme) -> None:
    if scheme == "FLAT":
        tree = [[[flat(tree)[:5]]]]  # of more values there are too many resamples
    expected = exact(reduced(tree, scheme, sessions))
    points, shares = np.array(sorted((float(key), float(share)) for key, share in expected.items())).T
    middles = (points[1:] + points[:-1]) / 2
    found = means_of(hierarchy(sample(tree), scheme, sessions=sessions), 8)
    nearest = np.searchsorted(middles, found)
    assert np.abs(points[nearest] - found).max() < 1e-9 * points.max()
    # about 50 bins of neighbouring outcomes; what is too rare for one of its own goes to the first
    bins = ((np.cumsum(shares) - shares / 2) * 50).astype(int)
    bins[np.bincount(bins, shares)[bins] * len(found) < 10] = bins[shares.argmax()]
    bins = np.unique(bins, return_inverse=True)[1]
    observed, wanted = np.bincount(bins[nearest], minlength=bins.max() + 1), np.bincount(bins, shares) * len(found)
    assert scipy.stats.chisquare(observed, wanted).pvalue > 1e-4


def grown(rng: np.random.Generator, most: tuple[int, int, int, int]) -> list[Tree]:
    """Values with effects at all levels, every count from 1 to its most."""

    def draw(level: int, center: float) -> Tree:
        center += rng.gamma(2, 1)
        if level == 4:
            return center
        return [draw(level + 1, center) for _ in range(rng.integers(1, most[level] + 1))]

    return [draw(1, 10) for _ in range(most[0])]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("most", "sessions"),
    [
        ((1, 9, 5, 12), False),  # several replicates at once
        ((1, 40, 30, 20), False),
        ((4, 6, 3, 700), True),
    ],
)
def test_mean_and_variance_of_unbalanced_data(most: tuple[int, int, int, int], sessions: bool, scheme: Scheme) -> None:
    tree = grown(np.random.default_rng(3), most)
    tree = [[build for session in tree for build in session]] if not sessions else tree
    found = means_of(hierarchy(sample(tree), scheme, sessions=sessions), 3)
    resampled = reduced(tree, scheme, sessions)
    expected = variance(resampled)
    n = len(found)
    assert abs(found.mean() - float(mean(resampled))) < 4 * math.sqrt(expected / n)
    kurtosis = float(scipy.stats.kurtosis(found, fisher=False))
    assert abs(found.var() / expected - 1) < 4 * math.sqrt((kurtosis - 1) / n)


def test_a_chunk_is_the_same_whatever_the_cores_and_the_other_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    sides = [hierarchy(sample(grown(rng, (1, 12, 6, 20))), "RRR", sessions=False) for _ in range(2)]
    one_by_one = [replicate_means(sides, 7, range(c, c + 1)) for c in range(3)]
    expected = [np.concatenate([chunk[side] for chunk in one_by_one]) for side in range(2)]
    for cores in (1, 2, 5):
        monkeypatch.setattr(bootstrap, "usable_cores", lambda cores=cores: cores)
        for found, wanted in zip(replicate_means(sides, 7, range(3)), expected, strict=True):
            assert np.array_equal(found, wanted)
    assert not np.array_equal(replicate_means(sides, 8, range(1))[0], expected[0][:CHUNK])
    assert len(np.unique(expected[0])) > 2 * CHUNK  # chunks are not copies of each other


def made(base: list[Tree], head: list[Tree], **options: Any) -> bootstrap.BootstrapRatio:
    chosen = {"scheme": "RRR", "bca": False, "seed": 1, "alphas": ALPHAS, "sessions": False, "cap": CHUNK, **options}
    return bootstrap_ratio(sample(base), sample(head), **chosen)


def test_the_estimate_is_that_of_the_summary() -> None:
    base, head = grown(np.random.default_rng(1), (3, 4, 4, 5)), grown(np.random.default_rng(2), (3, 4, 4, 5))
    for sessions, scheme in product((False, True), SCHEMES):
        ratio: Ratio = made(base, head, sessions=sessions, scheme=scheme)
        assert ratio.x == pytest.approx(tops_of(sample(base), sessions=sessions).mean, rel=1e-12)
        assert ratio.y == pytest.approx(tops_of(sample(head), sessions=sessions).mean, rel=1e-12)
        assert ratio.df is None


@pytest.mark.parametrize("bca", [False, True])
def test_one_level_agrees_with_scipy(bca: bool) -> None:
    rng = np.random.default_rng(12)
    x, y = rng.normal(10, 1, 25), rng.lognormal(0, 1, 15)
    base, head = ([[[[value]] for value in side]] for side in (x.tolist(), y.tolist()))
    ratio = made(base, head, scheme="RRR", bca=bca, alphas=(0.05,), cap=20_000)
    reference = scipy.stats.bootstrap(
        (x, y), lambda x, y, axis: y.mean(axis=axis) / x.mean(axis=axis), n_resamples=20_000, batch=1000,
        method="BCa" if bca else "percentile", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    errors = [4 * math.sqrt(2) * error for _, error in there(ratio.ratio).errors(0.05)]
    low, high = ends(ratio.limits(0.05))
    assert abs(low - reference.low) < errors[0] and abs(high - reference.high) < errors[1]
    # and BCa moves the upper limit by more than that
    plain = made(base, head, alphas=(0.05,), cap=20_000).limits(0.05)
    assert (reference.high - there(plain.high) > errors[1]) == bca


def test_acceleration_is_that_of_the_literal_jackknife() -> None:
    rng = np.random.default_rng(3)
    base, head = grown(rng, (1, 8, 4, 5)), grown(rng, (1, 12, 4, 5))
    x, y = (np.array([float(mean(build)) for build in side[0]]) for side in (base, head))
    cubes = squares = 0.0
    for ratios in (
        np.array([y.mean() / np.delete(x, i).mean() for i in range(len(x))]),
        np.array([np.delete(y, i).mean() / x.mean() for i in range(len(y))]),
    ):
        n = len(ratios)
        away = (n - 1) * (ratios.mean() - ratios)
        cubes, squares = cubes + (away**3).sum() / n**3, squares + (away**2).sum() / n**2
    found = there(made(base, head, bca=True).ratio)
    assert found.acceleration == pytest.approx(cubes / (6 * squares**1.5), rel=1e-6)


def test_ties_with_the_estimate_count_half_for_the_bias() -> None:
    # four equally likely ratios: 1, 1, 3 and 1/3; the estimate is 1
    ratio = there(made([[[[1]], [[3]]]], [[[[1]], [[3]]]], bca=True).ratio)
    below, equal = (ratio.values < 1).mean(), (ratio.values == 1).mean()
    assert equal > 0.3
    assert ratio.bias == pytest.approx(float(ndtri(below + equal / 2)))


def test_percentile_limits_are_replicates() -> None:
    thousand = Distribution(np.arange(1.0, 2000.0), 0, 0.0, 0.0)  # 1999 of them
    limits = thousand.limits(0.0501)
    assert (limits.low, limits.high) == (50.0, 1950.0)
    # (R + 1) alpha/2 = 50 exactly: p < alpha has to be strict
    assert thousand.limits(0.05).low == 49.0
    assert thousand.limits(0.001).kind == "line"
    assert thousand.p(0.5, "above") == thousand.p(5000, "below") == pytest.approx(0.001)
    assert thousand.p(5000, "above") == thousand.p(0.5, "below") == 1.0


DISTRIBUTIONS = {
    "percentile": (0.0, 0.0, 0), "bias": (0.4, 0.0, 0), "acceleration": (0.0, 0.15, 0), "bca": (-0.3, -0.25, 0),
    "bca, beyond its pole": (0.5, 0.5, 0), "undefined": (0.0, 0.0, 30), "undefined bca": (0.2, 0.1, 70),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_p_agrees_with_the_limits(name: str) -> None:
    bias, acceleration, undefined = DISTRIBUTIONS[name]
    # ties among them
    values = np.sort(np.round(np.random.default_rng(4).gamma(9, 1 / 9, 2000 - undefined), 2))
    found = Distribution(values, undefined, bias, acceleration)
    thetas = [*np.unique(values), *(np.unique(values) + 0.005), 0.0, 10.0]
    beyond = 0
    for alpha in (0.0005, 2 / 2001, 0.003, 0.05, 0.1, 0.5, 0.9):
        limits = found.limits(alpha)
        for theta in thetas:
            above = limits.low is not None and limits.low > theta
            below = limits.high is not None and limits.high < theta
            assert [found.p(theta, tail) < alpha for tail in TAILS] == [above, below]
            beyond += above + below
    assert beyond > 100
    assert all(2 / 2001 <= found.p(theta, tail) <= 1 for theta in thetas for tail in TAILS)


@pytest.mark.parametrize("bca", [False, True])
def test_the_monte_carlo_error_is_that_over_seeds(bca: bool) -> None:
    rng = np.random.default_rng(9)
    base, head = grown(rng, (1, 12, 2, 6)), grown(rng, (1, 12, 2, 6))
    runs = [made(base, head, bca=bca, seed=seed) for seed in range(60)]
    limits = [run.limits(0.05) for run in runs]
    for k, end in enumerate(("low", "high")):
        actual = float(np.std([getattr(limit, end) for limit in limits]))
        told = np.mean([list(run.ratio.errors(0.05))[k][1] for run in runs if run.ratio])
        assert 0.7 < told / actual < 1.4


def noisy(sd: float, seed: int) -> list[Tree]:
    rng = np.random.default_rng(seed)
    return [(10 + rng.normal(0, sd, (12, 1, 1)) + rng.normal(0, sd / 10, (12, 2, 3))).tolist()]


def replicates(found: bootstrap.BootstrapRatio) -> int:
    return there(found.ratio).replicates


def test_replicates_are_added_until_the_limits_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = made(noisy(0.05, 1), noisy(0.05, 2), alphas=(0.05,), cap=50_000)
    louder = made(noisy(0.5, 1), noisy(0.5, 2), alphas=(0.05,), cap=50_000)
    stricter = made(noisy(0.5, 1), noisy(0.5, 2), alphas=(0.05, 0.02), cap=50_000)
    assert replicates(quiet) == CHUNK < replicates(louder) < replicates(stricter) < 50_000
    for found in (quiet, louder, stricter):
        assert max(error for _, error in there(found.ratio).errors(0.05)) <= bootstrap.PRECISION
        assert found.warnings == ()
    # the strictest level has its limits beyond enough replicates
    assert replicates(made(noisy(0.001, 1), noisy(0.001, 2), alphas=(0.05, 0.001), cap=50_000)) == 20_000
    # large samples get fewer
    monkeypatch.setattr(bootstrap, "WORK", 4000 * 2 * 72)
    assert replicates(made(noisy(3, 1), noisy(3, 2), cap=50_000)) == 4000
    monkeypatch.setattr(bootstrap, "WORK", 1)
    assert replicates(made(noisy(3, 1), noisy(3, 2), cap=50_000)) == CHUNK


def test_a_cap_that_was_hit_is_told() -> None:
    # a family of one has one level
    found = made(noisy(3, 1), noisy(3, 2), alphas=(0.05, 0.05), cap=4000)
    assert replicates(found) == 4000
    error = 2 * max(error for _, error in there(found.ratio).errors(0.05))
    assert [each.sentence() for each in found.warnings] == [
        f"95% limits known to ±{100 * error:.1f}% only: 4,000 replicates"
    ]
    assert error > 0.001
    strict = made(noisy(0.1, 1), noisy(0.1, 2), alphas=(0.05, 0.0005), cap=2000)
    assert [each.sentence() for each in strict.warnings] == ["99.95% limits not known: 2,000 replicates"]
    assert strict.limits(0.0005).kind == "line"


def test_what_withholds_the_interval() -> None:
    one, two = [[[[1, 2, 3], [2, 3]]]], [[[[1, 2], [3]], [[3, 4]]]]
    for base, head in ((one, two), (two, one)):
        found = made(base, head)
        assert found.limits(0.05).kind == found.difference_limits(0.05).kind == "withheld"
        assert found.p(1.0, "above") is None and found.p_difference(0.0, "above") is None
        assert [each.sentence() for each in found.warnings] == ["one build of each: how builds vary is unknown"]
    # two builds, but in one session
    assert kinds(made(two, two, sessions=True).warnings) == ["one-unit"]
    # which FLAT does not know
    assert made(one, two, scheme="FLAT").limits(0.05).kind == "bounded"
    # equal resamples
    same = [[[[0.1, 0.1, 0.1], [0.1]], [[0.1] * 7]]]
    for scheme in SCHEMES:
        found = made(same, same, scheme=scheme, bca=True)
        assert found.limits(0.05).kind == "withheld"
        assert kinds(found.warnings) == ["no-spread"]
    # builds with one mean, whatever is in them
    assert made([[[[1, 3]], [[2, 2]]]], same, scheme="RNN").limits(0.05).kind == "withheld"


@pytest.mark.parametrize("bca", [False, True])
def test_one_side_without_spread_leaves_the_other(bca: bool) -> None:
    constant, spread = [[[[2.0]]] * 6], [[[[v]] for v in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]]
    found = made(constant, spread, bca=bca)
    low, high = ends(found.limits(0.05))
    assert low < 1.75 < high
    assert ends(found.difference_limits(0.05)) == pytest.approx((2 * low - 2, 2 * high - 2))
    assert made(spread, constant, bca=bca).limits(0.05).kind == "bounded"


def test_a_base_without_a_positive_mean_counts_against_both_limits() -> None:
    # in some resamples
    base, head = [[[[0.0]], [[0.0]], [[0.0]], [[1.0]]]], [[[[5.0]], [[6.0]], [[7.0]], [[6.0]]]]
    found = made(base, head)
    share = there(found.ratio).undefined / replicates(found)
    assert share == pytest.approx((3 / 4) ** 4, abs=0.04)
    assert found.limits(0.05).kind == "line"
    assert found.limits(0.9).kind == "bounded"
    assert all(there(found.p(6.0, tail)) > 2 * share for tail in TAILS)
    assert found.difference_limits(0.05).kind == "bounded"
    assert kinds(found.warnings)[1] == "undefined-resamples"
    # in all
    zero = made([[[[0.0]]] * 6], [[[[v]] for v in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]], bca=True)
    assert zero.limits(0.05).kind == "line"
    assert zero.p(1.0, "above") == 1.0
    low = there(zero.difference_limits(0.05).low)
    assert low > 1
    assert there(zero.p_difference(low - 1e-6, "above")) < 0.05 <= there(zero.p_difference(low, "above"))


def test_the_difference_is_of_the_same_replicates() -> None:
    base, head = [TABLE_V_OLD], [TABLE_V_NEW]
    found = made(base, head, scheme="RRN", cap=4000)
    x, y = replicate_means([hierarchy(sample(side), "RRN", sessions=False) for side in (base, head)], 1, range(2))
    assert there(found.ratio).values == pytest.approx(np.sort(y / x), rel=1e-11)
    assert there(found.difference).values == pytest.approx(np.sort(y - x), abs=1e-10)
    assert (found.x, found.y) == (10.5, 6.5)


def test_what_is_wrong_with_such_intervals_is_told() -> None:
    rng = np.random.default_rng(1)
    builds = [[(10 + rng.normal(0, 1, (4, 1, 1)) + rng.normal(0, 0.01, (4, 3, 5))).tolist()] for _ in range(2)]
    iterations = [[(10 + rng.normal(0, 1, (12, 3, 5))).tolist()] for _ in range(2)]
    for scheme in ("RRR", "RRN", "RNN"):
        few = made(*builds, scheme=scheme).warnings[0].sentence()
        assert few == "a bootstrap over 4 builds may cover only 80-90% instead of 95%"
    assert kinds(made(*builds, scheme="FLAT").warnings)[0] == "flat-resampling"
    assert kinds(made(*iterations).warnings)[0] == "noise-counted-twice"
    assert "noise-counted-twice" not in kinds(made(*iterations, scheme="RNN").warnings)
