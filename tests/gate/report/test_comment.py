import datetime
import random
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gate.config.config_text import COMMAND_LINE, read_source
from gate.config.parse import parse
from gate.config.rules import accepts_of
from gate.config.types import Config
from gate.document.markdown import block, code, escape, link, pieces, prose, short, size
from gate.model import Finding, Report, RulesSource, reasons
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.model.warnings.measured import ExecutionsShort, TwoPrograms
from gate.report import Links, parts
from gate.report.formats import html, junit, markdown
from gate.report.formats import text as terminal
from gate.report.parts import entry
from gate.words.notes import weigh
from gate.words.short_names import WHOLE
from tests.gate.report import examples, gfm
from tests.support.seeds import some

LINKS = Links(
    report="https://github.com/acme/widget/actions/runs/7/artifacts/9",
    run="https://github.com/acme/widget/actions/runs/7",
)
TOKENS = [
    *"|`\\<>&*_[]()!~$#@:;-+=^%'\"/.{}",
    *("``", "```", "```math", "$`", "`$", "$$", "\\(", "&amp;", "&#64;", "&lt;b&gt;", "~~", "**", "__", "---", "===", "|--|"),
    *("@team", "a@e.example", "#12", "GH-3", "acme/widget#4", "acme/widget@deadbeef", "JIRA-12", "deadbeef", "1234567", "a" * 40),
    *("<b>", "<!--", "-->", "<!-- perfgate:1 -->", "</details>", "</pre>", "</code>", "<br>", "<?x?>", "<![CDATA[", "<img src=x onerror=alert(1)>"),
    *("[x](y)", "![i](j)", "[ ]", "[x]", "[^1]", "[^1]: y", "[y]: /z", "> [!NOTE]", "http://e.example", "www.e.example", "mailto:a@e.example"),
    *("\n", "\n\n", "\t", " ", "    ", "\r", "\u2028", "\x00", "\x1b[31m", "\u202e", "\u200b", "\ud800", "\ufffe"),
    *(":tada:", ":100:", "+1", "1.", "2)", "é", "日本", "שלום", "مرحبا", "\u0301" * 9, "😀", "x", "name", "p99"),
]  # fmt: skip


def invented(seed: int) -> str:
    draw = random.Random(seed)
    return "".join(draw.choices(TOKENS, k=draw.randint(1, 9)))


def assert_harmless(text: str) -> gfm.Seen:
    seen = gfm.read(text)
    assert seen.tags <= gfm.OURS
    assert not seen.unbalanced and not seen.live
    assert re.findall(r"<!--(?! -->)", text) == []
    # no name moves the cells behind it
    head: list[str] = []
    for row in seen.rows:
        if row[0] == "benchmark":
            head = row
            continue
        assert re.fullmatch(LAST[head[-1]], row[-1])
        assert head[3:4] != ["threshold"] or re.fullmatch(r"[\d.]+%", row[3])
    return seen


LAST = {
    "base → head": ".* → .*", "rounds": r"\d+", "head": r"[\d.,]+( .*)?", "decided": "by .*", "proved by": r"\d+ paths read",
    "warnings": ".*",
}  # fmt: skip
"""What the last cell of each table is, by its title."""


BARRED = re.compile(r"[ \u00a0░│┼─├┤●◄►]{21}")


def findings_in(seen: gfm.Seen) -> list[list[str]]:
    """The rows that have a bar."""
    return [row for row in seen.rows if len(row) > 1 and BARRED.fullmatch(row[1])]


def test_a_comment_folds_all_but_the_verdict_the_table_and_what_failed() -> None:
    for name, build in examples.ALL.items():
        text = markdown.comment(build(), LINKS)
        outside = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
        # one line of verdict, a caption, and where nothing goes with it the next step
        loose = [line for line in outside.splitlines() if line and not line.startswith(("|", "-", "  -"))]
        assert len(loose) <= 3 or name == "creep", loose
        assert "What was measured, and by which rules</summary>" in text
        assert "[!" not in text and not re.search(r"<details>(?:(?!</details>).)*<details>", text, flags=re.DOTALL)


def test_the_next_step_has_the_options_of_the_command_line() -> None:
    regression = examples.regression()
    whose = RulesSource("base", sets=("plan.builds=5", "gate.threshold=5%"))
    by_options = replace(regression, policy=replace(regression.policy, whose=whose))
    said = "<code>perfgate check --set plan.builds=5 --set gate.threshold=5% --benchmark parse-large</code>"
    assert said in markdown.comment(by_options, LINKS)
    typed = replace(regression.run, typed=["check", "--build", "make", "--", "./sum"])
    of_a_command = replace(regression, run=typed)
    assert "<b>Next</b>: Fix the regression, or accept it" in markdown.comment(of_a_command, LINKS)


def test_nothing_is_said_twice() -> None:
    lines = [line.strip(" -") for line in markdown.comment(examples.regression(), LINKS).splitlines() if len(line) > 40]
    # a warning of two findings stands with both
    said = [line for line in lines if not line.startswith("host drift")]
    assert len(said) == len(set(said))
    text = " ".join(said)
    # of the finding and of the entry
    assert (text.count("the speedup may exceed it"), text.count("new checksum")) == (1, 2)


@pytest.mark.parametrize("name", examples.ALL)
def test_no_example_brings_markup(name: str) -> None:
    assert_harmless(markdown.comment(examples.ALL[name]()))


def test_no_name_brings_markup_and_each_is_seen_as_plain_text() -> None:
    several = [list(map(invented, range(100 * seed, 100 * seed + 5))) for seed in (0, 1, 2, 3, 22)]
    for names in (*several, *([name] for name in examples.HOSTILE)):
        seen = assert_harmless(markdown.summary(examples.hostile(names)))
        shown = [gfm.squeezed(row[0].replace("\u200e", "")).removeprefix("❌").strip() for row in findings_in(seen)]
        for name in names:
            written = gfm.squeezed(short(name, WHOLE)) or gfm.squeezed(repr(short(name, WHOLE)))
            assert any(cell.startswith(written) and cell.endswith("regression") for cell in shown)


def test_an_escaped_text_reads_as_it_was() -> None:
    for name in map(invented, range(800)):
        for text in (escape(name), f"- {escape(name)}", f"{code(name)} x", f"**Next:** {prose(name.replace('`', ''))}"):
            seen = gfm.read(text)
            assert not seen.live and not seen.unbalanced
            assert seen.tags <= {"p", "ul", "li", "code", "strong"}
        assert gfm.squeezed(gfm.read(escape(name)).text) == gfm.squeezed(short(name, 500))


def test_output_stays_in_its_block() -> None:
    for start in range(0, 1000, 6):
        text = "\n".join(short(name, 200) for name in map(invented, range(start, start + 6)))
        seen = gfm.read(f"before\n\n{block(text)}\n\nafter")
        assert seen.tags <= {"p", "pre", "code"}
        assert not seen.unbalanced
        assert seen.text.strip().split("\n", 2)[2].rpartition("after")[0].strip() == text.strip()


def test_what_the_escapes_are() -> None:
    escaped = {
        "a|b": "a&#124;b",
        "@team": "&#64;<!-- -->team",
        "#12": "&#35;<!-- -->12",
        "# title": "&#35; title",
        "1234567. item": "123456<!-- -->7&#46; item",
        "- item": "&#45; item",
        "&#64;<b>": "&#38;&#35;<!-- -->64;&#60;b&#62;",
        "snake_case _em_": "snake_case &#95;em&#95;",
        "two\nlines": "two&#92;nlines",
        "at 0123456789abcdef": "at 012345<!-- -->6789ab<!-- -->cdef",
        code("x"): "`x`",
    }
    assert {text: escape(text) for text in escaped} == escaped
    as_code = [
        "<code>a&#96;b&#124;c</code>",
        "' '",
        "`שלום`&lrm;",
        "<code>&#60;!-- perfgate&#58;<!-- -->1 --&#62;</code>",
    ]
    assert list(map(code, ["a`b|c", " ", "שלום", "<!-- perfgate:1 -->"])) == as_code
    assert prose("run `perfgate doctor`, @team") == "run `perfgate doctor`, &#64;<!-- -->team"


def test_links_are_only_addresses_of_the_web() -> None:
    text = markdown.comment(examples.regression(), LINKS)
    assert gfm.read(text).links == [LINKS.report, LINKS.run]
    assert "report.html" not in text
    only_run = gfm.read(markdown.comment(examples.regression(), Links(run=LINKS.run)))
    assert only_run.links == [LINKS.run]
    assert "The full report, report.html, is among the artifacts of the workflow run." in only_run.text
    assert gfm.read(markdown.comment(examples.regression(), Links())).links == []
    assert link("x", "javascript:alert(1)") is None
    assert gfm.read(link("x", "https://e.example/a b)(c)<d>?e=1&f=`|2&lt;") or "").links == [
        "https://e.example/a%20b%29%28c%29%3Cd%3E?e=1&f=%60%7C2&lt;"
    ]


def test_a_short_table_is_whole_and_a_long_one_shows_ten_rows() -> None:
    short_one = markdown.comment(examples.passing())
    assert short_one.count("<br>same (within 3%) |") == 2
    head, _, rest = markdown.comment(examples.many(1000)).partition("<details>")
    rows = findings_in(gfm.read(head))
    assert len(rows) == 40 and sum(row[0].endswith("regression") for row in rows) == 10
    assert not any(row[0].endswith("(within 3%)") for row in rows)
    more = "15 more regressions, 15 more improvements, 15 more accepted, 15 more undecided"
    assert f"\nFolded below: {more}.\n" in head
    assert rest.index(f"<summary>{more}</summary>") < rest.index("<summary>900 same")


def test_no_change_of_a_large_suite_stands_behind_noise() -> None:
    name = "github.com/acme/widget/internal/{}/BenchmarkSomethingRatherLong{:03}"
    noise = reasons.TooNoisy(detectable=0.42, wanted=0.1, unit="s", better="lower", hopeless=False)
    found = [
        examples.regressed(name.format("io", i))
        if i < 25
        else examples.improved(name.format("lexer", i))
        if i < 37
        else examples.finding(name.format("io", i), "inconclusive", reason=noise, detectable=0.42)
        if i < 61
        else examples.finding(name.format(("io", "lexer", "parser")[i % 3], i))
        for i in range(400)
    ]
    text = markdown.comment(examples.report("regression", found))
    assert text.startswith("❌ **Regression**: `io/BenchmarkSomethingRatherLong0")
    head, *folds = text.partition("\n\nWhat was")[0].split("<details><summary>")
    verdicts = [re.sub(".*[0-9]", "", row[0]) for row in findings_in(gfm.read(head))]
    assert verdicts == ["regression"] * 10 + ["improvement"] * 10
    assert "Folded below: 15 more regressions, 2 more improvements, 24 too noisy." in head
    titles = [fold.partition("</summary>")[0] for fold in folds]
    assert titles[1:3] == ["15 more regressions, 2 more improvements", "24 too noisy"]
    # what is cut says how much of it is shown
    shown = re.fullmatch(r"339 same \(the first (\d+)\)", titles[3])
    assert shown is not None
    assert f"limited length: {339 - int(shown[1])} same. The report has all" in text


def test_warnings_about_rules_and_host_come_before_those_of_single_benchmarks() -> None:
    # a name is no reason to come first
    partial: list[AnyWarning] = [ExecutionsShort(f"hosting-page-{number}", "", 9, 10, 10) for number in range(30)]
    calibrate = Said("this host is not calibrated", place="later")
    important: list[AnyWarning] = [Said("head changes the rules", place="first"), Said("throttled", place="first")]
    found, later = weigh([important[0], calibrate, *partial, important[1]], 5)
    assert (found[:2], later) == ([each.sentence() for each in important], [calibrate.sentence()])
    # what is said of thirty benchmarks is said once
    first = "hosting-page-0: base has 9 and head 10 of 10 starts; likewise hosting-page-1, hosting-page-2, "
    assert found[2].startswith(first) and found[2].endswith(" and 9 more")
    text = markdown.comment(examples.report("pass", [examples.finding()], warnings=[calibrate, *partial, *important]))
    listed = text.partition("<summary>4 warnings</summary>")[2].partition("</details>")[0].strip().splitlines()
    assert "throttled" in listed[1] and "not calibrated" in listed[-1]


# --- limits ---------------------------------------------------------------------------------------------------------


def long_report(count: int, name: Callable[[int], str]) -> Report:
    def of(i: int) -> Finding:
        said = {"reason": examples.told(name(i)), "warnings": [Said(name(i))] * 9}
        return examples.regressed(name(i), metric=name(i), unit=name(i), **said)

    return examples.report("regression", list(map(of, range(count))))


def everything(count: int) -> Report:
    """Count of each kind of what a report holds, all of it long."""
    return examples.report(
        "regression",
        [examples.regressed("`|@" * 40 + str(i), reason=examples.told("<>" * 300), warnings=[Said("|" * 500)] * 9) for i in range(count)],
        recorded=[examples.recorded("|" * 200, metric="*" * 200)] * count,
        failures=[examples.build_failure(status=str(i), stderr="`\n" * 900, hint="|" * 5000, command="@" * 9999) for i in range(count)],
        warnings=[Said("@" * 5000)] * count,
        new=["@" * 500] * count,
        run=examples.run_facts(host={f"{i}@" * 100: "@" * 5000 for i in range(count)}, chosen="@" * 9999),
        policy=examples.policy(override=[{"benchmark": "@" * 5000}] * count, source="@" * 9999),
    )  # fmt: skip


LONG = {
    "everything": lambda: everything(100),
    "names of 500 wide characters": lambda: long_report(300, lambda i: "😀" * 499 + str(i)),
    "marks without a column": lambda: long_report(100, lambda i: "a" + "\u0301" * 5000 + str(i)),
    "10,000 findings": lambda: examples.many(10_000),
    "1,000 findings": lambda: examples.many(1000),
    "names of nothing but marks": lambda: long_report(300, lambda i: "@|" * 250 + str(i)),
    "200 failures that wrote 64 kB": lambda: examples.report(
        "error",
        [],
        failures=[
            examples.build_failure(status=str(i), stderr=("😀`<@|" * 40 + "\n") * 160, hint="😀|" * 5000)
            for i in range(200)
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", some(LONG, 1, pytest.mark.nightly))
def test_a_long_report_stays_within_github_limits_and_says_what_is_left_out(name: str) -> None:
    report = LONG[name]()
    comment, whole = markdown.comment(report, LINKS), markdown.summary(report, LINKS)
    assert size(comment) <= 60_000 and size(whole) <= 900_000
    # parsing the largest takes seconds, and it is made like the others
    for text in (comment, whole) if name != "10,000 findings" else (comment,):
        seen = gfm.read(text)
        assert not seen.unbalanced and not seen.live
        assert text.startswith(("❌ **Regression**: ", "❌ **Error**: "))
    assert "Left out here, because a comment has a limited length" in comment
    assert ("Left out here, because a summary has" in whole) == (name != "1,000 findings")
    outside = gfm.read(re.sub(r"<details>.*?</details>", "", comment, flags=re.DOTALL))
    assert len(findings_in(outside)) <= 40


@pytest.mark.parametrize("report", [everything(20), examples.many(200)], ids=["everything", "findings"])
def test_any_limit_is_kept_and_the_verdict_is_never_dropped(report: Report) -> None:
    for limit in (100, 5_000, 20_000):
        text = markdown.comment(report, LINKS, limit=limit)
        assert size(text) <= limit
        assert text.startswith(("❌ **Regression**: ", "Regression"))
        assert not gfm.read(text).unbalanced


@pytest.mark.endtoend
def test_room_is_used_before_anything_is_left_out() -> None:
    assert size(markdown.comment(examples.many(1000))) > 59_000
    assert size(markdown.summary(LONG["everything"]())) > 890_000
    assert "Left out" not in markdown.comment(examples.many(300))


# --- the summary of a job -------------------------------------------------------------------------------------------


def test_a_summary_has_all_findings_and_as_few_as_a_comment_at_first_sight() -> None:
    text = markdown.summary(examples.many(500))
    rows = [row for row in gfm.read(text).rows if len(row) == 4 and row[0] != "benchmark"]
    assert len(rows) == 500
    assert all(row[0].endswith("regression") for row in rows[:3]) and rows[-1][0].endswith("(within 3%)")
    assert markdown.comment(examples.many(500)).startswith(text.partition("\n\n<details>")[0])
    # the details of all, and not of the rows alone that are seen at first
    accepted = examples.report("regression", [examples.accepted(f"case-{i}") for i in range(40)])
    assert "<summary>Details of 40 results</summary>" in markdown.summary(accepted)


# --- the entries to paste: perfgate.toml takes what they hold, and it covers the regression it was made of ------------

UNTIL = datetime.date(2026, 12, 31)
TITLE = "<summary>To accept a known regression</summary>"


def pasted(text: str) -> Config:
    return parse(read_source(text, "perfgate.toml"))


@pytest.mark.parametrize("name", [*examples.HOSTILE, "\ud800 \U0001f600"])
@pytest.mark.parametrize("alone", [True, False])
def test_an_entry_covers_its_case_whatever_its_name(name: str, alone: bool) -> None:
    found = examples.regressed(name, metric="a*b" if alone else name)
    text = entry(found, UNTIL, alone=alone)
    assert all(line.isprintable() for line in text.splitlines())
    (accept,) = accepts_of(pasted(text), name, found.metric, "mean")
    assert accept.until == UNTIL
    assert accepts_of(pasted(text), f"{name}x", found.metric, "mean") == []
    assert bool(accepts_of(pasted(text), name, "other", "mean")) == alone


def test_an_entry_means_no_other_name() -> None:
    for name in ("what*", "is it?", "a[1]*", "[*]"):
        config = pasted(entry(examples.regressed(name), UNTIL, alone=True))
        assert len(accepts_of(config, name, "time", "mean")) == 1
        assert accepts_of(config, name.replace("*", "x").replace("?", "x"), "time", "mean") == []


def test_its_size_is_the_estimate_rounded_up() -> None:
    sizes = {1.083: "9%", 1.08: "8%", 2.3071: "131%", 1.00312: "0.32%", 1.000999: "0.100%"}
    slower = [(examples.regressed(estimate=ratio), ratio, up_to) for ratio, up_to in sizes.items()]
    for found, ratio, up_to in (
        *slower,
        (examples.regressed(estimate=0.8, better="higher", unit="1/s"), 1 / 0.8, "25%"),
    ):
        text = entry(found, UNTIL, alone=True)
        assert f'up_to = "{up_to}"' in text
        (accept,) = pasted(text).accept
        assert ratio <= 1 + float(accept.up_to) + 1e-9


def test_at_most_three_are_shown_and_only_of_regressions() -> None:
    from_zero = examples.report("regression", [examples.regressed(ratio=examples.interval(None, None, "withheld"))])
    for without in (examples.passing(), examples.only_failures(), from_zero):
        assert TITLE not in markdown.comment(without)
    one = markdown.comment(examples.regression())
    assert "in the rules that decide: base (perfgate.toml of main)." in gfm.read(one).text
    assert re.findall(r'benchmark = "(.*)"', one) == ["parse-large"]
    blocks = re.findall(r"```toml\n(.*?)```", one, re.DOTALL)
    assert {each.until for block in blocks for each in pasted(block).accept} == {datetime.date(2027, 1, 15)}
    many = markdown.comment(examples.many())
    assert many.count("[[accept]]\n") == 3 and "Write the others in the same way." in many


def test_of_a_run_that_does_not_say_when_it_was_an_entry_ends_by_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "today", lambda: datetime.date(2026, 11, 20))
    for created in (None, "", "some day", "9999-12-31T23:59:59Z"):
        undated = replace(examples.regression(), run=examples.run_facts(created=created))
        assert "until = 2027-01-15" in markdown.comment(undated)


def test_two_given_programs_have_no_rules_to_add_to() -> None:
    report = examples.report("regression", [examples.regressed()], warnings=[TwoPrograms()])
    assert "[[accept]]" not in markdown.comment(report)
    # beside what was compared, once; of an error there is no verdict to be careful with
    failed = replace(report, findings=[], verdict="error")
    for form in (terminal.written, markdown.comment, junit.written, html.written):
        assert " ".join(form(report).partition("<script")[0].split()).count("another build of either may differ") == 1
        assert "another build" not in form(failed).partition("<script")[0]


def test_a_gate_without_a_file_needs_one_for_an_entry() -> None:
    firsts = {COMMAND_LINE: "Write perfgate.toml by `--save`, and add to it", "perfgate.toml": "Add to perfgate.toml"}
    for name, first in firsts.items():
        policy = examples.policy(whose=RulesSource(kind="named", name=name))
        part = parts.accept(examples.report("regression", [examples.regressed()], policy=policy))
        assert "".join(pieces(part.parts)).startswith(f"{first}, with your reason")
