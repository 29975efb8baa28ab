"""Sentences: what all types that say something have in common, and what a reader is asked to type."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Union

import msgspec

from gate.writing.amounts import as_configured
from gate.writing.phrases import dotted, joined, named, toml_text
from gate.writing.plain import visible
from gate.writing.units import DIMENSIONS


def tag(name: str) -> str:
    """Name a type in a file: "too-wide" for TooWide."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class Sentence(msgspec.Struct, frozen=True, tag_field="kind", tag=tag):
    """What is told in one sentence: its kind in a file is the name of its type, its fields are the numbers."""

    def sentence(self) -> str:
        """Say it, without a full stop; names in it are as they were measured."""
        return self._said()

    def _said(self) -> str:
        raise NotImplementedError


def kinds_of(base: type[Sentence]) -> Any:
    """Return the union of all types that are made of one, which tells them apart in a file; call it below the last."""
    found = [*base.__subclasses__()]
    for each in found:
        found += each.__subclasses__()
    return Union[tuple(each for each in found if not each.__subclasses__())]  # noqa: UP007  # of how many is not known


class Options(NamedTuple):
    """Options for the command that gave the report: `--set plan.budget=11m`."""

    argv: tuple[str, ...]

    def __str__(self) -> str:
        return f"`{shlex.join(self.argv)}`"

    @property
    def decides(self) -> bool:
        """Whether it needs no other values: it sets what decides, and nothing of how it is measured."""
        return all(word == "--set" or word.startswith(("gate.", "plan.metrics=")) for word in self.argv)

    def behind(self, words: Sequence[str]) -> CommandLine:
        """Return the command line of these words with the options too, in place of what it sets of the same keys."""
        end = words.index("--") if "--" in words else len(words)
        # an option that holds one value, or a key of one that holds many
        pairs = zip(self.argv[::2], self.argv[1::2], strict=False)
        own = {(name, value.partition("=")[0] if name == "--set" else "") for name, value in pairs}
        given = ((name, value.partition("=")[0] if name == "--set" else "") for name, value in pairwise(words[:end]))
        again = [n for n, each in enumerate(given) if each in own]
        kept = [word for n, word in enumerate(words[:end]) if not {n, n - 1} & {*again}]
        return CommandLine(visible(shlex.join(["perfgate", *kept, *self.argv, *words[end:]])))

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


class CommandLine(NamedTuple):
    """A command line: `perfgate doctor`. Words in capitals stand for names that only the reader knows."""

    text: str

    def __str__(self) -> str:
        return f"`{self.text}`"


class Lines(NamedTuple):
    """Keys of a table of perfgate.toml: of one more entry where there may be several, otherwise of the one there is."""

    table: tuple[str, ...]
    keys: Mapping[str, str]
    """Values as TOML has them."""
    of: tuple[str, ...] = ()
    """Names of the entries, of a table that there may be several of."""

    def __str__(self) -> str:
        keys = joined([f"`{key} = {value}`" for key, value in self.keys.items()])
        if self.table == _OVERRIDE:
            return f"an `[[override]]` entry with {keys}"
        if self.of:
            return f"{keys} in the `[[{dotted(self.table)}]]` of {named(self.of, 3)}"
        return f"{keys} in `[{dotted(self.table)}]`"


Way = Options | CommandLine | Lines
_OVERRIDE = ("override",)
CHECK, DOCTOR, EXPLAIN = (CommandLine(f"perfgate {name}") for name in ("check", "doctor", "explain"))


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


def ways_of_direction(metric: str) -> tuple[Lines, Lines]:
    """Return both ways to give a metric a direction."""
    lower, higher = (overridden(metric=metric, better=toml_text(better)) for better in ("lower", "higher"))
    return lower, higher


def say_direction(metric: str) -> str:
    """Say how a metric gets a direction."""
    lower, higher = ways_of_direction(metric)
    return f"Add {lower} or `better = {higher.keys['better']}` to perfgate.toml"
