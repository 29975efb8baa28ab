"""The options of perfgate calibrate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import MEASURED, Command
from gate.cli.groups import RulesOptions
from gate.cli.options import group
from gate.commands.calibrate.options import MeasuringOptions, OutputOptions


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A calibration."""

    measuring: MeasuringOptions = group(MeasuringOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Calibrate."""
    from gate.run.refusal import require_measuring

    require_measuring()
    from gate.commands.calibrate import calibrate

    return calibrate.run(options.measuring, options.outputs, options.rules, out, err)


COMMAND = Command(
    help="measure how noisy this host is, and remember it",
    example="perfgate calibrate --builds 20 --budget 1h",
    options=Options,
    run=run,
    codes=MEASURED,
    done="done: measured, and remembered",
    error="error: a build or a benchmark failed, nothing was measured, or it cannot be remembered",
)
