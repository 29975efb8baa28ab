"""What the settings of a factor change, in a few words."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gate.commands.study_design import Design, tables_of
from gate.config.invocation import mentions
from gate.config.study import SettingTable
from gate.config.treatments import SIDE, variable

_WORDS = {
    "prefix": "prefix of the command",
    "args": "arguments",
    "service": "service",
    "load": "load",
    "cpus": "processors",
    "priority": "priority",
    "runner": "runner",
    "session": "session",
}


def means(design: Design, factor: str) -> list[str]:
    """Say what the settings of a factor change: ["load", "environment MODE", "{clients} in commands"]."""
    if factor == SIDE:
        return ["the side"]
    tables = tables_of(design.study, factor)
    words = [text for key, text in _WORDS.items() if any(_gives(table, key) for table in tables.values())]
    for key, text in (("env", "environment"), ("build_env", "environment of builds")):
        names = sorted({name for table in tables.values() for name in getattr(table, key)})
        words += [f"{text} {', '.join(names)}"] if names else []
    words += _replaced(design, factor)
    return words or [f"environment {variable(factor)}"]


def _gives(table: SettingTable, key: str) -> bool:
    return getattr(table, key) not in (None, [])


def _replaced(design: Design, factor: str) -> list[str]:
    """Say where {factor} stands."""
    settings = design.project.settings
    commands = [b for b in settings.rules.benchmark if b.name in design.benchmarks]
    gives: Mapping[str, object] = {"benchmarks": commands, "factors": design.study.factor}
    places = []
    if f"{{{factor}}}" in msgspec.json.encode(gives, enc_hook=str).decode():
        places.append(f"{{{factor}}} in commands")
    if any(mentions(config.build.command, factor) for config in settings.sides.values()):
        places.append(f"{{{factor}}} in the [build] command")
    return places
