"""The outcome of a gate, kept in a file between the deciding and the publishing step."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gate.codes import Exit
from gate.github.runner import put, read_regular
from gate.model import ReportVerdict, UserError
from gate.model.records import SideChoice
from gate.model.warnings import AnyWarning
from gate.publishing.notice import Notice
from gate.publishing.request import STATUS, folded

_LINES = 20
_WIDTH = 2000
LARGEST_STATUS = 1_000_000


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """The exit code of measuring, and the lines that say why; of a whole job with what the one that decides needs."""

    code: int
    lines: list[str]
    attempt: int = 0
    """Of its run; 0: not said."""
    how: SideChoice | None = None
    """Why it compared with this base."""
    warnings: list[AnyWarning | str] = []
    """For the reader of the report."""


def keep(file: Path, value: msgspec.Struct) -> None:
    """Write a value for a later step, over whatever measured code put there. Raises UserError: it cannot be written."""
    try:
        put(file, msgspec.json.encode(value) + b"\n")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None


def read_status(folder: Path) -> Status:
    """Read how measuring ended; where nothing or nonsense is written, it was killed, and that is an error."""
    killed = "the measuring step ended without an outcome: it was killed, or the runner ran out of memory"
    found = parse_left(read_regular(folder / STATUS, LARGEST_STATUS) or b"", killed)
    return Status(found.code, found.lines)


def parse_left(data: bytes | None, broken: str = f"{STATUS} of the measuring job cannot be read") -> Status:
    """Read what a job said of itself, which anybody may have written; without a word it ended well.

    broken: what is said where nonsense is written.
    """
    if data is None:
        return Status(0, [])
    try:
        found = msgspec.json.decode(data, type=Status)
    except (msgspec.MsgspecError, UnicodeError):
        return Status(Exit.ERROR, [broken])
    lines = [line[:_WIDTH] for line in found.lines[:_LINES]]
    return msgspec.structs.replace(found, lines=lines, warnings=[*folded(found.warnings)])


OUTCOME = "outcome.json"
BROKEN_OFF = "the deciding step ended without a verdict: see its log"
_LARGEST = 10_000_000


class Target(msgspec.Struct, frozen=True):
    """What the results are of: a pull request (None: none), its head commit, and the run that measured it."""

    pull: int | None
    sha: str
    run: int
    attempt: int
    fork: bool = False
    """Of another repository, whose own runs have a token that may write nothing."""


class GateEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a gate: its exit code, and the report or why there is none."""

    code: int
    verdict: ReportVerdict | None
    """Of the report, error where there should be one; None where nothing was to be decided."""
    notices: list[Notice]
    report: bool
    """Whether the run's folder holds one."""
    target: Target
    text: str | None = None
    """A file whose text is shown as it is."""
    of: str = ""
    """The command whose text it is."""
    note: str | None = None
    """Why there was nothing to do."""
    unverified: bool = False
    """A fork's machine made the values, and no maintainer has confirmed them."""


def nothing(target: Target, note: str | None = None, *, text: str | None = None, of: str = "") -> GateEnd:
    """Make the outcome of what has no verdict and is no error."""
    return GateEnd(code=0, verdict=None, notices=[], report=False, target=target, note=note, text=text, of=of)


def could_not_run(notices: list[Notice], target: Target) -> GateEnd:
    """Make the outcome of a gate that has no report."""
    # never a pass, whatever a notice says
    code = next((notice.code for notice in notices if notice.code), Exit.ERROR)
    return GateEnd(code=code, verdict="error", notices=notices, report=False, target=target)


def read_outcome(folder: Path, target: Target) -> GateEnd:
    """Read the outcome of a gate; one that is missing or broken is an error."""
    try:
        found = msgspec.json.decode(read_regular(folder / OUTCOME, _LARGEST) or b"", type=GateEnd)
    except (msgspec.MsgspecError, UnicodeError):
        return could_not_run([Notice(Exit.ERROR, BROKEN_OFF)], target)
    if found.verdict in ("error", "regression") and not found.code:
        return msgspec.structs.replace(found, code=Exit.ERROR)
    return found
