"""Words of two-level fractions: products of factors that are the same in every run.

A factor is -1 at its first setting and +1 at its second. In a fraction with the generator D=AB every run has ABD = +1,
so ABD is a defining word; the products of defining words are defining words too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZabcdefghjklmnopqrstuvwxyz"
"""Of the factors with two settings, in order; I is the word without a factor."""


@dataclass(frozen=True, slots=True)
class Word:
    """A product of factors that has one sign in all runs."""

    factors: int
    """A bit for each factor, the lowest is the first factor."""
    sign: int = 1

    def __mul__(self, other: Word) -> Word:
        """Return the product; a factor times itself is 1."""
        return Word(self.factors ^ other.factors, self.sign * other.sign)

    def __len__(self) -> int:
        """Count the factors."""
        return self.factors.bit_count()

    @property
    def places(self) -> tuple[int, ...]:
        """The numbers of its factors, from 0."""
        return tuple(place for place in range(self.factors.bit_length()) if self.factors >> place & 1)

    def named(self, names: Sequence[str] = LETTERS, between: str = "") -> str:
        """Write it by letters, "-ABD", or by other names."""
        return ("-" if self.sign < 0 else "") + between.join(names[place] for place in self.places)


@dataclass(frozen=True, slots=True)
class Generator:
    """A factor that is a product of others: D=AB, or D=-AB."""

    factor: int
    product: Word

    @property
    def word(self) -> Word:
        """The defining word that it gives."""
        return Word(1 << self.factor) * self.product

    def named(self, names: Sequence[str] = LETTERS, between: str = "") -> str:
        """Write it by letters, "D=AB", or by other names."""
        return f"{names[self.factor]}={self.product.named(names, between)}"


def generator(text: str, names: Sequence[str]) -> Generator:
    """Read a generator.

    Args:
        text: "D=AB" or "D=-AB" by letters, "clients=load:policy" or "clients = load * policy" by names.
        names: of the factors with two settings, in order.

    Raises:
        ValueError: it is no generator; the message says why.
    """
    left, equals, right = text.partition("=")
    right = right.strip()
    sign = -1 if right.startswith("-") else 1
    right = right.removeprefix("-").removeprefix("+").strip()
    if not equals or not left.strip() or not right:
        raise ValueError('is not a generator: write "D=AB", or "clients=load:policy" with names of factors')
    (factor,) = _places(left.strip(), names)[:1]
    if len(_places(left.strip(), names)) > 1:
        raise ValueError(f"{left.strip()} is several factors: on the left of = stands one")
    product = Word(0, sign)
    for place in _places(right, names):
        product *= Word(1 << place)
    if len(product) < 2:
        raise ValueError(f"{right} is a product of fewer than two factors, which could not be told apart")
    return Generator(factor, product)


def _places(text: str, names: Sequence[str]) -> list[int]:
    """Return the numbers of the factors that a side of a generator names."""
    parts = [part.strip() for part in text.replace("*", ":").split(":")]
    if len(parts) > 1 or text in names:
        unknown = next((part for part in parts if part not in names), None)
        if unknown is not None:
            raise ValueError(f'"{unknown}" is no factor with two settings; those are {", ".join(names)}')
        return [names.index(part) for part in parts]
    letters = names if all(len(name) == 1 for name in names) else LETTERS[: len(names)]
    unknown = next((letter for letter in text if letter not in letters), None)
    if unknown is not None:
        known = ", ".join(
            f"{letter}={name}" if letter != name else name for letter, name in zip(letters, names, strict=False)
        )
        raise ValueError(f'"{unknown}" in "{text}" is neither a letter nor a name of a factor; there are {known}')
    return [letters.index(letter) for letter in text]


def subgroup(words: Iterable[Word]) -> tuple[Word, ...]:
    """Return all products of words, the shortest first: the defining contrast subgroup without its 1."""
    found = [Word(0)]
    for word in words:
        found += [word * other for other in found]
    return tuple(sorted(found[1:], key=lambda word: (len(word), word.places)))


def resolution(words: Sequence[Word]) -> int | None:
    """Return the length of the shortest word; None: there is none, the design is full."""
    return min(map(len, words), default=None)


def word_lengths(words: Iterable[Word]) -> dict[int, int]:
    """Count the words of each length, the word length pattern."""
    return dict(sorted(Counter(map(len, words)).items()))


def roman(number: int) -> str:
    """Write a resolution as usual: 4 -> "IV"."""
    text = ""
    for value, digits in ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        count, number = divmod(number, value)
        text += digits * count
    return text
