"""Whether base and head of a benchmark give the same output: what one execution a side printed, or wrote."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from gate.adapters.values import OutputError
from gate.config.benchmark_checks import OUTPUT as NAMED
from gate.config.types import Benchmark
from gate.model.visible import visible
from harness.instruments.protocol import OUTPUT, Unusable, regular

_SHOWN = 200
"""Bytes of a line that are shown."""
_BEFORE = 40
"""Of those, the bytes before the difference in a longer line."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What one side gave: a file that stays until the other side has been executed, and its hash."""

    path: Path
    digest: str


class Output:
    """The output of one side that is to be compared: looked at before its execution, and kept after it.

    benchmark: whose `same_output` says which. directory: where it runs. place: where perfgate may keep it.
    """

    def __init__(self, benchmark: Benchmark, directory: Path, place: Path) -> None:
        self._benchmark = benchmark
        self._place = place
        same = benchmark.same_output
        self.printed = place.with_suffix(".stdout") if same is True else None
        """The file that takes standard output; None: nobody wants it."""
        self._file = self.printed or (place if same == NAMED else directory / str(same))
        for old in (place, place.with_suffix(".stdout")):
            old.unlink(missing_ok=True)
        self._before = _state(self._file)

    def keep(self, scratch: Path) -> Kept | Unusable:
        """Keep what the execution gave, or say why there is nothing; scratch: its directory."""
        same = self._benchmark.same_output
        if same == NAMED and _state(scratch / OUTPUT) is not None:
            (scratch / OUTPUT).rename(self._place)
        try:
            # what the checkout has, or a build left, is nobody's output
            changed = _state(self._file) != self._before
            digest = _digest(self._file, self._benchmark.max_output.value) if changed else None
        except OutputError as error:
            return Unusable(str(error), "")
        if digest is None:
            return Unusable(f"{same} was not written", "")
        if self._file not in (self._place, self.printed):
            # the other side's tree will stand where this one does
            return Kept(Path(shutil.copyfile(self._file, self._place)), digest)
        return Kept(self._file, digest)


def difference(benchmark: Benchmark, base: Kept, head: Kept) -> Unusable | None:
    """Say where the outputs of both sides differ; None: they do not."""
    if base.digest == head.digest:
        return None
    where = "standard output" if benchmark.same_output is True else str(benchmark.same_output)
    number, of_base, of_head = _first_difference(base.path, head.path)
    return Unusable(f"line {number} of {where}", f"base: {of_base}\nhead: {of_head}")


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
