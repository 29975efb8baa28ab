"""The tables of docs/json.md: every stable key of a report, every kind. Run through `make docs`.

What report.json promises is gate/report.schema.json, written by hand, as docs/measurements.md is of its lines.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gate.model.outcomes import KINDS, Summary
from gate.model.reasons import WITHOUT_NUMBERS, Reason
from gate.model.warnings import AnyWarning
from gate.report.json import schema

REASONS = {*WITHOUT_NUMBERS, *(str(each.__struct_config__.tag) for each in typing.get_args(Reason))} - {"because"}
UNIONS: Mapping[str, Any] = {
    "Summaries": Summary,
    "Steps": KINDS,
    "Reasons": REASONS,
    "Warnings": AnyWarning,
}
"""What has a kind, by its name on the page."""
_REF = "#/$defs/"
_OBVIOUS = re.compile(r"; null: (not known|there is none)(?=\.$)")
"""What docs/json.md says once: a key that has no value is null."""
_GENERATED = re.compile(r"^(<!-- generated: (\w+) -->\n)(?s:.*?)^(<!-- /generated -->)$", re.MULTILINE)


def json_page(page: str) -> str:
    """Return docs/json.md with its tables as they must be."""
    texts = {"keys": _keys(json.loads(schema())), "kinds": "\n".join(map(_kinds, UNIONS))}
    return _GENERATED.sub(lambda match: f"{match[1]}\n{texts[match[2]]}\n{match[3]}", page)


def _keys(of: Mapping[str, Any]) -> str:
    """Write a table for each object of the schema, with the place where it first stands, as jq names it."""
    places = {"Report": "."}
    tables = []
    for name, found in {"Report": of, **of["$defs"]}.items():
        rows = ""
        for key, value in found["properties"].items():
            rows += f"- `{key}` ({_type(value)}): {_OBVIOUS.sub('', value['description'])}\n"
            for target, suffix in _targets(value):
                places.setdefault(target, f"{places[name].rstrip('.')}.{key}{suffix}")
        head = f"### {name}\n\n`{places[name]}`: {found['description']}\n\n"
        tables.append(f"{head}{rows}")
    return "\n".join(tables)


def _targets(of: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the types that a value may be, and what of it they are: the value itself or its items."""
    if "$ref" in of:
        yield of["$ref"].removeprefix(_REF), ""
    for each in of.get("anyOf", ()):
        yield from _targets(each)
    if "items" in of:
        yield from ((name, f"[]{suffix}") for name, suffix in _targets(of["items"]))


def _kinds(heading: str) -> str:
    """Name the kinds of a union."""
    return f"- **{heading}**: {', '.join(f'`{each}`' for each in kinds(UNIONS[heading]))}"


def kinds(union: Any) -> list[str]:
    """List the kinds of a union, or of what makes them."""
    return sorted(union if isinstance(union, set) else (str(each.__struct_config__.tag) for each in members(union)))


def members(union: Any) -> tuple[type[msgspec.Struct], ...]:
    """Return the types of a union of types with a kind."""
    return tuple(each for each in typing.get_args(union) if each is not types.NoneType)


def _type(of: Mapping[str, Any]) -> str:
    if "$ref" in of:
        return _link(of["$ref"].removeprefix(_REF))
    if "anyOf" in of:
        return " or ".join(dict.fromkeys(map(_type, of["anyOf"])))
    if "const" in of:
        return f"`{of['const']}`"
    if "enum" in of:
        return ", ".join("null" if each is None else f"`{each}`" for each in of["enum"])
    kinds = of.get("type", "any JSON")
    return " or ".join(_named(kind, of) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _named(kind: str, of: Mapping[str, Any]) -> str:
    inner = of.get("items") if kind == "array" else of.get("additionalProperties")
    items = f" of {_type(inner)}" if isinstance(inner, dict) and inner else ""
    words = {"integer": "whole number", "boolean": "true or false", "array": "list"}
    return words.get(kind, kind) + (" by name" if items and kind == "object" else "") + items


def _link(name: str) -> str:
    """Name a type with a link to where it is described; of msgspec's names the last part."""
    short = name.rpartition(".")[2]
    heading = next((each for each in reversed([*UNIONS]) if short in {m.__name__ for m in members(UNIONS[each])}), "")
    if heading and short not in json.loads(schema())["$defs"]:
        return f"one of the [{heading.lower()}](json.md#kinds)"
    return f"[{short}](#{short.lower()})"
