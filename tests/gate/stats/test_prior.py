"""Remembered variance: what a session gives, what it is worth later, and what a run makes of it."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import numpy as np
import pytest
from scipy import stats
from scipy.special import fdtrc, fdtri, polygamma, psi

from gate.model import FindingMemory, Layouts, MeanSquare, Remembered
from gate.stats.levels import Tops
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
    trigamma_inverse,
    unlike_sides,
)
from gate.stats.ratio import paired
from tests.support.seeds import some

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def square(value: float, df: float) -> MeanSquare:
    return MeanSquare(value=value, df=df)


def session(
    *,
    days: float = 0,
    rounds: int = 20,
    executions: float = 5,
    iterations: float = 10,
    iteration: MeanSquare | None = None,
    execution: MeanSquare | None = None,
    build: MeanSquare | None = None,
    contrast: MeanSquare | None = None,
) -> Remembered:
    return Remembered(
        session=f"s{days}", created=(NOW - timedelta(days=days)).isoformat(), rounds=rounds, executions=executions,
        iterations=iterations, iteration=iteration, execution=execution, build=build, contrast=contrast,
    )  # fmt: skip


def memory(*sessions: Remembered) -> FindingMemory:
    return FindingMemory(benchmark="b", metric="time", factors={}, statistic="mean", sessions=list(sessions))


def tops(*values: float, gap: float = 0.0, log: bool = False) -> Tops:
    return Tops(np.array(values), tuple((0, b) for b in range(len(values))), gap, log)


def remembered(
    known: FindingMemory, nu: float | None = 12, *, kind: Kind = "contrast", e: int = 5, i: int = 10, layouts: Layouts = "independent"
) -> Prior | None:  # fmt: skip
    """What a memory is worth today; e, i: the executions and iterations of the present plan."""
    return prior_of(known, kind=kind, executions=e, iterations=i, nu=nu, now=NOW, layouts=layouts)


def prior(variance: float = 1.0, df: float = 20.0) -> Prior:
    return Prior(variance, df, 1, "2026-11-20", "2026-11-20")


# --- the weight of a memory -------------------------------------------------------------------------------------------


def test_one_session_of_the_present_plan_is_taken_as_it_is() -> None:
    found = remembered(memory(session(contrast=square(0.04, 19))))
    assert found is not None
    # 1/d0 = 1/19 + 2/12
    assert found.variance == pytest.approx(0.04)
    assert found.df == pytest.approx(1 / (1 / 19 + 2 / 12))
    assert 4 < found.df < 5.5  # "one long calibration gives d0 of about 5"
    assert (found.sessions, found.first, found.last) == (1, "2026-11-20", "2026-11-20")


def test_three_sessions_are_worth_more_and_weigh_by_their_degrees() -> None:
    three = memory(*(session(days=d, contrast=square(v, 19)) for d, v in ((0, 0.04), (1, 0.01), (2, 0.04))))
    for nu, low, high in ((12.0, 7.5, 8.5), (30.0, 15, 17), (None, 19.7, 20)):
        found = remembered(three, nu)
        assert found is not None
        assert found.variance == pytest.approx(0.03)
        assert low < found.df < high
        assert (found.first, found.last) == ("2026-11-18", "2026-11-20")
    unlike = memory(session(contrast=square(0.04, 30)), session(contrast=square(0.01, 10)))
    found = remembered(unlike, 10)
    assert found is not None
    assert found.variance == pytest.approx((30 * 0.04 + 10 * 0.01) / 40)
    # 40^2/(30^2 + 10^2) = 1.6 equal sessions
    assert found.df == pytest.approx(1 / (1 / 40 + (1 + 1 / 1.6) / 10))


def test_a_memory_halves_every_90_days_and_is_capped_first() -> None:
    for days, expected in ((0, 20.0), (90, 10.0), (180, 5.0), (-3, 20.0)):
        found = remembered(memory(session(days=days, contrast=square(1, 400))), None)
        assert found is not None
        assert found.df == pytest.approx(expected)


def test_an_old_session_never_makes_a_memory_worth_less() -> None:
    fresh, old = session(contrast=square(1, 19)), session(days=400, contrast=square(9, 19))
    both = remembered(memory(old, fresh))
    assert both == remembered(memory(fresh))
    assert both is not None and both.variance == 1


def test_what_cannot_be_read_or_used_is_no_memory() -> None:
    for unusable in (
        session(),
        session(contrast=square(0, 19)),
        session(contrast=square(1, 0)),
        msg(session(contrast=square(1, 19)), "yesterday"),
    ):
        assert remembered(memory(unusable)) is None
    assert remembered(memory()) is None
    naive = msg(session(contrast=square(1, 19)), "2026-11-20T00:00:00")
    assert remembered(memory(naive)) is not None


def msg(remembered: Remembered, created: str) -> Remembered:
    return Remembered(**{n: getattr(remembered, n) for n in remembered.__struct_fields__} | {"created": created})


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
def test_a_build_is_taken_to_another_plan(
    s: tuple[float, float, float], n: tuple[float, float], m: tuple[float, float]
) -> None:
    s1, s2, s3 = (square(value, df) for value, df in zip(s, (900, 80, 19), strict=True))
    known = session(iterations=n[0], executions=n[1], iteration=s1, execution=s2, build=s3)
    found = prior_of(
        memory(known), kind="build", executions=m[1], iterations=m[0], nu=None, now=NOW, layouts="independent"
    )
    assert found is not None
    assert found.variance == pytest.approx(literal(s, n, m))
    # Satterthwaite over the mean squares
    weights = (1 / (m[0] * m[1]) - 1 / (n[0] * m[1]), 1 / m[1] - 1 / n[1], 1.0)
    error = sum((w * v) ** 2 / df for w, v, df in zip(weights, s, (900, 80, 19), strict=True))
    assert found.df == pytest.approx(min(literal(s, n, m) ** 2 / error, 20))


def test_a_contrast_is_taken_to_another_plan() -> None:
    s1, s2, sc = 1.0, 2.0, 5.0
    (n1, n2), (m1, m2) = (10.0, 5.0), (4.0, 2.0)
    known = session(
        iterations=n1, executions=n2, iteration=square(s1, 900), execution=square(s2, 80), contrast=square(sc, 19)
    )
    found = prior_of(
        memory(known), kind="contrast", executions=m2, iterations=m1, nu=None, now=NOW, layouts="independent"
    )
    assert found is not None
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
        found = remembered(memory(known), None, kind=kind, e=20)
        assert found is not None
        assert found.variance == pytest.approx(floor)
    same = remembered(memory(known), None, kind="build")
    assert same is not None and same.variance == 0.01


def test_without_levels_only_about_the_same_counts_match() -> None:
    quantile = memory(session(contrast=square(1, 19)))
    usable = [
        remembered(quantile, e=e, i=i) is not None
        for e, i in ((5, 10), (10, 5), (5, 15), (5, 7), (5, 16), (5, 6), (2, 10))
    ]
    assert usable == [True, True, True, True, False, False, False]
    # one value an execution: executions may differ, iterations may not
    single = memory(session(iterations=1, execution=square(2, 80), build=square(3, 19)))
    found = remembered(single, None, kind="build", e=10, i=1)
    assert found is not None and found.variance == pytest.approx(3 - 2 / 5 + 2 / 10)
    assert remembered(single, None, kind="build", e=10, i=2) is None
    # one execution a build: the other way round
    one = memory(session(executions=1, iteration=square(2, 180), build=square(3, 19)))
    found = remembered(one, None, kind="build", e=1, i=5)
    assert found is not None and found.variance == pytest.approx(3 - 2 / 10 + 2 / 5)
    assert remembered(one, None, kind="build", e=2, i=5) is None


# --- how far variances move -------------------------------------------------------------------------------------------


def test_the_inverse_of_trigamma_is_limmas() -> None:
    # tests/limma-Tests.Rout.save of limma: trigammaInverse(c(1e-6, NA, 5, 1e6)), as R prints them
    assert [f"{trigamma_inverse(x):.6e}" for x in (1e-6, 5, 1e6)] == ["1.000000e+06", "4.961687e-01", "1.000001e-03"]


@pytest.mark.parametrize("y", [1e-5, 1e-3, 0.1, 0.5, 1, 6, 15, 1000, 1e7])
def test_the_inverse_of_trigamma_undoes_it(y: float) -> None:
    assert trigamma_inverse(float(polygamma(1, y))) == pytest.approx(y, rel=1e-6)


def host(rng: np.random.Generator, cases: int, sessions: int, d: float, nu: float) -> list[FindingMemory]:
    """Cases whose variance in each session is drawn about a level of their own; nu = inf: it stands still."""
    found = []
    for _ in range(cases):
        level = math.exp(rng.normal(0, 2))
        true = [level if math.isinf(nu) else level * nu / rng.chisquare(nu) for _ in range(sessions)]
        found.append(
            memory(*(session(days=k, contrast=square(v * rng.chisquare(d) / d, d)) for k, v in enumerate(true)))
        )
    return found


def test_nu_as_the_formula_says() -> None:
    rng = np.random.default_rng(5)
    memories = host(rng, 30, 3, 19, 6)
    variances, expected = [], []
    for each in memories:
        s2 = np.array([s.contrast.value for s in each.sessions if s.contrast])
        z = np.log(s2) - psi(19 / 2) + np.log(19 / 2)
        variances.append(z.var(ddof=1))
        expected.append(polygamma(1, 19 / 2))
    excess = np.mean(variances) - np.mean(expected)
    nu = nu_of(memories, "contrast")
    assert nu is not None
    assert float(polygamma(1, nu / 2)) == pytest.approx(excess)


def test_nu_is_found_again() -> None:
    rng = np.random.default_rng(6)
    moving = [nu_of(host(rng, 40, 4, 19, 8), "contrast") or math.inf for _ in range(40)]
    assert 6.5 < float(np.median(moving)) < 10
    still = [nu_of(host(rng, 40, 4, 19, math.inf), "contrast") or math.inf for _ in range(40)]
    assert np.mean([nu > 60 for nu in still]) > 0.8


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


def test_the_contrast_is_relative_to_both_means() -> None:
    base, head = tops(1.0, 2.0, 3.0), tops(5.0, 3.0, 4.0)
    x, y = 2.0, 4.0
    differences = [5 / y - 1 / x, 3 / y - 2 / x, 4 / y - 3 / x]
    assert contrast_variance(base, head) == pytest.approx(np.var(differences, ddof=1))
    # of logarithms the difference itself
    assert contrast_variance(tops(0, 1, log=True), tops(1, 4, log=True)) == pytest.approx(np.var([1, 3], ddof=1))
    # only matched rounds count
    cut = replace(head, values=head.values[:2], units=head.units[:2])
    assert contrast_variance(base, cut) == pytest.approx(np.var([5 / 4 - 1 / 1.5, 3 / 4 - 2 / 1.5], ddof=1))


def test_a_timer_leaves_its_rounding_in_the_contrast() -> None:
    base, head = tops(10, 10, 10, gap=1.0), tops(20, 20, 20, gap=1.0)
    assert contrast_variance(base, head) == pytest.approx((0.1**2 + 0.05**2) / 12)
    assert sides_variance(base, head) == pytest.approx((0.1**2 + 0.05**2) / 12 / 2)


def test_a_mean_of_zero_matches_no_memory() -> None:
    zero = tops(0.0, 0.0, 0.0)
    assert contrast_variance(tops(1, 2, 3), zero) == math.inf
    assert sides_variance(zero, tops(1, 2, 3)) == math.inf
    assert not moderate(math.inf, 2, prior(), 1.0).used


def test_the_variance_within_the_sides_is_pooled_by_degrees() -> None:
    base, head = tops(1.0, 2.0, 3.0), tops(2.0, 4.0)
    expected = (2 * np.var([0.5, 1, 1.5], ddof=1) + np.var([2 / 3, 4 / 3], ddof=1)) / 3
    assert sides_variance(base, head) == pytest.approx(expected)


@pytest.mark.parametrize("known", [None, 4.0, 20.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_noisier_side_is_tested_against_the_other_and_the_memory(seed: int, known: float | None) -> None:
    rng = np.random.default_rng(seed)
    base, head = rng.normal(10, 1, 3 + seed), rng.normal(20, 5, 5)
    own, other = np.var(base / base.mean(), ddof=1), np.var(head / head.mean(), ddof=1)
    d, d_other, d0, s0 = 2 + seed, 4, known or 0.0, 1.5 * 0.01
    of_base = stats.f.sf(own / ((d0 * s0 + d_other * other) / (d0 + d_other)), d, d0 + d_other)
    of_head = stats.f.sf(other / ((d0 * s0 + d * own) / (d0 + d)), d_other, d0 + d)
    found = unlike_sides(tops(*base), tops(*head), None if known is None else prior(0.01, known), 1.5)
    assert found == pytest.approx(min(of_base, of_head))


def test_sides_without_spread_are_alike_and_one_without_is_not() -> None:
    flat = tops(1.0, 1.0, 1.0)
    assert unlike_sides(flat, flat, None, 1.0) == 1.0
    assert unlike_sides(flat, tops(1.0, 2.0, 3.0), None, 1.0) == 0.0
    assert unlike_sides(tops(0.0, 0.0), flat, None, 1.0) == 0.0
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


def test_too_large_a_variance_gives_the_memory_up() -> None:
    edge = float(fdtri(4, 20, 0.90))
    assert moderate(edge * 0.999, 4, prior(), 1.0).used
    beyond = moderate(edge * 1.001, 4, prior(), 1.0)
    assert (beyond.variance, beyond.df, beyond.used, beyond.noisier) == (edge * 1.001, 4, False, False)
    # the host's factor counts first
    assert moderate(edge * 1.001, 4, prior(), 1.1).used
    loud = float(fdtri(4, 20, 0.99))
    assert not moderate(loud * 0.999, 4, prior(), 1.0).noisier
    assert moderate(loud * 1.001, 4, prior(), 1.0).noisier


def test_noise_within_the_sides_gives_it_up_too() -> None:
    quiet = moderate(1.0, 4, prior(), 1.0, p_sides=0.07)
    assert (quiet.variance, quiet.df, quiet.used, quiet.noisier) == (1.0, 4, False, False)
    assert moderate(1.0, 4, prior(), 1.0, p_sides=0.009).noisier
    assert moderate(1.0, 4, prior(), 1.0, p_sides=0.08).used
    assert surprise(1.0, 0, prior(), 1.0) == 1.0


def test_the_moderated_pair_has_the_contrast_it_was_given() -> None:
    base, head = tops(1.0, 1.2, 0.9, 1.1), tops(2.1, 2.2, 2.0, 2.5)
    found = moderated_pair(base, head, 0.03, 23.0)
    x, y, u = base.mean, head.mean, sides_variance(base, head)
    assert (found.x, found.y, found.df) == (x, y, 23.0)
    assert found.v_xx == pytest.approx(u * x**2 / 4)
    assert found.v_yy == pytest.approx(u * y**2 / 4)
    assert found.v_xy == pytest.approx((u - 0.03 / 2) * x * y / 4)
    theta = y / x
    assert found.v_yy + theta**2 * found.v_xx - 2 * theta * found.v_xy == pytest.approx(0.03 * y**2 / 4)
    # with the run's own contrast and degrees it is the paired interval, but for the sides' variances that are pooled
    own = moderated_pair(base, head, contrast_variance(base, head), 3.0)
    mine, plain = own.limits(0.05), paired(base, head).limits(0.05)
    assert mine.low == pytest.approx(plain.low, rel=0.02)
    assert mine.high == pytest.approx(plain.high, rel=0.02)


def test_on_the_log_scale_the_means_are_the_unit() -> None:
    base, head = tops(0.0, 0.2, -0.2, log=True), tops(1.0, 1.1, 1.2, log=True)
    found = moderated_pair(base, head, 0.03, 23.0)
    assert found.y - found.x == pytest.approx(1.1)
    assert found.v_xx + found.v_yy - 2 * found.v_xy == pytest.approx(0.03 / 3)


def test_sides_without_rounds_and_memory_alone() -> None:
    base, head = tops(1.0, 1.2), replace(tops(2.0, 2.2, 2.4), units=((1, 0), (1, 1), (1, 2)))
    found = moderated_sides(base, head, 0.03, 23.0)
    assert found.v_xx == pytest.approx(0.03 * 1.1**2 / 2)
    assert found.v_yy == pytest.approx(0.03 * 2.2**2 / 3)
    assert found.v_xy == 0
    one = prior_pair(tops(1.0), tops(2.0), 0.04, 8.0)
    # of one round: the contrast's variance, halved over the sides
    assert one.v_yy + 4 * one.v_xx == pytest.approx(0.04 * 4)
    apart = prior_pair(tops(1.0), replace(tops(2.0), units=((0, 5),)), 0.04, 8.0)
    assert apart.v_yy + 4 * apart.v_xx == pytest.approx(2 * 0.04 * 4)


# --- what it promises -------------------------------------------------------------------------------------------------

REPORTS = 4000


def coverage(builds: int, noise: float, *, cases: int, d0: float = 20, rho: float = 0.4, seed: int = 1) -> float:
    """How often the 95% interval holds the truth. noise: present over remembered variance, of all cases."""
    rng = np.random.default_rng(seed)
    held, total = 0, 0
    for _ in range(REPORTS // cases):
        drift = rng.normal(0, math.sqrt(rho), builds)
        found = []
        for _ in range(cases):
            x, y = (0.02 * math.sqrt(noise) * (drift + rng.normal(0, math.sqrt(1 - rho), builds)) for _ in range(2))
            of_contrast, of_sides = (
                prior(0.02**2 * scale * rng.chisquare(d0) / d0, d0) for scale in (2 * (1 - rho), 1.0)
            )
            found.append((tops(*(1 + x)), tops(*(1.1 * (1 + y))), of_contrast, of_sides))
        k = host_factor([(contrast_variance(x, y), builds - 1, c) for x, y, c, _ in found])
        k_sides = host_factor([(sides_variance(x, y), 2 * builds - 2, s) for x, y, _, s in found])
        for base, head, of_contrast, of_sides in found:
            p_sides = surprise(sides_variance(base, head), 2 * builds - 2, of_sides, k_sides)
            result = moderate(contrast_variance(base, head), builds - 1, of_contrast, k, p_sides=p_sides)
            limits = moderated_pair(base, head, result.variance, result.df).limits(0.05)
            assert limits.low is not None and limits.high is not None
            held += limits.low <= 1.1 <= limits.high
            total += 1
    return held / total


def bound(promise: float) -> float:
    return promise - 3 * math.sqrt(promise * (1 - promise) / REPORTS)


@pytest.mark.parametrize("builds", some([3, 5], 1))
def test_coverage_with_a_right_memory(builds: int) -> None:
    assert bound(0.945) < coverage(builds, 1, cases=1) < 0.97 + 0.008


@pytest.mark.parametrize(
    ("builds", "noise", "promise"), some([(3, 4, 0.90), (3, 2, 0.90), (5, 2, 0.92), (5, 4, 0.92)], 1)
)
def test_coverage_where_one_case_is_noisier_than_remembered(builds: int, noise: float, promise: float) -> None:
    assert coverage(builds, noise, cases=1) > bound(promise)


@pytest.mark.parametrize(("builds", "noise"), some([(3, 2), (3, 4), (5, 2), (5, 4)], 1))
def test_coverage_where_the_whole_host_is_noisier(builds: int, noise: float) -> None:
    # reports of 20 cases that share their drift
    assert coverage(builds, noise, cases=20) > bound(0.94)


def _common() -> Remembered:
    square = MeanSquare(value=0.01, df=4.0)
    return session(build=square, contrast=square)


def test_common_layouts_ask_for_five_checks_like_them() -> None:
    common = [msgspec.structs.replace(_common(), layouts="common") for _ in range(FEWEST_COMMON)]

    def asked(sessions: list[Remembered], layouts: Layouts) -> float | None:
        found = remembered(memory(*sessions), layouts=layouts)
        return None if found is None else found.sessions

    assert asked([_common(), *common[1:]], "common") is None
    assert asked([_common(), *common], "common") == FEWEST_COMMON
    assert asked([_common(), *common], "independent") == 1
    # a build's mean is the same thing, however the other side is laid out
    within = remembered(memory(_common(), *common), kind="build", layouts="common")
    assert within is not None and within.sessions == 1 + FEWEST_COMMON


def test_the_correlation_that_sessions_remember() -> None:
    known = [msgspec.structs.replace(_common(), layouts="common", correlation=0.9, rounds=8) for _ in range(4)]
    assert remembered_correlation([memory(*known)], "independent") is None
    found = remembered_correlation([memory(*known), memory(*known)], "common")
    assert found == pytest.approx(math.tanh(math.atanh(0.9) - 1.2816 / math.sqrt(20)), abs=1e-4)
