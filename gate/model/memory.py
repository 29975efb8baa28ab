"""What is remembered from earlier runs on the same machine."""

from __future__ import annotations

from typing import Any

import msgspec

from gate.model.names import Layouts
from gate.model.warnings import AnyWarning


class MeanSquare(msgspec.Struct, frozen=True, kw_only=True):
    """An estimated variance, divided by the squared mean (of ln q: as it is), and its degrees of freedom."""

    value: float
    df: float


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What one session shows about the variance of one finding.

    iteration, execution, build: S2 of each level, pooled over the sides that were used. contrast: the variance over
    rounds of head_r/y - base_r/x; None where only one side could be used. Where layouts are independent it is of base
    against itself, where they are common of two programs: at one seed base against itself holds no layout.
    """

    session: str
    """Id of the run."""
    created: str
    """When, as ISO 8601 in UTC."""
    rounds: int
    executions: float
    """Per build."""
    iterations: float
    """Per execution."""
    iteration: MeanSquare | None
    execution: MeanSquare | None
    build: MeanSquare | None
    contrast: MeanSquare | None
    layouts: Layouts = "independent"
    """Of both sides of a round."""
    correlation: float | None = None
    """Of base and head over rounds; None: not known."""


class FindingMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions in which one finding's variance was measured on this machine."""

    benchmark: str
    metric: str
    factors: dict[str, Any]
    statistic: str
    sessions: list[Remembered]


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything remembered that matches a run: chosen before it measures, and kept in its run line.

    contrast_nu, build_nu: degrees that say how far variances move from session to session on this machine, None for
    infinitely many. unused: what was remembered and does not match, and why; a text is of an older perfgate.
    """

    findings: list[FindingMemory]
    contrast_nu: float | None
    build_nu: float | None
    unused: list[AnyWarning | str]
