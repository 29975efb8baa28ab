import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import linalg, optimize

from gate.stats.design.quantile_fit import quantile_regression
from tests.support.seeds import seeds

Array = npt.NDArray[np.float64]


def objective(y: Array, design: Array, tau: float, beta: Array) -> float:
    residuals: list[float] = (y - design @ beta).tolist()
    return math.fsum(tau * r if r >= 0 else (tau - 1) * r for r in residuals)


def linear_programme(y: Array, design: Array, tau: float) -> float:
    """The least objective by HiGHS, in its textbook form: tau u + (1 - tau) v, y - design b = u - v; u, v >= 0.

    Columns and values are scaled before, and values centred, since HiGHS's tolerances are absolute.
    """
    n, p = design.shape
    scale = np.abs(design).max(axis=0)
    scaled = design / np.where(scale == 0, 1, scale)
    rest = y - scaled @ np.linalg.lstsq(scaled, y, rcond=None)[0]
    size = float(np.abs(rest).max()) or 1.0
    found = optimize.linprog(
        np.concatenate((np.zeros(p), np.full(n, tau), np.full(n, 1 - tau))),
        A_eq=np.hstack((scaled, np.eye(n), -np.eye(n))),
        b_eq=rest / size,
        bounds=[(None, None)] * p + [(0, None)] * (2 * n),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    assert found.fun is not None
    return float(found.fun) * size


def check(y: Array, design: Array, tau: float) -> Array:
    """The promise: the linear programme's objective to 1e-6 of it; rounding errors of y are below that."""
    beta = quantile_regression(y, design, tau)
    best = linear_programme(y, design, tau)
    assert objective(y, design, tau, beta) == pytest.approx(best, rel=1e-6, abs=1e-13 * float(np.abs(y).sum()))
    return beta


def continuous(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    return rng.normal(size=n), rng.normal(size=(n, p))


def heavy_tails(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    design = rng.normal(size=(n, p))
    design[:, 0] = 1
    return np.exp(3 * rng.normal(size=n)), design


def factorial_with_ties(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    return rng.integers(0, 5, n).astype(float), rng.choice([-1.0, 1.0], (n, p))


def repeated_rows(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    rows = rng.normal(size=(max(1, n // 4), p))
    return np.round(rng.normal(size=n), 1), rows[rng.integers(0, len(rows), n)]


def all_ones(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    return np.round(rng.lognormal(size=n), 1), np.ones((n, p))


def badly_scaled(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    design = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 7, p)
    design[:, 0] = 1
    return rng.normal(size=n) * 1e6 + 1e8, design


def perfect_fit(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    design = rng.normal(size=(n, p))
    return design @ rng.normal(size=p), design


def one_value_apart(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    return np.eye(n)[0], rng.normal(size=(n, p))


def indicators(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    design = np.eye(p)[rng.integers(0, p, n)]
    design[:, 0] = 1
    return np.round(rng.lognormal(size=n), 2), design


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize(
    "draw",
    [
        continuous, heavy_tails, factorial_with_ties, repeated_rows, all_ones, badly_scaled,
        perfect_fit, one_value_apart, indicators,
    ],
)  # fmt: skip
def test_the_objective_is_that_of_the_linear_programme(
    draw: Callable[[np.random.Generator, int, int], tuple[Array, Array]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 120)), int(rng.integers(1, 8))
    tau = [0.5, 0.1, 0.9, 0.99, 0.01, 1e-6, 1 - 1e-6, 1 / 3][seed % 8]
    y, design = draw(rng, n, p)
    # of full rank
    order = linalg.qr(design, mode="r", pivoting=True)[1]
    check(y, design[:, order[: np.linalg.matrix_rank(design)]], tau)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_against_statsmodels(tau: float) -> None:
    from statsmodels.regression.quantile_regression import QuantReg  # type: ignore[import-untyped] # it has no types

    rng = np.random.default_rng(7)
    design = np.column_stack((np.ones(400), rng.normal(size=(400, 3))))
    y = design @ [1.0, 2.0, -1.0, 0.5] + rng.gamma(2, 1, 400)
    theirs = QuantReg(y, design).fit(q=tau, p_tol=1e-10, max_iter=5000)
    ours = quantile_regression(y, design, tau)
    assert ours == pytest.approx(np.asarray(theirs.params), abs=1e-4)
    assert objective(y, design, tau, ours) <= objective(y, design, tau, np.asarray(theirs.params)) + 1e-9


@pytest.mark.parametrize(("tau", "expected"), [(0.1, 1.0), (0.3, 2.0), (0.5, 3.0), (0.7, 4.0), (0.9, 1e9)])
def test_an_intercept_alone_is_the_sample_quantile_to_the_last_bit(tau: float, expected: float) -> None:
    y = np.array([4.0, 1e9, 3.0, 1.0, 2.0])
    assert quantile_regression(y, np.ones((5, 1)), tau).tolist() == [expected]


def test_far_outliers_do_not_blur_the_bulk() -> None:
    rng = np.random.default_rng(1)
    y = np.concatenate((1e-8 * rng.normal(size=90), rng.choice([-1.0, 1.0], 11)))
    assert quantile_regression(y, np.ones((101, 1)), 0.5).tolist() == [np.sort(y)[50]]


def test_two_groups_are_their_two_quantiles() -> None:
    y = np.array([0.1, 0.7, 0.3, 0.2, 10.1, 10.5, 10.9])
    design = np.column_stack((np.ones(7), np.repeat([0.0, 1.0], [4, 3])))
    low, step = quantile_regression(y, design, 0.6)
    assert (low, low + step) == pytest.approx((0.3, 10.5))


def test_the_solution_moves_with_the_values_and_the_design() -> None:
    # the equivariances of Koenker and Bassett 1978
    rng = np.random.default_rng(5)
    y, design = heavy_tails(rng, 151, 3)
    plain = quantile_regression(y, design, 0.7)
    shift, mix = np.array([5.0, -2.0, 1.0]), rng.normal(size=(3, 3))
    assert quantile_regression(1e-9 * y, design, 0.7) == pytest.approx(1e-9 * plain)
    assert quantile_regression(-y, design, 1 - 0.7) == pytest.approx(-plain)
    assert quantile_regression(y + design @ shift, design, 0.7) == pytest.approx(plain + shift)
    assert mix @ quantile_regression(y, design @ mix, 0.7) == pytest.approx(plain)
    scale = np.array([1e8, 1e-8, 1.0])
    assert scale * quantile_regression(y, design * scale, 0.7) == pytest.approx(plain)


def test_as_many_values_as_columns_are_fitted_exactly() -> None:
    y, design = heavy_tails(np.random.default_rng(5), 151, 3)
    beta = quantile_regression(y, design, 0.7)
    assert (np.abs(y - design @ beta) < 1e-12 * y.max()).sum() == 3


@pytest.mark.parametrize("n", [10_000, pytest.param(100_000, marks=pytest.mark.endtoend)])
def test_large_and_ill_conditioned_is_still_a_minimum(n: int) -> None:
    rng = np.random.default_rng(8)
    design = np.column_stack((np.ones(n), 1e6 * rng.normal(size=n), rng.choice([-1.0, 1.0], (n, 7)), np.arange(n)))
    y: Array = np.asarray(np.round(np.exp(1 + 0.3 * design[:, 2] + rng.normal(size=n)), 2), dtype=np.float64)
    beta = quantile_regression(y, design, 0.95)
    r = y - design @ beta

    def rho(u: Array) -> float:
        return float(np.maximum(0.95 * u, -0.05 * u).sum())

    # a convex function has its minimum where no direction leads down
    for _ in range(15):
        direction = design @ (rng.normal(size=10) / np.abs(design).max(axis=0))
        for step in (1e-6, 1e-3):
            assert rho(r + step * direction) >= rho(r) * (1 - 1e-9)
    zero = np.abs(r) < 1e-9
    assert (r < -1e-9).sum() <= 0.95 * n <= (r < -1e-9).sum() + zero.sum()
