"""perfgate study analyse: measurements with factors -> effects, tables, pictures and words."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TextIO

from gate import __version__
from gate.codes import Exit, MisuseError
from gate.commands.study.analysis.analysis import Method, analyse
from gate.commands.study.analysis.observations import Observed, Wanted, plain
from gate.commands.study.analysis.selection import Abridgement, Selection, responses, with_host_factors
from gate.commands.study.options import AnalyseOptions
from gate.commands.study.progress import Progress, progress_of, warnings_of_runs
from gate.commands.study.report import csv
from gate.commands.study.report import text as study_text
from gate.config.fractions import model_order
from gate.config.rules import is_decided
from gate.config.study import Study
from gate.config.treatments import model_factors, treatments
from gate.config.types import Config
from gate.evidence.gather import refuse_duplicates
from gate.evidence.hosts import machines, run_states
from gate.evidence.inputs import Inputs, read_inputs
from gate.evidence.runs import config_of, in_order
from gate.model import SCHEMA, Execution, Failure, HostState, Run, UserError
from gate.model.study import Response, Scale, StudyReport, StudyRun
from gate.report import json
from gate.report.measurements import attachments
from gate.report.outputs import make_folder, refuse_inputs, write
from gate.stats.design.quantiles import DEFAULT_TAUS
from gate.units import agree, plural
from gate.words.effects import settings_text
from gate.words.streams import colored

_ORDER = 2


def run(options: AnalyseOptions, out: TextIO, err: TextIO) -> int:
    """Analyse measurement files and write what was asked for; 4 where something failed or nothing was measured.

    Raises:
        UserError: files that cannot be read, or options that do not go with them.
    """
    require_targets(options)
    analysed = analyse_inputs(read_inputs(options.files), options)
    write_asked(analysed, options)
    show(analysed, options, out, err)
    return exit_code(analysed.report)


def analyse_folder(folder: Path, options: AnalyseOptions, out: TextIO, err: TextIO) -> int:
    """Analyse the measurements in the folder of a run, and fill it with study.json, study.html and the tables."""
    return run(replace(options, files=(str(folder),), out=options.out or folder), out, err)


def exit_code(report: StudyReport) -> int:
    """Return 0, or 4 where something failed or nothing was measured."""
    return Exit.ERROR if report.failures or not report.responses else 0


def analyse_inputs(inputs: Inputs, options: AnalyseOptions) -> Analysed:
    """Analyse records.

    Raises:
        UserError: a selection of nothing, or lines that do not go together.
    """
    records = in_order(inputs.records)
    planned = [r.record for r in records if isinstance(r.record, Execution)]
    if options.host_factors:
        records = with_host_factors(records, options.host_factors)
    refuse_duplicates(records)
    executions = [r.record for r in records if isinstance(r.record, Execution)]
    runs = [r.record for r in records if isinstance(r.record, Run)]
    config = _config(runs)
    study = config.study if config else None
    declared = model_factors(study, config.build) if config and study else []
    wanted = Wanted(
        analysis_unit=options.unit or "execution",
        scale=_scale(options, study),
        declared=declared,
        order=options.settings,
        block=options.block or (study.block if study else None),
        fold=_fold(study, config) if study and config else lambda _: 0,
    )
    observed = responses(executions, _selection(options, config), wanted)
    method = Method(
        order=options.order or (model_order(study) if study else _ORDER),
        taus=options.quantiles or DEFAULT_TAUS,
        confidence=options.confidence or (config.gate.confidence if config else 0.95),
        iid=options.iid,
        seed=options.seed if options.seed is not None else next((r.seed for r in runs if r.seed is not None), 0),
        abridgements=_abridgements(options),
        sample=options.sample,
        histograms=options.histograms,
    )
    found = [analyse(each, method) for each in observed]
    return Analysed(
        StudyReport(
            schema=SCHEMA,
            perfgate=__version__,
            confidence=method.confidence,
            order=method.order,
            seed=method.seed,
            files=[str(file) for file in inputs.files],
            runs=[_run(run) for run in runs],
            commands={name: command for run in runs for name, command in (run.commands or {}).items()},
            states=[r.record for r in records if isinstance(r.record, HostState)],
            unfinished=_unfinished(progress_of(records)),
            responses=found,
            failures=[r.record for r in records if isinstance(r.record, Failure)],
            words=_words(found),
            warnings=[
                *(each.sentence() for each in warnings_of_runs(records)),
                *_commits(runs),
                *(_unmeasured(config, study, planned) if config and study else ()),
                *(each.sentence() for each in [*machines(records), *run_states(records), *inputs.warnings]),
            ],
        ),
        observed,
        inputs,
    )


def _scale(options: AnalyseOptions, study: Study | None) -> Scale | Literal["auto"]:
    if options.log and options.scale not in (None, "log"):
        raise MisuseError(f"--log is --scale log: leave out --log or --scale {options.scale}")
    chosen = "log" if options.log else options.scale or (study.scale if study else "auto")
    return "value" if chosen == "plain" else chosen


def _fold(study: Study, config: Config) -> Callable[[Execution], int]:
    """Tell which block of a fraction that is folded over an execution is of."""
    folds = {_key(p.settings, p.side): p.fold for p in treatments(study, config.build)} if study.foldover else {}
    return lambda e: folds.get(_key(e.factors, e.side), 0)


def _config(runs: Sequence[Run]) -> Config | None:
    """Return what the run was measured by, of the first run that has a study, else of the first that says."""
    told = [run for run in runs if run.config]
    return config_of(next((run for run in told if "study" in (run.config or {})), told[0] if told else None))


def _selection(options: AnalyseOptions, config: Config | None) -> Selection:
    study = config.study if config else None

    def default(benchmark: str, metric: str) -> bool:
        return config is None or is_decided(config, benchmark, metric)

    return Selection(
        benchmarks=options.benchmarks,
        responses=options.responses or tuple((study.responses or ()) if study else ()),
        default=default,
        settings=options.settings,
    )


def _abridgements(options: AnalyseOptions) -> tuple[Abridgement, ...]:
    without = tuple(Abridgement((pattern,), keep=False) for pattern in options.without)
    return (*without, *([Abridgement(options.only, keep=True)] if options.only else []))


def _run(run: Run) -> StudyRun:
    return StudyRun(
        id=run.id, created=run.created, seed=run.seed, base=run.base, head=run.head, host=run.host, session=run.session
    )


def _commits(runs: Sequence[Run]) -> list[str]:
    """Warn where runs measured different commits: then the run is a factor that the design does not name."""
    heads = {run.head.sha for run in runs if run.head is not None and run.head.sha is not None}
    if len(heads) < 2:
        return []
    return [f"the files are of {len(heads)} different heads: what differs between them is mixed into the effects"]


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
    more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
    what = f"{plural(len(lacking), 'treatment')} of the design {agree(len(lacking), 'has', 'have')}"
    return [f"{what} no measurements: {'; '.join(lacking[:3])}{more}"]


def _unfinished(progress: Sequence[Progress]) -> str:
    """Say what of the design is complete where not all of it was measured: the budget ended it, or a kill."""
    if all(each.finished for each in progress):
        return ""
    several = len(progress) > 1
    parts = [
        f"{f'session {each.session}: ' if several else ''}{_complete(each)}" for each in progress if not each.finished
    ]
    return f"Not finished: {'; '.join(parts)}. `perfgate study --resume` measures the rest."


def _complete(progress: Progress) -> str:
    of = f"{progress.complete} of {plural(progress.planned, 'replicate')} {agree(progress.complete, 'is', 'are')}"
    more = plural(progress.partial, "execution")
    next_ = f", and {more} of the next ({progress.each} in each)" if progress.partial else ""
    return f"{of} complete{next_}"


def _key(settings: Mapping[str, object], side: str) -> tuple[object, ...]:
    return (side, *sorted((name, str(plain(value))) for name, value in settings.items()))


def _words(found: Sequence[Response]) -> list[str]:
    """Return what matters most of each response, in one sentence each."""
    return [f"{each.benchmark}, {each.metric}: {each.words[0]}" for each in found if each.words]


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
