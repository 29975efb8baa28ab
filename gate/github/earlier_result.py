"""The result of an earlier commit, which a comment without a result keeps folded, under the name of its commit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gate.github.conversation import LONGEST_COMMENT

NO_RESULT = "<!-- perfgate:no-result -->"
"""The first line below the marker of a comment that says why there is no result."""
_KEPT = re.compile(r"^<!-- perfgate:earlier=([0-9a-f]{40,64}|unknown) -->\n", re.MULTILINE)
_NAMED = "<!-- perfgate:of -->"
_END = "\n\n</details>"
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """What a comment showed of a commit."""

    head: str
    text: str
    """Markdown without a marker; "": it was too long to be kept."""


def earlier_result(head: str, body: str) -> EarlierResult | None:
    """Take the result out of a comment of ours: its own, or the one that it keeps; None: it has neither.

    Args:
        head: the commit that its marker names.
        body: the comment, with the marker.
    """
    text = body.replace("\r\n", "\n").partition("\n")[2].strip("\n")
    if not text.startswith(NO_RESULT):
        return EarlierResult(head, text) if text else None
    found = _KEPT.search(text)
    if found is None:
        return None
    # below the line of the summary
    kept = text[found.end() :].partition("\n\n")[2].removesuffix(_END)
    return EarlierResult(found[1], kept)


def keeping(text: str, head: str, earlier: EarlierResult | None) -> str:
    """Write a comment that has no result, with the earlier one folded below.

    Args:
        text: the comment, its marker included, and NO_RESULT below that.
        head: its commit.
    """
    if earlier is None:
        return text
    of = _short(earlier.head)
    what = (
        f"Earlier result of this commit, {of}; the last run has none"
        if earlier.head == head
        else f"Result of an older commit, {of}; commit {_short(head)} has none"
    )
    named = f"{text.rstrip()}\n\n<!-- perfgate:earlier={earlier.head} -->\n"
    whole = f"{named}<details><summary>{what}</summary>\n\n{_headed(of, earlier.text)}{_END}"
    if earlier.text and len(whole) <= LONGEST_COMMENT:
        return whole
    return f"{named}{what}. It was too long to be kept here."


def _headed(of: str, text: str) -> str:
    """Put the commit into the first line of a result, so that nobody takes it for another's, also out of its fold."""
    first, newline, rest = text.partition("\n")
    # in its second fold it has it already; an older perfgate wrote a heading
    if first.endswith(_NAMED) or first.startswith("#### "):
        return text
    return f"Of commit {of}: {first.removeprefix('### ')} {_NAMED}{newline}{rest}"


def _short(head: str) -> str:
    return head[:_DIGITS]
