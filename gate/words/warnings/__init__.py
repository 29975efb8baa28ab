"""Warnings as sentences."""

from __future__ import annotations

from collections.abc import Iterable

from gate.model.warnings import AnyWarning, typed
from gate.words.warnings import estimates, hosts, measured, setup  # noqa: F401  # each adds its sentences
from gate.words.warnings.base import text

__all__ = ["text", "texts"]


def texts(warnings: Iterable[AnyWarning | str]) -> list[str]:
    """Write warnings as sentences; those of a run line may be texts already."""
    return [text(warning) for warning in typed(warnings)]
