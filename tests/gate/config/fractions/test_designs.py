"""Tables of designs against the published ones, and that what they promise holds for the runs themselves."""

import numpy as np
import pytest

from gate.config.fractions import (
    LARGEST_BURMAN,
    MOST_TABLED,
    Run,
    Word,
    burman_runs,
    burman_size,
    fraction_runs,
    generator,
    minimum_aberration,
    subgroup,
)

TABLED = [
    (factors, generated)
    for factors in range(3, MOST_TABLED + 1)
    for generated in range(1, factors)
    if minimum_aberration(factors, generated) is not None
]


def words(factors: int, generated: int) -> tuple[Word, ...]:
    found = minimum_aberration(factors, generated)
    assert found is not None
    return subgroup(own.word for own in found)


def signs(runs: list[Run]) -> np.ndarray:
    return 2 * np.array(runs) - 1


def test_what_is_not_tabled() -> None:
    # 2 runs separate nothing, 4 runs three factors, 8 runs seven
    assert [minimum_aberration(*size) for size in ((2, 1), (3, 2), (4, 2), (8, 5), (12, 2))] == [None] * 5
    assert minimum_aberration(20, 1) is not None


@pytest.mark.parametrize(("factors", "generated"), TABLED)
def test_runs_of_a_fraction_are_orthogonal(factors: int, generated: int) -> None:
    found = minimum_aberration(factors, generated)
    assert found is not None
    runs = fraction_runs(factors, found)
    count = 2 ** (factors - generated)
    assert len(set(runs)) == len(runs) == count
    assert runs == sorted(runs)
    columns = signs(runs)
    assert np.array_equal(columns.T @ columns, count * np.eye(factors))
    assert not columns.sum(axis=0).any()
    for word in words(factors, generated):
        assert np.array_equal(columns[:, list(word.places)].prod(axis=1), [word.sign] * count)


def test_runs_in_standard_order() -> None:
    names = tuple("ABC")
    # C is +1 where A and B are alike
    assert fraction_runs(3, [generator("C=AB", names)]) == [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    assert fraction_runs(3, [generator("C=-AB", names)]) == [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    # a factor other than the last can be the generated one
    assert fraction_runs(3, [generator("A=BC", names)]) == [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]


@pytest.mark.parametrize("factors", range(2, LARGEST_BURMAN + 1))
def test_plackett_burman_designs_are_orthogonal_and_balanced(factors: int) -> None:
    runs = burman_runs(factors)
    size = burman_size(factors)
    assert len(set(runs)) == len(runs) == size
    columns = signs(runs)
    assert columns.shape == (size, factors)
    assert np.array_equal(columns.T @ columns, size * np.eye(factors))
    assert not columns.sum(axis=0).any()


def test_plackett_burman_designs_have_the_next_multiple_of_four_runs_that_there_is() -> None:
    assert [burman_size(factors) for factors in (2, 3, 4, 7, 8, 11, 12, 47)] == [4, 4, 8, 8, 12, 12, 16, 48]
    every = sorted({burman_size(factors) for factors in range(2, LARGEST_BURMAN + 1)})
    assert every == [*range(4, 25, 4), 32, 40, 44, 48]


@pytest.mark.parametrize(
    ("factors", "row"),
    [(11, "++-+++---+-"), (19, "++--++++-+-+----++-"), (23, "+++++-+-++--++--+-+----")],
)
def test_cyclic_designs_have_the_printed_generating_row(factors: int, row: str) -> None:
    # Plackett and Burman 1946; a rotation or its reverse is the same design with its factors in another order
    rows = {"".join("-+"[setting] for setting in run) for run in burman_runs(factors)}
    turned = {row[place:] + row[:place] for place in range(factors)}
    assert "-" * factors in rows
    assert rows - {"-" * factors} in (turned, {each[::-1] for each in turned})
