"""The programs of the trial: how their sides are made, and the commands that run them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.trial.programs.program import Program
from benchmarks.trial.programs.sort import Sort
from benchmarks.trial.programs.tokenizer import Tokenizer
from benchmarks.trial.programs.words import Words

PROGRAMS: Mapping[str, type[Program]] = {"tokenizer": Tokenizer, "sort": Sort, "words": Words}


def made(folder: Path) -> dict[str, Program]:
    """Give the programs, to be built in a folder."""
    return {name: kind(folder / name) for name, kind in PROGRAMS.items()}
