"""Tables -> typed Config: unknown keys, wrong types and contradictions are errors that name their place."""

from __future__ import annotations

import difflib
import types
import typing
from typing import Any

import msgspec

from gate.config.errors import ConfigError
from gate.config.later import refuse_later
from gate.config.source import Path, Source, dotted
from gate.config.types import Benchmark, Config
from gate.units import DIMENSIONS, Duration, Quantity, Share, to_base

_CUSTOM: tuple[type[Share | Duration | Quantity], ...] = (Share, Duration, Quantity)


def parse(source: Source, *, lenient: bool = False) -> Config:
    """Turn the tables of a source into a Config.

    lenient: ignore unknown keys, for a config that another version of perfgate wrote into a measurements file.

    Raises:
        ConfigError: an unknown key, a wrong type or value, or keys that contradict each other.
    """
    if not lenient:
        refuse_later(source)
    config: Config = _struct(Config, source.tables, (), source, lenient)
    _check(config, source)
    return config


def _struct(kind: type[Any], raw: Any, path: Path, source: Source, lenient: bool) -> Any:
    if not isinstance(raw, dict):
        raise _error(source, path, f"expected a table, got {_shown(raw)}")
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    hints = typing.get_type_hints(kind, include_extras=True)
    for key in raw:
        if key not in fields and not lenient:
            near = difflib.get_close_matches(str(key), fields, n=1, cutoff=0.5)
            advice = f"did you mean {near[0]}?" if near else f"known here: {', '.join(fields)}"
            raise _error(source, (*path, key), f"unknown key; {advice}")
    values = {
        field.name: _value(hints[field.name], raw[name], (*path, name), source, lenient)
        for name, field in fields.items()
        if name in raw
    }
    for name, field in fields.items():
        if field.required and name not in raw:
            raise _error(source, path, f"needs the key {name}")
    return kind(**values)


def _value(hint: Any, raw: Any, path: Path, source: Source, lenient: bool) -> Any:
    bare = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    kind, arguments = typing.get_origin(bare), typing.get_args(bare)
    if raw is None and type(None) in arguments:
        return None
    if _is_struct(bare):
        return _struct(bare, raw, path, source, lenient)
    if kind in (list, dict):
        return _items(kind, arguments[-1], hint, raw, path, source, lenient)
    try:
        custom = _custom(bare)
        return custom.parse(raw) if custom is not None else msgspec.convert(raw, hint)
    except (ValueError, msgspec.ValidationError) as error:
        raise _error(source, path, _plain(str(error), bare, raw)) from None


def _items(kind: type[Any], item: Any, hint: Any, raw: Any, path: Path, source: Source, lenient: bool) -> Any:
    if not isinstance(raw, kind):
        tables = f"[[{dotted(path)}]] tables" if kind is list and _is_struct(item) else "a list"
        raise _error(source, path, f"expected {tables if kind is list else 'a table'}, got {_shown(raw)}")
    if isinstance(raw, dict):
        return {key: _value(item, value, (*path, key), source, lenient) for key, value in raw.items()}
    if _is_struct(item):
        return [_value(item, value, (*path, i), source, lenient) for i, value in enumerate(raw)]
    for value in raw:
        _value(item, value, path, source, lenient)
    try:
        return msgspec.convert(raw, hint)
    except msgspec.ValidationError as error:
        raise _error(source, path, _plain(str(error), hint, raw)) from None


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _custom(bare: Any) -> type[Share | Duration | Quantity] | None:
    members = typing.get_args(bare) if typing.get_origin(bare) in (typing.Union, types.UnionType) else (bare,)
    return next((kind for kind in _CUSTOM if kind in members), None)


def _plain(message: str, bare: Any, raw: Any) -> str:
    # msgspec: "Expected `int`, got `str`", "Invalid enum value 'x'": say what is allowed and what was given
    members = typing.get_args(bare) if typing.get_origin(bare) in (typing.Union, types.UnionType) else (bare,)
    choices = [c for member in members if typing.get_origin(member) is typing.Literal for c in typing.get_args(member)]
    if choices:
        return f"{_shown(raw)} is none of {', '.join(_shown(choice) for choice in choices)}"
    text = message.replace("`", "").replace("Expected", "expected", 1)
    text = text.split(" - at ")[0]
    return text if repr(raw) in text else f"{text} ({_shown(raw)})"


def _shown(raw: Any) -> str:
    return f'"{raw}"' if isinstance(raw, str) else "a table" if isinstance(raw, dict) else str(raw)


def _error(source: Source, path: Path, why: str) -> ConfigError:
    place = source.place(path) if path else source.name
    return ConfigError(f"{place}: {dotted(path)}" if path else place, why)


def _check(config: Config, source: Source) -> None:
    if config.gate.inconclusive == "fail":
        _refuse_zero_thresholds(config, source)
    _refuse_unknown_units(config, source)
    if config.plan.metrics == []:
        raise _error(source, ("plan", "metrics"), "names no metric, so nothing would be decided")
    for name, value in config.env.set.items():
        if not name or "=" in name or "\0" in name + value:
            raise _error(source, ("env", "set", name), "is no environment variable: an empty name, or = or NUL in it")
    seen: dict[str, int] = {}
    for index, benchmark in enumerate(config.benchmark):
        path: Path = ("benchmark", index)
        if benchmark.name in seen:
            first = dotted(("benchmark", seen[benchmark.name]))
            raise _error(source, (*path, "name"), f'"{benchmark.name}" is the name of {first} already')
        seen[benchmark.name] = index
        _check_benchmark(benchmark, path, source)
    if config.build.command in ("", []):
        raise _error(source, ("build", "command"), "is empty; leave the key out to build by checkout alone")
    for key in ("share", "overlay", "artifacts"):
        for item in getattr(config.build, key):
            if item.startswith("/") or ".." in item.split("/") or item.strip("./") == "":
                raise _error(source, ("build", key), f'"{item}" is not a path inside the project')


def _refuse_unknown_units(config: Config, source: Source) -> None:
    # a floor in a unit that no metric has would apply to nothing, without a word
    rules = {(i, name): r for i, b in enumerate(config.benchmark) for name, r in b.metric.items()}
    declared = {to_base(r.unit)[0] for r in rules.values() if r.unit is not None}
    places: list[tuple[Path, Quantity | None]] = [(("gate", "floor"), config.gate.floor)]
    places += [(("override", i, "floor"), o.floor) for i, o in enumerate(config.override)]
    places += [(("benchmark", i, "metric", name, "floor"), r.floor) for (i, name), r in rules.items()]
    for path, floor in places:
        if floor is not None and floor.unit not in ("", *DIMENSIONS, *declared):
            why = f'"{floor.unit}" is a unit of no metric here: write a time, a size, a number, or the unit of a metric'
            raise _error(source, path, why)


def _refuse_zero_thresholds(config: Config, source: Source) -> None:
    # at threshold 0 nothing measured is ever "unchanged", so every report without a change would fail
    places: list[tuple[Path, float | None]] = [(("gate", "inconclusive"), config.gate.threshold)]
    places += [(("override", i, "threshold"), o.threshold) for i, o in enumerate(config.override)]
    places += [
        (("benchmark", i, "metric", name, "threshold"), rules.threshold)
        for i, benchmark in enumerate(config.benchmark)
        for name, rules in benchmark.metric.items()
        if not rules.exact
    ]
    for path, threshold in places:
        if threshold is not None and not threshold > 0:
            raise _error(source, path, 'inconclusive = "fail" cannot go with threshold 0, where nothing is "unchanged"')


def _check_benchmark(benchmark: Benchmark, path: Path, source: Source) -> None:
    if "\0" in "".join(benchmark.command):
        raise _error(source, (*path, "command"), "holds a NUL, which no command can")
    if not benchmark.command or not "".join(benchmark.command).strip():
        raise _error(source, (*path, "command"), "is empty")
    if any(ord(char) < 32 or ord(char) == 127 for char in benchmark.name):
        raise _error(source, (*path, "name"), "holds a control character")
    if benchmark.max_output.unit != "B":
        raise _error(source, (*path, "max_output"), f'"{benchmark.max_output}" is no size: write "256MB"')
    if benchmark.instrument != "values" and any(rules.exact for rules in benchmark.metric.values()):
        raise _error(source, (*path, "metric"), f"{benchmark.instrument} measures nothing exact; exact is for values")
