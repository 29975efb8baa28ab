"""The sentence of each verdict: what a newcomer reads, with one interval."""

from typing import Any

import msgspec

from gate.model import Accepted, DecidedAt, Finding, LevelCounts, Verdict, reasons
from gate.words import findings as words
from gate.words import numbers
from tests.gate.report import examples

SESSIONS = LevelCounts(session=3, build=6, execution=30, iteration=300)
NONE = examples.interval(None, None, "withheld")
OUTGROWN = Accepted(up_to=0.05, until="2026-12-31", reason="see #123")
BEYOND = "beyond the 5% accepted until 2026-12-31 (see #123)"
RATE: dict[str, Any] = {"metric": "rate", "unit": "1/s", "better": "higher"}
MISSES: dict[str, Any] = {"metric": "misses", "unit": "", "ratio": NONE}
REAL, FLOOR = reasons.RealWithin(threshold=0.03), reasons.BelowFloor(threshold=None, floor=1e-3, unit="s")
UNCORRECTED = reasons.Uncorrected(threshold=0.03, confidence=0.996, comparisons=12)
EXACT_EXCEEDS = reasons.ExactExceeds(threshold=0.03, outgrown=None)
LABELLED = reasons.AcceptedByLabel(label="the label perf-accepted of #12", outgrown=OUTGROWN)
MAY = "too noisy, may be a regression; "


def faster(reason: reasons.Reason = examples.EXCEEDS, **changes: Any) -> Finding:
    return examples.finding("x", "improvement", estimate=0.9, half=0.02, reason=reason, **changes)


def exact(estimate: float, reason: reasons.Reason, verdict: Verdict = "unchanged") -> Finding:
    ratio = examples.interval(estimate, 0.0, method="exact")
    return examples.finding("x", verdict, metric="size", unit="B", ratio=ratio, reason=reason)


def noisy(estimate: float, half: float, reason: reasons.Reason | None = None, **changes: Any) -> Finding:
    why = examples.wide() if reason is None else reason
    return examples.finding("x", "inconclusive", estimate=estimate, half=half, reason=why, **changes)


def withheld(reason: reasons.Reason, *, verdict: Verdict = "inconclusive", **changes: Any) -> Finding:
    ratio = changes.pop("ratio", examples.interval(1.041, None, "withheld"))
    return examples.finding("x", verdict, ratio=ratio, reason=reason, **changes)


def not_worse(floor: float | None = None) -> reasons.NotWorse:
    return reasons.NotWorse(threshold=0.03, floor=floor, unit="s")


# fmt: off
AGAINST_3: list[tuple[Finding, str, str]] = [
    (examples.regressed(), "8.3% slower (at least 4.9%)", "regression"),
    (examples.regressed(reason=msgspec.structs.replace(examples.EXCEEDS, outgrown=OUTGROWN)), "8.3% slower (at least 4.9%)", f"regression, {BEYOND}"),
    (examples.finding(estimate=1.002, half=0.011), "0.20% slower (0.90% faster to 1.3% slower)", "same"),
    (examples.finding(estimate=1.0, half=0.0), "no change (0.0% to 0.0%)", "same"),
    (examples.finding(estimate=1.015, half=0.01, reason=REAL), "1.5% slower (0.50% to 2.5%)", "same, real but smaller"),
    (examples.finding(estimate=0.985, half=0.01, reason=REAL), "1.5% faster (0.50% to 2.5%)", "same, real but smaller"),
    (examples.finding(estimate=1.05, half=0.04, floor=1e-3, reason=FLOOR), "5.0% slower (1.0% to 9.0%)", "same, smaller than the floor of 1 ms"),
    (exact(1.0, reasons.SAME_COUNT), "no change in size (exact)", "same"),
    (exact(1.01, reasons.ExactWithin(threshold=0.03)), "size 1.0% higher (exact)", "same"),
    (exact(1.1, EXACT_EXCEEDS, "regression"), "size 10.0% higher (exact)", "regression"),
    (noisy(1.041, 0.022, examples.wide(beyond=True), more_builds=4), "4.1% slower (1.9% to 6.3%)", f"{MAY}the slowdown may be smaller; about 4 more builds would decide it"),
    (noisy(1.012, 0.024, more_builds=1), "1.2% slower (1.2% faster to 3.6% slower)", "too noisy, the slowdown may exceed it; about 1 more build would decide it"),
    (noisy(1.012, 0.2, examples.wide("both", hopeless=True)), "1.2% slower (18.8% faster to 21.2% slower)", "too noisy, the change may exceed it in either direction; more builds alone would not help"),
    (noisy(0.98, 0.03, not_worse(), not_worse=True), "2.0% faster (5.0% faster to 1.0% slower)", "too noisy, not slower; the speedup may exceed it"),
    (noisy(1.0, 0.05, not_worse(0.02), not_worse=True, floor=0.02), "no change (5.0% faster to 5.0% slower)", "too noisy, not slower (any slowdown is below the floor of 20 ms); the speedup may exceed it"),
    (noisy(1.051, 0.018, UNCORRECTED, more_builds=2), "5.1% slower (3.3% to 6.9%)", f"{MAY}beyond it, but not after correction for 12 comparisons; about 2 more builds would decide it"),
    (noisy(0.9, 0.02, reasons.BetterUncorrected(threshold=0.03), not_worse=True), "10.0% faster (8.0% to 12.0%)", "too noisy, not slower; beyond it, but not after correction for multiple comparisons"),
    (noisy(1.1, 0.02, reasons.FloorOpen(threshold=0.03, floor=0.02, unit="s"), floor=0.02), "10.0% slower (8.0% to 12.0%)", "undecided, beyond it, but not shown to be above the floor of 20 ms"),
    (noisy(1.4, 1.9, examples.wide("both", beyond=True)), "40.0% slower (100% faster to 230% slower)", f"{MAY}the change may exceed it in either direction"),
    (examples.unbounded(), "20.0% slower (unbounded)", f"{MAY}base's mean is too close to 0 for its spread, so the interval of the ratio has no bounds"),
    (examples.accepted(), "6.1% slower (at least 4.1%)", "accepted up to 8% until 2026-12-31: new checksum, see #123"),
    (examples.accepted(reason=LABELLED), "6.1% slower (at least 4.1%)", f"accepted by the label perf-accepted of #12, {BEYOND}"),
]
OTHERS = [
    (faster(), "10.0% faster (at least 6.6%), threshold 3% (2.9% faster): improvement"),
    (faster(threshold=0.02), "10.0% faster (at least 6.6%), threshold 2%: improvement"),
    (noisy(0.988, 0.024, examples.wide("below")), "1.2% faster (3.6% faster to 1.2% slower), threshold 3% (2.9% faster): too noisy, the speedup may exceed it"),
    (noisy(0.99, 0.03, examples.wide("below"), **RATE), ("rate 1.0% lower (4.0% lower to 2.0% higher; higher is better), threshold 3% (2.9% lower): too noisy, the decrease may exceed it")),
    (examples.regressed(estimate=0.9, half=0.02, **RATE), "rate 10.0% lower (at least 6.6%; higher is better), threshold 3% (2.9% lower): regression"),
    # percent of such size are counted, and not read
    (examples.regressed(estimate=14.3, half=2.0), "14.3x as slow (at least 10.9x), threshold 3%: regression"),
    (examples.regressed(estimate=1205062.4, half=9.0), "1,205,062x as slow (at least 1,205,047x), threshold 3%: regression"),
    (withheld(examples.ONE_UNIT), "4.1% slower as measured: undecided, one build of each gives no interval: how builds vary is unknown"),
    (withheld(reasons.FewValues(statistic="p99", needs=400, has=250), metric="latency", statistic="p99"), "latency p99 4.1% slower as measured: undecided, p99 needs 400 values per build and has 250: measure 150 more"),
    (withheld(reasons.NEGATIVE_VALUES, ratio=NONE), "no ratio: undecided, negative values have no ratio"),
    (withheld(reasons.ZeroBaseExceeds(floor=3.0, unit=""), verdict="regression", **MISSES), "misses has no ratio: regression, base is 0 and head is beyond the floor of 3"),
    (withheld(reasons.BOTH_ZERO, verdict="unchanged", **MISSES), "misses has no ratio: same, both sides are 0"),
]
# fmt: on


def test_each_verdict_has_a_sentence() -> None:
    expected = [f"{change}, threshold 3%: {end}" for _, change, end in AGAINST_3] + [said for _, said in OTHERS]
    found = [each for each, *_ in AGAINST_3] + [each for each, _ in OTHERS]
    assert list(map(words.conclusion, found)) == expected


def test_the_sentence_has_the_interval_that_the_verdict_rests_on() -> None:
    decided = DecidedAt(confidence=0.99, low=1.04, high=1.2, look=1, looks=1)
    assert "(at least 4.0%)" in words.conclusion(examples.regressed(decided_at=decided))
    said = "+4.0% to +20.0% at 99% confidence after correction for 12 comparisons"
    assert words.decided(examples.regressed(decided_at=decided)) == said
    half = msgspec.structs.replace(decided, high=None, looks=4)
    said = "+4.0% or more at 99% confidence after correction for 12 comparisons, interim check 1 of 4"
    assert words.decided(examples.regressed(decided_at=half)) == said
    assert words.decided(examples.finding(decided_at=decided)) == ""


def test_what_an_interval_rests_on_is_a_footnote() -> None:
    each = "95% confidence, over 5 builds of each"
    assert words.basis(examples.regressed()) == words.basis(examples.finding()) == each
    several = examples.finding(base=examples.side(1.0, counts=SESSIONS))
    assert words.basis(several) == "95% confidence, over 3 and 1 sessions"
    assert words.basis(examples.withheld()) == words.basis(exact(1.0, reasons.SAME_COUNT)) == ""


def test_an_end_next_to_the_threshold_does_not_read_like_it() -> None:
    near = [msgspec.structs.replace(examples.interval(1.05, 0.0203), low=low) for low in (1.02996, 1.030004, 1.03)]
    said = [words.conclusion(examples.finding(ratio=ratio)) for ratio in near]
    assert [text.partition("(")[2].partition(" to")[0] for text in said] == ["2.996%", "3.0004%", "3.0%"]


def test_a_change_of_ten_times_and_more_is_a_factor_in_a_column_too() -> None:
    assert [numbers.change(examples.interval(each, 0.0)) for each in (9.9, 10, 14.26, 120.4, 3e12)] == [
        "+890%", "10x", "14.3x", "120x", "3e+12x",
    ]  # fmt: skip
    assert numbers.interval(examples.interval(12.0, 4.0)) == "+700% to 16x"


def test_no_interval_is_written_below_nothing() -> None:
    ratio = examples.interval(1.4, 1.9)
    assert numbers.interval(ratio) == "-100% to +230%"
    decided = DecidedAt(confidence=0.99, low=-1.2, high=3.9, look=1, looks=1)
    assert words.decided(examples.regressed(decided_at=decided)).startswith("-100% to +290% at 99% confidence")


def test_what_comes_from_elsewhere_cannot_leave_its_line() -> None:
    for name in examples.HOSTILE:
        entry = reasons.AcceptedByEntry(up_to=0.1, until=name, reason=name)
        label = reasons.AcceptedByLabel(label=name, outgrown=Accepted(up_to=0.1, until=name, reason=name))
        found = [
            examples.accepted(reason=entry),
            examples.accepted(reason=label),
            examples.withheld(metric=name, unit=name, statistic=name),
        ]
        assert all(words.conclusion(f).isprintable() for f in found)


def test_a_change_unlike_the_values_beside_it_is_explained() -> None:
    paired = examples.interval(1.379, 0.2, method="paired")
    found = examples.finding(base=examples.side(3.231), head=examples.side(3.707), ratio=paired)
    assert words.from_columns(found) == ("mean of pairs; the columns alone give +14.7%")
    alike = msgspec.structs.replace(found, head=examples.side(4.4))
    other = msgspec.structs.replace(found, ratio=examples.interval(1.379, 0.2, method="bootstrap"))
    assert words.from_columns(alike) == words.from_columns(other) == ""
