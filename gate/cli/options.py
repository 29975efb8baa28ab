"""What the command line says, typed; cli.py fills these in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.config.shards import Shard


@dataclass(frozen=True, slots=True)
class RulesOptions:
    """Whose rules decide, and over which benchmarks."""

    config: Path | None
    rules: str | None
    sets: tuple[str, ...]
    benchmarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where the report goes beside standard output; "-" is standard output itself."""

    json: str | None
    html: str | None
    markdown: str | None
    junit: str | None
    quiet: bool


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """What is measured and how."""

    base: str | None
    head: str | None
    out: Path | None
    """None: .perfgate in the project's directory."""
    seed: int | None
    dry_run: bool
    keep: bool
    resume: bool
    history: Path | None
    """None: as configured."""
    strict: bool
    """An unfit host is refused, with exit code 5."""
    shard: Shard | None = None
    """None: every benchmark."""
    session: int | None = None
    sessions: int | None = None
    """None: as configured, where a shard or a session is named; else one."""
