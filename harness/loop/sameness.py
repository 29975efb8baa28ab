"""Whether base and head of a benchmark give the same output: one execution a side that is not measured."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import msgspec

from gate.adapters.values import OutputError
from gate.config.benchmark_checks import OUTPUT as NAMED
from gate.config.types import Benchmark
from gate.model import SIDES, Failure, Side
from gate.model.visible import visible
from harness.instruments.protocol import OUTPUT, Unusable, regular
from harness.loop.execution import Attempt, Executions
from harness.loop.steps import ExecutionStep

_SHOWN = 200
"""Bytes of a line that are shown."""
_BEFORE = 40
"""Of those, the bytes before the difference in a longer line."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of a comparison: its benchmark, its step, and what puts its tree where it runs and tells where."""

    benchmark: Benchmark
    step: ExecutionStep
    stand: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class _Kept:
    attempt: Attempt
    path: Path
    digest: str


def output_failure(
    executions: Executions, sides: Mapping[Side, Compared], begin: Callable[[ExecutionStep], None]
) -> Failure | None:
    """Execute a benchmark once a side, at one seed, and compare what `same_output` names; None: it is the same.

    begin: called with the step of each side before it is executed.

    Raises:
        BudgetEndedError: the budget has ended.
        OSError: perfgate's own files cannot be written.
    """
    first = sides["base"].step
    kept: dict[Side, _Kept] = {}
    for side in SIDES:
        one = sides[side]
        begin(one.step)
        # what the seed moves must not differ
        step = replace(one.step, seed=first.seed, padding=first.padding)
        found = _kept(executions, replace(one, step=step), executions.conditions.scratch / f"same-output-{side}")
        if isinstance(found, Failure):
            return found
        kept[side] = found
    if kept["base"].digest == kept["head"].digest:
        return None
    where = _place(sides["base"].benchmark)
    number, base, head = _first_difference(kept["base"].path, kept["head"].path)
    why = Unusable(f"line {number} of {where}", f"base: {base}\nhead: {head}")
    return msgspec.structs.replace(_failure(executions, kept["head"].attempt, why), side=None)


def _place(benchmark: Benchmark) -> str:
    return "standard output" if benchmark.same_output is True else str(benchmark.same_output)


def _failure(executions: Executions, attempt: Attempt, why: Unusable) -> Failure:
    failure = executions.failure(attempt, why, None)
    return msgspec.structs.replace(failure, kind="output", execution=None, hint=None)


def _kept(executions: Executions, one: Compared, place: Path) -> _Kept | Failure:
    """Execute one side; place: where what it printed, or wrote to {output}, stays until the other side has run."""
    same, directory = one.benchmark.same_output, one.stand()
    printed = place.with_suffix(".stdout")
    file = {True: printed, NAMED: place}.get(same, directory / str(same))
    for old in (place, printed):
        old.unlink(missing_ok=True)
    before = _state(file)
    attempt = executions.unmeasured(one.benchmark, one.step, directory, printed)
    if isinstance(attempt, Failure):
        return attempt
    if same == NAMED and _state(attempt.context.scratch / OUTPUT) is not None:
        (attempt.context.scratch / OUTPUT).rename(place)
    try:
        # what the checkout has, or a build left, is nobody's output
        digest = _digest(file, one.benchmark.max_output.value) if _state(file) != before else None
    except OutputError as error:
        return _failure(executions, attempt, Unusable(str(error), ""))
    if digest is None:
        return _failure(executions, attempt, Unusable(f"{same} was not written", ""))
    if file not in (place, printed):
        # the other side's tree will stand where this one does
        file = Path(shutil.copyfile(file, place))
    return _Kept(attempt, file, digest)


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _digest(file: Path, limit: float) -> str | None:
    """Hash a file; None when there is none.

    Raises:
        OutputError: it is a link, no regular file, or longer than the limit in bytes.
    """
    opened = regular(file, limit)
    if opened is None:
        return None
    with opened as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _first_difference(base: Path, head: Path) -> tuple[int, str, str]:
    """Return the number of the first line that differs, and the line of each side, short and visible."""
    with base.open("rb") as of_base, head.open("rb") as of_head:
        for number, (one, other) in enumerate(zip_longest(of_base, of_head), 1):
            if one != other:
                pairs = enumerate(zip(one or b"", other or b"", strict=False))
                at = next((i for i, (a, b) in pairs if a != b), min(len(one or b""), len(other or b"")))
                # where one side alone ends the line, that is the difference
                ended = (one or b"\n").endswith(b"\n") and (other or b"\n").endswith(b"\n")
                return number, _shown(one, at, ended=ended), _shown(other, at, ended=ended)
    return 0, "", ""


def _shown(line: bytes | None, at: int, *, ended: bool) -> str:
    """Write a line around the byte from which it differs."""
    if line is None:
        return "(no such line)"
    text = line.removesuffix(b"\n") if ended else line
    start = max(0, at - _BEFORE) if len(text) > _SHOWN else 0
    piece = visible(text[start : start + _SHOWN].decode("utf-8", "backslashreplace"))
    return f"{'…' if start else ''}{piece}{'…' if len(text) > start + _SHOWN else ''}" or "(empty)"
