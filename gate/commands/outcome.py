"""What was concluded, kept in a file between the deciding and the publishing step."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gate.commands.status import keep
from gate.github.fileguard import read_regular
from gate.github.notice import Notice
from gate.model import ReportVerdict

OUTCOME = "outcome.json"
BROKEN_OFF = "the deciding step ended before it had decided: its log says why"
EXIT_ERROR = 4
_LARGEST = 10_000_000


class Target(msgspec.Struct, frozen=True):
    """What the results are of: a pull request (None: none), its head commit, and the run that measured it.

    fork: of another repository, whose own runs have a token that may write nothing.
    """

    pull: int | None
    sha: str
    run: int
    attempt: int
    fork: bool = False


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a gate: its exit code, and the report or why there is none.

    verdict: of the report, error where there should be one; None where nothing was to be decided. report: whether the
    run's folder holds one. text: a file whose text is shown as it is. note: why there was nothing to do.
    """

    code: int
    verdict: ReportVerdict | None
    notices: list[Notice]
    report: bool
    target: Target
    text: str | None = None
    note: str | None = None


def could_not_run(notices: list[Notice], target: Target) -> Outcome:
    """Make the outcome of a gate that has no report."""
    # never a pass, whatever a notice says
    code = next((notice.code for notice in notices if notice.code), EXIT_ERROR)
    return Outcome(code=code, verdict="error", notices=notices, report=False, target=target)


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write an outcome.

    Raises:
        UserError: it cannot be written.
    """
    keep(folder / OUTCOME, outcome)


def read_outcome(folder: Path, target: Target) -> Outcome:
    """Read the outcome of a gate; one that is missing or broken is an error."""
    try:
        found = msgspec.json.decode(read_regular(folder / OUTCOME, _LARGEST) or b"", type=Outcome)
    except (msgspec.MsgspecError, UnicodeError):
        return could_not_run([Notice(EXIT_ERROR, BROKEN_OFF)], target)
    if found.verdict in ("error", "regression") and not found.code:
        return msgspec.structs.replace(found, code=EXIT_ERROR)
    return found
