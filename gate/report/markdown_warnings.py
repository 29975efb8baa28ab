"""Which warnings of a report a reader must see at once, and which can wait in the details."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# who set the rules, what is missing, and what happened to the machine change what a verdict is worth
_FIRST = re.compile(
    r"head changes|(?:base|head) has no|the host was unfit|host|\d+ of \d+ planned rounds|base and head|nothing of|"
    r"build variance"
)
# said of every run alike, until somebody calibrates
_LATER = re.compile(r"nothing is remembered of|what is remembered of")


@dataclass(frozen=True, slots=True)
class Weighed:
    """Warnings to show at once, and those for the details."""

    shown: list[str]
    rest: list[str]


def weigh(warnings: Sequence[str], most: int) -> Weighed:
    """Divide warnings, those that matter first: at most so many are shown at once."""
    later = [text for text in warnings if _LATER.match(text)]
    first = [text for text in warnings if _FIRST.match(text)]
    others = [text for text in warnings if not _LATER.match(text) and not _FIRST.match(text)]
    found = [*first, *others]
    return Weighed(found[:most], [*found[most:], *later])
