"""perfgate report: renders a past run again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.cli import option_values
from gate.cli.command import DECIDED, Command, report_formats
from gate.cli.groups import MeasuredRulesOptions, OutputOptions
from gate.cli.options import argument, group, option, switch
from gate.model import UserError


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is rendered in which format, by whose rules, and where it goes."""

    schema: bool = switch("print the JSON Schema of report.json, not a report")
    runs: tuple[str, ...] = argument(
        "folder of a run, report.json or measurement files (default: .perfgate)", metavar="RUN", nargs="*"
    )
    form: str = option(
        "what to print (default: text); markdown: the comment; summary: the job summary; csv: the measurements",
        flag="--format", default="text", choices=report_formats(),
    )  # fmt: skip
    out: Path | None = option(
        "folder to write report files to (default: RUN if it is a folder, unless rules or benchmarks are named)",
        metavar="DIR", parse=option_values.folder,
    )  # fmt: skip
    rules: MeasuredRulesOptions = group(MeasuredRulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Render a run and return its report's exit code.

    A report.json (of the folder, or named) is rendered as it was decided, with the values of the measurements beside
    it; measurements, and runs with other rules or a selection of benchmarks, are decided again. Such another view of a
    run never replaces its report.

    Raises: UserError: what cannot be read, or would be written over.
    """
    from gate.evidence.records import DEFAULT_FOLDER, MEASUREMENTS, REPORT, read_inputs
    from gate.planning.deciding import decide_inputs
    from gate.report import json
    from gate.report.material import Kept, Shown
    from gate.report.outputs import fill, filled, refuse_inputs, require_writable, show, targets, whole, write_asked
    from gate.writing.phrases import unread

    if options.schema:
        out.write(json.schema())
        return 0
    rules, outputs = options.rules, options.outputs
    require_writable(outputs)
    here = Path.cwd()
    # check puts it in the project's directory, which may be above this one
    near = (Path(os.path.relpath(f)) for each in (here, *here.parents) if (f := each / DEFAULT_FOLDER).is_dir())
    runs = options.runs or (str(next(near, Path(DEFAULT_FOLDER))),)
    again = rules.config or rules.rules or rules.sets or rules.benchmarks
    alone = Path(runs[0]) if len(runs) == 1 and not again else None
    # of files, and of another view of a run, there is no folder
    folder = options.out or (alone if alone is not None and alone.is_dir() else None)
    refuse_inputs([Path(run) for run in runs], targets(outputs))
    if folder is not None:
        # its report.json is written again from itself
        refuse_inputs([Path(run) for run in runs if Path(run).name != REPORT], filled(folder))
    decided: Shown
    file = alone / REPORT if alone is not None and alone.is_dir() else alone
    if file is not None and file.suffix == ".json" and file.is_file():
        try:
            decided = Kept(json.read(file.read_bytes()), file.with_name(MEASUREMENTS))
        except OSError as error:
            raise UserError(f"{file}: {unread(error)}") from None
        except json.ReportError as error:
            raise UserError(f"{file}: {error}") from None
    else:
        decided = decide_inputs(read_inputs(runs), rules)
    if folder is not None:
        fill(folder, decided)
    write_asked(decided, outputs)
    show(decided, outputs, out, form=options.form, whole=whole(folder))
    return decided.report.exit_code


COMMAND = Command(
    help="print or write the report of a past run again",
    example="perfgate report .perfgate --format markdown",
    options=Options,
    run=run,
    codes=DECIDED,
    place=3,
)
