"""Defining words: generators as they are written, products of words, and their lengths."""

import re

import pytest

from gate.config.fractions import Word, generator, roman, subgroup

NAMES = ("clients", "load", "policy", "rate", "opt", "pages", "numa")


def words(*texts: str, names: tuple[str, ...] = tuple("ABCDEFG")) -> tuple[Word, ...]:
    return subgroup(generator(text, names).word for text in texts)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("D=AB", "D=AB"),
        (" D = BA ", "D=AB"),
        ("D=-AB", "D=-AB"),
        ("D=+AB", "D=AB"),
        ("D = - ABC", "D=-ABC"),
        ("D=A:B", None),
        ("rate=clients:load", "D=AB"),
        ("rate = load * clients", "D=AB"),
        ("rate=-clients:load:policy", "D=-ABC"),
        ("rate=AB", "D=AB"),
        ("D=clients:load", "D=AB"),
        # twice the same factor is 1
        ("D=AABC", "D=BC"),
    ],
)
def test_generators_by_letters_and_names(text: str, written: str | None) -> None:
    if written is None:
        # products of letters have nothing between them, where factors have names
        with pytest.raises(ValueError, match='"A" is no factor'):
            generator(text, NAMES)
    else:
        assert generator(text, NAMES).named() == written


def test_letters_are_names_where_all_names_are_letters() -> None:
    assert generator("x=yz", ("z", "y", "x")).named() == "C=AB"
    assert generator("x=y:z", ("z", "y", "x")).named() == "C=AB"
    assert generator("D=-AB", NAMES).named(NAMES, ":") == "rate=-clients:load"
    # I is the word without a factor, so that the ninth letter is J
    assert generator("J=AB", tuple(f"f{number}" for number in range(9))).factor == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(text, 'is not a generator: write "D=AB", or "clients=load:policy" with names of factors') for text in ("", "D", "DAB", "=AB", "D=", "D=-")],
        ("DE=AB", "DE is several factors: on the left of = stands one"),
        ("D=A", "A is a product of fewer than two factors, which could not be told apart"),
        ("D=AA", "AA is a product of fewer than two factors, which could not be told apart"),
        ("D=AX", '"X" in "AX" is neither a letter nor a name of a factor; there are A=clients, B=load, C=policy, D=rate, E=opt, F=pages, G=numa'),
        ("D=clients:lod", '"lod" is no factor with two settings; those are clients, load, policy, rate, opt, pages, numa'),
    ],
)  # fmt: skip
def test_what_is_no_generator(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        generator(text, NAMES)


def test_a_product_has_the_factors_that_only_one_word_has() -> None:
    assert (Word(0b0111) * Word(0b1110, -1)).named() == "-AD"
    assert Word(0b101, -1) * Word(0b101, -1) == Word(0)
    assert Word(0b1001).places == (0, 3)


def test_defining_words() -> None:
    # Montgomery, Design and Analysis of Experiments: 2^(6-2) IV with E=ABC, F=BCD; I = ABCE = BCDF = ADEF
    assert [word.named() for word in words("E=ABC", "F=BCD")] == ["ABCE", "ADEF", "BCDF"]
    # the product of two words of the other half is positive again
    assert [word.named() for word in words("E=-ABC", "F=-BCD")] == ["-ABCE", "ADEF", "-BCDF"]
    assert words() == ()


def test_resolutions_are_roman() -> None:
    assert " ".join(roman(number) for number in (3, 4, 5, 6, 8, 9, 10, 14)) == "III IV V VI VIII IX X XIV"
