"""Tables of two-level designs: minimum aberration fractions and Plackett-Burman designs."""

from __future__ import annotations

from collections.abc import Sequence

from gate.config.fractions.words import Generator, Word

_COLUMNS = {
    (3, 1): (3,),
    (4, 1): (7,),
    (5, 2): (3, 5),
    (6, 3): (3, 5, 6),
    (7, 4): (3, 5, 6, 7),
    (5, 1): (15,),
    (6, 2): (7, 11),
    (7, 3): (7, 11, 13),
    (8, 4): (7, 11, 13, 14),
    (9, 5): (3, 5, 9, 14, 15),
    (10, 6): (3, 5, 6, 9, 14, 15),
    (11, 7): (3, 5, 6, 9, 10, 13, 14),
    (7, 2): (7, 27),
    (8, 3): (7, 11, 29),
    (9, 4): (7, 11, 19, 29),
    (10, 5): (7, 11, 19, 29, 30),
    (11, 6): (7, 11, 13, 19, 21, 25),
    (8, 2): (15, 51),
    (9, 3): (7, 27, 45),
    (10, 4): (7, 27, 43, 53),
    (11, 5): (7, 11, 29, 45, 51),
    (9, 2): (31, 103),
    (10, 3): (15, 51, 85),
    (11, 4): (15, 51, 85, 106),
}
"""(factors, generated ones) -> their columns by Yates' numbers, of which bit 0 is the first factor, bit 1 the second.

Chen, Sun and Wu, A catalogue of two-level and three-level fractional factorial designs with small runs, International
Statistical Review 61 (1993); with 128 runs by search.
"""
MOST_TABLED = 11
LARGEST_BURMAN = 47
"""Most factors of a Plackett-Burman design."""

Run = tuple[int, ...]
"""The setting of each factor in a run, 0 or 1."""


def minimum_aberration(factors: int, generated: int) -> tuple[Generator, ...] | None:
    """Return the generators of the fraction 1/2^generated with the fewest short words; None: it is not tabled.

    The first factors are the basic ones, the last `generated` their products.
    """
    basic = factors - generated
    columns = (2**basic - 1,) if generated == 1 else _COLUMNS.get((factors, generated))
    if columns is None or basic < 2:
        return None
    return tuple(Generator(basic + place, Word(column)) for place, column in enumerate(columns))


def fraction_runs(factors: int, generators: Sequence[Generator]) -> list[Run]:
    """Return the runs of a fraction in standard order.

    Args:
        generators: of products of basic factors, those that no generator makes.
    """
    made = {own.factor: own.product for own in generators}
    basic = [place for place in range(factors) if place not in made]
    runs = []
    for number in range(2 ** len(basic)):
        bits = {place: number >> (len(basic) - 1 - at) & 1 for at, place in enumerate(basic)}
        runs.append(tuple(bits[p] if p in bits else _product(made[p], bits) for p in range(factors)))
    return sorted(runs)


def _product(word: Word, bits: dict[int, int]) -> int:
    low = sum(1 - bits[place] for place in word.places) + (word.sign < 0)
    return 1 - low % 2


def burman_size(factors: int) -> int:
    """Return the runs of the Plackett-Burman design for so many factors: the next multiple of 4."""
    return 4 * (factors // 4 + 1)


def burman_runs(factors: int) -> list[Run]:
    """Return the runs of the Plackett-Burman design for up to 47 factors: the first columns of a Hadamard matrix.

    4, 8, 12, 20, 24, 44 and 48 runs are cyclic by quadratic residues, as Plackett and Burman print them; 16, 32 and 40
    double a smaller design, as theirs do; 28 and 36 are Paley's second construction, where theirs are others.
    """
    size = burman_size(factors)
    signs = _hadamard(size)
    # the rows of a Hadamard matrix whose first column is 1; what is -1 there is the low setting
    return [tuple((1 + sign) // 2 for sign in row[1 : factors + 1]) for row in signs]


def _hadamard(size: int) -> list[list[int]]:
    """Return a Hadamard matrix whose first column is 1."""
    prime = size - 1
    if size % 4 == 0 and _is_prime(prime):
        first = [1 if j == 0 or j in _residues(prime) else -1 for j in range(prime)]
        # each row is the one before it, moved on by one
        rows = [[first[(j - i) % prime] for j in range(prime)] for i in range(prime)]
        return [[1, *row] for row in [*rows, [-1] * prime]]
    prime = size // 2 - 1
    if _is_prime(prime) and prime % 4 == 1:
        return _second(prime)
    half = _hadamard(size // 2)
    return [[*row, *row] for row in half] + [[*row, *(-sign for sign in row)] for row in half]


def _second(prime: int) -> list[list[int]]:
    """Return Paley's second matrix: 0 and signs of the symmetric conference matrix become blocks of two by two."""
    squares = _residues(prime)
    count = prime + 1
    core = [
        [0 if i == j else 1 if 0 in (i, j) or (i - j) % prime in squares else -1 for j in range(count)]
        for i in range(count)
    ]
    zero, plus = ((1, -1), (-1, -1)), ((1, 1), (1, -1))
    matrix = [
        [sign * block[k] if sign else zero[r][k] for sign in row for block in [plus[r]] for k in (0, 1)]
        for row in core
        for r in (0, 1)
    ]
    return [[sign * row[0] for sign in row] for row in matrix]


def _residues(prime: int) -> set[int]:
    return {j * j % prime for j in range(1, prime)}


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
