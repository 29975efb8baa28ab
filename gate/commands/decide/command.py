"""perfgate decide: measurements from anywhere -> a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from gate.cli.options import OutputOptions, RulesOptions
from gate.decide.measurements import decide_inputs
from gate.evidence.inputs import read_inputs
from gate.report.outputs import refuse_inputs, require_writable, show, targets, write_asked


def run(files: Sequence[str], rules: RulesOptions, outputs: OutputOptions, out: TextIO) -> int:
    """Decide over measurement files, print the report and return its exit code.

    Raises:
        UserError: files that cannot be read or written, or an output that is one of them.
    """
    require_writable(outputs)
    refuse_inputs([Path(file) for file in files], targets(outputs))
    decided = decide_inputs(read_inputs(files), rules)
    write_asked(decided, outputs)
    show(decided, outputs, out)
    return decided.report.exit_code
