"""Config -> tables in the shape of perfgate.toml, what differs between two, and the JSON Schema of the file."""

from __future__ import annotations

import ast
import inspect
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from gate.config.config_text import Path, dotted
from gate.config.instruments import instrument_names
from gate.config.types import Config, Creep, Detectable, Study, TomlTable
from gate.config.wrong import shown
from gate.model import SIDES, Side
from gate.model.warnings.setup import BuildChanged, Differing, MeasuringChanged, Renamed
from gate.writing.units import Duration, Quantity, Share

ADDRESS = "https://raw.githubusercontent.com/perfgate/perfgate/v1/gate/perfgate.schema.json"
"""Of the schema in the repository that the action's default names: editors with taplo read it from `#:schema`."""
_NUMBER = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_SHARE = {
    "type": ["string", "number"],
    "pattern": rf"^\s*\+?({_NUMBER}\s*%|0*\.[0-9]+|0+\.?)\s*$",
    "minimum": 0,
    "exclusiveMaximum": 1,
    "examples": ["3%"],
}
_SCHEMAS: dict[type, dict[str, Any]] = {
    Share: _SHARE,
    Detectable: {"anyOf": [_SHARE, {"const": "threshold"}]},
    Duration: {
        "type": ["string", "number"],
        "pattern": r"^\s*([0-9]+(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|m|h)\s*)+$",
        "exclusiveMinimum": 0,
        "examples": ["15m", "90s"],
    },
    Quantity: {
        "type": ["string", "number"],
        "pattern": rf"^\s*\+?{_NUMBER}",
        "minimum": 0,
        "examples": ["1us", "256MB"],
    },
}


def to_tables(table: TomlTable) -> dict[str, Any]:
    """Write a table of the config with every key, as perfgate.toml would; None stays None."""
    tables: dict[str, Any] = msgspec.to_builtins(table, enc_hook=str)
    for benchmark in tables.get("benchmark", ()) if isinstance(table, Config) else ():
        if benchmark["traits"] is None:
            del benchmark["traits"]
    return tables


def described(kind: type[TomlTable]) -> dict[str, str]:
    """Return what the source of a table says below each of its keys, by their names in code."""
    (table,) = ast.parse(inspect.getsource(kind)).body
    said = {}
    for field, text in pairwise(table.body if isinstance(table, ast.ClassDef) else ()):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            said[ast.unparse(field.target)] = " ".join(str(ast.literal_eval(text.value)).split())
    return said


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of perfgate.toml."""
    (_, components) = msgspec.json.schema_components(
        [Config], schema_hook=lambda kind: dict(_SCHEMAS[kind]), ref_template="#/$defs/{name}"
    )
    components.pop("Traits")
    del components["Benchmark"]["properties"]["traits"]
    components["Benchmark"]["properties"]["instrument"]["enum"] = instrument_names()
    for kind in TomlTable.__subclasses__():
        said, keys = described(kind), components[kind.__name__]["properties"]
        for field in msgspec.structs.fields(kind):
            if field.name in said and field.encode_name in keys:
                keys[field.encode_name] = {"description": said[field.name], **keys[field.encode_name]}
    config = Config()
    tables = (config, config.gate, config.plan, config.build, config.env, Study(), Creep())
    defaults: dict[str, TomlTable] = {type(table).__name__: table for table in tables}
    for name, schema in components.items():
        for key, default in (to_tables(defaults[name]) if name in defaults else {}).items():
            if default is not None and not isinstance(default, (dict, list)):
                schema["properties"][key]["default"] = default
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **components.pop("Config"),
        "title": "perfgate.toml",
        "$defs": components,
    }


# --- what head changes in how both sides are built and measured -------------------------------------------------------


_FOLLOWS: dict[Path, tuple[str, ...]] = {("plan", "starts"): ("executions", "iterations")}
"""Keys whose default follows from others of their table, which say it already where they differ."""


def differences(past: Any, now: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Give each key that differs, with both values; None: a side does not have it.

    past, now: as to_tables writes them; tables in a list are known by their name where they have one.
    """
    before, after = _keyed(past), _keyed(now)
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if any(before.get(other) != after.get(other) for other in _FOLLOWS.get((*path, key), ())):
                continue
            yield from differences(before.get(key), after.get(key), (*path, key))
    elif past != now:
        yield path, past, now


def _keyed(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return {item.get("name", number): item for number, item in enumerate(value)}
    return value


_BUILDING = ("setup", "command", "relink", "share", "perturb", "layouts", "git")
"""Keys of [build] that what is measured depends on; overlay is base's for both sides."""
_NOT_MEASURING = ("metric", "timeout", "max_output", "include", "exclude", "same_output")
"""Keys of a benchmark that it is judged by, or that only limit it."""


def changed_measuring(sides: Mapping[Side, Config]) -> list[MeasuringChanged | BuildChanged]:
    """Return what differs between the sides, benchmark by benchmark; of what only one side has nothing."""
    tables = [to_tables(sides[side]) for side in SIDES]
    base, head = (
        {b["name"]: {key: value for key, value in b.items() if key not in _NOT_MEASURING} for b in each["benchmark"]}
        for each in tables
    )
    changes = {name: _differing(base[name], own) for name, own in head.items() if name in base}
    found: list[MeasuringChanged | BuildChanged] = [MeasuringChanged(*each) for each in changes.items() if each[1]]
    built = [{"build": {key: t["build"].get(key) for key in _BUILDING}, "env": t["env"]} for t in tables]
    of_build = _differing(*built)
    return [*found, *([BuildChanged(of_build)] if of_build else [])]


def _differing(base: Mapping[str, Any], head: Mapping[str, Any]) -> tuple[Differing, ...]:
    return tuple(Differing(dotted(key), _text(was), _text(now)) for key, was, now in differences(base, head))


def _text(value: object) -> str | None:
    """Write a value in one line: a command as for a shell, what is not there as None."""
    if value is None or value == []:
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return shlex.join(value)
    return shown(value)


_RUN = (
    "command", "instrument", "service", "load", "format", "column", "include",
    "exclude",
)  # fmt: skip
"""Keys that say what runs and how its values are read; all else may change with the name, and is said."""
_VALUES = ("unit", "better", "exact")
"""Keys of a metric that say what kind of values it has."""


def paired(sides: dict[Side, Config], rules: Config) -> tuple[dict[Side, Config], list[Renamed]]:
    """Give a benchmark that only base has and one that only head has one name, where they are surely the same.

    They run the same command by the same instrument and have the same kind of values, and no other benchmark of either
    side does so. The name is the one that the rules know: neither does a rename evade what base's rules say of a
    benchmark, nor does head choose which of them count. The cases of a suite are not paired: two of them have one
    command and one kind of values, so that nothing tells a renamed case from another one.
    """
    alike: dict[bytes, dict[Side, list[str]]] = defaultdict(lambda: {side: [] for side in SIDES})
    for side in SIDES:
        for benchmark in sides[side].benchmark:
            table: Mapping[str, Any] = to_tables(benchmark)
            metrics = {name: [each.get(key) for key in _VALUES] for name, each in table["metric"].items()}
            ran = msgspec.json.encode([[table.get(key) for key in _RUN], metrics], order="sorted")
            alike[ran][side].append(benchmark.name)
    names = {side: {b.name for b in sides[side].benchmark} for side in SIDES}
    ones = [(*each["base"], *each["head"]) for each in alike.values() if all(len(each[side]) == 1 for side in SIDES)]
    pairs = [(was, now) for was, now in ones if was not in names["head"] and now not in names["base"]]
    known = {b.name for b in rules.benchmark}
    called: dict[Side, dict[str, str]] = {side: {} for side in SIDES}
    for was, now in pairs:
        if was in known and now not in known:
            called["head"][now] = was
        else:
            called["base"][was] = now
    found = {}
    for side, config in sides.items():
        benchmarks = [msgspec.structs.replace(b, name=called[side].get(b.name, b.name)) for b in config.benchmark]
        found[side] = msgspec.structs.replace(config, benchmark=benchmarks)
    return found, [Renamed(*pair) for pair in pairs]
