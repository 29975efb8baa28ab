"""What the trial asks of a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.trial.plan import CHANGED, SAME, SIZES, TAIL
from gate.model import Build

ROOT = Path(__file__).resolve().parents[3]
SIDES = (*SAME, *CHANGED)
OFFSET = "TRIAL_OFFSET"
"""The variable with the passes that count as done before a process; without it none."""


@dataclass(frozen=True)
class Run:
    """One command, and what it is started with besides the trial's own environment."""

    argv: list[str]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Layout:
    """A layout of a side that is ready to run, and how perfgate built it."""

    side: str
    number: int
    build: Build


class Program(ABC):
    """One program with its sides, in a folder of its own."""

    name: str
    about: str
    """What it is and what one pass does, for the page."""
    layout: str
    """What a layout of it is, for the page."""

    def __init__(self, folder: Path) -> None:
        """Take the folder that it is made in."""
        self.folder = folder

    @abstractmethod
    def prepare(self) -> Iterator[Layout]:
        """Make all sides in all layouts."""

    @abstractmethod
    def run(self, side: str, layout: int, output: Path, passes: int | None, seconds: float | None) -> Run:
        """Give the command that measures passes of a side and writes their nanoseconds to the output."""

    @abstractmethod
    def counted(self, side: str, layout: int, output: Path, passes: int) -> Run:
        """Give the command whose instructions are counted: with one pass more it executes one pass more of them."""


def share(side: str) -> float:
    """Give the share of the work that a side does again."""
    return dict(zip(CHANGED, SIZES, strict=False)).get(side, 0.0)


def twice(side: str) -> bool:
    """Return whether some passes of a side do all work twice."""
    return side == TAIL


def limits(passes: int | None, seconds: float | None) -> list[str]:
    """Write where a process ends, as the programs take it."""
    return [str(passes or 0), str(seconds or 0)]
