"""What follows from a report: whether a finding blocks, and what a reader does now."""

from __future__ import annotations

import math

from gate.codes import Exit
from gate.model import Finding, Report, reasons
from gate.model import outcomes as steps

_SHARE = 0.8
"""The costliest fifth of the inconclusive findings is no measure for all."""


def blocks(finding: Finding, report: Report) -> bool:
    """Return whether a finding is why a gate fails: an inconclusive one that is shown not to be worse never is."""
    if finding.verdict == "inconclusive":
        return report.exit_code == Exit.INCONCLUSIVE and not finding.not_worse
    return finding.verdict == "regression"


def next_step(report: Report) -> steps.Step | None:
    """Choose what a reader does now; None after a pass."""
    if report.verdict == "error" and report.failures:
        return _after_failures(report)
    if isinstance(report.summary, steps.NothingMeasured):
        return steps.MeasureFirst()
    if report.verdict == "regression":
        return steps.FixRegression()
    return _settle(report) if report.verdict == "inconclusive" else None


def _after_failures(report: Report) -> steps.Step:
    if any(failure.kind != "missing" for failure in report.failures):
        return steps.FixFailure()
    # a part of several has no benchmark
    gone = all(failure.benchmark is not None for failure in report.failures)
    return steps.RestoreBenchmark() if gone else steps.RepeatJob()


def _settle(report: Report) -> steps.Step:
    found = [f for f in report.findings if f.verdict == "inconclusive"]
    still_open = [f for f in found if not f.not_worse]
    if not still_open:
        return steps.NothingToDo()
    if all(isinstance(f.reason, reasons.NegativeValues) for f in still_open):
        return steps.CheckValues()
    needed = sorted(min(f.base.counts.build, f.head.counts.build) + f.more_builds for f in still_open if f.more_builds)
    told = needed[: math.ceil(_SHARE * len(needed))]
    if not told:
        return steps.MeasureMore()
    return steps.MoreBuilds(
        builds=told[-1], settled=len(told), may_be_worse=len(still_open), not_worse=len(found) - len(still_open)
    )
