"""The end of a command on a host that is unfit to measure on."""

from __future__ import annotations

from collections.abc import Sequence

from gate.model import UserError


class UnfitError(UserError):
    """The host is unfit and --strict was given; the command line turns it into exit code 5."""


def refuse_unfit(problems: Sequence[str]) -> None:
    """Refuse to measure where there are problems; for --strict, before anything is moved or written.

    problems: as harness.fitness.problems names them.

    Raises:
        UnfitError: there are some; one line that names them.
    """
    if problems:
        raise UnfitError(
            f"this host is unfit to measure on: {'; '.join(problems)}; `perfgate doctor` shows more, "
            "without --strict it measures all the same"
        )


def unfit_warnings(problems: Sequence[str]) -> list[str]:
    """Put problems into words for the run line; for a command without --strict."""
    return [f"the host was unfit when measuring began: {problem}" for problem in problems]
