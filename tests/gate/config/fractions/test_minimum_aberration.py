"""The table of fractions against published word lengths, and against all other generators."""

from collections import Counter

import pytest

from gate.config.fractions import minimum_aberration, subgroup

# A3, A4, ...: Chen, Sun and Wu 1993, and Wu and Hamada, Experiments, appendix 5A
PUBLISHED = {
    (3, 1): [1],
    (4, 1): [0, 1],
    (5, 2): [2, 1],
    (6, 3): [4, 3],
    (7, 4): [7, 7, 0, 0, 1],
    (5, 1): [0, 0, 1],
    (6, 2): [0, 3],
    (7, 3): [0, 7],
    (8, 4): [0, 14, 0, 0, 0, 1],
    (9, 5): [4, 14, 8, 0, 4, 1],
    (10, 6): [8, 18, 16, 8, 8, 5],
    (11, 7): [12, 26, 28, 24, 20, 13, 4],
    (6, 1): [0, 0, 0, 1],
    (7, 2): [0, 1, 2],
    (8, 3): [0, 3, 4],
    (9, 4): [0, 6, 8, 0, 0, 1],
    (10, 5): [0, 10, 16, 0, 0, 5],
    (11, 6): [0, 25, 0, 27, 0, 10, 0, 1],
    (7, 1): [0, 0, 0, 0, 1],
    (8, 2): [0, 0, 2, 1],
    (9, 3): [0, 1, 4, 2],
    (10, 4): [0, 2, 8, 4, 0, 1],
    (11, 5): [0, 4, 14, 8, 0, 3, 2],
    (8, 1): [0, 0, 0, 0, 0, 1],
    (9, 2): [0, 0, 0, 3],
    (10, 3): [0, 0, 3, 3, 1],
    (11, 4): [0, 0, 6, 6, 2, 1],
}


def pattern(count: int, generated: int) -> list[int]:
    made = minimum_aberration(count, generated)
    assert made is not None
    lengths = Counter(map(len, subgroup(own.word for own in made)))
    return [lengths.get(n, 0) for n in range(3, max(lengths) + 1)]


@pytest.mark.parametrize(("count", "generated"), PUBLISHED)
def test_the_table_has_the_published_word_lengths(count: int, generated: int) -> None:
    assert pattern(count, generated) == PUBLISHED[count, generated]
