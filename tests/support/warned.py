"""What a report warns of, by kind."""

from __future__ import annotations

from collections.abc import Iterable

from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said


def kind(warning: AnyWarning) -> str:
    return warning.what if isinstance(warning, Said) else str(type(warning).__struct_config__.tag)


def kinds(warnings: Iterable[AnyWarning]) -> list[str]:
    return [kind(each) for each in warnings]


def texts(warnings: Iterable[AnyWarning], of: str) -> list[str]:
    """The sentences of one kind."""
    return [each.sentence() for each in warnings if kind(each) == of]
