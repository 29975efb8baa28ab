"""Sections, commands, folds and tables of a document as a terminal, Markdown and a page write them."""

from gate.document import html, markdown, terminal
from gate.document.document import (
    Cell,
    Code,
    Column,
    Document,
    Facts,
    Fold,
    Items,
    Part,
    Row,
    Section,
    Statement,
    Table,
)

HEAD = [Column("name"), Column("sum", right=True), Column("says"), Column("more", spare=True)]
TABLE = Table(
    "numbers", "Numbers", HEAD, [Row([Cell("a"), Cell("1"), Cell("much"), Cell("x" * 30)])] * 3, note="below", most=2
)
PARTS: list[Part] = [TABLE, Code("do this", "and why"), Code("a = 1\nb = 2"), Fold("folded", [Statement("hidden")])]
DOCUMENT = Document(
    tool="perfgate thing",
    title="A thing",
    sections=[
        [
            Statement("it is slower", "regression"),
            Items(["so it is"], "says", "What it shows"),
            Facts([("run", "now")]),
        ],
        [Section("Why", "why", PARTS, "read it so")],
        [Fold("Data", [Facts([("make", "cc a.c")], code=True)], "data")],
    ],
    elsewhere="in the page",
    footer="",
)


def text(width: int) -> str:
    return terminal.render(DOCUMENT, terminal.Screen(color=False, width=width, room=width))


def test_a_terminal_has_all_but_what_is_folded() -> None:
    assert text(80) == (
        "it is slower\n\nWhat it shows\n- so it is\nrun  now\n\n"
        "Why\nnumbers\n"
        "name  sum  says  more\n"
        + f"a       1  much  {'x' * 30}\n" * 2
        + "1 more row is in the page.\nbelow\n  do this\n    and why\n  a = 1\n  b = 2\n"
    )


def test_a_spare_column_is_left_out_where_there_is_no_room() -> None:
    for width, shown in ((60, True), (40, False)):
        assert ("more" in text(width).splitlines()[8]) is shown
        assert "much" in text(width)


def test_what_does_not_print_is_written_visibly() -> None:
    odd = Document("t", "", [[Statement("a\x1b[31m"), Section("b\x1b", "", [Code("c\x1b\nd")])]], "", "")
    shown = terminal.render(odd, terminal.Screen(color=False, width=80, room=80))
    assert "\x1b" not in shown
    assert "\x1b" not in markdown.render(odd) + html.render(odd)


def test_markdown_begins_with_a_heading_and_folds() -> None:
    found = markdown.render(DOCUMENT)
    assert found.startswith("### perfgate thing: it is slower\n\n**What it shows**\n\n- so it is\n")
    assert "### Why\n\n#### numbers\n" in found
    assert (
        "- `do this`: and why\n\n```text\na = 1\nb = 2\n```\n\n<details><summary>folded</summary>\n\nhidden\n" in found
    )


def test_a_page_has_a_contents_and_all_of_it() -> None:
    page = html.render(DOCUMENT)
    for part in ('<a href="#why">', '<a href="#data">', "verdict regression", "How to read this", "read it so",
                 "<summary><bdi>folded</bdi></summary>", "hidden", "<code>cc a.c</code>",
                 "a = 1\nb = 2</pre>"):  # fmt: skip
        assert part in page
