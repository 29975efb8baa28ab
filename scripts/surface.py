"""What version 1 promises to keep (docs/stability.md), as lines: commands, options, exit codes, keys and kinds, inputs.

`make surface` adds what is new to tests/data/surface.txt, before a release. tests/test_stability.py fails when a line
of that file is gone: taking something away needs version 2. Nothing removes lines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from ruamel.yaml import YAML

from gate.cli.command import Command, command_names, command_of
from gate.cli.options import add_options
from gate.codes import Exit
from gate.model import records
from scripts.report_pages import UNIONS, kinds

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "tests" / "data" / "surface.txt"


def surface() -> set[str]:
    """Return one line for each thing that a user, a script or a workflow may rely on."""
    return {
        *(f"perfgate {line}" for name in command_names() for line in _command(name, command_of(name))),
        *(f"exit code {code:d}" for code in Exit),
        *(f"perfgate.toml {line}" for line in _schema("perfgate.schema.json")),
        *(f"report.json {line}" for line in _schema("report.schema.json")),
        *(f"report.json {line}" for line in _kinds()),
        *(f"measurements.jsonl {line}" for line in _lines()),
        *(f"action {line}" for line in _action()),
    }


def _command(name: str, command: Command) -> Iterator[str]:
    yield name
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser, command.options)
    for action in parser._actions:
        for called in action.option_strings or [str(action.metavar or action.dest)]:
            yield f"{name} {called}"
            yield from (f"{name} {called} {choice}" for choice in action.choices or ())
    for part, inner in command.parts.items():
        yield from _command(f"{name} {part}", inner)


def _schema(file: str) -> set[str]:
    """Return the paths of all keys of a JSON Schema, and the values of those that have a list of them."""
    schema = json.loads((ROOT / "gate" / file).read_text(encoding="utf-8"))
    return set(_keys(schema, schema.get("$defs", {}), "", ()))


def _keys(node: Mapping[str, Any], named: Mapping[str, Any], path: str, within: tuple[str, ...]) -> Iterator[str]:
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name not in within:
            yield from _keys(named[name], named, path, (*within, name))
        return
    for several in ("anyOf", "oneOf", "allOf"):
        for each in node.get(several, ()):
            yield from _keys(each, named, path, within)
    values = node.get("enum", ())
    yield from (f"{path} = {json.dumps(value)}" for value in values)
    if isinstance(node.get("items"), dict):
        yield from _keys(node["items"], named, f"{path}[]", within)
    if isinstance(node.get("additionalProperties"), dict):
        yield from _keys(node["additionalProperties"], named, f"{path}.*", within)
    for key, inner in node.get("properties", {}).items():
        below = f"{path}.{key}" if path else key
        yield below
        yield from _keys(inner, named, below, within)


def _kinds() -> Iterator[str]:
    """Give the kinds of all sentences, by the headings of docs/json.md."""
    for heading, union in UNIONS.items():
        yield from (f"{heading.lower()} = {json.dumps(kind)}" for kind in kinds(union))


def _lines() -> Iterator[str]:
    """Give the keys of each type of line, by its `type`, and those of metrics and commits within."""
    for record in vars(records).values():
        if isinstance(record, type) and issubclass(record, msgspec.Struct):
            kind = record.__struct_config__.tag or {records.Metric: "metric", records.Commit: "commit"}.get(record)
            yield from (f"{kind}.{field.encode_name}" for field in msgspec.structs.fields(record) if kind)


def _action() -> Iterator[str]:
    action = YAML(typ="safe").load(ROOT / "action.yml")
    for part in ("inputs", "outputs"):
        yield from (f"{part} {name}" for name in action[part])


def main() -> None:
    """Add what is new."""
    kept = set(KEPT.read_text(encoding="utf-8").splitlines()) if KEPT.exists() else set()
    found = surface()
    KEPT.write_text("".join(f"{line}\n" for line in sorted(kept | found)), encoding="utf-8")
    print(f"{KEPT.relative_to(ROOT)}: {len(kept | found)} lines, {len(found - kept)} of them new")  # noqa: T201


if __name__ == "__main__":
    main()
