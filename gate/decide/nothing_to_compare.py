"""The first pull request of a project: what a report comes to where base has nothing to compare with."""

from __future__ import annotations

from collections.abc import Sequence

from gate.decide.reasons import found_size
from gate.model import Evidence, Finding, outcomes
from gate.model.names import OF_BUILDS
from gate.model.warnings.setup import NothingToCompare


def nothing_to_compare(evidence: Evidence) -> NothingToCompare | None:
    """Return why nothing is compared; None: something is, since of several jobs one may have had something."""
    found = next((each for each in evidence.warnings if isinstance(each, NothingToCompare)), None)
    return found if found is None or found.itself or not (evidence.cases or evidence.identical) else None


def new_benchmarks(evidence: Evidence) -> list[str]:
    """Name the benchmarks that were measured of head alone, or of head against itself; a build is none."""
    own = (case.benchmark for case in evidence.cases if case.metric not in OF_BUILDS)
    return list(dict.fromkeys([*evidence.new, *own]))


def summary(why: NothingToCompare, itself: Sequence[Finding], benchmarks: int) -> outcomes.NothingToCompare:
    """Say which change the gate could find; itself: the findings of head against itself."""
    noise = [
        outcomes.Noise(benchmark=finding.benchmark, metric=finding.metric, detectable=found_size(finding))
        for finding in sorted(itself, key=lambda finding: finding.detectable or 0.0)
        if finding.detectable is not None
    ]
    quietest, noisiest = (noise[0], noise[-1]) if noise else (None, None)
    return outcomes.NothingToCompare(benchmarks=benchmarks, why=why, quietest=quietest, noisiest=noisiest)
