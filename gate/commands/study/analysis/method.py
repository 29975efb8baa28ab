"""How a response is analysed."""

from __future__ import annotations

from dataclasses import dataclass

from gate.commands.study.analysis.abridge import Abridgement, Pattern


@dataclass(frozen=True, slots=True)
class Method:
    """How a response is analysed."""

    order: int
    """Interactions of up to so many factors in the linear model."""
    taus: tuple[float, ...]
    confidence: float
    iid: bool
    seed: int
    abridgements: tuple[Abridgement, ...]
    sample: Pattern | None = None
    """The treatment of the sample-size study; None: one with the most units."""
    histograms: tuple[Pattern, ...] = ()
