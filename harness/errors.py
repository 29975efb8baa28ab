"""Errors of the harness before measuring; commands turn them into exit code 2."""

from gate.codes import Exit
from gate.model import UserError


class HarnessError(UserError):
    """One line that says what is wrong, where, and what to do."""


class SourceError(HarnessError):
    """Base and head cannot be had from the repository as it is."""


class LackError(SourceError):
    """git had too little memory, or too few files or processes; no fault of the command line."""

    exit_code = Exit.ERROR


class LockError(HarnessError):
    """The host-wide lock cannot be taken."""


class InstrumentError(HarnessError):
    """An instrument's tool is not on this machine, and nothing can stand in for it."""
