"""The result of an earlier commit in a comment that has none: kept once, under its own name, whatever happens."""

from __future__ import annotations

import pytest
from cmarkgfm import github_flavored_markdown_to_html  # type: ignore[import-untyped]  # it has no types
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]  # the same

from gate.github.comment import LONGEST_COMMENT, NO_RESULT, EarlierResult, earlier_result, keeping

OLD, MID, NEW = "a" * 40, "b" * 40, "c" * 40
RESULT = (
    "✅ **perfgate: Pass**: nothing regressed\n\nall good\n\n<details><summary>more</summary>\n\nrows\n\n</details>\n"
)


def marked(head: str, text: str) -> str:
    return f"<!-- perfgate:perfgate head={head} run=1 attempt=1 -->\n{text}"


def notice(head: str) -> str:
    return marked(head, f"{NO_RESULT}\n### perfgate: measuring was cancelled\n\nwhy\n")


def kept(head: str, body: str, of: str) -> str:
    return keeping(notice(head), head, earlier_result(of, body))


def test_a_result_is_kept_below_as_the_one_of_its_commit() -> None:
    body = kept(NEW, marked(OLD, RESULT), OLD)
    above, _, below = body.partition("<details>")
    assert above.startswith(notice(NEW).rstrip()) and "Pass" not in above
    assert f"Result of an older commit, {OLD[:10]}; commit {NEW[:10]} has none" in below
    assert f"\nOf commit {OLD[:10]}: ✅ **perfgate: Pass**: nothing regressed <!-- " in below and "\n### " not in below
    html = github_flavored_markdown_to_html(body, options=Options.CMARK_OPT_UNSAFE)
    assert html.count("<details>") == html.count("</details>") == 2 and "<strong>perfgate: Pass</strong>" in html


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_it_goes_from_comment_to_comment_unchanged(ending: str) -> None:
    first = kept(MID, marked(OLD, RESULT), OLD)
    found = earlier_result(MID, first.replace("\n", ending))
    assert found is not None and found.head == OLD
    second = keeping(notice(NEW), NEW, found)
    assert second == kept(NEW, marked(OLD, RESULT), OLD)
    # what is written is what is wanted when it is read again
    assert keeping(notice(NEW), NEW, earlier_result(NEW, second)) == second


def test_of_the_same_commit_it_is_an_earlier_result() -> None:
    assert f"Earlier result of this commit, {NEW[:10]}; the last run has none" in kept(NEW, marked(NEW, RESULT), NEW)


def test_without_a_result_there_is_nothing_to_keep() -> None:
    assert earlier_result(OLD, notice(OLD)) is None
    assert earlier_result(OLD, marked(OLD, "")) is None
    assert kept(NEW, notice(OLD), OLD) == notice(NEW)


def test_what_is_too_long_is_named_and_left_out_for_good() -> None:
    body = kept(NEW, marked(OLD, "✅ **perfgate: Pass**\n" + "x" * LONGEST_COMMENT), OLD)
    assert len(body) < 1000 and f"Result of an older commit, {OLD[:10]}" in body and "too long" in body
    assert earlier_result(NEW, body) == EarlierResult(OLD, "")
    assert keeping(notice(NEW), NEW, earlier_result(NEW, body)) == body
