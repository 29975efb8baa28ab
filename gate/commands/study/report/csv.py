"""The analysis of a study -> tables of CSV, one file a table, all responses below each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gate.commands.study.report.tables import QUANTILES
from gate.commands.study.report.words import checks
from gate.model.study import Abridged, Response, StudyReport
from gate.report.csv import cell

Row = tuple[Sequence[object], object]
"""First cells, and what the others are attributes of; None: there are no others."""


def render(report: StudyReport) -> dict[str, str]:
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
