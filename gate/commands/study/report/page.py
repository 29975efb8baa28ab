"""The page of a study: its parts in order, each of words, pictures and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from gate.commands.study.analysis.observations import Observed
from gate.commands.study.report import models
from gate.commands.study.report import tables as views
from gate.commands.study.report import words as say
from gate.commands.study.report.figures import Drawer, by_metric
from gate.commands.study.report.tables import View
from gate.document.document import Figure
from gate.document.html import Fact, render_template
from gate.model.study import OneWay, Response, StudyReport
from gate.report.measurements import Attachment
from gate.report.page.embedded import Data, data_of
from gate.units import agree, format_confidence, format_share, plural
from gate.words import failures
from gate.words.reports import capitalized, commit
from gate.writing.plain import visible

_ONE_WAYS = 24
"""Most one-way tables that a page holds of a response; all are in the CSV tables."""
_HISTOGRAMS = 12
"""Most histograms that a page holds of a response without being asked."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What is folded away under a line."""

    title: str
    views: tuple[View, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a response: a legend, sentences, pictures, tables, and what is folded away."""

    id: str
    title: str
    legend: str
    items: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    views: tuple[View, ...] = ()
    folds: tuple[Fold, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """One response."""

    id: str
    title: str
    measured: str
    words: tuple[str, ...]
    cautions: tuple[str, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the template arranges."""

    title: str
    created: str
    unfinished: str
    facts: tuple[Fact, ...]
    means: tuple[Figure, ...]
    """The means of each benchmark that has several responses."""
    responses: tuple[Shown, ...]
    failures: tuple[str, ...]
    warnings: tuple[str, ...]
    run: tuple[Fact, ...]
    data: Data
    again: str


def page_of(report: StudyReport, observed: Sequence[Observed], attachments: Sequence[Attachment]) -> Page:
    """Bring an analysis into the form of the page.

    Args:
        observed: of each response, for the pictures of values.
    """
    several = len(report.responses) > 1
    shown = [
        _shown(response, own, report, f"r{number}" if several else "r")
        for number, (response, own) in enumerate(zip(report.responses, observed, strict=True), 1)
    ]
    data = data_of(attachments)
    return Page(
        title=_title(report),
        created=next((run.created for run in report.runs if run.created), ""),
        unfinished=report.unfinished,
        facts=tuple(_facts(report)),
        means=_means_by_metric(report),
        responses=tuple(shown),
        failures=tuple(map(failures.sentence, report.failures)),
        warnings=tuple(report.warnings),
        run=tuple(_run(report)),
        data=data,
        again=" ".join(
            ["perfgate study analyse", *([file.name for file in data.files] or data.names or ["measurements.jsonl"])]
        ),
    )


def _means_by_metric(report: StudyReport) -> tuple[Figure, ...]:
    found: dict[str, list[Response]] = {}
    for response in report.responses:
        found.setdefault(response.benchmark, []).append(response)
    several = [own for own in found.values() if len(own) > 1]
    return _given(*(by_metric(own, f"m{number}", report.confidence) for number, own in enumerate(several)))


def _title(report: StudyReport) -> str:
    names = list(dict.fromkeys(f"{r.benchmark}, {r.metric}" for r in report.responses))
    if not names:
        return "Study: nothing was measured"
    return f"Study of {' and of '.join(names) if len(names) < 3 else f'{len(names)} responses'}"


def _facts(report: StudyReport) -> Iterator[Fact]:
    factors = {f.name: f for r in report.responses for f in r.factors}
    yield Fact(
        "factors", "; ".join(f"{f.name} ({', '.join(map(str, f.settings))})" for f in factors.values()) or "none"
    )
    counts = [len(r.treatments) for r in report.responses]
    if counts:
        yield Fact("treatments", f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}")
        units = {say.UNITS[r.analysis_unit] for r in report.responses}
        yield Fact("units of the linear model", " and ".join(sorted(units)))
    yield Fact("confidence", format_confidence(report.confidence))
    yield Fact("interactions", f"of up to {plural(report.order, 'factor')} in the linear model")


def _run(report: StudyReport) -> Iterator[Fact]:
    for run in report.runs:
        name = "run" if run.session is None else f"session {run.session}"
        told = [run.id or "", commit(run.head) if run.head else "", f"seed {run.seed}" if run.seed is not None else ""]
        yield Fact(name, ", ".join(text for text in told if text) or "unknown")
        host = run.host or {}
        facts = [f"{key} {host[key]}" for key in ("cpu", "cores", "kernel", "system") if host.get(key)]
        if facts:
            yield Fact("host", ", ".join(facts))
    for name, command in report.commands.items():
        yield Fact(name, "", command)
    yield Fact("perfgate", report.perfgate)
    yield Fact("seed of the analysis", str(report.seed))


def _shown(response: Response, observed: Observed, report: StudyReport, prefix: str) -> Shown:
    draw = Drawer(response, observed, prefix, report.confidence)
    parts = [
        part
        for make in (_mean, _lenth, _quantiles, _against, _blocks, _values, _sizes, _abridged, _design)
        if (part := make(response, draw, report.confidence)) is not None
    ]
    return Shown(
        id=prefix,
        title=f"{response.benchmark}: {response.metric}",
        measured=say.measured(response),
        words=tuple(response.words),
        cautions=tuple(say.cautions(response)),
        parts=tuple(parts),
    )


def _given(*found: Figure | None) -> tuple[Figure, ...]:
    return tuple(figure for figure in found if figure is not None)


def _mean(response: Response, draw: Drawer, confidence: float) -> Part | None:
    if response.linear is None:
        return None
    return Part(
        id=f"{draw.prefix}-mean",
        title="Effects on the mean",
        legend="A linear model by least squares, with -1 for the first setting of a factor and +1 for the other. The "
        "share is of the total sum of squares; what the residuals have is noise, or what the design does not vary. "
        "Where the residuals are not normal or their variance is not constant, its intervals and p do not hold.",
        items=tuple(filter(None, [say.other_scale(response)])),
        figures=_given(draw.mains(), draw.interactions(), draw.residuals()),
        views=(
            models.linear(response, response.linear, confidence),
            *((models.strata(response, response.linear),) if len(response.linear.strata) > 1 else ()),
            *((trends,) if (trends := models.trends(response, confidence)) else ()),
            models.checks(response),
        ),
        folds=_sizes_of_effects(response, draw),
    )


def _sizes_of_effects(response: Response, draw: Drawer) -> tuple[Fold, ...]:
    """Fold away the pictures that tell apart effects and noise, where there is an error; else they have a part."""
    drawn = _given(draw.pareto(), draw.half_normal()) if response.lenth is None else ()
    return (Fold("Effects by size: Pareto picture and half-normal plot", (), drawn),) if drawn else ()


def _lenth(response: Response, draw: Drawer, _: float) -> Part | None:
    found = response.lenth
    if found is None:
        return None
    return Part(
        id=f"{draw.prefix}-contrasts",
        title="Which contrasts are more than noise",
        legend="Each treatment was measured once, so noise is estimated from the contrasts themselves: most are taken "
        "to be noise (Lenth 1989). Beyond SME a contrast is real; between ME and SME it may be one of many that "
        "is large by chance: measure again. Within ME it is no more than noise.",
        figures=_given(draw.pareto(), draw.half_normal()),
        views=(models.lenth(response, found),),
    )


def _quantiles(response: Response, draw: Drawer, confidence: float) -> Part | None:
    found = response.quantiles
    if found is None or not found.models:
        return None
    first = say.shown_quantile(found)
    others = [model for model in found.models if model is not first]
    folds = [
        Fold(title, tuple(models.quantile(response, model, confidence) for model in own))
        for title, own in (
            ("Intervals at the other quantiles", [model for model in others if model.enough]),
            ("Quantiles with too few values beyond them", [model for model in others if not model.enough]),
        )
        if own
    ]
    return Part(
        id=f"{draw.prefix}-quantiles",
        title="Effects over the distribution",
        legend=f"Quantile regression with all interactions: what each factor adds at each quantile of the values. It "
        f"assumes no distribution. Values of one {found.cluster} may depend on each other; the intervals count "
        f"{found.clusters} {found.cluster}s as clusters.",
        items=tuple(f"not separable: {text}" for text in found.inestimable),
        figures=_given(draw.quantile_effects()),
        views=(models.quantile(response, first, confidence), models.by_quantile(response, found.models)),
        folds=tuple(folds),
    )


def _against(response: Response, draw: Drawer, confidence: float) -> Part | None:
    tables = [view for f in response.factors for view in views.percents(response, f.name)]
    if not tables:
        return None
    shown = list(enumerate(response.one_ways[:_ONE_WAYS]))
    folds = [
        Fold(
            f"{factor.name}: quantiles, each against the first, all pairs, groups"
            if len(factor.settings) > 2
            else f"{factor.name}: quantiles, all pairs, groups",
            tuple(view for _, each in own for view in _one_way(response, each, confidence)),
            _given(*(draw.one_way(each, number) for number, each in own)),
        )
        for factor in response.factors
        if (own := [(number, each) for number, each in shown if each.factor == factor.name])
    ]
    left = len(response.one_ways) - len(shown)
    spread = views.spreads(response)
    if spread is not None:
        drawn = _given(*(draw.spreads(factor) for factor in response.factors))
        folds.append(Fold("Do settings differ in their spread?", (spread,), drawn))
    ranks = views.ranks(response)
    if ranks is not None:
        folds.append(Fold("Do distributions differ? Kruskal-Wallis by factor and within a setting", (ranks,)))
    return Part(
        id=f"{draw.prefix}-settings",
        title="Setting against setting",
        legend="Means of the units at each setting, the others fixed. The interval is that of the difference in "
        "percent. Each row stands for itself: of twenty without any difference one looks clear. Folded below: each "
        "comparison with its quantiles and groups.",
        items=(f"{plural(left, 'more one-way table')} {agree(left, 'is', 'are')} in the CSV tables",)
        if left > 0
        else (),
        views=tuple(tables),
        folds=tuple(folds),
    )


def _one_way(response: Response, found: OneWay, confidence: float) -> list[View]:
    pairs = [views.differences(response, found, confidence)] if found.pairs else []
    firsts = views.firsts(response, found, confidence)
    return [views.one_way(response, found), *([firsts] if firsts else []), *pairs]


def _blocks(response: Response, draw: Drawer, _: float) -> Part | None:
    if not any(each.complete > 1 for each in response.blocks):
        return None
    return Part(
        id=f"{draw.prefix}-blocks",
        title="Block plots",
        legend="A factor matters where its settings stand in one order in every box, whatever the other factors are. "
        "The chance of such a pattern without any effect is exact, without a model (NIST Technical Note 1855, 4.6.3).",
        items=tuple(say.blocks(response, each) for each in response.blocks if each.complete > 1),
        figures=_given(*(draw.blocks(each, number) for number, each in enumerate(response.blocks))),
    )


def _values(response: Response, draw: Drawer, confidence: float) -> Part | None:
    histograms = tuple(draw.histograms(_HISTOGRAMS))
    asked = histograms if response.histograms else ()
    figures = (*_given(draw.violins(), draw.series(), draw.boots("session"), draw.boots("build")), *asked)
    if not figures:
        return None
    folds = [Fold("As boxes with whiskers", (), boxes)] if (boxes := _given(draw.boxes())) else []
    if histograms and not asked:
        left = len(response.treatments) - len(histograms)
        more = f", the first {len(histograms)} of {len(response.treatments)} treatments" if left > 0 else ""
        folds.append(Fold(f"Histograms{more}", (), histograms))
    folds.append(Fold("Means with BCa intervals", (views.means(response, confidence),), _given(draw.intervals())))
    return Part(
        id=f"{draw.prefix}-values",
        title="The values",
        legend="All that was measured: look here first for several modes, outliers, and a drift in time.",
        figures=figures,
        folds=tuple(folds),
    )


def _sizes(response: Response, draw: Drawer, _: float) -> Part | None:
    found = response.sample_sizes
    if found is None:
        return None
    items = []
    if found.median_effect is not None:
        enough = (
            f"{found.enough} units are the fewest here whose usual interval is narrower than the median main effect"
            if found.enough is not None
            else "none of these sizes has intervals narrower than the median main effect"
        )
        items.append(f"{enough}.")
    worst = min(found.rows, key=lambda row: row.coverage, default=None)
    if worst is not None:
        items.append(
            f"Attained coverage is least with {worst.size} units ({worst.method}): {format_share(worst.coverage)} of "
            "the intervals hold the mean of all."
        )
    return Part(
        id=f"{draw.prefix}-sizes",
        title="How large a sample",
        legend="What would have come out with fewer units: intervals of the mean from subsamples of one treatment, "
        "how wide they are and how often they hold the mean of all of its units.",
        items=tuple(items),
        figures=_given(draw.sample_sizes()),
        folds=(Fold("As numbers", (views.sample_sizes(response, found),)),),
    )


def _abridged(response: Response, draw: Drawer, confidence: float) -> Part | None:
    table = models.side_by_side(response)
    if table is None:
        return None
    folds = [
        Fold(
            capitalized(each.name),
            (models.abridged(response, each, confidence),),
            (
                *_given(draw.abridged_mains(each, number), draw.abridged_interactions(each, number)),
                *draw.abridged_blocks(each, number),
            ),
        )
        for number, each in enumerate(response.abridged)
    ]
    return Part(
        id=f"{draw.prefix}-abridged",
        title="Without some treatments",
        legend="An effect that holds with and without questionable treatments does not depend on them.",
        views=(table,),
        folds=tuple(folds),
    )


def _design(response: Response, draw: Drawer, _: float) -> Part | None:
    return Part(
        id=f"{draw.prefix}-design",
        title="Design",
        legend="Balanced: every combination was measured equally often."
        if response.balanced
        else "Not balanced: sums of squares are what the model loses without a term (type III).",
        items=tuple(say.lacking(response)),
        views=(views.design(response), views.treatments(response)),
    )


def render(report: StudyReport, observed: Sequence[Observed], attachments: Sequence[Attachment]) -> str:
    """Write the page: it loads nothing and has no script.

    Args:
        observed: of each response, in their order; its values are in the pictures.
        attachments: the measurement files.
    """
    page = page_of(report, observed, attachments)
    return render_template("study.html.j2", {"page": page}, html=True, finalize=_text).lstrip()


def _text(value: Any) -> Any:
    """Make what does not print visible in all text but our own markup; names come from files."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
