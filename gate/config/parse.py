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
from gate.units import Duration, Quantity, Share

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
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        return _struct(bare, raw, path, source, lenient)
    if kind is list and _is_struct(arguments[0]):
        if not isinstance(raw, list):
            raise _error(source, path, f"expected [[{dotted(path)}]] tables, got {_shown(raw)}")
        return [_struct(arguments[0], item, (*path, i), source, lenient) for i, item in enumerate(raw)]
    if kind is dict and _is_struct(arguments[1]):
        if not isinstance(raw, dict):
            raise _error(source, path, f"expected a table, got {_shown(raw)}")
        return {key: _struct(arguments[1], item, (*path, key), source, lenient) for key, item in raw.items()}
    if raw is None and type(None) in arguments:
        return None
    custom = _custom(bare)
    try:
        if custom is not None:
            return custom.parse(raw)
        return msgspec.convert(raw, hint)
    except (ValueError, msgspec.ValidationError) as error:
        raise _error(source, path, _plain(str(error), bare, raw)) from None


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _custom(bare: Any) -> type[Share | Duration | Quantity] | None:
    members = typing.get_args(bare) if typing.get_origin(bare) in (typing.Union, types.UnionType) else (bare,)
    return next((kind for kind in _CUSTOM if kind in members), None)


def _plain(message: str, bare: Any, raw: Any) -> str:
    # msgspec: "Expected `int`, got `str`", "Invalid enum value 'x'": say what is allowed and what was given
    choices = typing.get_args(bare) if typing.get_origin(bare) is typing.Literal else ()
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
    if not config.gate.threshold > 0 and config.gate.inconclusive == "fail":
        # at threshold 0 nothing is ever "unchanged", so every report without a change would fail
        raise _error(
            source, ("gate", "inconclusive"), '"fail" cannot go with threshold 0, where nothing is "unchanged"'
        )
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


def _check_benchmark(benchmark: Benchmark, path: Path, source: Source) -> None:
    if not benchmark.command or not "".join(benchmark.command).strip():
        raise _error(source, (*path, "command"), "is empty")
    if any(ord(char) < 32 or ord(char) == 127 for char in benchmark.name):
        raise _error(source, (*path, "name"), "holds a control character")
    if benchmark.instrument != "values" and any(rules.exact for rules in benchmark.metric.values()):
        raise _error(source, (*path, "metric"), f"{benchmark.instrument} measures nothing exact; exact is for values")
