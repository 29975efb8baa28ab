import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import linalg

from gate.stats.centers import type8
from gate.stats.design import quantile_fit
from gate.stats.design.quantile_fit import by_treatment, clusters_of, fit, minimiser, quantile_regression, sparsity
from gate.stats.rounding import Array
from tests.support.programme import linear_programme
from tests.support.samples import there
from tests.support.seeds import seeds


def objective(y: Array, design: Array, tau: float, beta: Array) -> float:
    residuals: list[float] = (y - design @ beta).tolist()
    return math.fsum(tau * r if r >= 0 else (tau - 1) * r for r in residuals)


def check(y: Array, design: Array, tau: float) -> None:
    """The promise: the linear programme's objective to 1e-6 of it; rounding errors of y are below that."""
    beta = quantile_regression(y, design, tau)
    best, _ = linear_programme(y, design, tau)
    assert objective(y, design, tau, beta) == pytest.approx(best, rel=1e-6, abs=1e-13 * float(np.abs(y).sum()))


def heavy_tails(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    design = rng.normal(size=(n, p))
    design[:, 0] = 1
    return np.exp(3 * rng.normal(size=n)), design


def repeated_rows(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    rows = rng.normal(size=(max(1, n // 4), p))
    return np.round(rng.normal(size=n), 1), rows[rng.integers(0, len(rows), n)]


def badly_scaled(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    design = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 7, p)
    design[:, 0] = 1
    return rng.normal(size=n) * 1e6 + 1e8, design


def indicators(rng: np.random.Generator, n: int, p: int) -> tuple[Array, Array]:
    design = np.eye(p)[rng.integers(0, p, n)]
    design[:, 0] = 1
    return np.round(rng.lognormal(size=n), 2), design


DRAWS: dict[str, Callable[[np.random.Generator, int, int], tuple[Array, Array]]] = {
    "continuous": lambda rng, n, p: (rng.normal(size=n), rng.normal(size=(n, p))),
    "heavy tails": heavy_tails,
    "factorial with ties": lambda rng, n, p: (rng.integers(0, 5, n).astype(float), rng.choice([-1.0, 1.0], (n, p))),
    "repeated rows": repeated_rows,
    "all ones": lambda rng, n, p: (np.round(rng.lognormal(size=n), 1), np.ones((n, p))),
    "badly scaled": badly_scaled,
    "perfect fit": lambda rng, n, p: ((design := rng.normal(size=(n, p))) @ rng.normal(size=p), design),
    "one value apart": lambda rng, n, p: (np.eye(n)[0], rng.normal(size=(n, p))),
    "indicators": indicators,
}


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("name", DRAWS)
def test_the_objective_is_that_of_the_linear_programme(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 120)), int(rng.integers(1, 8))
    tau = [0.5, 0.1, 0.9, 0.99, 0.01, 1e-6, 1 - 1e-6, 1 / 3][seed % 8]
    y, design = DRAWS[name](rng, n, p)
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


@pytest.mark.parametrize("n", [1, 2, 7, 10, 100, 101])
@pytest.mark.parametrize("tau", [0.1, 0.5, 0.7, 0.99])
def test_of_all_minimisers_the_one_next_to_the_type_8_quantile(n: int, tau: float) -> None:
    y = np.sort(np.random.default_rng(n).lognormal(size=n))

    def cost(at: float) -> float:
        return math.fsum(tau * (v - at) if v >= at else (tau - 1) * (v - at) for v in y.tolist())

    best = min(cost(v) for v in y.tolist())
    minimisers = [v for v in y.tolist() if cost(v) <= best * (1 + 1e-12)]
    expected = min(max(type8(y, tau), minimisers[0]), minimisers[-1])
    assert minimiser(y, tau) == pytest.approx(expected, rel=1e-12)
    assert cost(minimiser(y, tau)) == pytest.approx(best, rel=1e-12, abs=1e-12)


@pytest.mark.endtoend
@pytest.mark.parametrize(("seed", "offset", "digits"), [(2, 1e6, 12), (3, 0.0, 1)])
def test_many_values_give_the_sum_of_the_whole_programme(seed: int, offset: float, digits: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2 * quantile_fit.SMALL
    place = np.concatenate((np.arange(5), rng.choice(5, n - 5, p=[0.5, 0.3, 0.1, 0.0999, 0.0001])))
    rows = np.array([[1.0, -1, -1], [1, -1, 1], [1, 1, -1], [1, 1, 1], [1, 1, 3]])
    y = np.round(offset + (1 + place) * rng.lognormal(size=n), digits)
    cells = by_treatment(y, place, np.arange(n) % 40)

    def cost(beta: Array, tau: float) -> float:
        r = y - rows[place] @ beta
        return float(np.maximum(tau * r, (tau - 1) * r).sum())

    for tau in (0.1, 0.5, 0.99):
        assert cost(fit(cells, rows, tau)[0], tau) == pytest.approx(
            cost(quantile_regression(y, rows[place], tau), tau), rel=1e-9
        )


def test_a_band_that_the_fit_leaves_is_made_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantile_fit, "SMALL", 20)
    rng = np.random.default_rng(5)
    place = np.repeat([0, 1, 2], 500)
    rows = np.array([[1.0, -1], [1, 0], [1, 1]])
    y = rng.normal(size=1500) ** 3 + 50 * (place == 1)
    cells = by_treatment(y, place, place)
    sizes = []

    def misled(y: Array, design: Array, tau: float) -> Array:
        # the fit of a part of the values, from which the bands start, is far off
        sizes.append(len(y))
        return quantile_regression(y, design, tau) if len(sizes) > 1 else np.array([-100.0, 0.0])

    monkeypatch.setattr(quantile_fit, "quantile_regression", misled)
    residuals = [
        y - rows[place] @ beta for beta in (fit(cells, rows, 0.7)[0], quantile_regression(y, rows[place], 0.7))
    ]
    sums = [float(np.maximum(0.7 * r, -0.3 * r).sum()) for r in residuals]
    assert sums[0] == pytest.approx(sums[1], rel=1e-10)
    assert sizes[-1] > sizes[1]


def test_groups_of_treatments_that_share_clusters() -> None:
    # a varies between builds, b within: builds 0 to 2 have a0, builds 3 to 6 have a1
    rows = [(a, b, build) for a, b in product(range(2), range(2)) for build in (range(3) if a == 0 else range(3, 7))]
    place = np.repeat([2 * a + b for a, b, _ in rows], 10)
    cells = by_treatment(np.arange(140.0), place, np.repeat([build for *_, build in rows], 10))
    found = clusters_of(cells)
    assert sorted(found.df.tolist()) == [2, 3]
    assert found.shared.all() and len(found.group) == 7
    assert found.df[found.group].tolist() == [2, 2, 2, 3, 3, 3, 3]


def test_the_sparsity_gives_the_standard_errors_that_r_prints() -> None:
    from statsmodels import datasets  # type: ignore[import-untyped] # it has no types

    # summary(rq(foodexp ~ income, data = engel), se = "iid") of R's quantreg: value, standard error, t value
    printed = np.array([(81.48225, 13.23908, 6.15468), (0.56018, 0.01192, 46.99766)])
    data = datasets.engel.load_pandas().data
    y = data["foodexp"].to_numpy(dtype=np.float64)
    design = np.column_stack((np.ones(len(y)), data["income"].to_numpy(dtype=np.float64)))
    beta = quantile_regression(y, design, 0.5)
    errors = there(sparsity(y - design @ beta, 0.5, 2)) * np.sqrt(0.25 * np.diag(np.linalg.inv(design.T @ design)))
    assert np.column_stack((beta, errors, beta / errors)) == pytest.approx(printed, abs=6e-6)
