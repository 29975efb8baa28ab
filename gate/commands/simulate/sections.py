"""Sections of the simulation page: the studies that each needs, and the tables made from their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gate.commands.simulate.arrays.components import Components
from gate.commands.simulate.page import Block, Figure, Section, Table
from gate.commands.simulate.pool import AnyStudy, Results


@dataclass(frozen=True, slots=True)
class Setting:
    """What is simulated: the cases, and the sizes that tables go over."""

    components: tuple[Components, ...]
    paper: bool
    """Whether the cases are those of K&J Table VII, and their results are compared with the paper's."""
    builds: tuple[int, ...]
    thresholds: tuple[float, ...]
    effects: tuple[float, ...]
    cases: int

    @property
    def in_turn(self) -> tuple[Components, ...]:
        """The cases of a report: the components in turn."""
        return tuple(self.components[i % len(self.components)] for i in range(self.cases))


T = TypeVar("T", str, Figure)


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """A text, or a figure, made of the counts of studies."""

    studies: tuple[AnyStudy, ...]
    make: Callable[[Results], T]


Row = tuple[str | Ask[str], ...]


def row(*cells: str | Ask[str]) -> Row:
    """Make a row of a table."""
    return cells


@dataclass(frozen=True, slots=True)
class DraftTable:
    """A table with cells that are still to be simulated."""

    titles: tuple[str, ...]
    rows: tuple[Row, ...]
    names: int = 1


@dataclass(frozen=True, slots=True)
class Draft:
    """A section to be."""

    title: str
    blocks: tuple[str | Ask[str] | Ask[Figure] | DraftTable, ...]


def asked(drafts: Sequence[Draft]) -> Iterator[AnyStudy]:
    """List every study that the drafts ask for."""
    for draft in drafts:
        for block in draft.blocks:
            if isinstance(block, DraftTable):
                yield from (study for line in block.rows for cell in line for study in _studies(cell))
            else:
                yield from _studies(block)


def _studies(part: str | Ask[str] | Ask[Figure]) -> tuple[AnyStudy, ...]:
    return () if isinstance(part, str) else part.studies


def finished(draft: Draft, results: Results) -> Section:
    """Put the results in."""

    def cell(asked_for: str | Ask[str]) -> str:
        return asked_for if isinstance(asked_for, str) else asked_for.make(results)

    def block(asked_for: str | Ask[str] | Ask[Figure] | DraftTable) -> Block:
        if isinstance(asked_for, DraftTable):
            rows = tuple(tuple(cell(part) for part in line) for line in asked_for.rows)
            return Table(asked_for.titles, rows, asked_for.names)
        return asked_for if isinstance(asked_for, str) else asked_for.make(results)

    return Section(draft.title, tuple(block(part) for part in draft.blocks))


def columns(builds: Sequence[int]) -> tuple[str, ...]:
    """Title the columns of a table that goes over counts of builds."""
    return tuple(f"{count} builds" for count in builds)


def percent(share: float, digits: int = 1) -> str:
    """Write a share as it stands in tables."""
    return f"{share * 100:.{digits}f}%"


def plain(share: float) -> str:
    """Write a share that has a name of its own: "5%", "0.5%"."""
    return f"{share * 100:g}%"
