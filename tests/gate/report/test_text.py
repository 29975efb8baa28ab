import pytest

from gate.model import Verdict
from gate.report import text
from gate.report.plain import clip, columns, last_lines, visible, wrap
from tests.gate.report import examples


def test_the_first_line_is_the_verdict() -> None:
    assert text.render(examples.regression()).startswith(
        "Regression: 1 of 8 findings regressed: parse-large\n8 findings:"
    )
    assert text.render(examples.nothing()).startswith("Error: nothing was measured\nno findings\n")


@pytest.mark.parametrize("name", examples.ALL)
@pytest.mark.parametrize("color", [False, True])
def test_nothing_but_our_own_colour_escapes(name: str, color: bool) -> None:
    out = text.render(examples.ALL[name](), color=color)
    plain = "".join(out.split("\x1b[0m"))
    for code in ("1;31", "33", "35", "36", "2", "1;32", "1"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert color == (plain != out)
    assert all(line.isprintable() for line in plain.split("\n"))


@pytest.mark.parametrize("name", ["regression", "pass", "inconclusive", "many", "metrics", "hostile", "failures"])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_only_commands_to_copy_are_wider_than_the_terminal(name: str, width: int) -> None:
    lines = text.render(examples.ALL[name](), width=width).splitlines()
    wide = [line for line in lines if columns(line) > width and not line.startswith("      ")]
    assert wide == []


def test_colour_changes_no_column() -> None:
    report = examples.regression()
    colored = text.render(report, color=True)
    for code in ("1;31", "33", "35", "36", "2", "1", "0"):
        colored = colored.replace(f"\x1b[{code}m", "")
    assert colored == text.render(report)


def test_many_unchanged_findings_are_counted_unless_all_are_wanted() -> None:
    report = examples.many()
    short, full = text.render(report), text.render(report, every=True)
    assert "270 more are unchanged and not listed here" in short
    assert "suite/case-001" not in short
    assert all(f.benchmark in full for f in report.findings)
    assert all(f.benchmark in short for f in report.findings if f.verdict != "unchanged")


def test_a_report_of_unchanged_findings_only_is_a_count() -> None:
    report = examples.report("pass", "nothing regressed", [examples.finding(f"case-{i}") for i in range(1000)])
    assert "1000 are unchanged and not listed here" in text.render(report)


def test_equal_notes_share_a_number() -> None:
    out = text.render(examples.regression())
    assert out.count("host drift: base and head both became slower") == 1
    assert out.count(" ⁵\n") == 2


@pytest.mark.parametrize("verdict", ["regression", "inconclusive"])
def test_notes_end_before_they_drown_the_table(verdict: Verdict) -> None:
    found = [examples.finding(f"case-{i}", verdict, reason=f"reason {i}") for i in range(100)]
    out = text.render(examples.report("regression", "many", found))
    assert "60 more notes are in report.json and report.html." in out
    assert "60 more notes" not in text.render(examples.report("regression", "many", found), every=True)


def test_an_interval_that_does_not_exist_is_never_a_number() -> None:
    out = text.render(examples.inconclusive(), width=120)
    assert "+4.9% (no interval)" in out
    assert "+20.0% (unbounded)" in out
    assert "nan" not in out
    assert "None" not in out


def test_failures_say_how_to_repeat_them() -> None:
    out = text.render(examples.only_failures())
    steps = ["cd /tmp/perfgate-x1/head", "unset GITHUB_TOKEN", "export LC_ALL=C", "export PERFGATE_SEED=1234"]
    assert "\n".join(f"      {step}" for step in [*steps, "make clean all"]) in out
    assert "error: unknown type name" in out
    assert "parse-large failed on head: signal SIGSEGV (build 0, execution 0;" in out
    assert "render is missing on head" in out


def test_text_from_elsewhere_is_one_visible_line() -> None:
    assert visible("a\nb\x1b[31m\u202e\udc80é日") == "a\\nb\\x1b[31m\\u202e\\udc80é日"
    assert last_lines("\x1b[31mred\x1b[0m\r\nnext\ttab\n\n", 10) == ["red", "next    tab"]
    assert last_lines("a\nb\nc", 2) == ["b", "c"]


def test_widths_are_those_of_a_terminal() -> None:
    assert columns("日本") == 4
    assert columns("e\u0301") == 1
    assert clip("abcdefghij", 7) == "abc…hij"
    assert columns(clip("日本語のベンチマーク", 9)) <= 9
    assert wrap("aa bb cc", 5) == ["aa bb", "cc"]
    assert wrap("x" * 20, 10, first="- ", rest="  ") == ["- " + "x" * 8, "  " + "x" * 8, "  xxxx"]
