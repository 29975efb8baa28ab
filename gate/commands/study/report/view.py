"""A table of a study: its form, and the cells that several have."""

from __future__ import annotations

from dataclasses import dataclass

from gate.commands.study.report import words as say
from gate.model.study import (
    Effect,
    Response,
    Setting,
)
from gate.units import format_share
from gate.words.effects import settings_text


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's name, and whether it holds numbers."""

    name: str
    number: bool


@dataclass(frozen=True, slots=True)
class View:
    """A table; the first cell of a row names the row. note: what stands below."""

    caption: str
    head: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def text_column(name: str) -> Heading:
    """Name a column of text."""
    return Heading(name, number=False)


def headings(first: str, *others: str | Heading) -> tuple[Heading, ...]:
    """Name columns: the first one holds text, the others numbers where nothing else is said."""
    return (text_column(first), *(own if isinstance(own, Heading) else Heading(own, number=True) for own in others))


def key(settings: dict[str, Setting]) -> str:
    """Name settings."""
    return settings_text(settings)


def ends(effect: Effect, response: Response) -> tuple[str, str, str]:
    """Write an effect with the ends of its interval: low, estimate, high."""
    write = change if effect.settings else level
    return write(effect.low, response), write(effect.estimate, response), write(effect.high, response)


def level(value: float | None, response: Response) -> str:
    """Write a value; "" where there is none."""
    return "" if value is None else say.level(value, response)


def change(value: float | None, response: Response) -> str:
    """Write a difference; "" where there is none."""
    return "" if value is None else say.change(value, response)


def share(value: float | None) -> str:
    """Write a share; "" where there is none."""
    return "" if value is None else f"{value:.1%}"


def signed_number(value: float) -> str:
    """Write a share with its sign."""
    return format_share(value, sign=True)
