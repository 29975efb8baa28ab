"""perfgate decide: measurement files -> a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.cli.command import DECIDED, Command
from gate.cli.groups import MeasuredRulesOptions, OutputOptions
from gate.cli.options import argument, group


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """Over what, by whose rules, and where the report goes."""

    files: tuple[str, ...] = argument(
        "measurements.jsonl, its folder, git:REF:PATH, a result file of another tool (base=FILE, head=FILE), or - for "
        "stdin",
        metavar="FILE",
        nargs="+",
    )
    rules: MeasuredRulesOptions = group(MeasuredRulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Decide over measurement files, print the report and return its exit code.

    Raises: UserError: files that cannot be read or written, or an output that is one of them.
    """
    from gate.evidence.records import read_inputs
    from gate.planning.deciding import decide_inputs
    from gate.report.outputs import refuse_inputs, require_writable, show, targets, whole, write_asked

    require_writable(options.outputs)
    refuse_inputs([Path(file) for file in options.files], targets(options.outputs))
    decided = decide_inputs(read_inputs(options.files), options.rules)
    write_asked(decided, options.outputs)
    show(decided, options.outputs, out, whole=whole(None))
    return decided.report.exit_code


COMMAND = Command(
    help="give a verdict on measurement files from any source",
    example="perfgate decide .perfgate --set gate.confidence=0.99 --json -",
    options=Options,
    run=run,
    codes=DECIDED,
)
