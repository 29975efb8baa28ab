"""Records of the history as tests make them, and writers at one time."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from gate.model.history import Change, HistoryRecord, Machine, PastSide, Spread


def sha(text: object) -> str:
    return hashlib.sha1(str(text).encode()).hexdigest()  # noqa: S324  # as git's


def measured(value: float) -> PastSide:
    spread = [Spread(level="execution", relative=2.5e-4, df=12), Spread(level="build", relative=1e-5, df=3)]
    return PastSide(value=value, builds=4, executions=16, iterations=160, spread=spread)


def change(number: int, log_ratio: float = 0.01) -> Change:
    return Change(
        benchmark=f"suite/case-{number:02}", metric="time", unit="s", better="lower", statistic="mean", factors={},
        log_ratio=log_ratio, variance=1.25e-5, df=3, method="paired", base=measured(0.1), head=measured(0.101),
        verdict="no-sign", accepted=None,
    )  # fmt: skip


def record(number: int, *, cases: int = 1, raw: str | None = None, control: bool = False) -> HistoryRecord:
    """The record of commit `number`, a minute after the one before."""
    day, minute = divmod(number, 24 * 60)
    committed = f"2026-{1 + day // 28:02}-{1 + day % 28:02}T{minute // 60:02}:{minute % 60:02}:00Z"
    return HistoryRecord(
        commit=sha(number), parent=sha(number if control else number - 1), subject=f"Change {number}",
        committed=committed, measured=committed, run=f"run-{number}", perfgate="0.1.0",
        machine=Machine(id="a1", facts={"cpu": "Example CPU", "cores": 2}),
        raw=[f"sha256:{raw or sha(f'raw {number}')}"], changes=[change(each) for each in range(cases)],
    )  # fmt: skip


def race(adders: Sequence[Callable[[HistoryRecord], object]], numbers: Sequence[Sequence[int]]) -> None:
    """Let writers add records at one time, each its own."""
    begin = threading.Barrier(len(adders))

    def write(add: Callable[[HistoryRecord], object], own: Sequence[int]) -> None:
        begin.wait()
        for number in own:
            add(record(number))

    with ThreadPoolExecutor(len(adders)) as pool:
        list(pool.map(write, adders, numbers))
