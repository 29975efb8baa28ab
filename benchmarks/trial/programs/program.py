"""What the trial asks of a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.trial.plan import BASE, CHANGED, SIZES, TAIL
from gate.model import Build

ROOT = Path(__file__).resolve().parents[3]
BUILT = (TAIL, BASE, "edited", *CHANGED[:-1])
"""The sides that are made; "same" and "relaid" are base. The tail comes first: it tells what the others' work takes."""
SLOW = "TRIAL_SLOW"
"""The variable that is 1 where the tail does its work twice."""


@dataclass(frozen=True)
class Run:
    """One command, and what it is started with besides the trial's own environment."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


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
    """What it is and what a start of it does, for the page."""
    layout: str
    """What a layout of it is, for the page."""

    def __init__(self, folder: Path) -> None:
        """Take the folder that it is made in."""
        self.folder = folder

    @abstractmethod
    def prepare(self, sides: Sequence[str], work: float) -> Iterator[Layout]:
        """Make sides in all layouts. work: the share of a start's time that its work takes."""

    @abstractmethod
    def run(self, side: str, layout: int, *, slow: bool = False) -> Run:
        """Give the command of a side. slow: where a start of the tail does its work twice."""


def made_of(side: str) -> str:
    """Name the side whose program a side runs."""
    return BASE if side in ("same", "relaid") else side


def again(side: str, work: float) -> float:
    """Give the share of its work that a side does again, so that a start takes as much more as it should."""
    return dict(zip(CHANGED, SIZES, strict=False)).get(side, 0.0) / work
