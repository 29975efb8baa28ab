"""Outputs that would replace what they are made from: refused before anything is written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gate.commands.inputs import MEASUREMENTS, parts
from gate.model import UserError


def refuse_inputs(inputs: Sequence[Path], targets: Sequence[Path]) -> None:
    """Refuse a target that is one of the inputs, also by another name: a link, or the file on standard input.

    inputs: as the command line names them: files, folders, which stand for the measurements in them, "-" for standard
    input. targets: files that will be written, "-" for standard output.

    Raises:
        UserError: naming the target.
    """
    read = [found for path in inputs for found in _read(str(path))]
    for target in targets:
        if str(target) == "-":
            continue
        found = _of(target)
        if found is not None and any(os.path.samestat(found, each) for each in read):
            raise UserError(f"{target}: is read as an input, and would be replaced by the output: name another file")


def _read(path: str) -> Iterator[os.stat_result]:
    """Yield what an input is read from, as far as it is there; the others are for who reads them to refuse."""
    if path == "-":
        try:
            yield os.fstat(sys.stdin.fileno())
        except (AttributeError, OSError, ValueError):
            return
    for part in map(Path, parts(path) if path != "-" else ()):
        files = [part / MEASUREMENTS, part / f"{MEASUREMENTS}.gz"] if part.is_dir() else [part]
        yield from (found for file in files if (found := _of(file)) is not None)


def _of(file: Path) -> os.stat_result | None:
    """Return what tells a file from others; None: there is none, or a pipe or device, which nothing replaces."""
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found if file.is_file() else None
