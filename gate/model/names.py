"""The words that have a fixed set of values, and the error that a user can fix."""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

from gate.codes import Exit
from gate.writing.units import SUCCESS as SUCCESS

Side = Literal["base", "head"]
Better = Literal["lower", "higher"]
Level = Literal["iteration", "execution", "build", "session"]
FailureKind = Literal[
    "setup", "build", "execution", "tree", "output", "outside", "unproved", "missing", "repeated", "lock"
]  # fmt: skip
IntervalKind = Literal["bounded", "complement", "half-line", "line", "withheld"]
Top = Literal["build", "round"]
"""The level above starts: builds, or of two given programs rounds."""
Layouts = Literal["common", "independent"]
Verdict = Literal["regression", "inconclusive", "accepted", "improvement", "no-sign", "unchanged", "identical"]
"""Of a finding, those that matter first."""
ReportVerdict = Literal["pass", "regression", "inconclusive", "error"]


SIDES: tuple[Side, Side] = ("base", "head")
UNBUILT: tuple[FailureKind, ...] = ("setup", "build")
"""What failed where a side has nothing to execute: what comes before its first build, or a build."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
LEVELS: tuple[Level, Level, Level, Level] = ("iteration", "execution", "build", "session")
SCHEMA = 1
"""Version of measurements.jsonl."""
REPORT_SCHEMA = 2
"""Version of report.json."""
FEWEST_FOR_STEADY = 10
"""Fewer values of an execution cannot show a steady state (harness.instruments.steady)."""
COUNTS = ("", "B")
"""Base units of counts and sizes, which need no clock."""
AGGREGATE = "aggregate"
"""The method of a ratio of two aggregates, which has no interval."""
ACTIVE = "active"
"""The metric of a command that is its wall time without what it waited for a processor."""
SIZE: Literal["size"] = "size"
BUILD_TIME: Literal["build-time"] = "build-time"
OF_BUILDS = (SIZE, BUILD_TIME)
"""The metrics of builds, not of starts: the bytes of an artifact, and the seconds of a build that compiles."""
ONE_TASK = 0.95
"""Of its processor time a command's first task has so much, or several tasks do its work (docs/method.md, active)."""


class UserError(Exception):
    """What the user can fix, in one line: what is wrong, where, and what to do."""

    exit_code: ClassVar[Exit] = Exit.USAGE
    """What a command ends with."""

    def __init__(self, why: str, *, option: str | None = None) -> None:
        """Keep why; option: of the command line with whose value it begins, such as "base"."""
        super().__init__(f"--{option} {why}" if option else why)
        self.why, self.option = why, option

    @property
    def errors(self) -> tuple[UserError, ...]:
        """What is wrong, one line each."""
        return (self,)


HISTORY_REF = "refs/perfgate/history"
"""The git ref in which `perfgate history` keeps a record of each commit, unless another is named."""
