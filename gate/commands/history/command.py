"""perfgate history and its parts: add, trend, export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.cli import option_values
from gate.cli.command import Command, late
from gate.cli.options import argument, named, option, repeated, switch
from gate.codes import Exit
from gate.model.names import HISTORY_REF


def _store() -> Any:
    """Declare where the history is: a ref of the repository around the working directory, or a folder."""
    return option(
        f"folder or git ref of the history (default: gate.history, then $PERFGATE_HISTORY, then {HISTORY_REF})",
        metavar="DIR", section="store",
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ListOptions:
    """What the history holds."""

    limit: int = option(
        "newest records to list (default: 20)", metavar="N", parse=option_values.whole(1, 1_000_000), default=20
    )
    history: str | None = _store()


@dataclass(frozen=True, eq=False, repr=False)
class AddOptions:
    """What is recorded, and where."""

    runs: tuple[str, ...] = argument(
        "folder of a run, its report.json, or its measurement files (default: .perfgate)", metavar="RUN", nargs="*"
    )
    push: str | None = option(
        "also push the ref to a remote (default: origin), with what others have added there",
        metavar="REMOTE",
        alone="origin",
    )
    dry_run: bool = switch("print the record, and write nothing")
    history: str | None = _store()


@dataclass(frozen=True, eq=False, repr=False)
class TrendOptions:
    """Which part of the history is shown, and where it goes."""

    benchmarks: tuple[str, ...] = repeated("only the benchmarks that match", metavar="GLOB", flag="--benchmark")
    limit: int | None = option("only the newest commits", metavar="N", parse=option_values.whole(1, 1_000_000))
    files: Mapping[str, str] = named(
        ("json", "markdown", "html"), "write the report as {} (-: print it)", metavar="FILE"
    )
    history: str | None = _store()


@dataclass(frozen=True, eq=False, repr=False)
class ExportOptions:
    """Where the table goes."""

    csv: str | None = option("write a row for each commit and case as CSV (-: print it)", metavar="FILE")
    history: str | None = _store()


_DONE = "done"
_CODES = (Exit.PASS, Exit.USAGE)


COMMAND = Command(
    help="keep a record of each commit of the default branch",
    example="perfgate history\nperfgate history add .perfgate --push\nperfgate history trend --html trend.html",
    options=ListOptions,
    run=late("gate.commands.history.recorded:run_list"),
    codes=_CODES,
    done=_DONE,
    parts={
        "add": Command(
            help="record what a run measured of its commit against its parent",
            example="perfgate history add .perfgate --push\nperfgate history add .perfgate --history /srv/history",
            options=AddOptions,
            run=late("gate.commands.history.recorded:run"),
            codes=(*_CODES, Exit.ERROR),
            done="recorded, or known already",
            error="other writers were faster, time and again: nothing is lost, add it again",
        ),
        "trend": Command(
            help="show how each benchmark changed over the commits",
            example="perfgate history trend --html trend.html --benchmark 'parse-*'",
            options=TrendOptions,
            run=late("gate.commands.history.trend:run"),
            codes=_CODES,
            done=_DONE,
        ),
        "export": Command(
            help="write a row for each commit and case, for other tools",
            example="perfgate history export --csv history.csv\nperfgate history export --csv -",
            options=ExportOptions,
            run=late("gate.commands.history.recorded:run_export"),
            codes=_CODES,
            done=_DONE,
        ),
    },
)
