"""The sentence of each verdict: what a newcomer reads, and that it never contradicts itself."""

import datetime
import re
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.config.parse import parse
from gate.config.rules import Policy
from gate.config.source import read_source
from gate.decide import decide, reasons
from gate.model import Accepted, Better, Counts, DecidedAt, Finding, Verdict
from gate.words import findings
from tests.gate.report import examples
from tests.support import simulate

OVER = "95% interval over 5 builds"
WIDE = "the interval is too wide to tell a change beyond the threshold of 3% from none; more builds narrow it"
FAMILY = "beyond the threshold of 3% on its own, not at the 99.6% that the number of findings asks for"
NONE = examples.interval(None, None, "withheld")
NOMINAL = DecidedAt(confidence=0.95, low=1.063, high=1.103, look=1, looks=1)


def inconclusive(estimate: float, half: float, **changes: Any) -> Finding:
    return examples.finding("x", "inconclusive", estimate=estimate, half=half, **({"reason": WIDE} | changes))


def withheld(reason: str, *, verdict: Verdict = "inconclusive", **changes: Any) -> Finding:
    ratio = changes.pop("ratio", examples.interval(1.041, None, "withheld"))
    return examples.finding("x", verdict, ratio=ratio, reason=reason, **changes)


EXPECTED = [
    (
        examples.regressed(decided_at=NOMINAL),
        f"head is 8.3% slower (6.3% to 10.3%, {OVER}); the threshold is 3%, so this is beyond it: regression",
    ),
    (
        examples.regressed(),
        (
            f"head is 8.3% slower (6.3% to 10.3%, {OVER}); the threshold is 3%, so this is beyond it, "
            "also at the 99.58% that decided: regression"
        ),
    ),
    (
        examples.finding("x", "improvement", estimate=0.9, half=0.02, decided_at=NOMINAL),
        (
            f"head is 10.0% faster (8.0% to 12.0%, {OVER}); the threshold is 3% (2.9% faster), so this is beyond it for the better: "
            "improvement"
        ),
    ),
    (
        examples.finding(estimate=1.002, half=0.011),
        (
            f"head is 0.20% slower (0.90% faster to 1.3% slower, {OVER}); the threshold is 3%, so any change is below it: "
            "unchanged"
        ),
    ),
    (
        examples.finding(estimate=1.015, half=0.01),
        f"head is 1.5% slower (0.50% to 2.5%, {OVER}); the change is real, but below the threshold of 3%: unchanged",
    ),
    (
        examples.finding(estimate=1.05, half=0.04, floor=1e-3),
        f"head is 5.0% slower (1.0% to 9.0%, {OVER}); the change is smaller than the floor of 1 ms: unchanged",
    ),
    (
        examples.finding(metric="size", unit="B", ratio=examples.interval(1.0, 0.0, method="exact")),
        "head is the same as base in size (compared as exact numbers); nothing changed: unchanged",
    ),
    (
        examples.finding(metric="size", unit="B", ratio=examples.interval(1.01, 0.0, method="exact")),
        "head is 1.0% higher in size (compared as exact numbers); the threshold is 3%, so this is within it: unchanged",
    ),
    (
        examples.regressed(metric="size", unit="B", ratio=examples.interval(1.1, 0.0, method="exact")),
        (
            "head is 10.0% higher in size (compared as exact numbers); the threshold is 3%, so this is beyond it: "
            "regression"
        ),
    ),
    (
        inconclusive(1.041, 0.022, more_builds=4),
        (
            f"head is 4.1% slower (1.9% to 6.3%, {OVER}); the threshold is 3%, so this may be below it: inconclusive; "
            "about 4 more builds would tell"
        ),
    ),
    (
        inconclusive(1.012, 0.024, more_builds=1),
        (
            f"head is 1.2% slower (1.2% faster to 3.6% slower, {OVER}); the threshold is 3%, and this may be beyond it: "
            "inconclusive; about 1 more build would tell"
        ),
    ),
    (
        inconclusive(1.012, 0.2),
        (
            f"head is 1.2% slower (18.8% faster to 21.2% slower, {OVER}); the threshold is 3%, and more than that is "
            "possible in both directions: inconclusive; as it stands, no reasonable number of builds would tell"
        ),
    ),
    (
        inconclusive(0.98, 0.03, not_worse=True, reason="not worse: any slowdown is below the threshold of 3%, ..."),
        (
            f"head is 2.0% faster (5.0% faster to 1.0% slower, {OVER}); the threshold is 3%, so any slowdown is below it, "
            "but whether it improved by more than 3% is open: inconclusive, not worse"
        ),
    ),
    (
        inconclusive(
            1.0, 0.05, not_worse=True, floor=0.02, reason="not worse: any slowdown is below the floor of 20 ms"
        ),
        (
            f"head is the same as base (5.0% faster to 5.0% slower, {OVER}); any slowdown is below the floor of 20 ms, "
            "but whether it improved by more than 3% is open: inconclusive, not worse"
        ),
    ),
    (
        inconclusive(1.051, 0.018, reason=FAMILY, more_builds=2),
        f"head is 5.1% slower (3.3% to 6.9%, {OVER}); inconclusive: {FAMILY}; about 2 more builds would tell",
    ),
    (
        inconclusive(1.4, 1.9),
        (
            f"head is 40.0% slower (100% faster to 230% slower, {OVER}); the threshold is 3%, and more than that is "
            "possible in both directions: inconclusive; as it stands, no reasonable number of builds would tell"
        ),
    ),
    (
        withheld("one build a side leaves open what differs from build to build, so there is no interval"),
        (
            "head is 4.1% slower as measured; inconclusive: one build a side leaves open what differs from build to build, "
            "so there is no interval"
        ),
    ),
    (
        withheld("p99 needs 400 values per build, has 250: 150 are missing", metric="latency", statistic="p99"),
        (
            "head's p99 latency is 4.1% slower as measured; inconclusive: p99 needs 400 values per build, has 250: "
            "150 are missing"
        ),
    ),
    (
        withheld("negative values have no ratio", ratio=NONE),
        "head cannot be put in relation to base; inconclusive: negative values have no ratio",
    ),
    (
        withheld(
            "base is 0 and head is beyond the floor of 3", verdict="regression", unit="", metric="misses", ratio=NONE
        ),
        "head cannot be put in relation to base in misses; base is 0 and head is beyond the floor of 3: regression",
    ),
    (
        withheld("both sides are 0", verdict="unchanged", unit="", metric="misses", ratio=NONE),
        "head cannot be put in relation to base in misses; both sides are 0: unchanged",
    ),
    (
        examples.accepted(),
        (
            f"head is 6.1% slower (4.9% to 7.3%, {OVER}); the threshold is 3%, so this is beyond it, but accepted up to 8% "
            "until 2026-12-31: new checksum, see #123"
        ),
    ),
    (
        examples.regressed(metric="rate", unit="1/s", better="higher", estimate=0.9, half=0.02, decided_at=NOMINAL),
        (
            f"head is 10.0% lower in rate (8.0% to 12.0%, {OVER}; higher is better); the threshold is 3% (2.9% lower), "
            "so this is beyond it: regression"
        ),
    ),
]


@pytest.mark.parametrize(("found", "expected"), EXPECTED)
def test_each_verdict_has_a_sentence(found: Finding, expected: str) -> None:
    assert findings.conclusion(found) == expected


def test_that_builds_do_not_help_is_said_only_where_it_is_known() -> None:
    no_degrees = inconclusive(1.012, 0.2, ratio=examples.interval(1.012, 0.2, method="bootstrap"))
    sessions = examples.side(1.0, counts=Counts(session=3, build=6, execution=30, iteration=300))
    for found in (no_degrees, inconclusive(1.012, 0.2, base=sessions, head=sessions)):
        assert findings.conclusion(found).endswith(": inconclusive")


def test_an_end_next_to_the_threshold_does_not_read_like_it() -> None:
    near = [msgspec.structs.replace(examples.interval(1.05, 0.0203), low=low) for low in (1.02996, 1.030004, 1.03)]
    said = [findings.sentence(examples.finding(ratio=ratio)) for ratio in near]
    assert [text.partition("(")[2].partition(" to")[0] for text in said] == ["2.996%", "3.0004%", "3.0%"]


def test_no_interval_is_written_below_nothing() -> None:
    ratio = examples.interval(1.4, 1.9)
    assert findings.interval(ratio) == "-100% to +230%"
    assert findings.ratio_interval(ratio) == "0.0000 to 3.3000"
    decided = DecidedAt(confidence=0.99, low=-1.2, high=3.9, look=1, looks=1)
    assert findings.decided_interval(examples.finding(decided_at=decided)) == "-100% to +290%"


def test_what_comes_from_elsewhere_cannot_leave_its_line() -> None:
    for name in examples.HOSTILE:
        accepted = Accepted(up_to=0.1, until=name, reason=name)
        found = [
            examples.accepted(accepted=accepted),
            examples.withheld(reason=name, metric=name, unit=name, statistic=name),
        ]
        assert all(findings.conclusion(f).isprintable() for f in found)


@pytest.mark.parametrize(
    ("not_worse", "expected"),
    [
        ([False, False], "2 of 2 findings inconclusive, none regressed"),
        ([True, False, False], "3 of 3 findings inconclusive, 1 of them not worse, none regressed"),
        ([True], "1 of 1 finding inconclusive but not worse, none regressed"),
    ],
)
def test_the_headline_counts_apart_what_is_not_worse(not_worse: list[bool], expected: str) -> None:
    found = [examples.finding(f"case-{i}", "inconclusive", not_worse=each) for i, each in enumerate(not_worse)]
    assert reasons.summary("inconclusive", found, simulate.evidence([])) == expected


def decided(
    rng: np.random.Generator, toml: str, *, builds: int, better: Better = "lower", **changes: Any
) -> list[Finding]:
    pairs = []
    for _ in range(12):
        sd, mean = rng.choice([0.003, 0.01, 0.03, 0.3]), rng.choice([0.85, 0.97, 1.0, 1.02, 1.05, 1.2])
        base, head = (simulate.sample(rng, simulate.normal, (sd, 0, 0), (builds, 1, 1), m) for m in (1.0, mean))
        pairs.append((base, head))
    evidence = msgspec.structs.replace(simulate.evidence(pairs), **changes)
    found = [msgspec.structs.replace(case, better=better) for case in evidence.cases]
    policy = Policy(parse(read_source(f"[gate]\n{toml}", "perfgate.toml")), "test", datetime.date(2026, 11, 20))
    return decide(msgspec.structs.replace(evidence, cases=found), policy).findings


@pytest.mark.parametrize("toml", ["", 'family = "none"', 'floor = "50ms"', 'floor = "0s"', "min_builds = 8"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_what_is_decided_is_said_without_contradiction(toml: str, better: Better) -> None:
    rng = np.random.default_rng(20261120)
    for builds in (1, 2, 5):
        for found in decided(rng, f'threshold = "3%"\n{toml}', builds=builds, better=better):
            said = findings.conclusion(found)
            assert re.search(rf"\b{found.verdict}\b", said)
            assert not said.endswith(".")
            assert "nan" not in said and "None" not in said
            if found.verdict == "inconclusive":
                # a nominal interval beyond the threshold never only "may be" so
                low, high = found.ratio.low, found.ratio.high
                outside = low is not None and high is not None and (low > 1.03 or high < 1 / 1.03)
                assert not (outside and re.search("may be|any (slowdown|change) |too wide", said)), said
                if "is below it" in said:
                    assert high is not None and low is not None
                    assert high < 1.03 if better == "lower" else low > 1 / 1.03
                assert (found.more_builds is not None) == bool(re.search("more builds? would tell", said))
                assert "too wide" not in said
            if "for the better" in said or "improvement" in said:
                assert found.verdict in ("improvement", "inconclusive")


def test_a_floor_is_not_blamed_for_what_the_number_of_findings_holds_back() -> None:
    rng = np.random.default_rng(5)
    reasons = [
        found.reason
        for _ in range(20)
        for found in decided(rng, 'threshold = "3%"\nfloor = "1us"', builds=5)
        if found.verdict == "inconclusive" and found.ratio.low is not None and found.ratio.low > 1.03
    ]
    assert reasons
    assert all("that the number of findings asks for" in reason for reason in reasons)


def test_a_reason_that_the_sentence_has_said_is_known_as_such() -> None:
    decided_by_another = examples.regressed()
    assert not findings.says_why(decided_by_another)
    assert findings.says_why(examples.regressed(decided_at=NOMINAL))
    assert findings.says_why(inconclusive(1.041, 0.022))
    assert not findings.says_why(inconclusive(1.051, 0.018, reason=FAMILY))
    assert not findings.says_why(withheld("base is 0", verdict="regression"))
    assert findings.says_why(examples.accepted())
