"""Whether base and head of a benchmark give the same output: what one execution a side printed, or wrote."""

from __future__ import annotations

import hashlib
import os
from itertools import zip_longest
from pathlib import Path

from gate.config.benchmark_checks import OUTPUT as NAMED
from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError
from gate.writing.plain import visible
from harness.instruments.protocol import OUTPUT, Unusable, regular

_CHUNK = 1 << 20
_SHOWN = 200
"""Bytes of a line that are shown."""
_BEFORE = 40
"""Of those, the bytes before the difference in a longer line."""


class Output:
    """The output of one side that is to be compared: looked at before its execution, and kept after it.

    benchmark: whose `same_output` says which. directory: where it runs. place: where perfgate keeps it, and no command
    writes, until the other side has been executed. printed: a file for standard output, which the command may open
    again.
    """

    def __init__(self, benchmark: Benchmark, directory: Path, place: Path, printed: Path) -> None:
        self._benchmark = benchmark
        self.place = place
        same = benchmark.same_output
        self.printed = printed if same is True else None
        """The file that takes standard output; None: nobody wants it."""
        self.digest = ""
        """The hash of what was kept."""
        self._directory = directory
        for old in (place, printed):
            old.unlink(missing_ok=True)
        self._before = None if same == NAMED else _state(self.printed or directory / str(same))

    def keep(self, scratch: Path) -> Unusable | None:
        """Copy and hash what the execution gave, since the other side's tree will stand where this one does.

        Says why there is nothing: it is a link, no regular file, elsewhere, or longer than max_output. scratch: the
        directory of the execution.
        """
        same = self._benchmark.same_output
        inside = scratch if same == NAMED else self._directory
        file = self.printed or inside / (OUTPUT if same == NAMED else str(same))
        try:
            # what the checkout has, or a build left, is nobody's output
            changed = _state(file) != self._before
            # a directory on the way may be a link to what the command itself cannot read
            limit, root = self._benchmark.max_output.value, None if self.printed else inside
            opened = regular(file, limit, root) if changed else None
        except OutputError as error:
            return Unusable(str(error), "")
        if opened is None:
            return Unusable(f"{same} was not written", "")
        digest = hashlib.sha256()
        with opened as content, self.place.open("wb") as kept:
            while chunk := content.read(_CHUNK):
                digest.update(chunk)
                kept.write(chunk)
        self.digest = digest.hexdigest()
        return None


def difference(benchmark: Benchmark, base: Output, head: Output) -> Unusable | None:
    """Say where the outputs that both sides kept differ; None: they do not."""
    if base.digest == head.digest:
        return None
    where = "standard output" if benchmark.same_output is True else str(benchmark.same_output)
    with base.place.open("rb") as of_base, head.place.open("rb") as of_head:
        lines = enumerate(zip_longest(of_base, of_head), 1)
        number, one, other = next((number, one, other) for number, (one, other) in lines if one != other)
    pairs = enumerate(zip(one or b"", other or b"", strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(one or b""), len(other or b"")))
    # where one side alone ends the line, that is the difference
    ended = (one or b"\n").endswith(b"\n") and (other or b"\n").endswith(b"\n")
    shown = f"base: {_shown(one, at, ended=ended)}\nhead: {_shown(other, at, ended=ended)}"
    return Unusable(f"line {number} of {where}", shown)


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _shown(line: bytes | None, at: int, *, ended: bool) -> str:
    """Write a line around the byte from which it differs."""
    if line is None:
        return "(no such line)"
    text = line.removesuffix(b"\n") if ended else line
    start = max(0, at - _BEFORE) if len(text) > _SHOWN else 0
    piece = visible(text[start : start + _SHOWN].decode("utf-8", "backslashreplace"))
    return f"{'…' if start else ''}{piece}{'…' if len(text) > start + _SHOWN else ''}" or "(empty)"
