"""What is remembered from earlier runs on the same machine."""

from __future__ import annotations

import msgspec

from gate.model.case import OfCase
from gate.model.names import Layouts
from gate.model.warnings import AnyWarning


class MeanSquare(msgspec.Struct, frozen=True, kw_only=True):
    """An estimated variance, divided by the squared mean (of ln q: as it is), and its degrees of freedom."""

    value: float
    """The variance."""
    df: float
    """Its degrees of freedom."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What one session shows about the variance of one finding.

    Where layouts are independent, the contrast is of base against itself; where they are common, of two programs: at
    one seed base against itself holds no layout.
    """

    session: str
    """Id of the run."""
    created: str
    """When, as ISO 8601 in UTC."""
    rounds: int
    """How many the session had."""
    executions: float
    """Per build."""
    iterations: float
    """Per execution."""
    iteration: MeanSquare | None
    """S2 of iterations, pooled over the sides that were used; None: not known."""
    execution: MeanSquare | None
    """S2 of executions; None: not known."""
    build: MeanSquare | None
    """S2 of builds; None: not known."""
    contrast: MeanSquare | None
    """The variance over rounds of head_r/y - base_r/x; None: only one side could be used."""
    layouts: Layouts = "independent"
    """Of both sides of a round."""
    correlation: float | None = None
    """Of base and head over rounds; None: not known."""
    view_of: str | None = None
    """The metric that the finding's is a view of."""


class FindingMemory(OfCase, frozen=True, kw_only=True):
    """The sessions in which one finding's variance was measured on this machine."""

    sessions: list[Remembered]
    """What each shows."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything remembered that matches a run: chosen before it measures, and kept in its run line."""

    findings: list[FindingMemory]
    """By benchmark, metric, factors and statistic."""
    contrast_nu: float | None
    """Degrees that say how far variances of round contrasts move from session to session here; None: infinitely
    many."""
    build_nu: float | None
    """The same of variances of builds; None: infinitely many."""
    unused: list[AnyWarning | str]
    """What was remembered and does not match, and why; a text is of an older perfgate."""
