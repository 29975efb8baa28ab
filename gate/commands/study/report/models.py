"""The tables of models: of the mean, of quantiles, of contrasts and trends, and what checks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gate.commands.study.report import words as say
from gate.commands.study.report.tables import View, headings
from gate.document.terminal import Column
from gate.model.study import (
    Abridged,
    Effect,
    Lenth,
    LinearModel,
    QuantileModel,
    Response,
)
from gate.units import format_confidence, format_number
from gate.words.effects import alias_sets, named, percentile, settings_text
from gate.writing.amounts import format_p


def _share(value: float) -> str:
    return f"{value:.1%}"


def linear(
    response: Response,
    model: LinearModel,
    confidence: float,
    name: str = "",
    share: Callable[[float], str] = _share,
) -> View:
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
                    "" if term.share is None else share(term.share),
                    format_p(term.p),
                    format_p(term.p_adjusted),
                    *([say.error_of(term)] if errors else []),
                )
                if not i
                else ("",) * (6 if errors else 5)
            )
            label = say.effect_name(effect, response, model) if effect else named(term.term, term.aliases)
            shown = (label, *(say.ends(effect, response) if effect else ("", "", "")))
            rows.append((*shown, *own))
    rest = (
        str(model.residual_df),
        say.squares(model.residual_ss, response),
        "" if model.unexplained is None else share(model.unexplained),
        *("",) * (3 if errors else 2),
    )
    rows.append((say.residuals(model), "", "", "", *rest))
    unit = say.change_unit(response)
    squared = f", {say.squared(response)}" if say.squared(response) else ""
    fitted = (
        f"{model.formula}; {model.observations} observations, R² {'unknown' if model.r2 is None else share(model.r2)}"
    )
    return View(
        f"{f'{name}: ' if name else ''}Effects on the mean{f' in {unit}' if unit else ''}: {fitted}",
        headings(
            "effect",
            f"low {percent}",
            "estimate",
            f"high {percent}",
            "df",
            f"sum sq{squared}",
            "share",
            "p",
            "p, family",
            *([Column("tested against")] if errors else []),
        ),
        tuple(rows),
        "; ".join(say.below(response, model)),
    )


def lenth(response: Response, found: Lenth) -> View:
    """Lay out the contrasts of a two-level design with one unit a treatment, by Lenth's limits."""
    rows = [
        (
            named(own.term, own.aliases),
            say.change(own.estimate, response, sign=True),
            "yes" if own.possible else "no",
            "yes" if own.active else "no",
        )
        for own in found.contrasts
    ]
    unit = say.change_unit(response)
    return View(
        f"Contrasts, each half the change{f', in {unit}' if unit else ''}; {format_confidence(found.confidence)}",
        headings("contrast", "estimate", Column("beyond ME"), Column("beyond SME")),
        tuple(rows),
        say.limits(response, found),
    )


def strata(response: Response, model: LinearModel) -> View:
    """Lay out what differs beside the factors, each an error that some terms are told from."""
    rows = [
        (
            say.ERRORS[own.name],
            str(own.groups),
            "" if own.df is None else f"{own.df:g}",
            say.squares(own.mean_square, response),
            say.squares(own.component, response),
            "" if own.component is None else say.change(own.component**0.5, response),
        )
        for own in model.strata
    ]
    squared = f", {say.squared(response)}" if say.squared(response) else ""
    return View(
        "Strata: what differs beside the factors",
        headings("differences between", "of them", "df", f"mean square{squared}", f"variance{squared}", "sd"),
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
                *say.ends(alone[i], response)[::2],
                say.change(errors[i], response),
                say.t_value(alone[i].estimate, errors[i]),
                format_p(alone[i].p),
            )
            if alone
            else ()
        )
        rows.append((say.effect_name(effect, response), *say.ends(effect, response), format_p(effect.p), *beside))
    unit = say.change_unit(response)
    level = (
        f", intercept in {say.unit_name(response)}"
        if unit != say.unit_name(response) and say.unit_name(response)
        else ""
    )
    few = "" if model.enough else "; too few values beyond it in some treatment to be sure"
    return View(
        f"Effects on {percentile(model.tau)}{f' in {unit}{level}' if unit else ''}{few}",
        headings("effect", f"low {percent}", "estimate", f"high {percent}", "p", *extra),
        tuple(rows),
    )


def by_quantile(response: Response, models: Sequence[QuantileModel]) -> View:
    """Lay out the estimates of all effects beside each other, a column for each quantile."""
    rows = [
        (say.effect_name(effect, response), *(say.ends(model.effects[i], response)[1] for model in models))
        for i, effect in enumerate(models[0].effects)
    ]
    unit = say.change_unit(response)
    caption = f"Effects on each quantile{f' in {unit}' if unit else ''}"
    short = [percentile(model.tau) for model in models if not model.enough]
    note = f"Too few values beyond {', '.join(short)} in some treatment to be sure." if short else ""
    return View(caption, headings("effect", *(percentile(model.tau) for model in models)), tuple(rows), note)


def trends(response: Response, confidence: float) -> View | None:
    """Lay out the trends of factors whose settings are numbers."""
    if not response.trends:
        return None
    percent = format_confidence(confidence)
    aliases = alias_sets(response)
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
                    say.change(own.low, response),
                    say.change(own.estimate, response, sign=True),
                    say.change(own.high, response),
                )
                rows.append((named(trend.factor, aliases.get(trend.factor, [])), name, *ends, format_p(own.p)))
    unit = say.change_unit(response)
    curved = any(trend.curvature is not None for trend in response.trends)
    bent = ", and the curvature, by how much the slope changes with each step" if curved else ""
    note = f"Straight lines through the means of the linear model{bent}, with the error of the factor's own term."
    head = headings("factor", Column("trend"), f"low {percent}", "estimate", f"high {percent}", "p")
    return View(f"Trends of factors with numbers for settings{f', in {unit}' if unit else ''}", head, tuple(rows), note)


def checks(response: Response) -> View:
    """Lay out what the tests say."""
    rows = [
        (
            check.name,
            "" if check.statistic is None else format_number(check.statistic),
            ", ".join(f"{df:.4g}" for df in check.df),
            format_p(check.p),
            check.words,
        )
        for check in say.checks(response)
    ]
    return View("Checks", headings("test", "statistic", "df", "p", Column("says")), tuple(rows))


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
                keys |= {
                    (e.term, settings_text(e.settings)): e
                    for e in term.effects
                    if (e.term, settings_text(e.settings)) not in keys
                }
    rows = [
        (say.effect_name(effect, response), *(_own(model, effect, response) for model in models))
        for effect in keys.values()
    ]
    names = ("all treatments", *(each.name for each in response.abridged))
    return View("Main effects with and without some treatments", headings("effect", *names), tuple(rows))


def _own(model: LinearModel, effect: Effect, response: Response) -> str:
    own = next(
        (e for t in model.terms for e in t.effects if (e.term, e.settings) == (effect.term, effect.settings)), None
    )
    if own is None:
        return "-"
    half = "" if own.low is None or own.high is None else f" ±{say.change((own.high - own.low) / 2, response)}"
    return f"{say.change(own.estimate, response, sign=True)}{half}"
