"""RUN arguments -> records: folders, measurement files, standard input."""

from __future__ import annotations

import contextlib
import gzip
import re
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gate.evidence.records import Inputs, Located, read
from gate.model import UserError
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import torn_line
from gate.writing.phrases import unread

if TYPE_CHECKING:
    from gate.evidence.foreign import Named

MEASUREMENTS = "measurements.jsonl"
REPORT = "report.json"
DEFAULT_FOLDER = ".perfgate"
_GZIP = b"\x1f\x8b"
_BEGINS = re.compile(rb'\{"type": ?"(?:run|build|execution|failure|look|host|same|profile|unprofiled|summary)"')


def read_inputs(paths: Sequence[str]) -> Inputs:
    """Read measurement files; a folder stands for the measurements.jsonl in it, "-" for standard input.

    A folder of what actions/download-artifact left stands for all parts in it. What is compressed by gzip is unpacked.
    Result files of other tools are read as builds, "base=FILE" and "head=FILE" saying of which side. "git:REF:PATH" is
    what a commit has there.

    Raises:
        UserError: a file that cannot be read, or that is a report rather than measurements.
        RecordError: a bad line.
    """
    records: list[Located] = []
    warnings: list[AnyWarning] = []
    files: list[Path] = []
    results: list[Named] = []
    for path in (part for given in paths for part in parts(given)):
        if path != "-" and (found := _results(path)):
            results += found
            continue
        name, data = file_bytes(path)
        if path == "-" and not is_ours(data):
            from gate.evidence.foreign import first_unknown, standard_input

            if first_unknown([own := standard_input(data)]) is None:
                results.append(own)
                continue
        _refuse_results(name, data)
        reading = read(name, data)
        if reading.torn:
            warnings.append(torn_line(name))
        records += reading.records
        if path != "-" and not _is_kept(path):
            files.append(Path(name))
    if results:
        from gate.evidence.foreign import imported

        read_too = imported(results)
        records += read_too.records
        warnings += read_too.warnings
    return Inputs(records, warnings, files)


def _results(path: str) -> list[Named]:
    """Return the result files of other tools that an argument names; [] where it names measurements.

    Raises:
        UserError: a file that is neither.
    """
    file = Path(path)
    if file.is_dir():
        if _holds(file):
            return []
    else:
        with contextlib.suppress(OSError), file.open("rb") as opened:
            # of a pipe these bytes would be lost: the reader of results refuses it
            if opened.seekable() and is_ours(opened.read(64)):
                return []
    if file.is_dir() and not any(file.glob("[!.]*")):
        _require_run(path)
    from gate.evidence.foreign import first_unknown, is_plain, named, unknown_error

    if not file.exists() and is_plain(path):
        return []
    found = named([path])
    unknown = first_unknown(found)
    if unknown is None:
        return found
    if _is_kept(path) and is_ours(unknown.head.data):
        return []
    first, newline, _ = unknown.head.text.lstrip().partition("\n")
    begins = first.startswith("{") and ('"type"' in first or not (newline or first.endswith("}")))
    if file.exists() and (not first or begins):
        # it is empty, or begins with a line of measurements, however damaged
        return []
    _refuse_results(unknown.name, unknown.head.data)
    raise unknown_error(unknown)


def is_ours(data: bytes) -> bool:
    """Return whether a file begins as measurements do; k6 writes lines with types of its own."""
    return _BEGINS.match(data.lstrip(b"\xef\xbb\xbf \t\r\n")) is not None


def _refuse_results(name: str, data: bytes) -> None:
    """Refuse what perfgate itself wrote about measurements."""
    if name.endswith(".json") and data.lstrip()[:1] == b"{" and b'"findings"' in data:
        raise UserError(f"{name}: is a report without its {MEASUREMENTS} beside it; `perfgate report {name}` shows it")
    if name.endswith(("study.json", ".html")):
        raise UserError(f"{name}: is a result, not measurements: give its folder, or the {MEASUREMENTS} in it")


def parts(path: str) -> list[str]:
    """Find the parts of a gate in a folder without measurements of its own, by the names of artifacts; else itself.

    A report stands for the run that it lies beside.
    """
    folder = Path(path)
    if folder.name == REPORT and folder.is_file() and _holds(folder.parent):
        return [str(folder.parent)]
    if path == "-" or not folder.is_dir() or _holds(folder):
        return [path]
    return sorted(str(part) for part in folder.glob("perfgate-*-data*/") if _holds(part)) or [path]


def _holds(folder: Path) -> bool:
    return any((folder / name).exists() for name in (MEASUREMENTS, f"{MEASUREMENTS}.gz"))


def _is_kept(path: str) -> bool:
    """Return whether an argument names what a commit has."""
    return path.startswith("git:") and not Path(path).exists()


def file_bytes(path: str) -> tuple[str, bytes]:
    """Return the name and the bytes, unpacked, of one of the paths that read_inputs takes; raises what that does."""
    if path == "-":
        return "standard input", _unpacked("standard input", sys.stdin.buffer.read())
    if _is_kept(path):
        from gate.evidence.foreign import named

        (kept,) = named([path])
        return kept.source.name, kept.source.whole()
    file = Path(path)
    if file.is_dir():
        if not _holds(file):
            _require_run(path)
            raise UserError(f"{path}: has no {MEASUREMENTS}: it is not the folder of a run")
        packed = file / f"{MEASUREMENTS}.gz"
        file = packed if packed.exists() and not (file / MEASUREMENTS).exists() else file / MEASUREMENTS
    try:
        return str(file), _unpacked(str(file), file.read_bytes())
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            _require_run(path)
        raise UserError(f"{file}: {unread(error)}") from None


def _require_run(path: str) -> None:
    """Refuse the folder that is read where none is named, when nothing has been measured yet."""
    if path == DEFAULT_FOLDER:
        raise UserError(
            f"no run in {DEFAULT_FOLDER}: make one with `perfgate check` in the project, which measures for at most "
            "plan.budget (15 min by default), or name the folder of a run"
        )


def _unpacked(name: str, data: bytes) -> bytes:
    # as a report carries them
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise UserError(f"{name}: looks like a gzip file but cannot be unpacked: copy it again") from None
