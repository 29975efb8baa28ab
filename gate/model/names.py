"""The words that have a fixed set of values, and the error that a user can mend."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Side = Literal["base", "head"]
Better = Literal["lower", "higher"]
Level = Literal["iteration", "execution", "build", "session"]
FailureKind = Literal["build", "execution", "missing"]
IntervalKind = Literal["bounded", "complement", "half-line", "line", "withheld"]
Verdict = Literal["regression", "improvement", "unchanged", "inconclusive", "accepted"]
ReportVerdict = Literal["pass", "regression", "inconclusive", "error"]

Index = Annotated[int, msgspec.Meta(ge=0)]

SIDES: tuple[Side, Side] = ("base", "head")
LEVELS: tuple[Level, Level, Level, Level] = ("iteration", "execution", "build", "session")
SCHEMA = 1
"""Version of measurements.jsonl."""
REPORT_SCHEMA = 2
"""Version of report.json."""
FEWEST_FOR_STEADY = 10
"""Fewer values of an execution cannot show a steady state (harness.loop.steady)."""


class UserError(Exception):
    """Something the user can mend, in one line: what, where, what to do; a command ends with exit code 2."""
