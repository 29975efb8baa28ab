"""The function that says a warning; the other modules of this package add a sentence for each type."""

from __future__ import annotations

from functools import singledispatch

from gate.model.warnings import AnyWarning, OfRun
from gate.model.warnings.base import Said


@singledispatch
def text(warning: AnyWarning) -> str:
    """Write a warning as a sentence without a full stop; names from elsewhere are in it as they are."""
    raise TypeError(f"no sentence for {type(warning).__name__}")


@text.register
def _(warning: Said) -> str:
    return warning.text


@text.register
def _(warning: OfRun) -> str:
    return f"{warning.run}'s run: {text(warning.warning)}"
