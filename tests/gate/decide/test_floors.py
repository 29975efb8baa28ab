"""What a floor decides, and that no report keeps it to itself (docs/method.md, floor)."""

import itertools
import math
from statistics import fmean, variance
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from scipy import stats

from gate.codes import Exit
from gate.decide.next_steps import next_step
from gate.decide.report import decide
from gate.model import Case, Evidence, Finding, Report, outcomes, reasons
from gate.words import findings, numbers, verdict_line
from tests.gate.decide.decided import both, decided, ones, only, policy_by, rounds_of
from tests.support import simulate

NS = 1e-9
Better = Literal["lower", "higher"]
Values = list[list[list[float]]]


def report(lines: list[dict[str, Any]], *, benchmark: dict[str, Any] | None = None, **gate: Any) -> Report:
    """Decide over lines; benchmark: its table, where it needs one."""
    tables: dict[str, Any] = {"gate": {"threshold": "3%", "interval": "fieller", **gate}}
    tables |= {"benchmark": [benchmark]} if benchmark else {}
    return decided(lines, tables)


def nested(mean: float, sd: float, seed: int, count: int = 8, iterations: int = 6) -> Values:
    rng = np.random.default_rng(seed)
    return [[(mean * (1 + sd * rng.normal()) * (1 + sd * rng.normal(size=iterations))).tolist()] for _ in range(count)]


def pair(base: float, head: float, sd: float = 0.01, name: str = "offer", **more: Any) -> list[dict[str, Any]]:
    own = {key: more.pop(key) for key in ("count", "iterations") if key in more}
    return both(nested(base, sd, 1, **own), nested(head, sd, 2, **own), benchmark=name, **more)


# --- the promise --------------------------------------------------------------------------------------------------------


def drawn(seed: int, better: Better) -> Evidence:
    rng = np.random.default_rng(seed)
    pairs = []
    for k, mean in enumerate([0.7, 0.9, 0.97, 1.0, 1.02, 1.05, 1.1, 1.3, 0.9, 1.1, 0.95, 1.05]):
        sd = (0.003, 0.01, 0.03)[k % 3]
        sides = [simulate.sample(rng, simulate.normal, (sd, 0, sd), (6, 1, 30), m) for m in (1.0, mean)]
        pairs.append((sides[0], sides[1]))
    found = simulate.evidence(pairs)
    return msgspec.structs.replace(found, cases=[msgspec.structs.replace(c, better=better) for c in found.cases])


def judged(evidence: Evidence, floor: str, **gate: Any) -> list[Finding]:
    metric = {"time": {"statistics": gate.pop("statistics", ["mean"])}}
    names = [case.benchmark for case in evidence.cases]
    tables = {
        "gate": {"threshold": "3%", "floor": floor, **gate},
        "benchmark": [{"name": n, "command": "x", "instrument": "values", "metric": metric} for n in names],
    }
    return decide(evidence, policy_by(tables)).findings


RULES: list[Any] = [
    {"interval": "fieller"},
    {"interval": "fieller", "family": "none", "confidence": 0.9},
    {"interval": "fieller-paired"},
    {"interval": "paired-shared"},
    {"interval": "fieller", "statistics": ["p50"]},
    {"interval": "fieller", "detectable": "threshold", "inconclusive": "fail"},
    pytest.param({"interval": "bootstrap", "family": "none", "min_builds": 2}, marks=pytest.mark.endtoend),
]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_floor_turns_nothing_green_that_has_changed(rules: dict[str, Any], better: Better) -> None:
    seen = set()
    evidence = drawn(1, better)
    free = judged(evidence, "0", **rules)
    for floor in ("60ms", "200ms"):
        for without, bound in zip(free, judged(evidence, floor, **rules), strict=True):
            seen.add((without.verdict, bound.verdict, type(bound.reason)))
            changed = _beyond(without)
            assert without.verdict not in ("regression", "improvement") or changed
            if changed and without.verdict == "improvement":
                # without a sign of a slowdown it is, whether or not it is called
                assert bound.verdict in ("improvement", "inconclusive", "no-sign")
            elif changed:
                assert bound.verdict in (without.verdict, "inconclusive")
            if bound.is_hidden:
                assert changed
                assert "floor" in findings.conclusion(bound)
            elif bound.verdict in ("unchanged", "no-sign", "inconclusive") and bound.is_bound_by_floor:
                assert f"floor of {numbers.floor(bound)}" in findings.conclusion(bound) or (
                    f"floor {numbers.floor(bound)} (" in findings.conclusion(bound)
                )
    assert any(without == "regression" and reason is reasons.BelowFloor for without, _, reason in seen)


def _beyond(finding: Finding) -> bool:
    """Return whether the nominal interval lies beyond the threshold, whatever the verdict rests on."""
    low, high, edge = finding.ratio.low, finding.ratio.high, 1 + finding.threshold
    return low is not None and high is not None and (low > edge or high < 1 / edge)


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_hidden_is_beyond_the_threshold_and_within_the_floor_by_their_own_intervals(better: Better) -> None:
    counts = {True: 0, False: 0}
    for seed, floor in itertools.product(range(4), (0.02, 0.06, 0.2)):
        evidence = drawn(seed, better)
        found = judged(evidence, f"{floor}s", interval="fieller", family="none")
        for case, finding in zip(evidence.cases, found, strict=True):
            expected = twin(case, floor, 0.03)
            assert finding.is_below_floor == expected
            counts[expected] += 1
            if expected:
                worse = (finding.head.value > finding.base.value) == (better == "lower")
                assert (finding.verdict, finding.not_worse) == ("inconclusive", not worse)
    assert min(counts.values()) > 10


def twin(case: Case, floor: float, d: float) -> bool:
    """Test threshold and floor step by step, by Welch's t over the means of builds."""
    sides = []
    for sample in (case.base, case.head):
        ends = np.cumsum(sample.counts[0])
        means = [float(values.mean()) for values in np.split(sample.values, ends[:-1])]
        sides.append((fmean(means), variance(means) / len(means), len(means) - 1))
    (x, v_x, n_x), (y, v_y, n_y) = sides
    r = y / x
    df = (v_y + r * r * v_x) ** 2 / (v_y**2 / n_y + (r * r * v_x) ** 2 / n_x)
    t = float(stats.t.ppf(0.975, df))
    half = t * math.sqrt(v_x + v_y)
    within = y - x + half < floor and y - x - half > -floor

    def beyond(theta: float) -> float:
        return (y - theta * x) / math.sqrt(v_y + theta * theta * v_x)

    return within and (beyond(1 + d) > t or beyond(1 / (1 + d)) < -t)


# --- the example --------------------------------------------------------------------------------------------------------


def test_a_benchmark_of_nanoseconds_needs_no_floor_of_its_own() -> None:
    table = {"name": "offer", "command": "go test -bench .", "instrument": "go"}
    found = report(pair(2.6 * NS, 3.4 * NS), benchmark=table)
    (finding,) = found.findings
    assert (finding.floor, finding.verdict, found.exit_code) == (None, "regression", Exit.REGRESSION)


@pytest.mark.parametrize("inconclusive", ["pass", "fail"])
def test_a_set_floor_that_hides_a_change_is_not_green_and_stands_in_the_headline(inconclusive: str) -> None:
    found = report(pair(2.6 * NS, 3.4 * NS), floor="1ns", inconclusive=inconclusive)
    (finding,) = found.findings
    assert (found.verdict, found.exit_code) == ("inconclusive", Exit.PASS)
    assert finding.reason == reasons.BelowFloor(threshold=0.03, floor=1 * NS, unit="s")
    line = verdict_line.text(found)
    assert line.startswith("Undecided: offer is 3")
    assert line.endswith("threshold 3%: beyond it, but smaller than the floor of 1 ns; not failing")
    step = next_step(found)
    assert step is not None and step.kind == "lower-floor"
    assert (
        step.text
        == "If a change below 1 ns matters, lower the floor or remove it (`floor = 0` in `[benchmark.metric.time]`): it is 38.4% of offer"
    )
    assert numbers.verdict_words(finding) == "undecided (floor)"


def test_a_floor_that_hides_an_improvement_says_so_and_is_not_worse() -> None:
    found = report(pair(3.4 * NS, 2.6 * NS), floor="1ns")
    (finding,) = found.findings
    assert (finding.verdict, finding.not_worse, found.exit_code) == ("inconclusive", True, Exit.PASS)
    assert "1 change beyond the threshold is hidden by the floor" in verdict_line.text(found)


@pytest.mark.parametrize("head", [1.5, 1.0])
def test_what_is_hidden_is_counted_beside_another_verdict(head: float) -> None:
    lines = [*pair(2.6 * NS, 3.4 * NS), *pair(2.6 * NS, 3.4 * NS, name="poll"), *pair(1.0, head, 0.001, name="other")]
    found = report(lines, floor="1ns")
    assert found.verdict == ("regression" if head > 1 else "inconclusive")
    assert "2 changes beyond the threshold are hidden by the floor of 1 ns" in verdict_line.text(found)
    assert isinstance(found.summary, outcomes.Regressed) or found.summary.hidden == 2  # type: ignore[attr-defined]  # inconclusive


def test_builds_that_a_regression_lacks_are_no_cover_for_a_floor() -> None:
    found = report(pair(2.6 * NS, 3.4 * NS, count=3), floor="1ns")
    assert (found.findings[0].is_below_floor, found.verdict) == (True, "inconclusive")


def test_an_exact_count_below_its_floor_is_hidden_too() -> None:
    metric = {"allocs": {"exact": True, "floor": 5, "better": "lower"}}
    table = {"name": "bench", "command": "x", "instrument": "values", "metric": metric}
    found = only(
        ones([10.0] * 5, [14.0] * 5, metric="allocs", unit=""), {"benchmark": [table], "gate": {"threshold": "3%"}}
    )
    assert found.is_below_floor
    assert "40.0% higher (exact), threshold 3%: undecided, beyond it, but smaller than the floor of 5" in (
        findings.conclusion(found)
    )


def test_a_wide_interval_that_only_the_floor_calls_unchanged_names_it() -> None:
    found = report(pair(2.6 * NS, 2.61 * NS, 0.15), floor="1ns")
    (finding,) = found.findings
    assert (finding.verdict, found.verdict) == ("unchanged", "pass")
    assert finding.reason == reasons.BelowFloor(threshold=None, floor=1 * NS, unit="s")
    assert findings.conclusion(finding).endswith("threshold 3%: same, smaller than the floor of 1 ns")
    assert numbers.verdict_words(finding) == "same (floor)"


def looked(*ratios: float, floor: str) -> Report:
    """Look at four of at most twelve rounds."""
    config = {"plan": {"builds": {"min": 4, "max": 12}}, "gate": {"interval": "paired", "floor": floor}}
    means = {"poll": ([2.6 * NS] * 4, [2.6 * NS * ratio for ratio in ratios])}
    return decided(rounds_of(means, 4, config, better="lower"))


def test_what_is_given_up_because_of_the_floor_names_the_floor() -> None:
    # about +10%, and from 5% to 15%: a live run
    free, found = (looked(1.05, 1.15, 1.07, 1.13, floor=floor) for floor in ("0", "0.4ns"))
    assert (free.findings[0].stopped, found.findings[0].stopped) == (None, "futility")
    assert "rest of the plan would not help above the floor of 0.4 ns" in findings.conclusion(found.findings[0])
    assert getattr(next_step(found), "kind", "") == "lower-floor"


def test_a_floor_that_settles_at_a_look_still_shows_what_it_hides() -> None:
    (found,) = looked(1.06, 1.10, 1.08, 1.09, floor="1ns").findings
    assert (found.stopped, found.is_below_floor, round(found.ratio.confidence, 9)) == ("settled", True, 0.95)
    assert found.ratio.low is not None and found.ratio.low > 1.03
