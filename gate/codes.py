"""The exit codes of every command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command ends with; after a signal it is `of_signal`."""

    PASS = 0
    """Of a command that gives no verdict: done."""
    REGRESSION = 1
    USAGE = 2
    INCONCLUSIVE = 3
    ERROR = 4
    UNFIT = 5


MEANINGS = {
    Exit.PASS: "pass: nothing regressed",
    Exit.REGRESSION: "regression",
    Exit.USAGE: "bad command line, config or input file",
    Exit.INCONCLUSIVE: 'too noisy, with gate.inconclusive = "fail"',
    Exit.ERROR: "error: a build or a benchmark failed or is missing, or too little was measured",
    Exit.UNFIT: "the host is unfit (only with --strict)",
}
"""As help shows them; of a command that gives no verdict 0 has words of its own."""
_SIGNAL = 128


def of_signal(number: int) -> int:
    """Return the shell's exit code of a process that a signal ended."""
    return _SIGNAL + number


def is_of_signal(code: int) -> bool:
    """Return whether an exit code says that a signal ended the command."""
    return code > _SIGNAL


class MisuseError(Exception):
    """Options that do not go together; its message is one line for the user."""

    exit_code = Exit.USAGE
