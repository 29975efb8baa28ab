"""Keys that there are not: what was probably meant, by spelling, by another word for it, or in another table."""

from __future__ import annotations

import re
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

_THESAURUS = tuple(
    words.split()
    for words in (
        "replicates executions repetitions repeats reps runs invocations samples",
        "builds rounds rebuilds batches",
        "iterations measurements values",
        "budget time duration limit",
        "threshold tolerance limit",
        "responses metrics outcomes",
        "factor variables parameters matrix vary",
        "exclude skip ignore",
        "order interactions",
        "command exec run script",
        "args arguments flags",
        "prefix wrapper",
        "service server daemon",
        "load background stress",
        "priority nice",
        "cpus processors cores affinity",
        "runner label machine host",
        "setup install prepare",
        "artifacts outputs binaries",
        "until expires",
        "reason comment",
    )
)
"""Words for one thing: those of the configuration first, then what people and other tools call it."""


class Advice(NamedTuple):
    """What to write instead of an unknown key. meant: the key of the same table that it probably is."""

    text: str
    meant: str | None


_GONE: Mapping[Path, str] = {
    ("study", "gate"): "the gate decides without factors: remove it, and run `perfgate study` to measure them"
}
"""Keys that there were, and what to do instead."""


def advice(key: str, known: Sequence[str], path: Path) -> Advice:
    """Say what an unknown key was probably meant to be.

    Args:
        key: the last part of its name.
        known: the keys of its table.
        path: of its table.
    """
    gone = _GONE.get((*path, key))
    if gone is not None:
        return Advice(gone, None)
    near = closest(key, known)
    here = _other_word(key, known)
    # another word for it tells more than a similar one
    if near is not None and (here is None or _rank(_stem(key), _stem(near)) in (0, 1)):
        return Advice(f"did you mean {near}?", near)
    if path and key in _places(Config, ()):
        return Advice(f"{_header((key,))} is a table of its own, not one of {_named(path)}", None)
    places = _by_distance(_tables_with(key), path)
    if here or places:
        elsewhere = [f"{key} is a key of {_listed(places)}"] if places else []
        return Advice("; ".join([*([f"{_named(path)} calls it {here}"] if here else []), *elsewhere]), here)
    names = {f"{dotted(place)}.{near}": None for place, near in _near_elsewhere(key, path)}
    if names:
        return Advice(f"did you mean {' or '.join([*names][:_MOST])}?", None)
    return Advice(f"known here: {', '.join(known)}", None)


def advice_on_option(path: Sequence[str], value: str, settable: Sequence[str]) -> str:
    """Say what was probably meant by an option that names no key of a table that options can set.

    Args:
        path: the parts of its name.
        value: what stands behind the equals sign.
        settable: the tables that options can set.
    """
    table, *rest = path
    tables = [name for name in settable if table in _keys_of(name)]
    tables = [name for name in tables if (name,) != _CREEP] or tables
    if not rest and table in settable:
        return f"write {table}.KEY=VALUE, with one of {', '.join(_keys_of(table))}"
    if not rest:
        similar = (f"{name}.{near}" for name in settable if (near := closest(table, _keys_of(name))))
        meant = [f"{name}.{table}" for name in tables] or [*similar]
    elif path[-2] in settable and path[-1] in _keys_of(path[-2]):
        meant = [".".join(path[-2:])]
    elif len(rest) > 1 and table in settable and rest[0] in _keys_of(table):
        return f"write {table}.{rest[0]}={{{'.'.join(rest[1:])} = {value}}}"
    elif tables:
        return f"write {tables[0]}.{table}={{{'.'.join(rest)} = {value}}}"
    else:
        meant = [f"{near}.{'.'.join(rest)}"] if (near := closest(table, settable)) else []
    right = " or ".join(f"{each}={value}" for each in meant)
    if meant:
        return f"write {right}" if meant == [".".join(path)] else f"did you mean {right}?"
    return f"write TABLE.KEY=VALUE, with a table of {', '.join(settable)}"


_MOST = 3


# --- spelling ---------------------------------------------------------------------------------------------------------


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that another one is a misspelling, another number or an abbreviation of."""
    ranked = ((rank, each) for each in known if (rank := _rank(_stem(word), _stem(each))) is not None)
    return min(ranked, default=(0, None), key=lambda pair: pair[0])[1]


def _stem(word: str) -> str:
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    return re.sub(r"ies$", "y", plain) if plain.endswith("ies") else plain.removesuffix("s")


def _rank(word: str, known: str) -> int | None:
    """Return how far a word is from a known one; None: it is none of its spellings."""
    edits = _edits(word, known)
    # a third of the letters, and of a short word none but its order or one
    if edits <= max(len(word), len(known)) // 3 and edits < min(len(word), len(known)):
        return edits
    if min(len(word), len(known)) < 3:
        return None
    shortened = word == re.sub("[aeiou]", "", word) and _is_subsequence(word, known)
    return _BEYOND if known.startswith(word) or word.startswith(known) or shortened else None


_BEYOND = 100


def _is_subsequence(word: str, of: str) -> bool:
    letters = iter(of)
    return word[0] == of[0] and all(letter in letters for letter in word)


def _edits(one: str, other: str) -> int:
    """Count letters that are added, lost, replaced or swapped with their neighbour."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and (a, b) == (other[j - 2], one[i - 2]):
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]


def _other_word(key: str, known: Sequence[str]) -> str | None:
    """Return the known key that means what another word does."""
    stem = _stem(key)
    groups = [words for words in _THESAURUS if any(_stem(word) == stem for word in words)]
    return next((word for words in groups for word in words if word in known), None)


# --- tables -----------------------------------------------------------------------------------------------------------


_CREEP = ("creep",)
"""The table that has a key of [gate] for creep checks, which nobody means who leaves its name out."""


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


def _near_elsewhere(key: str, path: Path) -> list[tuple[Path, str]]:
    """Return tables that options and people know by one name, with their key that is one or two letters from this."""
    found = [
        (place, near)
        for place, kind in _tables()
        if len(place) == 1
        for near in _places(kind, place)
        if (rank := _rank(_stem(key), _stem(near))) is not None and rank <= 2
    ]
    order = _by_distance([place for place, _ in found], path)
    return sorted(found, key=lambda each: order.index(each[0]))


def _by_distance(places: Sequence[Path], path: Path) -> list[Path]:
    """Put tables into order: those in the same one first, then the outer ones."""
    return sorted(places, key=lambda place: (place[:1] != path[:1], len(place)))


def _listed(places: Sequence[Path]) -> str:
    names = [_header(place) for place in places[:_MOST]]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _named(path: Path) -> str:
    return _header(path) if path else "the file"


def _header(path: Path) -> str:
    """Write a table as its heading: [study], [[benchmark]], [benchmark.metric.NAME]."""
    plain = dotted(tuple(part for part in path if isinstance(part, str)))
    several = isinstance(path[-1], int) or path in [(each[0],) for each, _ in _tables() if each[1:] == (0,)]
    return f"[[{plain}]]" if several else f"[{plain}]"
