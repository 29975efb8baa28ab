"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "bad", "unknown"]
"""bad: values measured now would mislead; warn: they are noisier than they need be; unknown: it cannot be read."""


@dataclass(frozen=True, slots=True)
class Check:
    """One fact about the machine.

    value: what was found. why: one sentence, why it matters to a measurement. command: what changes it, for a shell;
    None where no command does, or nothing needs changing.
    """

    name: str
    state: State
    value: str
    why: str
    command: str | None = None


def unreadable(name: str, why: str, value: str = "this system does not tell") -> Check:
    """Say that something cannot be known here, which is never ok."""
    return Check(name, "unknown", value, why)
