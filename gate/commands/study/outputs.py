"""Outputs of a study: standard output, the files that were asked for, the folder of the study."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.commands.study.analysis.observations import Observed
from gate.commands.study.options import AnalyseOptions
from gate.commands.study.report import csv
from gate.commands.study.report import text as study_text
from gate.evidence.inputs import Inputs
from gate.model import UserError
from gate.model.study import StudyReport
from gate.report import json
from gate.report.material import attachments
from gate.report.outputs import colored, make_folder, refuse_inputs, write

STUDY_JSON = "study.json"
STUDY_HTML = "study.html"
TABLES = "tables"


@dataclass(frozen=True, slots=True, eq=False)
class Analysed:
    """The analysis, and what its pictures of values are drawn from: the observations of each response."""

    report: StudyReport
    observed: list[Observed]
    inputs: Inputs


def require_targets(options: AnalyseOptions) -> None:
    """Refuse outputs that cannot be written, before anything takes time.

    Raises:
        UserError: a target is a folder or one of the inputs, or both formats want standard output.
    """
    refuse_inputs(
        [Path(file) for file in options.files], [Path(t) for t in (options.outputs.json, options.outputs.html) if t]
    )
    if options.outputs.json == options.outputs.html == "-":
        raise UserError("--json - and --html - both want standard output")
    for name, target in (("json", options.outputs.json), ("html", options.outputs.html)):
        if target is not None and target != "-" and (not target or Path(target).is_dir()):
            raise UserError(f"--{name} {target}: is a folder, not a file")
    if options.outputs.csv is not None and options.outputs.csv.exists() and not options.outputs.csv.is_dir():
        raise UserError(f"--csv {options.outputs.csv}: is a file, not a folder")


def write_asked(analysed: Analysed, options: AnalyseOptions) -> None:
    """Write the files that were asked for, and the folder of the study.

    Raises:
        UserError: one cannot be written.
    """
    page: str | None = None
    if options.out is not None or (options.outputs.html is not None and options.outputs.html != "-"):
        page = _page(analysed)
    if options.out is not None and page is not None:
        make_folder(options.out)
        write(options.out / STUDY_JSON, json.render_study(analysed.report))
        write(options.out / STUDY_HTML, page)
        _write_tables(analysed.report, options.out / TABLES)
    if options.outputs.html is not None and options.outputs.html != "-" and page is not None:
        write(Path(options.outputs.html), page)
    if options.outputs.json is not None and options.outputs.json != "-":
        write(Path(options.outputs.json), json.render_study(analysed.report))
    if options.outputs.csv is not None:
        _write_tables(analysed.report, options.outputs.csv)


def _write_tables(report: StudyReport, folder: Path) -> None:
    for name, text in csv.render(report).items():
        write(folder / name, text)


def _page(analysed: Analysed) -> str:
    from gate.commands.study.report import page as study_html

    return study_html.render(analysed.report, analysed.observed, attachments(analysed.inputs.files))


def show(analysed: Analysed, options: AnalyseOptions, out: TextIO, err: TextIO) -> None:
    """Print what was asked for on standard output, else the text."""
    if options.outputs.json == "-":
        out.write(json.render_study(analysed.report))
    elif options.outputs.html == "-":
        out.write(_page(analysed))
    else:
        width = min(shutil.get_terminal_size((100, 24)).columns, 140)
        out.write(study_text.render(analysed.report, color=colored(out), width=width, brief=options.outputs.quiet))
    if options.out is not None and not options.outputs.quiet:
        err.write(f"perfgate: {options.out / STUDY_HTML} has the tables and pictures\n")
