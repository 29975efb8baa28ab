"""Remembered variance: what a session gives, what it is worth later, and what a run makes of it."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy import stats
from scipy.special import fdtrc, fdtri, polygamma, psi

from gate.model import FindingMemory, Layouts, RelativeVariance, Remembered
from gate.stats.prior import (
    FEWEST_COMMON,
    Kind,
    Moderated,
    Prior,
    contrast_variance,
    host_factor,
    moderate,
    moderated_pair,
    moderated_sides,
    nu_of,
    prior_of,
    prior_pair,
    remembered_correlation,
    sides_variance,
    surprise,
    unlike_sides,
)
from gate.stats.ratio import paired
from gate.stats.special import trigamma_inverse
from tests.support.samples import ends, there, tops
from tests.support.seeds import some

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def square(value: float, df: float) -> RelativeVariance:
    return RelativeVariance(value=value, df=df)


def session(
    *, days: float = 0, rounds: int = 20, executions: float = 5, iterations: float = 10, **squares: Any
) -> Remembered:
    plain: dict[str, Any] = dict.fromkeys(("iteration", "execution", "build", "contrast"))
    created = (NOW - timedelta(days=days)).isoformat()
    return Remembered(
        session=f"s{days}", created=created, rounds=rounds, executions=executions, iterations=iterations,
        **plain | squares,
    )  # fmt: skip


def memory(*sessions: Remembered) -> FindingMemory:
    return FindingMemory(benchmark="b", metric="time", factors={}, statistic="mean", sessions=list(sessions))


def remembered(
    known: FindingMemory, nu: float | None = 12, *, kind: Kind = "contrast", e: float = 5, i: float = 10,
    layouts: Layouts = "independent",
) -> Prior | None:  # fmt: skip
    """What a memory is worth today; e, i: the executions and iterations of the present plan."""
    return prior_of(known, kind=kind, executions=e, iterations=i, nu=nu, now=NOW, layouts=layouts)


def prior(variance: float = 1.0, df: float = 20.0) -> Prior:
    return Prior(variance, df, 1, "2026-11-20", "2026-11-20")


# --- the weight of a memory -------------------------------------------------------------------------------------------


def test_the_weight_of_sessions_and_what_is_no_memory() -> None:
    one = there(remembered(memory(session(contrast=square(0.04, 19)))))
    # 1/d0 = 1/19 + 2/12: "one long calibration gives d0 of about 5"
    assert (one.variance, one.df) == pytest.approx((0.04, 1 / (1 / 19 + 2 / 12)))
    three = memory(*(session(days=d, contrast=square(v, 19)) for d, v in ((0, 0.04), (1, 0.01), (2, 0.04))))
    for nu, low, high in ((12.0, 7.5, 8.5), (30.0, 15, 17), (None, 19.7, 20)):
        found = there(remembered(three, nu))
        assert found.variance == pytest.approx(0.03) and low < found.df < high
        assert (found.sessions, found.first, found.last) == (3, "2026-11-18", "2026-11-20")
    unlike = there(remembered(memory(session(contrast=square(0.04, 30)), session(contrast=square(0.01, 10))), 10))
    # 40^2/(30^2 + 10^2) = 1.6 equal sessions
    wanted = (30 * 0.04 + 10 * 0.01) / 40, 1 / (1 / 40 + (1 + 1 / 1.6) / 10)
    assert (unlike.variance, unlike.df) == pytest.approx(wanted)
    # it halves every 90 days and is capped first
    for days, expected in ((0, 20.0), (90, 10.0), (180, 5.0), (-3, 20.0)):
        found = there(remembered(memory(session(days=days, contrast=square(1, 400))), None))
        assert found.df == pytest.approx(expected)
    # an old session never makes a memory worth less
    fresh, old = session(contrast=square(1, 19)), session(days=400, contrast=square(9, 19))
    assert remembered(memory(old, fresh)) == there(remembered(memory(fresh)))
    # what cannot be read or used is none
    good = session(contrast=square(1, 19))
    undated = msgspec.structs.replace(good, created="yesterday")
    for unusable in (session(), session(contrast=square(0, 19)), session(contrast=square(1, 0)), undated):
        assert remembered(memory(unusable)) is None
    assert remembered(memory()) is None
    assert remembered(memory(msgspec.structs.replace(good, created="2026-11-20T00:00:00"))) is not None


# --- another plan -----------------------------------------------------------------------------------------------------


def literal(s: tuple[float, float, float], n: tuple[float, float], m: tuple[float, float]) -> float:
    """Statistics of section 7 as they stand: T2[3] + T2[2]/m2 + T2[1]/(m1 m2)."""
    (s1, s2, s3), (n1, n2), (m1, m2) = s, n, m
    t1, t2, t3 = s1, s2 - s1 / n1, s3 - s2 / n2
    return t3 + t2 / m2 + t1 / (m1 * m2)


@pytest.mark.parametrize(
    ("s", "n", "m"),
    [
        ((1.0, 2.0, 3.0), (10.0, 5.0), (10.0, 5.0)),
        ((1.0, 2.0, 3.0), (10.0, 5.0), (3.0, 2.0)),
        ((1.0, 2.0, 3.0), (10.0, 5.0), (50.0, 20.0)),
        ((1.0, 0.02, 0.5), (10.0, 5.0), (3.0, 8.0)),  # T2[2] below 0 keeps its sign
    ],
)
def test_a_build_in_another_plan(s: tuple[float, float, float], n: tuple[float, float], m: tuple[float, float]) -> None:
    s1, s2, s3 = (square(value, df) for value, df in zip(s, (900, 80, 19), strict=True))
    known = memory(session(iterations=n[0], executions=n[1], iteration=s1, execution=s2, build=s3))
    found = there(remembered(known, None, kind="build", e=m[1], i=m[0]))
    assert found.variance == pytest.approx(literal(s, n, m))
    # Satterthwaite over the mean squares
    weights = (1 / (m[0] * m[1]) - 1 / (n[0] * m[1]), 1 / m[1] - 1 / n[1], 1.0)
    error = sum((w * v) ** 2 / df for w, v, df in zip(weights, s, (900, 80, 19), strict=True))
    assert found.df == pytest.approx(min(literal(s, n, m) ** 2 / error, 20))


def test_a_contrast_is_taken_to_another_plan() -> None:
    s1, s2, sc = 1.0, 2.0, 5.0
    (n1, n2), (m1, m2) = (10.0, 5.0), (4.0, 2.0)
    squares: dict[str, Any] = {"iteration": square(s1, 900), "execution": square(s2, 80), "contrast": square(sc, 19)}
    found = there(remembered(memory(session(iterations=n1, executions=n2, **squares)), None, e=m2, i=m1))
    t2 = s2 - s1 / n1
    expected = sc + 2 * (t2 * (1 / m2 - 1 / n2) + s1 * (1 / (m1 * m2) - 1 / (n1 * n2)))
    assert found.variance == pytest.approx(expected)


def test_another_plan_is_floored_at_what_iterations_leave() -> None:
    # the levels above came out negative: from 5 executions to 1, T2[3] + T2[2] would be 0.1 - 0.4 + ... below 0
    known = session(
        iteration=square(10, 900), execution=square(0.2, 80), build=square(0.01, 19), contrast=square(0.02, 19)
    )
    floors: dict[Kind, float] = {"build": 10 / (10 * 20), "contrast": 2 * 10 / (10 * 20)}
    for kind, floor in floors.items():
        assert there(remembered(memory(known), None, kind=kind, e=20)).variance == pytest.approx(floor)
    assert there(remembered(memory(known), None, kind="build")).variance == 0.01


def test_without_levels_only_about_the_same_counts_match() -> None:
    quantile = memory(session(contrast=square(1, 19)))
    usable = [
        remembered(quantile, e=e, i=i) is not None
        for e, i in ((5, 10), (10, 5), (5, 15), (5, 7), (5, 16), (5, 6), (2, 10))
    ]
    assert usable == [True, True, True, True, False, False, False]
    # one value an execution: executions may differ, iterations may not
    single = memory(session(iterations=1, execution=square(2, 80), build=square(3, 19)))
    found = there(remembered(single, None, kind="build", e=10, i=1))
    assert found.variance == pytest.approx(3 - 2 / 5 + 2 / 10)
    assert remembered(single, None, kind="build", e=10, i=2) is None
    # one execution a build: the other way round
    one = memory(session(executions=1, iteration=square(2, 180), build=square(3, 19)))
    found = there(remembered(one, None, kind="build", e=1, i=5))
    assert found.variance == pytest.approx(3 - 2 / 10 + 2 / 5)
    assert remembered(one, None, kind="build", e=2, i=5) is None


# --- how far variances move -------------------------------------------------------------------------------------------


def test_the_inverse_of_trigamma_is_limmas() -> None:
    # tests/limma-Tests.Rout.save of limma: trigammaInverse(c(1e-6, NA, 5, 1e6)), as R prints them
    assert [f"{trigamma_inverse(x):.6e}" for x in (1e-6, 5, 1e6)] == ["1.000000e+06", "4.961687e-01", "1.000001e-03"]
    for y in (1e-5, 1e-3, 0.1, 1, 15, 1000, 1e7):
        assert trigamma_inverse(float(polygamma(1, y))) == pytest.approx(y, rel=1e-6)


def host(rng: np.random.Generator, cases: int, sessions: int, d: float, nu: float) -> list[FindingMemory]:
    """Cases whose variance in each session is drawn about a level of their own."""
    found = []
    for _ in range(cases):
        true = math.exp(rng.normal(0, 2)) * nu / rng.chisquare(nu, sessions)
        found.append(
            memory(
                *(session(days=k, contrast=square(v * rng.chisquare(d) / d, d)) for k, v in enumerate(true.tolist()))
            )
        )
    return found


def test_nu_as_the_formula_says() -> None:
    memories = host(np.random.default_rng(5), 30, 3, 19, 6)
    variances = []
    for each in memories:
        s2 = np.array([s.contrast.value for s in each.sessions if s.contrast])
        variances.append((np.log(s2) - psi(19 / 2) + np.log(19 / 2)).var(ddof=1))
    excess = np.mean(variances) - polygamma(1, 19 / 2)
    assert float(polygamma(1, there(nu_of(memories, "contrast")) / 2)) == pytest.approx(excess)


def test_few_sessions_cannot_show_that_variances_stand_still() -> None:
    # 9 comparisons are too few to say anything, 39 to say that nu is large
    alike = [memory(*(session(days=k, contrast=square(1, 19)) for k in range(2))) for _ in range(40)]
    assert nu_of([], "contrast") == 12
    assert nu_of(alike[:9], "contrast") == 12
    assert nu_of(alike[:10], "contrast") == 30
    assert nu_of(alike[:39], "contrast") == 30
    assert nu_of(alike, "contrast") is None
    assert nu_of(alike, "build") == 12
    # a session of few degrees scatters by itself: it proves neither
    short = [memory(*(session(days=k, contrast=square(1, 3)) for k in range(9))) for _ in range(40)]
    assert nu_of(short, "contrast") == 12


def test_sessions_of_other_plans_are_compared_on_one() -> None:
    # both hold T2 = (1, 0.5, 0.2): the variances of a build's mean differ, what is behind them does not
    def at(n1: int, n2: int, days: int) -> Remembered:
        s2, s3 = 0.5 + 1 / n1, 0.2 + 0.5 / n2 + 1 / (n1 * n2)
        return session(
            days=days, iterations=n1, executions=n2, iteration=square(1, 1e6), execution=square(s2, 1e6), build=square(s3, 1e6)
        )  # fmt: skip

    plans = [memory(at(10, 5, 0), at(2, 2, 1)) for _ in range(40)]
    assert nu_of(plans, "build") is None


# --- the present run --------------------------------------------------------------------------------------------------


def test_the_contrast_and_the_variance_within_the_sides_are_relative_to_the_means() -> None:
    base, head = tops([1.0, 2.0, 3.0]), tops([5.0, 3.0, 4.0])
    x, y = 2.0, 4.0
    differences = [5 / y - 1 / x, 3 / y - 2 / x, 4 / y - 3 / x]
    assert contrast_variance(base, head) == pytest.approx(np.var(differences, ddof=1))
    # of logarithms the difference itself
    assert contrast_variance(tops([0, 1], log=True), tops([1, 4], log=True)) == pytest.approx(np.var([1, 3], ddof=1))
    # only matched rounds count
    cut = replace(head, values=head.values[:2], units=head.units[:2])
    assert contrast_variance(base, cut) == pytest.approx(np.var([5 / 4 - 1 / 1.5, 3 / 4 - 2 / 1.5], ddof=1))
    # a timer leaves its rounding
    base, head = tops([10] * 3, gap=1.0), tops([20] * 3, gap=1.0)
    assert contrast_variance(base, head) == pytest.approx((0.1**2 + 0.05**2) / 12)
    assert sides_variance(base, head) == pytest.approx((0.1**2 + 0.05**2) / 12 / 2)
    # within the sides by their degrees
    base, head = tops([1.0, 2.0, 3.0]), tops([2.0, 4.0])
    expected = (2 * np.var([0.5, 1, 1.5], ddof=1) + np.var([2 / 3, 4 / 3], ddof=1)) / 3
    assert sides_variance(base, head) == pytest.approx(expected)
    # a mean of zero matches no memory
    zero, other = tops([0.0] * 3), tops([1, 2, 3])
    assert contrast_variance(other, zero) == sides_variance(zero, other) == math.inf
    assert not moderate(math.inf, 2, prior(), 1.0).used


@pytest.mark.parametrize("known", [None, 4.0, 20.0])
def test_the_noisier_side_is_tested_against_the_other_and_the_memory(known: float | None) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        base, head = rng.normal(10, 1, 3 + seed), rng.normal(20, 5, 5)
        own, other = np.var(base / base.mean(), ddof=1), np.var(head / head.mean(), ddof=1)
        d, d_other, d0, s0 = 2 + seed, 4, known or 0.0, 1.5 * 0.01
        of_base = stats.f.sf(own / ((d0 * s0 + d_other * other) / (d0 + d_other)), d, d0 + d_other)
        of_head = stats.f.sf(other / ((d0 * s0 + d * own) / (d0 + d)), d_other, d0 + d)
        found = unlike_sides(tops(base), tops(head), None if known is None else prior(0.01, known), 1.5)
        assert found == pytest.approx(min(of_base, of_head))


def test_sides_without_spread_are_alike_and_one_without_is_not() -> None:
    flat = tops([1.0] * 3)
    others = (flat, flat), (flat, tops([1.0, 2.0, 3.0])), (tops([0.0] * 2), flat)
    assert [unlike_sides(base, head, None, 1.0) for base, head in others] == [1.0, 0.0, 0.0]
    assert not moderate(1.0, 2, prior(), 1.0, p_unlike=0.019).used
    assert moderate(1.0, 2, prior(), 1.0, p_unlike=0.021).used


def test_the_host_factor_is_the_median_over_what_it_should_be() -> None:
    ratios = [2.0, 3.0, 1.0, 8.0, 0.1]
    known = [(r * 0.5, 4, prior(0.5, 20)) for r in ratios]
    found = host_factor(known)
    assert found == pytest.approx(2.0 / float(fdtri(4, 20, 0.5)))
    # what is worth nothing has no say
    assert host_factor([*known, (4.0, 4, prior(0.5, 0)), (4.0, 0, prior(0.5, 20))]) == found
    assert host_factor([(r * 0.5, 4, prior(0.5, 20)) for r in ratios[:4]]) == 1.0
    assert host_factor([(0.01, 4, prior()) for _ in range(5)]) == 1.0
    assert host_factor([(math.inf, 4, prior()) for _ in range(5)]) == 1.0


def test_variances_are_weighed_by_degrees() -> None:
    found = moderate(2.0, 4, prior(1.0, 8), 1.5)
    # limma's squeezeVar, with the host's factor on the prior
    assert found.variance == pytest.approx((8 * 1.5 + 4 * 2.0) / 12)
    assert (found.df, found.used, found.noisier) == (12, True, False)
    assert surprise(2.0, 4, prior(1.0, 8), 1.5) == pytest.approx(float(fdtrc(4, 8, 2 / 1.5)))
    assert moderate(2.0, 0, prior(1.0, 8), 1.5) == Moderated(1.5, 8, used=True, noisier=False, unlike=False)
    assert moderate(0.0, 4, prior(1.0, 8), 1.0).variance == pytest.approx(8 / 12)


def test_a_memory_is_given_up() -> None:
    # too large a variance
    edge = float(fdtri(4, 20, 0.90))
    assert moderate(edge * 0.999, 4, prior(), 1.0).used
    beyond = moderate(edge * 1.001, 4, prior(), 1.0)
    assert (beyond.variance, beyond.df, beyond.used, beyond.noisier) == (edge * 1.001, 4, False, False)
    # the host's factor counts first
    assert moderate(edge * 1.001, 4, prior(), 1.1).used
    loud = float(fdtri(4, 20, 0.99))
    assert not moderate(loud * 0.999, 4, prior(), 1.0).noisier
    assert moderate(loud * 1.001, 4, prior(), 1.0).noisier
    # noise within the sides
    quiet = moderate(1.0, 4, prior(), 1.0, p_sides=0.07)
    assert (quiet.variance, quiet.df, quiet.used, quiet.noisier) == (1.0, 4, False, False)
    assert moderate(1.0, 4, prior(), 1.0, p_sides=0.009).noisier
    assert moderate(1.0, 4, prior(), 1.0, p_sides=0.08).used
    assert surprise(1.0, 0, prior(), 1.0) == 1.0


def test_the_moderated_pair_has_the_contrast_it_was_given() -> None:
    base, head = tops([1.0, 1.2, 0.9, 1.1]), tops([2.1, 2.2, 2.0, 2.5])
    found = moderated_pair(base, head, 0.03, 23.0)
    x, y, u = base.mean, head.mean, sides_variance(base, head)
    assert (found.x, found.y, found.df) == (x, y, 23.0)
    assert found.v_xx == pytest.approx(u * x**2 / 4)
    assert found.v_yy == pytest.approx(u * y**2 / 4)
    assert found.v_xy == pytest.approx((u - 0.03 / 2) * x * y / 4)
    theta = y / x
    assert found.v_yy + theta**2 * found.v_xx - 2 * theta * found.v_xy == pytest.approx(0.03 * y**2 / 4)
    # with the run's own contrast and degrees it is the paired interval, but for the sides' variances that are pooled
    own = moderated_pair(base, head, contrast_variance(base, head), 3.0).limits(0.05)
    assert ends(own) == pytest.approx(ends(paired(base, head).limits(0.05)), rel=0.02)
    # on the log scale the means are the unit
    found = moderated_pair(tops([0.0, 0.2, -0.2], log=True), tops([1.0, 1.1, 1.2], log=True), 0.03, 23.0)
    assert found.y - found.x == pytest.approx(1.1)
    assert found.v_xx + found.v_yy - 2 * found.v_xy == pytest.approx(0.03 / 3)


def test_sides_without_rounds_and_memory_alone() -> None:
    found = moderated_sides(tops([1.0, 1.2]), tops([2.0, 2.2, 2.4]), 0.03, 23.0)
    assert (found.v_xx, found.v_yy, found.v_xy) == pytest.approx((0.03 * 1.1**2 / 2, 0.03 * 2.2**2 / 3, 0))
    # of one round: the contrast's variance, halved over the sides
    one, apart = (prior_pair(tops([1.0]), tops([2.0], first=first), 0.04, 8.0) for first in (0, 5))
    assert one.v_yy + 4 * one.v_xx == pytest.approx(0.04 * 4)
    assert apart.v_yy + 4 * apart.v_xx == pytest.approx(2 * 0.04 * 4)


# --- what it promises -------------------------------------------------------------------------------------------------


def coverage(builds: int, noise: float, cases: int, reports: int) -> float:
    """How often the 95% interval holds the truth. noise: present over remembered variance, of all cases."""
    rng, d0, rho = np.random.default_rng(1), 20, 0.4
    held = 0
    for _ in range(reports // cases):
        drift = rng.normal(0, math.sqrt(rho), builds)
        found = []
        for _ in range(cases):
            x, y = (0.02 * math.sqrt(noise) * (drift + rng.normal(0, math.sqrt(1 - rho), builds)) for _ in range(2))
            of_contrast, of_sides = (
                prior(0.02**2 * scale * rng.chisquare(d0) / d0, d0) for scale in (2 * (1 - rho), 1.0)
            )
            found.append((tops(1 + x), tops(1.1 * (1 + y)), of_contrast, of_sides))
        k = host_factor([(contrast_variance(x, y), builds - 1, c) for x, y, c, _ in found])
        k_sides = host_factor([(sides_variance(x, y), 2 * builds - 2, s) for x, y, _, s in found])
        for base, head, of_contrast, of_sides in found:
            p_sides = surprise(sides_variance(base, head), 2 * builds - 2, of_sides, k_sides)
            result = moderate(contrast_variance(base, head), builds - 1, of_contrast, k, p_sides=p_sides)
            low, high = ends(moderated_pair(base, head, result.variance, result.df).limits(0.05))
            held += low <= 1.1 <= high
    return held / reports


RIGHT = [(3, 1, 1, 0.945, 0.978), (5, 1, 1, 0.945, 0.978)]
ONE_NOISIER = [(3, 4, 1, 0.90, 1.0), (3, 2, 1, 0.90, 1.0), (5, 2, 1, 0.92, 1.0), (5, 4, 1, 0.92, 1.0)]
# reports of 20 cases that share their drift
HOST_NOISIER = [(3, 2, 20, 0.94, 1.0), (3, 4, 20, 0.94, 1.0), (5, 2, 20, 0.94, 1.0), (5, 4, 20, 0.94, 1.0)]


@pytest.mark.parametrize(
    ("builds", "noise", "cases", "promise", "most", "reports"),
    [
        row
        for group in (RIGHT, ONE_NOISIER, HOST_NOISIER)
        for row in some([(*group[0], 1200), *((*each, 4000) for each in group)], 1)
    ],
)
def test_coverage(builds: int, noise: float, cases: int, promise: float, most: float, reports: int) -> None:
    covered = coverage(builds, noise, cases, reports)
    assert promise - 3 * math.sqrt(promise * (1 - promise) / reports) < covered <= most


COMMON = session(build=square(0.01, 4), contrast=square(0.01, 4))


def test_what_layouts_sessions_remember() -> None:
    common = [msgspec.structs.replace(COMMON, layouts="common")] * FEWEST_COMMON
    assert remembered(memory(COMMON, *common[1:]), layouts="common") is None
    asked = [there(remembered(memory(COMMON, *common), layouts=of)).sessions for of in ("common", "independent")]
    assert asked == [FEWEST_COMMON, 1]
    # a build's mean is the same thing, however the other side is laid out
    within = there(remembered(memory(COMMON, *common), kind="build", layouts="common"))
    assert within.sessions == 1 + FEWEST_COMMON
    # the correlation of both sides
    known = [msgspec.structs.replace(COMMON, layouts="common", correlation=0.9, rounds=8)] * 4
    assert remembered_correlation([memory(*known)], "independent") is None
    found = remembered_correlation([memory(*known), memory(*known)], "common")
    assert found == pytest.approx(math.tanh(math.atanh(0.9) - 1.2816 / math.sqrt(20)), abs=1e-4)
