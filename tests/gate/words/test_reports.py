import html as entities
import io
import os
import re
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.model import Build, Commit, Cost, Finding, LevelCounts, LookFacts, Report, RoundsDone, Turn, reasons
from gate.model.records import FullKind, WhyNotRelinked
from gate.model.warnings.estimates import EarlyStop
from gate.model.warnings.measured import ExecutionsShort
from gate.model.warnings.setup import BuildChanged, Differing, MeasuringChanged
from gate.report import json
from gate.report.formats import html, markdown
from gate.report.formats import text as terminal
from gate.report.material import Material
from gate.words import notes, reports, verdict_line
from gate.words.reports import spent, turns
from gate.words.sameness import say_builds, say_why
from gate.writing import amounts
from gate.writing.streams import ASCII_ONLY, colored
from tests.gate.report import examples
from tests.support.seeds import some

SESSIONS = LevelCounts(session=3, build=6, execution=30, iteration=300)


def test_numbers_are_written_for_people() -> None:
    # never rounded to certainty
    said = {0.95: "95%", 0.9958: "99.58%", 0.999973: "99.9973%", 0.03: "3%", 0.025: "2.5%", 1: "100%"}
    assert {number: amounts.format_percent(number) for number in said} == said
    p_values = {None: "none", 0.0: "< 0.0001", 0.0004: "0.0004", 0.049: "0.0490", 0.62: "0.62", 1: "1.00"}
    assert {p: amounts.format_p(p) for p in p_values} == p_values
    long = {
        (81_234.0, "1/s"): "81,234 1/s", (1_234.5, "s"): "1,234 s", (-81_234.0, "1/s"): "-81,234 1/s",
        (0.0123, "s"): "12.30 ms", (12_345.6, ""): "12,346", (1e12 + 0.5, "1/s"): "1.000e+12 1/s",
    }  # fmt: skip
    assert {(number, unit): amounts.amount(number, unit, number) for number, unit in long} == long


def test_commits_are_named_and_one_with_its_working_tree_once() -> None:
    at_main, topic = Commit(ref="main", sha="1" * 40), Commit(ref="topic", sha="2" * 40, dirty=True)
    said: dict[str, list[Commit | None]] = {
        "unknown": [None, Commit()],
        "main": [Commit(ref="main")],
        "main 1111111111": [at_main],
        "2222222222 with uncommitted changes": [msgspec.structs.replace(topic, ref="2" * 7)],
    }
    for expected, sides in said.items():
        assert {reports.commit(side) for side in sides} == {expected}
    head, dirty = Commit(ref="HEAD", sha="1" * 40), Commit(ref="main", sha="1" * 40, dirty=True)
    once = ("main 1111111111", "its working tree with uncommitted changes")
    assert reports.sides(head, dirty) == reports.sides(at_main, msgspec.structs.replace(head, dirty=True)) == once
    for base, other in ((at_main, topic), (at_main, at_main), (None, dirty), (dirty, dirty)):
        assert reports.sides(base, other) == (reports.commit(base), reports.commit(other))


def measured(*found: Finding, done: int = 5, planned: int = 5, **facts: Any) -> str:
    run = examples.run_facts(rounds=RoundsDone(done=done, planned=planned), **facts)
    return reports.measured(examples.report("pass", [*found], run=run))


def test_what_was_measured_and_how_short_turns_were() -> None:
    plan, fills = ({"plan": {"builds": {"min": 4, "max": most}}} for most in (12, None))
    cut = "3 of 12 builds x 5 starts x 10 values of each, only 3 fit the budget, "
    assert reports.measured(examples.only_inconclusive()).startswith(cut)
    assert "4 of 12 rounds, only 4 fit the budget" in measured(done=4, planned=4, settings=plan)
    assert measured(done=4, planned=12, settings=plan) == "4 of 12 rounds, 3 min 23 s"
    # nobody planned how many rounds the budget is to hold
    facts = LookFacts(rounds=[4, 6, 8, 12, 18, 28, 31], used=1)
    assert measured(done=4, planned=31, settings=fills, looks=facts).startswith("4 rounds, ")
    uneven = examples.finding(base=examples.side(1.0, counts=SESSIONS))
    assert measured(uneven, done=3, planned=12, seconds=None) == (
        "3 of 12 rounds, 1 to 3 sessions, 5 to 6 builds, 25 to 30 starts, 250 to 300 values of each"
    )
    turn = Turn(benchmark="go", executions=25, iterations=2, starting=0.034)
    assert measured(examples.finding(), turns=[turn]) == (
        "5 builds x 5 starts x 10 values of each, by turns of 2 values (starting takes 3% of the time), 3 min 23 s"
    )
    other, one = (msgspec.structs.replace(turn, iterations=1, starting=share) for share in (0.09, 0.002))
    assert turns([turn, other]) == "by turns of 1 to 2 values (starting takes at most 9% of the time)"
    assert turns([one]) == "by turns of 1 value (starting takes less than 1% of the time)"


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


def test_a_setting_and_a_fact_are_written_for_people() -> None:
    floors = {
        "1us": "1 us",
        "1us of spawn, 1ns of suites, none of values": "1 us of spawn, 1 ns of suites, none of values",
    }
    said = [
        ("memory", 25_276_510_208, "23.54 GiB"),
        ("iterations", 10_000, "10,000"),
        ("seed", 2_088_190, "2088190"),
        ("confidence", 0.9976, "99.76%"),
        ("turbo", True, "yes"),
        ("budget", "15m", "15m"),
        ("floor", "100", "100"),
        *(("floor", given, expected) for given, expected in floors.items()),
    ]
    assert [reports.setting(key, value) for key, value, _ in said] == [expected for *_, expected in said]


def test_another_command_of_head_stands_in_the_headline_of_every_format() -> None:
    changed = MeasuringChanged("parse", (Differing("command", "./parse large", "./parse small"),))
    built = BuildChanged((Differing("build.command", "make", "make O=3"),))
    report = examples.report("pass", [examples.finding()], warnings=[changed, built])
    ran = "not the same command for parse: base ran `./parse large`, head `./parse small`"
    made = "base and head are not built alike: head changes build.command from `make` to `make O=3`"
    assert verdict_line.text(report).endswith(f"; {ran}; {made}")
    plain = " ".join(terminal.written(report).split())
    assert plain.index(ran) < plain.index("lower is better")
    assert ran.replace("`", "&#96;") in markdown.comment(report).splitlines()[0]
    page = html.written(report)
    assert ran in page[page.index("<h1>") : page.index("</h1>")]


def test_of_many_other_commands_the_headline_names_three() -> None:
    changed = [MeasuringChanged(f"b{n}", (Differing("command", "x", "y"),)) for n in range(9)]
    said = verdict_line.text(examples.report("pass", [examples.finding()], warnings=changed))
    assert "b2" in said and "b3" not in said and said.endswith("; 6 more such warnings")


# --- how builds were made ---------------------------------------------------------------------------------------------


def made(number: int, seconds: float | None, **more: Any) -> Build:
    return Build(side="head", build=number, seconds=seconds, **more)


def test_links_instead_of_builds_and_one_that_failed_on_the_way() -> None:
    first, *links = made(0, 50.0), *(made(n, s, relinked=True) for n, s in ((1, 0.4), (2, 0.3), (3, 0.3)))
    said = "linked again what the first one had compiled: 300 ms instead of 50 s"
    assert say_builds("head", [first, *links]) == f"head: 3 builds {said}"
    failed = made(2, 51.0, full=WhyNotRelinked(kind="failed", path="app"))
    assert say_builds("head", [first, made(1, 0.3, relinked=True), failed]) == (
        f"head: 1 build {said}; every later build ran the build command, because linking app again failed"
    )


def test_why_every_build_is_a_full_one() -> None:
    full = WhyNotRelinked(kind="not-linked", path="out/app")
    assert say_builds("base", [made(0, 50.0, full=full), made(1, 49.0)]) == (
        "base: every build ran the build command, because out/app is not what a linker wrote "
        "(a later step changed it, or another tool made it)"
    )


def test_each_reason_has_words_and_what_is_unknown_is_not_said() -> None:
    newer = made(0, 1.0, full=WhyNotRelinked(kind="of-a-newer-program"))
    assert [say_builds("head", builds) for builds in ([], [made(0, None), made(1, None)], [newer])] == [""] * 3
    for kind in typing.get_args(FullKind):
        said = say_why(WhyNotRelinked(kind=kind))
        assert "{" not in said and len(said) > 10
        assert "\x1b" not in say_why(WhyNotRelinked(kind=kind, path="a\x1bb{0}"))


# --- where the time of a run went, in words and in every format that says it ------------------------------------------


def cost(**known: Any) -> Cost:
    fields: dict[str, Any] = dict.fromkeys(Cost.__struct_fields__)
    return Cost(**(fields | {"compiled": 2, "linked": 0} | known))


COST = cost(
    setup=60.0, compile=100.0, link=8.0, linked=22, probe=1.0, measure=540.0, decide=4.0, other=0.0, total=713.0
)
SAID = "11 min 53 s: set-up 1 min, 2 builds 1 min 40 s, 22 links 8.0 s, measuring 9 min, interim checks 4.0 s"
OWN = cost(compile=4.0, again=1.0, keep=2.0, trees=0.5, start=3.0, probe=1.0, outside=2.0, measure=4.0, other=0.5)


def costing(of: Cost | None) -> Report:
    return examples.report("regression", [examples.finding("lex")], run=examples.run_facts(cost=of))


def test_the_line_has_the_total_and_every_part_that_counts() -> None:
    assert spent(COST) == SAID
    assert spent(OWN) == (
        "2 builds 4.0 s, builds tried again 1.0 s, copying kept builds 2.0 s, comparing trees 500 ms, "
        "first starts 3.0 s, probe 1.0 s, files outside 2.0 s, measuring 4.0 s, other 500 ms"
    )


def test_every_format_says_it_where_it_is_known() -> None:
    found = costing(COST)
    assert f"time      {SAID}" in terminal.written(found, width=200, every=True)
    assert f"time: {SAID}" in entities.unescape(markdown.comment(found)) and SAID in html.written(found)
    assert [spent(each) for each in (None, cost(), cost(measure=0.0), cost(measure=float("nan")))] == [""] * 4


# --- a sentence that is true of many cases is said once ---------------------------------------------------------------


FORMATS: dict[str, Callable[[Report], str]] = {
    "text 60": lambda report: terminal.written(report, width=60),
    "text 100": lambda report: terminal.written(report, width=100),
    "text 200, all": lambda report: terminal.written(report, width=200, every=True),
    "comment": markdown.comment,
    "summary": markdown.summary,
}


def noisy(name: str, size: float) -> Finding:
    why = reasons.TooNoisy(detectable=size, wanted=0.1, unit="s", better="lower", hopeless=True)
    return examples.finding(name, "inconclusive", half=size / 2, detectable=size, reason=why, stopped="futility")


def many() -> Report:
    found = [noisy(f"case-{number}", 0.2 + number / 100) for number in range(21)]
    found = [msgspec.structs.replace(f, warnings=[EarlyStop(4 + n % 3, 12)]) for n, f in enumerate(found)]
    return examples.report("inconclusive", found)


@pytest.mark.parametrize("name", FORMATS)
def test_one_reason_of_21_findings_is_said_once(name: str) -> None:
    text = " ".join(re.sub(r"&#\d+;|<!-- -->", "", FORMATS[name](many())).split())
    # the line of verdict says it of the worst and the next step what follows, and a sentence both of all
    assert text.count("this run catches slowdowns above") <= 2
    assert text.count("more builds alone would not help") <= 2
    # a comment shows none of these rows at first sight, and says what they have to mind on the page
    assert text.count("the size may be over") == (name != "comment")
    assert "; the figures are those of the first" in text or name == "comment"
    # each row says by itself what it could not see, where there is room
    assert len(re.findall(r"too noisy, catches \d+\.\d%", text)) >= {"text 60": 0, "text 100": 3}.get(name, 20)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_beyond_the_threshold_as_measured_may_be_a_regression(name: str) -> None:
    noise = {"estimate": 1.04, "half": 0.05, "reason": examples.wide()}
    for how in ({"estimate": 1.02}, {"estimate": 0.9}, {"not_worse": True}, {"floor": 0.02}, {"better": "higher"}, {}):
        found = examples.finding("parse", "inconclusive", **(noise | how))
        text = FORMATS[name](examples.report("inconclusive", [found])).partition("<script")[0]
        assert ("may be a regression" in text.replace("\n  ", " ")) == (how == {}), how


def test_the_page_says_it_once_with_links_to_what_it_concerns() -> None:
    page = html.written(many(), Material())
    assert len(re.findall(r">[^<>]*the size may be over", page.partition("<script")[0])) == 1
    (item,) = re.findall(r"<p>[^<]*the size may be over.*?</p>", page)
    assert re.findall(r'href="#(finding-\d+)"', item) == [f"finding-{number}" for number in range(1, 22)]


def test_sentences_are_of_one_kind_if_only_their_figures_differ() -> None:
    few = [noisy("a", 0.3), noisy("b", 0.4)]
    one, other = (each.reason for each in few)
    assert notes.kind(one) == notes.kind(other) != notes.kind(msgspec.structs.replace(one, better="higher"))
    assert notes.kind(EarlyStop(4, 12)) == notes.kind(EarlyStop(6, 12)) != notes.kind(ExecutionsShort("a", "", 1, 2, 3))
    # what is of two findings stays with each
    assert notes.shared(few, notes.why) == {}
    assert terminal.written(examples.report("inconclusive", few), every=True).count("(a pass needs 10%)") >= 2


def test_a_warning_of_many_benchmarks_names_them_in_one_sentence() -> None:
    found = [ExecutionsShort(name, "", 9, 10, 10) for name in "abc"]
    assert notes.once(found) == ["a: base has 9 and head 10 of 10 starts; likewise b, c"]
    other = [*found, ExecutionsShort("d", "", 8, 10, 10)]
    assert notes.once(other) == ["a: base has 9 and head 10 of 10 starts; likewise, with other figures, b, c, d"]
    assert len(notes.once(found[:2])) == 2


# --- streams ----------------------------------------------------------------------------------------------------------


ROOT = Path(__file__).parents[3]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_who_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for variables, on_terminal, elsewhere in (
        ("", True, False),
        ("TERM=dumb", False, False),
        ("NO_COLOR=1", False, False),
        ("NO_COLOR=", True, False),
        ("FORCE_COLOR=1", True, True),
        ("FORCE_COLOR=1 TERM=dumb", True, True),
        ("FORCE_COLOR=0", True, False),
        ("FORCE_COLOR=", True, False),
        ("FORCE_COLOR=1 NO_COLOR=1", False, False),
    ):
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, _, value in (each.partition("=") for each in variables.split()):
            monkeypatch.setenv(name, value)
        assert (colored(Terminal()), colored(io.StringIO())) == (on_terminal, elsewhere), variables


def test_a_table_keeps_its_columns_where_the_glyphs_are_lacking() -> None:
    text = "✖ ░░│░░ ├──●─► ¹ ⁴ é 日"
    assert text.encode("ascii", ASCII_ONLY) == rb"x ..|.. [--o-> 1 4 \xe9 \u65e5"
    assert text.encode("latin-1", ASCII_ONLY) == rb"x ..|.. [--o-> " + "¹".encode("latin-1") + b" 4 \xe9 " + rb"\u65e5"


@pytest.mark.endtoend
@pytest.mark.parametrize("encoding", some(["ascii", "latin-1", "utf-8"], 1, pytest.mark.nightly))
def test_a_report_is_printed_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.render(examples.hostile()), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from gate.cli.main import run; run()", "report", "report.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding, "FORCE_COLOR": "1", "NO_COLOR": ""},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    first = "✖ Regression".encode(encoding, ASCII_ONLY)
    assert done.stdout.startswith(b"\x1b[1;31m" + first)
