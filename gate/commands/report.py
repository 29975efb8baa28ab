"""perfgate report: a past run, rendered again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.commands.deciding import decide_inputs
from gate.commands.inputs import DEFAULT_FOLDER, REPORT, read_inputs
from gate.commands.options import OutputOptions, RulesOptions
from gate.commands.outputs import Format, fill, require_writable, show, write_asked
from gate.model import Report, UserError


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Which run, in which format; out: the folder to fill."""

    runs: tuple[str, ...]
    form: Format
    out: Path | None
    every: bool


def run(options: ReportOptions, rules: RulesOptions, outputs: OutputOptions, out: TextIO) -> int:
    """Render a run and return its report's exit code.

    A report.json (of the folder, or named) is rendered as it was decided; measurements, and runs with other rules or
    a selection of benchmarks, are decided again.
    """
    require_writable(outputs)
    runs = options.runs or (str(_nearest_folder()),)
    report = _report(runs, rules)
    is_folder = len(runs) == 1 and Path(runs[0]).is_dir()
    fill(options.out or Path(runs[0] if is_folder else DEFAULT_FOLDER), report)
    write_asked(report, outputs)
    show(report, outputs, out, form=options.form, every=options.every)
    return report.exit_code


def _nearest_folder() -> Path:
    # check puts it in the project's directory, which may be above this one
    here = Path.cwd()
    found = (directory / DEFAULT_FOLDER for directory in (here, *here.parents))
    return next((Path(os.path.relpath(f)) for f in found if f.is_dir()), Path(DEFAULT_FOLDER))


def _report(runs: Sequence[str], rules: RulesOptions) -> Report:
    again = rules.config or rules.rules or rules.sets or rules.benchmarks
    if len(runs) == 1 and not again:
        path = Path(runs[0])
        decided = path / REPORT if path.is_dir() else path
        if decided.suffix == ".json" and decided.is_file():
            return _read(decided)
    return decide_inputs(read_inputs(runs), rules)


def _read(file: Path) -> Report:
    from gate.report import json

    try:
        return json.read(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except json.ReportError as error:
        raise UserError(f"{file}: {error}") from None
