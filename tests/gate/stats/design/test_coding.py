"""Effect coding: against patsy's, and what it does where treatments are lacking."""

from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from gate.stats.design.coding import coded, contrasts
from gate.stats.rounding import Array

Codes = npt.NDArray[np.int64]


def full(*sizes: int) -> Codes:
    return np.array(list(product(*map(range, sizes))), dtype=np.int64).reshape(-1, len(sizes))


def by_formula(codes: Codes, order: int) -> Array:
    """The design matrix of patsy's Sum contrasts that leave out the first setting, terms in our order."""
    from statsmodels.regression.linear_model import OLS  # type: ignore[import-untyped] # it has no types

    k = codes.shape[1]
    names = [f"C(f{i}, Sum(omit=0))" for i in range(k)]
    terms = [":".join(chosen) for size in range(1, order + 1) for chosen in combinations(names, size)]
    frame = pd.DataFrame({f"f{i}": codes[:, i] for i in range(k)} | {"y": np.zeros(len(codes))})
    model = OLS.from_formula(f"y ~ {' + '.join(terms)}", frame)
    columns = dict(zip(model.exog_names, model.exog.T, strict=True))
    # patsy runs the first factor of an interaction fastest, we the last
    return np.column_stack([columns[name] for name in sorted(columns, key=_rank)])


def _rank(name: str) -> tuple[int, list[int], list[str]]:
    if name == "Intercept":
        return 0, [], []
    parts = name.split(":")
    return len(parts), [int(part[3 : part.index(",")]) for part in parts], [part[part.index("[") :] for part in parts]


@pytest.mark.parametrize(("sizes", "order"), [((2,), 1), ((2, 2, 2), 3), ((3, 2, 2), 2), ((3, 4), 2), ((2, 3, 3), 3)])
def test_the_matrix_is_that_of_a_formula(sizes: tuple[int, ...], order: int) -> None:
    rng = np.random.default_rng(3)
    codes = full(*sizes)[rng.permutation(np.repeat(np.arange(int(np.prod(sizes))), rng.integers(1, 4, np.prod(sizes))))]
    found = coded(codes, sizes, order)
    assert found.left_out == ()
    assert np.array_equal(found.matrix, by_formula(codes, order))


@pytest.mark.parametrize("sizes", [(2, 3), (3, 4, 2), (5,), (2, 2, 3)])
def test_contrasts_give_back_what_a_term_adds(sizes: tuple[int, ...]) -> None:
    # of a term with coefficients b, its columns times b are what it adds in each treatment
    rng = np.random.default_rng(1)
    codes = full(*sizes)
    found = coded(codes, sizes, len(sizes))
    for term in found.terms[1:]:
        b = rng.normal(size=term.stop - term.start)
        added = found.matrix[:, term.start : term.stop] @ b
        for settings, weights in contrasts(term.factors, sizes):
            at = np.all([codes[:, f] == code for f, code in settings.items()], axis=0)
            assert added[at] == pytest.approx(np.full(at.sum(), np.dot(weights, b)))


def test_columns_are_independent_whatever_is_lacking() -> None:
    # the literal twin: the rank of the matrix, by singular values
    rng = np.random.default_rng(5)
    for _ in range(200):
        sizes = rng.integers(1, 4, size=rng.integers(1, 5)).tolist()
        rows = full(*sizes)
        codes = rows[rng.random(len(rows)) < rng.uniform(0.2, 1)]
        if not len(codes):
            continue
        found = coded(codes, sizes, 3)
        assert np.linalg.matrix_rank(found.matrix) == found.matrix.shape[1] <= len(codes)
        terms = [term.factors for term in found.terms]
        # an interaction stands only with all that it holds
        for factors in terms:
            assert all(part in terms for size in range(len(factors)) for part in combinations(factors, size))
        count = sum(len(list(combinations(range(len(sizes)), size))) for size in range(1, min(3, len(sizes)) + 1))
        assert len(terms) - 1 + len(found.left_out) == count
        # what is left out would have added less than all of its columns
        for factors in found.left_out:
            columns = np.prod([sizes[f] - 1 for f in factors])
            if not columns or any(
                part in found.left_out for size in range(len(factors)) for part in combinations(factors, size)
            ):
                continue
            own = coded(full(*[sizes[f] for f in factors]), [sizes[f] for f in factors], len(factors))
            at = np.ravel_multi_index(codes[:, list(factors)].T, [sizes[f] for f in factors])
            before = [term for term in found.terms if (len(term.factors), term.factors) < (len(factors), factors)]
            both = np.hstack((found.matrix[:, : before[-1].stop], own.matrix[at, own.terms[-1].start :]))
            assert np.linalg.matrix_rank(both) < both.shape[1]


def test_the_smallest_designs() -> None:
    # a factor of one setting is left out with its interactions
    found = coded(full(1, 2), [1, 2], 2)
    assert found.left_out == ((0,), (0, 1))
    assert found.matrix.tolist() == [[1, -1], [1, 1]]
    # order zero and no factors leave the intercept
    assert coded(full(2, 2), [2, 2], 0).matrix.tolist() == [[1.0]] * 4
    assert coded(np.zeros((3, 0), dtype=np.int64), [], 2).matrix.tolist() == [[1.0]] * 3
