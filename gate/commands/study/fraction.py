"""The design of a planned study in words: full or a fraction, its resolution, defining words and alias sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gate.commands.study.design import Design
from gate.config.fractions.chosen import Fraction, fraction_of, model_order
from gate.config.fractions.words import LETTERS, Word, roman, word_lengths
from gate.config.treatments import SIDE
from gate.stats.design.aliases import LOWEST, Aliases, aliases
from gate.stats.design.coding import coded
from gate.units import agree, format_number, plural
from gate.words.phrases import joined, listed

_SHOWN = 12
"""Words and alias sets that are shown without --all."""


@dataclass(frozen=True, slots=True)
class Described:
    """The treatments of a study as a design; alike: the aliases of each term, as numbers of factors."""

    fraction: Fraction | None
    treatments: int
    combinations: int
    names: tuple[str, ...]
    alike: dict[tuple[int, ...], Aliases]

    def name(self, factors: Sequence[int]) -> str:
        """Name a term."""
        return ":".join(self.names[factor] for factor in factors)

    @property
    def mixed(self) -> dict[tuple[int, ...], Aliases]:
        """The terms that cannot be told from others."""
        return {term: own for term, own in self.alike.items() if own.full}

    @property
    def partly(self) -> dict[tuple[int, ...], Aliases]:
        """The terms that are biased by others that are not in the model."""
        return {term: own for term, own in self.alike.items() if own.partial}


def described(design: Design) -> Described:
    """Describe the treatments of a study, all jobs together."""
    names = tuple(design.study.factor)
    settings = [{str(s): code for code, s in enumerate(f.settings)} for f in design.factors]
    rows = [
        [own[str(p.side if name == SIDE else p.settings[name])] for own, name in zip(settings, names, strict=True)]
        for p in design.planned
    ]
    codes, sizes = np.array(rows, dtype=np.int64), [len(f.settings) for f in design.factors]
    order = model_order(design.study)
    fraction = fraction_of(design.study)
    model = coded(codes, sizes, order if fraction is not None and fraction.burman else max(order, LOWEST))
    alike = aliases(codes, sizes, model, LOWEST)
    return Described(fraction, len(codes), math.prod(sizes), names, alike)


def design_lines(found: Described, *, every: bool) -> list[str]:
    """Say which design it is, and what it cannot separate. every: all words and alias sets."""
    most = len(found.alike) + 10**6 if every else _SHOWN
    return [f"design: {_title(found)}", *(f"  {line}" for line in (*_words(found, most), *_aliases(found, most)))]


def _title(found: Described) -> str:
    fraction = found.fraction
    if fraction is None:
        if found.treatments == found.combinations:
            return f"all {plural(found.combinations, 'combination')}"
        return f"{found.treatments} of {plural(found.combinations, 'combination')}"
    count = len(fraction.factors)
    kind = (
        f"Plackett-Burman, {plural(fraction.size // (2 if fraction.fold else 1), 'run')} for {count} factors"
        if fraction.burman
        else f"2^({count}-{len(fraction.generators)}) fraction"
    )
    of = f"{found.treatments} of {found.combinations:,} combinations"
    resolution = "" if fraction.resolution is None else f", resolution {roman(fraction.resolution)}"
    fold = ""
    if fraction.fold:
        whole = len(fraction.fold) == count
        fold = f", folded over{'' if whole else f' on {fraction.factors[fraction.fold[0]]}'} in a second block"
    return f"{kind}{fold}: {of}{resolution}"


def _words(found: Described, most: int) -> list[str]:
    fraction = found.fraction
    if fraction is None or fraction.burman:
        return []
    letters = ", ".join(f"{letter}={name}" for letter, name in zip(LETTERS, fraction.factors, strict=False))
    lines = [f"letters: {letters}", f"generators: {', '.join(own.named() for own in fraction.generators)}"]
    if fraction.words:
        lengths = ", ".join(f"{count} of {length} letters" for length, count in word_lengths(fraction.words).items())
        words = listed([word.named() for word in fraction.words], most)
        lines.append(f"defining words: {words} ({lengths})")
    if fraction.between:
        between = listed([word.named() for word in fraction.between], most)
        lines.append(f"the difference of the blocks is mixed with {between}")
    return lines


def _aliases(found: Described, most: int) -> list[str]:
    # beside empty cells of other designs every effect has a little of others
    mixed, partly = found.mixed, found.partly if found.fraction is not None else {}
    mains = [found.name(term) for term in found.alike if len(term) == 1 and term not in mixed and term not in partly]
    lines = []
    if mixed or partly:
        clear = f"{joined(mains, 8)} {agree(len(mains), 'is', 'are')}" if mains else "no main effect is"
        lines.append(f"{clear} clear of interactions of two factors")
    sets = [
        f"{found.name(term)}, or {' or '.join(found.name(own) for own in alike.full)}" for term, alike in mixed.items()
    ]
    if sets:
        lines.append("cannot be told apart:")
        lines += [f"  {text}" for text in sets[:most]]
        lines += [f"  and {len(sets) - most} more; --all prints them"] if len(sets) > most else []
    if partly:
        largest = max(abs(part) for alike in partly.values() for part in alike.partial.values())
        count = max(len(alike.partial) for alike in partly.values())
        lines.append(
            f"up to {plural(count, 'interaction')} bias an effect, each by up to {format_number(largest, 2)} of itself "
            f"(`study plan --json -` lists them)"
        )
    return lines


def design_json(found: Described) -> dict[str, Any]:
    """Return the design for a program; words by names of factors."""
    fraction = found.fraction

    def words(of: Sequence[Word], names: Sequence[str]) -> list[str]:
        return [word.named(names, ":") for word in of]

    told: dict[str, Any] = {
        "kind": "full" if found.treatments == found.combinations else "listed",
        "treatments": found.treatments,
        "combinations": found.combinations,
    }
    if fraction is not None:
        told |= {
            "kind": "plackett-burman" if fraction.burman else "fraction",
            "factors": list(fraction.factors),
            "resolution": fraction.resolution,
            "generators": [own.named(fraction.factors, ":") for own in fraction.generators],
            "words": words(fraction.words, fraction.factors),
            "word_lengths": word_lengths(fraction.words),
            "foldover": [fraction.factors[place] for place in fraction.fold],
            "between_blocks": words(fraction.between, fraction.factors),
        }
    told["aliases"] = {found.name(term): [found.name(own) for own in alike.full] for term, alike in found.mixed.items()}
    told["partial_aliases"] = {
        found.name(term): {found.name(own): part for own, part in alike.partial.items()}
        for term, alike in found.partly.items()
    }
    return told
