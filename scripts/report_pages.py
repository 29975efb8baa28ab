"""The tables of docs/json.md and docs/measurements.md: every stable key of a report, every kind, every line.

Run through `make docs`. What report.json promises is gate/report.schema.json, written by hand. A key of a line is
described by the docstring below its field, otherwise by that of its name in WORDS; one without either is an error.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from gate.model import Record
from gate.model.choice import AnyHow
from gate.model.outcomes import STEPS, Summary
from gate.model.reasons import Reason
from gate.model.warnings import AnyWarning
from gate.model.warnings.hosts import Problem
from gate.report.json import schema
from gate.writing.sentences import Sentence

WORDS: Mapping[str, str] = {
    "benchmark": "Name of the benchmark.",
    "better": "The direction that is better.",
    "build": "Number of the build of its side, from 0.",
    "confidence": "Of the interval, as a share: 0.95 is 95%.",
    "execution": "Number of the execution in its build, from 0.",
    "factors": "Setting of each factor by name; empty: there are none.",
    "metric": "Name of the metric, such as time.",
    "session": "Number of the session (a job on a runner), from 0.",
    "sha": "Hash of the commit.",
    "side": "base or head.",
    "statistic": "What is compared: mean, or a quantile such as p99.",
    "unit": "The metric's base unit: s, B, or as declared; empty: a plain number.",
}
"""Of keys that mean the same wherever they stand."""
UNIONS: Mapping[str, Any] = {
    "Summaries": Summary,
    "Steps": STEPS,
    "Reasons": Reason,
    "Warnings": AnyWarning,
    "Choices of base and head": AnyHow,
    "Problems of a host": Problem,
}
"""What has a kind, by its name on the page."""
WRITTEN: Mapping[str, frozenset[str]] = {
    "run": frozenset({"schema", "base", "head", "sessions", "host"}),
    "Commit": frozenset({"ref", "sha"}),
    "build": frozenset({"side", "session", "build", "seconds"}),
    "execution": frozenset(
        {"benchmark", "side", "session", "build", "execution", "seconds", "warmup", "factors", "metrics", "labels"}
    ),
    "Metric": frozenset({"unit", "better", "values"}),
    "summary": frozenset(
        {"benchmark", "side", "session", "build", "metric", "statistic", "value", "unit", "better", "low", "high"}
    ),
    "failure": frozenset({"kind", "benchmark", "side", "session", "build", "execution", "status", "stderr"}),
}
"""The lines that other programs write, and the keys that tell them all that decides."""
_REF = "#/$defs/"
_OBVIOUS = re.compile(r"; null: (not known|there is none)(?=\.$)")
"""What docs/json.md says once: a key that has no value is null."""
_GENERATED = re.compile(r"^(<!-- generated: (\w+) -->\n)(?s:.*?)^(<!-- /generated -->)$", re.MULTILINE)


def json_page(page: str) -> str:
    """Return docs/json.md with its tables as they must be."""
    return _filled(page, {"keys": _keys(json.loads(schema())), "kinds": "\n".join(map(_kinds, UNIONS))})


def measurements_page(page: str) -> str:
    """Return docs/measurements.md with its tables as they must be."""
    return _filled(page, {"list": _list(), "lines": _lines()})


def _filled(page: str, texts: Mapping[str, str]) -> str:
    return _GENERATED.sub(lambda match: f"{match[1]}\n{texts[match[2]]}\n{match[3]}", page)


# --- report.json ------------------------------------------------------------------------------------------------------


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
    return sorted(union if isinstance(union, dict) else (str(each.__struct_config__.tag) for each in members(union)))


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
    if heading and short not in {each.__name__ for each in objects()}:
        return f"one of the [{heading.lower()}](json.md#kinds)"
    return f"[{short}](#{short.lower()})"


# --- measurements.jsonl -----------------------------------------------------------------------------------------------


def _list() -> str:
    """Write what each type of line is."""
    return "".join(
        f"- `{each.__struct_config__.tag}`: {plain(inspect.getdoc(each) or '')}\n" for each in members(Record)
    )


def _lines() -> str:
    """Write a table for each line that other programs write."""
    _, schemas = msgspec.json.schema_components([Record], ref_template=f"{_REF}{{name}}")
    known = {_called(each): each for each in objects()}
    told: dict[str, str] = {}
    return "\n".join(_line(name, known[name], schemas[known[name].__name__], told) for name in WRITTEN)


def _called(of: type[msgspec.Struct]) -> str:
    return str(of.__struct_config__.tag) if of in members(Record) else of.__name__


def _line(name: str, of: type[msgspec.Struct], found: Mapping[str, Any], told: dict[str, str]) -> str:
    """Write the keys of a line; what an earlier line says in the same words is only named.

    told: where each such text stands; those of this line are added.
    """
    known = meanings(of)
    rows: list[str] = []
    above: dict[str, list[str]] = {}
    for field in msgspec.structs.fields(of):
        if field.encode_name in WRITTEN[name]:
            value = found["properties"][field.encode_name]
            default = "required" if field.required else f"otherwise `{json.dumps(value['default'])}`"
            row = f"- `{field.encode_name}` ({_type(value)}; {default}): {known[field.name]}\n"
            if (where := told.setdefault(row, name)) == name:
                rows.append(row)
            else:
                above.setdefault(where, []).append(f"`{field.encode_name}`")
    rows += [f"- {', '.join(keys)}: as of `{where}`\n" for where, keys in above.items()]
    return f"### {f'`{name}`' if name.islower() else name}\n\n{''.join(rows)}"


@cache
def objects() -> list[type[msgspec.Struct]]:
    """Return the types of lines, and those in their fields; what a sentence is made of is free."""
    found = dict.fromkeys(members(Record))
    for each in members(Record):
        found |= dict.fromkeys(_structs(each, set()))
    return list(found)


def _structs(hint: Any, seen: set[Any]) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct) and hint not in seen:
        seen.add(hint)
        if issubclass(hint, Sentence):
            return
        yield hint
        hints = typing.get_type_hints(hint)
        for field in msgspec.structs.fields(hint):
            yield from _structs(hints[field.name], seen)
    for argument in typing.get_args(hint):
        yield from _structs(argument, seen)


def meanings(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Return what each field of a type means.

    Raises:
        ValueError: one has no docstring and no word that always means the same; names it.
    """
    found = {name: text for each in reversed(kind.__mro__) for name, text in _docstrings(each).items()}
    lacking = [name for name in kind.__struct_fields__ if name not in found and name not in WORDS]
    if lacking:
        raise ValueError(f"{kind.__module__}.{kind.__name__}: write a docstring below {', '.join(lacking)}")
    return {name: plain(found.get(name) or WORDS[name]) for name in kind.__struct_fields__}


def plain(text: str) -> str:
    """Put a docstring on one line, in the words of JSON."""
    for python, words in (("None:", "null:"), ("None where", "null where"), ("; None", "; null"), (" None;", " null;")):
        text = text.replace(python, words)
    return " ".join(text.split())


def _docstrings(kind: type) -> Mapping[str, str]:
    return _of_module(kind.__module__).get(kind.__qualname__, {})


@cache
def _of_module(name: str) -> Mapping[str, Mapping[str, str]]:
    if not name.startswith("gate."):
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    return {each.name: dict(_documented(each)) for each in tree.body if isinstance(each, ast.ClassDef)}


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            value = below.value if isinstance(below, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield field.target.id, value.value
