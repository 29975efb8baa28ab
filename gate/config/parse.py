"""Tables -> typed Config: unknown keys, wrong types and contradictions are errors that name their place."""

from __future__ import annotations

import difflib
import types
import typing
from typing import Any

import msgspec

from gate.config.checks import check
from gate.config.source import Path, Source, dotted
from gate.config.types import Config
from gate.units import Duration, Quantity, Share

_CUSTOM: tuple[type[Share | Duration | Quantity], ...] = (Share, Duration, Quantity)


def parse(source: Source, *, lenient: bool = False) -> Config:
    """Turn the tables of a source into a Config.

    lenient: ignore unknown keys, for a config that another version of perfgate wrote into a measurements file.

    Raises:
        ConfigError: an unknown key, a wrong type or value, or keys that contradict each other.
    """
    config = parse_types(source, lenient=lenient)
    check(config, source)
    return config


def parse_types(source: Source, *, lenient: bool = False) -> Config:
    """Turn the tables of a source into a Config as `parse` does, but for keys that contradict each other.

    Raises:
        ConfigError: an unknown key, or a wrong type or value.
    """
    config: Config = _struct(Config, source.tables, (), source, lenient)
    return config


def _struct(kind: type[Any], raw: Any, path: Path, source: Source, lenient: bool) -> Any:
    if not isinstance(raw, dict):
        raise source.error(path, f"expected a table, got {_shown(raw)}")
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    hints = typing.get_type_hints(kind, include_extras=True)
    for key in raw:
        if key not in fields and not lenient:
            near = difflib.get_close_matches(str(key), fields, n=1, cutoff=0.5)
            advice = f"did you mean {near[0]}?" if near else f"known here: {', '.join(fields)}"
            raise source.error((*path, key), f"unknown key; {advice}")
    values = {
        field.name: _value(hints[field.name], raw[name], (*path, name), source, lenient)
        for name, field in fields.items()
        if name in raw
    }
    for name, field in fields.items():
        if field.required and name not in raw:
            raise source.error(path, f"needs the key {name}")
    return kind(**values)


def _value(hint: Any, raw: Any, path: Path, source: Source, lenient: bool) -> Any:
    bare = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    kind, arguments = typing.get_origin(bare), typing.get_args(bare)
    if raw is None and type(None) in arguments:
        return None
    members = (bare, *arguments) if kind in (None, typing.Union, types.UnionType) else ()
    struct = next((member for member in members if _is_struct(member)), None)
    if struct is not None and (struct is bare or isinstance(raw, dict)):
        return _struct(struct, raw, path, source, lenient)
    if kind in (list, dict):
        return _items(kind, arguments[-1], hint, raw, path, source, lenient)
    if any(_origin(member) is dict for member in arguments):
        return _value(_container(arguments, raw, path, source), raw, path, source, lenient)
    try:
        custom = _custom(bare)
        return custom.parse(raw) if custom is not None else msgspec.convert(raw, hint)
    except (ValueError, msgspec.ValidationError) as error:
        raise source.error(path, _plain(str(error), bare, raw)) from None


def _items(kind: type[Any], item: Any, hint: Any, raw: Any, path: Path, source: Source, lenient: bool) -> Any:
    if not isinstance(raw, kind):
        tables = f"[[{dotted(path)}]] tables" if kind is list and _is_struct(item) else "a list"
        raise source.error(path, f"expected {tables if kind is list else 'a table'}, got {_shown(raw)}")
    if isinstance(raw, dict):
        return {key: _value(item, value, (*path, key), source, lenient) for key, value in raw.items()}
    if _is_struct(item) or typing.get_origin(item) is dict:
        return [_value(item, value, (*path, i), source, lenient) for i, value in enumerate(raw)]
    for value in raw:
        _value(item, value, path, source, lenient)
    try:
        return msgspec.convert(raw, hint)
    except msgspec.ValidationError as error:
        raise source.error(path, _plain(str(error), hint, raw)) from None


def _container(members: tuple[Any, ...], raw: Any, path: Path, source: Source) -> Any:
    """Pick of "a list or a table" what a value is."""
    found = next((member for member in members if isinstance(raw, _origin(member))), None)
    if found is None:
        raise source.error(path, f"expected a list or a table, got {_shown(raw)}")
    return found


def _origin(hint: Any) -> Any:
    return typing.get_origin(typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _custom(bare: Any) -> type[Share | Duration | Quantity] | None:
    members = typing.get_args(bare) if typing.get_origin(bare) in (typing.Union, types.UnionType) else (bare,)
    return next((kind for kind in _CUSTOM if kind in members), None)


def _plain(message: str, bare: Any, raw: Any) -> str:
    # msgspec: "Expected `int`, got `str`", "Invalid enum value 'x'": say what is allowed and what was given
    members = typing.get_args(bare) if typing.get_origin(bare) in (typing.Union, types.UnionType) else (bare,)
    choices = [c for member in members if typing.get_origin(member) is typing.Literal for c in typing.get_args(member)]
    if choices and any(typing.get_origin(m) is typing.Annotated for m in members):
        return f"{_shown(raw)} is neither a whole number from 0 on nor {_shown(choices[0])}"
    if choices:
        return f"{_shown(raw)} is none of {', '.join(_shown(choice) for choice in choices)}"
    if {str, int, float} <= set(members):
        return f"expected text or a number, got {_shown(raw)}"
    if "RFC3339" in message:
        return f"expected a date such as 2026-12-31 ({_shown(raw)})"
    if any(_is_struct(member) for member in members) and "object" in message:
        whole = (
            "a whole number or "
            if any(member is not types.NoneType and not _is_struct(member) for member in members)
            else ""
        )
        return f"expected {whole}a table, got {_shown(raw)}"
    if "regex" in message and "[0-9]+(-" in message:
        return f"{_shown(raw)} is no list of processors: write 0, 2-3 or 0,2"
    if "regex" in message or "pattern" in message:
        return f"{_shown(raw)} is no statistic: write mean, p50, p99 or p99.9"
    text = message.replace("`", "").replace("Expected", "expected", 1)
    text = text.split(" - at ")[0]
    return text if repr(raw) in text else f"{text} ({_shown(raw)})"


def _shown(raw: Any) -> str:
    return f'"{raw}"' if isinstance(raw, str) else "a table" if isinstance(raw, dict) else str(raw)
