"""The fraction that a study measures: its factors, words, runs, and the second block that folds it over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gate.config.config_text import Fault, Path
from gate.config.study import Study
from gate.writing.units import plural

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
        for place, word in made.items():
            low = sum(1 - bits[p] for p in word.places) + (word.sign < 0)
            bits[place] = 1 - low % 2
        runs.append(tuple(bits[place] for place in range(factors)))
    return sorted(runs)


def burman_size(factors: int) -> int:
    """Return the runs of the Plackett-Burman design for so many factors: the next multiple of 4, but not 28 and 36."""
    size = 4 * (factors // 4 + 1)
    return size + 4 if size in (28, 36) else size


def burman_runs(factors: int) -> list[Run]:
    """Return the runs of the Plackett-Burman design for up to 47 factors: the first columns of a Hadamard matrix.

    4, 8, 12, 20, 24, 32, 44 and 48 runs are cyclic by quadratic residues, as Plackett and Burman print them; 16 and 40
    double a smaller design, as theirs do. There are none of 28 and 36 runs, which no prime gives so.
    """
    size = burman_size(factors)
    signs = _hadamard(size)
    # the rows of a Hadamard matrix whose first column is 1; what is -1 there is the low setting
    return [tuple((1 + sign) // 2 for sign in row[1 : factors + 1]) for row in signs]


def _hadamard(size: int) -> list[list[int]]:
    """Return a Hadamard matrix whose first column is 1; size: one of those of burman_size."""
    prime = size - 1
    if all(prime % divisor for divisor in range(2, int(prime**0.5) + 1)):
        residues = {j * j % prime for j in range(prime)}
        first = [1 if j in residues else -1 for j in range(prime)]
        # each row is the one before it, moved on by one
        rows = [[first[(j - i) % prime] for j in range(prime)] for i in range(prime)]
        return [[1, *row] for row in [*rows, [-1] * prime]]
    half = _hadamard(size // 2)
    return [[*row, *row] for row in half] + [[*row, *(-sign for sign in row)] for row in half]


BURMAN = "plackett-burman"
MOST_GENERATORS = 16
"""Of more the defining words are too many to list."""
_GENERATOR = re.compile(r"\s*(?P<factor>[^\W\d_])\s*=\s*(?P<sign>[-+]?)\s*(?P<product>[^\W\d_]+)\s*")
_FRACTION = re.compile(r"1/([1-9]\d{0,14})")


@dataclass(frozen=True, slots=True)
class Fraction:
    """The treatments of factors with two settings that are measured; other factors are crossed with all of them."""

    factors: tuple[str, ...]
    """Those with two settings, in order; letters stand for them."""
    generators: tuple[Generator, ...]
    """Of the first block; () of a Plackett-Burman design."""
    burman: bool
    fold: tuple[int, ...]
    """Factors that the second block has the other way round; (): there is one block."""

    @property
    def size(self) -> int:
        """How many runs there are in both blocks."""
        count = len(self.factors)
        own = burman_size(count) if self.burman else 2 ** (count - len(self.generators))
        return own * (2 if self.fold else 1)

    @property
    def words(self) -> tuple[Word, ...]:
        """The defining words of both blocks together."""
        return tuple(word for word in self._own() if not self._turned(word))

    @property
    def between(self) -> tuple[Word, ...]:
        """The words that have another sign in the second block: what the difference of the blocks is mixed with."""
        return tuple(word for word in self._own() if self._turned(word))

    @property
    def resolution(self) -> int | None:
        """The length of the shortest word, None without any; of a Plackett-Burman design 3, folded over 4."""
        if self.burman:
            return 4 if len(self.fold) == len(self.factors) else 3
        return min(map(len, self.words), default=None)

    def _own(self) -> tuple[Word, ...]:
        return subgroup(own.word for own in self.generators)

    def _turned(self, word: Word) -> bool:
        return sum(place in self.fold for place in word.places) % 2 == 1

    def blocks(self) -> tuple[list[Run], ...]:
        """Return the runs of each block."""
        count = len(self.factors)
        first = burman_runs(count) if self.burman else fraction_runs(count, self.generators)
        if not self.fold:
            return (first,)
        return first, [tuple(1 - s if place in self.fold else s for place, s in enumerate(run)) for run in first]


def two_level(study: Study) -> tuple[str, ...]:
    """Return the factors with two settings, in order."""
    return tuple(name for name, table in study.factor.items() if len(table) == 2)


def fraction_of(study: Study) -> Fraction | None:
    """Return the fraction of a study that was checked; None: it measures all combinations, or those listed."""
    names = two_level(study)
    if study.design == BURMAN:
        return Fraction(names, (), burman=True, fold=_fold(study, names))
    if study.fraction is not None:
        generated = _generated(study.fraction)
        found = None if generated is None else minimum_aberration(len(names), generated)
        return None if found is None else Fraction(names, found, burman=False, fold=_fold(study, names))
    if study.generators:
        made = tuple(generator(text, names) for text in study.generators)
        return Fraction(names, made, burman=False, fold=_fold(study, names))
    return None


def model_order(study: Study) -> int:
    """Return how many factors interactions of the linear model have at most.

    Plackett-Burman designs have none in it: each is spread over all main effects.
    """
    return 1 if study.design == BURMAN else study.order


def _fold(study: Study, names: tuple[str, ...]) -> tuple[int, ...]:
    if isinstance(study.foldover, str):
        return (names.index(study.foldover),)
    return tuple(range(len(names))) if study.foldover else ()


def _generated(text: str) -> int | None:
    """Return how many factors a fraction generates: "1/4" -> 2; None: it is no fraction of two-level designs."""
    found = _FRACTION.fullmatch(text)
    number = int(found[1]) if found else 0
    return number.bit_length() - 1 if number > 1 and number & (number - 1) == 0 else None


def check_fraction(study: Study) -> Fault | None:
    """Say what makes a fraction one that cannot be measured, or contradicts other keys; None: nothing."""
    keys = [key for key in ("fraction", "generators", "design") if getattr(study, key) not in (None, [])]
    if not keys:
        why = "turns a fraction round, and there is none: set study.fraction, study.generators or study.design"
        return Fault(("study", "foldover"), why) if study.foldover is not False else None
    key, *others = keys
    if others:
        return Fault(("study", others[0]), f"cannot be used with study.{key}: keep one of them")
    path: Path = ("study", key)
    chosen = next((other for other in ("treatments", "exclude") if getattr(study, other)), None)
    if chosen is not None:
        why = f"cannot be used with study.{key}, which chooses the treatments: remove one of them"
        return Fault(("study", chosen), why)
    names = two_level(study)
    least = 2 if key == "design" else 3
    if len(names) < least:
        why = f"needs {least} or more factors of two settings, and there {'is' if len(names) == 1 else 'are'}"
        return Fault(path, f"{why} {len(names) or 'none'}: measure all combinations, or split settings into factors")
    if key == "design" and len(names) > LARGEST_BURMAN:
        why = f"has {len(names)} factors of two settings: Plackett-Burman designs have up to {LARGEST_BURMAN} here"
        return Fault(path, why)
    wrong = _check_part(study, names) if key == "fraction" else _check_generators(study, names)
    return wrong or _check_foldover(study, names)


def _check_part(study: Study, names: tuple[str, ...]) -> Fault | None:
    path: Path = ("study", "fraction")
    text, count = study.fraction or "", len(names)
    generated = _generated(text)
    if generated is None:
        return Fault(path, f'"{text}" is no fraction of a two-level design: write "1/2", "1/4", "1/8", ...')
    # 2^b - 1 columns are all that b basic factors have
    most = max(p for p in range(count) if count <= 2 ** (count - p) - 1)
    if generated > most:
        fewest = f'the smallest fraction is "1/{2**most}", {plural(2 ** (count - most), "run")}'
        return Fault(path, f"{text} of 2^{count} cannot separate {plural(count, 'factor')} from each other: {fewest}")
    if minimum_aberration(count, generated) is None:
        held = f"the table has up to {MOST_TABLED} factors in 4 to 128 runs, and every 1/2"
        return Fault(path, f"{text} of 2^{count} is not in the table: {held}; write study.generators instead")
    return None


def _check_generators(study: Study, names: tuple[str, ...]) -> Fault | None:
    path: Path = ("study", "generators")
    if study.generators and len(names) > len(LETTERS):
        return Fault(path, f"are for up to {len(LETTERS)} factors of two settings, not {len(names)}")
    if len(study.generators) > MOST_GENERATORS:
        return Fault(path, f"are {len(study.generators)}; at most {MOST_GENERATORS} are possible")
    found: list[Generator] = []
    for index, text in enumerate(study.generators):
        try:
            own = generator(text, names)
        except ValueError as problem:
            return Fault((*path, index), str(problem))
        if own.factor in [other.factor for other in found]:
            return Fault((*path, index), f"{names[own.factor]} has a generator already: give each factor one")
        found.append(own)
    made = {own.factor for own in found}
    for index, own in enumerate(found):
        again = next((place for place in own.product.places if place in made), None)
        if again is not None:
            why = f"{study.generators[index]}: {names[again]} is generated itself: use basic factors on the right"
            return Fault((*path, index), why)
    short = next((word for word in subgroup(own.word for own in found) if len(word) < 3), None)
    if short is not None:
        both = " and ".join(names[place] for place in short.places)
        return Fault(path, f"make {both} one factor, which nothing could separate: change one")
    return None


def _check_foldover(study: Study, names: tuple[str, ...]) -> Fault | None:
    path: Path = ("study", "foldover")
    if isinstance(study.foldover, str) and study.foldover not in names:
        known = ", ".join(names)
        return Fault(path, f'"{study.foldover}" is no factor of two settings: write true, or one of {known}')
    found = fraction_of(study)
    if found is not None and found.fold and found.size <= 2**14:
        first, second = found.blocks()
        if set(first) & set(second):
            way = "write the name of one factor" if study.foldover is True else "write true, or another factor"
            return Fault(path, f"would measure treatments of the first block again: {way}, or leave it out")
    return None


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

    def named(self) -> str:
        """Write it by letters, "D=AB"."""
        return f"{LETTERS[self.factor]}={self.product.named()}"


def generator(text: str, names: Sequence[str]) -> Generator:
    """Read a generator.

    Args:
        text: "D=AB" or "D=-AB", by letters.
        names: of the factors with two settings, in order; where each is a letter, those are meant.

    Raises:
        ValueError: it is no generator; the message says why.
    """
    found = _GENERATOR.fullmatch(text)
    if found is None:
        raise ValueError('is not a generator: write "D=AB"')
    letters = "".join(names) if all(len(name) == 1 for name in names) else LETTERS[: len(names)]
    for letter in found["factor"] + found["product"]:
        if letter not in letters:
            known = ", ".join(f"{a}={b}" if a != b else a for a, b in zip(letters, names, strict=False))
            raise ValueError(f'"{letter}" is no letter of a factor with two settings; there are {known}')
    product = Word(0, -1 if found["sign"] == "-" else 1)
    for letter in found["product"]:
        product *= Word(1 << letters.index(letter))
    if len(product) < 2:
        raise ValueError(f"{found['product']} is a product of fewer than two factors, which could not be told apart")
    return Generator(letters.index(found["factor"]), product)


def subgroup(words: Iterable[Word]) -> tuple[Word, ...]:
    """Return all products of words, the shortest first: the defining contrast subgroup without its 1."""
    found = [Word(0)]
    for word in words:
        found += [word * other for other in found]
    return tuple(sorted(found[1:], key=lambda word: (len(word), word.places)))


def roman(number: int) -> str:
    """Write a resolution as usual: 4 -> "IV"."""
    text = ""
    for value, digits in ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        count, number = divmod(number, value)
        text += digits * count
    return text
