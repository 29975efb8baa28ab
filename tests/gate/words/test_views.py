"""What views are called, why one decided, and that each format says both."""

from __future__ import annotations

import json as standard_json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gate.model import Finding, Report
from gate.model.reasons import BeyondLimit
from gate.model.report import View
from gate.report import json, junit
from gate.report.markdown import comment, summary
from gate.report.markdown.accept import accept
from gate.report.page import html
from gate.report.text import terminal
from gate.words import findings as finding_words
from gate.words import verdict_line, views
from tests.gate.report import examples


@pytest.mark.parametrize(
    ("metric", "statistic", "said"),
    [
        ("time", "mean", "time"),
        ("time", "typical", "typical time"),
        ("active", "typical", "active time"),
        ("active", "mean", "mean active time"),
        ("latency", "p99", "latency p99"),
        ("active", "p50", "active time p50"),
    ],
)
def test_a_metric_and_a_statistic_have_one_name(metric: str, statistic: str, said: str) -> None:
    assert views.quantity(metric, statistic) == said


def of_suite() -> Finding:
    mean = examples.finding("parse", "inconclusive", estimate=1.01, half=0.3)
    return replace(mean, statistic="typical", view=View(why="sharper", times=43.5), beside=[mean])


def of_google_benchmark() -> Finding:
    real = examples.finding("parse", "inconclusive", estimate=1.01, half=0.3)
    return replace(real, metric="cpu_time", view=View(why="sharper", times=7.94), beside=[real])


UNCHANGED = examples.finding("lex")
CLAUSES = {
    "by active time: wall time varied 20 times as much": examples.active(UNCHANGED, 20.3),
    "by active time: wall time varied 1,200 times as much": examples.active(UNCHANGED, 1234.0),
    "by active time: wall time varied 1.4 times as much": examples.active(UNCHANGED, 1.36),
    "by active time: wall time varied about as much": examples.active(UNCHANGED, 0.98),
    "by active time: the first round does not show which view varies less": replace(
        examples.active(UNCHANGED), view=View(why="sharper", times=None)
    ),
    "by mean wall time: active time shows no regression": examples.by_wall(examples.regressed(), "regression"),
    "by typical wall time: several tasks do the work, so active time is not valid": examples.by_wall(
        UNCHANGED, "tasks"
    ),
    "by wall time: several tasks do the work, so active time is not valid": replace(
        UNCHANGED, view=View(why="tasks", times=None)
    ),
    "by typical time: mean time varied 44 times as much": of_suite(),
    "by CPU time: wall time varied 7.9 times as much": of_google_benchmark(),
    "": UNCHANGED,
}


@pytest.mark.parametrize("said", CLAUSES)
def test_one_clause_says_which_view_decided_and_why(said: str) -> None:
    assert views.clause(CLAUSES[said]) == said


def test_what_holds_for_several_benchmarks_is_said_once() -> None:
    found = [examples.active(UNCHANGED, times) for times in (20.3, 5.1, 43.6)]
    tasks = [examples.by_wall(UNCHANGED, "tasks")] * 2
    assert views.clauses([*found, *tasks, UNCHANGED]) == [
        "by active time: wall time varied 5.1 to 44 times as much",
        "by typical wall time: several tasks do the work, so active time is not valid",
    ]
    assert views.clauses([]) == []


def test_the_line_of_verdict_names_the_decided_metric() -> None:
    one = examples.report("regression", [examples.active(examples.regressed("encode", estimate=1.062, half=0.011))])
    assert verdict_line.text(one) == ("Regression: encode is 6.2% slower in active time (at least 4.3%), threshold 3%")
    mean = examples.report("regression", [examples.by_wall(examples.regressed("tail"), "regression")])
    assert "tail is 8.3% slower in mean wall time (at least" in verdict_line.text(mean)


@pytest.mark.parametrize(
    ("estimate", "said"),
    [(1.062, "6.2% slower in active time"), (1.0, "no change in active time"), (None, "no ratio in active time")],
)
def test_the_sentence_of_a_finding_names_its_view(estimate: float | None, said: str) -> None:
    found = examples.active(examples.finding("encode", "inconclusive", estimate=estimate))
    assert finding_words.conclusion(found).startswith(said)
    assert finding_words.conclusion(found).endswith("; wall time varied 20 times as much")


def test_time_alone_is_not_said() -> None:
    assert "time" not in finding_words.conclusion(UNCHANGED)


RENDERED: dict[str, Callable[[Report], str]] = {
    "text": lambda report: terminal.render(report),
    "comment": comment.render,
    "summary": summary.render,
    "page": html.render,
    "junit": junit.render,
    "json": json.render,
}


@pytest.mark.parametrize("form", RENDERED)
def test_every_format_says_why_a_view_decided_and_what_the_others_show(form: str) -> None:
    said = " ".join(RENDERED[form](examples.views()).split())
    # a terminal shows it on demand
    assert "wall time varied 20 times as much" in said or form == "text"
    assert "active time shows no regression" in said
    assert "several tasks do the work, so active time is not valid" in said
    assert form == "text" or "-8.2%" in said.replace("&nbsp;", " ") or '"low": 0.918' in said


def test_there_is_one_row_a_benchmark() -> None:
    report = examples.views()
    assert "7 results: 2 regressions, 1 too noisy, 1 same, 3 ok" in comment.render(report)
    assert junit.render(report).count("<testcase ") == 7
    assert html.render(report).count('<tr role="row" class=') == 7


def test_a_test_case_keeps_its_name_whichever_view_decides() -> None:
    def name(finding: Finding) -> str:
        return junit.render(examples.report("pass", [finding])).partition('classname="perfgate.')[2].split('"')[0]

    assert name(examples.active(UNCHANGED)) == name(examples.by_wall(UNCHANGED, "regression")) == "time"
    assert name(UNCHANGED) == "time mean"


def test_the_other_views_of_quiet_benchmarks_are_folded() -> None:
    report = examples.report("pass", [examples.active(UNCHANGED, wall=0.97)])
    assert "-3.0%" not in terminal.render(report)
    assert "lex, wall time: -3.0% (-17.0% to +11.0%), too noisy" in terminal.render(report, every=True)
    first, _, folded = comment.render(report).partition("<details>")
    assert "-3.0%" not in first
    assert "-3.0%" in folded


def test_report_json_holds_every_view_and_gives_it_back() -> None:
    report = examples.views()
    text = json.render(report)
    assert json.read(text) == report
    first = standard_json.loads(text)["findings"][0]
    assert (first["metric"], first["statistic"], first["view"]["why"]) == ("active", "typical", "sharper")
    assert first["beside"][0]["metric"] == "time"
    assert first["beside"][0]["text"].startswith("5.8% slower (8.2% faster to 19.8% slower)")


def test_a_number_that_is_none_comes_back_in_a_view_that_did_not_decide() -> None:
    gone = examples.finding("lex", "inconclusive", base=examples.side(float("nan"), None))
    report = examples.report("pass", [replace(examples.active(UNCHANGED), beside=[gone])])
    again = json.read(json.render(report)).findings[0].beside[0]
    assert again.base.value != again.base.value


def test_a_regression_is_accepted_in_every_view_of_its_benchmark() -> None:
    found = examples.active(examples.regressed("encode", estimate=1.062))
    alone = accept(examples.report("regression", [found])).text
    assert alone.count("[[accept]]") == 1 and "metric" not in alone
    beside = accept(examples.report("regression", [found, examples.finding("encode", metric="memory", unit="B")])).text
    assert beside.count('up_to = "7%"') == 2
    assert 'metric = "active"\nstatistic = "typical"' in beside and 'metric = "time"\nstatistic = "mean"' in beside


def test_a_reader_is_told_what_active_and_typical_mean() -> None:
    said = " ".join(terminal.render(examples.views()).split())
    assert "Active time is the time without waits for a processor." in said
    assert "A typical change is the mean of the ratios of neighbours, without the outer fifths." in said
    assert views.meanings([UNCHANGED]) == []


@pytest.mark.parametrize("name", examples.HOSTILE)
def test_names_made_to_break_a_format_stay_names(name: str) -> None:
    other = examples.finding("lex", metric=name, estimate=0.97)
    found = replace(examples.active(UNCHANGED), beside=[other])
    report = examples.report("pass", [found])
    assert len(views.clause(found)) < 200
    assert "\n" not in views.clause(found) and "\x1b" not in views.clause(found)
    assert "<script>" not in html.render(report).partition("<script>")[0]
    for render in (comment.render, summary.render):
        assert "<script>" not in render(report) and "@team" not in render(report)
    assert json.read(json.render(report)) == report
    junit.render(report)
    terminal.render(report, every=True)


def test_a_limit_that_another_view_breaks_is_said_where_people_read() -> None:
    broken = BeyondLimit(limit=0.05, unit="s", better="lower", confidence=0.9984, threshold=None)
    shown = examples.active(examples.finding("parse", "regression", estimate=1.18))
    beyond = replace(shown, beside=[replace(shown.beside[0], verdict="regression", reason=broken)])
    for report, said in (
        (examples.report("regression", [shown]), False),
        (examples.report("regression", [beyond]), True),
    ):
        for write in (terminal.render, summary.render, html.render):
            assert ("head is above the limit of 50 ms" in " ".join(write(report).split())) is said
        # at first sight, in each format
        assert ("parse, wall time: head is above the limit of 50 ms" in verdict_line.text(report)) is said


@pytest.mark.parametrize("threshold", [None, 0.03])
def test_a_broken_limit_is_said_with_the_value_of_head_in_every_format(threshold: float | None) -> None:
    broken = BeyondLimit(limit=0.05, unit="s", better="lower", confidence=0.9984, threshold=threshold)
    found = examples.finding("parse", "regression", estimate=1.18, half=0.02, reason=broken, shown="ratio")
    report = examples.report("regression", [found])
    change = "is 18.0% slower (16.0% to 20.0%), threshold 3%, and " if threshold else ""
    assert verdict_line.text(report).startswith(f"Regression: parse {change}is above the limit of 50 ms: 119.8 ms")
    said = (
        "head is 119.8 ms, above the limit of 50 ms with 99.84% confidence: regression; 18.0% slower (16.0% to 20.0%)"
    )
    assert finding_words.conclusion(found).startswith(said)
    for write in (terminal.render, comment.render, summary.render):
        assert "regression (limit 50 ms)" in write(report).replace("**", "")
    assert '<span class="sub">limit 50 ms</span>' in html.render(report)
    assert f'<failure message="{said}' in junit.render(report)
