"""What reports say of settings: interactions, failures and builds that have some."""

import html as escaping
import re
from typing import Any

import msgspec
import pytest

from gate.model import Build, Failure, MemoryFacts, outcomes
from gate.report import junit
from gate.report.markdown import comment, summary
from gate.report.page import html
from gate.report.page.builds import builds_of
from gate.report.text import terminal
from gate.words import failures, interactions, reports
from gate.words import interactions as words
from gate.words.failures import grouped
from tests.gate.report import examples


@pytest.mark.parametrize("name", [name for name in examples.ALL if name != "factors"])
def test_without_interactions_no_format_speaks_of_them(name: str) -> None:
    report = examples.ALL[name]()
    for render in (terminal.render, comment.render, summary.render, html.render):
        assert "y factor" not in render(report)
    assert "interaction" not in reports.error_level(report)


def test_what_is_shown_stands_first_and_the_largest_of_it() -> None:
    found = interactions.ordered(examples.factors())
    assert [i.verdict for i in found] == ["worse", "better", "inconclusive", "same"]
    assert [i.benchmark for i in interactions.proven(examples.factors())] == ["request", examples.HOSTILE[0]]


def test_of_several_settings_one_line_says_it() -> None:
    rest = examples.interaction(setting="idle", against=["busy", "mid"], estimate=0.5, verdict="better", only=False)
    only = examples.interaction(setting="busy", against=["idle", "mid"])
    report = msgspec.structs.replace(examples.factors(), interactions=[rest, only])
    assert interactions.proven(report) == [only]
    without = [msgspec.structs.replace(i, only=False) for i in (only, rest)]
    assert interactions.proven(msgspec.structs.replace(report, interactions=without)) == [without[1]]


def test_factors_that_act_together_have_one_line() -> None:
    both: dict[str, Any] = {
        "outcome": outcomes.ChangedOnlyUnder(settings={"load": "busy", "n": 2}, span=None), "only": False,
    }  # fmt: skip
    found = [examples.interaction(**both, estimate=1.1), examples.interaction(**both, factor="n", estimate=1.2)]
    report = msgspec.structs.replace(examples.factors(), interactions=found)
    assert interactions.proven(report) == [found[1]]
    assert "1 more is in report.json and report.html." in terminal.render(report)
    # of another benchmark it is another one
    other = msgspec.structs.replace(found[0], benchmark="parse")
    assert interactions.proven(msgspec.structs.replace(report, interactions=[*found, other])) == [found[1], other]


def test_settings_that_look_alike_are_told_apart_in_every_format() -> None:
    alike = [examples.finding("parse", factors={"n": value}) for value in (1, "1", "one")]
    one = examples.interaction("parse", factor="n", setting="1", against=[1, "one"])
    report = msgspec.structs.replace(examples.factors(), findings=alike, interactions=[one])
    for render in (terminal.render, comment.render, summary.render, html.render, junit.render):
        said = escaping.unescape(render(report))
        assert {'n="1"', "n=1", "n=one"} <= set(re.findall(r'n=(?:"1"|1|one)', said)), render
    assert words.setting(one) == 'n="1" against 1, one'


def test_the_text_counts_what_it_does_not_list() -> None:
    out = terminal.render(examples.factors())
    assert "by factor\n  request: head is 12.0% slower only under load=busy;" in out
    assert "the change does not depend on load" not in out
    assert "the change does not depend on load" in terminal.render(examples.factors(), every=True)


def test_a_comment_shows_few_and_folds_the_rest() -> None:
    many = [examples.interaction(f"case-{i}", estimate=1.5 - i / 100) for i in range(30)]
    out = comment.render(msgspec.structs.replace(examples.factors(), interactions=many))
    first, folded = out.split("<details>", 1)
    assert "By factor" not in first
    assert folded.partition("<summary>By factor</summary>")[2].count("only under load=busy\n") == 30
    assert "By factor: 30 interactions" in folded
    assert len(comment.render(msgspec.structs.replace(examples.factors(), interactions=many * 100)).encode()) <= 60_000


def test_the_page_has_a_table_of_them() -> None:
    page = html.render(examples.factors())
    assert '<a href="#by-factor">By factor</a>' in page
    table = page.split('id="by-factor"')[1].split("</table>")[0]
    rows = re.findall(r'<tr role="row">\n(.*?)</tr>', table, re.DOTALL)
    assert len(rows) == 4
    words = re.sub(r"\s+", " ", escaping.unescape(re.sub("<[^>]+>", " ", rows[0])))
    assert words.strip() == (
        "request time load=busy against idle worse +11.8% +8.7% to +14.9% at 95% < 0.0001 adjusted 0.0009 "
        "head is 12.0% slower only under load=busy"
    )


def test_junit_has_findings_only() -> None:
    report = examples.factors()
    assert junit.render(report) == junit.render(msgspec.structs.replace(report, interactions=[]))


def test_the_error_is_shared_over_both() -> None:
    assert "shared over 8 findings and interactions" in reports.error_level(examples.factors())


def test_memory_counts_findings_only() -> None:
    memory = MemoryFacts(findings=3, sessions=1, first="2026-09-01", last="2026-09-01", factor=1.0)
    facts = msgspec.structs.replace(examples.run_facts(), memory=memory)
    assert "used for 3 of 4 findings" in reports.memory(msgspec.structs.replace(examples.factors(), run=facts))


def test_a_failure_names_its_settings() -> None:
    failure = Failure(kind="execution", benchmark="x", side="head", build=1, execution=2, factors={"load": "busy"})
    assert failures.place(failure) == "build 1, execution 2, load=busy"
    assert failures.title(failure) == "x (load=busy) failed on head"
    build = Failure(kind="build", side="head", build=1, factors={"opt": "O2", "n": 1}, status="exit 1")
    assert failures.title(build) == "build of head (opt=O2, n=1) failed: exit 1"
    long = Failure(kind="build", side="head", factors={f"factor{n}": "x" * 100 for n in range(20)})
    assert len(failures.title(long)) < 300


def test_a_group_of_failures_names_the_settings_that_all_of_them_have() -> None:
    each = [
        Failure(kind="execution", benchmark="x", side="head", build=0, execution=number, status="exit 3",
                factors={"load": "busy", "n": n})
        for number, n in enumerate((1, 8, 1))
    ]  # fmt: skip
    (mixed,) = grouped(each, by_output=False)
    assert failures.heading(mixed) == "x (load=busy) failed on head: exit 3"
    assert failures.places(mixed, 2) == "build 0, execution 0, n=1; build 0, execution 1, n=8; and 1 more"
    (alike,) = grouped([each[0], each[2]], by_output=False)
    assert failures.heading(alike) == failures.title(each[0]) == "x (load=busy, n=1) failed on head: exit 3"
    assert failures.places(alike, 3) == "build 0, execution 0; build 0, execution 2"


def test_builds_with_settings_stand_apart() -> None:
    builds = [
        Build(side=side, build=number, factors={"opt": opt}, artifacts={"app": f"sha256:{opt}{side}"})
        for opt in ("O3", "O2")
        for number in (0, 1)
        for side in ("head", "base")
    ]
    found = builds_of(builds)
    assert [(row.name, row.side) for row in found.rows[:4]] == [
        ("0, opt=O2", "base"), ("0, opt=O2", "head"), ("0, opt=O3", "base"), ("0, opt=O3", "head"),
    ]  # fmt: skip
    assert [said.partition(":")[0] for said in found.said] == ["app at opt=O2", "app at opt=O3"]
    assert "all 2 builds of base are byte-identical" in found.said[0]
