"""Warnings -> sentences, a file for each module of gate.model.warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gate.model.warnings import AnyWarning, OfRun, typed
from gate.model.warnings.base import Said
from gate.words.warnings import estimates, hosts, measured, setup


def text(warning: AnyWarning) -> str:
    """Write a warning as a sentence without a full stop; names from elsewhere are in it as they are."""
    return SENTENCES[type(warning)](warning)


def texts(warnings: Iterable[AnyWarning | str]) -> list[str]:
    """Write warnings as sentences; those of a run line may be texts already."""
    return [text(warning) for warning in typed(warnings)]


SENTENCES: dict[type, Callable[[Any], str]] = {
    **estimates.SENTENCES,
    **hosts.SENTENCES,
    **measured.SENTENCES,
    **setup.SENTENCES,
    OfRun: lambda warning: f"{warning.run}'s run: {text(warning.warning)}",
    Said: lambda warning: warning.text,
}
"""The sentence of each type, without a full stop."""
