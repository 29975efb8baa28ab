"""perfgate history and its parts: add, trend, export."""

from __future__ import annotations

from typing import TextIO

from gate.cli.command import Command
from gate.codes import Exit
from gate.commands.history.options import AddOptions, ExportOptions, ListOptions, TrendOptions

_DONE = "done"
_CODES = (Exit.PASS, Exit.USAGE)


def run(options: ListOptions, out: TextIO, err: TextIO) -> int:
    """List what the history holds."""
    from gate.commands.history import add

    return add.run_list(options, out, err)


def run_add(options: AddOptions, out: TextIO, err: TextIO) -> int:
    """Add the record of a run."""
    from gate.commands.history import add

    return add.run(options, out, err)


def run_trend(options: TrendOptions, out: TextIO, err: TextIO) -> int:
    """Show how each case changed over the commits."""
    from gate.commands.history.trend import trend

    return trend.run(options, out, err)


def run_export(options: ExportOptions, out: TextIO, err: TextIO) -> int:
    """Write the history as a table."""
    from gate.commands.history import export

    return export.run(options, out, err)


COMMAND = Command(
    help="keep a record of each commit of the default branch",
    example="perfgate history\nperfgate history add .perfgate --push\nperfgate history trend --html trend.html",
    options=ListOptions,
    run=run,
    codes=_CODES,
    done=_DONE,
    parts={
        "add": Command(
            help="record what a run measured of its commit against its parent",
            example="perfgate history add .perfgate --push\nperfgate history add .perfgate --history /srv/history",
            options=AddOptions,
            run=run_add,
            codes=(*_CODES, Exit.ERROR),
            done="recorded, or known already",
            error="other writers were faster, time and again: nothing is lost, add it again",
        ),
        "trend": Command(
            help="show how each benchmark changed over the commits",
            example="perfgate history trend --html trend.html --benchmark 'parse-*'",
            options=TrendOptions,
            run=run_trend,
            codes=_CODES,
            done=_DONE,
        ),
        "export": Command(
            help="write a row for each commit and case, for other tools",
            example="perfgate history export --csv history.csv\nperfgate history export --csv -",
            options=ExportOptions,
            run=run_export,
            codes=_CODES,
            done=_DONE,
        ),
    },
)
