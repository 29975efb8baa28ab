import re

import pytest

from gate.report import markdown
from gate.report.markdown import LIMIT, code, escape
from tests.gate.report import examples


def outside_code(text: str) -> str:
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)


def test_the_first_lines_are_verdict_and_counts() -> None:
    lines = markdown.render(examples.regression()).splitlines()
    assert lines[0] == "### Regression: 1 of 8 findings regressed: parse-large"
    assert lines[2].startswith("8 findings: 1 regression, 3 inconclusive")


@pytest.mark.parametrize("name", examples.ALL)
def test_names_bring_no_markup(name: str) -> None:
    text = outside_code(markdown.render(examples.ALL[name]()))
    tags = set(re.findall(r"<[^>]*>", text))
    assert tags <= {"<!-- -->", "<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"}
    assert not re.search(r"@\w|(?<!&)#\d|\]\(|://|www\.|GH-\d|&(?!#\d+;)", text)
    assert "\x1b" not in text


@pytest.mark.parametrize("name", examples.ALL)
def test_every_row_of_a_table_has_all_its_cells(name: str) -> None:
    rows = [line for line in outside_code(markdown.render(examples.ALL[name]())).splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} <= {9, 6}


def test_what_the_escapes_are() -> None:
    assert escape("a|b") == "a&#124;b"
    assert escape("@team") == "@team".replace("@", "&#64;<!-- -->")
    assert escape("#12") == "&#35;<!-- -->12"
    assert escape("# title") == "&#35; title"
    assert escape("1. item") == "1&#46; item"
    assert escape("- item") == "&#45; item"
    assert escape("&#64;<b>") == "&#38;#64;&#60;b&#62;".replace("#64", "&#35;<!-- -->64")
    assert escape("snake_case _em_") == "snake_case &#95;em&#95;"
    assert escape("two\nlines") == "two&#92;nlines"
    assert escape(code("x")) == "`x`"
    assert code("a`b|c") == "<code>a&#96;b&#124;c</code>"
    assert code(" ") == "' '"


def test_a_short_table_is_whole_and_a_long_one_shows_ten_rows() -> None:
    short = markdown.render(examples.passing())
    assert short.count("| unchanged |") == 2
    head, _, rest = markdown.render(examples.many()).partition("<details>")
    rows = [line for line in head.splitlines() if line.startswith("| `")]
    assert len(rows) == 10
    assert all("unchanged" not in row for row in rows)
    assert "290 more findings" in rest


def test_a_comment_stays_within_the_limit_by_leaving_out_details() -> None:
    report = examples.report(
        "regression",
        "many",
        [examples.regressed("`|@" * 40 + str(i), reason="<>" * 300, warnings=["|" * 500] * 9) for i in range(1000)],
        recorded=[examples.recorded("|" * 200, metric="*" * 200)] * 1000,
        failures=[examples.build_failure(status=str(i), stderr="`\n" * 9000, hint="|" * 5000) for i in range(100)],
        warnings=["@" * 5000] * 100,
        new=["@" * 500] * 100,
    )
    text = markdown.render(report)
    assert len(text) <= LIMIT
    assert "left out here, because a comment has a limited length" in text or "too long for a comment" in text
    for limit in (500, 5_000, 20_000):
        assert len(markdown.render(report, limit=limit)) <= limit


def test_all_of_a_thousand_plain_findings_or_a_word_about_it() -> None:
    text = markdown.render(examples.many(1000))
    assert len(text) <= LIMIT
    assert "findings left out here" in text


def test_output_of_failures_cannot_end_its_block() -> None:
    failure = examples.build_failure(stderr="a\n````\n```\nb</details>")
    text = markdown.render(examples.report("error", "1 failure", [], failures=[failure]))
    assert "`````text\na\n````\n```\nb</details>\n" in text
