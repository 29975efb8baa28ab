"""Records of the history as tests make them, and writers in processes of their own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gate.model.history import Change, HistoryRecord, Machine, Measured, Spread

ROOT = Path(__file__).parents[3]


def sha(text: object) -> str:
    return hashlib.sha1(str(text).encode()).hexdigest()  # noqa: S324  # as git's


def measured(value: float) -> Measured:
    spread = [Spread(level="execution", relative=2.5e-4, df=12), Spread(level="build", relative=1e-5, df=3)]
    return Measured(value=value, builds=4, executions=16, iterations=160, spread=spread)


def change(number: int, log_ratio: float = 0.01) -> Change:
    return Change(
        benchmark=f"suite/case-{number:02}",
        metric="time",
        unit="s",
        better="lower",
        statistic="mean",
        factors={},
        log_ratio=log_ratio,
        variance=1.25e-5,
        df=3,
        method="paired",
        base=measured(0.1),
        head=measured(0.101),
        verdict="no-sign",
        accepted=None,
    )


def record(number: int, *, cases: int = 1, raw: str | None = None, control: bool = False) -> HistoryRecord:
    """The record of commit `number`, a minute after the one before."""
    day, minute = divmod(number, 24 * 60)
    committed = f"2026-{1 + day // 28:02}-{1 + day % 28:02}T{minute // 60:02}:{minute % 60:02}:00Z"
    return HistoryRecord(
        commit=sha(number),
        parent=sha(number if control else number - 1),
        subject=f"Change {number}",
        committed=committed,
        measured=committed,
        run=f"run-{number}",
        perfgate="0.1.0",
        machine=Machine(id="a1", facts={"cpu": "Example CPU", "cores": 2}),
        raw=[f"sha256:{raw or sha(f'raw {number}')}"],
        changes=[change(each) for each in range(cases)],
    )


_WRITER = """
import sys
from pathlib import Path
from gate.store.folder import FolderStore
from gate.store.ref import RefStore
from gate.store.history_records import ConflictError
from tests.gate.store.records import record
from tests.gate.store.test_ref import opened

kind, place, remote, numbers = sys.argv[1:5]
store = FolderStore(Path(place)) if kind == "folder" else RefStore(opened(Path(place)), "refs/perfgate/history", remote or None)
sys.stdin.readline()
for number in numbers.split(","):
    try:
        store.add(record(int(number)), 1000)
    except ConflictError:
        sys.exit(4)
"""


def race(kind: str, places: Sequence[Path], numbers: Sequence[Sequence[int]], remote: str = "") -> list[int]:
    """Let processes add records at one time, one process a place; return their exit codes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GIT_CONFIG_GLOBAL": os.devnull}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, kind, str(place), remote, ",".join(map(str, own))],
            stdin=subprocess.PIPE,
            env=environment,
        )
        for place, own in zip(places, numbers, strict=True)
    ]
    for writer in writers:
        # all of them are started before the first one goes
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.close()
    return [writer.wait() for writer in writers]
