"""perfgate decide: measurements from anywhere -> a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from gate.commands.deciding import decide_inputs
from gate.commands.inputs import read_inputs
from gate.commands.options import OutputOptions, RulesOptions
from gate.commands.outputs import require_writable, show, write_asked


def run(files: Sequence[str], rules: RulesOptions, outputs: OutputOptions, out: TextIO) -> int:
    """Decide over measurement files, print the report and return its exit code."""
    require_writable(outputs)
    decided = decide_inputs(read_inputs(files), rules)
    write_asked(decided, outputs)
    show(decided, outputs, out)
    return decided.report.exit_code
