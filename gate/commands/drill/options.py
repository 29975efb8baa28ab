"""What perfgate drill is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.cli import values
from gate.cli.groups import HEAD, WAIT
from gate.cli.options import option, switch


@dataclass(frozen=True, eq=False, repr=False)
class DrillOptions:
    """What is tried on the gate, and where the result goes."""

    head: str | None = option(HEAD, metavar="REF")
    patch: Path | None = option(
        "a slowdown of your own, as `git diff` writes it (default: 25%% are added to what each benchmark takes)",
        metavar="FILE", parse=Path,
    )  # fmt: skip
    workflow: str | None = option(
        "instead, read the workflows (or one) for what would swallow a verdict; measures nothing",
        metavar="FILE", alone="",
    )  # fmt: skip
    wait: float | None = option(WAIT, metavar="TIME", parse=values.wait)
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")
    quiet: bool = switch("print one line, and errors")
