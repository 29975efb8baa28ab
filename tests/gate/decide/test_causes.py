"""Reasons as data: what the words rest on agrees with the numbers of the finding."""

import msgspec
import numpy as np
import pytest

from gate.decide.causes import summary
from gate.decide.report import decide
from gate.model import Better, Finding, Report, outcomes, reasons
from tests.gate.decide.decided import policy_by
from tests.gate.report import examples
from tests.support import simulate

EDGE = 1.03


def decided(rng: np.random.Generator, toml: str, *, builds: int, better: Better = "lower") -> Report:
    pairs = []
    for _ in range(12):
        sd, mean = rng.choice([0.003, 0.01, 0.03, 0.3]), rng.choice([0.85, 0.97, 1.0, 1.02, 1.05, 1.2])
        base, head = (simulate.sample(rng, simulate.normal, (sd, 0, 0), (builds, 1, 1), m) for m in (1.0, mean))
        pairs.append((base, head))
    evidence = simulate.evidence(pairs)
    found = [msgspec.structs.replace(case, better=better) for case in evidence.cases]
    return decide(msgspec.structs.replace(evidence, cases=found), policy_by(f"[gate]\n{toml}"))


@pytest.mark.parametrize("toml", ["", 'family = "none"', 'floor = "50ms"', 'floor = "0s"', "min_builds = 8"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_reason_agrees_with_the_numbers(toml: str, better: Better) -> None:
    rng = np.random.default_rng(20261120)
    seen = set()
    for builds in (1, 2, 5):
        report = decided(rng, f'threshold = "3%"\n{toml}', builds=builds, better=better)
        for found in report.findings:
            seen.add(type(found.reason))
            _agrees(found, report)
    assert reasons.TooWide in seen
    # five builds are too few for the last of the rules
    assert (reasons.FewBuilds if "min_builds" in toml else reasons.Exceeds) in seen


def _agrees(found: Finding, report: Report) -> None:
    reason, low, high = found.reason, found.ratio.low, found.ratio.high
    called = found.verdict in ("regression", "improvement")
    assert found.shown == (None if found.ratio.kind == "withheld" else "decided_at" if called else "ratio")
    assert isinstance(reason, reasons.Exceeds) == called
    # unchanged is decided at the nominal level
    at = found.decided_at
    assert found.verdict != "unchanged" or (at.low, at.high, round(at.confidence, 9)) == (low, high, 0.95)
    # what the floor hides is beyond the threshold, and not green
    below = isinstance(reason, reasons.BelowFloor) and reason.threshold is None
    assert (isinstance(reason, reasons.Within | reasons.RealWithin) or below) == (found.verdict == "unchanged")
    worse_is_above = found.better == "lower"
    if isinstance(reason, reasons.Exceeds):
        assert reason.confidence == at.confidence and at.low is not None and at.high is not None
        assert at.low > EDGE if worse_is_above == (found.verdict == "regression") else at.high < 1 / EDGE
        assert reason.comparisons == (report.family.size if at.confidence > found.ratio.confidence else None)
    if found.verdict != "inconclusive" or low is None or high is None:
        return
    outside = low > EDGE or high < 1 / EDGE
    if isinstance(reason, reasons.TooWide):
        assert not outside
        assert (high >= EDGE, low <= 1 / EDGE) == (reason.exceeds != "below", reason.exceeds != "above")
        assert found.ratio.estimate is not None
        assert (reason.estimate == "within") == (1 / EDGE <= found.ratio.estimate <= EDGE)
        assert reason.hopeless == (found.more_builds is None)
    if isinstance(reason, reasons.NotWorse):
        assert found.not_worse and not outside
        within = high < EDGE if worse_is_above else low > 1 / EDGE
        assert (reason.floor is None) == within
    if isinstance(reason, reasons.Uncorrected | reasons.BetterUncorrected | reasons.FewBuilds | reasons.FloorOpen):
        assert outside
    assert isinstance(reason, reasons.NotWorse | reasons.BetterUncorrected) <= found.not_worse


def test_a_floor_is_not_blamed_for_what_the_number_of_findings_holds_back() -> None:
    rng = np.random.default_rng(5)
    found = [
        found.reason
        for _ in range(8)
        for found in decided(rng, 'threshold = "3%"\nfloor = "1us"', builds=5).findings
        if found.verdict == "inconclusive" and found.ratio.low is not None and found.ratio.low > EDGE
    ]
    assert found
    assert all(isinstance(reason, reasons.Uncorrected) for reason in found)


@pytest.mark.parametrize("not_worse", [[False, False], [True, False, False], [True]])
def test_the_headline_counts_apart_what_is_not_worse(not_worse: list[bool]) -> None:
    found = [examples.finding(f"case-{i}", "inconclusive", not_worse=each) for i, each in enumerate(not_worse)]
    assert summary("inconclusive", found, simulate.evidence([])) == outcomes.SomeInconclusive(
        count=len(found), findings=len(found), not_worse=sum(not_worse)
    )
