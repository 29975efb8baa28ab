"""The options of perfgate history and of its parts; loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from gate.cli import values
from gate.cli.options import argument, group, option, repeated, switch
from gate.model.names import HISTORY_REF

KEEP = 5000
"""Records that stay: years of merges, and a few megabytes."""


@dataclass(frozen=True, eq=False, repr=False)
class StoreOptions:
    """Where the history is: a ref of the repository around the working directory, or a folder."""

    history: str | None = option(
        f"folder or git ref of the history (default: gate.history, then $PERFGATE_HISTORY, then {HISTORY_REF})",
        metavar="DIR",
    )


@dataclass(frozen=True, eq=False, repr=False)
class ListOptions:
    """What the history holds."""

    limit: int = option(
        "newest records to list (default: 20)", metavar="N", parse=values.whole(1, 1_000_000), default=20
    )
    store: StoreOptions = group(StoreOptions, "store")


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
    keep: int = option(
        f"records that stay; the oldest beyond them are dropped (default: {KEEP})",
        metavar="N",
        parse=values.whole(1, 1_000_000),
        default=KEEP,
    )
    dry_run: bool = switch("print the record, and write nothing")
    store: StoreOptions = group(StoreOptions, "store")


@dataclass(frozen=True, eq=False, repr=False)
class TrendOptions:
    """Which part of the history is shown, and where it goes."""

    benchmarks: tuple[str, ...] = repeated("only the benchmarks that match", metavar="GLOB", flag="--benchmark")
    since: str | None = option("only commits after this commit or date", metavar="REF|DATE")
    limit: int | None = option("only the newest commits", metavar="N", parse=values.whole(1, 1_000_000))
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")
    markdown: str | None = option("write the report as Markdown (-: print it)", metavar="FILE")
    html: str | None = option("write the report as HTML (-: print it)", metavar="FILE")
    store: StoreOptions = group(StoreOptions, "store")


@dataclass(frozen=True, eq=False, repr=False)
class ExportOptions:
    """Where the table goes."""

    csv: str | None = option("write a row for each commit and case as CSV (-: print it)", metavar="FILE")
    store: StoreOptions = group(StoreOptions, "store")
