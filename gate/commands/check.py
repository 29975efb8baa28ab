"""perfgate check: measure, decide and report on this checkout."""

from __future__ import annotations

from typing import TextIO

from gate.commands.deciding import decide_inputs
from gate.commands.inputs import read_inputs
from gate.commands.measure import measure_here
from gate.commands.options import MeasureOptions, OutputOptions, RulesOptions
from gate.commands.outputs import fill, show


def run(options: MeasureOptions, rules: RulesOptions, outputs: OutputOptions, out: TextIO, err: TextIO) -> int:
    """Measure base and head, decide, fill the run's folder, print the report and return its exit code."""
    ended = measure_here(options, rules, out, err, quiet=outputs.quiet)
    if ended is not None:
        return ended
    # the run line holds the rules in force, options included
    report = decide_inputs(read_inputs([str(options.out)]), RulesOptions(None, None, (), ()))
    fill(options.out, report)
    show(report, outputs, out)
    if not outputs.quiet:
        err.write(f"perfgate: report in {options.out / 'report.html'}\n")
    return report.exit_code
