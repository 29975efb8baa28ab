"""Writes what is generated: tables of keys, the reference of the command line, the man page, schemas, formats.

Run it through `make docs`; tests/test_docs.py fails when a file is not what this writes. A page's own text and its
examples are written there; types, defaults and meanings of keys in gate/config/types.py and gate/model/.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from gate.cli.command import result_formats
from gate.config import schema
from gate.config import types as config
from gate.config.study import OF_RUNS, SettingTable
from gate.formats import adapter
from gate.writing.units import Duration, Quantity, Share
from scripts import command_pages, report_pages

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "configuration.md"
EXPERT = ROOT / "docs" / "expert.md"
STUDY = ROOT / "docs" / "study.md"
IMPORT = ROOT / "docs" / "import.md"
REPORT = ROOT / "docs" / "json.md"
COMMANDS = ROOT / "docs" / "commands.md"
MAN = ROOT / "man" / "perfgate.1"
SCHEMA = ROOT / "gate" / "perfgate.schema.json"

TABLES: Mapping[str, type[config.TomlTable]] = {
    "[gate]": config.Gate,
    "[[override]]": config.Override,
    "[[accept]]": config.Accept,
    "[plan]": config.Plan,
    "[build]": config.BuildTable,
    "[env]": config.Env,
    "[[benchmark]]": config.Benchmark,
    "service": config.Service,
    "load": config.Load,
    "[benchmark.metric.NAME]": config.MetricRules,
    "[creep]": config.Creep,
    "[study]": config.Study,
    "[study.factor.NAME]": SettingTable,
}
"""The tables of the file by their headings on the pages."""
MAIN: Mapping[str, frozenset[str]] = {
    "[gate]": frozenset({"threshold", "floor", "inconclusive", "missing", "detectable", "explain"}),
    "[[override]]": frozenset({"benchmark", "metric", "threshold", "missing"}),
    "[[accept]]": frozenset({"benchmark", "up_to", "until", "reason"}),
    "[plan]": frozenset({"budget", "metrics"}),
    "[build]": frozenset({"command", "setup", "share", "artifacts", "changes"}),
    "[env]": frozenset({"pass", "set"}),
    "[[benchmark]]": frozenset(
        {"name", "command", "instrument", "warmup", "include", "exclude", "prepare", "cleanup", "timeout"}
    ),
    "[benchmark.metric.NAME]": frozenset({"unit", "better", "statistics", "threshold"}),
}
"""The keys of the main reference; the expert page has the others, and docs/study.md those of a study."""
_HEAD = "<!-- keys, with their defaults -->\n\n"
# below a heading: the text, the table of keys, and examples that together show every key
_SECTION = re.compile(
    r"^(?P<before>## `(?P<heading>[^`\n]+)`\n(?:(?!## |<!-- keys).*\n)*)"
    rf"{re.escape(_HEAD)}(?:- .*\n)*"
    r"(?P<after>(?:(?!## ).*\n)*)",
    re.MULTILINE,
)
_EXAMPLE = re.compile(r"^```toml\n((?s:.*?))^```$", re.MULTILINE)


class Section(NamedTuple):
    """A table of the file: its heading, its type, and examples that together show every key."""

    page: Path
    heading: str
    examples: list[str]
    """Several where keys exclude each other."""

    @property
    def table(self) -> type[config.TomlTable]:
        """The type of the table."""
        return TABLES[self.heading]

    @property
    def fields(self) -> list[msgspec.structs.FieldInfo]:
        """The keys that the page has of it."""
        main = MAIN.get(self.heading, frozenset())
        known = [field for field in msgspec.structs.fields(self.table) if field.name not in OF_RUNS]
        if self.page == STUDY:
            return known
        return [field for field in known if (field.encode_name in main) == (self.page == REFERENCE)]


def sections() -> list[Section]:
    """Return the sections of the pages that are about a table."""
    return [
        Section(page, each["heading"], _EXAMPLE.findall(each["after"]))
        for page in (REFERENCE, EXPERT, STUDY)
        for each in _SECTION.finditer(page.read_text(encoding="utf-8"))
    ]


@cache
def generated() -> dict[Path, str]:
    """Return the text of every generated file."""
    return {
        **{page: reference(page) for page in (REFERENCE, EXPERT, STUDY)},
        SCHEMA: _written(schema.json_schema()),
        IMPORT: formats(),
        REPORT: report_pages.json_page(REPORT.read_text(encoding="utf-8")),
        COMMANDS: command_pages.commands_page(),
        MAN: command_pages.man_page(),
    }


def _written(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


_OF_FORMAT = re.compile(r"^- `(\w+)`: .*?((?:Start|Value): .*)$", re.MULTILINE)
_FORMATS = "For each format: what a start is, where it is not the file, what a value is, and what to mind.\n\n"


def formats() -> str:
    """Return docs/import.md with a line for each format: what it reads, before what is written there by hand.

    Raises:
        ValueError: nothing is written of a format.
    """
    found = sorted(
        ((adapter(name).FORMAT, name) for name in result_formats()), key=lambda each: each[0].title.casefold()
    )
    before, head, after = IMPORT.read_text(encoding="utf-8").partition(_FORMATS)
    said = dict(_OF_FORMAT.findall(after))
    lacking = [name for _, name in found if name not in said]
    if lacking:
        raise ValueError(f"docs/import.md: say what a value is: - `{lacking[0]}`: Value: ...")
    builds = {name: f"; each {f.column} is a build" if f.column else "" for f, name in found}
    rows = "".join(f"- `{name}`: {f.title}{builds[name]}. {said[name]}\n" for f, name in found)
    return before + head + rows + re.sub(r"\A(?:- .*\n)*", "", after)


def reference(page: Path) -> str:
    """Return a page with its tables of keys as they must be."""

    def written(section: re.Match[str]) -> str:
        rows = "\n".join(_rows(Section(page, section["heading"], [])))
        return f"{section['before']}{_HEAD}{rows}\n{section['after']}"

    return _SECTION.sub(written, page.read_text(encoding="utf-8"))


def _rows(section: Section) -> list[str]:
    hints = typing.get_type_hints(section.table, include_extras=True)
    rows, described = [], schema.described(section.table)
    for field in section.fields:
        description = described[field.name]
        meaning = re.sub(r"docs/((\w[\w-]*)\.md)", r"[\1](\1)", description)
        said = _default(field) + description
        default = " or ".join([_default(field), *_choices(hints[field.name], said)])
        rows.append(f"- `{field.encode_name}` ({default}): {meaning}")
    return rows


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if value is None:
        return "none"
    if isinstance(value, (Share, Duration, Quantity)):
        value = str(value)
    if isinstance(value, config.Builds):
        return f"`{{min = {value.min}}}`"
    return f"`{json.dumps(value)}`"


def _choices(hint: Any, said: str) -> list[str]:
    """Return the values that a key may have and that neither its default nor its meaning names."""
    if typing.get_origin(hint) is Literal:
        return [f"`{json.dumps(value)}`" for value in typing.get_args(hint) if json.dumps(value) not in said]
    return [each for inner in typing.get_args(hint) for each in _choices(inner, said)]


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")
