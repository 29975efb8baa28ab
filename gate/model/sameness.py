"""What was found by looking at what a benchmark reads: proofs that it is the same on both sides, and doubts."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gate.model.names import Side
from gate.writing.units import format_duration

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

MOST_NAMED = 20
"""Of the paths that differ, in a proof; the number of all stands beside them."""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Why a benchmark cannot differ: what differs between the sides, and that none of it was read."""

    differ: list[str] = []
    """Paths of the commits that differ between both trees, at most 20 of them."""
    differ_count: Count = 0
    """How many paths differ."""
    made_count: Count = 0
    """How many of them no commit holds: what was built, and .git."""
    read_count: Count = 0
    """How many paths the benchmark read, listed or executed."""
    hash: dict[Side, str] = {}
    """Of each side's tree: "sha256:..."."""


UnprovedKind = Literal[
    "off",
    "same-commit",
    "no-tracer",
    "not-at-one-path",
    "duet",
    "failed",
    "too-long",
    "changed",
    "listed",
    "outside-changed",
    "connection",
    "command",
    "environment",
    "service",
    "instrument",
    "side-name-read",
    "no-trace",
]


class Unproved(msgspec.Struct, frozen=True, kw_only=True):
    """Why a benchmark was measured: the first reason found why it may differ."""

    kind: UnprovedKind
    """off: gate.sameness; same-commit: an A/A run; no-tracer: this host has none; not-at-one-path: the trees of both
    sides do not stand at one path; duet: nor did they where an older perfgate ran both sides at once;
    failed: its traced execution failed; too-long: that did not end within `seconds`;
    changed: it reads `path`, which differs; listed: it lists the directory `path`, whose names differ; outside-changed:
    it reads `path` outside both trees, which changed meanwhile; connection: it connects to `path`; command,
    environment, service, instrument: that differs between the sides; side-name-read: it reads `path`, which says which
    side it is; no-trace: the tracer could not follow it (`path` says where)."""
    path: str | None = None
    """The file, directory or address; None: none is to blame."""
    seconds: float | None = None
    """The limit of "too-long"; None: another kind."""

    def sentence(self) -> str:
        """Say why it may differ, without a full stop."""
        seconds = format_duration(self.seconds) if self.seconds is not None else "its share of the time"
        where = f" ({self.path})" if self.path else ""
        return _WHY[self.kind].format(path=self.path or "something", seconds=seconds, where=where)


_WHY: dict[UnprovedKind, str] = {
    "off": 'gate.sameness is "off"',
    "same-commit": "base and head are one commit",
    "no-tracer": "this host has no tracer that shows what it reads",
    "not-at-one-path": "base and head could not stand at one path",
    "duet": "base and head run at once, each at a path of its own",
    "failed": "it failed while its reads were traced",
    "too-long": "one traced start takes longer than {seconds}, its part of plan.budget",
    "changed": "{path}, which it opens or looks at, differs",
    "listed": "{path}, which it lists, holds other names",
    "outside-changed": "{path}, outside the checkout, changed while it was traced",
    "connection": "it connects to {path}",
    "command": "its command differs",
    "environment": "its environment differs",
    "service": "its service or load differs",
    "instrument": "how it is measured differs",
    "side-name-read": "{path}, which it reads, says which side it is",
    "no-trace": "not everything it reads could be traced{where}",
}
