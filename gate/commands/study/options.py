"""What the command line of perfgate study says, typed; loads nothing heavy, since every command line has its help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Unit = Literal["iteration", "execution", "build"]
UNITS: tuple[Unit, ...] = get_args(Unit)


@dataclass(frozen=True, slots=True)
class AnalyseOptions:
    """What is analysed, how, and where it goes.

    files: folders or measurement files; "-" is standard input. unit: one observation of the linear model; None: an
    execution. order: interactions of up to so many factors; None: study.order. quantiles: strictly between 0 and 1, in
    order; None: 0.1 to 0.9 and 0.99. iid: also the intervals that take values for independent. log: of the values'
    logarithms. without: analyses again, each without the treatments that have all these settings. only: what is
    analysed has all settings of one of these. benchmarks: globs; none: as configured. responses: metrics; none: as
    configured. settings: factor -> its settings in order, the others left out. confidence: None: gate.confidence. seed:
    of what is drawn. out: the folder to fill. html, json: files, "-" for standard output. csv: a folder of tables.
    """

    files: tuple[str, ...]
    unit: Unit | None
    order: int | None
    quantiles: tuple[float, ...] | None
    iid: bool
    log: bool
    without: tuple[dict[str, str], ...]
    only: tuple[dict[str, str], ...]
    benchmarks: tuple[str, ...]
    responses: tuple[str, ...]
    settings: dict[str, tuple[str, ...]]
    confidence: float | None
    seed: int | None
    out: Path | None
    html: str | None
    json: str | None
    csv: Path | None
    quiet: bool


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """What is measured for a study, and where.

    base: only where side is a factor. out: None: study in .perfgate of the project. session, sessions, runner: which
    job this is, where several measure; None: the only one. every: the whole order in the plan. json: of the plan.
    """

    base: str | None
    head: str | None
    out: Path | None
    seed: int | None
    dry_run: bool
    keep: bool
    resume: bool
    strict: bool
    session: int | None
    sessions: int | None
    runner: str | None
    every: bool
    json: str | None
    quiet: bool


def combination(text: str) -> dict[str, str]:
    """Read settings of several factors: "fp=no,prf=fp"."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, sign, setting = (piece.strip() for piece in part.partition("="))
        if not (sign and name and setting):
            raise argparse.ArgumentTypeError(f"{text!r:.80} is no combination: write FACTOR=SETTING,FACTOR=SETTING")
        if name in found:
            raise argparse.ArgumentTypeError(f"{text!r:.80} names {name} twice")
        found[name] = setting
    return found


@dataclass(frozen=True, slots=True)
class FactorSettings:
    """The settings of one factor that are analysed, in order."""

    factor: str
    settings: tuple[str, ...]


def factor_settings(text: str) -> FactorSettings:
    """Read which settings of a factor are meant: "load=idle,busy"."""
    name, sign, rest = (piece.strip() for piece in text.partition("="))
    settings = tuple(part.strip() for part in rest.split(","))
    if not (sign and name and all(settings)):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no list of settings: write FACTOR=SETTING,SETTING")
    if len(set(settings)) < len(settings):
        raise argparse.ArgumentTypeError(f"{text!r:.80} names a setting twice")
    return FactorSettings(name, settings)


def by_factor(named: Iterable[FactorSettings]) -> dict[str, tuple[str, ...]]:
    """Return the settings by factor.

    Raises:
        ValueError: a factor is named twice.
    """
    found: dict[str, tuple[str, ...]] = {}
    for each in named:
        if each.factor in found:
            raise ValueError(f"--settings {each.factor}: is given twice; write {each.factor}=SETTING,SETTING")
        found[each.factor] = each.settings
    return found


def quantiles(text: str) -> tuple[float, ...]:
    """Read quantiles, and give them in order: "0.5,0.99"."""
    return tuple(sorted({_between(part, 0.0, "quantile") for part in text.split(",")}))


def confidence(text: str) -> float:
    """Read a confidence: "0.95"."""
    return _between(text, 0.5, "confidence")


def _between(text: str, low: float, what: str) -> float:
    number = float(text) if re.fullmatch(r"\s*0?\.[0-9]{1,15}\s*", text) else low
    if not low < number < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no {what}: a number between {low:g} and 1, such as 0.99")
    return number
