"""The fraction that a study measures: its factors, words, runs, and the second block that folds it over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.config.fractions.designs import (
    LARGEST_BURMAN,
    MOST_TABLED,
    Run,
    burman_runs,
    burman_size,
    fraction_runs,
    minimum_aberration,
)
from gate.config.fractions.words import LETTERS, Generator, Word, generator, resolution, subgroup
from gate.config.source import Fault, Path
from gate.config.study import Study
from gate.units import plural

BURMAN = "plackett-burman"
MOST_GENERATORS = 16
"""Of more the defining words are too many to list."""
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
        """The length of the shortest word; of a Plackett-Burman design 3, folded over 4."""
        if self.burman:
            return 4 if len(self.fold) == len(self.factors) else 3
        return resolution(self.words)

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


def check_fraction(study: Study) -> Iterator[Fault]:
    """Find what makes a fraction one that cannot be measured, or contradicts other keys."""
    keys = [key for key in ("fraction", "generators", "design") if getattr(study, key) not in (None, [])]
    if not keys:
        if study.foldover is not False:
            why = "turns a fraction round, and there is none: set study.fraction, study.generators or study.design"
            yield Fault(("study", "foldover"), why)
        return
    path: Path = ("study", keys[0])
    if len(keys) > 1:
        yield Fault(("study", keys[1]), f"cannot be used with study.{keys[0]}: keep one of them")
        return
    for other in ("treatments", "exclude"):
        if getattr(study, other):
            why = f"cannot be used with study.{keys[0]}, which chooses the treatments: remove one of them"
            yield Fault(("study", other), why)
            return
    names = two_level(study)
    least = 2 if keys[0] == "design" else 3
    if len(names) < least:
        why = f"needs {least} or more factors of two settings, and there {'is' if len(names) == 1 else 'are'}"
        yield Fault(path, f"{why} {len(names) or 'none'}: measure all combinations, or split settings into factors")
        return
    checks = {"fraction": _check_fraction, "generators": _check_generators, "design": _check_burman}
    wrong = list(checks[keys[0]](study, names))
    yield from wrong or _check_foldover(study, names)


def _check_fraction(study: Study, names: tuple[str, ...]) -> Iterator[Fault]:
    path: Path = ("study", "fraction")
    text, count = study.fraction or "", len(names)
    generated = _generated(text)
    if generated is None:
        yield Fault(path, f'"{text}" is no fraction of a two-level design: write "1/2", "1/4", "1/8", ...')
        return
    # 2^b - 1 columns are all that b basic factors have
    most = max(p for p in range(count) if count <= 2 ** (count - p) - 1)
    if generated > most:
        fewest = f'the smallest fraction is "1/{2**most}", {plural(2 ** (count - most), "run")}'
        yield Fault(path, f"{text} of 2^{count} cannot separate {plural(count, 'factor')} from each other: {fewest}")
    elif minimum_aberration(count, generated) is None:
        held = f"the table has up to {MOST_TABLED} factors in 4 to 128 runs, and every 1/2"
        yield Fault(path, f"{text} of 2^{count} is not in the table: {held}; write study.generators instead")


def _check_burman(_: Study, names: tuple[str, ...]) -> Iterator[Fault]:
    if len(names) > LARGEST_BURMAN:
        why = f"has {len(names)} factors of two settings: Plackett-Burman designs have up to {LARGEST_BURMAN} here"
        yield Fault(("study", "design"), why)


def _check_generators(study: Study, names: tuple[str, ...]) -> Iterator[Fault]:
    if len(names) > len(LETTERS):
        yield Fault(("study", "generators"), f"are for up to {len(LETTERS)} factors of two settings, not {len(names)}")
        return
    if len(study.generators) > MOST_GENERATORS:
        yield Fault(("study", "generators"), f"are {len(study.generators)}; at most {MOST_GENERATORS} are possible")
        return
    found: list[Generator] = []
    for index, text in enumerate(study.generators):
        path: Path = ("study", "generators", index)
        try:
            found.append(generator(text, names))
        except ValueError as problem:
            yield Fault(path, str(problem))
            return
        if found[-1].factor in [own.factor for own in found[:-1]]:
            yield Fault(path, f"{names[found[-1].factor]} has a generator already: give each factor one")
            return
    made = {own.factor for own in found}
    for index, own in enumerate(found):
        again = next((place for place in own.product.places if place in made), None)
        if again is not None:
            why = f"{study.generators[index]}: {names[again]} is generated itself: use basic factors on the right"
            yield Fault(("study", "generators", index), why)
            return
    short = next((word for word in subgroup(own.word for own in found) if len(word) < 3), None)
    if short is not None:
        both = " and ".join(names[place] for place in short.places)
        yield Fault(("study", "generators"), f"make {both} one factor, which nothing could separate: change one")


def _check_foldover(study: Study, names: tuple[str, ...]) -> Iterator[Fault]:
    path: Path = ("study", "foldover")
    if isinstance(study.foldover, str) and study.foldover not in names:
        known = ", ".join(names)
        yield Fault(path, f'"{study.foldover}" is no factor of two settings: write true, or one of {known}')
        return
    found = fraction_of(study)
    if found is None or not found.fold or found.size > 2**14:
        return
    first, second = found.blocks()
    if set(first) & set(second):
        way = "write the name of one factor" if study.foldover is True else "write true, or another factor"
        yield Fault(path, f"would measure treatments of the first block again: {way}, or leave it out")
