"""The options of perfgate doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import MEASURED, Command
from gate.cli.options import option, switch


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """How the host is looked at."""

    strict: bool = switch("exit with 5 if this host is unfit")
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")


def run(options: Options, out: TextIO, _err: TextIO) -> int:
    """Look at the host."""
    from gate.commands.doctor import doctor
    from gate.run.refusal import require_measuring

    require_measuring()
    return doctor.run(options.strict, options.json, out)


COMMAND = Command(
    help="check whether this host is fit to measure on, and show what helps",
    example="perfgate doctor --strict",
    options=Options,
    run=run,
    codes=MEASURED,
    done="done; also on an unfit host without --strict",
    place=7,
)
