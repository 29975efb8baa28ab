"""Fractions of two-level designs: their defining words, the published tables, the runs, and what [study] chooses."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest

from gate.config.fractions import (
    LARGEST_BURMAN,
    MOST_TABLED,
    Fraction,
    Run,
    Word,
    burman_runs,
    burman_size,
    fraction_of,
    fraction_runs,
    generator,
    minimum_aberration,
    model_order,
    roman,
    subgroup,
)
from gate.config.study import Study
from gate.config.treatments import combinations, treatments
from gate.config.types import BuildTable
from tests.gate.config import reading

# --- words ------------------------------------------------------------------------------------------------------------

NAMES = ("clients", "load", "policy", "rate", "opt", "pages", "numa")


def words(*texts: str) -> list[str]:
    return [word.named() for word in subgroup(generator(text, tuple("ABCDEFG")).word for text in texts)]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("D=AB", "D=AB"),
        (" D = BA ", "D=AB"),
        ("D=-AB", "D=-AB"),
        ("D=+AB", "D=AB"),
        ("D = - ABC", "D=-ABC"),
        # twice the same factor is 1
        ("D=AABC", "D=BC"),
    ],
)
def test_generators_by_letters(text: str, written: str) -> None:
    assert generator(text, NAMES).named() == written


def test_letters_are_names_where_all_names_are_letters() -> None:
    assert generator("x=yz", ("z", "y", "x")).named() == "C=AB"
    # I is the word without a factor, so that the ninth letter is J
    assert generator("J=AB", tuple(f"f{number}" for number in range(9))).factor == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(text, 'is not a generator: write "D=AB"') for text in ("", "D", "DAB", "=AB", "D=", "D=-", "DE=AB", "D=A:B", "rate=AB")],
        ("D=A", "A is a product of fewer than two factors, which could not be told apart"),
        ("D=AA", "AA is a product of fewer than two factors, which could not be told apart"),
        ("D=AX", '"X" is no letter of a factor with two settings; there are A=clients, B=load, C=policy, D=rate, E=opt, F=pages, G=numa'),
    ],
)  # fmt: skip
def test_what_is_no_generator(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        generator(text, NAMES)


def test_defining_words() -> None:
    # a product has the factors that only one word has
    assert (Word(0b0111) * Word(0b1110, -1)).named() == "-AD"
    assert Word(0b101, -1) * Word(0b101, -1) == Word(0)
    assert Word(0b1001).places == (0, 3)
    # Montgomery, Design and Analysis of Experiments: 2^(6-2) IV with E=ABC, F=BCD; I = ABCE = BCDF = ADEF
    assert words("E=ABC", "F=BCD") == ["ABCE", "ADEF", "BCDF"]
    # the product of two words of the other half is positive again
    assert words("E=-ABC", "F=-BCD") == ["-ABCE", "ADEF", "-BCDF"]
    assert words() == []
    assert " ".join(roman(number) for number in (3, 4, 5, 6, 8, 9, 10, 14)) == "III IV V VI VIII IX X XIV"


# --- tables -----------------------------------------------------------------------------------------------------------

# A3, A4, ...: Chen, Sun and Wu 1993, and Wu and Hamada, Experiments, appendix 5A
PUBLISHED = {
    (3, 1): [1], (4, 1): [0, 1], (5, 2): [2, 1], (6, 3): [4, 3], (7, 4): [7, 7, 0, 0, 1], (5, 1): [0, 0, 1],
    (6, 2): [0, 3], (7, 3): [0, 7], (8, 4): [0, 14, 0, 0, 0, 1], (9, 5): [4, 14, 8, 0, 4, 1],
    (10, 6): [8, 18, 16, 8, 8, 5], (11, 7): [12, 26, 28, 24, 20, 13, 4], (6, 1): [0, 0, 0, 1], (7, 2): [0, 1, 2],
    (8, 3): [0, 3, 4], (9, 4): [0, 6, 8, 0, 0, 1], (10, 5): [0, 10, 16, 0, 0, 5], (11, 6): [0, 25, 0, 27, 0, 10, 0, 1],
    (7, 1): [0, 0, 0, 0, 1], (8, 2): [0, 0, 2, 1], (9, 3): [0, 1, 4, 2], (10, 4): [0, 2, 8, 4, 0, 1],
    (11, 5): [0, 4, 14, 8, 0, 3, 2], (8, 1): [0, 0, 0, 0, 0, 1], (9, 2): [0, 0, 0, 3], (10, 3): [0, 0, 3, 3, 1],
    (11, 4): [0, 0, 6, 6, 2, 1],
}  # fmt: skip


def test_the_table_has_the_published_word_lengths() -> None:
    for fraction, published in PUBLISHED.items():
        lengths = Counter(map(len, words_of(*fraction)))
        assert [lengths.get(n, 0) for n in range(3, max(lengths) + 1)] == published, fraction


TABLED = [
    (factors, generated)
    for factors in range(3, MOST_TABLED + 1)
    for generated in range(1, factors)
    if minimum_aberration(factors, generated) is not None
]


def words_of(factors: int, generated: int) -> tuple[Word, ...]:
    found = minimum_aberration(factors, generated)
    assert found is not None
    return subgroup(own.word for own in found)


def orthogonal(runs: list[Run], size: int) -> np.ndarray:
    """Check that runs differ, and that their columns are balanced and orthogonal; return these."""
    assert len(set(runs)) == len(runs) == size
    columns = 2 * np.array(runs) - 1
    assert np.array_equal(columns.T @ columns, size * np.eye(columns.shape[1]))
    assert not columns.sum(axis=0).any()
    return columns


def test_what_is_not_tabled() -> None:
    # 2 runs separate nothing, 4 runs three factors, 8 runs seven
    assert [minimum_aberration(*size) for size in ((2, 1), (3, 2), (4, 2), (8, 5), (12, 2))] == [None] * 5
    assert minimum_aberration(20, 1) is not None


@pytest.mark.parametrize(("factors", "generated"), TABLED)
def test_runs_of_a_fraction_are_orthogonal(factors: int, generated: int) -> None:
    found = minimum_aberration(factors, generated)
    assert found is not None
    runs, count = fraction_runs(factors, found), 2 ** (factors - generated)
    assert runs == sorted(runs)
    columns = orthogonal(runs, count)
    for word in words_of(factors, generated):
        assert np.array_equal(columns[:, list(word.places)].prod(axis=1), [word.sign] * count)


def test_runs_in_standard_order() -> None:
    names = tuple("ABC")
    # C is +1 where A and B are alike
    assert fraction_runs(3, [generator("C=AB", names)]) == [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    assert fraction_runs(3, [generator("C=-AB", names)]) == [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    # a factor other than the last can be the generated one
    assert fraction_runs(3, [generator("A=BC", names)]) == [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]


def test_plackett_burman_designs_are_orthogonal_and_balanced() -> None:
    for factors in range(2, LARGEST_BURMAN + 1):
        assert orthogonal(burman_runs(factors), burman_size(factors)).shape[1] == factors


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


# --- what [study] chooses ---------------------------------------------------------------------------------------------


def study(factors: int | str, keys: str) -> Study:
    """Parse a [study] of so many factors with two settings, f1 and so on, or of those written."""
    lines = factors if isinstance(factors, str) else two_settings(factors)
    return reading.study(f"[study]\n{keys}\n[study.factor]\n{lines}")


def two_settings(count: int) -> str:
    return "\n".join(f"f{number} = [1, 2]" for number in range(1, count + 1))


def fraction(factors: int | str, keys: str) -> Fraction:
    found = fraction_of(study(factors, keys))
    assert found is not None
    return found


SATURATED = 'generators = ["D=AB", "E=AC", "F=BC", "G=ABC"]'


@pytest.mark.parametrize(
    ("factors", "keys", "size", "resolution"),
    [
        (3, 'fraction = "1/2"', 4, 3),
        (7, 'fraction = "1/4"', 32, 4),
        (7, 'fraction = "1/16"', 8, 3),
        (8, 'fraction = "1/4"', 64, 5),
        (7, SATURATED, 8, 3),
        (7, 'design = "plackett-burman"', 8, 3),
        (11, 'design = "plackett-burman"', 12, 3),
        # folded over
        (7, f"{SATURATED}\nfoldover = true", 16, 4),
        (11, 'design = "plackett-burman"\nfoldover = true', 24, 4),
        (11, 'design = "plackett-burman"\nfoldover = "f2"', 24, 3),
        # both halves are all combinations, without a word
        (4, 'fraction = "1/2"\nfoldover = "f4"', 16, None),
    ],
)
def test_size_and_resolution(factors: int, keys: str, size: int, resolution: int | None) -> None:
    found = fraction(factors, keys)
    assert (found.size, found.resolution) == (size, resolution)
    assert sum(map(len, found.blocks())) == size


def test_a_study_without_a_fraction_has_none() -> None:
    assert fraction_of(study(3, "")) is None
    assert model_order(study(3, "order = 3")) == 3
    assert model_order(study(3, 'order = 3\ndesign = "plackett-burman"')) == 1


@pytest.mark.parametrize(
    ("factors", "keys"), [(7, SATURATED), (7, 'fraction = "1/16"'), (5, 'fraction = "1/4"'), (11, 'fraction = "1/128"')]
)
def test_a_full_foldover_clears_main_effects_of_interactions_of_two(factors: int, keys: str) -> None:
    assert fraction(factors, keys).resolution == 3
    found = fraction(factors, f"{keys}\nfoldover = true")
    assert found.resolution == 4
    assert not any(len(word) % 2 for word in found.words)
    assert all(len(word) % 2 for word in found.between)
    clear(found)


@pytest.mark.parametrize("factors", [3, 11, 23])
def test_a_full_foldover_of_a_plackett_burman_design_clears_them_too(factors: int) -> None:
    clear(fraction(factors, 'design = "plackett-burman"\nfoldover = true'))


def clear(found: Fraction) -> None:
    """Check on the runs that no main effect shares anything with an interaction of two factors."""
    columns = 2 * np.array([run for block in found.blocks() for run in block]) - 1
    for one, two in itertools.combinations(range(columns.shape[1]), 2):
        assert not (columns.T @ (columns[:, one] * columns[:, two])).any()


def test_a_foldover_of_one_factor_clears_it_and_its_interactions() -> None:
    # Montgomery: D turned, no word with D is left
    found = fraction(7, f'{SATURATED}\nfoldover = "f4"')
    assert [word.named() for word in found.words] == ["ACE", "AFG", "BCF", "BEG", "ABCG", "ABEF", "CEFG"]
    assert [word.named() for word in found.between if len(word) == 3] == ["ABD", "CDG", "DEF"]
    assert all("D" in word.named() for word in found.between)
    first, second = found.blocks()
    assert second == [(*run[:3], 1 - run[3], *run[4:]) for run in first]


NAMED = 'clients = [1, 8]\nrate = [1, 2, 4]\nload = ["idle", "busy"]\nside = ["base", "head"]'


def test_treatments_of_a_fraction_in_standard_order() -> None:
    # letters are of the factors with two settings, to which the others are crossed
    found = study(NAMED, 'generators = ["C=AB"]')
    assert [tuple(each.values()) for each in combinations(found)] == [
        *[(1, rate, *rest) for rate in (1, 2, 4) for rest in (("idle", "head"), ("busy", "base"))],
        *[(8, rate, *rest) for rate in (1, 2, 4) for rest in (("idle", "base"), ("busy", "head"))],
    ]
    planned = treatments(found, BuildTable())
    assert [each.number for each in planned] == list(range(12))
    assert [each.side for each in planned] == ["head", "base"] * 3 + ["base", "head"] * 3
    assert {each.fold for each in planned} == {0}


def test_treatments_of_both_blocks_keep_standard_order_and_know_their_block() -> None:
    planned = treatments(study(3, 'fraction = "1/2"\nfoldover = true'), BuildTable())
    expected = list(itertools.product((1, 2), repeat=3))
    assert [tuple(each.settings.values()) for each in planned] == expected
    # the first block is where C = AB
    assert [each.fold for each in planned] == [1, 0, 0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("factors", "keys", "count"),
    [
        (11, 'design = "plackett-burman"\nfoldover = true', 24),
        (47, 'design = "plackett-burman"', 48),
        (f"{two_settings(7)}\nz = [1, 2, 3]", SATURATED, 24),
        # more combinations than a study may have, but not more treatments
        (16, 'generators = ["Q=ABCD", "P=EFGH", "O=ABEF", "N=CDGH"]', 4096),
    ],
)
def test_how_many_treatments_there_are(factors: int | str, keys: str, count: int) -> None:
    planned = treatments(study(factors, keys), BuildTable())
    assert len(planned) == len({tuple(each.settings.values()) for each in planned}) == count
    assert sum(each.fold for each in planned) == (count // 2 if "foldover" in keys else 0)
