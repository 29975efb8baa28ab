"""Whether base and head of a benchmark give the same output: what one execution a side printed, or wrote."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Kept:
    """What one side gave: a file that stays until the other side has been executed, and its hash."""

    path: Path
    digest: str


class Output:
    """The output of one side that is to be compared: looked at before its execution, and kept after it.

    benchmark: whose `same_output` says which. directory: where it runs. place: where perfgate keeps it, and no command
    writes. printed: a file for standard output, which the command may open again.
    """

    def __init__(self, benchmark: Benchmark, directory: Path, place: Path, printed: Path) -> None:
        self._benchmark = benchmark
        self._place = place
        same = benchmark.same_output
        self.printed = printed if same is True else None
        """The file that takes standard output; None: nobody wants it."""
        self._directory = directory
        for old in (place, printed):
            old.unlink(missing_ok=True)
        self._before = None if same == NAMED else _state(self.printed or directory / str(same))

    def keep(self, scratch: Path) -> Kept | Unusable:
        """Keep what the execution gave, or say why there is nothing; scratch: its directory."""
        same = self._benchmark.same_output
        inside = scratch if same == NAMED else self._directory
        file = self.printed or inside / (OUTPUT if same == NAMED else str(same))
        # what the checkout has, or a build left, is nobody's output
        changed = _state(file) != self._before
        try:
            digest = self._copied(file, None if self.printed else inside) if changed else None
        except OutputError as error:
            return Unusable(str(error), "")
        return Unusable(f"{same} was not written", "") if digest is None else Kept(self._place, digest)

    def _copied(self, file: Path, inside: Path | None) -> str | None:
        """Copy and hash a file, since the other side's tree will stand where this one does; None when there is none.

        inside: the directory that it must be in; None: any.

        Raises:
            OutputError: it is a link, no regular file, elsewhere, or longer than max_output.
        """
        # a directory on the way may be a link to what the command itself cannot read
        opened = regular(file, self._benchmark.max_output.value, inside)
        if opened is None:
            return None
        digest = hashlib.sha256()
        with opened as content, self._place.open("wb") as kept:
            while chunk := content.read(_CHUNK):
                digest.update(chunk)
                kept.write(chunk)
        return digest.hexdigest()


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
