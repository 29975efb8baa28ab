"""Dunnett's comparison with the first setting: published critical values, a textbook example, and scipy."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from gate.stats.design.dunnett import against_first, beyond, critical
from gate.stats.design.one_way import Error, one_ways
from gate.stats.design.tukey import Mean
from tests.support.units_frame import factors, frame

EQUAL = math.sqrt(0.5)


@pytest.mark.parametrize(
    ("k", "df", "confidence", "table"),
    [
        # Dunnett 1964, Biometrics 20, tables II and III (two-sided, exact); k: settings beside the first
        (1, 10, 0.95, 2.23),
        (2, 5, 0.95, 3.03),
        (3, 12, 0.95, 2.68),
        (3, 16, 0.95, 2.59),
        (9, 20, 0.95, 2.95),
        (4, 60, 0.95, 2.51),
        (2, 5, 0.99, 4.63),
        (3, 16, 0.99, 3.39),
        (9, 20, 0.99, 3.69),
    ],
)
def test_critical_values_are_those_of_the_tables(k: int, df: int, confidence: float, table: float) -> None:
    assert round(critical((EQUAL,) * k, df, confidence), 2) == table


def test_the_chance_is_that_of_the_multivariate_t() -> None:
    # many draws of what it is the chance of, with counts that differ
    rng = np.random.default_rng(3)
    counts, df = [4, 8, 2, 6], 7
    draws = 200_000
    means = [rng.normal(size=draws) / math.sqrt(n) for n in counts]
    s = np.sqrt(rng.chisquare(df, size=draws) / df)
    t = [
        np.abs(m - means[0]) / s / math.sqrt(1 / n + 1 / counts[0]) for m, n in zip(means[1:], counts[1:], strict=True)
    ]
    shared = tuple(math.sqrt(1 / counts[0] / (1 / counts[0] + 1 / n)) for n in counts[1:])
    at = np.array([1.0, 2.5, 4.0])
    assert beyond(at, shared, df) == pytest.approx([(np.max(t, axis=0) > own).mean() for own in at], abs=0.004)


def test_small_chances_are_those_of_the_double_integral() -> None:
    # literal: the sum over the standard deviation and the control's error, by quadrature
    shared, df = (0.4, 0.8), 9

    def given(s: float, z: float, t: float) -> float:
        inside = 1.0
        for own in shared:
            rest = math.sqrt(1 - own * own)
            inside *= normal((own * z + t * s) / rest) - normal((own * z - t * s) / rest)
        # of sqrt(chi2 / df), and of the standard normal distribution
        of_s: float = 2 * (df / 2) ** (df / 2) / math.gamma(df / 2) * s ** (df - 1) * math.exp(-df * s * s / 2)
        return float(1 - inside) * of_s * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def normal(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    for t in (0.7, 3.0, 8.0):
        wanted = integrate.dblquad(lambda z, s, t=t: given(s, z, t), 0, 5, -8, 8, epsabs=1e-11)[0]
        assert beyond(np.array([t]), shared, df)[0] == pytest.approx(wanted, rel=1e-5)


def test_it_agrees_with_scipy_where_that_is_known_to_be_near() -> None:
    rng = np.random.default_rng(1)
    groups = [rng.normal(loc, size=n) for n, loc in ((10, 0), (4, 1), (7, 0.5), (5, 2))]
    df = sum(map(len, groups)) - len(groups)
    variance = sum(float(((g - g.mean()) ** 2).sum()) for g in groups) / df
    found = against_first([Mean(float(g.mean()), 1 / len(g)) for g in groups], variance, df, 0.95)
    wanted = stats.dunnett(*groups[1:], control=groups[0], rng=np.random.default_rng(0))
    assert [own.p for own in found] == pytest.approx(wanted.pvalue.tolist(), abs=2e-3)
    ends = wanted.confidence_interval()
    assert [own.low for own in found] == pytest.approx(ends.low.tolist(), abs=0.02)
    assert [own.high for own in found] == pytest.approx(ends.high.tolist(), abs=0.02)


def test_a_textbook_example() -> None:
    # Montgomery, Design and Analysis of Experiments (8th ed.), Table 3.1 and Example 3.11: the etch rate by power, with
    # 220 W as the control: d(0.05; 3, 16) = 2.59, critical difference 29.92, all three differ
    etch = [
        [725.0, 700, 715, 685, 710],
        [575.0, 542, 530, 539, 570],
        [565.0, 593, 590, 579, 610],
        [600.0, 651, 610, 637, 629],
    ]
    (table,) = one_ways(frame({(k,): y for k, y in enumerate(etch)}), factors(4), 0.95)
    assert [own.difference for own in table.firsts] == pytest.approx([-155.8, -119.6, -81.6])
    for own in table.firsts:
        assert own.low is not None and own.high is not None and own.p is not None
        assert (own.high - own.low) / 2 == pytest.approx(29.92, abs=0.04)
        assert own.p < 0.001
    assert table.firsts[0].percent == pytest.approx(-155.8 / 707)


def test_p_and_interval_agree() -> None:
    rng = np.random.default_rng(7)
    for _ in range(8):
        means = [
            Mean(float(rng.normal(scale=1.5)), 1 / int(rng.integers(2, 9))) for _ in range(int(rng.integers(2, 7)))
        ]
        for own in against_first(means, 1.0, int(rng.integers(2, 30)), 0.9):
            assert own.low is not None and own.high is not None and own.p is not None
            assert (own.p < 0.1) == (own.low > 0 or own.high < 0)


def test_nothing_is_known_without_degrees_of_freedom_or_spread() -> None:
    means = [Mean(1.0, 1.0), Mean(2.0, 1.0), Mean(4.0, 1.0)]
    for variance, df in ((1.0, 0), (0.0, 5)):
        found = against_first(means, variance, df, 0.95)
        assert [(own.difference, own.low, own.high, own.p) for own in found] == [
            (1, None, None, None),
            (3, None, None, None),
        ]


def test_two_settings_have_no_table_against_the_first() -> None:
    (table,) = one_ways(frame({(0,): [1.0, 2.0], (1,): [2.0, 4.0]}), factors(2), 0.95)
    assert table.firsts == []


def test_an_error_from_outside_takes_the_place_of_that_within() -> None:
    units = frame({(k,): [k + 1.0, k + 2.0, k + 4.5] for k in range(3)})
    (own,) = one_ways(units, factors(3), 0.95)
    (given,) = one_ways(units, factors(3), 0.95, errors={"a": Error(4.0, 5.5)})
    half = critical((EQUAL,) * 2, 5.5, 0.95) * math.sqrt(4.0 * 2 / 3)
    assert [f.high for f in given.firsts] == pytest.approx([1 + half, 2 + half])
    assert [f.high for f in own.firsts] != pytest.approx([1 + half, 2 + half])
    assert given.pairs[0].high != own.pairs[0].high


def test_of_logarithms_the_percentage_is_that_of_the_values() -> None:
    units = frame({(k,): [math.log(2.0) * k - 0.1, math.log(2.0) * k + 0.1] for k in range(3)})
    (table,) = one_ways(units, factors(3), 0.95, log=True)
    assert [f.percent for f in table.firsts] == pytest.approx([1.0, 3.0])
