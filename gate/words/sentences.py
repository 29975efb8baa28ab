"""What says a thing that was decided, or that a reader should mind."""

from __future__ import annotations

from gate.words.summaries import SENTENCES
from gate.writing.sentences import Sentence


def say(what: Sentence) -> str:
    """Say what was decided, without a full stop; names in it are as they were measured."""
    known = SENTENCES.get(type(what))
    return what.sentence() if known is None else known(what)
