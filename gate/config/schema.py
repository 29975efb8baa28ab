"""Config -> tables in the shape of perfgate.toml, and the JSON Schema of the file."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import Any

import msgspec

from gate.config.instruments import instrument_names
from gate.config.types import Config, Creep, Detectable, Study, Table
from gate.units import Duration, Quantity, Share

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


def to_tables(table: Table) -> dict[str, Any]:
    """Write a table of the config with every key, as perfgate.toml would; None stays None."""
    tables: dict[str, Any] = msgspec.to_builtins(table, enc_hook=str)
    for benchmark in tables.get("benchmark", ()) if isinstance(table, Config) else ():
        if benchmark["traits"] is None:
            del benchmark["traits"]
    return tables


def described(kind: type[Table]) -> dict[str, str]:
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
    for kind in Table.__subclasses__():
        said, keys = described(kind), components[kind.__name__]["properties"]
        for field in msgspec.structs.fields(kind):
            if field.name in said and field.encode_name in keys:
                keys[field.encode_name] = {"description": said[field.name], **keys[field.encode_name]}
    config = Config()
    tables = (config, config.gate, config.plan, config.build, config.env, Study(), Creep())
    defaults: dict[str, Table] = {type(table).__name__: table for table in tables}
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
