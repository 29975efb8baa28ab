"""What a check of the linear model found, before it is known how the error level is shared over the checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.model.study import Check
from gate.stats.family import holm


@dataclass(frozen=True, slots=True)
class Finding:
    """A test of one assumption.

    p: None: it cannot be tested, `figures` says why. large: whether what it is about is large enough to matter, however
    sure it is. good, bad: what it says where nothing speaks against the assumption, and where something does; figures:
    the numbers behind it. warning: what to do about it.
    """

    name: str
    statistic: float | None
    df: tuple[float, ...]
    p: float | None
    large: bool
    good: str
    bad: str
    figures: str
    warning: str


def untested(name: str, why: str) -> Finding:
    """Return a finding without a test."""
    return Finding(name, None, (), None, False, "not tested", "not tested", why, "")


@dataclass(frozen=True, slots=True)
class Judged:
    """A check, and its warning where it does not hold."""

    check: Check
    warning: str | None


def judged(findings: Sequence[Finding], alpha: float) -> list[Judged]:
    """Share alpha over the findings by Holm, so that a model without fault gets a warning with chance alpha at most.

    What is sure but too small to matter holds: with thousands of units every test rejects.
    """
    tested = [i for i, finding in enumerate(findings) if finding.p is not None]
    shares = holm([p for finding in findings if (p := finding.p) is not None], alpha)
    sure = {i for i, own in zip(tested, shares, strict=True) if own.rejected}
    return [_judged(finding, sure=i in sure) for i, finding in enumerate(findings)]


def _judged(finding: Finding, *, sure: bool) -> Judged:
    holds = not (sure and finding.large)
    said = finding.good if not sure else finding.bad if not holds else f"{finding.bad}, too little to matter"
    p = "" if finding.p is None else f", {p_text(finding.p)}"
    check = Check(
        name=finding.name,
        statistic=finding.statistic,
        df=list(finding.df),
        p=finding.p,
        holds=holds,
        words=f"{said} ({finding.figures}{p})",
    )
    return Judged(check, None if holds else finding.warning)


def p_text(p: float) -> str:
    """Write a p: "p = 0.03", "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
