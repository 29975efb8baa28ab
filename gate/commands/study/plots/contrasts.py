"""What the Pareto picture and the half-normal plot show: sizes of contrasts, or of effects in standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.marks import said
from gate.commands.study.plots.scale import differences
from gate.model.study import Response, Term
from gate.plots.picture import room
from gate.stats.special import stdtrit
from gate.units import agree, format_confidence, format_number, plural
from gate.words.effects import named, named_short
from gate.writing.plain import clip

_FEWEST = 3
_REACH = 2.5
"""A limit beyond so many times the largest size is said, not drawn."""


@dataclass(frozen=True, slots=True)
class Size:
    """One contrast."""

    term: str
    name: str
    """With how many others it cannot be told from, or with the one."""
    full: str
    """The same with all that it cannot be told from."""
    number: float
    """Its size in the unit of the axis."""
    beyond: int
    """How many of the two limits it is beyond."""

    def fitted(self, space: float, letters: float) -> str:
        """Return its name as long as there is room for it; a star stands for others that do not fit."""
        star = "*" if self.name != self.term else ""
        fitting = (text for text in (self.full, self.name) if room(text, letters) <= space)
        return next(fitting, f"{clip(self.term, max(1, int(space / room('0', letters)) - len(star)))}{star}")


@dataclass(frozen=True, slots=True)
class Contrasts:
    """All that is drawn."""

    sizes: Sequence[Size]
    """The largest first."""
    limits: Sequence[tuple[str, float]]
    """Their names and numbers: that of one contrast, and that of all at once."""
    noise: float
    """The slope of the line in a half-normal plot along which noise lies."""
    what: str
    unit: str
    meaning: Sequence[str]

    @property
    def end(self) -> float:
        """Return the end of an axis that begins at 0 and holds the limits unless they are far away."""
        largest = self.sizes[0].number
        return 1.06 * max([largest, *(at for _, at in self.limits if at <= _REACH * largest)])

    def drawn_limits(self) -> list[tuple[str, float]]:
        """Return the limits within the axis."""
        return [(name, at) for name, at in self.limits if at <= self.end]

    def say(self, number: float) -> str:
        """Write a size with its unit."""
        return f"{format_number(number, 3)}{'' if self.unit == '%' else ' '}{said(self.unit)}".rstrip()

    def words(self) -> list[str]:
        """Say for a caption what is drawn, and what the limits are."""
        limits = " and ".join(f"{name} is {self.say(at)}" for name, at in self.limits)
        far = [name for name, at in self.limits if at > self.end]
        beyond = f" ({' and '.join(far)} beyond the picture)" if far else ""
        return [*self.meaning, f"{limits}{beyond}."]

    def starred(self) -> str:
        """Explain the star of names; "" where none has one."""
        aliased = any(own.name != own.term for own in self.sizes)
        return "Others that a contrast cannot be told from are named, or a star stands for them." if aliased else ""

    def described(self) -> str:
        """Say in words for those who do not see it which ones are the largest."""
        beyond = sum(own.beyond > 1 for own in self.sizes)
        largest = ", ".join(f"{clip(own.name, 30)} {self.say(own.number)}" for own in self.sizes[:6])
        return (
            f"{plural(len(self.sizes), 'contrast')}, the largest {largest}; "
            f"{beyond} {agree(beyond, 'is', 'are')} beyond the limit of all at once."
        )


def contrasts(response: Response, confidence: float, *, logs: bool = False) -> Contrasts | None:
    """Choose Lenth's contrasts where there are any, else the terms of a two-level model with an error; else None.

    Args:
        logs: leave contrasts of logarithms as they are, where they would become percent.
    """
    found = _of_lenth(response, logs=logs) if response.lenth is not None else _of_terms(response, confidence)
    if found is None or not all(math.isfinite(own.number) for own in found.sizes) or not found.sizes[0].number:
        return None
    return found


def _of_lenth(response: Response, *, logs: bool) -> Contrasts | None:
    found = response.lenth
    of = differences(response, np.array([c.estimate for c in found.contrasts])) if found and found.contrasts else None
    if found is None or of is None:
        return None
    factor, unit = (1.0, "natural log") if of.percent and logs else (of.factor, of.unit)

    def number(size: float) -> float:
        return of.of(size) if of.percent and not logs else size / factor

    level = format_confidence(found.confidence)
    within = (
        f"Noise alone is within ME (margin of error) for at least {level} of single contrasts, and within SME "
        f"for all {len(found.contrasts)} at once in at least {level} of experiments (Lenth 1989)."
    )
    return Contrasts(
        sizes=[
            Size(
                said(c.term),
                said(named_short(c.term, c.aliases)),
                said(named(c.term, c.aliases)),
                number(abs(c.estimate)),
                c.possible + c.active,
            )
            for c in found.contrasts
        ],
        limits=[("ME", number(found.me)), ("SME", number(found.sme))],
        noise=number(found.pse),
        what="size of the contrast",
        unit=unit,
        meaning=["Contrasts are half the change.", within],
    )


def _of_terms(response: Response, confidence: float) -> Contrasts | None:
    model = response.linear
    if model is None or any(len(f.settings) > 2 for f in response.factors):
        return None
    told = [t for t in model.terms if t.df == 1 and t.f is not None and math.isfinite(t.f) and t.p is not None]
    strata = [t.stratum for t in told]
    # one line can be the limit of one error only
    own = [t for t in told if t.stratum == max(dict.fromkeys(strata), key=strata.count)]
    if len(own) < _FEWEST:
        return None
    df = min(model.residual_df if t.error_df is None else t.error_df for t in own)
    alpha = 1 - confidence
    one, family = (float(stdtrit(df, 1 - share / 2)) for share in (alpha, alpha * _share(response, own)))
    within = (
        f"Noise alone is within the limit of one for {format_confidence(confidence)} of single effects; the limit of "
        "the family is that of the largest effect of a factor among all tests of the response."
    )
    meaning = ["Effects in their standard errors, |t|.", within]
    if len(own) < len(model.terms):
        meaning.append(f"{len(own)} of {len(model.terms)} terms have this error ({said(own[0].stratum)}).")
    return Contrasts(
        sizes=sorted((_term(t, alpha) for t in own), key=lambda each: -each.number),
        limits=[("one", one), ("family", family)],
        noise=1.0,
        what="size of the effect in standard errors",
        unit="",
        meaning=meaning,
    )


def _term(term: Term, alpha: float) -> Size:
    """Take the size of a term; it is beyond the family's limit where Holm's procedure says so."""
    clear = term.p_adjusted is not None and term.p_adjusted < alpha
    beyond = 2 if clear else int(term.p is not None and term.p < alpha)
    return Size(
        said(term.term),
        said(named_short(term.term, term.aliases)),
        said(named(term.term, term.aliases)),
        math.sqrt(term.f or 0.0),
        beyond,
    )


def _share(response: Response, own: Sequence[Term]) -> float:
    """Return the share of alpha that a factor's effect on the mean has at first."""
    weights = [claim.weight for claim in response.claims if claim.p is not None]
    return 1 / sum(weights) if weights else 1 / len(own)
