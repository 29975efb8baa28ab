"""perfgate config: the effective values and where each comes from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import Command
from gate.cli.groups import BASE, HEAD, RulesOptions
from gate.cli.options import group, option, switch


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """Which sides, by whose rules."""

    schema: bool = switch("print the JSON Schema of perfgate.toml, not the settings")
    base: str | None = option(BASE, metavar="REF")
    head: str | None = option(HEAD, metavar="REF")
    rules: RulesOptions = group(RulesOptions, "rules")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Print one line a value, with its origin as a comment."""
    if options.schema:
        from gate.config.schema import json_schema

        out.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
        return 0
    from gate.config.resolve import effective
    from gate.run.project import look_at_project
    from gate.writing.phrases import toml_text

    project = look_at_project(options.base, options.head, options.rules)
    settings = effective(project.settings)
    lines = [f"{key} = {toml_text(value)}" for key, (value, _) in settings.items()]
    width = min(max(map(len, lines)), 60)
    out.write(f"# {project.sources.choice!s}\n# rules: {project.whose}\n")
    out.writelines(f"# {warning.sentence()}\n" for warning in project.settings.warnings)
    out.writelines(f"{line:<{width}}  # {origin}\n" for (_, origin), line in zip(settings.values(), lines, strict=True))
    return 0


COMMAND = Command(
    help="print the settings in force, and where each comes from",
    example="perfgate config --rules base --base main",
    options=Options,
    run=run,
    place=8,
)
