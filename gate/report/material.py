"""What a page shows beside its report: the values behind it, the files they came from, what the next run should do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.model import Case, Execution


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of measurements as it lies on disk: its name, without a directory, and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What is at hand beside a report; each part may be empty.

    cases: with the values of both sides. attachments: the files they were read from. advice: the plan advised for the
    next run, a sentence each. executions: all that gave values, also of benchmarks without a finding. options: of the
    command line by which the measurements were decided, beside their names.
    """

    cases: Sequence[Case] = ()
    attachments: Sequence[Attachment] = ()
    advice: Sequence[str] = ()
    executions: Sequence[Execution] = ()
    options: Sequence[str] = ()
