"""What is wrong with a value of perfgate.toml, and a right one, in words: from the key's type alone."""

from __future__ import annotations

import datetime
import difflib
import json
import operator
import re
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from gate.config.config_text import Path, dotted
from gate.config.study import OF_RUNS
from gate.config.types import Config, Detectable
from gate.writing.units import Duration, Quantity, Share

_LONGEST = 80
"""Characters of a value that are shown."""
_MOST_ITEMS = 8
_MOST_BITS = 1000
"""Of whole numbers: larger ones are no floats, and Python refuses to write the largest."""


@dataclass(frozen=True, slots=True)
class _Member:
    """One of the types that a value may be, and what bounds it."""

    kind: Any
    meta: msgspec.Meta | None

    def holds(self, raw: Any) -> bool:
        """Return whether a value is of this type, whatever its bounds."""
        plain = typing.get_origin(self.kind) or self.kind
        if plain in (int, float) and isinstance(raw, int):
            return not isinstance(raw, bool)
        return isinstance(plain, type) and not is_struct(plain) and type(raw) is plain


def wrong(hint: Any, raw: Any, key: str | int, default: Any = None) -> str:
    """Say why a value is not one of a type, and what to write instead.

    Args:
        hint: the type of the key.
        raw: the value, as TOML gives it.
        key: the last part of its name; a number: it is an item of a list.
        default: of the key, which is then the example; None: there is none.
    """
    members = _members(hint)
    own = _own_words(members, raw)
    if own is not None:
        return own
    # write a single value as the list of such values that is expected
    only = members[0].kind if len(members) == 1 else None
    fits = typing.get_origin(only) is list and any(item.holds(raw) for item in _members(typing.get_args(only)[0]))
    if fits and isinstance(key, str):
        value = f"[{shown(raw)}]"
    elif default in (None, [], {}) or is_struct(type(default)):
        value = _example_value(next((member for member in members if is_struct(member.kind)), members[0]))
    else:
        value = shown(default)
    right = f"{key} = {value}" if isinstance(key, str) else value
    # an empty table says nothing
    return f"{_mismatch(members, raw, 'a table')}{'' if '{}' in right else f'; write e.g. {right}'}"


def why_not(hint: Any, raw: Any) -> str:
    """Say why a value of a JSON document is not one of a type."""
    members = _members(hint)
    return _own_words(members, raw) or _mismatch(members, raw, "an object")


def _own_words(members: list[_Member], raw: Any) -> str | None:
    """Say what a type itself says of other values: its choices, or the form of its texts."""
    kinds = [member.kind for member in members]
    choices = [choice for kind in kinds if typing.get_origin(kind) is typing.Literal for choice in kind.__args__]
    if choices and int in kinds:
        meta = members[kinds.index(int)].meta or msgspec.Meta()
        until = "on" if meta.le is None else f"to {meta.le:,}"
        return f"{shown(raw)} is neither a whole number from {meta.ge or 0} {until} nor {shown(choices[0])}"
    if choices:
        return f"{shown(raw)} is not one of {', '.join(shown(choice) for choice in choices)}"
    found = next((member for member in members if member.holds(raw)), None)
    return _stranger(found, raw) if found else None


def _mismatch(members: list[_Member], raw: Any, table: str) -> str:
    found = next((member for member in members if member.holds(raw)), None)
    if found and (beyond := _beyond(found, raw)):
        return beyond
    nouns = dict.fromkeys(_noun(member.kind, table) for member in members)
    if "a number" in nouns:
        nouns.pop("a whole number", None)
    return f"expected {' or '.join(nouns)}, got {shown(raw, table)}"


def is_struct(kind: Any) -> bool:
    """Return whether a type is a table of its own."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def shown(raw: Any, table: str = "a table") -> str:
    """Write a value as TOML and JSON do; a table is only called one."""
    if isinstance(raw, dict):
        return table
    if raw is None:
        return "null"
    if isinstance(raw, list):
        items = [shown(item, table) for item in raw[:_MOST_ITEMS]]
        return f"[{', '.join([*items, *(['…'] if len(raw) > _MOST_ITEMS else [])])}]"
    if isinstance(raw, (Share, Duration, Quantity)):
        return f'"{raw}"'
    if isinstance(raw, int) and raw.bit_length() > _MOST_BITS:
        return "a number out of range"
    text = json.dumps(raw, ensure_ascii=False) if isinstance(raw, (str, bool)) else str(raw)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"


def _members(hint: Any) -> list[_Member]:
    if typing.get_origin(hint) is typing.Annotated:
        bare, *metas = typing.get_args(hint)
        own = next((meta for meta in metas if isinstance(meta, msgspec.Meta)), None)
        return [_Member(member.kind, member.meta or own) for member in _members(bare)]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return [member for each in typing.get_args(hint) for member in _members(each) if each is not types.NoneType]
    return [_Member(hint, None)]


def members_of(hint: Any) -> list[Any]:
    """Return the types that a value of a key may be, but for None."""
    return [member.kind for member in _members(hint)]


_NOUNS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    datetime.date: "a date",
}


_PLURALS = {int: "numbers", float: "numbers", str: "strings"}


def _noun(kind: Any, table: str = "") -> str:
    plain = typing.get_origin(kind) or kind
    if plain in (list, Sequence):
        items = [_PLURALS.get(member.kind) for member in _members(typing.get_args(kind)[0])]
        return f"a list of {' or '.join(dict.fromkeys(filter(None, items)))}" if all(items) else "a list"
    return table if is_struct(plain) or plain is dict else _NOUNS.get(plain, "another value")


def _stranger(member: _Member, raw: Any) -> str | None:
    """Say of a text, or of the first such item of a list, that it has not the form that its type asks for."""
    meta = member.meta
    if isinstance(raw, str) and meta is not None and meta.extra and not re.search(meta.pattern or "", raw):
        return f"{shown(raw)} is {meta.extra['else']}"
    if not isinstance(raw, list):
        return None
    items = _members(typing.get_args(member.kind)[0])
    return next((text for item in raw for each in items if each.holds(item) and (text := _stranger(each, item))), None)


def _beyond(member: _Member, raw: Any) -> str | None:
    """Say which bound a number, or the length of a text or list, is beyond."""
    meta = member.meta
    if meta is None:
        return None
    if isinstance(raw, (str, list)):
        if meta.min_length is not None and len(raw) < meta.min_length:
            return "is empty"
        long = meta.max_length is not None and len(raw) > meta.max_length
        return f"is longer than {meta.max_length} characters" if long else None
    bounds: tuple[tuple[float | None, str, Callable[[Any, Any], bool]], ...] = (
        (meta.gt, "above {}", operator.gt),
        (meta.ge, "of {} or more", operator.ge),
        (meta.lt, "below {}", operator.lt),
        (meta.le, "of {} or less", operator.le),
    )
    return next(
        (
            f"expected {_noun(member.kind)} {words.format(f'{end:g}')}, got {shown(raw)}"
            for end, words, holds in bounds
            if end is not None and not holds(raw, end)
        ),
        None,
    )


def example(hint: Any, key: str) -> str:
    """Write a key with a value of its type."""
    return f"{key} = {_example_value(_members(hint)[0])}"


def _example_value(member: _Member) -> str:
    if member.meta is not None and member.meta.examples:
        return shown(member.meta.examples[0])
    plain = typing.get_origin(member.kind) or member.kind
    if is_struct(plain):
        hints = typing.get_type_hints(plain, include_extras=True)
        required = [field for field in msgspec.structs.fields(plain) if field.required]
        return f"{{{', '.join(example(hints[field.name], field.encode_name) for field in required)}}}"
    if plain is list:
        return f"[{_example_value(_members(typing.get_args(member.kind)[0])[0])}]"
    if plain in (int, float):
        return str(max(0, int(member.meta.ge or 0) if member.meta else 0))
    return _EXAMPLES.get(plain, '"..."')


_EXAMPLES: dict[Any, str] = {
    bool: "true",
    dict: "{}",
    datetime.date: "2026-12-31",
    Share: '"3%"',
    Detectable: '"10%"',
    Duration: '"15m"',
    Quantity: '"1us"',
}


_ALIKE, _LIKE = 0.85, 0.6
"""How alike a misspelling surely is, and is at least (difflib.SequenceMatcher.ratio): "cmd" and "command" are 0.6."""
_MOST = 3
"""Tables that are named."""
_CREEP = ("creep",)
"""The table that has a key of [gate] for creep checks, which nobody means who leaves its name out."""
_DETECTABLE = 'write detectable = "threshold", or a size that must show'
_GONE: Mapping[Path, str] = {
    ("plan", "pairing"): "base and head take turns: remove it",
    ("gate", "show"): _DETECTABLE,
    ("override", "show"): _DETECTABLE,
}
"""Keys that designs and examples have, and what to do instead."""
_ELSEWHERE = {
    **dict.fromkeys(("sample_size", "min_rounds", "rounds"), "plan.builds, and plan.starts of each"),
    **dict.fromkeys(("measurement_time", "max_time", "min_time"), "plan.budget: how often is found out within it"),
    **dict.fromkeys(("warm_up_time", "warmup_iterations"), "warmup of the [[benchmark]]"),
    "noise_threshold": "gate.threshold",
    "significance_level": "gate.confidence: 0.95 is a level of 5%",
}
"""Names of Criterion and pytest-benchmark, and what they are here."""


def advice(key: str, known: Sequence[str], path: Path) -> tuple[str, str | None]:
    """Say what to write instead of an unknown key, and which key of its table it probably is.

    Args:
        key: the last part of its name.
        known: the keys of its table.
        path: of its table.
    """
    if (gone := _GONE.get((*(part for part in path if isinstance(part, str)), key))) is not None:
        return gone, None
    if (here := _ELSEWHERE.get(key.removeprefix("benchmark_"))) is not None:
        return f"write {here}", None
    if (near := closest(key, known, _ALIKE)) is not None:
        return f"did you mean {near}?", near
    if places := sorted(_tables_with(key), key=lambda place: (place[:1] != path[:1], len(place))):
        # as their headings: [study], [[benchmark]], [benchmark.metric.NAME]
        plain = [dotted(tuple(part for part in place if isinstance(part, str))) for place in places]
        headings = [f"[[{n}]]" if isinstance(p[-1], int) else f"[{n}]" for n, p in zip(plain, places, strict=True)]
        *some, last = headings[:_MOST]
        return f"{key} is a key of {', '.join(some)}{' and ' if some else ''}{last}", None
    if (near := closest(key, known)) is not None:
        return f"did you mean {near}?", near
    return f"known here: {', '.join(known)}", None


def advice_on_option(path: Sequence[str], value: str, settable: Sequence[str]) -> str:
    """Say what was probably meant by an option that names no key of a table that options can set.

    Args:
        path: the parts of its name.
        value: what stands behind the equals sign.
        settable: the tables that options can set.
    """
    *tables, key = path
    own = [closest(tables[-1], settable)] if tables else [each for each in settable if (each,) != _CREEP]
    keys = {path: [field.encode_name for field in _fields(kind)] for path, kind in _tables()}
    meant = [f"{table}.{near}={value}" for table in own if table and (near := closest(key, keys[(table,)], _ALIKE))]
    if meant:
        return f"did you mean {' or '.join(meant)}?"
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
def _tables() -> Sequence[tuple[Path, Any]]:
    """Return every table of the configuration with its path, the outer ones first.

    Names that the user chooses are NAME, or SETTING below them.
    """
    found: list[tuple[Path, Any]] = [((), Config)]
    for path, kind in found:
        hints = typing.get_type_hints(kind, include_extras=True)
        pending: list[tuple[Path, Any]] = [((*path, field.encode_name), hints[field.name]) for field in _fields(kind)]
        for place, hint in pending:
            arguments = typing.get_args(hint)
            match typing.get_origin(hint):
                case None:
                    found += [(place, hint)] if is_struct(hint) else []
                case typing.Annotated:
                    pending.append((place, arguments[0]))
                case origin if origin is dict:
                    pending.append(((*place, "SETTING" if "NAME" in place else "NAME"), arguments[1]))
                case origin if origin is list:
                    pending.append(((*place, 0), arguments[0]))
                case _:
                    pending += [(place, each) for each in arguments]
    return found


def _fields(kind: Any) -> list[msgspec.structs.FieldInfo]:
    return [field for field in msgspec.structs.fields(kind) if field.encode_name not in OF_RUNS]


def _tables_with(key: str) -> list[Path]:
    """Return the tables that have a key, less those that are a part of several others, unless only they have it."""
    found = [(path, kind) for path, kind in _tables() if path and key in [f.encode_name for f in _fields(kind)]]
    often = Counter(kind for _, kind in _tables())
    kept = [path for path, kind in found if often[kind] == 1 and path != _CREEP]
    return kept or [path for path, _ in found]
