"""The options of perfgate calibrate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.cli import option_values
from gate.cli.command import MEASURED, MEASURING, Command, late
from gate.cli.groups import HEAD, HISTORY, SEED, STRICT, WAIT, RulesOptions
from gate.cli.options import group, option, switch


@dataclass(frozen=True, eq=False, repr=False)
class MeasuringOptions:
    """What is measured against itself."""

    head: str | None = option(HEAD, metavar="REF")
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


@dataclass(frozen=True, eq=False, repr=False)
class OutputOptions:
    """Where the result goes."""

    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")
    quiet: bool = switch("print one line, and errors")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A calibration."""

    measuring: MeasuringOptions = group(MeasuringOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


COMMAND = Command(
    help="measure how noisy this host is, and remember it",
    example="perfgate calibrate --set plan.builds=20 --set plan.budget=1h",
    options=Options,
    run=late("gate.commands.calibrate.calibrate:run", MEASURING),
    codes=MEASURED,
    done="done: measured, and remembered",
    error="error: a build or a benchmark failed, nothing was measured, or it cannot be remembered",
)
