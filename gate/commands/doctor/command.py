"""The options of perfgate doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import MEASURED, Command
from gate.cli.options import argument, option, switch
from gate.codes import MisuseError


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """How the host is looked at."""

    strict: bool = switch("exit with 5 if this host is unfit")
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")
    metrics: bool = switch("measure COMMAND with every available instrument, to choose a metric")
    argv: tuple[str, ...] = argument("with --metrics: the command, after --", metavar="COMMAND", nargs="*")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Look at the host, or at a command by every instrument."""
    from gate.run.refusal import require_measuring

    if not options.metrics:
        if options.argv:
            raise MisuseError(f"{options.argv[0]}: a command needs --metrics: perfgate doctor --metrics -- COMMAND")
        require_measuring()
        from gate.commands.doctor import doctor

        return doctor.run(options.strict, options.json, out)
    if not options.argv:
        raise MisuseError("--metrics: needs a command: perfgate doctor --metrics -- COMMAND")
    if options.strict:
        raise MisuseError("--strict: cannot be used with --metrics")
    require_measuring()
    from gate.commands.doctor import metrics

    return metrics.run(options.argv, options.json, out, err)


COMMAND = Command(
    help="check whether this host is fit to measure on, and show what helps",
    example="perfgate doctor --strict\nperfgate doctor --metrics -- ./build/app parse data.json",
    options=Options,
    run=run,
    codes=MEASURED,
    done="done; also on an unfit host without --strict",
    error="error: COMMAND of --metrics failed",
    place=7,
)
