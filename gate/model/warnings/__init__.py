"""All warnings of estimates, findings and reports: a closed union of small types, each with its sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from gate.model.names import Side
from gate.model.warnings import estimates, hosts, measured, setup  # noqa: F401  # each has kinds
from gate.model.warnings.base import Base, Said
from gate.writing.sentences import kinds_of


class OfRun(Base, frozen=True):
    """A warning of one of two runs that are compared."""

    run: Side
    """Which of the two."""
    warning: AnyWarning

    def _said(self) -> str:
        return f"{self.run}'s run: {self.warning.sentence()}"


if TYPE_CHECKING:
    AnyWarning = Base
else:
    AnyWarning = kinds_of(Base)
"""Every kind there is."""


def typed(warnings: Iterable[AnyWarning | str]) -> list[AnyWarning]:
    """Take texts of a run line, as an older perfgate or another program wrote it, for what they are."""
    return [Said(warning) if isinstance(warning, str) else warning for warning in warnings]


def known(found: Any) -> Any:
    """Return a warning of a file as it is, or where another version wrote it by its text, or else by its kind."""
    try:
        msgspec.convert(found, AnyWarning)
    except msgspec.ValidationError:
        if not isinstance(found, dict) or not isinstance(kind := found.get("kind"), str):
            return found
        text = found.get("text", f"a warning of another version of perfgate: {kind.replace('-', ' ')}")
        return {"kind": "said", "text": text, "what": kind, "place": found.get("place", "middle")}
    return found
