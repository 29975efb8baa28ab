"""Studies on all cores; the counts depend on the seed alone, never on how many processes there are."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TextIO, TypeVar, cast

import numpy as np

from gate.commands.simulate.studies import Counts, Study
from gate.run.live_lines import Live, bar_line
from gate.stats.bootstrap import usable_cores
from gate.units import format_duration

AnyStudy = Study[Counts]
_Chunk = tuple[AnyStudy, int, int]
"""Part of a study: its number, and of how many draws."""
C = TypeVar("C", bound=Counts)


@dataclass(frozen=True, slots=True)
class Results:
    """The counts of the studies that were run."""

    counts: Mapping[AnyStudy, Counts]

    def of(self, study: Study[C]) -> C:
        """Return the counts of one study."""
        return cast("C", self.counts[study])


def run_all(studies: Iterable[AnyStudy], reports: int, *, seed: int, cores: int | None, progress: TextIO) -> Results:
    """Run every study once, however often it is asked for, with so many reports each.

    Args:
        cores: at most so many; None for all that this process may use.
        progress: where a line says how far it is.
    """
    unique = list(dict.fromkeys(studies))
    chunks: list[_Chunk] = []
    for study in unique:
        total = max(1, math.ceil(reports * study.effort))
        size = min(study.chunk, total)
        chunks += [(study, k, min(size, total - start)) for k, start in enumerate(range(0, total, size))]
    live, begin = Live(progress), time.monotonic()
    found: dict[AnyStudy, Counts] = {}
    # more processes than cores make nothing faster
    workers = min(cores or usable_cores(), usable_cores(), len(chunks))
    for done, ((study, *_), counts) in enumerate(zip(chunks, _run(chunks, seed, workers), strict=True), 1):
        # in the order of the chunks, so that sums of floats do not depend on who was first
        found[study] = found[study] + counts if study in found else counts
        if done < len(chunks):
            left, share = (time.monotonic() - begin) / done * (len(chunks) - done), done / len(chunks)
            tail = f"about {format_duration(left)} left"
            live.show(bar_line("simulating", share, tail, live.width))
            live.now(f"simulating: {share:.0%}, {tail}")
    live.close()
    return Results(found)


def _run(chunks: Sequence[_Chunk], seed: int, workers: int) -> Iterable[Counts]:
    if workers <= 1:
        yield from map(partial(_one, seed), chunks)
        return
    # spawned, not forked: the same on every platform, and no thread of numpy is cut in two
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_become_worker)
    try:
        yield from pool.map(partial(_one, seed), chunks)
    finally:
        pool.shutdown(cancel_futures=True)


def _become_worker() -> None:
    # Ctrl-C reaches every process of the terminal; the first one ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        # a first process that is killed cannot end the others, and they would wait for work for ever
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _one(seed: int, chunk: _Chunk) -> Counts:
    study, index, n = chunk
    # named by what it is, so that another study more or less changes no other
    name = zlib.crc32(repr(study).encode())
    return study.run(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(name, index))), n)
