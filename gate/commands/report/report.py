"""perfgate report: renders a past run again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.cli.groups import OutputOptions, RulesOptions
from gate.decide.measurements import Decided, decide_inputs
from gate.evidence.inputs import DEFAULT_FOLDER, MEASUREMENTS, REPORT, read_inputs
from gate.model import Report, UserError
from gate.report.links import Links
from gate.report.measurements import Kept
from gate.report.outputs import (
    fill,
    filled,
    links_of,
    refuse_inputs,
    require_writable,
    show,
    targets,
    write_asked,
)

if TYPE_CHECKING:
    from gate.commands.report.command import ReportOptions


def links_with(report: str | None, run: str | None) -> Links:
    """Complete the addresses that were given from the environment of a workflow."""
    return Links(report=report, run=run or links_of(os.environ).run)


def run(options: ReportOptions, rules: RulesOptions, outputs: OutputOptions, out: TextIO, err: TextIO) -> int:
    """Render a run and return its report's exit code.

    A report.json (of the folder, or named) is rendered as it was decided, with the values of the measurements beside
    it; measurements, and runs with other rules or a selection of benchmarks, are decided again. Such another view of a
    run never replaces its report.
    """
    require_writable(outputs)
    links = links_with(options.report_url, options.run_url)
    runs = options.runs or (str(_nearest_folder()),)
    folder = options.out or _own_folder(runs, rules)
    taken = folder is not None and _is_taken(folder, runs, options)
    _refuse_inputs(runs, targets(outputs), None if taken else folder)
    decided = _decided(runs, rules)
    if folder is not None and not taken:
        fill(folder, decided, links)
    elif folder is not None:
        err.write(f"perfgate: {folder} holds another run, whose report stays; --out DIR writes this one's\n")
    write_asked(decided, outputs)
    show(decided, outputs, out, form=options.form, every=options.every, links=links)
    return decided.report.exit_code


def _refuse_inputs(runs: Sequence[str], asked: Sequence[Path], folder: Path | None) -> None:
    """Refuse to write over what is read; but a folder's report.json is written again from itself."""
    refuse_inputs([Path(run) for run in runs], asked)
    if folder is not None:
        others = [run for run in runs if Path(run).name != REPORT]
        refuse_inputs([Path(run) for run in others], filled(folder))


def _nearest_folder() -> Path:
    # check puts it in the project's directory, which may be above this one
    here = Path.cwd()
    found = (directory / DEFAULT_FOLDER for directory in (here, *here.parents))
    return next((Path(os.path.relpath(f)) for f in found if f.is_dir()), Path(DEFAULT_FOLDER))


def _own_folder(runs: Sequence[str], rules: RulesOptions) -> Path | None:
    """Return the folder whose report this is; None for another view of a run, which is nobody's report."""
    if _is_again(rules):
        return None
    if len(runs) == 1 and Path(runs[0]).is_dir():
        return Path(runs[0])
    return Path(DEFAULT_FOLDER)


def _is_taken(folder: Path, runs: Sequence[str], options: ReportOptions) -> bool:
    named = options.out is not None or str(folder) in runs
    return not named and any((folder / name).exists() for name in (MEASUREMENTS, REPORT))


def _is_again(rules: RulesOptions) -> bool:
    return bool(rules.config or rules.rules or rules.sets or rules.benchmarks)


def _decided(runs: Sequence[str], rules: RulesOptions) -> Decided | Kept:
    if len(runs) == 1 and not _is_again(rules):
        path = Path(runs[0])
        decided = path / REPORT if path.is_dir() else path
        if decided.suffix == ".json" and decided.is_file():
            return Kept(_read(decided), decided.with_name(MEASUREMENTS))
    return decide_inputs(read_inputs(runs), rules)


def _read(file: Path) -> Report:
    from gate.report import json

    try:
        return json.read(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except json.ReportError as error:
        raise UserError(f"{file}: {error}") from None
