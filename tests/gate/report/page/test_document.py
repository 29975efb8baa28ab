import re
import shlex
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from gate.explain.explain import explain
from gate.model import Case, Commit, Counts, Finding, QuantileCurve, QuantileEffect, Report
from gate.model.evidence import Sample
from gate.model.profile import Frame
from gate.report import terminal
from gate.report.markdown import comment
from gate.report.measurements import Material
from gate.report.page import html
from gate.report.page.findings import command_of, draws, level_rows
from gate.report.page.html import again_of, page_of
from tests.gate.report import examples

BUILDS, EXECUTIONS, ITERATIONS = 3, 2, 4


def sample(mean: float, seed: int) -> Sample:
    size = BUILDS * EXECUTIONS * ITERATIONS
    return Sample(
        values=mean * (1 + 0.01 * np.random.default_rng(seed).standard_normal(size)),
        counts=(
            np.full(BUILDS * EXECUTIONS, ITERATIONS),
            np.full(BUILDS, EXECUTIONS),
            np.array([BUILDS]),
        ),
        builds=tuple((0, k) for k in range(BUILDS)),
        orders=np.arange(BUILDS * EXECUTIONS) * 2 + seed % 2,
    )


def case(benchmark: str, **changes: Any) -> Case:
    fields: dict[str, Any] = {
        "metric": "time", "factors": {}, "unit": "s", "better": "lower", "exact": False, "decided": True,
        "base": sample(0.1, 0), "head": sample(0.108, 1), "warnings": [],
    }  # fmt: skip
    return Case(benchmark=benchmark, **(fields | changes))


def curve(benchmark: str) -> QuantileCurve:
    effects = [QuantileEffect(tau=tau, ratio=1 + tau / 10, low=1.0, high=1.2) for tau in (0.1, 0.5, 0.99)]
    return QuantileCurve(benchmark=benchmark, metric="time", factors={}, effects=effects)


def report(findings: list[Finding], **changes: Any) -> Report:
    return examples.report("regression", findings, **changes)


def test_each_finding_gets_the_pictures_of_its_own_values() -> None:
    findings = [examples.regressed("one"), examples.regressed("two", factors={"size": 1})]
    values = [case("two"), case("two", factors={"size": 1}), case("one")]
    page = page_of(report(findings, curves=[curve("one")]), Material(cases=values))
    kinds = {row.finding.benchmark: [figure.kind for figure in row.shown.figures] for row in page.rows}
    assert kinds == {"one": ["values", "series", "effects"], "two": ["values", "series"]}
    assert not page.without_values


def test_the_statistics_of_a_case_share_its_pictures() -> None:
    findings = [examples.regressed("one"), examples.finding("one", statistic="p99")]
    page = page_of(report(findings), Material(cases=[case("one")]))
    first, second = page.rows
    assert first.shown.figures
    assert not second.shown.figures
    assert second.shown.elsewhere == 0
    source = html.render(report(findings), Material(cases=[case("one")]))
    assert 'For the pictures of this case see <a href="#finding-1">' in source


def test_only_those_that_matter_most_are_drawn_and_the_page_says_how_to_draw_the_others() -> None:
    names = [f"case-{k}" for k in range(23)]
    found = report([examples.regressed(name, estimate=1.5 - k / 100) for k, name in enumerate(names)])
    beside = Material(cases=[case(name) for name in names])
    rows = page_of(found, beside).rows
    assert [bool(row.shown.figures) for row in rows] == [True] * 20 + [False] * 3
    source = html.render(found, beside)
    assert "The 20 results that matter most have pictures" in source
    for name in names[20:]:
        assert f"perfgate report measurements.jsonl --benchmark {name}" in source
    ids = re.findall(r'\bid="([^"]+)"', source)
    assert len(ids) == len(set(ids))


def test_without_pictures_the_page_says_why() -> None:
    exact = examples.regressed("count", ratio=examples.interval(1.02, 0.0, method="exact"))
    page = page_of(report([exact]), Material(cases=[case("count", exact=True)]))
    assert not page.rows[0].shown.figures and not page.without_values
    assert "Exact numbers" in page.rows[0].shown.note
    said = "This page has no pictures of the values"
    assert html.render(report([examples.regressed("one"), examples.regressed("two")])).count(said) == 1
    assert said not in html.render(report([examples.regressed("one")]), Material(cases=[case("one")]))


@pytest.mark.parametrize("name", examples.HOSTILE)
def test_hostile_names_do_not_break_out_of_pictures(name: str) -> None:
    own = Material(cases=[case(name, metric=name, unit=name)])
    source = html.render(report([examples.regressed(name, metric=name, unit=name)]), own)
    assert source.count("<script") == 1
    assert "alert(1)</script>" not in source
    assert not re.search("[\u202e\x1b]", source)


def test_a_hundred_cases_stay_below_three_megabytes_and_are_the_same_each_time() -> None:
    names = [f"suite/case-{k:03}" for k in range(100)]
    found = report([examples.regressed(name) for name in names], curves=[curve(name) for name in names[:20]])
    beside = Material(cases=[case(name) for name in names])
    assert len(html.render(found, beside).encode()) < 3_000_000
    assert html.render(found, beside) == html.render(found, beside)


def test_the_command_of_a_suite_stands_for_its_benchmarks() -> None:
    commands = {"parse": "p", "suite": "s", "deep/suite": "d"}
    of = {"parse": "p", "suite/parse": "s", "suite/a/b": "s", "deep/suite/x": "d", "other": "", "x/parse": ""}
    assert {benchmark: command_of(benchmark, commands) for benchmark in of} == of
    # a glob that draws one benchmark matches its name alone
    assert draws("it's [1]*", "report x") == """report x --benchmark 'it'"'"'s [[]1][*]' --html one.html"""


def test_the_levels_say_their_shares_in_a_value_and_in_the_mean() -> None:
    rows = level_rows(examples.finding())["base"]
    assert [level for level, _ in rows] == ["build", "execution", "iteration"]
    # 15% and 85% of one value, over 25 executions and 250 iterations
    assert [cells and cells[3:5] for _, cells in rows] == [["0%", "0%"], ["15%", "64%"], ["85%", "36%"]]
    ((_, head),) = level_rows(examples.withheld())["head"]
    assert head is not None and head[2:5] == ["unknown"] * 3


def test_what_rests_on_a_part_of_the_builds_says_so() -> None:
    part, whole = (
        examples.side(0.1, counts=Counts(session=1, build=n, execution=2 * n, iteration=8 * n)) for n in (2, 3)
    )

    def used(base: Any, head: Any, look: int, looks: int) -> str:
        found = examples.regressed("one", base=base, head=head)
        found = msgspec.structs.replace(
            found, decided_at=msgspec.structs.replace(found.decided_at, look=look, looks=looks)
        )
        return str(page_of(report([found]), Material(cases=[case("one")])).rows[0].used)

    two = "Decided over 2 of the 3 measured builds"
    assert used(part, part, 1, 4) == f"{two} of each, those up to interim check 1 of 4"
    assert used(whole, whole, 1, 1) == ""
    assert used(part, whole, 1, 1) == f"{two} of base and 3 of the 3 measured builds of head"


def test_odd_settings_of_a_report_do_no_harm() -> None:
    odd: list[dict[str, Any] | None] = [None, {}, {"env": 3, "plan": {}, "build": None}, {"env": {"pass": "A"}}]
    for settings in odd:
        facts = examples.run_facts(settings=settings)
        page = page_of(msgspec.structs.replace(examples.passing(), run=facts), Material())
        assert {fact.name for fact in page.plan} <= {"measured", "chosen", "env"}


def test_machines_stand_in_a_table_of_their_own() -> None:
    page = html.render(examples.machines())
    rows = re.findall(r"<bdi>(session [^<]*)</bdi></th>(.*?)</tr>", page)
    assert [name for name, _ in rows[:3]] == ["session 0 (ci-amd-1)", "session 1 (ci-arm-1)", "session 2"]
    cells = [re.findall(r">([^<]*)</td>", row) for _, row in rows]
    # one has too few rounds for an interval
    assert (cells[0], cells[4]) == (["+12.0%", "+9.0% to +15.0%", "5"], ["+20.0%", "no interval", "2"])
    # their ratio is no quotient of the means of sides, so the difference is that of the ratio, at base's value:
    # 24% of 101.5 ms, and 22% to 26% of it; the means of sides are 24.4 ms apart
    found = re.search(r"<dt>head − base</dt><dd>([^<]*)<span", page)
    assert found is not None and found[1].strip() == "+24.36 ms, +22.33 ms to +26.39 ms"
    assert "Each machine by itself" not in html.render(examples.regression())


def test_the_numbers_of_a_drawn_finding_have_the_mean_of_each_build() -> None:
    own = case("one", base=msgspec.structs.replace(sample(0.1, 0), values=np.repeat([0.1, 0.11, 0.12], 8)))
    said = r"<dt>builds of base</dt><dd>mean of each: 100.0 ms, 110.0 ms, 120.0 ms</dd>"
    assert said in html.render(report([examples.regressed("one")]), Material(cases=[own]))
    assert "mean of each" not in html.render(report([examples.regressed("one")]))


def test_interim_checks_explain_why_a_confidence_is_higher_than_the_configured_one() -> None:
    assert html.render(examples.early()).count("(a repeated confidence interval)") == 1
    assert "a repeated confidence interval" not in html.render(examples.regression())


def test_the_method_of_an_interval_is_said_in_words() -> None:
    said = {
        (
            "mean",
            "paired-shared",
        ): "t interval of the mean logarithm of head/base over rounds, with the variance of all",
        ("p99", "fieller"): "t interval over builds of the logarithm of each build&#39;s p99, Satterthwaite",
        ("p99", "paired"): "each build&#39;s p99, base and head of each round as a pair",
        ("typical", "paired"): "the value of a round is the 20% trimmed mean of the log ratios of neighbours",
        ("p99", "fixed-sessions"): "t interval of the mean logarithm of head/base over these machines",
        ("mean", "of-a-newer-program"): "of-a-newer-program",
    }
    for (statistic, method), expected in said.items():
        found = examples.regressed(statistic=statistic)
        ratio = msgspec.structs.replace(found.ratio, method=method)
        source = html.render(report([msgspec.structs.replace(found, ratio=ratio)]))
        assert expected in source[source.index("<dt>method</dt>") :]


def test_only_a_time_in_utc_is_called_so() -> None:
    elsewhere = "2026-11-20T09:00:00+02:00"
    for created, said in (("2026-11-20T09:00:00Z", "2026-11-20 09:00 UTC"), (elsewhere, elsewhere)):
        source = html.render(report([examples.regressed()], run=examples.run_facts(created=created)))
        assert f"perfgate · {said} · exit code" in source.replace("&#43;", "+")


# --- the commands that make it again ---------------------------------------------------------------------------------


def again(*names: str, options: Sequence[str] = (), **facts: Any) -> Any:
    report = msgspec.structs.replace(examples.passing(), run=examples.run_facts(**facts))
    return again_of(report, Material(files=names, options=options))


def test_the_commands_name_the_file_and_what_it_was_decided_with() -> None:
    commands = again("measurements.jsonl")
    assert commands.decide == "perfgate decide measurements.jsonl"
    assert commands.one == "perfgate report measurements.jsonl"
    assert again().decide == "perfgate decide measurements.jsonl"
    commands = again("a b.jsonl", options=["--set", "gate.threshold=1%", "--benchmark", "x*"])
    assert shlex.split(commands.decide)[2:] == ["a b.jsonl", "--set", "gate.threshold=1%", "--benchmark", "x*"]
    # a second selection would add to the first
    assert shlex.split(commands.one)[2:] == ["a b.jsonl", "--set", "gate.threshold=1%"]


def test_measuring_again_names_both_commits_and_the_seed() -> None:
    base, head = Commit(ref="main", sha="a" * 40, dirty=False), Commit(ref="HEAD", sha="b" * 40, dirty=False)
    assert again(seed=7, base=base, head=head).measure == (
        f"perfgate check --base {'a' * 40} --head {'b' * 40} --seed 7"
    )
    # what was not committed has no commit: check measures the working tree
    dirty = msgspec.structs.replace(head, dirty=True)
    assert "--head" not in again(seed=7, base=base, head=dirty).measure
    assert again(seed=None, base=base, head=head).measure == ""
    for name in examples.HOSTILE:
        assert again(seed=1, base=Commit(ref=name, sha=name, dirty=False), head=None).measure.isprintable()


def test_the_overall_change_tells_its_confidence_and_a_failure_begins_with_the_name_as_it_is() -> None:
    text = page_of(examples.regression(), Material()).overall[0].text
    assert re.search(r"95% interval over \d+ builds of each\), geometric mean of \d+ cases", text)
    assert "<h3>parse-large failed" in html.render(examples.only_failures())


# --- profiles: complete without JavaScript, and safe whatever a function is called ------------------------------------


def hostile() -> Report:
    """Functions and files with names that a program may choose."""
    names = iter(examples.HOSTILE * 2)
    base, head = examples.profiles()
    frames = [Frame(next(names), next(names)) for _ in head.frames]
    base, head = replace(base, frames=frames[: len(base.frames)]), replace(head, frames=frames)
    report = examples.explained()
    broken = replace(report.unprofiled[0], detail=examples.HOSTILE[0], install="`" + examples.HOSTILE[4])
    return replace(report, explanations=[explain(base, head)], unprofiled=[broken])


def test_the_section_has_functions_what_moved_and_what_is_not_shown() -> None:
    page = html.render(examples.explained())
    section = page[page.index('aria-labelledby="why"') : page.index('id="more"')]
    for text in ("find_key", "src/keys.c", "+92%", "Moved, not added", "The profile does not show", "apt-get install"):
        assert text in section, text
    assert '<a href="#why">Functions</a>' in page
    assert 'id="why"' not in html.render(examples.regression())


def test_no_name_becomes_markup() -> None:
    report = hostile()
    for render in (html.render, comment.render, comment.summary, terminal.render):
        text = render(report)
        assert not any(evil in text for evil in ("<script>alert", "\x1b[31m", "\u202e"))
