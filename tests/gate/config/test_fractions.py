"""Fractions in a file: words, tables against published ones, the treatments chosen, and every error."""

from collections import Counter
from itertools import combinations as choose

import numpy as np
import pytest

from gate.config.fractions.chosen import fraction_of
from gate.config.fractions.designs import burman_runs, burman_size, fraction_runs, minimum_aberration
from gate.config.fractions.words import Word, generator, resolution, roman, subgroup, word_lengths
from gate.config.parse import parse
from gate.config.source import ConfigError, read_source
from gate.config.study import Study
from gate.config.treatments import combinations, treatments
from gate.config.types import BuildTable


def study(text: str) -> Study:
    found = parse(read_source(text, "perfgate.toml")).study
    assert found is not None
    return found


def factors(count: int) -> str:
    return "[study.factor]\n" + "\n".join(f"f{k} = [1, 2]" for k in range(count)) + "\n"


# --- words ----------------------------------------------------------------------------------------------------------


def test_the_words_of_a_quarter_fraction_are_its_generators_and_their_product() -> None:
    # Montgomery, Design and Analysis of Experiments, table 8.9: 2^(6-2) with E=ABC, F=BCD
    made = [generator(text, [*"ABCDEF"]) for text in ("E=ABC", "F=BCD")]
    assert [word.named() for word in subgroup(own.word for own in made)] == ["ABCE", "ADEF", "BCDF"]
    assert resolution(subgroup(own.word for own in made)) == 4


def test_signs_multiply_along() -> None:
    made = [generator(text, [*"ABCDE"]) for text in ("D=-AB", "E=AC")]
    assert [word.named() for word in subgroup(own.word for own in made)] == ["-ABD", "ACE", "-BCDE"]


def test_generators_by_letters_and_by_names_are_the_same() -> None:
    names = ("load", "policy", "clients", "size", "side", "p", "q", "r", "s")
    wanted = generator("C=AB", names)
    assert generator("clients=load:policy", names) == wanted
    assert generator(" clients = load * policy ", names) == wanted
    assert generator("J=AB", names).factor == 8, "I is no letter"
    assert generator("clients=-load:policy", names).word == Word(0b111, -1)
    # names of one letter are letters, whatever their place
    assert generator("a=bc", ("c", "b", "a")).factor == 2


def test_lengths_and_numerals() -> None:
    assert word_lengths([Word(0b111), Word(0b1111), Word(0b11110)]) == {3: 1, 4: 2}
    assert [roman(n) for n in (3, 4, 5, 6, 8, 9)] == ["III", "IV", "V", "VI", "VIII", "IX"]


# --- tables ---------------------------------------------------------------------------------------------------------

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
    lengths = word_lengths(subgroup(own.word for own in made))
    return [lengths.get(n, 0) for n in range(3, max(lengths) + 1)]


@pytest.mark.parametrize(("count", "generated"), PUBLISHED)
def test_the_table_has_the_published_word_lengths(count: int, generated: int) -> None:
    assert pattern(count, generated) == PUBLISHED[count, generated]


@pytest.mark.parametrize(("count", "generated"), [key for key in PUBLISHED if key[0] - key[1] <= 5 and key != (11, 6)])
def test_no_other_generators_have_less_aberration(count: int, generated: int) -> None:
    basic = count - generated
    columns = [c for c in range(1, 2**basic) if c.bit_count() > 1]
    best = None
    for chosen in choose(columns, generated):
        words = [0]
        for k, column in enumerate(chosen):
            words += [word ^ column ^ 1 << (basic + k) for word in words]
        counts = Counter(word.bit_count() for word in words[1:])
        own = [counts.get(n, 0) for n in range(2, count + 1)]
        best = own if best is None or own < best else best
    assert best is not None
    own = pattern(count, generated)
    assert best == [0, *own, *[0] * (count - 2 - len(own))]


def test_every_run_of_a_fraction_has_its_words() -> None:
    made = [generator(text, [*"ABCDE"]) for text in ("D=-AB", "E=AC")]
    runs = np.array(fraction_runs(5, made)) * 2 - 1
    assert runs.shape == (8, 5)
    assert len({tuple(run) for run in runs.tolist()}) == 8
    assert (runs[:, 3] == -runs[:, 0] * runs[:, 1]).all()
    assert (runs[:, 4] == runs[:, 0] * runs[:, 2]).all()


@pytest.mark.parametrize("count", range(2, 48))
def test_plackett_burman_columns_are_orthogonal_and_runs_differ(count: int) -> None:
    runs = np.array(burman_runs(count)) * 2 - 1
    size = burman_size(count)
    assert runs.shape == (size, count)
    assert size % 4 == 0 and count < size <= count + 4
    assert (runs.T @ runs == size * np.eye(count)).all()
    assert (runs.sum(axis=0) == 0).all()
    assert len({tuple(run) for run in runs.tolist()}) == size


@pytest.mark.parametrize(
    "row",
    [
        "+++-+--",
        "++-+++---+-",
        "++--++++-+-+----++-",
        "+++++-+-++--++--+-+----",
    ],
)
def test_the_first_row_is_that_of_plackett_and_burman(row: str) -> None:
    # Plackett and Burman 1946, Biometrika 33: 8, 12, 20 and 24 runs
    first = "".join("-+"[code] for code in burman_runs(len(row))[0])
    assert first == row
    assert burman_runs(len(row))[-1] == (0,) * len(row)


# --- treatments -----------------------------------------------------------------------------------------------------


def test_a_fraction_chooses_treatments_in_standard_order() -> None:
    found = study('[study]\nfraction = "1/2"\n' + factors(3))
    assert [tuple(each.values()) for each in combinations(found)] == [(1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 2)]
    by_generator = study('[study]\ngenerators = ["C=AB"]\n' + factors(3))
    assert combinations(by_generator) == combinations(found)
    other = study('[study]\ngenerators = ["f2=-f0:f1"]\n' + factors(3))
    assert not [each for each in combinations(other) if each in combinations(found)]


def test_other_factors_are_crossed_with_a_fraction() -> None:
    text = '[study]\nfraction = "1/2"\n[study.factor]\na = [1, 2]\nn = ["x", "y", "z"]\nb = [1, 2]\nc = [1, 2]\n'
    found = combinations(study(text))
    assert len(found) == 4 * 3
    assert {(e["a"], e["b"], e["c"]) for e in found if e["n"] == "y"} == {(1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 2)}
    assert [(e["a"], e["n"]) for e in found][:4] == [(1, "x"), (1, "x"), (1, "y"), (1, "y")]


def test_a_foldover_turns_all_factors_or_one() -> None:
    first = [(1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 2)]
    for how, turned in (("true", {0, 1, 2}), ('"f1"', {1})):
        found = study(f'[study]\nfraction = "1/2"\nfoldover = {how}\n' + factors(3))
        planned = treatments(found, BuildTable())
        blocks = {k: [tuple(p.settings.values()) for p in planned if p.fold == k] for k in (0, 1)}
        assert blocks[0] == first
        assert sorted(blocks[1]) == sorted(tuple(3 - s if k in turned else s for k, s in enumerate(e)) for e in first)


def test_a_foldover_keeps_the_words_that_do_not_turn() -> None:
    # Montgomery, 8.6: the fold of 2^(7-4) of resolution III has resolution IV
    whole = fraction_of(study('[study]\nfraction = "1/16"\nfoldover = true\n' + factors(7)))
    assert whole is not None
    assert (whole.resolution, word_lengths(whole.words), whole.size) == (4, {4: 7}, 16)
    assert word_lengths(whole.between) == {3: 7, 7: 1}
    one = fraction_of(study('[study]\nfraction = "1/16"\nfoldover = "f0"\n' + factors(7)))
    assert one is not None
    assert all(0 not in word.places for word in one.words)
    assert all(0 in word.places for word in one.between)


def test_a_plackett_burman_design_of_47_factors_is_planned() -> None:
    found = study('[study]\ndesign = "plackett-burman"\n' + factors(47))
    assert len(combinations(found)) == 48
    folded = study('[study]\ndesign = "plackett-burman"\nfoldover = true\n' + factors(11))
    assert Counter(p.fold for p in treatments(folded, BuildTable())) == {0: 12, 1: 12}


THREE = 'a = [1, 2]\nb = [1, 2]\nc = ["x", "y"]\nn = [1, 2, 3]\n'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('fraction = "a quarter"', 'study.fraction: "a quarter" is no fraction of a two-level design: write "1/2", "1/4", "1/8", ...'),
        ('fraction = "1/3"', 'study.fraction: "1/3" is no fraction of a two-level design: write "1/2", "1/4", "1/8", ...'),
        ('fraction = "1/4"', 'study.fraction: 1/4 of 2^3 cannot separate 3 factors from each other: the smallest fraction is "1/2", 4 runs'),
        ('fraction = 4', 'study.fraction: expected a string, got 4; write e.g. fraction = "..."'),
        ('fraction = "1/2"\ntreatments = [{a = 1, b = 1, c = "x", n = 1}]', "study.treatments: cannot be used with study.fraction, which chooses the treatments: remove one of them"),
        ('fraction = "1/2"\nexclude = [{a = 1}]', "study.exclude: cannot be used with study.fraction, which chooses the treatments: remove one of them"),
        ('fraction = "1/2"\ngenerators = ["c=ab"]', "study.generators: cannot be used with study.fraction: keep one of them"),
        ('generators = ["c=ab"]\ndesign = "plackett-burman"', "study.design: cannot be used with study.generators: keep one of them"),
        ('design = "box"', 'study.design: "box" is not one of "plackett-burman"'),
        ('foldover = true', "study.foldover: turns a fraction round, and there is none: set study.fraction, study.generators or study.design"),
        ('fraction = "1/2"\nfoldover = "n"', 'study.foldover: "n" is no factor of two settings: write true, or one of a, b, c'),
        ('generators = ["c:ab"]', 'study.generators[0]: is not a generator: write "D=AB", or "clients=load:policy" with names of factors'),
        ('generators = ["c=ad"]', 'study.generators[0]: "d" in "ad" is neither a letter nor a name of a factor; there are a, b, c'),
        ('generators = ["c=a:n"]', 'study.generators[0]: "n" is no factor with two settings; those are a, b, c'),
        ('generators = ["ab=c"]', "study.generators[0]: ab is several factors: on the left of = stands one"),
        ('generators = ["c=a"]', "study.generators[0]: a is a product of fewer than two factors, which could not be told apart"),
        ('generators = ["c=ab", "c=-ab"]', "study.generators[1]: c has a generator already: give each factor one"),
        ('generators = ["c=ab", "b=ac"]', "study.generators[0]: c=ab: b is generated itself: use basic factors on the right"),
    ],
)  # fmt: skip
def test_errors(lines: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(read_source(f"[study]\n{lines}\n[study.factor]\n{THREE}", "perfgate.toml"))
    assert str(caught.value).partition(": ")[2] == message


@pytest.mark.parametrize(
    ("lines", "count", "message"),
    [
        ('fraction = "1/2"', 2, "study.fraction: needs 3 or more factors of two settings, and there are 2: measure all combinations, or split settings into factors"),
        ('fraction = "1/8"', 12, "study.fraction: 1/8 of 2^12 is not in the table: the table has up to 11 factors in 4 to 128 runs, and every 1/2; write study.generators instead"),
        ('design = "plackett-burman"', 48, "study.design: has 48 factors of two settings: Plackett-Burman designs have up to 47 here"),
        ('generators = ["D=AB", "E=AB"]', 5, "study.generators: make f3 and f4 one factor, which nothing could separate: change one"),
        ('generators = ["D=XB"]', 4, 'study.generators[0]: "X" in "XB" is neither a letter nor a name of a factor; there are A=f0, B=f1, C=f2, D=f3'),
        ('fraction = "1/2"\nfoldover = true', 4, "study.foldover: would measure treatments of the first block again: write the name of one factor, or leave it out"),
        ('fraction = "1/2"', 16, "study.factor: 32768 treatments are more than 10000: take fewer factors or settings, or a study.fraction of them"),
    ],
)  # fmt: skip
def test_errors_of_many_factors(lines: str, count: int, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(read_source(f"[study]\n{lines}\n{factors(count)}", "perfgate.toml"))
    assert str(caught.value).partition(": ")[2] == message
