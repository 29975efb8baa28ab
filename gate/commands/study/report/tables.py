"""The tables of a study's page: rows of text, arranged and rounded for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.commands.study.report import words as say
from gate.document.terminal import Column
from gate.model.study import (
    OneWay,
    PercentRow,
    Response,
    SampleSizes,
)
from gate.units import format_confidence, format_number, format_share
from gate.words.effects import percentile, settings_text
from gate.writing.amounts import format_p

_SCHED = ("minimum", "10%", "25%", "median", "75%", "90%", "maximum")
MOST_APART = 12
"""Combinations beside machines that have a table of their own."""
MOST_RANKS = 60
"""Rows of Kruskal-Wallis tests that a page shows."""


@dataclass(frozen=True, slots=True)
class View:
    """A table; the first cell of a row names the row. note: what stands below."""

    caption: str
    head: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def headings(first: str, *others: str | Column) -> tuple[Column, ...]:
    """Name columns: the first one holds text, the others numbers where nothing else is said."""
    return (Column(first), *(own if isinstance(own, Column) else Column(own, right=True) for own in others))


def design(response: Response) -> View:
    """Lay out the factors and their settings."""
    rows = [
        (f.name, str(f.settings[0]), ", ".join(map(str, f.settings[1:])), f"by {f.varies}") for f in response.factors
    ]
    head = headings("factor", Column("low (-1)"), Column("others"), Column("varies"))
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
            say.change(t.sd, response),
            *(say.level(t.quantiles.get(tau), response) for tau in taus),
        )
        for t in response.treatments
    ]
    unit = say.unit_name(response)
    caption = f"Treatments{f', in {unit}' if unit else ''}; quantiles of all values, where there are enough of them"
    return View(caption, headings("treatment", "builds", "executions", "values", "mean", "sd", *names), tuple(rows))


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
            ""
            if row.low is None or row.high is None
            else f"{format_share(row.low, sign=True)} to {format_share(row.high, sign=True)}",
        )
        for row in found
    ]
    means = ("first", "second") if several else (f"{factor}={found[0].first}", f"{factor}={found[0].second}")
    others = (Column("settings"),) if several else ()
    caption = f"{factor}, setting against setting{f' at {at}' if at else ''}{f', in {unit}' if unit else ''}"
    head = headings(single or "at", *others, *means, "difference", Column("result"), Column("interval"))
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
    head = headings("compared", Column("at"), "groups", "H", "df", "p", "p, Holm")
    return View("Kruskal-Wallis: do the distributions differ?", head, tuple(rows), note)


def means(response: Response, confidence: float) -> View:
    """Lay out the mean of each treatment with its BCa interval (NIST Fig. 1)."""
    percent = format_confidence(confidence)
    rows = [
        (
            settings_text(m.settings) or "all",
            str(m.units),
            say.level(m.low, response),
            say.level(m.mean, response),
            say.level(m.high, response),
        )
        for m in response.means
    ]
    unit = say.unit_name(response)
    caption = f"Means of the units{f', in {unit}' if unit else ''}, with BCa bootstrap intervals"
    return View(caption, headings("treatment", "units", f"low {percent}", "mean", f"high {percent}"), tuple(rows))


def one_way(response: Response, found: OneWay) -> View:
    """Lay out a one-way table with quantiles and Tukey-Kramer groups (SCHED, appendix)."""
    rows = [
        (
            str(row.setting),
            str(row.count),
            say.level(row.mean, response),
            say.change(row.sd, response),
            *(say.level(row.quantiles.get(name), response) for name in _SCHED),
            row.letters,
        )
        for row in found.rows
    ]
    at = f" at {settings_text(found.at)}" if found.at else ""
    names = ("count", "mean", "sd", *_SCHED, Column("group"))
    note = "Settings that share a letter do not differ by Tukey and Kramer." if found.pairs else ""
    return View(f"{found.factor}{at}", headings(found.factor, *names), tuple(rows), note)


def differences(response: Response, found: OneWay, confidence: float) -> View:
    """Lay out the comparisons of all pairs of settings."""
    percent = format_confidence(confidence)
    rows = [
        (
            f"{pair.b} - {pair.a}",
            say.change(pair.low, response),
            say.change(pair.difference, response, sign=True),
            say.change(pair.high, response),
            format_p(pair.p),
        )
        for pair in found.pairs
    ]
    at = f" at {settings_text(found.at)}" if found.at else ""
    head = headings("difference", f"low {percent}", "estimate", f"high {percent}", "p")
    return View(f"{found.factor}{at}: all pairs by Tukey and Kramer", head, tuple(rows))


def firsts(response: Response, found: OneWay, confidence: float) -> View | None:
    """Lay out each setting against the first."""
    if not found.firsts:
        return None
    percent = format_confidence(confidence)
    rows = [
        (
            str(each.setting),
            say.change(each.low, response),
            say.change(each.difference, response, sign=True),
            say.change(each.high, response),
            "" if each.percent is None else format_share(each.percent, sign=True),
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
    head = headings(found.factor, f"low {percent}", "difference", f"high {percent}", "percent", "p")
    return View(caption, head, tuple(rows), note)


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
    names = (Column("at"), "ratio of variances", "p, F", "p, Brown-Forsythe")
    caption = "Do settings differ in their spread? The ratio is that of the second setting to the first"
    note = "The F test holds for normal values only; Brown and Forsythe's does not need them."
    return View(caption, headings("factor", *names), tuple(rows), note)


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
    return View(caption, headings("size", *names), tuple(rows))
