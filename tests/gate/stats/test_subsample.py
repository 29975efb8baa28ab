import numpy as np

from gate.stats.subsample import of_builds, of_rounds
from tests.support.simulate import normal, sample


def test_some_builds_of_a_sample() -> None:
    whole = sample(np.random.default_rng(1), normal, (0.1, 0.1, 0.1), (4, 3, 2))
    part = of_builds(whole, {(0, 1), (0, 3), (0, 9)}.__contains__)
    assert part.builds == ((0, 1), (0, 3))
    assert part.values.tolist() == [*whole.values[6:12], *whole.values[18:24]]
    assert [counts.tolist() for counts in part.counts] == [[2] * 6, [3, 3], [2]]
    none = of_builds(whole, set().__contains__)
    assert [len(counts) for counts in none.counts] == [0, 0, 0]
    assert of_builds(whole, lambda build: True) is whole


def test_the_first_rounds_of_a_sample() -> None:
    whole = sample(np.random.default_rng(1), normal, (0.1, 0.1, 0.1), (4, 3, 2))
    assert of_rounds(whole, None) is of_rounds(whole, 4) is whole
    assert of_rounds(whole, 3).values.tolist() == whole.values[:18].tolist()
