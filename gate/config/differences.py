"""What differs between two configs, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.config.source import Path

_FOLLOWS: dict[Path, tuple[str, ...]] = {("plan", "starts"): ("executions", "iterations")}
"""Keys whose default follows from others of their table, which say it already where they differ."""


def differences(past: Any, now: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Give each key that differs, with both values; None: a side does not have it.

    past, now: as to_tables writes them; tables in a list are known by their name where they have one.
    """
    before, after = _keyed(past), _keyed(now)
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if any(before.get(other) != after.get(other) for other in _FOLLOWS.get((*path, key), ())):
                continue
            yield from differences(before.get(key), after.get(key), (*path, key))
    elif past != now:
        yield path, past, now


def _keyed(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return {item.get("name", number): item for number, item in enumerate(value)}
    return value
