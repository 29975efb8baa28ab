"""Values of the configuration that the format names and this version does not have yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.config.errors import ConfigError
from gate.config.source import Path, Source

_INSTRUMENTS = {
    "perf_stat", "callgrind", "pytest-benchmark", "pyperf", "google-benchmark", "go", "criterion", "jmh",
}  # fmt: skip


def _always(_: Any) -> bool:
    return True


_LATER: dict[tuple[str, str], Callable[[Any], bool]] = {
    ("build", "perturb"): _always,
    ("benchmark", "instrument"): lambda value: value in _INSTRUMENTS,
    ("benchmark", "command"): lambda value: "{port}" in (value if isinstance(value, str) else str(value)),
    ("benchmark", "warmup"): lambda value: value == "auto",
    **{("benchmark", key): _always for key in ("service", "load", "include", "exclude", "column", "cpus", "perturb")},
}


def refuse_later(source: Source) -> None:
    """Refuse what a later version brings, by that name rather than as an unknown key.

    Raises:
        ConfigError: "not in this version".
    """
    if "study" in source.tables:
        raise _not_yet(source, ("study",))
    for (table, key), is_later in _LATER.items():
        for path, values in _tables(source.tables, table):
            if key in values and is_later(values[key]):
                raise _not_yet(source, (*path, key))


def _tables(tables: dict[str, Any], name: str) -> list[tuple[Path, dict[str, Any]]]:
    value = tables.get(name)
    if isinstance(value, dict):
        return [((name,), value)]
    return [
        ((name, i), item) for i, item in enumerate(value if isinstance(value, list) else []) if isinstance(item, dict)
    ]


def _not_yet(source: Source, path: Path) -> ConfigError:
    value: Any = source.tables
    for key in path:
        value = value[key]
    if path[-1] == "command":
        value = "{port}"
    shown = f'"{value}" is ' if isinstance(value, str) else ""
    return source.error(path, f"{shown}not in this version of perfgate")
