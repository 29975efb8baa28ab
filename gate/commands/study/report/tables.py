"""The tables of a study's page: rows of text, arranged and rounded for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.commands.study.report import words as say
from gate.model.study import (
    Abridged,
    Effect,
    LinearModel,
    OneWay,
    PercentRow,
    QuantileModel,
    Response,
    SampleSizes,
    Setting,
)
from gate.units import format_confidence, format_number, format_share
from gate.words.effects import percentile, settings_text
from gate.words.numbers import format_p

_SCHED = ("minimum", "10%", "25%", "median", "75%", "90%", "maximum")


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's name, and whether it holds numbers."""

    name: str
    number: bool


@dataclass(frozen=True, slots=True)
class View:
    """A table; the first cell of a row names the row. note: what stands below."""

    caption: str
    head: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def _text(name: str) -> Heading:
    return Heading(name, number=False)


def _head(first: str, *others: str | Heading) -> tuple[Heading, ...]:
    """Name columns: the first one holds text, the others numbers where nothing else is said."""
    return (_text(first), *(own if isinstance(own, Heading) else Heading(own, number=True) for own in others))


def design(response: Response) -> View:
    """Lay out the factors and their settings."""
    rows = [
        (f.name, str(f.settings[0]), ", ".join(map(str, f.settings[1:])), f"by {f.varies}") for f in response.factors
    ]
    head = _head("factor", _text("low (-1)"), _text("others"), _text("varies"))
    return View("Factors: the first setting is coded -1", head, tuple(rows))


def treatments(response: Response) -> View:
    """Lay out what was measured of each treatment."""
    taus = list(dict.fromkeys(tau for t in response.treatments for tau in t.quantiles))
    names = [percentile(float(tau)) for tau in taus]
    rows = [
        (
            (settings_text(t.settings) or "all") + (" (questionable)" if t.settings in response.questionable else ""),
            str(t.builds),
            str(t.executions),
            str(t.values),
            say.level(t.mean, response),
            _change(t.sd, response),
            *(_level(t.quantiles.get(tau), response) for tau in taus),
        )
        for t in response.treatments
    ]
    unit = say.unit_name(response)
    caption = f"Treatments{f', in {unit}' if unit else ''}; quantiles of all values, where there are enough of them"
    return View(caption, _head("treatment", "builds", "executions", "values", "mean", "sd", *names), tuple(rows))


def linear(response: Response, model: LinearModel, confidence: float, name: str = "") -> View:
    """Lay out a linear model in the form of QR Table 3, with the error of each term where there are several."""
    percent = format_confidence(confidence)
    rows: list[tuple[str, ...]] = []
    errors = len(model.strata) > 1
    for term in model.terms:
        # no two settings of each factor may have been measured together: the term has no effect to show then
        for i, effect in enumerate(term.effects or [None]):
            own = (
                (
                    say.df(term),
                    say.squares(term.sum_of_squares, response),
                    _share(term.share),
                    format_p(term.p),
                    format_p(term.p_adjusted),
                    *([say.error_of(term)] if errors else []),
                )
                if not i
                else ("",) * (6 if errors else 5)
            )
            shown = (say.effect_name(effect, response), *_ends(effect, response)) if effect else (term.term, "", "", "")
            rows.append((*shown, *own))
    rest = (
        str(model.residual_df),
        say.squares(model.residual_ss, response),
        _share(model.unexplained),
        *("",) * (3 if errors else 2),
    )
    rows.append((say.residuals(model), "", "", "", *rest))
    unit = say.change_unit(response)
    squared = f", {say.squared(response)}" if say.squared(response) else ""
    fitted = f"{model.formula}; {model.observations} observations, R² {_share(model.r2) or 'unknown'}"
    return View(
        f"{f'{name}: ' if name else ''}Effects on the mean{f' in {unit}' if unit else ''}: {fitted}",
        _head(
            "effect",
            f"low {percent}",
            "estimate",
            f"high {percent}",
            "df",
            f"sum sq{squared}",
            "share",
            "p",
            "p, family",
            *([_text("told from")] if errors else []),
        ),
        tuple(rows),
        "; ".join([say.coding(response), *(f"not separable: {text}" for text in model.inestimable)]),
    )


def strata(response: Response, model: LinearModel) -> View:
    """Lay out what differs beside the factors, each an error that some terms are told from."""
    rows = [
        (
            say.ERRORS[own.name],
            str(own.groups),
            "" if own.df is None else f"{own.df:g}",
            "" if own.mean_square is None else say.squares(own.mean_square, response),
            "" if own.component is None else say.squares(own.component, response),
            "" if own.component is None else say.change(own.component**0.5, response),
        )
        for own in model.strata
    ]
    squared = f", {say.squared(response)}" if say.squared(response) else ""
    return View(
        "Strata: what differs beside the factors",
        _head("differences between", "of them", "df", f"mean square{squared}", f"variance{squared}", "sd"),
        tuple(rows),
        say.method(model),
    )


def quantile(response: Response, model: QuantileModel, confidence: float) -> View:
    """Lay out the effects on one quantile in the form of QR Table 4, those for independent values beside."""
    percent = format_confidence(confidence)
    alone, errors = [*(model.iid or [])], [*(model.iid_errors or [])]
    extra = (f"iid low {percent}", f"iid high {percent}", "iid error", "iid t", "iid p") if alone else ()
    rows = []
    for i, effect in enumerate(model.effects):
        beside = (
            (
                *_ends(alone[i], response)[::2],
                _change(errors[i], response),
                say.t_value(alone[i].estimate, errors[i]),
                format_p(alone[i].p),
            )
            if alone
            else ()
        )
        rows.append((say.effect_name(effect, response), *_ends(effect, response), format_p(effect.p), *beside))
    unit = say.change_unit(response)
    level = (
        f", intercept in {say.unit_name(response)}"
        if unit != say.unit_name(response) and say.unit_name(response)
        else ""
    )
    few = "" if model.enough else "; too few values beyond it in some treatment to be sure"
    return View(
        f"Effects on {percentile(model.tau)}{f' in {unit}{level}' if unit else ''}{few}",
        _head("effect", f"low {percent}", "estimate", f"high {percent}", "p", *extra),
        tuple(rows),
    )


def by_quantile(response: Response, models: Sequence[QuantileModel]) -> View:
    """Lay out the estimates of all effects beside each other, a column for each quantile."""
    rows = [
        (say.effect_name(effect, response), *(_ends(model.effects[i], response)[1] for model in models))
        for i, effect in enumerate(models[0].effects)
    ]
    unit = say.change_unit(response)
    caption = f"Effects on each quantile{f' in {unit}' if unit else ''}"
    short = [percentile(model.tau) for model in models if not model.enough]
    note = f"Too few values beyond {', '.join(short)} in some treatment to be sure." if short else ""
    return View(caption, _head("effect", *(percentile(model.tau) for model in models)), tuple(rows), note)


def percents(response: Response, factor: str) -> list[View]:
    """Lay out one factor's settings against its first, in the form of SCHED's result tables.

    Where another factor is one of machines or boots, a row is one of these, and each combination of the others has a
    table; of many there is one for all.
    """
    found = [row for row in response.percents if row.factor == factor]
    if not found:
        return []
    machine = next(
        (f.name for f in response.factors if f.varies == "session" and f.name != factor and len(f.settings) > 1), None
    )
    apart: dict[str, list[PercentRow]] = {}
    for row in found:
        at = {name: setting for name, setting in row.at.items() if name != machine}
        apart.setdefault(settings_text(at) if machine else "", []).append(row)
    if machine is None or len(apart) > MOST_APART:
        return [_percents(response, found, "")]
    return [_percents(response, rows, at) for at, rows in apart.items()]


MOST_APART = 12
"""Combinations beside machines that have a table of their own."""


def _percents(response: Response, found: Sequence[PercentRow], at: str) -> View:
    factor = found[0].factor
    unit = say.unit_name(response)
    several = len({(row.first, row.second) for row in found}) > 1
    varied = [name for name in found[0].at if len({str(row.at.get(name)) for row in found}) > 1]
    single = varied[0] if len(varied) == 1 and (at or len(found[0].at) == 1) else None
    rows = [
        (
            str(row.at[single]) if single else settings_text(row.at) or "everywhere",
            *((f"{row.first} to {row.second}",) if several else ()),
            say.level(row.first_mean, response),
            say.level(row.second_mean, response),
            say.change(row.difference, response, sign=True),
            row.words,
            "" if row.low is None or row.high is None else f"{_signed(row.low)} to {_signed(row.high)}",
        )
        for row in found
    ]
    means = ("first", "second") if several else (f"{factor}={found[0].first}", f"{factor}={found[0].second}")
    others = (_text("settings"),) if several else ()
    caption = f"{factor}, setting against setting{f' at {at}' if at else ''}{f', in {unit}' if unit else ''}"
    head = _head(single or "at", *others, *means, "difference", _text("result"), _text("interval"))
    return View(caption, head, tuple(rows))


def ranks(response: Response) -> View | None:
    """Lay out the Kruskal-Wallis tests by factor and within a setting (QR 4.6)."""
    known = [test for test in response.ranks if test.p is not None]
    if not known:
        return None
    rows = [
        (
            test.factor if test.setting is None else f"treatments with {settings_text(test.at)}",
            settings_text(test.at) if test.setting is None and test.at else "",
            str(test.groups),
            "" if test.statistic is None else f"{test.statistic:.4g}",
            "" if test.df is None else str(test.df),
            format_p(test.p),
            format_p(test.p_adjusted),
        )
        for test in known[:MOST_RANKS]
    ]
    note = (
        "A row of a factor without settings adds up the tests at each combination of the other factors. Treatments of "
        "factors that vary by build or session are compared by the means of those. p by chi-square is rough with fewer "
        "than 5 units a group."
    )
    if len(known) > len(rows):
        note += f" {len(known) - len(rows)} more rows are in the CSV tables."
    head = _head("compared", _text("at"), "groups", "H", "df", "p", "p, Holm")
    return View("Kruskal-Wallis: do the distributions differ?", head, tuple(rows), note)


MOST_RANKS = 60
"""Rows of Kruskal-Wallis tests that a page shows."""


def means(response: Response, confidence: float) -> View:
    """Lay out the mean of each treatment with its BCa interval (NIST Fig. 1)."""
    percent = format_confidence(confidence)
    rows = [
        (
            settings_text(m.settings) or "all",
            str(m.units),
            _level(m.low, response),
            say.level(m.mean, response),
            _level(m.high, response),
        )
        for m in response.means
    ]
    unit = say.unit_name(response)
    caption = f"Means of the units{f', in {unit}' if unit else ''}, with BCa bootstrap intervals"
    return View(caption, _head("treatment", "units", f"low {percent}", "mean", f"high {percent}"), tuple(rows))


def one_way(response: Response, found: OneWay) -> View:
    """Lay out a one-way table with quantiles and Tukey-Kramer groups (SCHED, appendix)."""
    rows = [
        (
            str(row.setting),
            str(row.count),
            say.level(row.mean, response),
            _change(row.sd, response),
            *(_level(row.quantiles.get(name), response) for name in _SCHED),
            row.letters,
        )
        for row in found.rows
    ]
    at = f" at {settings_text(found.at)}" if found.at else ""
    names = ("count", "mean", "sd", *_SCHED, _text("group"))
    note = "Settings that share a letter do not differ by Tukey and Kramer." if found.pairs else ""
    return View(f"{found.factor}{at}", _head(found.factor, *names), tuple(rows), note)


def differences(response: Response, found: OneWay, confidence: float) -> View:
    """Lay out the comparisons of all pairs of settings."""
    percent = format_confidence(confidence)
    rows = [
        (
            f"{pair.b} - {pair.a}",
            _change(pair.low, response),
            say.change(pair.difference, response, sign=True),
            _change(pair.high, response),
            format_p(pair.p),
        )
        for pair in found.pairs
    ]
    at = f" at {settings_text(found.at)}" if found.at else ""
    head = _head("difference", f"low {percent}", "estimate", f"high {percent}", "p")
    return View(f"{found.factor}{at}: all pairs by Tukey and Kramer", head, tuple(rows))


def firsts(response: Response, found: OneWay, confidence: float) -> View | None:
    """Lay out each setting against the first."""
    if not found.firsts:
        return None
    percent = format_confidence(confidence)
    rows = [
        (
            str(each.setting),
            _change(each.low, response),
            say.change(each.difference, response, sign=True),
            _change(each.high, response),
            "" if each.percent is None else _signed(each.percent),
            format_p(each.p),
        )
        for each in found.firsts
    ]
    at = f" at {settings_text(found.at)}" if found.at else ""
    unit = say.change_unit(response)
    caption = (
        f"{found.factor}{at}: each setting against the first, {found.rows[0].setting}{f', in {unit}' if unit else ''}"
    )
    note = f"By Dunnett: the {percent} holds for all these intervals together, and p is shared over them."
    head = _head(found.factor, f"low {percent}", "difference", f"high {percent}", "percent", "p")
    return View(caption, head, tuple(rows), note)


def trends(response: Response, confidence: float) -> View | None:
    """Lay out the trends of factors whose settings are numbers."""
    if not response.trends:
        return None
    percent = format_confidence(confidence)
    rows = []
    for trend in response.trends:
        step = "doubling" if trend.axis == "log2" else "unit"
        for name, own in (
            (f"per {step}", trend.slope),
            ("per unit", trend.per_unit),
            (f"curvature, per {step}", trend.curvature),
        ):
            if own is not None:
                ends = (
                    _change(own.low, response),
                    say.change(own.estimate, response, sign=True),
                    _change(own.high, response),
                )
                rows.append((trend.factor, name, *ends, format_p(own.p)))
    unit = say.change_unit(response)
    curved = any(trend.curvature is not None for trend in response.trends)
    bent = ", and the curvature, by how much the slope changes with each step" if curved else ""
    note = f"Straight lines through the means of the linear model{bent}, with the error of the factor's own term."
    head = _head("factor", _text("trend"), f"low {percent}", "estimate", f"high {percent}", "p")
    return View(f"Trends of factors with numbers for settings{f', in {unit}' if unit else ''}", head, tuple(rows), note)


def spreads(response: Response) -> View | None:
    """Lay out tests of variances."""
    if not response.spreads:
        return None
    rows = [
        (
            found.factor,
            settings_text(found.at) or "all treatments",
            "" if found.ratio is None else format_number(found.ratio),
            format_p(found.f_p),
            format_p(found.levene_p),
        )
        for found in response.spreads
    ]
    names = (_text("at"), "ratio of variances", "p, F", "p, Brown-Forsythe")
    caption = "Do settings differ in their spread? The ratio is that of the second setting to the first"
    note = "The F test holds for normal values only; Brown and Forsythe's does not need them."
    return View(caption, _head("factor", *names), tuple(rows), note)


def sample_sizes(response: Response, found: SampleSizes) -> View:
    """Lay out the sample-size study (NIST Fig. 10 and 11)."""
    rows = [
        (
            f"{row.size}, {'t' if row.method == 't' else 'BCa'}",
            *(say.change(width, response) for width in row.widths),
            format_share(row.coverage),
        )
        for row in found.rows
    ]
    unit = say.change_unit(response)
    caption = (
        f"Intervals of the mean from subsamples of {settings_text(found.settings) or 'all'} ({found.units} units)"
        f"{f', widths in {unit}' if unit else ''}; nominal {format_confidence(found.confidence)}"
    )
    names = ("width, lower quartile", "median width", "upper quartile", "attained coverage")
    return View(caption, _head("size", *names), tuple(rows))


def checks(response: Response) -> View:
    """Lay out what the tests say."""
    found = [*(response.diagnostics.checks if response.diagnostics else []), *(d.check for d in response.dependences)]
    found += [response.kruskal] if response.kruskal else []
    rows = [
        (
            check.name,
            "" if check.statistic is None else format_number(check.statistic),
            ", ".join(f"{df:.4g}" for df in check.df),
            format_p(check.p),
            check.words,
        )
        for check in found
    ]
    return View("Checks", _head("test", "statistic", "df", "p", _text("says")), tuple(rows))


def abridged(response: Response, found: Abridged, confidence: float) -> View:
    """Lay out the linear model of an abridged data set."""
    name = f"{found.name} ({found.treatments} treatments{'' if found.balanced else ', not balanced'})"
    return linear(response, found.linear, confidence, name)


def side_by_side(response: Response) -> View | None:
    """Lay out the main effects of all data sets beside each other (NIST 4.7)."""
    if not response.abridged or response.linear is None:
        return None
    models = [response.linear, *(each.linear for each in response.abridged)]
    keys: dict[tuple[str, str], Effect] = {}
    for model in models:
        for term in model.terms:
            if len(term.factors) == 1:
                keys |= {(e.term, _key(e.settings)): e for e in term.effects if (e.term, _key(e.settings)) not in keys}
    rows = [
        (say.effect_name(effect, response), *(_own(model, effect, response) for model in models))
        for effect in keys.values()
    ]
    names = ("all treatments", *(each.name for each in response.abridged))
    return View("Main effects with and without some treatments", _head("effect", *names), tuple(rows))


def _own(model: LinearModel, effect: Effect, response: Response) -> str:
    own = next(
        (e for t in model.terms for e in t.effects if (e.term, e.settings) == (effect.term, effect.settings)), None
    )
    if own is None:
        return "-"
    half = "" if own.low is None or own.high is None else f" ±{say.change((own.high - own.low) / 2, response)}"
    return f"{say.change(own.estimate, response, sign=True)}{half}"


def _key(settings: dict[str, Setting]) -> str:
    return settings_text(settings)


def _ends(effect: Effect, response: Response) -> tuple[str, str, str]:
    write = _change if effect.settings else _level
    return write(effect.low, response), write(effect.estimate, response), write(effect.high, response)


def _level(value: float | None, response: Response) -> str:
    return "" if value is None else say.level(value, response)


def _change(value: float | None, response: Response) -> str:
    return "" if value is None else say.change(value, response)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _signed(value: float) -> str:
    return format_share(value, sign=True)
