"""perfgate study: measure a designed experiment on this checkout, and analyse it."""

from __future__ import annotations

from typing import TextIO

from gate.cli.groups import OutputOptions, RulesOptions
from gate.codes import Exit
from gate.commands.study.measure import lay_out, measure_study, opened_study, outcome, to_do
from gate.commands.study.options import AnalyseOptions, StudyOptions
from gate.commands.study.plan import write_plan
from gate.model import UserError
from gate.report.outputs import require_writable, targets


def run(options: StudyOptions, rules: RulesOptions, analysis: AnalyseOptions, out: TextIO, err: TextIO) -> int:
    """Measure, analyse, fill the folder of the study and print what it says.

    Returns 0, also where nothing matters; 4 where something failed or nothing was measured.
    """
    # found out now, not after an hour of measuring
    asked = {"json": analysis.outputs.json, "html": analysis.outputs.html}
    outputs = OutputOptions({name: target for name, target in asked.items() if target is not None})
    require_writable(outputs)
    if analysis.outputs.csv is not None and analysis.outputs.csv.exists() and not analysis.outputs.csv.is_dir():
        raise UserError(f"--csv {analysis.outputs.csv}: is a file, not a folder")

    written = [*targets(outputs), *([analysis.outputs.csv] if analysis.outputs.csv else [])]
    with opened_study(options, err) as run:
        design, job = lay_out(run, options, rules, written)
        if options.dry_run:
            write_plan(design, to_do(job), options, out)
            return 0
        done = measure_study(run, design, job, err)
        job = done.job
        told = outcome(done, err)
        if not told.executions:
            return told.code
        # statistics and pictures take their time to load, and a plan needs none
        from gate.commands.study import analyse

        try:
            code = analyse.analyse_folder(job.out, analysis, out, err)
        except UserError as error:
            again = f"`perfgate study analyse {job.out}` tries again"
            err.write(f"perfgate: {error}; the measurements are kept, {again}\n")
            return told.code or Exit.USAGE
        return told.code or code
