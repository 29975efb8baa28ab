"""The one registry of sentences: the type of what was decided, or of what to mind -> what says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.words import reasons, sameness, summaries, warnings

SENTENCES: dict[type, Callable[[Any], str]] = {
    **reasons.SENTENCES,
    **summaries.SENTENCES,
    **sameness.SENTENCES,
    **warnings.SENTENCES,
}
"""Of everything that report.json writes with a text."""


def say(what: object) -> str:
    """Say what was decided, without a full stop; names in it are as they were measured."""
    return SENTENCES[type(what)](what)
