"""Sections of a simulation, whose cells are made of the counts of studies -> a terminal, or a Markdown document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gate.commands.simulate.draws import CaseNoise
from gate.commands.simulate.studies import AnyStudy, Results, Study, Tally
from gate.document.document import Column
from gate.document.terminal import table
from gate.writing.plain import wrap

C = TypeVar("C", bound=Tally)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is simulated: the cases, and the sizes that tables go over."""

    components: tuple[CaseNoise, ...]
    paper: bool
    """Whether the cases are those of K&J Table VII, which have the hard case of two layouts beside them."""
    builds: tuple[int, ...]
    thresholds: tuple[float, ...]
    effects: tuple[float, ...]
    cases: int

    @property
    def middling(self) -> CaseNoise:
        """The case of middling noise."""
        return sorted(self.components, key=lambda c: c.of_build_mean)[(len(self.components) - 1) // 2]

    @property
    def in_turn(self) -> tuple[CaseNoise, ...]:
        """The cases of a report: the components in turn."""
        return tuple(self.components[i % len(self.components)] for i in range(self.cases))


@dataclass(frozen=True, slots=True)
class Ask:
    """A text made of the counts of studies."""

    studies: tuple[AnyStudy, ...]
    make: Callable[[Results], str]


Cell = str | Ask
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class SimulatedTable:
    """Cells below titles; the first `names` columns are words, the others numbers."""

    titles: tuple[str, ...]
    rows: tuple[Row, ...]
    names: int = 1

    def texts(self, results: Results) -> list[list[str]]:
        """Put the results in."""
        return [[cell if isinstance(cell, str) else cell.make(results) for cell in line] for line in self.rows]


@dataclass(frozen=True, slots=True)
class SimulatedSection:
    """A title and what stands below it, in order."""

    title: str
    blocks: tuple[str | SimulatedTable, ...]


def asked(sections: Sequence[SimulatedSection]) -> Iterator[AnyStudy]:
    """List every study that the sections ask for."""
    tables = (block for section in sections for block in section.blocks if isinstance(block, SimulatedTable))
    for cell in (cell for own in tables for line in own.rows for cell in line):
        if isinstance(cell, Ask):
            yield from cell.studies


def row(*cells: Cell) -> Row:
    """Make a row of a table."""
    return cells


def told(study: Study[C], write: Callable[[C], str]) -> Ask:
    """Make a text of the counts of one study."""
    return Ask((study,), lambda results: write(results.of(study)))


def percent(share: float, digits: int = 1) -> str:
    """Write a share as it stands in tables."""
    return f"{share * 100:.{digits}f}%"


def plain(share: float) -> str:
    """Write a share that has a name of its own: "5%", "0.5%"."""
    return f"{share * 100:g}%"


def columns(builds: Sequence[int]) -> tuple[str, ...]:
    """Title the columns of a table that goes over counts of builds."""
    return tuple(f"{count} builds" for count in builds)


def as_text(sections: Sequence[SimulatedSection], results: Results, width: int) -> str:
    """Lay out sections for a terminal."""
    lines: list[str] = []
    for section in sections:
        lines += [section.title, "=" * len(section.title), ""]
        for block in section.blocks:
            if isinstance(block, str):
                lines += [*wrap(_bare(block), width), ""]
                continue
            head = [Column(title, right=i >= block.names) for i, title in enumerate(block.titles)]
            lines += [*table(head, [[*map(_bare, line)] for line in block.texts(results)], width), ""]
    return "\n".join(lines)


def _bare(text: str) -> str:
    return text.replace("**", "").replace("`", "")
