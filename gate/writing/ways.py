"""What a step asks a reader to type, as data: the sentence shows it, and a test follows it to the letter."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from gate.units import DIMENSIONS
from gate.writing.amounts import as_configured
from gate.writing.phrases import dotted, joined, toml_text


class Options(NamedTuple):
    """Options for the command that gave the report: `--set plan.budget=11m`."""

    argv: tuple[str, ...]

    def __str__(self) -> str:
        """Write them as they are typed."""
        return f"`{shlex.join(self.argv)}`"

    @property
    def lines(self) -> Lines | None:
        """Return the same as keys of perfgate.toml, for a reader who types no command; None: it is not of the rules."""
        given = [word for option, word in pairwise(self.argv) if option == "--set"]
        keys = {key: _value(value) for key, _, value in (word.partition("=") for word in given)}
        tables = {key.partition(".")[0] for key in keys}
        if len(tables) != 1:
            return None
        return Lines((tables.pop(),), {key.partition(".")[2]: value for key, value in keys.items()})


def _value(text: str) -> str:
    """Write the value of --set as TOML has it."""
    try:
        tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return toml_text(text)
    return text


class Command(NamedTuple):
    """A command line: `perfgate doctor`. Words in capitals stand for names that only the reader knows."""

    text: str

    def __str__(self) -> str:
        """Write it as it is typed."""
        return f"`{self.text}`"


class Lines(NamedTuple):
    """Keys of a table of perfgate.toml: of one more entry where there may be several, otherwise of the one there is."""

    table: tuple[str, ...]
    keys: Mapping[str, str]
    """Values as TOML has them."""

    def __str__(self) -> str:
        """Write them so that they can be copied."""
        keys = joined([f"`{key} = {value}`" for key, value in self.keys.items()])
        if self.table == _OVERRIDE:
            return f"an `[[override]]` entry with {keys}"
        return f"{keys} in `[{dotted(self.table)}]`"


Way = Options | Command | Lines
_OVERRIDE = ("override",)
CHECK, DOCTOR, EXPLAIN = (Command(f"perfgate {name}") for name in ("check", "doctor", "explain"))


def with_set(**values: object) -> Options:
    """Set keys of [plan]: `--set plan.builds=6 --set plan.budget=11m`."""
    return Options(tuple(word for key, value in values.items() for word in ("--set", f"plan.{key}={value}")))


def overridden(*, metric: str = "", benchmark: str = "", **keys: str) -> Lines:
    """Add an [[override]] entry of a metric or a benchmark; values as TOML has them."""
    of = {name: toml_text(value) for name, value in (("metric", metric), ("benchmark", benchmark)) if value}
    return Lines(_OVERRIDE, of | keys)


def with_floor(metric: str, floor: float, unit: str, *, imported: bool) -> Lines:
    """Set the floor of a metric, in its own table where it has one, which counts before any other."""
    # of a unit without dimension it is a plain number
    written = toml_text(as_configured(floor, unit)) if floor and unit in DIMENSIONS else f"{floor:.4g}"
    if imported:
        return overridden(metric=metric, floor=written)
    return Lines(("benchmark", "metric", metric), {"floor": written})


def give_direction(metric: str) -> tuple[Lines, Lines]:
    """Return both ways to give a metric a direction."""
    lower, higher = (overridden(metric=metric, better=toml_text(better)) for better in ("lower", "higher"))
    return lower, higher


def say_direction(metric: str) -> str:
    """Say how a metric gets a direction."""
    lower, higher = give_direction(metric)
    return f"Add {lower} or `better = {higher.keys['better']}` to perfgate.toml"
