"""perfgate history trend: the chain of ratios of each case."""

from __future__ import annotations

from typing import TextIO

from gate.commands.history.trend.options import TrendOptions
from gate.model import UserError


def run(options: TrendOptions, out: TextIO, err: TextIO) -> int:
    """Show the trend of each case.

    Raises:
        UserError: a history that cannot be read.
    """
    del options, out, err
    raise UserError("history trend: is not built yet")
