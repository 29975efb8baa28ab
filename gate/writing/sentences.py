"""Sentences: a type of data with its template beside it, and the one formatter of templates."""

from __future__ import annotations

import re
import shlex
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Union

import msgspec

from gate.units import DIMENSIONS, agree, format_confidence, format_duration, format_share, plural
from gate.writing.amounts import as_configured, format_percent
from gate.writing.phrases import dotted, joined, listed, named, toml_text
from gate.writing.plain import visible


def tag(name: str) -> str:
    """Name a type in a file: "too-wide" for TooWide."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class Sentence(msgspec.Struct, frozen=True, tag_field="kind", tag=tag):
    """What is told in one sentence: its kind in a file is the name of its type, its fields are the numbers."""

    says: ClassVar[str] = ""
    """The sentence, with its fields in braces, as `filled` writes them; a type that needs more overrides `_said`."""

    def sentence(self) -> str:
        """Say it, without a full stop; names in it are as they were measured."""
        return self._said()

    def _said(self) -> str:
        return filled(self.says, self)


def kinds_of(base: type[Sentence]) -> Any:
    """Return the union of all types that are made of one, which tells them apart in a file; call it below the last."""
    found = [*base.__subclasses__()]
    for each in found:
        found += each.__subclasses__()
    return Union[tuple(each for each in found if not each.__subclasses__())]  # noqa: UP007  # of how many is not known


def filled(template: str, of: object) -> str:
    """Write a template with the fields of an object: "{rounds:round} {rounds:is|are} left out".

    What stands behind the colon: a noun of a count, which may be a field too ("{needs:{unit}}"), two verbs of a count
    or of a list, `share` (rounded), `percent` (a share as it was configured), `duration` (of seconds), `confidence`,
    `joined` or `listed` (of names); otherwise it is a format of Python. A list without any is written with commas.

    "{branch:?on {branch}|nowhere}" is what to write where there is something (not None, False, empty or the count 0),
    and behind the bar where there is not; "{place:=on?here|there}" where the field has that text.
    """
    parts = []
    for text, name, form, conversion in string.Formatter().parse(template):
        parts.append(text)
        if name is None:
            continue
        value, spec = attrgetter(name)(of), form or ""
        if choice := _CHOICE.fullmatch(spec):
            told = choice["text"]
            there = value is not None and (isinstance(value, float) or bool(value))
            holds = there if told is None else value == told
            parts.append(filled(_alternative(choice["parts"], first=holds), of))
        elif conversion == "r":
            parts.append(repr(value))
        else:
            parts.append(_written(value, filled(spec, of) if spec.startswith("{") else spec))
    return "".join(parts)


_CHOICE = re.compile(r"(?:=(?P<text>[^?]*))?\?(?P<parts>.*)")


def _alternative(parts: str, *, first: bool) -> str:
    """Return what stands before the bar that is in no braces, or behind it."""
    depth = 0
    for place, letter in enumerate(parts):
        depth += (letter == "{") - (letter == "}")
        if letter == "|" and not depth:
            return parts[:place] if first else parts[place + 1 :]
    return parts if first else ""


def _written(value: Any, spec: str) -> str:
    if spec in _FORMATS:
        return _FORMATS[spec](value)
    if "|" in spec:
        return agree(value if isinstance(value, int) else len(value), *spec.split("|"))
    if isinstance(value, (int, float)) and spec[:2].isalpha() and len(spec) > 1:
        return plural(round(value), spec)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return format(value, spec)


_FORMATS: dict[str, Callable[[Any], str]] = {
    "share": format_share,
    "percent": format_percent,
    "duration": format_duration,
    "confidence": format_confidence,
    "joined": lambda names: joined([*map(str, names)]),
    "listed": lambda names: listed([*map(str, names)]),
}


class Options(NamedTuple):
    """Options for the command that gave the report: `--set plan.budget=11m`."""

    argv: tuple[str, ...]

    def __str__(self) -> str:
        return f"`{shlex.join(self.argv)}`"

    @property
    def decides(self) -> bool:
        """Whether it needs no other values: it sets what decides, and nothing of how it is measured."""
        return all(word == "--set" or word.startswith(("gate.", "plan.metrics=")) for word in self.argv)

    def behind(self, words: Sequence[str]) -> Command:
        """Return the command line of these words with the options too, in place of what it sets of the same keys."""
        end = words.index("--") if "--" in words else len(words)
        # an option that holds one value, or a key of one that holds many
        pairs = zip(self.argv[::2], self.argv[1::2], strict=False)
        own = {(name, value.partition("=")[0] if name == "--set" else "") for name, value in pairs}
        given = ((name, value.partition("=")[0] if name == "--set" else "") for name, value in pairwise(words[:end]))
        again = [n for n, each in enumerate(given) if each in own]
        kept = [word for n, word in enumerate(words[:end]) if not {n, n - 1} & {*again}]
        return Command(visible(shlex.join(["perfgate", *kept, *self.argv, *words[end:]])))

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


def ways_of_direction(metric: str) -> tuple[Lines, Lines]:
    """Return both ways to give a metric a direction."""
    lower, higher = (overridden(metric=metric, better=toml_text(better)) for better in ("lower", "higher"))
    return lower, higher


def say_direction(metric: str) -> str:
    """Say how a metric gets a direction."""
    lower, higher = ways_of_direction(metric)
    return f"Add {lower} or `better = {higher.keys['better']}` to perfgate.toml"
