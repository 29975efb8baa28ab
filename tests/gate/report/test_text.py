from typing import Any

import pytest

from gate.model import Finding, ReportVerdict, Verdict, reasons
from gate.model.warnings.base import Said
from gate.model.warnings.estimates import DependsOnMachine
from gate.report.formats import text as terminal
from gate.writing.plain import columns
from tests.gate.report import examples


@pytest.mark.parametrize("name", examples.ALL)
@pytest.mark.parametrize("color", [False, True])
def test_nothing_but_our_own_colour_escapes(name: str, color: bool) -> None:
    out = terminal.written(examples.ALL[name](), color=color)
    plain = "".join(out.split("\x1b[0m"))
    for code in ("1;31", "33", "35", "36", "2", "32", "1;32", "1"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert color == (plain != out)
    assert all(line.isprintable() for line in plain.split("\n"))


@pytest.mark.parametrize("name", examples.ALL)
def test_only_commands_to_copy_are_wider_than_the_terminal(name: str) -> None:
    report = examples.ALL[name]()
    for width in (40, 60, 80, 100, 140, 200):
        lines = terminal.written(report, width=width).splitlines()
        wide = [line for line in lines if columns(line) > width and not line.startswith(("    ", "next      `"))]
        assert wide == [], width


def test_many_unchanged_findings_are_counted_unless_all_are_wanted() -> None:
    report = examples.many()
    short, full = terminal.written(report), terminal.written(report, every=True)
    assert "270 same. Without a row: 270 same." in " ".join(short.split())
    assert "case-001" not in short and "names begin with suite/" in short
    assert all(f.benchmark.removeprefix("suite/") in full for f in report.findings)
    assert all(f.benchmark.removeprefix("suite/") in short for f in report.findings if f.verdict != "unchanged")


@pytest.mark.parametrize(
    ("name", "most"),
    [("pass", 15), ("in_sight_of_nothing", 15), ("all_identical", 15), ("quiet", 20), ("only_inconclusive", 20)],
)
def test_a_report_that_asks_for_little_is_short(name: str, most: int) -> None:
    assert len(terminal.written(examples.ALL[name]()).splitlines()) <= most


@pytest.mark.parametrize("verdict", ["regression", "inconclusive"])
def test_of_many_noisy_results_changes_come_first_and_the_rest_is_counted(verdict: ReportVerdict) -> None:
    def noise(number: int) -> Finding:
        better = {"not_worse": True, "estimate": 0.5} if number % 2 else {"estimate": 1.0 + number / 1000}
        why = reasons.TooNoisy(detectable=0.4, wanted=0.1, unit="s", better="lower", hopeless=True)
        name = f"{'abcd'[number % 4]}/case-{number}"
        return examples.finding(name, "inconclusive", half=0.6, detectable=0.4, reason=why, **better)

    changes = [examples.improved("a/fast"), *([examples.regressed("b/slow")] if verdict == "regression" else [])]
    large = examples.regression().overall
    facts = examples.run_facts(builds=[])
    report = examples.report(verdict, [*map(noise, range(398)), *changes], overall=large, run=facts)
    lines = terminal.written(report, width=80).splitlines()
    assert len(lines) - len(changes) <= 20
    rows = [line for line in lines if line.startswith(("a/", "b/", "c/", "d/"))]
    # what may be a regression before what is shown to be none, however large
    worst = ["a/case-396", "c/case-394", "a/case-392"]
    assert [row.split()[0] for row in rows] == [*(each.benchmark for each in changes[::-1]), *worst]
    assert all(row.endswith("◆ too noisy, catches 40.0% ¹") for row in rows[-3:])
    text = " ".join(" ".join(lines).split())
    assert "398 too noisy (184 may be a regression, 199 not worse)" in text
    assert "Without a row: 395 too noisy." in text
    assert "¹ may be a regression: its change as measured is beyond the threshold" in text


def test_all_is_said_on_demand_and_no_footnote_repeats_a_sentence() -> None:
    short, full = (terminal.written(examples.regression(), width=140, every=every) for every in (False, True))
    for said in (
        "the interval is too wide: the change may exceed the threshold of 3%",
        "overall, time  +0.40% (-0.20% to +1.0%, 95% interval over 5 builds of each), geometric mean",
    ):
        assert said not in short and said in full
    confidence = "at 99.96% confidence, after correction for 5 comparisons and interim checks"
    texts = [" ".join(terminal.written(examples.quantiles(), every=every).split()) for every in (False, True)]
    assert [confidence in text for text in texts] == [False, True]


@pytest.mark.parametrize(("verdict", "left"), [("regression", "regressions"), ("inconclusive", "undecided")])
def test_500_findings_are_listed_within_bounds(verdict: Verdict, left: str) -> None:
    name = "suite/a-benchmark-with-a-name-of-its-own"
    found = [examples.finding(f"{name}-{i}", verdict, reason=examples.told(f"reason {i}")) for i in range(500)]
    warnings = [Said(f"warning {i}") for i in range(500)]
    entries = [{"benchmark": f"b{i}", "threshold": "10%"} for i in range(500)]
    policy = examples.policy(override=entries, accept=entries)
    report = examples.report("regression", found, warnings=warnings, policy=policy)
    out = terminal.written(report)
    assert len(out.splitlines()) < 220
    assert "\nmore      report.html, with 495 more warnings\n" in out
    # fifty are listed: three are told of in sentences, forty have notes
    assert "7 more notes are in report.html." in out
    assert f"Without a row: 450 {left}." in " ".join(out.split())
    full = terminal.written(report, width=140, every=True)
    assert "more notes" not in full
    assert all(f"{name.removeprefix('suite/')}-{i}" in full for i in range(500))


def test_columns_go_before_the_table_does() -> None:
    report = examples.metrics()
    assert "81,234 1/s" in terminal.written(report, width=140) and "│" not in terminal.written(report, width=120)
    narrow = terminal.written(report, width=80)
    # a name is whole before anything stands beside it but its change and its verdict
    assert "81,234 1/s" not in narrow and "encode instructions size=10, kind=a  +2.1% (exact)" in narrow
    assert "base 81,234 1/s, head 73,923 1/s" in terminal.written(report, width=40).replace("\n   ", "")


def test_of_many_findings_the_machines_of_those_are_shown_that_need_a_look() -> None:
    def unchanged(name: str, **changes: Any) -> Finding:
        method = {"ratio": examples.interval(1.0, 0.01, method="fixed-sessions")}
        return examples.finding(name, sessions=examples.on_machines(1.0, 1.01, 0.99), **(method | changes))

    depends = DependsOnMachine("-10.0% on session 0", "+10.0% on session 1")
    found = [unchanged(f"same-{k}") for k in range(8)] + [unchanged("differs", warnings=[depends])]
    report = examples.report("pass", found)
    lines = terminal.written(report).splitlines()
    start = lines.index("each machine by itself")
    assert lines[start + 2].split()[0] == "differs"
    assert sum("session 1 (ci-arm-1)" in line for line in lines[start:]) == 5
    assert "12 more rows are in report.html." in lines
    whole = terminal.written(report, every=True)
    assert whole.count("session 1 (ci-arm-1)") == 9
    assert "more rows are" not in whole
