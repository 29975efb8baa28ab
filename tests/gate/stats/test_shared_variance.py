"""The log ratio of rounds against scipy's paired t test, and what is known of its variance and of unlike sides."""

import math

import msgspec
import numpy as np
import pytest
from scipy import special, stats

from gate.commands.simulate.draws import SHAPES
from gate.stats.diagnostics import DISTANCE_LEVEL, F_LEVEL, wider
from gate.stats.planning import INDEPENDENT, KEYED, UNKNOWN, is_paired
from gate.stats.prior import least_correlation
from gate.stats.ratio import Rounds, rounds_of
from gate.stats.rounding import Array
from gate.stats.shared_variance import FEWEST_CASES, expected_degrees, share_variance
from tests.support.samples import there, tops
from tests.support.seeds import some

BASE = [1.02, 1.10, 0.95, 1.01, 1.06]
HEAD = [1.10, 1.17, 1.05, 1.11, 1.12]


def test_it_is_the_paired_t_test_of_logarithms() -> None:
    found = there(rounds_of(tops(BASE), tops(HEAD)))
    test = stats.ttest_rel(np.log(HEAD), np.log(BASE))
    limits, wanted = found.pair(found.contrast, found.df).limits(0.05), test.confidence_interval(0.95)
    assert (limits.low, limits.high) == pytest.approx((math.exp(wanted.low), math.exp(wanted.high)))
    assert found.pair(found.contrast, found.df).p(1.0, "above") == pytest.approx(test.pvalue)
    assert found.correlation == pytest.approx(float(np.corrcoef(np.log(BASE), np.log(HEAD))[0, 1]))
    assert found.total == pytest.approx(float((np.log(BASE) + np.log(HEAD)).var(ddof=1)))


def test_what_is_left_out_and_what_has_no_rounds() -> None:
    # base has rounds 0 to 4, head 1 to 5
    found = there(rounds_of(tops(BASE), tops([*HEAD[1:], 9.0], first=1)))
    assert found.count == 4
    assert found.ratio == pytest.approx(float(np.mean(np.log(HEAD[1:]) - np.log(BASE[1:]))))
    # what has no logarithm, or no partner
    assert rounds_of(tops([0.0, 1.0]), tops([1.0, 1.0])) is None
    assert rounds_of(tops([1.0, 1.0]), tops([1.0, 1.0], first=2)) is None
    one = there(rounds_of(tops([1.0]), tops([1.1])))
    assert one.df == 0 and one.pair(one.contrast, one.df).logs.df is None
    # a coarse timer leaves a variance:
    # sides that move alike, in ticks of 0.1
    found = there(rounds_of(tops([1.0, 1.1, 1.2], gap=0.1), tops([1.0, 1.1, 1.2], gap=0.1)))
    steps = float(np.mean((0.1 / np.array([1.0, 1.1, 1.2])) ** 2))
    assert found.contrast == pytest.approx(2 * steps / 12)
    # logarithms of quantiles are taken as they are
    plain = there(rounds_of(tops(BASE), tops(HEAD)))
    logs = there(rounds_of(tops(np.log(BASE), log=True), tops(np.log(HEAD), log=True)))
    assert (plain.ratio, plain.contrast) == pytest.approx((logs.ratio, logs.contrast))


def test_which_rounds_are_paired_beforehand() -> None:
    # six are always paired, fewer where it pays
    assert all(is_paired(6, 0.05, m, UNKNOWN) for m in (1, 20, 1000))
    assert not is_paired(1, 0.05, 1, KEYED)
    # 1 - (t(20/3)/t(4))^2 is 0.26 at 0.025 and 0.54 at 0.00125: t is 2.388, 2.776 and 4.583, 6.758
    assert is_paired(5, 0.05, 1, UNKNOWN)
    assert is_paired(5, 0.05, 20, KEYED)
    assert not is_paired(5, 0.05, 20, INDEPENDENT)
    assert pytest.approx(0.540, abs=0.001) == 1 - (4.5828 / 6.7583) ** 2
    # a remembered correlation counts with its error:
    # Fisher's z of 0.8 is 1.0986, and 1.2816/sqrt(7) less is 0.6142
    assert least_correlation(0.8, 10) == pytest.approx(math.tanh(1.0986 - 1.2816 / math.sqrt(7)), abs=1e-4)
    assert least_correlation(0.9, 3) == 0.0
    assert least_correlation(-0.5, 40) == 0.0


# --- the variance that cases share, against the formulas written out --------------------------------------------------


def drawn(rng: np.random.Generator, sds: list[float], rounds: int = 5) -> list[Rounds]:
    return [there(rounds_of(*(tops(1 + rng.normal(0, sd, rounds)) for _ in range(2)))) for sd in sds]


def prior(q: list[float], cases: list[Rounds]) -> tuple[float, list[float]]:
    """Degrees and size for each case, by the formulas of docs/method.md, one number at a time."""
    e = []
    for size, case in zip(q, cases, strict=True):
        d = case.count - 1
        e.append(math.log(case.contrast / size) - float(special.digamma(d / 2)) + math.log(d / 2))
    noise = sum(float(special.polygamma(1, (case.count - 1) / 2)) for case in cases) / len(cases)
    x = float(np.var(e, ddof=1)) - noise
    if x <= 0:
        return math.inf, [size * math.exp(sum(e) / len(e)) for size in q]
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if float(special.polygamma(1, middle)) > x else (low, middle)
    delta = 2 * low
    shift = float(special.digamma(delta / 2)) - math.log(delta / 2)
    return delta, [size * math.exp(sum(e) / len(e) + shift) for size in q]


@pytest.mark.parametrize("seed", range(8))
def test_against_the_formulas_as_they_are_written(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cases = drawn(rng, [0.01, 0.02, 0.05, 0.01, 0.03, 0.02, 0.004][: int(rng.integers(5, 8))], int(rng.integers(3, 9)))
    one, plain = prior([1.0] * len(cases), cases)
    other, relative = prior([case.total for case in cases], cases)
    d0 = 1 / (1 / min(one, other, 8.0) + 2 / sum(case.count - 1 for case in cases))
    found = there(share_variance(cases))
    for case, size, other_size, each in zip(cases, plain, relative, found, strict=True):
        d, s0 = case.count - 1, max(size, other_size)
        used = case.contrast / s0 <= stats.f.ppf(0.9, d, d0)
        assert each.used == used
        assert each.df == pytest.approx(d0 + d if used else d, rel=1e-6)
        expected = (d0 * s0 + d * case.contrast) / (d0 + d) if used else case.contrast
        assert each.variance == pytest.approx(expected, rel=1e-6)


def test_a_case_that_is_much_noisier_goes_by_its_own_rounds() -> None:
    # layouts are common to both sides, but for the last case
    quiet = Rounds(center=0.0, ratio=0.0, contrast=1e-4, total=4e-3, base=1e-3, head=1e-3, count=5)
    cases = [msgspec.structs.replace(quiet, contrast=quiet.contrast * (1 + k / 10)) for k in range(9)]
    found = there(share_variance([*cases, msgspec.structs.replace(quiet, contrast=2e-3)]))
    assert [each.used for each in found] == [True] * 9 + [False]
    assert found[-1].df == 4


def test_too_few_cases_share_nothing_and_a_plan_expects_it() -> None:
    rng = np.random.default_rng(2)
    assert share_variance(drawn(rng, [0.01] * (FEWEST_CASES - 1))) is None
    assert share_variance(drawn(rng, [0.01] * FEWEST_CASES)) is not None
    expected = [expected_degrees(cases, rounds) for cases, rounds in ((4, 5), (20, 1), (20, 5))]
    assert expected == [0, 0, pytest.approx(0.5 / (1 / 8 + 2 / 80))]


# --- unlike spreads of builds, against scipy --------------------------------------------------------------------------


def literal(base: Array, head: Array) -> bool:
    x, y = base / base.mean(), head / head.mean()
    f = np.var(x, ddof=1) / np.var(y, ddof=1)
    d = (len(x) - 1, len(y) - 1)
    p_variances = 2 * min(stats.f.sf(f, *d), stats.f.cdf(f, *d))
    away = []
    for side in (x, y):
        distances = sorted(abs(value - float(np.median(side))) for value in side)
        if len(side) % 2 == 0:
            distances[1] *= math.sqrt(2)
        away.append(distances[1:])
    return bool(p_variances < F_LEVEL and stats.f_oneway(*away).pvalue < DISTANCE_LEVEL)


def test_both_tests_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    found = set()
    for _ in range(300):
        base = rng.normal(10, 0.1, rng.integers(5, 13))
        head = rng.normal(30, 0.3 * rng.choice([1, 3, 6]), rng.integers(5, 13))
        told = wider(tops(base), tops(head))
        assert (told is not None) == literal(base, head)
        found.add(told is not None)
        if told is not None:
            times = float(np.std(head / head.mean(), ddof=1) / np.std(base / base.mean(), ddof=1))
            assert told[0] == ("head" if times > 1 else "base")
            assert told[1] == pytest.approx(max(times, 1 / times))
    assert found == {True, False}


def test_what_has_no_spread_to_compare() -> None:
    steps, flat = np.array([1.0, 1.1] * 4), np.ones(8)
    assert wider(tops(flat), tops(flat)) is None
    assert wider(tops(flat), tops(steps)) == ("head", None)
    assert wider(tops(steps - 1.5), tops(steps)) is None
    assert wider(tops(steps[:4]), tops(np.array([1.0, 9.0, 5.0, 2.0]))) is None
    # a timer's step hides what base's builds differ by
    rng = np.random.default_rng(2)
    base, head = rng.normal(1, 0.001, 10), rng.normal(1, 0.01, 10)
    assert wider(tops(base), tops(head)) is not None
    assert wider(tops(base, gap=0.02), tops(head)) is None
    # of logarithms a common factor is no spread
    told = there(wider(tops(base, log=True), tops(head + 7, log=True)))
    assert told[1] == pytest.approx(np.std(head) / np.std(base))


@pytest.mark.parametrize("count", some([6, 5, 8, 12], 1))
def test_sides_that_are_alike_are_rarely_called_unlike(count: int) -> None:
    # of builds in two layouts 20:80 six may well all be of one kind on one side, and not on the other
    most = {"bimodal 20:80": 0.035 if count == 6 else 0.025}
    shares = []
    for shape in SHAPES:
        rng, alarms = np.random.default_rng(count), 0
        for _ in range(1500):
            base, head = (1 + 0.02 * shape.draw(rng, (count,)) + 0.002 * rng.normal(size=count) for _ in range(2))
            alarms += wider(tops(base), tops(head)) is not None
        share = alarms / 1500
        shares.append(share)
        assert share <= most.get(shape.name, 0.01) + 0.006, shape.name
    assert np.mean(shares) < 0.015


def test_a_layout_that_only_base_has_is_seen_from_eight_builds_on() -> None:
    rng = np.random.default_rng(3)
    shape = next(shape for shape in SHAPES if shape.name == "bimodal 50:50")
    five, eight, twelve = (
        sum(wider(tops(1 + 0.05 * shape.draw(rng, (n,))), tops(rng.normal(1, 0.01, n))) is not None for _ in range(400))
        for n in (5, 8, 12)
    )
    assert twelve > 0.75 * 400 and eight > 0.4 * 400 and eight > five
