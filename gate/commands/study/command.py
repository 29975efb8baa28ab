"""perfgate study and its parts: plan, measure, analyse."""

from __future__ import annotations

import dataclasses
from typing import TextIO

from gate.cli.command import MEASURED, Command
from gate.cli.options import given
from gate.codes import MisuseError
from gate.commands.study.options import FOLDER, AnalyseOptions, Options, PlanOptions, StudyMeasureOptions, StudyOptions

_DONE = "complete, or paused by its budget; a study neither passes nor fails"
_ERROR = "error: a treatment failed, or no replicate is complete"
_WITH_MATRIX = ("base", "head", "sessions", "matrix")
"""What of `perfgate study plan` a matrix has a use for."""


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Measure and analyse."""
    _require_measuring()
    from gate.commands.study import measure

    if "json" in options.written and options.dry_run:
        raise MisuseError("--json: cannot be used with --dry-run, whose plan is a text")
    analysis = AnalyseOptions(written=options.written, quiet=options.quiet)
    return measure.run(_asked(options), options.rules, out, err, analysis)


def run_plan(options: PlanOptions, out: TextIO, err: TextIO) -> int:
    """Print the plan, or the jobs."""
    asked = dataclasses.replace(_asked(options), dry_run=True)
    if options.matrix:
        for name, flag in (*given(options), *given(options.job)):
            if name not in _WITH_MATRIX:
                raise MisuseError(f"--matrix: cannot be used with {flag}")
        from gate.commands.study.experiment import print_matrix

        return print_matrix(asked, options.rules, out)
    _require_measuring()
    from gate.commands.study import measure

    return measure.run(asked, options.rules, out, err)


def run_measure(options: StudyMeasureOptions, out: TextIO, err: TextIO) -> int:
    """Measure."""
    _require_measuring()
    from gate.commands.study import measure

    return measure.run(_asked(options), options.rules, out, err)


def _asked(options: StudyMeasureOptions | PlanOptions) -> StudyOptions:
    names = {each.name for each in dataclasses.fields(StudyOptions)}
    every = {**vars(options), **vars(options.job)}
    return StudyOptions(**{name: value for name, value in every.items() if name in names})


def run_analyse(options: AnalyseOptions, out: TextIO, err: TextIO) -> int:
    """Analyse."""
    from gate.commands.study import analyse

    return analyse.run(dataclasses.replace(options, files=options.files or (FOLDER,)), out, err)


def _require_measuring() -> None:
    # asked first: where measuring is not supported its modules cannot even be loaded
    from gate.run.refusal import require_measuring

    require_measuring()


COMMAND = Command(
    help="run a designed experiment, and show which factors matter",
    example="perfgate study --dry-run\nperfgate study --set study.replicates=3\nperfgate study analyse .perfgate/study",
    options=Options,
    run=run,
    codes=MEASURED,
    done=_DONE,
    error=_ERROR,
    parts={
        "plan": Command(
            help="print the factors, treatments, order and expected time of a study, or its jobs for a workflow matrix",
            example="perfgate study plan --all\nperfgate study plan --matrix --sessions 2",
            options=PlanOptions,
            run=run_plan,
            codes=MEASURED[:-1],
            done="done",
        ),
        "measure": Command(
            help="measure a study, without analysing it",
            example="perfgate study measure --session 1 --sessions 2 --out results && perfgate study analyse results",
            options=StudyMeasureOptions,
            run=run_measure,
            codes=MEASURED,
            done=_DONE,
            error=_ERROR,
        ),
        "analyse": Command(
            help="show which factors matter, and by how much, from measurement files",
            example='perfgate study analyse .perfgate/study --quantiles 0.5,0.99 --without "fp=no,prf=fp"',
            options=AnalyseOptions,
            run=run_analyse,
            codes=MEASURED[:-1],
            done=_DONE,
            error=_ERROR,
        ),
    },
)
