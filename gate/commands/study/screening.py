"""What a plan says of a fraction of the combinations: its resolution, words, and what it cannot tell apart."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from gate.config.fractions.chosen import Fraction
from gate.config.fractions.words import LETTERS, Word, roman
from gate.units import format_number, plural

_LISTED = 20
"""Most words, and most alias sets, that the text lists."""
_ROUNDING = 1e-9
_ORDER = 2
"""Aliases are told of factors and of interactions of so many."""


def as_text(fraction: Fraction | None) -> list[str]:
    """Return the lines of a fraction; none where all combinations are measured, or those listed."""
    if fraction is None:
        return []
    letters = dict(zip(LETTERS, fraction.factors, strict=False))
    lines = [title(fraction)]
    if not fraction.burman:
        lines.append(f"  factors: {', '.join(f'{letter}={name}' for letter, name in letters.items())}")
        lines.append(f"  generators: {', '.join(own.named() for own in fraction.generators)}")
        lines.append(f"  defining words: I = {_some([word.named() for word in fraction.words], ' = ')}")
    if fraction.fold:
        turned = "all factors" if len(fraction.fold) == len(fraction.factors) else fraction.factors[fraction.fold[0]]
        between = _some([word.named() for word in fraction.between], ", ")
        mixed = f"; the difference of the blocks is mixed with {between}" if between else ""
        lines.append(f"  folded over: a second block has {turned} the other way round{mixed}")
    if fraction.burman:
        return [*lines, f"  {_of_burman(fraction)}", ""]
    sets = alias_sets(fraction)
    lines.append("  cannot be told apart:" if sets else "  no factor or interaction of two is mixed with another")
    lines += [f"    {' = '.join(own)}" for own in sets[:_LISTED]]
    more = [f"    ... {plural(len(sets) - _LISTED, 'more set')}"] if len(sets) > _LISTED else []
    return [*lines, *more, ""]


def _of_burman(fraction: Fraction) -> str:
    """Say where the interactions are that the model of a Plackett-Burman design does not have."""
    if fraction.resolution == 4:
        return "main effects are clear of interactions of two factors, of which a part is in each other"
    found = partial_aliases(fraction)
    parts = [abs(part) for own in found.values() for part in own.values()]
    if not parts:
        return "no interactions: there are too few factors to bias each other"
    if min(parts) > 1 - _ROUNDING:
        return "no interactions: each is in the main effect of another factor, in full, as in a fraction"
    part = format_number(max(parts), 2)
    return f"no interactions: a part of each is in main effects of other factors, up to {part} of it"


def partial_aliases(fraction: Fraction) -> dict[str, dict[str, float]]:
    """Return what an effect of 1 of each interaction of two adds to the main effects of a Plackett-Burman design."""
    # numpy takes its time to load
    import numpy as np

    from gate.stats.design.aliases import aliases
    from gate.stats.design.coding import coded

    codes = np.array([run for block in fraction.blocks() for run in block], dtype=np.int64)
    sizes = [2] * len(fraction.factors)
    model = coded(codes, sizes, 1)
    found = {}
    for (factor,), own in aliases(codes, sizes, model, _ORDER, None).items():
        signs = 2 * codes - 1
        full = {pair: float((signs[:, factor] * signs[:, list(pair)].prod(axis=1)).mean()) for pair in own.full}
        parts = {":".join(fraction.factors[f] for f in pair): part for pair, part in {**full, **own.partial}.items()}
        if parts:
            found[fraction.factors[factor]] = parts
    return found


def title(fraction: Fraction) -> str:
    """Name a design: "a 2^(7-3) fraction of resolution IV: 16 runs"."""
    count = len(fraction.factors)
    if fraction.burman:
        return f"a Plackett-Burman design for {plural(count, 'factor')}: {plural(fraction.size, 'run')}"
    kind = f"2^({count}-{len(fraction.generators)}) fraction"
    of = f" of resolution {roman(fraction.resolution)}" if fraction.resolution else ""
    return f"a {kind}{of}{', folded over' if fraction.fold else ''}: {plural(fraction.size, 'run')}"


def _some(names: list[str], between: str) -> str:
    more = f"{between}... {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return between.join(names[:_LISTED]) + more


def alias_sets(fraction: Fraction) -> list[list[str]]:
    """Return the sets of factors and interactions of two that a regular fraction cannot tell apart."""
    places = range(len(fraction.factors))
    terms = [Word(1 << a) for a in places] + [Word(1 << a | 1 << b) for a, b in combinations(places, _ORDER)]
    found: list[list[str]] = []
    seen: set[int] = set()
    for term in terms:
        if term.factors in seen:
            continue
        others = sorted(
            (own for word in fraction.words if 0 < len(own := term * word) <= _ORDER),
            key=lambda own: (len(own), own.places),
        )
        seen |= {term.factors, *(own.factors for own in others)}
        if others:
            found.append([own.named(fraction.factors, ":") for own in (term, *others)])
    return found


def as_json(fraction: Fraction | None) -> dict[str, Any] | None:
    """Return the same as it is in the plan's JSON; null where all combinations are measured."""
    if fraction is None:
        return None
    return {
        "design": "plackett-burman" if fraction.burman else "fraction",
        "factors": list(fraction.factors),
        "runs": fraction.size,
        "resolution": fraction.resolution,
        "generators": [own.named(fraction.factors, ":") for own in fraction.generators],
        "words": [word.named(fraction.factors, ":") for word in fraction.words],
        "folded": [fraction.factors[place] for place in fraction.fold],
        "aliases": [] if fraction.burman else alias_sets(fraction),
        "partial_aliases": partial_aliases(fraction) if fraction.burman else {},
    }
