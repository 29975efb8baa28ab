from typing import Any

import msgspec
import pytest

from gate.model import Commit, Counts, Family, Finding, LookFacts, Report, Round, Turn
from gate.model.evidence import Pace
from gate.model.warnings.setup import BuildChanged, Differing, MeasuringChanged
from gate.report.markdown import comment as markdown
from gate.report.page import html
from gate.report.text import terminal
from gate.units import format_duration
from gate.words import failures, findings, reports, verdict_line
from gate.words.reports import turns
from gate.writing import amounts
from tests.gate.report import examples

SESSIONS = Counts(session=3, build=6, execution=30, iteration=300)


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
    assert amounts.format_percent(confidence) == expected


@pytest.mark.parametrize(
    ("p", "expected"),
    [(None, "none"), (0.0, "< 0.0001"), (0.0004, "0.0004"), (0.049, "0.0490"), (0.62, "0.62"), (1, "1.00")],
)
def test_p_values(p: float | None, expected: str) -> None:
    assert amounts.format_p(p) == expected


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
    assert reports.commit(side) == expected


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (Commit(ref="HEAD", sha="1" * 40), Commit(ref="main", sha="1" * 40, dirty=True), "main 1111111111"),
        (Commit(ref="main", sha="1" * 40), Commit(ref="HEAD", sha="1" * 40, dirty=True), "main 1111111111"),
        (Commit(ref="main", sha="1" * 40), Commit(ref="topic", sha="2" * 40, dirty=True), None),
        (Commit(ref="main", sha="1" * 40), Commit(ref="main", sha="1" * 40), None),
        (None, Commit(ref="main", dirty=True), None),
    ],
)
def test_a_commit_and_its_working_tree_are_named_once(base: Commit | None, head: Commit, expected: str | None) -> None:
    apart = (reports.commit(base), reports.commit(head))
    tree = "its working tree with uncommitted changes"
    assert reports.sides(base, head) == (apart if expected is None else (expected, tree))


def test_a_budget_that_cuts_the_plan_is_said() -> None:
    assert reports.measured(examples.only_inconclusive()).startswith(
        "3 of 12 builds x 5 starts x 10 values of each, only 3 fit the budget, "
    )
    plan = {"plan": {"builds": {"min": 4, "max": 12}}}
    looks = examples.run_facts(rounds=Round(done=4, planned=4), settings=plan)
    assert "4 of 12 rounds, only 4 fit the budget" in reports.measured(examples.report("pass", [], run=looks))
    # nobody planned how many rounds the budget is to hold
    facts = LookFacts(rounds=[4, 6, 8, 12, 18, 28, 31], used=1)
    fills = {"plan": {"builds": {"min": 4, "max": None}}}
    filled = examples.report(
        "pass", [], run=examples.run_facts(rounds=Round(done=4, planned=31), settings=fills, looks=facts)
    )
    assert reports.measured(filled).startswith("4 rounds, ")
    whole = examples.run_facts(rounds=Round(done=4, planned=12), settings=plan)
    assert "the plan has" not in reports.measured(examples.report("pass", [], run=whole))


def test_how_short_turns_were() -> None:
    turn = Turn(benchmark="go", executions=25, iterations=2, starting=0.034)
    run = examples.run_facts(turns=[turn])
    assert reports.measured(examples.report("pass", [examples.finding()], run=run)) == (
        "5 builds x 5 starts x 10 values of each, by turns of 2 values (starting takes 3% of the time), 3 min 23 s"
    )
    other = msgspec.structs.replace(turn, iterations=1, starting=0.09)
    assert turns([turn, other]) == "by turns of 1 to 2 values (starting takes at most 9% of the time)"
    one = msgspec.structs.replace(turn, iterations=1, starting=0.002)
    assert turns([one]) == "by turns of 1 value (starting takes less than 1% of the time)"


def test_what_was_measured() -> None:
    assert reports.measured(examples.passing()) == ("5 builds x 5 starts x 10 values of each, 3 min 23 s")
    facts = examples.run_facts(rounds=Round(done=3, planned=12), seconds=None)
    uneven = examples.report("pass", [examples.finding(base=examples.side(1.0, counts=SESSIONS))], run=facts)
    assert reports.measured(uneven) == (
        "3 of 12 rounds, 1 to 3 sessions, 5 to 6 builds, 25 to 30 starts, 250 to 300 values of each"
    )


def test_the_error_level_of_the_report() -> None:
    report = examples.passing()
    assert reports.error_level(report).startswith("false-alarm limit 2.5%: where nothing changed, at most so many ")
    alone = examples.report("pass", report.findings, family=Family(method="none", size=3))
    assert reports.error_level(alone).endswith("; for each of 3 results (family: none)")


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (examples.passing(), "Pass: 3 results, none worse; render is 12.8% faster (at least 10.3%)"),
        (
            examples.one_build(),
            (
                "Undecided: startup is 4.9% slower as measured: one build of each gives no interval: how builds vary is "
                "unknown; not failing"
            ),
        ),
        (examples.nothing(), "Error: nothing was measured"),
        (
            examples.report("regression", [examples.regressed("a\nb")]),
            "Regression: a\\nb is 8.3% slower (at least 4.9%), threshold 3%",
        ),
    ],
)
def test_the_headline(report: Report, expected: str) -> None:
    assert verdict_line.text(report) == expected


def test_the_confidence_of_intervals_is_said_once() -> None:
    regressed, alone = examples.regressed(), [examples.finding(), examples.finding()]
    assert (reports.confidence(alone), reports.confidences(alone)) == (0.95, "")
    assert reports.confidence([regressed, *alone]) == 0.95
    said = 'regressions and improvements, and their "at least", are called at 99.58% confidence'
    assert reports.confidences([regressed, *alone]) == f"{said}, after correction for 12 comparisons"
    nominal = msgspec.structs.replace(examples.EXCEEDS, comparisons=None)
    assert reports.confidences([examples.regressed(reason=nominal)]) == said
    at_look = msgspec.structs.replace(regressed.decided_at, looks=4)
    assert (
        reports.confidences([examples.regressed(reason=nominal, decided_at=at_look)]) == f"{said}, after interim checks"
    )
    assert (reports.confidence([examples.withheld()]), reports.confidences([examples.withheld()])) == (None, "")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "head does not build: exit 2"),
        ({"side": None}, "a build failed: exit 2"),
        ({"benchmark": "b"}, "head does not build: exit 2"),
    ],
)
def test_the_title_of_a_failure(changes: dict[str, Any], expected: str) -> None:
    assert failures.title(examples.build_failure(**changes)) == expected


def test_steps_are_quoted_for_a_shell() -> None:
    failure = examples.build_failure(directory="/a dir/x", environment={"A": "it's"}, command="make")
    run = examples.run_facts(head=Commit(ref="slow", sha="9f8e7d6c5b4a3f2e1d0c", dirty=False))
    assert failures.repeat(failure, run) == [
        'tree=$(mktemp -d) && git worktree add --detach "$tree" 9f8e7d6c5b4a',
        'cd "$tree/$(git rev-parse --show-prefix)"',
        "export A='it'\"'\"'s'",
        "make",
    ]
    # of changes that are in no commit there is the working tree
    assert failures.repeat(failure, examples.run_facts())[0] == "export A='it'\"'\"'s'"
    assert failures.repeat(examples.build_failure(command=None), run) == []


def test_names_that_no_shell_can_set_are_left_out_and_counted() -> None:
    failure = examples.build_failure(directory=None, environment={"a | b": "x", "A-B": "", "C": "1"}, command="make")
    assert failures.repeat(failure, examples.run_facts()) == [
        "export C=1",
        "# left out: 2 variables whose name a shell cannot set",
        "make",
    ]


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (examples.passing(), ""),
        (examples.nothing(), "Run `perfgate check`, which measures and decides"),
        (examples.only_failures(), "Fix the failure and run the check again"),
        (
            examples.regression(),
            "Fix the regression (`perfgate explain` names the functions: 2 builds, ",
        ),
        (
            examples.only_inconclusive(),
            "Run again with `--set plan.builds=7 --set plan.budget=10m`, which would probably decide 4 of 6 (about",
        ),
        (
            examples.one_build(),
            "Run the same check again with `--set plan.builds=5 --set plan.budget=22m`: 5 builds are",
        ),
        (
            examples.report(
                "inconclusive", [examples.finding("x", "inconclusive", reason=examples.wide(hopeless=True))]
            ),
            "Use a quieter host (`perfgate doctor` examines it)",
        ),
        (
            examples.report("inconclusive", [examples.finding("x", "inconclusive", not_worse=True)]),
            "Nothing to do: no result is worse",
        ),
    ],
)
def test_what_to_do_next(report: Report, expected: str) -> None:
    found = reports.next_step(report)
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_of_a_rate_what_is_lost_could_have_been_shown() -> None:
    found = [
        examples.finding(name, "inconclusive", better="higher", detectable=size)
        for name, size in (("a", 2.38), ("b", 4.26))
    ]
    assert "this run catches decreases above 70.4%" in findings.conclusion(found[0])


def test_a_check_of_hours_is_no_advice() -> None:
    report = examples.report("inconclusive", [examples.finding("a", "inconclusive", more_builds=90)])
    pace = Pace(once=60.0, round=100.0)
    report = msgspec.structs.replace(report, run=msgspec.structs.replace(report.run, pace=pace))
    said = reports.next_step(report)
    builds = 90 + min(report.findings[0].base.counts.build, report.findings[0].head.counts.build)
    assert said == (
        f"Use a quieter host (`perfgate doctor` examines it): {builds} builds of each would decide it, and take "
        f"about {format_duration(60 + 100 * builds)}"
    )


def test_what_is_not_worse_is_counted_apart() -> None:
    open_one = examples.finding("a", "inconclusive", more_builds=4)
    better = examples.finding("b", "inconclusive", not_worse=True)

    def said(*found: Finding) -> tuple[str, str]:
        report = examples.report("inconclusive", list(found))
        step = reports.next_step(report).partition(" would probably decide ")[2]
        return reports.counts(report), step.partition(" (")[0]

    assert said(open_one, better) == (
        "2 results: 2 undecided (1 not worse)",
        "the 1 that may be worse",
    )
    hopeless = examples.finding("c", "inconclusive")
    assert said(open_one, hopeless, better)[1].startswith("1 of the 2 that may be worse")
    assert said(better, better)[0] == "2 results: 2 undecided (all not worse)"
    assert said(open_one)[0] == "1 result: 1 undecided"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("memory", 25_276_510_208, "23.54 GiB"),
        ("floor", "1us", "1 us"),
        ("floor", "1us of spawn, 1ns of suites, none of values", "1 us of spawn, 1 ns of suites, none of values"),
        ("floor", "100", "100"),
        ("iterations", 10_000, "10,000"),
        ("seed", 2_088_190, "2088190"),
        ("confidence", 0.9976, "99.76%"),
        ("turbo", True, "yes"),
        ("budget", "15m", "15m"),
    ],
)
def test_a_setting_and_a_fact_are_written_for_people(key: str, value: object, expected: str) -> None:
    assert reports.setting(key, value) == expected


@pytest.mark.parametrize(
    ("number", "unit", "expected"),
    [
        (81_234.0, "1/s", "81,234 1/s"),
        (1_234.5, "s", "1,234 s"),
        (-81_234.0, "1/s", "-81,234 1/s"),
        (0.0123, "s", "12.30 ms"),
        (12_345.6, "", "12,346"),
        (1e12 + 0.5, "1/s", "1.000e+12 1/s"),
    ],
)
def test_long_numbers_have_separators(number: float, unit: str, expected: str) -> None:
    assert amounts.amount(number, unit, number) == expected


def test_another_command_of_head_stands_in_the_headline_of_every_format() -> None:
    changed = MeasuringChanged("parse", (Differing("command", "./parse large", "./parse small"),))
    built = BuildChanged((Differing("build.command", "make", "make O=3"),))
    report = examples.report("pass", [examples.finding()], warnings=[changed, built])
    ran = "not the same command for parse: base ran `./parse large`, head `./parse small`"
    made = "base and head are not built alike: head changes build.command from `make` to `make O=3`"
    assert verdict_line.text(report).endswith(f"; {ran}; {made}")
    plain = " ".join(terminal.render(report).split())
    assert plain.index(ran) < plain.index("lower is better")
    assert ran.replace("`", "&#96;") in markdown.render(report).splitlines()[0]
    page = html.render(report)
    assert ran in page[page.index("<h1>") : page.index("</h1>")]


def test_of_many_other_commands_the_headline_names_three() -> None:
    changed = [MeasuringChanged(f"b{n}", (Differing("command", "x", "y"),)) for n in range(9)]
    said = verdict_line.text(examples.report("pass", [examples.finding()], warnings=changed))
    assert "b2" in said and "b3" not in said and said.endswith("; 6 more such warnings")
