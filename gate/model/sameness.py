"""What was found by looking at what a benchmark reads: proofs that it is the same on both sides, and doubts."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gate.model.names import Side

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
    sides do not stand at one path; duet: they do not, as both sides run at once;
    failed: its traced execution failed; too-long: that did not end within `seconds`;
    changed: it reads `path`, which differs; listed: it lists the directory `path`, whose names differ; outside-changed:
    it reads `path` outside both trees, which changed meanwhile; connection: it connects to `path`; command,
    environment, service, instrument: that differs between the sides; side-name-read: it reads `path`, which says which
    side it is; no-trace: the tracer could not follow it (`path` says where)."""
    path: str | None = None
    """The file, directory or address; None: none is to blame."""
    seconds: float | None = None
    """The limit of "too-long"; None: another kind."""
