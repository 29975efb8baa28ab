"""Keys that there are not: what was probably meant, by spelling or in another table."""

from __future__ import annotations

import difflib
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec

from gate.config.source import Path, dotted
from gate.config.tables import OF_RUNS
from gate.config.types import Config
from gate.config.wrong import is_struct

_ALIKE, _LIKE = 0.85, 0.6
"""How alike a misspelling surely is, and is at least (difflib.SequenceMatcher.ratio): "cmd" and "command" are 0.6."""
_MOST = 3
"""Tables that are named."""
_CREEP = ("creep",)
"""The table that has a key of [gate] for creep checks, which nobody means who leaves its name out."""
_GONE: Mapping[Path, str] = {
    ("plan", "auto"): "a plan uses its budget: remove it, or write the [plan] that `perfgate plan` prints",
    ("study", "gate"): "the gate decides without factors: remove it, and run `perfgate study` to measure them",
}
"""Keys that there were, and what to do instead."""


class Advice(NamedTuple):
    """What to write instead of an unknown key. meant: the key of the same table that it probably is."""

    text: str
    meant: str | None


def advice(key: str, known: Sequence[str], path: Path) -> Advice:
    """Say what an unknown key was probably meant to be.

    Args:
        key: the last part of its name.
        known: the keys of its table.
        path: of its table.
    """
    if (gone := _GONE.get((*path, key))) is not None:
        return Advice(gone, None)
    if (near := closest(key, known, _ALIKE)) is not None:
        return Advice(f"did you mean {near}?", near)
    if path and key in _places(Config, ()):
        return Advice(f"{_header((key,))} is a table of its own, not one of {_header(path)}", None)
    if places := sorted(_tables_with(key), key=lambda place: (place[:1] != path[:1], len(place))):
        *some, last = [_header(place) for place in places[:_MOST]]
        return Advice(f"{key} is a key of {', '.join(some)}{' and ' if some else ''}{last}", None)
    if (near := closest(key, known)) is not None:
        return Advice(f"did you mean {near}?", near)
    outer = {dotted(place): closest(key, _places(kind, place), _ALIKE) for place, kind in _tables() if len(place) == 1}
    named = [f"{place}.{near}" for place, near in outer.items() if near]
    if named:
        return Advice(f"did you mean {' or '.join(named[:_MOST])}?", None)
    return Advice(f"known here: {', '.join(known)}", None)


def advice_on_option(path: Sequence[str], value: str, settable: Sequence[str]) -> str:
    """Say what was probably meant by an option that names no key of a table that options can set.

    Args:
        path: the parts of its name.
        value: what stands behind the equals sign.
        settable: the tables that options can set.
    """
    *tables, key = path
    own = [closest(tables[-1], settable)] if tables else [each for each in settable if (each,) != _CREEP]
    exact = [(table, key) for table in own if table and key in _keys_of(table)]
    near = [(table, near) for table in own if table and (near := closest(key, _keys_of(table)))]
    meant = [f"{table}.{each}={value}" for table, each in exact or near]
    if meant:
        known = len(path) == 2 and exact and exact[0] == tuple(path)
        return f"write {meant[0]}" if known else f"did you mean {' or '.join(meant)}?"
    if not tables and key in settable:
        return f"write {key}.KEY=VALUE, with one of {', '.join(_keys_of(key))}"
    return f"write TABLE.KEY=VALUE, with a table of {', '.join(settable)}"


def closest(word: str, known: Iterable[str], least: float = _LIKE) -> str | None:
    """Return the known word that another one is a misspelling or an abbreviation of, or begins with.

    least: how alike two spellings are.
    """
    names = {each.lower().replace("_", "-"): each for each in known}
    plain = word.lower().replace("_", "-")
    found = difflib.get_close_matches(plain, names, 1, least)
    if not found and len(plain) > 2:
        found = [each for each in names if each.startswith(plain) or (len(each) > 2 and plain.startswith(each))]
    return names[found[0]] if found else None


@cache
def _places(kind: Any, path: Path) -> Mapping[str, tuple[tuple[Path, Any], ...]]:
    """Return the tables below each key of a table; names that the user chooses are NAME, or SETTING below them."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        field.encode_name: tuple(_below(hints[field.name], (*path, field.encode_name)))
        for field in msgspec.structs.fields(kind)
        if field.encode_name not in OF_RUNS
    }


def _below(hint: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if is_struct(hint):
        yield path, hint
        return
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        yield from _below(arguments[0], path)
    elif origin is dict:
        yield from _below(arguments[1], (*path, "SETTING" if "NAME" in path else "NAME"))
    elif origin is list:
        yield from _below(arguments[0], (*path, 0))
    else:
        for each in arguments:
            yield from _below(each, path)


@cache
def _tables() -> tuple[tuple[Path, Any], ...]:
    """Return every table of the configuration with its path, the outer ones first."""
    found: list[tuple[Path, Any]] = [((), Config)]
    for path, kind in found:
        found += [each for places in _places(kind, path).values() for each in places]
    return tuple(found)


def _keys_of(table: str) -> list[str]:
    kind = next(kind for path, kind in _tables() if path == (table,))
    return [*_places(kind, (table,))]


def _tables_with(key: str) -> list[Path]:
    """Return the tables that have a key, less those that are a part of several others, unless only they have it."""
    found = [(path, kind) for path, kind in _tables() if path and key in _places(kind, path)]
    often = Counter(kind for _, kind in _tables())
    kept = [path for path, kind in found if often[kind] == 1 and path != _CREEP]
    return kept or [path for path, _ in found]


def _header(path: Path) -> str:
    """Write a table as its heading: [study], [[benchmark]], [benchmark.metric.NAME]."""
    plain = dotted(tuple(part for part in path if isinstance(part, str)))
    several = isinstance(path[-1], int) or path in [(each[0],) for each, _ in _tables() if each[1:] == (0,)]
    return f"[[{plain}]]" if several else f"[{plain}]"
