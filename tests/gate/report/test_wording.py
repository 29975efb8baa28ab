from typing import Any

import pytest

from gate.model import Commit, Counts, Family, Finding, Round
from gate.report import cases, failures, view, wording
from tests.gate.report import examples

SESSIONS = Counts(session=3, build=6, execution=30, iteration=300)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            examples.finding(estimate=1.051, half=0.019),
            "head is 5.1% slower (3.2% to 7.0%, 95% interval over 5 builds)",
        ),
        (examples.finding(estimate=0.9, half=0.02), "head is 10.0% faster (8.0% to 12.0%, 95% interval over 5 builds)"),
        (
            examples.finding(estimate=1.01, half=0.02),
            "head is 1.0% slower (1.0% faster to 3.0% slower, 95% interval over 5 builds)",
        ),
        (
            examples.finding(estimate=1.0, half=0.0),
            "head is the same as base (0.0% to 0.0%, 95% interval over 5 builds)",
        ),
        (
            examples.finding(estimate=1.1, half=0.02, statistic="p99"),
            "head's p99 is 10.0% slower (8.0% to 12.0%, 95% interval over 5 builds)",
        ),
        (
            examples.finding(estimate=1.1, half=0.02, metric="memory", unit="B"),
            "memory of head is 10.0% higher (8.0% to 12.0%, 95% interval over 5 builds)",
        ),
        (
            examples.finding(estimate=0.9, half=0.02, metric="rate", unit="1/s", better="higher"),
            "rate of head is 10.0% lower (8.0% to 12.0%, 95% interval over 5 builds) (higher is better)",
        ),
        (
            examples.finding(estimate=1.1, half=0.02, base=examples.side(1.0, counts=SESSIONS)),
            "head is 10.0% slower (8.0% to 12.0%, 95% interval over 3 and 1 sessions)",
        ),
        (examples.withheld(), "head is 4.9% slower (no interval: one build a side)"),
        (examples.unbounded(), "head is 20.0% slower (the 95% interval over 5 builds has no ends)"),
        (
            examples.finding(ratio=examples.interval(None, None, "withheld")),
            "head cannot be put in relation to base (no interval, over 5 builds)",
        ),
        (
            examples.finding(ratio=examples.interval(1.02, 0.0, method="exact"), unit="count", metric="instructions"),
            "instructions of head is 2.0% higher (compared as exact numbers)",
        ),
    ],
)
def test_a_sentence_for_a_newcomer(found: Finding, expected: str) -> None:
    assert cases.sentence(found) == expected


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (0.95, "95%"),
        (0.99, "99%"),
        (0.9958, "99.58%"),
        (0.999973, "99.9973%"),
        (0.03, "3%"),
        (0.025, "2.5%"),
        (1, "100%"),
    ],
)
def test_a_confidence_is_never_rounded_to_certainty(confidence: float, expected: str) -> None:
    assert wording.format_percent(confidence) == expected


@pytest.mark.parametrize(
    ("p", "expected"),
    [(None, "none"), (0.0, "< 0.0001"), (0.0004, "0.0004"), (0.049, "0.0490"), (0.62, "0.62"), (1, "1.00")],
)
def test_p_values(p: float | None, expected: str) -> None:
    assert wording.format_p(p) == expected


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        (None, "unknown"),
        (Commit(), "unknown"),
        (Commit(ref="main", sha="0123456789abcdef"), "main 0123456789"),
        (Commit(ref="0123456", sha="0123456789abcdef", dirty=True), "0123456789 with uncommitted changes"),
        (Commit(ref="main"), "main"),
    ],
)
def test_a_commit(side: Commit | None, expected: str) -> None:
    assert wording.commit(side) == expected


def test_what_was_measured() -> None:
    assert wording.measured(examples.passing()) == (
        "5 of 5 rounds, 5 builds x 5 executions x 10 iterations a side, 3 min 23 s"
    )
    facts = examples.run_facts(rounds=Round(done=3, planned=12), seconds=None)
    uneven = examples.report("pass", "", [examples.finding(base=examples.side(1.0, counts=SESSIONS))], run=facts)
    assert wording.measured(uneven) == (
        "3 of 12 rounds, 1 to 3 sessions, 5 to 6 builds, 25 to 30 executions, 250 to 300 iterations a side"
    )


def test_the_error_level_of_the_report() -> None:
    report = examples.passing()
    assert wording.error_level(report).startswith("5% for the whole report, 2.5% of it for a false regression, shared")
    alone = examples.report("pass", "", report.findings, family=Family(method="none", size=3))
    assert wording.error_level(alone) == "5% for each of 3 findings, 2.5% of it for a false regression (family: none)"


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("nothing regressed", "Pass: nothing regressed"),
        ("pass: nothing regressed", "Pass: nothing regressed"),
        ("", "Pass"),
        ("a\nb", "Pass: a\\nb"),
    ],
)
def test_the_headline_says_the_verdict_once(summary: str, expected: str) -> None:
    assert wording.headline(examples.report("pass", summary, [])) == expected


def test_decides_reason_and_the_accept_are_not_said_twice() -> None:
    assert len(cases.notes(examples.accepted())) == 1
    assert len(cases.notes(examples.accepted(reason="worse"))) == 2


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "build of head failed: exit 2"),
        ({"side": None}, "a build failed: exit 2"),
        ({"benchmark": "b"}, "build of head failed: exit 2"),
    ],
)
def test_the_title_of_a_failure(changes: dict[str, Any], expected: str) -> None:
    assert failures.title(examples.build_failure(**changes)) == expected


def test_steps_are_quoted_for_a_shell() -> None:
    failure = examples.build_failure(directory="/a dir/x", environment={"A": "it's"}, command="make")
    assert failures.repeat(failure) == [
        "# of a gate with --keep: otherwise the directory is gone",
        "cd '/a dir/x'",
        "export A='it'\"'\"'s'",
        "make",
    ]
    assert failures.repeat(examples.build_failure(command=None)) == []


def test_what_matters_comes_first() -> None:
    found = view.ordered(examples.regression().findings)
    assert [f.benchmark for f in found] == [
        "parse-large", "startup", "scan", "walk", "encode", "render", "tokenize", "lex",
    ]  # fmt: skip
