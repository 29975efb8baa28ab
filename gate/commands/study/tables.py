"""The tables of a study: each is rows and columns, a column a heading, a value of the row, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from gate.commands.study import words as say
from gate.commands.study.changes import named, percentile, settings_text
from gate.commands.study.words import Amounts
from gate.document.document import Cell, Column, Row, Table
from gate.model.study import Effect, Lenth, LinearModel, OneWay, PercentRow, QuantileModel, Response, SampleSizes
from gate.writing.amounts import format_number, format_p
from gate.writing.units import format_confidence, format_share

QUANTILES = ("minimum", "10%", "25%", "median", "75%", "90%", "maximum")
"""Of a one-way table, as SCHED has them."""
MOST_APART = 12
"""Combinations beside machines that have a table of their own."""
_ROWS = 16
"""Most rows of a table in a text; all are in the page and in the tables."""
MOST_RANKS = 60
"""Rows of Kruskal-Wallis tests that a page shows."""


Shown = tuple[Column, Callable[[Any], Any], Callable[[Any], str]]
"""A column: its head, what takes its value of a row, and what writes that; where it is None there is nothing."""


def text(
    title: str, value: str | Callable[[Any], Any], show: Callable[[Any], str] = str, *, right: bool = False,
    spare: bool = False,
) -> Shown:  # fmt: skip
    """Describe a column of words; value: the name of what the row has, or what makes it of the row."""
    return Column(title, right=right, spare=spare), attrgetter(value) if isinstance(value, str) else value, show


number = partial(text, right=True)
"""Describes a column of numbers."""


def chance(title: str, name: str = "p", of: Callable[[Any], Any] = lambda row: row, *, spare: bool = False) -> Shown:
    """Describe a column of p, which says where there is none; of: what of the row has it, None: nothing."""
    return number(title, of, lambda own: format_p(getattr(own, name)), spare=spare)


def view(caption: str, rows: Iterable[Any], *columns: Shown, note: str = "") -> Table:
    """Write a table."""
    cells = ([Cell("" if (v := value(row)) is None else show(v)) for _, value, show in columns] for row in rows)
    return Table(caption, "", [column for column, *_ in columns], list(map(Row, cells)), note=note, most=_ROWS)


def _in(unit: str, before: str = ", in ") -> str:
    return f"{before}{unit}" if unit else ""


def _or(empty: str) -> Callable[[Any], str]:
    return lambda settings: settings_text(settings) or empty


def _quantile_of(name: str) -> Callable[[Any], Any]:
    return lambda row: row.quantiles.get(name)


# --- models ---------------------------------------------------------------------------------------------------------


def linear(response: Response, model: LinearModel, confidence: float, name: str = "") -> Table:
    """Lay out a linear model in the form of QR Table 3, with the error of each term where there are several."""
    amounts, percent = Amounts(response), format_confidence(confidence)
    rows: list[tuple[Any, Any, Any]] = []
    for term in model.terms:
        for i, effect in enumerate(term.effects):
            rows.append((say.effect_name(effect, response, model), amounts.ends(effect), None if i else term))
    # blocks are in the residuals, though no term is tested against them
    left = f"residuals, {model.block}s among them" if model.block else "residuals"
    rows.append((left, amounts.ends(None), model))

    def of(term: str, residual: str | None = None) -> Callable[[Any], Any]:
        """Take what a term has, of the row of the residuals what the model has."""

        def value(row: tuple[Any, Any, Any]) -> Any:
            name = term if row[2] is not model else residual
            return None if row[2] is None or name is None else getattr(row[2], name)

        return value

    def tested(row: tuple[Any, Any, Any]) -> Any:
        return None if row[2] is model else row[2]

    def df(row: tuple[Any, Any, Any]) -> Any:
        own = row[2]
        return own and (model.residual_df if own is model else own.df)

    errors = [text("tested against", tested, say.error_of, spare=True)]
    fitted = f"{model.observations} observations, R² {'unknown' if model.r2 is None else format_share(model.r2)}"
    return view(
        f"{f'{name}: ' if name else ''}Effects on the mean{_in(amounts.changes, ' in ')}; {fitted}",
        rows,
        text("effect", lambda row: row[0]),
        number(f"low {percent}", lambda row: row[1][0]),
        number("estimate", lambda row: row[1][1]),
        number(f"high {percent}", lambda row: row[1][2]),
        number("df", df, spare=True),
        number(f"sum sq{amounts.squared}", of("sum_of_squares", "residual_ss"), amounts.squares, spare=True),
        number("share", of("share", "unexplained"), format_share),
        chance("p", of=tested),
        chance("p, family", "p_adjusted", tested),
        *(errors if len(model.strata) > 1 else []),
        note="; ".join([*say.below(response, model), *([say.errors(model)] if model.strata else [])]),
    )


def strata(response: Response, model: LinearModel) -> Table:
    """Lay out what differs beside the factors, each an error that some terms are told from."""
    amounts = Amounts(response)
    return view(
        "Strata: what differs beside the factors",
        model.strata,
        text("differences between", lambda own: say.ERRORS[own.name]),
        number("of them", "groups"),
        number("df", "df", "{:g}".format),
        number(f"mean square{amounts.squared}", "mean_square", amounts.squares),
        number(f"variance{amounts.squared}", "component", amounts.squares),
        number("sd", lambda own: None if own.component is None else own.component**0.5, amounts.change),
        note=say.method(model),
    )


def lenth(response: Response, found: Lenth) -> Table:
    """Lay out the contrasts of a two-level design with one unit a treatment, by Lenth's limits."""
    amounts = Amounts(response)
    change = amounts.change

    def yes(value: bool) -> str:
        return "yes" if value else "no"

    return view(
        f"Contrasts, each half the change{_in(amounts.changes)}; {format_confidence(found.confidence)}",
        found.contrasts,
        text("contrast", lambda own: named(own.term, own.aliases)),
        number("estimate", "estimate", amounts.signed),
        text("beyond ME", "possible", yes),
        text("beyond SME", "active", yes),
        note=f"pseudo standard error {change(found.pse)}; margin of error of one contrast (ME) {change(found.me)}, of "
        f"all {len(found.contrasts)} at once (SME) {change(found.sme)}; {found.df:.3g} df",
    )


def quantile(response: Response, model: QuantileModel, confidence: float) -> Table:
    """Lay out the effects on one quantile in the form of QR Table 4, those for independent values beside."""
    amounts, percent = Amounts(response), format_confidence(confidence)
    none = [None] * len(model.effects)
    rows = [*zip(model.effects, model.iid or none, model.iid_errors or none, strict=True)]
    extra = (
        number(f"iid low {percent}", lambda row: amounts.ends(row[1])[0], spare=True),
        number(f"iid high {percent}", lambda row: amounts.ends(row[1])[2], spare=True),
        number("iid error", lambda row: row[2], amounts.change),
        number("iid t", lambda row: row[1].estimate / row[2] if row[2] else None, "{:.2f}".format),
        chance("iid p", of=lambda row: row[1]),
    )
    level = _in(amounts.unit.name, ", intercept in ") if amounts.changes != amounts.unit.name else ""
    few = "" if model.enough else "; too few values beyond it in some treatment to be sure"
    return view(
        f"Effects on {percentile(model.tau)}{_in(amounts.changes + level, ' in ') if amounts.changes else ''}{few}",
        rows,
        text("effect", lambda row: say.effect_name(row[0], response)),
        number(f"low {percent}", lambda row: amounts.ends(row[0])[0]),
        number("estimate", lambda row: amounts.ends(row[0])[1]),
        number(f"high {percent}", lambda row: amounts.ends(row[0])[2]),
        chance("p", of=lambda row: row[0]),
        *(extra if model.iid else ()),
    )


def by_quantile(response: Response, models: Sequence[QuantileModel]) -> Table:
    """Lay out the estimates of all effects beside each other, a column for each quantile."""
    amounts = Amounts(response)
    short = [percentile(model.tau) for model in models if not model.enough]
    return view(
        f"Effects on each quantile{_in(amounts.changes, ' in ')}",
        zip(*(model.effects for model in models), strict=True),
        text("effect", lambda row: say.effect_name(row[0], response)),
        *(
            number(percentile(m.tau), itemgetter(i), lambda effect: amounts.ends(effect)[1])
            for i, m in enumerate(models)
        ),
        note=f"Too few values beyond {', '.join(short)} in some treatment to be sure." if short else "",
    )


def checks(response: Response) -> Table:
    """Lay out what the tests say."""
    return view(
        "Checks",
        say.checks(response),
        text("test", "name"),
        number("statistic", "statistic", format_number, spare=True),
        number("df", "df", lambda df: ", ".join(f"{own:.4g}" for own in df), spare=True),
        chance("p", spare=True),
        text("says", "words"),
    )


def side_by_side(response: Response) -> Table | None:
    """Lay out the main effects of all data sets beside each other (NIST 4.7)."""
    if not response.abridged or response.linear is None:
        return None
    signed, change = Amounts(response).signed, Amounts(response).change
    models = {"all treatments": response.linear} | {each.name: each.linear for each in response.abridged}
    effects: dict[tuple[str, str], Effect] = {}
    for e in (e for m in models.values() for t in m.terms if len(t.factors) == 1 for e in t.effects):
        effects.setdefault((e.term, settings_text(e.settings)), e)

    def own(model: LinearModel, effect: Effect) -> str:
        every = (e for term in model.terms for e in term.effects)
        found = next((e for e in every if (e.term, e.settings) == (effect.term, effect.settings)), None)
        if found is None:
            return "-"
        half = "" if found.low is None or found.high is None else f" ±{change((found.high - found.low) / 2)}"
        return f"{signed(found.estimate)}{half}"

    return view(
        "Main effects with and without some treatments",
        effects.values(),
        text("effect", lambda effect: say.effect_name(effect, response)),
        *(number(name, partial(own, model)) for name, model in models.items()),
    )


# --- treatments and settings ----------------------------------------------------------------------------------------


def design(response: Response) -> Table:
    """Lay out the factors and their settings."""
    return view(
        "Factors: the first setting is coded -1",
        response.factors,
        text("factor", "name"),
        text("low (-1)", lambda factor: factor.settings[0]),
        text("others", lambda factor: ", ".join(map(str, factor.settings[1:]))),
        text("varies", "varies", "by {}".format),
    )


def treatments(response: Response) -> Table:
    """Lay out what was measured of each treatment."""
    amounts = Amounts(response)
    taus = dict.fromkeys(tau for t in response.treatments for tau in t.quantiles)
    odd = response.questionable
    return view(
        f"Treatments{_in(amounts.unit.name)}; quantiles of all values, where there are enough of them",
        response.treatments,
        text("treatment", "settings", lambda at: _or("all")(at) + (" (questionable)" if at in odd else "")),
        number("builds", "builds", spare=True),
        number("executions", "executions", spare=True),
        number("values", "values", spare=True),
        number("mean", "mean", amounts.level),
        number("sd", "sd", amounts.change),
        *(number(percentile(float(t)), _quantile_of(t), amounts.level) for t in taus),
    )


def means(response: Response, confidence: float) -> Table:
    """Lay out the mean of each treatment with its BCa interval (NIST Fig. 1)."""
    amounts, percent = Amounts(response), format_confidence(confidence)
    return view(
        f"Means of the units{_in(amounts.unit.name)}, with BCa bootstrap intervals",
        response.means,
        text("treatment", "settings", _or("all")),
        number("units", "units"),
        number(f"low {percent}", "low", amounts.level),
        number("mean", "mean", amounts.level),
        number(f"high {percent}", "high", amounts.level),
    )


def percents(response: Response, factor: str) -> list[Table]:
    """Lay out one factor's settings against its first, in the form of SCHED's result tables.

    Where another factor is one of machines or boots, a row is one of these, and each combination of the others has a
    table; of many there is one for all.
    """
    found = [row for row in response.percents if row.factor == factor]
    bound = (f.name for f in response.factors if f.varies == "session" and f.name != factor and len(f.settings) > 1)
    machine = next(bound, None)
    apart: dict[str, list[PercentRow]] = {}
    for row in found:
        at = {name: setting for name, setting in row.at.items() if name != machine}
        apart.setdefault(settings_text(at) if machine else "", []).append(row)
    if len(apart) > MOST_APART:
        apart = {"": found}
    amounts = Amounts(response)

    def interval(row: PercentRow) -> str | None:
        if row.low is None or row.high is None:
            return None
        return f"{format_share(row.low, sign=True)} to {format_share(row.high, sign=True)}"

    def setting(name: str) -> Callable[[Any], str]:
        return lambda at: str(at[name])

    views = []
    for place, rows in apart.items():
        several = len({(row.first, row.second) for row in rows}) > 1
        varied = [name for name in rows[0].at if len({str(row.at.get(name)) for row in rows}) > 1]
        single = varied[0] if len(varied) == 1 and (place or len(rows[0].at) == 1) else None
        names = ("first", "second") if several else (f"{factor}={rows[0].first}", f"{factor}={rows[0].second}")
        show = _or("everywhere") if single is None else setting(single)
        views.append(
            view(
                f"{factor}, setting against setting{_in(place, ' at ')}{_in(amounts.unit.name)}",
                rows,
                text(single or "at", "at", show),
                *([text("settings", lambda row: f"{row.first} to {row.second}")] if several else []),
                number(names[0], "first_mean", amounts.level),
                number(names[1], "second_mean", amounts.level),
                number("difference", "difference", amounts.signed, spare=True),
                text("result", "words"),
                text("interval", interval, spare=True),
            )
        )
    return views


def one_way(response: Response, found: OneWay, confidence: float) -> list[Table]:
    """Lay out a one-way table with quantiles and Tukey-Kramer groups (SCHED, appendix), and its comparisons."""
    amounts, percent = Amounts(response), format_confidence(confidence)
    where = f"{found.factor}{_in(settings_text(found.at), ' at ')}"
    low, high = (number(f"{end} {percent}", end, amounts.change) for end in ("low", "high"))
    p = chance("p")
    views = [
        view(
            where,
            found.rows,
            text(found.factor, "setting"),
            number("count", "count"),
            number("mean", "mean", amounts.level),
            number("sd", "sd", amounts.change),
            *(number(name, _quantile_of(name), amounts.level) for name in QUANTILES),
            text("group", "letters"),
            note="Settings that share a letter do not differ by Tukey and Kramer." if found.pairs else "",
        )
    ]
    if found.pairs:
        name = text("difference", lambda pair: f"{pair.b} - {pair.a}")
        estimate = number("estimate", "difference", amounts.signed)
        views.append(view(f"{where}: all pairs by Tukey and Kramer", found.pairs, name, low, estimate, high, p))
    return views


def ranks(response: Response) -> Table | None:
    """Lay out the Kruskal-Wallis tests by factor and within a setting (QR 4.6)."""
    known = [test for test in response.ranks if test.p is not None]
    more = f" {len(known) - MOST_RANKS} more rows are in study.json." if len(known) > MOST_RANKS else ""
    found = view(
        "Kruskal-Wallis: do the distributions differ?",
        known[:MOST_RANKS],
        text("compared", lambda t: t.factor if t.setting is None else f"treatments with {settings_text(t.at)}"),
        text("at", lambda t: settings_text(t.at) if t.setting is None else None),
        number("groups", "groups"),
        number("H", "statistic", "{:.4g}".format),
        number("df", "df"),
        chance("p"),
        chance("p, Holm", "p_adjusted"),
        note="A row of a factor without settings adds up the tests at each combination of the other factors. "
        "Treatments of factors that vary by build or session are compared by the means of those. p by chi-square is "
        f"rough with fewer than 5 units a group.{more}",
    )
    return found if known else None


def spreads(response: Response) -> Table | None:
    """Lay out tests of variances."""
    found = view(
        "Do settings differ in their spread? The ratio is that of the second setting to the first",
        response.spreads,
        text("factor", "factor"),
        text("at", "at", _or("all treatments")),
        number("ratio of variances", "ratio", format_number),
        chance("p, F", "f_p"),
        chance("p, Brown-Forsythe", "levene_p"),
        note="The F test holds for normal values only; Brown and Forsythe's does not need them.",
    )
    return found if response.spreads else None


def sample_sizes(response: Response, found: SampleSizes) -> Table:
    """Lay out the sample-size study (NIST Fig. 10 and 11)."""
    amounts = Amounts(response)
    return view(
        f"Intervals of the mean from subsamples of {_or('all')(found.settings)} ({found.units} units)"
        f"{_in(amounts.changes, ', widths in ')}; nominal {format_confidence(found.confidence)}",
        found.rows,
        text("size", lambda row: f"{row.size}, {'t' if row.method == 't' else 'BCa'}"),
        number("width, lower quartile", lambda row: row.widths[0], amounts.change),
        number("median width", lambda row: row.widths[1], amounts.change),
        number("upper quartile", lambda row: row.widths[2], amounts.change),
        number("attained coverage", "coverage", format_share),
    )
