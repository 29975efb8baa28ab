"""The run that is rendered again, and the folder that its report belongs in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gate.cli.groups import RulesOptions
from gate.decide.decided import Decided
from gate.evidence.inputs import DEFAULT_FOLDER, MEASUREMENTS, REPORT, read_inputs
from gate.model import UserError
from gate.planning.deciding import decide_inputs
from gate.report.measurements import Kept
from gate.report.outputs import filled, refuse_inputs
from gate.writing.phrases import unread


def refuse_overwriting(runs: Sequence[str], asked: Sequence[Path], folder: Path | None) -> None:
    """Refuse to write over what is read; but a folder's report.json is written again from itself."""
    refuse_inputs([Path(run) for run in runs], asked)
    if folder is not None:
        others = [run for run in runs if Path(run).name != REPORT]
        refuse_inputs([Path(run) for run in others], filled(folder))


def nearest_folder() -> Path:
    """Return .perfgate: check puts it in the project's directory, which may be above this one."""
    here = Path.cwd()
    found = (directory / DEFAULT_FOLDER for directory in (here, *here.parents))
    return next((Path(os.path.relpath(f)) for f in found if f.is_dir()), Path(DEFAULT_FOLDER))


def own_folder(runs: Sequence[str], rules: RulesOptions) -> Path | None:
    """Return the folder whose report this is; None: it is of files, or another view of a run."""
    of_one = len(runs) == 1 and Path(runs[0]).is_dir() and not _is_again(rules)
    return Path(runs[0]) if of_one else None


def _is_again(rules: RulesOptions) -> bool:
    return bool(rules.config or rules.rules or rules.sets or rules.benchmarks)


def decided_of(runs: Sequence[str], rules: RulesOptions) -> Decided | Kept:
    """Return a run as it was decided, or decided again where other rules are given.

    Raises:
        UserError: what cannot be read.
    """
    if len(runs) == 1 and not _is_again(rules):
        path = Path(runs[0])
        decided = path / REPORT if path.is_dir() else path
        if decided.suffix == ".json" and decided.is_file():
            from gate.report import json

            try:
                return Kept(json.read(decided.read_bytes()), decided.with_name(MEASUREMENTS))
            except OSError as error:
                raise UserError(f"{decided}: {unread(error)}") from None
            except json.ReportError as error:
                raise UserError(f"{decided}: {error}") from None
    return decide_inputs(read_inputs(runs), rules)
