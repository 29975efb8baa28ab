"""The analysis of a study -> tables of CSV, one file a table, all responses below each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from gate.model.study import Blocks, Effect, LinearModel, MainEffect, Response, Setting, StudyReport
from gate.report.csv import cell

Cells = Sequence[object]
_SCHED = ("minimum", "10%", "25%", "median", "75%", "90%", "maximum")
_FIRST = ("benchmark", "metric", "unit")
_ALL = "all"


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    rows: Callable[[Response], Iterable[Cells]]


def render(report: StudyReport) -> dict[str, str]:
    """Return the name of each file and its text, as RFC 4180 has it, with a header line; tables without rows too.

    Numbers are in the base unit of the response, with as many digits as it takes to read the same double back.
    Settings are JSON objects. What does not exist is an empty cell. "data" of models, means and blocks is "all" or
    the name of an abridged data set.
    """
    return {f"{table.name}.csv": _text(table, report.responses) for table in _TABLES}


def _text(table: _Table, responses: Sequence[Response]) -> str:
    lines = [",".join((*_FIRST, *table.columns))]
    for response in responses:
        name = [response.benchmark, response.metric, response.unit]
        lines += [",".join(_cell(value) for value in (*name, *row)) for row in table.rows(response)]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return cell(_json(value) if isinstance(value, (Mapping, list)) else value)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


@dataclass(frozen=True, slots=True)
class _Data:
    name: str
    linear: LinearModel | None
    mains: list[MainEffect]
    blocks: list[Blocks]


def _data(response: Response) -> Iterator[_Data]:
    yield _Data(_ALL, response.linear, [*response.mains, *response.interactions], response.blocks)
    for each in response.abridged:
        yield _Data(each.name, each.linear, [*each.mains, *each.interactions], each.blocks)


def _treatments(response: Response) -> Iterator[Cells]:
    for t in response.treatments:
        yield t.settings, t.sessions, t.builds, t.executions, t.values, t.mean, t.sd, t.quantiles


def _terms(response: Response) -> Iterator[Cells]:
    for data in _data(response):
        model = data.linear
        for t in model.terms if model else []:
            error = (t.stratum, t.error_df)
            yield data.name, t.term, t.df, t.sum_of_squares, t.share, t.f, t.p, t.p_adjusted, *error, t.aliases
        if model:
            rest = (model.residual_df, model.residual_ss, model.unexplained)
            yield data.name, "residuals", *rest, *(None,) * 6


def _strata(response: Response) -> Iterator[Cells]:
    for data in _data(response):
        for s in data.linear.strata if data.linear else []:
            yield data.name, s.name, s.groups, s.df, s.mean_square, s.component


def _contrasts(response: Response) -> Iterator[Cells]:
    found = response.lenth
    if found is None:
        return
    for c in found.contrasts:
        yield c.term, c.aliases, c.estimate, c.possible, c.active, found.pse, found.me, found.sme, found.df


def _claims(response: Response) -> Iterator[Cells]:
    for c in response.claims:
        yield c.term, c.statistic, c.weight, c.p, c.p_adjusted, c.claimed, c.low, c.high


def _effect(e: Effect) -> Cells:
    return e.term, e.settings, e.against or None, e.estimate, e.low, e.high, e.p


def _effects(response: Response) -> Iterator[Cells]:
    for data in _data(response):
        if data.linear is not None:
            yield data.name, *_effect(data.linear.intercept)
            for term in data.linear.terms:
                yield from ((data.name, *_effect(e)) for e in term.effects)


def _quantile_effects(response: Response) -> Iterator[Cells]:
    for model in response.quantiles.models if response.quantiles else []:
        yield from (("clustered", model.tau, model.enough, *_effect(e), None) for e in model.effects)
        alone = zip(model.iid or [], model.iid_errors or [], strict=True)
        yield from (("iid", model.tau, model.enough, *_effect(e), error) for e, error in alone)


def _one_way(response: Response) -> Iterator[Cells]:
    for each in response.one_ways:
        for row in each.rows:
            numbers = [row.quantiles.get(name) for name in _SCHED]
            yield each.factor, each.at, row.setting, row.count, row.mean, row.sd, *numbers, row.letters


def _pairs(response: Response) -> Iterator[Cells]:
    for each in response.one_ways:
        yield from ((each.factor, each.at, p.a, p.b, p.difference, p.low, p.high, p.p) for p in each.pairs)


def _firsts(response: Response) -> Iterator[Cells]:
    for each in response.one_ways:
        yield from ((each.factor, each.at, f.setting, f.difference, f.percent, f.low, f.high, f.p) for f in each.firsts)


def _percents(response: Response) -> Iterator[Cells]:
    for r in response.percents:
        yield (
            r.factor, r.at, r.first, r.second, r.first_mean, r.second_mean, r.difference, r.percent, r.low, r.high,
            r.words,
        )  # fmt: skip


def _trends(response: Response) -> Iterator[Cells]:
    for t in response.trends:
        for name, own in (("slope", t.slope), ("per unit", t.per_unit), ("curvature", t.curvature)):
            if own is not None:
                yield t.factor, t.axis, name, own.estimate, own.low, own.high, own.p


def _means(response: Response) -> Iterator[Cells]:
    for data in _data(response):
        for main in data.mains:
            name = ":".join(main.factors)
            yield from ((data.name, name, p.settings, p.mean, p.treatments) for p in main.points)


def _blocks(response: Response) -> Iterator[Cells]:
    for data in _data(response):
        for b in data.blocks:
            order: list[Setting] | None = b.order
            yield data.name, b.factor, len(b.boxes), b.complete, order, b.same, b.chance, b.tail


def _spreads(response: Response) -> Iterator[Cells]:
    yield from ((s.factor, s.at, s.ratio, s.f_p, s.levene_p) for s in response.spreads)


def _ranks(response: Response) -> Iterator[Cells]:
    yield from ((t.factor, t.setting, t.at, t.groups, t.statistic, t.df, t.p, t.p_adjusted) for t in response.ranks)


def _intervals(response: Response) -> Iterator[Cells]:
    yield from ((m.settings, m.units, m.mean, m.low, m.high) for m in response.means)


def _sizes(response: Response) -> Iterator[Cells]:
    found = response.sample_sizes
    if found is not None:
        yield from (
            (found.settings, row.method, row.size, *row.widths, row.coverage, row.subsamples) for row in found.rows
        )


def _checks(response: Response) -> Iterator[Cells]:
    found = list(response.diagnostics.checks) if response.diagnostics else []
    found += [response.kruskal] if response.kruskal else []
    found += [each.check for each in response.dependences]
    yield from ((c.name, c.statistic, c.df, c.p, c.holds, c.words) for c in found)


_EFFECT = ("term", "settings", "against", "estimate", "low", "high", "p")
_TABLES = (
    _Table(
        "treatments",
        ("settings", "sessions", "builds", "executions", "values", "mean", "sd", "quantiles"),
        _treatments,
    ),
    _Table(
        "terms",
        ("data", "term", "df", "sum_of_squares", "share", "f", "p", "p_adjusted", "stratum", "error_df", "aliases"),
        _terms,
    ),
    _Table("strata", ("data", "stratum", "groups", "df", "mean_square", "component"), _strata),
    _Table(
        "contrasts",
        ("term", "aliases", "estimate", "beyond_me", "beyond_sme", "pse", "me", "sme", "df"),
        _contrasts,
    ),
    _Table("claims", ("term", "statistic", "weight", "p", "p_adjusted", "claimed", "low", "high"), _claims),
    _Table("effects", ("data", *_EFFECT), _effects),
    _Table("quantile-effects", ("intervals", "tau", "enough", *_EFFECT, "std_error"), _quantile_effects),
    _Table("one-way", ("factor", "at", "setting", "count", "mean", "sd", *_SCHED, "letters"), _one_way),
    _Table("differences", ("factor", "at", "a", "b", "difference", "low", "high", "p"), _pairs),
    _Table("against-first", ("factor", "at", "setting", "difference", "percent", "low", "high", "p"), _firsts),
    _Table(
        "percents",
        ("factor", "at", "first", "second", "first_mean", "second_mean", "difference", "percent", "low", "high",
         "words"),
        _percents,
    ),
    _Table("trends", ("factor", "axis", "what", "estimate", "low", "high", "p"), _trends),
    _Table("means", ("data", "factors", "settings", "mean", "treatments"), _means),
    _Table("blocks", ("data", "factor", "boxes", "complete", "order", "same", "chance", "tail"), _blocks),
    _Table("spreads", ("factor", "at", "ratio", "f_p", "levene_p"), _spreads),
    _Table("kruskal-wallis", ("factor", "setting", "at", "groups", "h", "df", "p", "p_adjusted"), _ranks),
    _Table("bca-means", ("settings", "units", "mean", "low", "high"), _intervals),
    _Table(
        "sample-sizes",
        ("settings", "method", "size", "lower_quartile", "median", "upper_quartile", "coverage", "subsamples"),
        _sizes,
    ),
    _Table("checks", ("name", "statistic", "df", "p", "holds", "words"), _checks),
)  # fmt: skip
