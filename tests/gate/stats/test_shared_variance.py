"""The variance that cases share, against the formulas written out, and where it is not used."""

import math

import msgspec
import numpy as np
import pytest
from scipy import special, stats

from gate.stats.round_ratio import Rounds, rounds_of
from gate.stats.shared_variance import FEWEST_CASES, expected_degrees, share_variance
from tests.support.samples import there, tops


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
