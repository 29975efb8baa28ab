"""perfgate study analyse: measurements with factors -> effects, tables as text and CSV, pictures and words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from gate import __version__
from gate.codes import Exit
from gate.commands.study.analysis import Method, analyse
from gate.commands.study.document import brief, document_of
from gate.commands.study.experiment import Progress, progress_of, warnings_of_runs
from gate.commands.study.observations import Observed, Wanted, plain
from gate.commands.study.options import AnalyseOptions
from gate.commands.study.selection import Abridgement, responses, with_host_factors
from gate.commands.study.tables import QUANTILES
from gate.commands.study.words import checks
from gate.config.fractions import model_order
from gate.config.rules import is_decided
from gate.config.study import Study
from gate.config.treatments import model_factors, treatments
from gate.config.types import Config
from gate.document import html, terminal
from gate.evidence.gather import refuse_duplicates
from gate.evidence.hosts import machines, run_states
from gate.evidence.inputs import read_inputs
from gate.evidence.records import Inputs
from gate.evidence.runs import config_of, in_order
from gate.model import SCHEMA, Execution, Failure, HostState, Run
from gate.model.study import Abridged, Response, StudyReport, StudyRun
from gate.report import json
from gate.report.formats.csv import cell
from gate.report.outputs import make_folder, refuse_inputs, write
from gate.stats.design.quantiles import DEFAULT_TAUS
from gate.units import agree, plural
from gate.words.effects import settings_text

_ORDER = 2
STUDY_JSON = "study.json"
STUDY_HTML = "study.html"
TABLES = "tables"


def run(options: AnalyseOptions, out: TextIO, err: TextIO) -> int:
    """Analyse measurement files and write what was asked for; 4 where something failed or nothing was measured.

    Raises:
        UserError: files that cannot be read, options that do not go with them, or a file that cannot be written.
    """
    outputs, folder = options.outputs, options.out
    refuse_inputs([Path(file) for file in options.files], outputs.require_writable())
    inputs = read_inputs(options.files)
    report, observed = analyse_inputs(inputs, options)
    pages, jsons = ([Path(each)] if each not in (None, "-") else [] for each in (outputs.html, outputs.json))
    folders = [outputs.csv] if outputs.csv is not None else []
    if folder is not None:
        make_folder(folder)
        own = (folder / name for name in (STUDY_HTML, STUDY_JSON, TABLES))
        pages, jsons, folders = ([each, *files] for each, files in zip(own, (pages, jsons, folders), strict=True))
    # its pictures take their time
    drawn = pages or outputs.html == "-"
    page = html.render(document_of(report, observed, [file.name for file in inputs.files])) if drawn else ""
    for file, text in (*((each, json.render_study(report)) for each in jsons), *((each, page) for each in pages)):
        write(file, text)
    for each in folders:
        for name, table in csv_tables(report).items():
            write(each / name, table)
    if outputs.json == "-":
        out.write(json.render_study(report))
    elif outputs.html == "-":
        out.write(page)
    else:
        out.write(terminal.render(brief(report) if outputs.quiet else document_of(report), terminal.bounded(out)))
    if folder is not None and not outputs.quiet:
        err.write(f"perfgate: {folder / STUDY_HTML} has the tables and pictures\n")
    return Exit.ERROR if report.failures or not report.responses else 0


def analyse_inputs(inputs: Inputs, options: AnalyseOptions) -> tuple[StudyReport, list[Observed]]:
    """Analyse records; give with it what its pictures of values are drawn from, the observations of each response.

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
        states=[r.record for r in records if isinstance(r.record, HostState)],
        unfinished=_unfinished(progress_of(records)),
        responses=found,
        failures=[r.record for r in records if isinstance(r.record, Failure)],
        # what matters most of each response
        words=[f"{each.benchmark}, {each.metric}: {each.words[0]}" for each in found if each.words],
        warnings=[
            *(each.sentence() for each in warnings_of_runs(records)),
            *([mixed] if len(heads) > 1 else []),
            *(_unmeasured(config, study, planned) if config and study else ()),
            *(each.sentence() for each in [*machines(records), *run_states(records), *inputs.warnings]),
        ],
    )
    return report, observed


def _wanted(options: AnalyseOptions, config: Config | None, study: Study | None) -> Wanted:
    scale = options.scale or (study.scale if study else "auto")
    # which block of a fraction that is folded over an execution is of
    every = treatments(study, config.build) if study and config and study.foldover else ()
    folds = {_key(p.settings, p.side): p.fold for p in every}
    return Wanted(
        analysis_unit=options.unit or "execution",
        scale="value" if scale == "plain" else scale,
        declared=model_factors(study, config.build) if config and study else [],
        order=options.settings,
        block=options.block or (study.block if study else None),
        fold=lambda e: folds.get(_key(e.factors, e.side), 0),
    )


def _method(options: AnalyseOptions, config: Config | None, study: Study | None, runs: Sequence[Run]) -> Method:
    without = [Abridgement((pattern,), keep=False) for pattern in options.without]
    seeds = (seed for seed in (options.seed, *(run.seed for run in runs)) if seed is not None)
    return Method(
        order=options.order or (model_order(study) if study else _ORDER),
        taus=options.quantiles or DEFAULT_TAUS,
        confidence=options.confidence or (config.gate.confidence if config else 0.95),
        iid=options.iid,
        seed=next(seeds, 0),
        abridgements=(*without, *([Abridgement(options.only, keep=True)] if options.only else [])),
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
    more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
    what = f"{plural(len(lacking), 'treatment')} of the design {agree(len(lacking), 'has', 'have')}"
    return [f"{what} no measurements: {'; '.join(lacking[:3])}{more}"]


def _unfinished(progress: Sequence[Progress]) -> str:
    """Say what of the design is complete where not all of it was measured: the budget ended it, or a kill."""
    parts = []
    for each in progress:
        if not each.finished:
            session = f"session {each.session}: " if len(progress) > 1 else ""
            complete = f"{each.complete} of {plural(each.planned, 'replicate')} {agree(each.complete, 'is', 'are')}"
            more = f", and {plural(each.partial, 'start')} of the next ({each.each} in each)" if each.partial else ""
            parts.append(f"{session}{complete} complete{more}")
    return f"Not finished: {'; '.join(parts)}. `perfgate study --resume` measures the rest." if parts else ""


def _key(settings: Mapping[str, object], side: str) -> tuple[object, ...]:
    return (side, *sorted((name, str(plain(value))) for name, value in settings.items()))


# --- tables of CSV, one file a table, all responses below each other --------------------------------------------------

Row = tuple[Sequence[object], object]
"""First cells, and what the others are attributes of; None: there are no others."""


def csv_tables(report: StudyReport) -> dict[str, str]:
    """Return the name of each file and its text, as RFC 4180 has it, with a header line; tables without rows too.

    Numbers are in the base unit of the response, with as many digits as it takes to read the same double back.
    Settings are JSON objects. What does not exist is an empty cell. "data" of models, means and blocks is "all" or
    the name of an abridged data set.
    """
    return {f"{name}.csv": _text(*table, report.responses) for name, table in _TABLES.items()}


def _text(first: str, others: str, rows: Callable[[Response], Iterable[Row]], responses: Sequence[Response]) -> str:
    columns = [own.partition("=") for own in others.split()]
    names = ["benchmark", "metric", "unit", *first.split(), *(name for name, _, _ in columns)]
    lines = [names]

    def value(each: Any, name: str) -> object:
        return each.quantiles.get(name) if name in QUANTILES else getattr(each, name)

    for response in responses:
        for cells, each in rows(response):
            rest = [] if each is None else [value(each, attribute or name) for name, _, attribute in columns]
            own = [response.benchmark, response.metric, response.unit, *cells, *rest]
            lines.append([_cell(value) for value in (*own, *(None,) * (len(names) - len(own)))])
    return "".join(f"{','.join(line)}\n" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return cell(msgspec.json.encode(value).decode() if isinstance(value, (Mapping, list)) else value)


def _each(found: Iterable[object], *first: object) -> Iterator[Row]:
    return ((first, each) for each in found)


def _by_data(rows: Callable[[Response | Abridged], Iterable[Row]]) -> Callable[[Response], Iterator[Row]]:
    """Give the rows of all data and of each abridged data set, whose name comes first."""

    def found(response: Response) -> Iterator[Row]:
        sets: list[tuple[str, Response | Abridged]] = [("all", response)]
        for name, data in [*sets, *((each.name, each) for each in response.abridged)]:
            yield from (((name, *cells), each) for cells, each in rows(data))

    return found


def _terms(data: Response | Abridged) -> Iterator[Row]:
    if (model := data.linear) is not None:
        yield from _each(model.terms)
        yield ("residuals", model.residual_df, model.residual_ss, model.unexplained), None


def _quantile_effects(response: Response) -> Iterator[Row]:
    for model in response.quantiles.models if response.quantiles else []:
        none = [None] * len(model.effects)
        for kind, effects, errors in (("clustered", model.effects, none), ("iid", model.iid, model.iid_errors)):
            for e, error in zip(effects or [], errors or [], strict=True):
                own = (e.term, e.settings, e.estimate, e.low, e.high, e.p)
                yield (kind, model.tau, model.enough, *own, error), None


_EFFECT = "term settings estimate low high p"
_TABLES: dict[str, tuple[str, str, Callable[[Response], Iterable[Row]]]] = {
    "treatments": (
        "", "settings sessions builds executions values mean sd quantiles", lambda r: _each(r.treatments)
    ),
    "terms": ("data", "term df sum_of_squares share f p p_adjusted stratum error_df aliases", _by_data(_terms)),
    "strata": (
        "data", "stratum=name groups df mean_square component",
        _by_data(lambda data: _each(data.linear.strata if data.linear else ())),
    ),
    "contrasts": (
        "term aliases estimate beyond_me beyond_sme", "pse me sme df",
        lambda r: (
            ((c.term, c.aliases, c.estimate, c.possible, c.active), r.lenth)
            for c in (r.lenth.contrasts if r.lenth else ())
        ),
    ),
    "claims": ("", "term statistic weight p p_adjusted claimed", lambda r: _each(r.claims)),
    "effects": (
        "data", _EFFECT,
        _by_data(lambda data: _each(
            [data.linear.intercept, *(e for t in data.linear.terms for e in t.effects)] if data.linear else []
        )),
    ),
    "quantile-effects": (f"intervals tau enough {_EFFECT} std_error", "", _quantile_effects),
    "one-way": (
        "factor at", f"setting count mean sd {' '.join(QUANTILES)} letters",
        lambda r: (row for each in r.one_ways for row in _each(each.rows, each.factor, each.at)),
    ),
    "differences": (
        "factor at", "a b difference low high p",
        lambda r: (row for each in r.one_ways for row in _each(each.pairs, each.factor, each.at)),
    ),
    "percents": (
        "", "factor at first second first_mean second_mean difference percent low high words",
        lambda r: _each(r.percents),
    ),
    "means": (
        "data factors", "settings mean treatments",
        _by_data(lambda data: (
            row for main in (*data.mains, *data.interactions) for row in _each(main.points, ":".join(main.factors))
        )),
    ),
    "blocks": (
        "data factor boxes", "complete order same chance",
        _by_data(lambda data: (((b.factor, len(b.boxes)), b) for b in data.blocks)),
    ),
    "spreads": ("", "factor at ratio f_p levene_p", lambda r: _each(r.spreads)),
    "kruskal-wallis": ("", "factor setting at groups h=statistic df p p_adjusted", lambda r: _each(r.ranks)),
    "bca-means": ("", "settings units mean low high", lambda r: _each(r.means)),
    "sample-sizes": (
        "settings method size lower_quartile median upper_quartile", "coverage subsamples",
        lambda r: (
            ((r.sample_sizes and r.sample_sizes.settings, row.method, row.size, *row.widths), row)
            for row in (r.sample_sizes.rows if r.sample_sizes else ())
        ),
    ),
    "checks": ("", "name statistic df p holds words", lambda r: _each(checks(r))),
}  # fmt: skip
"""Of each table its first columns, the columns that are attributes ("name=attribute" where these differ), its rows."""
