"""The options of perfgate calibrate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.cli import option_values
from gate.cli.command import MEASURED, MEASURING, Command, late
from gate.cli.groups import HEAD, HISTORY, SEED, STRICT, WAIT, RulesOptions
from gate.cli.options import group, named, option, switch


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is measured against itself, by whose rules, and where the result goes."""

    head: str | None = option(HEAD, metavar="REF", section="measuring")
    out: Path | None = option(
        "folder for the measurements (default: .perfgate/calibration in the project)",
        metavar="DIR",
        parse=option_values.folder,
    )
    seed: int | None = option(SEED, metavar="N", parse=option_values.seed)
    dry_run: bool = switch("print what would run, how often and how long; measure nothing")
    resume: bool = switch("continue an interrupted run")
    strict: bool = switch(STRICT)
    wait: float | None = option(WAIT, metavar="TIME", parse=option_values.wait)
    history: Path | None = option(HISTORY, metavar="DIR", parse=Path)
    rules: RulesOptions = group(RulesOptions, "rules")
    files: Mapping[str, str] = named(
        ("json",), "write the report as {} (-: print it)", metavar="FILE", section="output"
    )
    quiet: bool = switch("print one line, and errors")


COMMAND = Command(
    help="measure how noisy this host is, and remember it",
    example="perfgate calibrate --set plan.builds=20 --set plan.budget=1h",
    options=Options,
    run=late("gate.commands.calibrate.calibrate:run", MEASURING),
    codes=MEASURED,
    done="done: measured, and remembered",
    error="error: a build or a benchmark failed, nothing was measured, or it cannot be remembered",
)
