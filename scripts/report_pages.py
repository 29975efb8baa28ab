"""The tables of docs/json.md and docs/measurements.md: every key with its meaning, every kind with its fields."""

from __future__ import annotations

import inspect
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from gate.model import Record
from scripts.report_schema import UNIONS, WRITTEN, Fields, definitions, fields, json_schema, members, named, plain

_REF = "#/$defs/"
_GENERATED = re.compile(r"^(<!-- generated: (\w+) -->\n)(?s:.*?)^(<!-- /generated -->)$", re.MULTILINE)
_HEADING = {"How": "Choices of base and head"}
_OTHERS = "Other kinds"


def json_page(page: str) -> str:
    """Return docs/json.md with its tables as they must be."""
    schema = json_schema()
    return _filled(page, {"keys": _keys(schema), "kinds": _kinds(schema), "parts": _parts(schema)})


def measurements_page(page: str) -> str:
    """Return docs/measurements.md with its tables as they must be."""
    return _filled(page, {"list": _list(), "lines": _lines()})


def _filled(page: str, texts: Mapping[str, str]) -> str:
    return _GENERATED.sub(lambda match: f"{match[1]}\n{texts[match[2]]}\n{match[3]}", page)


# --- report.json ------------------------------------------------------------------------------------------------------


def _keys(schema: Mapping[str, Any]) -> str:
    """Write a table for each object that the report has in any case."""
    definitions = schema["$defs"]
    found = _paths({"Report": schema}, definitions)
    return "\n".join(_table(name, definitions.get(name, schema), path) for name, path in found.items())


def _parts(schema: Mapping[str, Any]) -> str:
    """Write a table for each object that only kinds have."""
    definitions = schema["$defs"]
    known = _paths({"Report": schema}, definitions)
    found: dict[str, str] = {}
    for name in _of_kinds(definitions):
        found |= _paths({name: definitions[name]}, definitions)
    rest = [name for name in found if name not in known and not _is_kind(definitions[name])]
    return "\n".join(_table(name, definitions[name], "") for name in sorted(rest))


def _paths(roots: Mapping[str, Mapping[str, Any]], definitions: Mapping[str, Any]) -> dict[str, str]:
    """Return where each object without a kind first stands, the nearest to the root first, as jq names it."""
    (root,) = roots
    found, open_ends = {root: "."}, deque(roots.items())
    while open_ends:
        name, schema = open_ends.popleft()
        for key, value in schema["properties"].items():
            for target, suffix in _targets(value):
                if target in UNIONS or target in found or _is_kind(definitions[target]):
                    continue
                found[target] = f"{found[name].rstrip('.')}.{key}{suffix}"
                open_ends.append((target, definitions[target]))
    return found


def _targets(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the types that a value may be, and what of it they are: the value itself or its items."""
    if "$ref" in schema:
        yield schema["$ref"].removeprefix(_REF), ""
    for each in schema.get("anyOf", ()):
        yield from _targets(each)
    for holder in ("items", "additionalProperties"):
        if isinstance(schema.get(holder), dict):
            yield from ((name, f"[]{suffix}") for name, suffix in _targets(schema[holder]))


def _is_kind(schema: Mapping[str, Any]) -> bool:
    return "anyOf" in schema or _kind(schema) is not None


def _kind(schema: Mapping[str, Any]) -> str | None:
    kinds = schema.get("properties", {}).get("kind", {}).get("enum", ())
    return kinds[0] if len(kinds) == 1 else None


def _of_kinds(definitions: Mapping[str, Any]) -> list[str]:
    return [name for name, schema in definitions.items() if _kind(schema) is not None]


def _kinds(schema: Mapping[str, Any]) -> str:
    """Write a table for each union of kinds, and one for those that stand in none."""
    definitions = schema["$defs"]
    listed: set[str] = set()
    texts = []
    for union in UNIONS:
        names = [each["$ref"].removeprefix(_REF) for each in definitions[union]["anyOf"]]
        texts.append(_kinds_table(_HEADING.get(union, union), definitions, [n for n in names if n not in listed]))
        listed |= set(names)
    if rest := [name for name in _of_kinds(definitions) if name not in listed]:
        texts.append(_kinds_table(_OTHERS, definitions, rest))
    return "\n".join(texts)


def _kinds_table(heading: str, definitions: Mapping[str, Any], names: Iterable[str]) -> str:
    rows = []
    for name in sorted(names, key=lambda each: _kind(definitions[each]) or ""):
        schema = definitions[name]
        own = {key: value for key, value in schema["properties"].items() if not _is_common(key, schema)}
        said = "<br>".join(f"`{key}` ({_type(value)}): {value['description']}" for key, value in own.items())
        rows.append(_row(f"`{_kind(schema)}`", schema["description"], said or "none"))
    return f"### {heading}\n\n| kind | means | fields |\n| --- | --- | --- |\n" + "".join(rows)


def _is_common(key: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a field is one that every kind has; the text of "said" is all that it has."""
    return key == "kind" or (key == "text" and _kind(schema) != "said")


def _table(name: str, schema: Mapping[str, Any], path: str) -> str:
    rows = "".join(_row(f"`{key}`", _type(value), value["description"]) for key, value in schema["properties"].items())
    where = f"`{path}`: " if path else ""
    return f"### {name}\n\n{where}{schema['description']}\n\n| key | type | meaning |\n| --- | --- | --- |\n{rows}"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _type(schema: Mapping[str, Any], links: Mapping[str, str] | None = None) -> str:
    if "$ref" in schema:
        return (links or _links())[schema["$ref"].removeprefix(_REF)]
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(each, links) for each in schema["anyOf"]))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join("null" if each is None else f"`{each}`" for each in schema["enum"])
    kinds = schema.get("type", "any JSON")
    return " or ".join(_named(kind, schema, links) for kind in ([kinds] if isinstance(kinds, str) else kinds))


@cache
def _links() -> Mapping[str, str]:
    """Return what a table says of each type: its name, or its kind, with a link to where it is described."""
    definitions = json_schema()["$defs"]
    links = {name: f"[{name}](#{_anchor(_HEADING.get(name, name))})" for name in definitions}
    for name in _of_kinds(definitions):
        links[name] = f"[`{_kind(definitions[name])}`](#{_anchor(_section_of(name, definitions))})"
    return links


def _section_of(name: str, definitions: Mapping[str, Any]) -> str:
    for union in UNIONS:
        if {"$ref": _REF + name} in definitions[union]["anyOf"]:
            return _HEADING.get(union, union)
    return _OTHERS


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _named(kind: str, schema: Mapping[str, Any], links: Mapping[str, str] | None) -> str:
    inner = schema.get("items") if kind == "array" else schema.get("additionalProperties")
    of = f" of {_type(inner, links)}" if isinstance(inner, dict) and inner else ""
    words = {"integer": "whole number", "boolean": "true or false", "array": "list"}
    return words.get(kind, kind) + (" by name" if of and kind == "object" else "") + of


# --- measurements.jsonl -----------------------------------------------------------------------------------------------


def _list() -> str:
    """Write what each type of line is."""
    rows = [_row(f"`{_tag(each)}`", plain(inspect.getdoc(each) or "")) for each in members(Record)]
    return "| `type` | is |\n| --- | --- |\n" + "".join(rows)


def _tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


def _lines() -> str:
    """Write a table for each line, and one for each object that no report has."""
    schemas = named(definitions(Record))
    described = {each.type for each in fields(*WRITTEN)}
    lines = [each for each in fields(Record) if each.type in members(Record)]
    inner = [each for each in fields(Record) if each not in lines and each.type not in described]
    return "\n".join(_line(each, schemas[each.name], here=inner) for each in [*lines, *inner])


def _line(of: Fields, schema: Mapping[str, Any], here: Iterable[Fields]) -> str:
    links = {name: link.replace("(#", "(json.md#") for name, link in _links().items()}
    links |= {each.name: f"[{each.name}](#{_anchor(each.name)})" for each in here}
    heading = f"`{_tag(of.type)}`" if of.type in members(Record) else of.name
    rows = []
    for field in msgspec.structs.fields(of.type):
        value = schema["properties"][field.encode_name]
        default = "required" if field.required else f"`{json.dumps(value['default'])}`"
        rows.append(_row(f"`{field.encode_name}`", _type(value, links), default, of.meanings[field.name]))
    head = "| key | type | without it | meaning |\n| --- | --- | --- | --- |\n"
    return f"### {heading}\n\n{plain(inspect.getdoc(of.type) or '')}\n\n{head}{''.join(rows)}"
