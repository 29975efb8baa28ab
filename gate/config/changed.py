"""What head changes in how both sides are built and measured: then base and head did not run the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from gate.config.differences import differences
from gate.config.schema import to_tables
from gate.config.source import dotted
from gate.config.types import Config
from gate.config.wrong import shown
from gate.model import Side
from gate.model.warnings.setup import BuildChanged, Differing, MeasuringChanged

_BUILDING = ("setup", "command", "relink", "share", "perturb", "layouts", "git")
"""Keys of [build] that what is measured depends on; overlay is base's for both sides."""
_NOT_MEASURING = ("metric", "timeout", "max_output", "include", "exclude", "same_output")
"""Keys of a benchmark that it is judged by, or that only limit it."""


def changed_measuring(sides: Mapping[Side, Config]) -> list[MeasuringChanged | BuildChanged]:
    """Return what differs between the sides, benchmark by benchmark; of what only one side has nothing."""
    base, head = (to_tables(sides[side]) for side in ("base", "head"))
    found: list[MeasuringChanged | BuildChanged] = []
    of_base = {each["name"]: each for each in base["benchmark"]}
    for own in head["benchmark"]:
        changes = _differing(_measuring(of_base[own["name"]]), _measuring(own)) if own["name"] in of_base else ()
        if changes:
            found.append(MeasuringChanged(own["name"], changes))
    built = _differing(_building(base), _building(head))
    return [*found, *([BuildChanged(built)] if built else [])]


def _measuring(benchmark: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in benchmark.items() if key not in _NOT_MEASURING}


def _building(tables: Mapping[str, Any]) -> dict[str, Any]:
    return {"build": {key: tables["build"].get(key) for key in _BUILDING}, "env": tables["env"]}


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
