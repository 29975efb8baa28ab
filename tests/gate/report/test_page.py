import math
import re
import shlex
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from msgspec.structs import replace

from gate.decide.importance import ordered
from gate.document.document import Facts, Figure, Figures, Fold, Section
from gate.document.html import bar, place
from gate.explain.explain import explain
from gate.model import Case, Commit, Finding, IntervalKind, LevelCounts, QuantileCurve, QuantileEffect, Report
from gate.model.evidence import Sample
from gate.model.profile import Frame
from gate.plots.picture import room
from gate.report.cards import command_of, levels_of, ticks
from gate.report.formats import html, markdown
from gate.report.formats import text as terminal
from gate.report.formats.html import again_of, document
from gate.report.material import Material
from gate.report.parts import results
from gate.words.short_names import Names
from tests.gate.plots.drawn import sample as nested
from tests.gate.report import examples


def sample(mean: float, seed: int) -> Sample:
    values = mean * (1 + 0.01 * np.random.default_rng(seed).standard_normal(3 * 2 * 4))
    return nested(values, builds=3, executions=2, orders=[2 * start + seed % 2 for start in range(3 * 2)])


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


def pictures(found: Report, beside: Material) -> list[list[Figure]]:
    """The pictures of each result, in the order of importance."""
    (details,) = (
        part for part in document(found, beside).sections[1] if isinstance(part, Section) and part.id == "details"
    )
    return [
        [figure for part in card.parts if isinstance(part, Figures) for figure in part.figures]
        for card in details.parts
        if isinstance(card, Section | Fold) and card.badge
    ]


def test_each_case_gets_the_pictures_of_its_own_values_once() -> None:
    sized = {"size": 1}
    findings = [
        examples.regressed("one"),
        examples.regressed("two", factors=sized),
        examples.finding("one", statistic="p99"),
    ]
    found, beside = (
        report(findings, curves=[curve("one")]),
        Material(cases=[case("two"), case("two", factors=sized), case("one")]),
    )
    kinds = [[figure.kind for figure in figures] for figures in pictures(found, beside)]
    assert kinds == [["values", "series", "effects"], ["values", "series"], []]
    source = html.written(found, beside)
    assert 'For the pictures of this case see <a href="#finding-1">' in source and "This page has no" not in source


def test_only_those_that_matter_most_are_drawn_and_the_page_says_how_to_draw_the_others() -> None:
    names = [f"case-{k}" for k in range(23)]
    found = report([examples.regressed(name, estimate=1.5 - k / 100) for k, name in enumerate(names)])
    beside = Material(cases=[case(name) for name in names])
    assert list(map(bool, pictures(found, beside))) == [True] * 20 + [False] * 3
    source = html.written(found, beside)
    assert "The 20 results that matter most have pictures" in source
    for name in names[20:]:
        assert f"perfgate report measurements.jsonl --benchmark {name}" in source
    ids = re.findall(r'\bid="([^"]+)"', source)
    assert len(ids) == len(set(ids))
    # a glob that draws one benchmark matches its name alone
    odd = html.written(report([*found.findings, examples.finding("it's [1]*", estimate=1.0)]), beside)
    command = "perfgate report measurements.jsonl --benchmark 'it'\"'\"'s [[]1][*]' --html one.html"
    assert str(escape(command)) in odd


def test_without_pictures_the_page_says_why() -> None:
    exact = examples.regressed("count", ratio=examples.interval(1.02, 0.0, method="exact"))
    beside = Material(cases=[case("count", exact=True)])
    assert pictures(report([exact]), beside) == [[]]
    said = "This page has no pictures of the values"
    source = html.written(report([exact]), beside)
    assert "Exact numbers" in source and said not in source
    assert html.written(report([examples.regressed("one"), examples.regressed("two")])).count(said) == 1
    assert said not in html.written(report([examples.regressed("one")]), Material(cases=[case("one")]))


@pytest.mark.parametrize("name", examples.HOSTILE)
def test_hostile_names_do_not_break_out_of_pictures(name: str) -> None:
    own = Material(cases=[case(name, metric=name, unit=name)])
    source = html.written(report([examples.regressed(name, metric=name, unit=name)]), own)
    assert source.count("<script") == 1
    assert "alert(1)</script>" not in source
    assert not re.search("[\u202e\x1b]", source)


def test_a_hundred_cases_stay_below_three_megabytes_and_are_the_same_each_time() -> None:
    names = [f"suite/case-{k:03}" for k in range(100)]
    found = report([examples.regressed(name) for name in names], curves=[curve(name) for name in names[:20]])
    beside = Material(cases=[case(name) for name in names])
    page = html.written(found, beside)
    assert len(page.encode()) < 3_000_000
    assert html.written(found, beside) == page


def test_the_command_of_a_suite_stands_for_its_benchmarks() -> None:
    commands = {"parse": "p", "suite": "s", "deep/suite": "d"}
    of = {"parse": "p", "suite/parse": "s", "suite/a/b": "s", "deep/suite/x": "d", "other": "", "x/parse": ""}
    assert {benchmark: command_of(benchmark, commands) for benchmark in of} == of


def test_the_levels_say_their_shares_in_a_value_and_in_the_mean() -> None:
    rows = [[cell.text for cell in row.cells] for row in levels_of(examples.finding()).rows]
    assert [name for name, *_ in rows[:4]] == ["base, build", "base, start", "base, value", "head, build"]
    # 15% and 85% of one value, over 25 executions and 250 iterations
    assert [cells[4:6] for cells in rows[:3]] == [["0%", "0%"], ["15%", "64%"], ["85%", "36%"]]
    *_, head = levels_of(examples.withheld()).rows
    assert [cell.text for cell in head.cells[3:6]] == ["unknown"] * 3


def test_what_rests_on_a_part_of_the_builds_says_so() -> None:
    part, whole = (
        examples.side(0.1, counts=LevelCounts(session=1, build=n, execution=2 * n, iteration=8 * n)) for n in (2, 3)
    )

    def used(base: Any, head: Any, look: int, looks: int) -> str:
        found = examples.regressed("one", base=base, head=head)
        found = replace(found, decided_at=replace(found.decided_at, look=look, looks=looks))
        return html.written(report([found]), Material(cases=[case("one")]))

    two = "Decided over 2 of the 3 measured builds"
    assert f"{two} of each, those up to interim check 1 of 4. Pictures of values show all.<" in used(part, part, 1, 4)
    assert "Decided over" not in used(whole, whole, 1, 1)
    assert f"{two} of base and 3 of the 3 measured builds of head." in used(part, whole, 1, 1)


def test_odd_settings_of_a_report_do_no_harm() -> None:
    odd: list[dict[str, Any] | None] = [None, {}, {"env": 3, "plan": {}, "build": None}, {"env": {"pass": "A"}}]
    for settings in odd:
        facts = examples.run_facts(settings=settings)
        page = document(replace(examples.passing(), run=facts), Material())
        (plan,) = (fold.parts[0] for fold in page.sections[2] if isinstance(fold, Fold) and fold.id == "plan")
        assert isinstance(plan, Facts)
        assert {name for name, _ in plan.rows} <= {"measured", "chosen", "env"}


def test_machines_stand_in_a_table_of_their_own() -> None:
    page = html.written(examples.machines())
    rows = re.findall(r"<bdi>(.{0,30}session .*?)</bdi></th>(.*?)</tr>", page)
    assert [re.sub("<.*?>", "", name) for name, _ in rows[:3]] == [
        "session 0 (ci-amd-1)",
        "session 1 (ci-arm-1)",
        "session 2",
    ]
    cells = [re.findall(r"<bdi>([^<]*)</bdi></td>", row) for _, row in rows]
    # one has too few rounds for an interval
    assert (cells[0], cells[4]) == (["+12.0% (+9.0% to +15.0%)", "5"], ["+20.0% (no interval)", "2"])
    # their ratio is no quotient of the means of sides, so the difference is that of the ratio, at base's value:
    # 24% of 101.5 ms, and 22% to 26% of it; the means of sides are 24.4 ms apart
    found = re.search(r"head − base</bdi></dt><dd><bdi>([^<(]*)\(", page)
    assert found is not None and found[1].strip() == "+24.36 ms, +22.33 ms to +26.39 ms"
    assert "Each machine by itself" not in html.written(examples.regression())


METHODS = [
    ("mean", "paired-shared", "t interval of the mean logarithm of head/base over rounds, with the variance of all"),
    ("p99", "fieller", "t interval over builds of the logarithm of each build&#39;s p99, Satterthwaite"),
    ("p99", "paired", "each build&#39;s p99, base and head of each round as a pair"),
    ("typical", "paired", "the value of a round is the 20% trimmed mean of the log ratios of neighbours"),
    ("p99", "fixed-sessions", "t interval of the mean logarithm of head/base over these machines"),
    ("mean", "of-a-newer-program", "of-a-newer-program"),
]


@pytest.mark.parametrize(("statistic", "method", "said"), METHODS)
def test_the_method_of_an_interval_is_said_in_words(statistic: str, method: str, said: str) -> None:
    found = examples.regressed(statistic=statistic)
    source = html.written(report([replace(found, ratio=replace(found.ratio, method=method))]))
    assert said in source[source.index("<dt><bdi>method</bdi></dt>") :]


def test_the_numbers_of_a_drawn_finding_have_the_mean_of_each_build() -> None:
    own = case("one", base=replace(sample(0.1, 0), values=np.repeat([0.1, 0.11, 0.12], 8)))
    page = html.written(report([examples.regressed("one")]), Material(cases=[own]))
    assert "builds of base</bdi></dt><dd><bdi>mean of each: 100.0 ms, 110.0 ms, 120.0 ms</bdi>" in page


# --- the commands that make it again ---------------------------------------------------------------------------------


def again(*names: str, options: Sequence[str] = (), **facts: Any) -> Any:
    return again_of(
        replace(examples.passing(), run=examples.run_facts(**facts)), Material(files=names, options=options)
    )


def test_the_commands_name_the_file_what_it_was_decided_with_both_commits_and_the_seed() -> None:
    assert again("measurements.jsonl").one == "perfgate report measurements.jsonl"
    assert again("measurements.jsonl").decide == again().decide == "perfgate decide measurements.jsonl"
    commands = again("a b.jsonl", options=["--set", "gate.threshold=1%", "--benchmark", "x*"])
    assert shlex.split(commands.decide)[2:] == ["a b.jsonl", "--set", "gate.threshold=1%", "--benchmark", "x*"]
    # a second selection would add to the first
    assert shlex.split(commands.one)[2:] == ["a b.jsonl", "--set", "gate.threshold=1%"]
    base, head = Commit(ref="main", sha="a" * 40, dirty=False), Commit(ref="HEAD", sha="b" * 40, dirty=False)
    measure = f"perfgate check --base {'a' * 40} --head {'b' * 40} --seed 7"
    assert again(seed=7, base=base, head=head).measure == measure
    # what was not committed has no commit: check measures the working tree
    assert "--head" not in again(seed=7, base=base, head=replace(head, dirty=True)).measure
    assert again(seed=None, base=base, head=head).measure == ""
    for name in examples.HOSTILE:
        assert again(seed=1, base=Commit(ref=name, sha=name, dirty=False), head=None).measure.isprintable()


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
    page = html.written(examples.explained())
    section = page[page.index('aria-labelledby="why"') : page.index('id="more"')]
    for text in ("find_key", "src/keys.c", "+92%", "Moved, not added", "The profile does not show", "apt-get install"):
        assert text in section, text
    assert '<a href="#why"><bdi>Functions behind the changes</bdi></a>' in page
    assert 'id="why"' not in html.written(examples.regression())


def test_no_name_becomes_markup() -> None:
    report = hostile()
    for render in (html.written, markdown.comment, terminal.written):
        text = render(report)
        assert not any(evil in text for evil in ("<script>alert", "\x1b[31m", "\u202e"))


# --- the bars: one axis for all findings, which shows the interval that each verdict rests on --------------------------


def bars_of(found: Sequence[Finding]) -> list[str]:
    """The drawn bar of each finding."""
    own = results(found, Names(report([*found])))
    return [bar(row, own.scale) for row in own.rows]


def places(drawn: str, kind: str = "") -> list[float]:
    """Where lines and marks of a kind begin, or all of them, in percent of the column."""
    return [float(at) for at in re.findall(rf'{kind}[^<>]*? x1?="([\d.]+)%"', drawn)]


@pytest.mark.parametrize("name", examples.ALL)
def test_every_place_of_any_report_is_inside_of_the_column(name: str) -> None:
    for drawn in bars_of(ordered(examples.ALL[name]().findings)):
        assert all(0 <= at <= 100 for at in places(drawn))
        (low, high), (zero,) = places(drawn, 'class="edge"'), places(drawn, 'class="one"')
        assert low <= zero <= high


def test_the_whole_band_of_the_threshold_is_on_the_axis() -> None:
    for threshold in (0.02, 0.05, 0.5):
        (drawn,) = bars_of([examples.finding("calm", estimate=1.001, half=0.002, threshold=threshold)])
        (low, high), (zero,) = places(drawn, 'class="edge"'), places(drawn, 'class="one"')
        assert 6 < low < high < 94
        assert zero - low == pytest.approx(high - zero, abs=0.02)


def test_all_bars_have_one_confidence_whatever_decided() -> None:
    of = examples.finding("a", "regression", estimate=1.05, half=0.01)
    wide = replace(of.decided_at, low=1.02, high=1.08, confidence=0.9958)
    nominal, decided = bars_of([replace(of, decided_at=wide, shown=shown) for shown in ("ratio", "decided_at")])
    assert nominal == decided


def test_one_outlier_is_cut_with_an_arrow_and_does_not_flatten_the_others() -> None:
    calm = [examples.finding(f"c{k}", estimate=1.01, half=0.01) for k in range(8)]
    assert 'class="end"' not in "".join(bars_of(calm))
    wild, *others = bars_of([examples.regressed("wild", estimate=40.0), *calm])
    assert 'class="mark' not in wild and wild.count('class="end"') == 1
    assert len(others) == 8
    for drawn in others:
        (line,) = re.findall(r'class="interval" x1="([\d.]+)%" x2="([\d.]+)%"', drawn)
        assert float(line[1]) - float(line[0]) > 4
    # hundreds of calm findings do not cut those that matter
    calm = [examples.finding(f"c{k}", estimate=1.001, half=0.002) for k in range(300)]
    worse = [examples.regressed(f"w{k}", estimate=1.2) for k in range(12)]
    assert all('class="mark' in drawn for drawn in bars_of([*worse, *calm]))


def test_open_ends_are_arrows() -> None:
    kinds: list[IntervalKind] = ["half-line", "complement", "line"]
    for kind in kinds:
        assert 'class="end"' in bars_of([examples.unbounded("open", kind), examples.finding("closed")])[0]


def test_a_finding_without_a_ratio_has_a_band_alone() -> None:
    for estimate in (None, math.inf, math.nan, 0.0, -1.5):
        ratio = replace(examples.interval(1.0, None, "withheld"), estimate=estimate)
        (drawn,) = bars_of([examples.finding("zero", "inconclusive", ratio=ratio)])
        assert re.findall('class="([a-z]+)', drawn) == ["band", "edge", "edge", "one"]


def test_the_ticks_name_no_change_and_do_not_meet() -> None:
    lows, highs, thresholds = (0.002, 0.01, 0.1, 0.6), (0.002, 0.04, 0.5, 2.0, 9e3), (0.01, 0.03, 0.1)
    for low, high, threshold in product(lows, highs, thresholds):
        estimates = {"a": 1 - low, "b": 1 + high}
        found = [examples.finding(n, estimate=e, half=0.001, threshold=threshold) for n, e in estimates.items()]
        on = results(found, Names(report(found))).scale
        named = [(place(at, on), label) for at, label in ticks(found, on)]
        assert "0" in [label for _, label in named]
        for (one, first), (two, second) in pairwise(named):
            # of a column of 200 pixels
            assert 2 * (two - one) >= (room(first, 13) + room(second, 13)) / 2, (low, high)
