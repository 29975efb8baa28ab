"""The one registry of sentences: the type of what was decided -> what says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from gate.model.warnings import AnyWarning
from gate.words import interactions, reasons, summaries, warnings

SENTENCES: dict[type, Callable[[Any], str]] = {
    **reasons.SENTENCES,
    **summaries.SENTENCES,
    **interactions.SENTENCES,
    **dict.fromkeys(get_args(AnyWarning), warnings.text),
}
"""Of everything that report.json writes with a text."""


def say(what: object) -> str:
    """Say what was decided, without a full stop; names in it are as they were measured."""
    return SENTENCES[type(what)](what)
