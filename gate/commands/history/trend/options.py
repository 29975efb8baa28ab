"""The options of perfgate history trend; loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from gate.cli import values
from gate.cli.options import group, option, repeated
from gate.commands.history.options import StoreOptions


@dataclass(frozen=True, eq=False, repr=False)
class TrendOptions:
    """Which part of the history is shown, and where it goes."""

    benchmarks: tuple[str, ...] = repeated("only the benchmarks that match", metavar="GLOB", flag="--benchmark")
    since: str | None = option("only commits after this commit or date", metavar="REF|DATE")
    limit: int | None = option("only the newest commits", metavar="N", parse=values.whole(1, 1_000_000))
    json: str | None = option("write the trend as JSON (-: print it)", metavar="FILE")
    csv: str | None = option("write the trend as CSV (-: print it)", metavar="FILE")
    markdown: str | None = option("write the trend as Markdown (-: print it)", metavar="FILE")
    html: str | None = option("write the trend as one page (-: print it)", metavar="FILE")
    store: StoreOptions = group(StoreOptions, "store")
