"""perfgate study analyse: measurements with factors -> effects, tables, pictures and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from gate import __version__
from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.commands.study.analysis import Method, analyse
from gate.commands.study.changes import settings_text
from gate.commands.study.document import brief, document_of
from gate.commands.study.observations import (
    Abridgement,
    Observed,
    Observing,
    plain,
    responses,
    with_host_factors,
)
from gate.commands.study.options import AnalyseOptions
from gate.config.fractions import model_order
from gate.config.rules import is_decided
from gate.config.study import Study
from gate.config.treatments import model_factors, treatments
from gate.config.types import Config
from gate.document import html, terminal
from gate.evidence.gather import refuse_duplicates
from gate.evidence.hosts import machines, run_states
from gate.evidence.lines import Inputs, Located
from gate.evidence.records import read_inputs
from gate.evidence.runs import config_of, files_of, in_order
from gate.model import SCHEMA, Execution, Failure, HostState, Run
from gate.model.study import StudyReport, StudyRun
from gate.model.warnings import typed
from gate.report import json
from gate.report.outputs import make_folder, refuse_inputs, require_writable, targets, write
from gate.stats.design.quantiles import DEFAULT_TAUS
from gate.writing.phrases import listed
from gate.writing.units import agree, plural

_ORDER = 2
STUDY_JSON = "study.json"
STUDY_HTML = "study.html"


def run(options: AnalyseOptions, out: TextIO, err: TextIO) -> int:
    """Analyse measurement files and write what was asked for; 4 where something failed or nothing was measured.

    Raises: UserError: files that cannot be read, options that do not go with them, or a file that cannot be written.
    """
    folder, asked = options.out, OutputOptions(options.written)
    require_writable(asked)
    refuse_inputs([Path(file) for file in options.files], targets(asked))
    inputs = read_inputs(options.files)
    report, observed = analyse_inputs(inputs, options)
    to_html, to_json = map(options.written.get, ("html", "json"))
    pages, jsons = ([Path(each)] if each not in (None, "-") else [] for each in (to_html, to_json))
    if folder is not None:
        make_folder(folder)
        pages, jsons = [folder / STUDY_HTML, *pages], [folder / STUDY_JSON, *jsons]
    # its pictures take their time
    drawn = pages or to_html == "-"
    page = html.render(document_of(report, observed, [file.name for file in inputs.files])) if drawn else ""
    for file, text in (*((each, json.render_study(report)) for each in jsons), *((each, page) for each in pages)):
        write(file, text)
    if to_json == "-":
        out.write(json.render_study(report))
    elif to_html == "-":
        out.write(page)
    else:
        out.write(terminal.render(brief(report) if options.quiet else document_of(report), terminal.bounded(out)))
    if folder is not None and not options.quiet:
        err.write(f"perfgate: {folder / STUDY_HTML} has the tables and pictures\n")
    return Exit.ERROR if report.failures or not report.responses else 0


def analyse_inputs(inputs: Inputs, options: AnalyseOptions) -> tuple[StudyReport, list[Observed]]:
    """Analyse records; give with it what its pictures of values are drawn from, the observations of each response.

    Raises: UserError: a selection of nothing, or lines that do not go together.
    """
    records = in_order(inputs.records)
    planned = [r.record for r in records if isinstance(r.record, Execution)]
    if options.host_factors:
        records = with_host_factors(records, options.host_factors)
    refuse_duplicates(records)
    executions = [r.record for r in records if isinstance(r.record, Execution)]
    runs = [r.record for r in records if isinstance(r.record, Run)]
    # what was measured is said by the first run that has a study, else by the first that says
    told = [run for run in runs if run.config]
    config = config_of(next((run for run in told if "study" in (run.config or {})), told[0] if told else None))
    study = config.study if config else None
    metrics = options.responses or tuple((study.responses or ()) if study else ())
    observed = responses(
        executions, _wanted(options, config, study), options.benchmarks, metrics,
        lambda benchmark, metric: config is None or is_decided(config, benchmark, metric),
    )  # fmt: skip
    method = _method(options, config, study, runs)
    found = [analyse(each, method) for each in observed]
    # of different commits the run is a factor that the design does not name
    heads = {run.head.sha for run in runs if run.head is not None and run.head.sha is not None}
    mixed = f"the files are of {len(heads)} different heads: what differs between them is mixed into the effects"
    report = StudyReport(
        schema=SCHEMA,
        perfgate=__version__,
        confidence=method.confidence,
        order=method.order,
        seed=method.seed,
        files=[str(file) for file in inputs.files],
        runs=[StudyRun(**{name: getattr(run, name) for name in StudyRun.__struct_fields__}) for run in runs],
        commands={name: command for run in runs for name, command in (run.commands or {}).items()},
        unfinished=_unfinished(records),
        responses=found,
        failures=[r.record for r in records if isinstance(r.record, Failure)],
        warnings=[
            *dict.fromkeys(each.sentence() for file in files_of(records) for each in typed(file.run.warnings)),
            *([mixed] if len(heads) > 1 else []),
            *(_unmeasured(config, study, planned) if config and study else ()),
            *(each.sentence() for each in [*machines(records), *run_states(records), *inputs.warnings]),
        ],
    )
    return report, observed


def _wanted(options: AnalyseOptions, config: Config | None, study: Study | None) -> Observing:
    scale = options.scale or (study.scale if study else "auto")
    # which block of a fraction that is folded over an execution is of
    every = treatments(study, config.build) if study and config and study.foldover else ()
    folds = {_key(p.settings, p.side): p.fold for p in every}
    return Observing(
        scale="value" if scale == "plain" else scale,
        declared=model_factors(study, config.build) if config and study else [],
        order=options.settings,
        block=options.block or (study.block if study else None),
        fold=lambda e: folds.get(_key(e.factors, e.side), 0),
    )


def _method(options: AnalyseOptions, config: Config | None, study: Study | None, runs: Sequence[Run]) -> Method:
    abridgements: list[Abridgement] = [("without", (pattern,)) for pattern in options.without]
    abridgements += [("only", options.only)] if options.only else []
    seeds = (run.seed for run in runs if run.seed is not None)
    return Method(
        order=options.order or (model_order(study) if study else _ORDER),
        taus=options.quantiles or DEFAULT_TAUS,
        confidence=options.confidence or (config.gate.confidence if config else 0.95),
        iid=options.iid,
        seed=next(seeds, 0),
        abridgements=tuple(abridgements),
        sample=options.sample,
        histograms=options.histograms,
    )


def _unmeasured(config: Config, study: Study, executions: Sequence[Execution]) -> list[str]:
    """Name the treatments of the design that no line has."""
    measured = {_key(e.factors, e.side) for e in executions}
    lacking = [
        settings_text({**planned.settings, **({"side": planned.side} if "side" in study.factor else {})})
        for planned in treatments(study, config.build)
        if _key(planned.settings, planned.side) not in measured
    ]
    if not lacking or not executions:
        return []
    what = f"{plural(len(lacking), 'treatment')} of the design {agree(len(lacking), 'has', 'have')}"
    return [f"{what} no measurements: {listed(lacking, between='; ')}"]


def _unfinished(records: Sequence[Located]) -> str:
    """Say that measuring did not come to its end: the budget ended it, or a kill."""
    states = ([r for r in file.records if isinstance(r, HostState)][-1:] for file in files_of(records))
    if not any(last.when == "begin" or last.stop == "budget" for own in states for last in own):
        return ""
    return "Not finished: not all replicates were measured. `perfgate study --resume` measures the rest."


def _key(settings: Mapping[str, object], side: str) -> tuple[object, ...]:
    return (side, *sorted((name, str(plain(value))) for name, value in settings.items()))
