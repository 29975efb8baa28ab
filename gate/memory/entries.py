"""The entries of the history: sessions, and the variances of findings in each."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.model import Remembered, UserError
from gate.model.case import OfCase


class HistoryError(UserError):
    """A history that cannot be used, in one line: which file, why, what to do."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """How a benchmark is measured: what must be the same for its variance to be the same. Commands as a shell's."""

    command: str
    instrument: str
    warmup: int | str
    build: str | None
    """The [build] command: what the build level holds depends on it."""
    conditions: str | None = None
    """What else the values depend on, where it is not as by default: perturbations, service, load, processors."""


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that one step of a finding's benchmark takes; None: not known."""

    build: float | None
    """Of one side, but for its first build where there were later ones."""
    start: float | None
    """Of an execution, without its iterations."""
    iteration: float | None
    """Of one measured iteration."""
    warmup: float | None
    """Of all the iterations that are dropped."""
    execution: float | None = None
    """Of a whole execution; of a suite's line its share."""
    values: int | None = None
    """The measured iterations of each execution, where all had as many as the plan said; None: it may not heed it."""
    other: float | None = None
    """perfgate's own work, for each execution; of a suite's line its share."""
    setup: float | None = None
    """Of one side, once."""
    first: float | None = None
    """The first build of one side, with the check of its links."""
    probe: float | None = None
    """Of this benchmark, once: the probe, the first start on base, and looking for what builds leave outside."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One job that measured: a calibration, or a check of the default branch whose base counts."""

    id: str
    created: str
    """ISO 8601 in UTC."""
    kind: Literal["calibration", "check"]
    project: str
    """Which one, since two projects may call a benchmark the same."""
    host: dict[str, Any]
    """The facts of the machine, with its fingerprint."""
    commit: str | None

    @property
    def fingerprint(self) -> str:
        """What machines of one make share."""
        return str(self.host.get("fingerprint", ""))


class Learned(OfCase, frozen=True, kw_only=True):
    """What a session shows about one finding."""

    setup: Setup
    remembered: Remembered
    costs: Costs


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of the history, and the session it is of."""

    session: Session
    learned: Learned
