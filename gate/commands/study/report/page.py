"""The page of a study: its parts in order, each of words, pictures and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gate.commands.study.analysis.observations import Observed
from gate.commands.study.plots.blocks import blocks
from gate.commands.study.plots.columns import TreatmentValues
from gate.commands.study.plots.contrasts import half_normal, pareto
from gate.commands.study.plots.effects import quantile_effects
from gate.commands.study.plots.intervals import means_by_metric, one_way, sample_sizes
from gate.commands.study.plots.means import interactions, mains
from gate.commands.study.plots.series import Boot, boots, residuals, series
from gate.commands.study.plots.values import boxes, histogram, spreads, violins
from gate.commands.study.report import tables
from gate.commands.study.report import words as say
from gate.document.document import Figure, Table
from gate.document.html import Fact, render_template, shown
from gate.model.study import Abridged, OneWay, Response, Setting, StudyReport, Varies
from gate.plots.picture import Picture
from gate.report.measurements import Attachment
from gate.report.page.embedded import data_of
from gate.units import agree, format_confidence, format_share, plural
from gate.words import failures
from gate.words.reports import capitalized, commit

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]

_ONE_WAYS = 24
"""Most one-way tables that a page holds of a response; all are in the CSV tables."""
_HISTOGRAMS = 12
"""Most histograms that a page holds of a response without being asked."""


class Fold(msgspec.Struct, frozen=True):
    """What is folded away under a line."""

    title: str
    views: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


class Part(msgspec.Struct, frozen=True):
    """One part of a response: a legend, sentences, pictures, tables, and what is folded away."""

    id: str
    title: str
    legend: str
    items: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    views: Sequence[Table] = ()
    folds: Sequence[Fold] = ()


class Drawer(msgspec.Struct, frozen=True):
    """Draws what there is to draw of a response."""

    response: Response
    observed: Observed
    prefix: str
    """Begins every id."""
    confidence: float

    def __call__(
        self, name: str, make: Callable[..., Picture | None], key: str, *more: Any, **how: Any
    ) -> tuple[Figure, ...]:
        """Return a picture of the response, none where there is nothing to draw; more, how: what it takes besides."""
        return _figure(f"{name} of {self.response.metric}", make(f"{self.prefix}-{key}", self.response, *more, **how))

    def without(self, found: Abridged, number: int) -> Drawer:
        """Return what draws an abridged data set."""
        measured = {m.factors[0]: [p.settings[m.factors[0]] for p in m.points] for m in found.mains}
        part = msgspec.structs.replace(
            self.response,
            factors=[
                msgspec.structs.replace(f, settings=[s for s in f.settings if s in measured[f.name]])
                for f in self.response.factors
                if f.name in measured
            ],
            linear=found.linear,
            lenth=None,
            mains=found.mains,
            interactions=found.interactions,
            blocks=found.blocks,
        )
        return msgspec.structs.replace(self, response=part, prefix=f"{self.prefix}-a{number}")


def _figure(name: str, drawn: Picture | None) -> tuple[Figure, ...]:
    return () if drawn is None else (drawn.figure("study", name),)


def render(report: StudyReport, observed: Sequence[Observed], attachments: Sequence[Attachment]) -> str:
    """Write the page: it loads nothing and has no script.

    Args:
        observed: of each response, in their order; its values are in the pictures.
        attachments: the measurement files.
    """
    several = len(report.responses) > 1
    found: dict[str, list[Response]] = {}
    for response in report.responses:
        found.setdefault(response.benchmark, []).append(response)
    names = list(dict.fromkeys(f"{r.benchmark}, {r.metric}" for r in report.responses))
    data = data_of(attachments)
    again = [file.name for file in data.files] or data.names or ["measurements.jsonl"]
    page = {
        "title": f"Study of {' and of '.join(names) if len(names) < 3 else f'{len(names)} responses'}"
        if names
        else "Study: nothing was measured",
        "created": next((run.created for run in report.runs if run.created), ""),
        "unfinished": report.unfinished,
        "facts": list(_facts(report)),
        "means": [
            figure
            for number, own in enumerate(own for own in found.values() if len(own) > 1)
            for figure in _figure(
                f"Means by metric of {own[0].benchmark}", means_by_metric(f"m{number}", own, report.confidence)
            )
        ],
        "responses": [
            _shown(Drawer(response, own, f"r{number}" if several else "r", report.confidence))
            for number, (response, own) in enumerate(zip(report.responses, observed, strict=True), 1)
        ],
        "failures": [failures.sentence(failure) for failure in report.failures],
        "warnings": report.warnings,
        "run": list(_run(report)),
        "data": data,
        "again": " ".join(["perfgate study analyse", *again]),
    }
    return render_template("study.html.j2", {"page": page}, html=True, finalize=shown).lstrip()


def _facts(report: StudyReport) -> Iterator[Fact]:
    factors = {f.name: f"{f.name} ({', '.join(map(str, f.settings))})" for r in report.responses for f in r.factors}
    yield Fact("factors", "; ".join(factors.values()) or "none")
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


def _shown(draw: Drawer) -> dict[str, Any]:
    response = draw.response
    makers = (_mean, _lenth, _quantiles, _against, _blocks, _values, _sizes, _abridged, _design)
    return {
        "id": draw.prefix,
        "title": f"{response.benchmark}: {response.metric}",
        "measured": say.measured(response),
        "words": response.words,
        "cautions": say.cautions(response),
        "parts": [part for make in makers for part in make(response, draw, draw.confidence)],
    }


def _mean(response: Response, draw: Drawer, confidence: float) -> Iterator[Part]:
    model = response.linear
    if model is None:
        return
    drawn = [*draw("Main effects", mains, "mains")]
    drawn += draw("Interactions", interactions, "interactions", response.interactions)
    drawn += draw("Residuals", residuals, "residuals", response.diagnostics) if response.diagnostics else ()
    views = [tables.linear(response, model, confidence)]
    views += [tables.strata(response, model)] if len(model.strata) > 1 else []
    views += [trends] if (trends := tables.trends(response, confidence)) else []
    # without an error of their own contrasts have a part
    sizes = _contrasts(draw) if response.lenth is None else []
    yield Part(
        id=f"{draw.prefix}-mean",
        title="Effects on the mean",
        legend="A linear model by least squares, with -1 for the first setting of a factor and +1 for the other. The "
        "share is of the total sum of squares; what the residuals have is noise, or what the design does not vary. "
        "Where the residuals are not normal or their variance is not constant, its intervals and p do not hold.",
        items=[text for text in (say.other_scale(response),) if text],
        figures=drawn,
        views=[*views, tables.checks(response)],
        folds=[Fold("Effects by size: Pareto picture and half-normal plot", (), sizes)] if sizes else (),
    )


def _contrasts(draw: Drawer) -> list[Figure]:
    """Draw what tells effects from noise."""
    return [
        *draw("Contrasts by size", pareto, "pareto", draw.confidence),
        *draw("Half-normal plot", half_normal, "halfnormal", draw.confidence),
    ]


def _lenth(response: Response, draw: Drawer, _: float) -> Iterator[Part]:
    if response.lenth is not None:
        yield Part(
            id=f"{draw.prefix}-contrasts",
            title="Which contrasts are more than noise",
            legend="Each treatment was measured once, so noise is estimated from the contrasts themselves: most are "
            "taken to be noise (Lenth 1989). Beyond SME a contrast is real; between ME and SME it may be one of many "
            "that is large by chance: measure again. Within ME it is no more than noise.",
            figures=_contrasts(draw),
            views=[tables.lenth(response, response.lenth)],
        )


def _quantiles(response: Response, draw: Drawer, confidence: float) -> Iterator[Part]:
    found = response.quantiles
    if found is None or not found.models:
        return
    first = say.shown_quantile(found)
    views: dict[bool, list[Table]] = {True: [], False: []}
    for model in found.models:
        if model is not first:
            views[model.enough].append(tables.quantile(response, model, confidence))
    titles = ("Intervals at the other quantiles", True), ("Quantiles with too few values beyond them", False)
    yield Part(
        id=f"{draw.prefix}-quantiles",
        title="Effects over the distribution",
        legend=f"Quantile regression with all interactions: what each factor adds at each quantile of the values. It "
        f"assumes no distribution. Values of one {found.cluster} may depend on each other; the intervals count "
        f"{found.clusters} {found.cluster}s as clusters.",
        items=[f"not separable: {text}" for text in found.inestimable],
        figures=draw("Effects by quantile", quantile_effects, "taus", found, confidence),
        views=[tables.quantile(response, first, confidence), tables.by_quantile(response, found.models)],
        folds=[Fold(title, views[enough]) for title, enough in titles if views[enough]],
    )


def _against(response: Response, draw: Drawer, confidence: float) -> Iterator[Part]:
    shown = [view for factor in response.factors for view in tables.percents(response, factor.name)]
    if not shown:
        return
    folds = []
    for factor in response.factors:
        own = [(k, each) for k, each in enumerate(response.one_ways[:_ONE_WAYS]) if each.factor == factor.name]
        first = ", each against the first" if len(factor.settings) > 2 else ""
        title = f"{factor.name}: quantiles{first}, all pairs, groups"
        views = [view for _, each in own for view in tables.one_way(response, each, confidence)]
        drawn = [
            figure
            for k, each in own
            for figure in draw(f"{each.factor}, setting by setting", one_way, f"oneway{k}", each,
                               _units_at(draw.observed, each), confidence)
        ]  # fmt: skip
        folds += [Fold(title, views, drawn)] if own else []
    if (spread := tables.spreads(response)) is not None:
        units = _treatments(draw.observed, draw.observed.units, logs=True)
        drawn = [
            figure
            for k, factor in enumerate(response.factors)
            for figure in draw(f"Mean and spread by {factor.name}", spreads, f"spread{k}", factor, units)
        ]
        folds.append(Fold("Do settings differ in their spread?", [spread], drawn))
    if (ranks := tables.ranks(response)) is not None:
        folds.append(Fold("Do distributions differ? Kruskal-Wallis by factor and within a setting", [ranks]))
    left = len(response.one_ways) - _ONE_WAYS
    yield Part(
        id=f"{draw.prefix}-settings",
        title="Setting against setting",
        legend="Means of the units at each setting, the others fixed. The interval is that of the difference in "
        "percent. Each row stands for itself: of twenty without any difference one looks clear. Folded below: each "
        "comparison with its quantiles and groups.",
        items=[f"{plural(left, 'more one-way table')} {agree(left, 'is', 'are')} in the CSV tables"] * (left > 0),
        views=shown,
        folds=folds,
    )


def _units_at(observed: Observed, found: OneWay) -> dict[Setting, Array]:
    """Return the units of each setting of a one-way table."""
    units, factors = observed.units, observed.factors
    place = {factor.name: i for i, factor in enumerate(factors)}
    kept = np.ones(len(units), dtype=np.bool_)
    for name, setting in found.at.items():
        kept &= units[f"f{place[name]}"].to_numpy() == factors[place[name]].settings.index(setting)
    own = place[found.factor]
    codes, y = units[f"f{own}"].to_numpy()[kept], units["y"].to_numpy(dtype=np.float64)[kept]
    return {setting: y[codes == code] for code, setting in enumerate(factors[own].settings)}


def _treatments(observed: Observed, frame: pd.DataFrame, *, logs: bool = False) -> list[TreatmentValues]:
    """Return the values of each treatment, or its units; logs: leave logarithms as they are."""
    names = [f"f{i}" for i in range(len(observed.factors))]
    y = frame["y"].to_numpy(dtype=np.float64)
    if observed.scale == "log" and not logs:
        y = np.exp(y)
    codes = frame[names].to_numpy(dtype=np.int64).reshape(len(frame), len(names))
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    place = place.reshape(len(frame))
    return [TreatmentValues(observed.settings(row.tolist()), y[place == number]) for number, row in enumerate(rows)]


def _blocks(response: Response, draw: Drawer, _: float) -> Iterator[Part]:
    if any(each.complete > 1 for each in response.blocks):
        yield Part(
            id=f"{draw.prefix}-blocks",
            title="Block plots",
            legend="A factor matters where its settings stand in one order in every box, whatever the other factors "
            "are. The chance of such a pattern without any effect is exact, without a model (NIST Technical Note 1855, "
            "4.6.3).",
            items=[say.blocks(response, each) for each in response.blocks if each.complete > 1],
            figures=_block_plots(draw),
        )


def _block_plots(draw: Drawer, name: str = "") -> list[Figure]:
    return [
        figure
        for number, each in enumerate(draw.response.blocks)
        for figure in draw(f"Block plot of {each.factor}{name}", blocks, f"block{number}", each)
    ]


def _values(response: Response, draw: Drawer, confidence: float) -> Iterator[Part]:
    samples = _treatments(draw.observed, draw.observed.values)
    asked = response.histograms
    chosen = [own for own in samples if dict(own.settings) in asked] if asked else samples[:_HISTOGRAMS]
    histograms = [figure for k, own in enumerate(chosen) for figure in draw("Histogram", histogram, f"hist{k}", own)]
    figures = [*draw("All values", violins, "values", samples), *draw("In time", series, "time")]
    figures += [*_boots(draw, "session"), *_boots(draw, "build"), *(histograms if asked else ())]
    if not figures:
        return
    folds = [Fold("As boxes with whiskers", (), drawn)] if (drawn := draw("Box plots", boxes, "boxes", samples)) else []
    if histograms and not asked:
        left = len(response.treatments) - len(histograms)
        more = f", the first {len(histograms)} of {len(response.treatments)} treatments" if left > 0 else ""
        folds.append(Fold(f"Histograms{more}", (), histograms))
    intervals = means_by_metric(f"{draw.prefix}-bca", [response], confidence)
    name = "Means with BCa intervals"
    folds.append(Fold(name, [tables.means(response, confidence)], _figure(f"{name} of {response.metric}", intervals)))
    yield Part(
        id=f"{draw.prefix}-values",
        title="The values",
        legend="All that was measured: look here first for several modes, outliers, and a drift in time.",
        figures=figures,
        folds=folds,
    )


def _boots(draw: Drawer, level: Varies) -> Iterable[Figure]:
    """Draw the units by session or build, what other factors do taken off."""
    units, factors = draw.observed.units, draw.observed.factors
    if units[level].nunique() < 2:
        return ()
    own = next((k for k, f in enumerate(factors) if f.varies in (level, "session") and len(f.settings) > 1), None)
    factor = None if own is None else factors[own]
    names = [f"f{k}" for k in range(len(factors))]
    several = 1 if own is None else units[f"f{own}"].nunique()
    adjusted = bool(names) and len(units[names].drop_duplicates()) > several
    y = units["y"]
    if adjusted:
        treatment = units.groupby(names)["y"].transform("mean")
        kept = treatment.mean() if own is None else units.assign(m=treatment).groupby(f"f{own}")["m"].transform("mean")
        y = y - treatment + kept
    frame = units.assign(y=y).sort_values(["order", "session", "build"], kind="stable")
    found = [
        Boot(None if factor is None else factor.settings[int(rows[f"f{own}"].iloc[0])], rows["y"].to_numpy())
        for _, rows in frame.groupby(level, sort=False)
    ]
    return draw(f"By {level}", boots, f"{level}s", level, found, factor, adjusted=adjusted)


def _sizes(response: Response, draw: Drawer, _: float) -> Iterator[Part]:
    found = response.sample_sizes
    if found is None:
        return
    items = []
    if found.median_effect is not None:
        items.append(
            f"{found.enough} units are the fewest here whose usual interval is narrower than the median main effect."
            if found.enough is not None
            else "none of these sizes has intervals narrower than the median main effect."
        )
    worst = min(found.rows, key=lambda row: row.coverage, default=None)
    if worst is not None:
        items.append(
            f"Attained coverage is least with {worst.size} units ({worst.method}): {format_share(worst.coverage)} of "
            "the intervals hold the mean of all."
        )
    yield Part(
        id=f"{draw.prefix}-sizes",
        title="How large a sample",
        legend="What would have come out with fewer units: intervals of the mean from subsamples of one treatment, "
        "how wide they are and how often they hold the mean of all of its units.",
        items=items,
        figures=draw("Sample sizes", sample_sizes, "sizes", found),
        folds=[Fold("As numbers", [tables.sample_sizes(response, found)])],
    )


def _abridged(response: Response, draw: Drawer, confidence: float) -> Iterator[Part]:
    table = tables.side_by_side(response)
    if table is None:
        return
    folds = []
    for number, each in enumerate(response.abridged):
        name = f"{each.name} ({each.treatments} treatments{'' if each.balanced else ', not balanced'})"
        part = draw.without(each, number)
        drawn = [*part(f"Main effects {each.name}", mains, "mains")]
        drawn += part(f"Interactions {each.name}", interactions, "interactions", each.interactions)
        drawn += _block_plots(part, f" {each.name}")
        folds.append(Fold(capitalized(each.name), [tables.linear(response, each.linear, confidence, name)], drawn))
    yield Part(
        id=f"{draw.prefix}-abridged",
        title="Without some treatments",
        legend="An effect that holds with and without questionable treatments does not depend on them.",
        views=[table],
        folds=folds,
    )


def _design(response: Response, draw: Drawer, _: float) -> Iterator[Part]:
    yield Part(
        id=f"{draw.prefix}-design",
        title="Design",
        legend="Balanced: every combination was measured equally often."
        if response.balanced
        else "Not balanced: sums of squares are what the model loses without a term (type III).",
        items=say.lacking(response),
        views=[tables.design(response), tables.treatments(response)],
    )
