"""Improvements that are too large to be believed without a look at what head does."""

from __future__ import annotations

from collections.abc import Sequence

from gate.config.rules import implausible_of
from gate.config.types import Config
from gate.model import Finding
from gate.model.warnings.estimates import Implausible, Improvement


def implausible(findings: Sequence[Finding], config: Config) -> list[Implausible]:
    """Warn of improvements beyond gate.implausible, the largest first.

    The size is that of the estimate, as it is read; the interval must show an improvement of any size, whether or not
    the rules let it be called one.
    """
    found = [(size, f) for f in findings if (size := _shown(f)) > (_limit(f, config) or 1.0)]
    several = sorted(found, key=lambda each: -each[0])
    improvements = tuple(
        Improvement(f.benchmark, f.metric, f.statistic, f.unit, f.better, f.ratio.estimate or 0.0) for _, f in several
    )
    return [Implausible(improvements)] if improvements else []


def _limit(finding: Finding, config: Config) -> float | None:
    return implausible_of(config, finding.benchmark, finding.metric, finding.statistic)


def _shown(finding: Finding) -> float:
    """Return by which share head is better: of time what is saved, of a rate what base lacks; 0: not shown to be."""
    ratio = finding.ratio
    if ratio.kind != "bounded" or ratio.estimate is None or ratio.low is None or ratio.high is None:
        return 0.0
    if finding.better == "lower":
        return 1 - ratio.estimate if ratio.high < 1 else 0.0
    return 1 - 1 / ratio.estimate if ratio.low > 1 else 0.0
