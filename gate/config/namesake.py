"""Another tool named perfgate (EffortlessMetrics/perfgate, in Rust), whose configuration is in perfgate.toml too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gate.config.types import Config

_ITS_OWN = (
    "defaults", "bench", "baseline_server", "decision_policy", "ratchet", "scenario", "tradeoff",
)  # fmt: skip
"""Its tables, as of its version 0.18 (`ConfigFile` in crates/perfgate-types)."""


def tables_of_namesake(tables: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the tables that show that a file is the other tool's; empty if a single key is one of ours.

    A file of ours with a wrong table has its own message, with the place of the key.
    """
    ours = {field.encode_name for field in msgspec.structs.fields(Config)}
    if any(key in ours for key in tables):
        return ()
    return tuple(key for key in _ITS_OWN if key in tables)


def why_namesake(tables: Mapping[str, Any]) -> str:
    """Say that a file is the other tool's, and where ours can stand beside it."""
    named = ", ".join(
        f"[[{key}]]" if isinstance(tables[key], list) else f"[{key}]" for key in tables_of_namesake(tables)
    )
    return (
        f"belongs to another tool named perfgate (it has {named}) and stays as it is: keep the configuration of this "
        "one under [tool.perfgate] in pyproject.toml, or in a file of another name (`perfgate init --file gate.toml`) "
        "that you give as `--config gate.toml`"
    )
