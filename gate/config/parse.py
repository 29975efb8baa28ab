"""Tables -> typed Config: unknown keys, wrong types and contradictions are errors that name their place."""

from __future__ import annotations

import datetime
import difflib
import operator
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gate.cli.listing import value_formats
from gate.config.checks import check
from gate.config.instruments import KNOWN, instrument_names, traits_of
from gate.config.source import Path, Source, dotted
from gate.config.tables import OF_RUNS
from gate.config.types import Benchmark, Config
from gate.units import Duration, Quantity, Share

_CUSTOM: tuple[type[Share | Duration | Quantity], ...] = (Share, Duration, Quantity)


def parse(source: Source, *, lenient: bool = False) -> Config:
    """Turn the tables of a source into a Config.

    lenient: ignore unknown keys, for a config that another version of perfgate wrote into a measurements file.

    Raises:
        ConfigError: an unknown key, a wrong type or value, or keys that contradict each other.
    """
    config = parse_types(source, lenient=lenient)
    if not lenient:
        _refuse_unknown_formats(config, source)
    check(config, source)
    return config


def parse_types(source: Source, *, lenient: bool = False) -> Config:
    """Turn the tables of a source into a Config as `parse` does, but for keys that contradict each other.

    Raises:
        ConfigError: an unknown key, or a wrong type or value.
    """
    config: Config = _struct(Config, source.tables, (), source, lenient)
    if all(b.traits is not None or b.instrument in KNOWN for b in config.benchmark):
        return config
    benchmarks = [_with_traits(b, ("benchmark", i), source) for i, b in enumerate(config.benchmark)]
    return msgspec.structs.replace(config, benchmark=benchmarks)


def _refuse_unknown_formats(config: Config, source: Source) -> None:
    for index, benchmark in enumerate(config.benchmark):
        if benchmark.format is not None and benchmark.format not in value_formats():
            path: Path = ("benchmark", index, "format")
            raise source.error(path, f'"{benchmark.format}" is not one of {", ".join(value_formats())}')


def _with_traits(benchmark: Benchmark, path: Path, source: Source) -> Benchmark:
    """Add what an instrument's own file declares, to that of an instrument that the rules do not know."""
    name = benchmark.instrument
    if name in KNOWN or benchmark.traits is not None:
        return benchmark
    traits = traits_of(name)
    if traits is None:
        names = instrument_names()
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        advice = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
        raise source.error((*path, "instrument"), f'"{name}" is not an instrument; {advice}')
    return msgspec.structs.replace(benchmark, traits=traits)


def _struct(kind: type[Any], raw: Any, path: Path, source: Source, lenient: bool) -> Any:
    if not isinstance(raw, dict):
        raise source.error(path, f"expected a table, got {_shown(raw)}")
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    hints = typing.get_type_hints(kind, include_extras=True)
    for key in raw:
        if (key not in fields or key in OF_RUNS) and not lenient:
            keys = [name for name in fields if name not in OF_RUNS]
            near = difflib.get_close_matches(str(key), keys, n=1, cutoff=0.5)
            advice = f"did you mean {near[0]}?" if near else f"known here: {', '.join(keys)}"
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
    custom = _custom(bare)
    if custom is None:
        return _converted(hint, raw, path, source)
    try:
        return custom.parse(raw)
    except ValueError as error:
        raise source.error(path, str(error)) from None


def _converted(hint: Any, raw: Any, path: Path, source: Source) -> Any:
    try:
        return msgspec.convert(raw, hint)
    except msgspec.ValidationError:
        raise source.error(path, _wrong(hint, raw)) from None


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
    return _converted(hint, raw, path, source)


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
        return isinstance(plain, type) and not _is_struct(plain) and type(raw) is plain


def _members(hint: Any) -> list[_Member]:
    if typing.get_origin(hint) is typing.Annotated:
        bare, *metas = typing.get_args(hint)
        own = next((meta for meta in metas if isinstance(meta, msgspec.Meta)), None)
        return [_Member(member.kind, member.meta or own) for member in _members(bare)]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return [member for each in typing.get_args(hint) for member in _members(each)]
    return [_Member(hint, None)]


def _wrong(hint: Any, raw: Any) -> str:
    """Say why a value is not one of a type, going by the type alone and not by msgspec's words."""
    members = _members(hint)
    kinds = [member.kind for member in members]
    choices = [choice for kind in kinds if typing.get_origin(kind) is typing.Literal for choice in kind.__args__]
    if choices and int in kinds:
        return f"{_shown(raw)} is neither a whole number from 0 on nor {_shown(choices[0])}"
    if choices:
        return f"{_shown(raw)} is not one of {', '.join(_shown(choice) for choice in choices)}"
    if {str, int, float} <= set(kinds):
        return f"expected text or a number, got {_shown(raw)}"
    if datetime.date in kinds and isinstance(raw, str):
        return f"expected a date such as 2026-12-31 ({_shown(raw)})"
    found = next((member for member in members if member.holds(raw)), None)
    if found is None and any(_is_struct(kind) for kind in kinds):
        return f"expected {'a whole number or ' if int in kinds else ''}a table, got {_shown(raw)}"
    if found is not None and found.meta is not None and found.meta.extra:
        return f"{_shown(raw)} is {found.meta.extra['else']}"
    return f"{_expected(members, raw) or 'not as expected'} ({_shown(raw)})"


def _expected(members: Sequence[_Member], raw: Any) -> str | None:
    """Say which type or bound a value, or an item of a list, is not of; None: it is of all that can be told."""
    found = next((member for member in members if member.holds(raw)), None)
    if found is None:
        return f"expected {' | '.join(_name(member.kind) for member in members)}, got {_name(type(raw))}"
    bound = _bound(found, raw)
    if bound is not None:
        return f"expected {_name(found.kind)} {bound}"
    items = _members(typing.get_args(found.kind)[0]) if isinstance(raw, list) else []
    return next((text for item in raw if (text := _expected(items, item))), None) if items else None


def _bound(member: _Member, raw: Any) -> str | None:
    """Return the bound that a number, or the length of a text or list, is beyond."""
    meta = member.meta
    if meta is None:
        return None
    bounds: tuple[tuple[float | None, str, Callable[[Any, Any], bool]], ...]
    if isinstance(raw, (str, list)):
        of, number, size = "of length ", int, len(raw)
        bounds = ((meta.min_length, ">=", operator.ge), (meta.max_length, "<=", operator.le))
    else:
        of, number, size = "", member.kind, raw
        bounds = (
            (meta.gt, ">", operator.gt),
            (meta.ge, ">=", operator.ge),
            (meta.lt, "<", operator.lt),
            (meta.le, "<=", operator.le),
        )
    return next(
        (f"{of}{sign} {number(end)}" for end, sign, holds in bounds if end is not None and not holds(size, end)), None
    )


def _name(kind: Any) -> str:
    plain = typing.get_origin(kind) or kind
    return {list: "array", dict: "object", types.NoneType: "null"}.get(plain, getattr(plain, "__name__", str(plain)))


def _shown(raw: Any) -> str:
    return f'"{raw}"' if isinstance(raw, str) else "a table" if isinstance(raw, dict) else str(raw)
