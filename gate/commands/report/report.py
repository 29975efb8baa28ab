"""perfgate report: which run is rendered again, and the folder that its report belongs in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO

from gate.commands.report.command import Options
from gate.evidence.inputs import DEFAULT_FOLDER, MEASUREMENTS, REPORT, read_inputs
from gate.model import UserError
from gate.planning.deciding import decide_inputs
from gate.report import json
from gate.report.links import Links
from gate.report.measurements import Kept, Subject
from gate.report.outputs import (
    fill,
    filled,
    links_of,
    refuse_inputs,
    require_writable,
    show,
    targets,
    whole,
    write_asked,
)
from gate.writing.phrases import unread


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Render a run and return its report's exit code.

    A report.json (of the folder, or named) is rendered as it was decided, with the values of the measurements beside
    it; measurements, and runs with other rules or a selection of benchmarks, are decided again. Such another view of a
    run never replaces its report.

    Raises:
        UserError: what cannot be read, or would be written over.
    """
    if options.schema:
        out.write(json.schema())
        return 0
    asked, rules, outputs = options.report, options.rules, options.outputs
    require_writable(outputs)
    links = Links(report=asked.report_url, run=asked.run_url or links_of(os.environ).run)
    here = Path.cwd()
    # check puts it in the project's directory, which may be above this one
    near = (Path(os.path.relpath(f)) for each in (here, *here.parents) if (f := each / DEFAULT_FOLDER).is_dir())
    runs = asked.runs or (str(next(near, Path(DEFAULT_FOLDER))),)
    again = rules.config or rules.rules or rules.sets or rules.benchmarks
    alone = Path(runs[0]) if len(runs) == 1 and not again else None
    # of files, and of another view of a run, there is no folder
    folder = asked.out or (alone if alone is not None and alone.is_dir() else None)
    refuse_inputs([Path(run) for run in runs], targets(outputs))
    if folder is not None:
        # its report.json is written again from itself
        refuse_inputs([Path(run) for run in runs if Path(run).name != REPORT], filled(folder))
    decided: Subject
    file = alone / REPORT if alone is not None and alone.is_dir() else alone
    if file is not None and file.suffix == ".json" and file.is_file():
        decided = _kept(file)
    else:
        decided = decide_inputs(read_inputs(runs), rules)
    if folder is not None:
        fill(folder, decided, links)
    write_asked(decided, outputs)
    show(decided, outputs, out, form=asked.form, links=links, whole=whole(folder))
    return decided.report.exit_code


def _kept(file: Path) -> Kept:
    try:
        return Kept(json.read(file.read_bytes()), file.with_name(MEASUREMENTS))
    except OSError as error:
        raise UserError(f"{file}: {unread(error)}") from None
    except json.ReportError as error:
        raise UserError(f"{file}: {error}") from None
