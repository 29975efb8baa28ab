"""What views are called, why one decided, and that each format says both."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gate.document.markdown import pieces
from gate.model import Finding, Report
from gate.model.reasons import BeyondLimit
from gate.model.report import View
from gate.report import json
from gate.report.formats import html, junit, markdown
from gate.report.formats import text as terminal
from gate.report.parts import accept
from gate.words import findings as finding_words
from gate.words import verdict_line, views
from tests.gate.report import examples


def test_a_metric_and_a_statistic_have_one_name() -> None:
    said = ["time", "typical time", "active time", "mean active time", "latency p99", "active time p50"]
    of = [("time", "mean"), ("time", "typical"), ("active", "typical"), ("active", "mean"), ("latency", "p99")]
    assert [views.quantity(*each) for each in (*of, ("active", "p50"))] == said


def of_suite() -> Finding:
    mean = examples.finding("parse", "inconclusive", estimate=1.01, half=0.3)
    return replace(mean, statistic="typical", view=View(why="sharper", times=43.5), beside=[mean])


def of_google_benchmark() -> Finding:
    real = examples.finding("parse", "inconclusive", estimate=1.01, half=0.3)
    return replace(real, metric="cpu_time", view=View(why="sharper", times=7.94), beside=[real])


UNCHANGED = examples.finding("lex")
# fmt: off
CLAUSES = {
    "by active time: wall time varied 20 times as much": examples.active(UNCHANGED, 20.3),
    "by active time: wall time varied 1,200 times as much": examples.active(UNCHANGED, 1234.0),
    "by active time: wall time varied 1.4 times as much": examples.active(UNCHANGED, 1.36),
    "by active time: wall time varied about as much": examples.active(UNCHANGED, 0.98),
    "by active time: the first round does not show which view varies less": replace(examples.active(UNCHANGED), view=View(why="sharper", times=None)),
    "by mean wall time: active time shows no regression": examples.by_wall(examples.regressed(), "regression"),
    "by typical wall time: several tasks do the work, so active time is not valid": examples.by_wall(UNCHANGED, "tasks"),
    "by wall time: several tasks do the work, so active time is not valid": replace(UNCHANGED, view=View(why="tasks", times=None)),
    "by typical time: mean time varied 44 times as much": of_suite(),
    "by CPU time: wall time varied 7.9 times as much": of_google_benchmark(),
    "": UNCHANGED,
}
# fmt: on


def test_one_clause_says_which_view_decided_and_why() -> None:
    assert {said: views.clause(found) for said, found in CLAUSES.items()} == {said: said for said in CLAUSES}


def test_what_holds_for_several_benchmarks_is_said_once() -> None:
    found = [examples.active(UNCHANGED, times) for times in (20.3, 5.1, 43.6)]
    tasks = [examples.by_wall(UNCHANGED, "tasks")] * 2
    assert views.clauses([*found, *tasks, UNCHANGED]) == [
        "by active time: wall time varied 5.1 to 44 times as much",
        "by typical wall time: several tasks do the work, so active time is not valid",
    ]
    assert views.clauses([]) == []
    assert views.meanings([UNCHANGED]) == []


def test_the_sentence_of_a_finding_names_its_view_and_not_time_alone() -> None:
    for estimate, said in ((1.062, "6.2% slower"), (1.0, "no change"), (None, "no ratio")):
        found = examples.active(examples.finding("encode", "inconclusive", estimate=estimate))
        assert finding_words.conclusion(found).startswith(f"{said} in active time")
        assert finding_words.conclusion(found).endswith("; wall time varied 20 times as much")
    assert "time" not in finding_words.conclusion(UNCHANGED)


RENDERED: dict[str, Callable[[Report], str]] = {
    "text": lambda report: terminal.written(report), "comment": markdown.comment, "page": html.written,
    "junit": junit.written, "json": json.render,
}  # fmt: skip


@pytest.mark.parametrize("form", RENDERED)
def test_every_format_says_why_a_view_decided_and_what_the_others_show(form: str) -> None:
    said = " ".join(RENDERED[form](examples.views()).split())
    # a terminal shows it on demand
    assert "wall time varied 20 times as much" in said or form == "text"
    assert "active time shows no regression" in said
    assert "several tasks do the work, so active time is not valid" in said
    assert form == "text" or "-8.2%" in said.replace("&nbsp;", " ") or '"low": 0.918' in said


def test_there_is_one_row_a_benchmark_which_keeps_its_name_whichever_view_decides() -> None:
    def name(finding: Finding) -> str:
        return junit.written(examples.report("pass", [finding])).partition('classname="perfgate.')[2].split('"')[0]

    assert junit.written(examples.views()).count("<testcase ") == 7
    assert html.written(examples.views()).count('<tr role="row" class=') == 7
    assert name(examples.active(UNCHANGED)) == name(examples.by_wall(UNCHANGED, "regression")) == "time"
    assert name(UNCHANGED) == "time mean"


def test_report_json_gives_a_view_back_whose_number_is_none() -> None:
    gone = examples.finding("lex", "inconclusive", base=examples.side(float("nan"), None))
    report = examples.report("pass", [replace(examples.active(UNCHANGED), beside=[gone])])
    again = json.read(json.render(report)).findings[0].beside[0]
    assert again.base.value != again.base.value


def test_a_regression_is_accepted_in_every_view_of_its_benchmark() -> None:
    found = examples.active(examples.regressed("encode", estimate=1.062))
    alone = "".join(pieces(accept(examples.report("regression", [found])).parts))
    assert alone.count("[[accept]]") == 1 and "metric" not in alone
    several = examples.report("regression", [found, examples.finding("encode", metric="memory", unit="B")])
    beside = "".join(pieces(accept(several).parts))
    assert beside.count('up_to = "7%"') == 2
    assert 'metric = "active"\nstatistic = "typical"' in beside and 'metric = "time"\nstatistic = "mean"' in beside


def test_a_limit_that_another_view_breaks_is_said_where_people_read() -> None:
    broken = BeyondLimit(limit=0.05, unit="s", better="lower", confidence=0.9984, threshold=None)
    shown = examples.active(examples.finding("parse", "regression", estimate=1.18))
    beyond = replace(shown, beside=[replace(shown.beside[0], verdict="regression", reason=broken)])
    for found in (shown, beyond):
        report = examples.report("regression", [found])
        said = [" ".join(write(report).split()) for write in (terminal.written, markdown.comment, html.written)]
        assert ["head is above the limit of 50 ms" in text for text in said] == [found is beyond] * 3
        # at first sight, in each format
        first = "parse, wall time: head is above the limit of 50 ms" in verdict_line.text(report)
        assert first is (found is beyond)


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
    for write in (terminal.written, markdown.comment):
        assert "regression (limit 50 ms)" in write(report).replace("**", "")
    assert '<span class="sub"><bdi>limit 50 ms</bdi></span>' in html.written(report)
    assert f'<failure message="{said}' in junit.written(report)
