import re
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.model import Build, Case, Counts, Finding, QuantileCurve, QuantileEffect, Report
from gate.model.evidence import Sample
from gate.report.measurements import Material
from gate.report.page import html
from gate.report.page.findings import command_of, draws, level_rows
from gate.report.page.html import builds_of, page_of
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


def test_exact_numbers_have_no_pictures_and_the_page_says_so() -> None:
    exact = examples.regressed("count", ratio=examples.interval(1.02, 0.0, method="exact"))
    page = page_of(report([exact]), Material(cases=[case("count", exact=True)]))
    assert not page.rows[0].shown.figures
    assert "Exact numbers" in page.rows[0].shown.note
    assert not page.without_values


def test_without_values_the_page_says_so_once() -> None:
    source = html.render(report([examples.regressed("one"), examples.regressed("two")]))
    assert source.count("This page has no pictures of the values") == 1
    assert "This page has no pictures of the values" not in html.render(
        report([examples.regressed("one")]), Material(cases=[case("one")])
    )


def test_a_page_with_values_is_the_same_each_time() -> None:
    found, beside = report([examples.regressed("one")], curves=[curve("one")]), Material(cases=[case("one")])
    assert html.render(found, beside) == html.render(found, beside)


@pytest.mark.parametrize("name", examples.HOSTILE)
def test_hostile_names_do_not_break_out_of_pictures(name: str) -> None:
    source = html.render(
        report([examples.regressed(name, metric=name, unit=name)]),
        Material(cases=[case(name, metric=name, unit=name)]),
    )
    assert source.count("<script") == 1
    assert "alert(1)</script>" not in source
    assert not re.search("[\u202e\x1b]", source)


def test_a_hundred_cases_stay_below_five_megabytes() -> None:
    names = [f"suite/case-{k:03}" for k in range(100)]
    found = report([examples.regressed(name) for name in names], curves=[curve(name) for name in names[:20]])
    source = html.render(found, Material(cases=[case(name) for name in names]))
    assert len(source.encode()) < 3_000_000


@pytest.mark.parametrize(
    ("benchmark", "command"),
    [("parse", "p"), ("suite/parse", "s"), ("suite/a/b", "s"), ("deep/suite/x", "d"), ("other", ""), ("x/parse", "")],
)
def test_the_command_of_a_suite_stands_for_its_benchmarks(benchmark: str, command: str) -> None:
    assert command_of(benchmark, {"parse": "p", "suite": "s", "deep/suite": "d"}) == command


def test_a_glob_that_draws_one_benchmark_matches_its_name_alone() -> None:
    assert draws("it's [1]*", "report x") == """report x --benchmark 'it'"'"'s [[]1][*]' --html one.html"""


def test_the_levels_say_their_shares_in_a_value_and_in_the_mean() -> None:
    rows = level_rows(examples.finding())["base"]
    assert [level for level, _ in rows] == ["build", "execution", "iteration"]
    # 15% and 85% of one value, over 25 executions and 250 iterations
    assert [cells and cells[3:5] for _, cells in rows] == [["0%", "0%"], ["15%", "64%"], ["85%", "36%"]]


def test_unknown_variances_have_no_shares() -> None:
    found = examples.withheld()
    ((_, head),) = level_rows(found)["head"]
    assert head is not None
    assert head[2:5] == ["unknown"] * 3


def build(side: str, number: int, digest: str, path: str = "app") -> Build:
    return Build(side=side, build=number, seed=number, seconds=1.5, artifacts={path: f"sha256:{digest}"})  # type: ignore[arg-type]  # a side, by its name


def test_builds_stand_in_their_order_base_first() -> None:
    rows = builds_of([build("head", 1, "a"), build("head", 0, "a"), build("base", 1, "b")])
    assert [row[:2] for row in rows] == [("0", "head"), ("1", "base"), ("1", "head")]
    assert rows[0][3] == "1.5 s"
    assert 'title="sha256:a"' in rows[0][4]


@pytest.mark.parametrize(("digests", "said"), [("aab", True), ("abc", False), ("aaa", False), ("a", False)])
def test_builds_that_come_again_sample_fewer_layouts(digests: str, said: bool) -> None:
    facts = examples.run_facts(builds=[build("head", number, digest) for number, digest in enumerate(digests)])
    text = "head: app is 2 different files in 3 builds, which sample fewer layouts than their number"
    assert (text in page_of(report([], run=facts), Material()).made) == said


def test_what_rests_on_a_part_of_the_builds_says_so() -> None:
    part = examples.side(0.1, counts=Counts(session=1, build=2, execution=4, iteration=16))
    whole = examples.side(0.1, counts=Counts(session=1, build=3, execution=6, iteration=24))

    def used(base: Any, head: Any, look: int, looks: int) -> str:
        found = examples.regressed("one")
        decided = msgspec.structs.replace(found.decided_at, look=look, looks=looks)
        found = msgspec.structs.replace(found, base=base, head=head, decided_at=decided)
        return str(page_of(report([found]), Material(cases=[case("one")])).rows[0].used)

    assert used(part, part, 1, 4) == "Decided over 2 of the 3 measured builds of each, those up to interim check 1 of 4"
    assert used(whole, whole, 1, 1) == ""
    assert (
        used(part, whole, 1, 1)
        == "Decided over 2 of the 3 measured builds of base and 3 of the 3 measured builds of head"
    )


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
    assert cells[0] == ["+12.0%", "+9.0% to +15.0%", "5"]
    # one has too few rounds for an interval
    assert cells[4] == ["+20.0%", "no interval", "2"]
    assert "Each machine by itself" not in html.render(examples.regression())


def test_the_difference_of_several_machines_lies_in_its_own_interval() -> None:
    """Their ratio is no quotient of the means of sides, so the difference is that of the ratio, at base's value."""
    found = re.search(r"<dt>head − base</dt><dd>([^<]*)<span", html.render(examples.machines()))
    # 24% of 101.5 ms, and 22% to 26% of it; the means of sides are 24.4 ms apart
    assert found is not None
    assert found[1].strip() == "+24.36 ms, +22.33 ms to +26.39 ms"


def test_the_numbers_of_a_drawn_finding_have_the_mean_of_each_build() -> None:
    own = case("one", base=msgspec.structs.replace(sample(0.1, 0), values=np.repeat([0.1, 0.11, 0.12], 8)))
    said = r"<dt>builds of base</dt><dd>mean of each: 100.0 ms, 110.0 ms, 120.0 ms</dd>"
    assert said in html.render(report([examples.regressed("one")]), Material(cases=[own]))
    assert "mean of each" not in html.render(report([examples.regressed("one")]))


def test_interim_checks_explain_why_a_confidence_is_higher_than_the_configured_one() -> None:
    assert html.render(examples.early()).count("(a repeated confidence interval)") == 1
    assert "a repeated confidence interval" not in html.render(examples.regression())


@pytest.mark.parametrize(
    ("statistic", "method", "said"),
    [
        (
            "mean",
            "paired-shared",
            "t interval of the mean logarithm of head/base over rounds, with the variance of all",
        ),
        ("p99", "fieller", "t interval over builds of the logarithm of each build&#39;s p99, Satterthwaite"),
        ("p99", "paired", "each build&#39;s p99, base and head of each round as a pair"),
        ("typical", "paired", "the value of a round is the 20% trimmed mean of the log ratios of neighbours"),
        ("p99", "fixed-sessions", "t interval of the mean logarithm of head/base over these machines"),
        ("mean", "of-a-newer-program", "of-a-newer-program"),
    ],
)
def test_the_method_of_an_interval_is_said_in_words(statistic: str, method: str, said: str) -> None:
    found = examples.regressed(statistic=statistic)
    ratio = msgspec.structs.replace(found.ratio, method=method)
    source = html.render(report([msgspec.structs.replace(found, ratio=ratio)]))
    assert said in source[source.index("<dt>method</dt>") :]


@pytest.mark.parametrize(
    ("created", "said"),
    [("2026-11-20T09:00:00Z", "2026-11-20 09:00 UTC"), ("2026-11-20T09:00:00+02:00", "2026-11-20T09:00:00+02:00")],
)
def test_only_a_time_in_utc_is_called_so(created: str, said: str) -> None:
    source = html.render(report([examples.regressed()], run=examples.run_facts(created=created)))
    assert f"perfgate · {said} · exit code" in source.replace("&#43;", "+")
