"""The JSON Schema of report.json and the tables of its keys, made from the types and the docstrings of their fields.

Run through `make docs`. A field's description is the docstring below it, otherwise that of its name in WORDS; a key
without either is an error, so that none is shipped without a meaning.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
import typing
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec

from gate.model import REPORT_SCHEMA, Record, Report
from gate.model.choice import AnyHow
from gate.model.outcomes import Step, Summary
from gate.model.reasons import Reason
from gate.model.report import Finding, Identical, SideSummary
from gate.model.warnings import AnyWarning
from gate.model.warnings.hosts import Problem
from gate.model.warnings.setup import AnyLimit
from gate.report.json import EXIT_CODES, OMITTED_WHEN_EMPTY
from gate.words.sentences import SENTENCES

WORDS: Mapping[str, str] = {
    "benchmark": "Name of the benchmark.",
    "benchmarks": "Names of the benchmarks.",
    "better": "The direction that is better.",
    "branch": "Name of the branch.",
    "build": "Number of the build of its side, from 0.",
    "confidence": "Of the interval, as a share: 0.95 is 95%.",
    "done": "How many were done.",
    "execution": "Number of the execution in its build, from 0.",
    "factors": "Setting of each factor by name; empty: there are none.",
    "floor": "The smallest absolute change that counts, in the unit; None: no floor applies.",
    "has": "How many there are.",
    "kind": "Which kind of object this is: a stable id.",
    "metric": "Name of the metric, such as time.",
    "needs": "How many are needed.",
    "now": "What it is now.",
    "path": "Its path.",
    "planned": "How many were planned.",
    "session": "Number of the session (a job on a runner), from 0.",
    "sha": "Hash of the commit.",
    "side": "base or head.",
    "statistic": "What is compared: mean, or a quantile such as p99.",
    "text": "The sentence for people. Any version may change it: do not parse it.",
    "threshold": "The smallest change worth failing for, as a share: 0.03 is 3%.",
    "unit": "The metric's base unit: s, B, or as declared; empty: a plain number.",
    "was": "What it was.",
}
"""Of keys that mean the same wherever they stand."""
UNIONS: Mapping[str, Any] = {
    "Summary": Summary,
    "Step": Step,
    "Reason": Reason,
    "Warning": AnyWarning,
    "How": AnyHow,
    "Problem": Problem,
    "Limit": AnyLimit,
}
"""What has a kind, by the name in the schema and on the page."""
WRITTEN = (Report, Step)
"""What stands in report.json: the report, and what to do next."""
ID = f"urn:perfgate:report:{REPORT_SCHEMA}"


class Fields(NamedTuple):
    """A type of the report, its name in the schema, and the meaning of each of its keys."""

    name: str
    type: type[msgspec.Struct]
    meanings: Mapping[str, str]


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of report.json, as this version writes it.

    Raises:
        ValueError: a key has no description; names it.
    """
    found = {each.name: each for each in fields(*WRITTEN)}
    components = {name: _as_written(schema, found[name]) for name, schema in definitions(*WRITTEN).items()}
    _mark_measured(components)
    components = named(components) | unions()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        **_with_codes(components.pop("Report")),
        "title": "perfgate report.json",
        "$defs": dict(sorted(components.items())),
    }


def definitions(*roots: Any) -> dict[str, Any]:
    """Return msgspec's schemas of the types below types and unions, by the names of `fields`."""
    _, made = msgspec.json.schema_components(roots, ref_template="#/$defs/{name}")
    below = [each.type for each in fields(*roots)]
    renamed = {_of_msgspec(each.type, below): each.name for each in fields(*roots)}
    return {renamed[name]: _renamed(schema, renamed) for name, schema in made.items()}


@cache
def unions() -> dict[str, Any]:
    """Return the schema of each union of kinds.

    Raises:
        ValueError: one has the name of a type.
    """
    names = {each.type: each.name for each in fields(*WRITTEN)}
    if taken := UNIONS.keys() & set(names.values()):
        raise ValueError(f"scripts.report_schema.UNIONS: {', '.join(taken)} is the name of a type, too")
    return {
        name: {"anyOf": [{"$ref": f"#/$defs/{names[kind]}"} for kind in members(union)]}
        for name, union in UNIONS.items()
    }


def named(schema: Any) -> Any:
    """Replace the members of each union by its name."""
    return _with_names(schema, unions())


@cache
def fields(*roots: Any) -> list[Fields]:
    """Return the types below types and unions, in the order in which they are met, by their names in the schema."""
    # one name each, in the report and in the lines of measurements
    count = Counter(each.__name__ for each in _below(*WRITTEN, Record))
    return [
        Fields(each.__name__ if count[each.__name__] == 1 else _room(each) + each.__name__, each, meanings(each))
        for each in _below(*roots)
    ]


def _below(*roots: Any) -> dict[type[msgspec.Struct], None]:
    seen: set[Any] = set()
    return dict.fromkeys(each for root in roots for each in _structs(root, seen))


def members(union: Any) -> tuple[type[msgspec.Struct], ...]:
    """Return the types of a union of types with a kind."""
    return tuple(each for each in typing.get_args(union) if each is not types.NoneType)


def _with_names(schema: Any, unions: Mapping[str, dict[str, Any]]) -> Any:
    """Replace what is one of the unions by its name."""
    if isinstance(schema, list):
        return [_with_names(each, unions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    for name, union in unions.items():
        listed = schema.get("anyOf", ())
        if listed and all(each in listed for each in union["anyOf"]):
            rest = [each for each in listed if each not in union["anyOf"]]
            others = {key: value for key, value in schema.items() if key != "anyOf"}
            named = {"$ref": f"#/$defs/{name}"}
            return others | ({"anyOf": [named, *rest]} if rest else named)
    return {key: _with_names(value, unions) for key, value in schema.items()}


def _structs(hint: Any, seen: set[Any]) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct) and hint not in seen:
        seen.add(hint)
        yield hint
        hints = typing.get_type_hints(hint)
        for field in msgspec.structs.fields(hint):
            yield from _structs(hints[field.name], seen)
    for argument in typing.get_args(hint):
        yield from _structs(argument, seen)


def _room(kind: type) -> str:
    # two types of one name: a reason and a warning
    return "Warning" if ".warnings." in kind.__module__ else kind.__module__.rpartition(".")[2].title().rstrip("s")


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
    for python, json in (("None:", "null:"), ("None where", "null where"), ("; None", "; null"), (" None;", " null;")):
        text = text.replace(python, json)
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


# --- what is written, where it differs from what is read --------------------------------------------------------------


def _of_msgspec(kind: type, every: typing.Iterable[type]) -> str:
    """Name a type as msgspec does: with its module where two have one name."""
    alike = [each for each in every if each.__name__ == kind.__name__]
    return kind.__name__ if len(alike) == 1 else f"{kind.__module__}.{kind.__name__}"


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    if isinstance(schema, dict):
        prefix = "#/$defs/"
        return {
            key: prefix + names[value.removeprefix(prefix)] if key == "$ref" else _renamed(value, names)
            for key, value in schema.items()
            # a word of OpenAPI, which strict validators of JSON Schema refuse
            if key != "discriminator"
        }
    return [_renamed(each, names) for each in schema] if isinstance(schema, list) else schema


def _as_written(schema: dict[str, Any], of: Fields) -> dict[str, Any]:
    keys = {name: dict(value) for name, value in schema["properties"].items()}
    config = of.type.__struct_config__
    if config.tag_field and config.tag_field != "kind":
        del keys[config.tag_field]
    if of.type in SENTENCES:
        keys["text"] = {"type": "string"}
    for name, value in keys.items():
        value.pop("default", None)
        value["description"] = of.meanings.get(name) or WORDS[name]
    return {
        "title": of.name,
        "type": "object",
        "description": plain(inspect.getdoc(of.type) or ""),
        "properties": keys,
        "required": [name for name in keys if name not in _left_out(of.type)],
    }


def _left_out(kind: type) -> tuple[str, ...]:
    return ("factors",) if kind in OMITTED_WHEN_EMPTY else ()


def _mark_measured(components: dict[str, Any]) -> None:
    """Say what render() does: NaN is null, identical findings stand among the others, the version is fixed."""
    report, finding = components[Report.__name__], components[Finding.__name__]
    report["properties"]["schema"] |= {"const": REPORT_SCHEMA}
    del report["properties"]["identical"]
    report["required"].remove("identical")
    either = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in (Finding, Identical)]
    report["properties"]["findings"] |= {
        "items": {"anyOf": either},
        "description": "One for each case and statistic; what is identical was not measured and stands last.",
    }
    report["properties"]["next"] = {
        "anyOf": [{"$ref": "#/$defs/Step"}, {"type": "null"}],
        "description": "What to do now, as data and in one sentence; null: nothing, after a pass.",
    }
    report["required"].append("next")
    for kind in (Finding, Identical):
        components[kind.__name__]["properties"]["text"] = {"type": "string", "description": WORDS["text"]}
        components[kind.__name__]["required"].append("text")
    verdicts = finding["properties"]["verdict"]
    verdicts["enum"] = [each for each in verdicts["enum"] if each != "identical"]
    components[SideSummary.__name__]["properties"]["value"]["type"] = ["number", "null"]


def _with_codes(report: dict[str, Any]) -> dict[str, Any]:
    report["properties"]["exit_code"] = {
        **report["properties"]["exit_code"],
        "enum": sorted({int(code) for codes in EXIT_CODES.values() for code in codes}),
    }
    report["allOf"] = [
        {
            "if": {"properties": {"verdict": {"const": verdict}}},
            "then": {"properties": {"exit_code": {"enum": [int(code) for code in codes]}}},
        }
        for verdict, codes in EXIT_CODES.items()
    ]
    return report
