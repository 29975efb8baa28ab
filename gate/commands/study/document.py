"""The analysis of a study as a document: its parts in order, each of words, pictures and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gate.commands.study import tables
from gate.commands.study import words as say
from gate.commands.study.observations import Observed
from gate.commands.study.plots.effects import half_normal, pareto, quantile_effects
from gate.commands.study.plots.intervals import means_by_metric, one_way, sample_sizes
from gate.commands.study.plots.means import blocks, interactions, mains
from gate.commands.study.plots.of_values import boots, boxes, histogram, residuals, series, spreads, violins
from gate.commands.study.plots.styles import TreatmentValues
from gate.document.document import Code, Document, Facts, Figure, Figures, Fold, Items, Part, Section, Statement
from gate.model.study import Abridged, OneWay, Response, Setting, StudyReport, Varies
from gate.plots.picture import Picture
from gate.stats.design.cells import cells
from gate.words import failures
from gate.words.reports import capitalized, commit
from gate.writing.plain import visible
from gate.writing.units import agree, format_confidence, format_share, plural

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

_ONE_WAYS = 24
"""Most one-way tables that a page holds of a response; all are in study.json."""
_HISTOGRAMS = 12
"""Most histograms that a page holds of a response without being asked."""
_SOURCES = (
    "Sources: Born de Oliveira and others, Why You Should Care About Quantile Regression (2013), for effect coding, "
    "the tables of effects, and the effects over the distribution; NIST Technical Note 1855 for random order within an "
    "iteration of the design, main effects, interactions, block plots, abridged data sets and the sample-size study; "
    "Tukey and Kramer for comparisons of all pairs. docs/study.md explains the numbers and their limits."
)


class Drawer(msgspec.Struct, frozen=True):
    """Draws what there is to draw of a response."""

    response: Response
    observed: Observed | None
    """None: no pictures are wanted."""
    prefix: str
    """Begins every id."""
    confidence: float

    def __call__(
        self, name: str, make: Callable[..., Picture | None], key: str, *more: Any, **how: Any
    ) -> list[Figure]:
        """Return a picture of the response, none where there is nothing to draw; more, how: what it takes besides."""
        if self.observed is None:
            return []
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


def _figure(name: str, drawn: Picture | None) -> list[Figure]:
    return [] if drawn is None else [drawn.figure("study", name)]


def brief(report: StudyReport) -> Document:
    """Write what was found in sentences alone, and what failed."""
    found: list[list[Part]] = [
        [_of(r, [Statement(say.measured(r)), Items(r.words, "says", "What it shows")])] for r in report.responses
    ]
    return _document(report, [*_opening(report), *found])


def document_of(report: StudyReport, observed: Sequence[Observed] | None = None, files: Sequence[str] = ()) -> Document:
    """Write all of it.

    Args:
        observed: of each response, in their order; its values are in the pictures. None: a text, without any.
        files: the names of the measurement files, for a page.
    """
    responses, confidence = report.responses, report.confidence
    sections = _opening(report)
    if observed is not None:
        named = {f.name: f"{f.name} ({', '.join(map(str, f.settings))})" for r in responses for f in r.factors}
        facts = [("factors", "; ".join(named.values()) or "none")]
        if counts := sorted({len(r.treatments) for r in responses}):
            facts.append(("treatments", " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))))
        facts.append(("confidence", format_confidence(confidence)))
        facts.append(("interactions", f"of up to {plural(report.order, 'factor')} in the linear model"))
        facts += [("measured", run.created) for run in report.runs[:1] if run.created]
        sections.append([Facts(facts)])
        by_benchmark: dict[str, list[Response]] = {}
        for response in responses:
            by_benchmark.setdefault(response.benchmark, []).append(response)
        several = [own for own in by_benchmark.values() if len(own) > 1]
        beside = [
            figure
            for number, own in enumerate(several)
            for figure in _figure(
                f"Means by metric of {own[0].benchmark}", means_by_metric(f"m{number}", own, confidence)
            )
        ]
        reading = (
            "The metrics of one benchmark beside each other: which of them a factor moves, and how precise they are."
        )
        sections += [[Section("Means by metric", "metrics", [Figures(beside)], reading)]] if beside else []
    for number, response in enumerate(responses, 1):
        own = None if observed is None else observed[number - 1]
        draw = Drawer(response, own, f"r{number}" if len(responses) > 1 else "r", confidence)
        said: list[Part] = [
            Statement(say.measured(response)),
            Items(response.words, "says", "What it shows"),
            Items(say.cautions(response), "caution", "What to keep in mind"),
        ]
        makers = (_mean, _lenth, _quantiles, _against, _blocks, _values, _sizes, _abridged, _design)
        parts = [part for make in makers for part in make(response, draw, confidence)]
        alone = len(responses) == 1 and observed is not None
        sections += [said, list(parts)] if alone else [[_of(response, [*said, *parts], draw.prefix)]]
    sections.append([Items(report.warnings, "warning")])
    return _document(report, sections if observed is None else [*sections, *_closing(report, files)])


def _of(response: Response, parts: list[Part], place: str = "") -> Section:
    return Section(f"{response.benchmark}: {response.metric}", place, parts)


def _document(report: StudyReport, sections: list[list[Part]]) -> Document:
    names = list(dict.fromkeys(f"{r.benchmark}, {r.metric}" for r in report.responses))
    title = f"Study of {' and of '.join(names) if len(names) < 3 else f'{len(names)} responses'}"
    return Document(
        tool="perfgate study",
        title=title if names else "Study: nothing was measured",
        sections=sections,
        elsewhere="in the page",
        footer="A study has no verdict and no threshold. p is for a single effect; “p, family” is shared over all that "
        "is asked of a response; sentences go by it.",
    )


def _opening(report: StudyReport) -> list[list[Part]]:
    nothing = "" if report.responses else "Nothing was measured: there is nothing to analyse."
    return [
        [Items([report.unfinished] if report.unfinished else [], "caution")],
        [Statement(nothing, "error"), Items([failures.sentence(failure) for failure in report.failures], "caution")],
    ]


def _closing(report: StudyReport, files: Sequence[str]) -> list[list[Part]]:
    """Fold away what the page is made of, and how to make it again."""
    rows: list[tuple[str, str]] = []
    for run in report.runs:
        told = [run.id or "", commit(run.head) if run.head else "", f"seed {run.seed}" if run.seed is not None else ""]
        name = "run" if run.session is None else f"session {run.session}"
        rows.append((name, ", ".join(text for text in told if text) or "unknown"))
        host = run.host or {}
        facts = [f"{key} {host[key]}" for key in ("cpu", "cores", "kernel", "system") if host.get(key)]
        rows += [("host", ", ".join(facts))] if facts else []
    commands = Facts(list(report.commands.items()), code=True)
    rows += [("perfgate", report.perfgate), ("seed of the analysis", str(report.seed))]
    names = map(visible, files or ["measurements.jsonl"])
    kept: list[Part] = [
        Statement("To make this page again:"),
        Code(" ".join(["perfgate study analyse", *names, "--out again"])),
        Statement(_SOURCES),
    ]
    return [[Fold("Run and host", [Facts(rows), commands], "run"), Fold("Data", kept, "data")]]


def _mean(response: Response, draw: Drawer, confidence: float) -> Iterator[Section]:
    model = response.linear
    if model is None:
        return
    drawn = [*draw("Main effects", mains, "mains")]
    drawn += draw("Interactions", interactions, "interactions", response.interactions)
    drawn += draw("Residuals", residuals, "residuals", response.diagnostics) if response.diagnostics else []
    views = [tables.linear(response, model, confidence)]
    views += [tables.strata(response, model)] if len(model.strata) > 1 else []
    yield Section(
        "Effects on the mean",
        f"{draw.prefix}-mean",
        [
            Items([response.other_scale] if response.other_scale else [], "rest"),
            Figures(drawn),
            *views,
            tables.checks(response),
        ],
        "A linear model by least squares, with -1 for the first setting of a factor and +1 for the other. The "
        "share is of the total sum of squares; what the residuals have is noise, or what the design does not vary. "
        "Where the residuals are not normal or their variance is not constant, its intervals and p do not hold.",
    )


def _lenth(response: Response, draw: Drawer, _: float) -> Iterator[Section]:
    if response.lenth is not None:
        drawn = [*draw("Contrasts by size", pareto, "pareto"), *draw("Half-normal plot", half_normal, "halfnormal")]
        yield Section(
            "Which contrasts are more than noise",
            f"{draw.prefix}-contrasts",
            [Figures(drawn), tables.lenth(response, response.lenth)],
            "Each treatment was measured once, so noise is estimated from the contrasts themselves: most are "
            "taken to be noise (Lenth 1989). Beyond SME a contrast is real; between ME and SME it may be one of many "
            "that is large by chance: measure again. Within ME it is no more than noise.",
        )


def _quantiles(response: Response, draw: Drawer, confidence: float) -> Iterator[Section]:
    found = response.quantiles
    if found is None or not found.models:
        return
    # shown first is the highest that has its values, else the one that needs the fewest
    enough = [model for model in found.models if model.enough]
    first = enough[-1] if enough else min(found.models, key=lambda model: abs(model.tau - 0.5))
    views: dict[bool, list[Part]] = {True: [], False: []}
    for model in found.models:
        if model is not first:
            views[model.enough].append(tables.quantile(response, model, confidence))
    titles = ("Intervals at the other quantiles", True), ("Quantiles with too few values beyond them", False)
    yield Section(
        "Effects over the distribution",
        f"{draw.prefix}-quantiles",
        [
            *([Items([f"not separable: {text}" for text in found.inestimable], "rest")] if found.inestimable else []),
            Figures(draw("Effects by quantile", quantile_effects, "taus", found, confidence)),
            tables.quantile(response, first, confidence),
            tables.by_quantile(response, found.models),
            *(Fold(title, views[enough]) for title, enough in titles if views[enough]),
        ],
        "Quantile regression with all interactions: what each factor adds at each quantile of the values. It "
        f"assumes no distribution. Values of one {found.cluster} may depend on each other; the intervals count "
        f"{found.clusters} {found.cluster}s as clusters." + (_IID.format(found.cluster) if first.iid else ""),
    )


_IID = (
    " Those under iid treat all values as independent. Where values of one {} are alike, they tell less than as many "
    "independent ones, so those intervals are too narrow."
)


def _against(response: Response, draw: Drawer, confidence: float) -> Iterator[Section]:
    shown = [view for factor in response.factors for view in tables.percents(response, factor.name)]
    if not shown:
        return
    units = _treatments(draw.observed, "units", logs=True)

    def units_at(found: OneWay) -> dict[Setting, Array]:
        own: dict[Setting, list[Array]] = {}
        for each in units:
            if found.at.items() <= each.settings.items():
                own.setdefault(each.settings[found.factor], []).append(each.values)
        return {setting: np.concatenate(values) for setting, values in own.items()}

    folds = []
    for factor in response.factors:
        own = [(k, each) for k, each in enumerate(response.one_ways[:_ONE_WAYS]) if each.factor == factor.name]
        views: list[Part] = [view for _, each in own for view in tables.one_way(response, each, confidence)]
        drawn = [
            figure
            for k, each in own
            for figure in draw(f"{each.factor}, setting by setting", one_way, f"oneway{k}", each, units_at(each))
        ]
        title = f"{factor.name}: quantiles, all pairs, groups"
        folds += [Fold(title, [*views, Figures(drawn)])] if own else []
    if (spread := tables.spreads(response)) is not None:
        drawn = [
            figure
            for k, factor in enumerate(response.factors)
            for figure in draw(f"Mean and spread by {factor.name}", spreads, f"spread{k}", factor, units)
        ]
        folds.append(Fold("Do settings differ in their spread?", [spread, Figures(drawn)]))
    if (ranks := tables.ranks(response)) is not None:
        folds.append(Fold("Do distributions differ? Kruskal-Wallis by factor and within a setting", [ranks]))
    left = len(response.one_ways) - _ONE_WAYS
    more = f"{plural(left, 'more one-way table')} {agree(left, 'is', 'are')} in study.json"
    yield Section(
        "Setting against setting",
        f"{draw.prefix}-settings",
        [Items([more] if left > 0 else [], "rest"), *shown, *folds],
        "Means of the units at each setting, the others fixed. The interval is that of the difference in "
        "percent. Each row stands for itself: of twenty without any difference one looks clear. Folded below: each "
        "comparison with its quantiles and groups.",
    )


def _treatments(observed: Observed | None, what: str, *, logs: bool = False) -> list[TreatmentValues]:
    """Return the values of each treatment, or its units; logs: leave logarithms as they are."""
    if observed is None:
        return []
    plain = observed.scale == "log" and not logs
    return [
        TreatmentValues(observed.settings(cell.codes), np.exp(cell.y) if plain else cell.y)
        for cell in cells(getattr(observed, what), observed.factors)
    ]


def _blocks(response: Response, draw: Drawer, _: float) -> Iterator[Section]:
    if any(each.complete > 1 for each in response.blocks):
        yield Section(
            "Block plots",
            f"{draw.prefix}-blocks",
            [_orders(response), Figures(_block_plots(draw))],
            "A factor matters where its settings stand in one order in every box, whatever the other factors "
            "are. The chance of such a pattern without any effect needs no model; it is exact for two settings, and "
            "where all boxes agree (NIST Technical Note 1855, 4.6.3).",
        )


def _orders(response: Response) -> Items:
    return Items([say.blocks(response, each) for each in response.blocks if each.complete > 1], "rest")


def _block_plots(draw: Drawer, name: str = "") -> list[Figure]:
    return [
        figure
        for number, each in enumerate(draw.response.blocks)
        for figure in draw(f"Block plot of {each.factor}{name}", blocks, f"block{number}", each)
    ]


def _values(response: Response, draw: Drawer, confidence: float) -> Iterator[Section]:
    samples = _treatments(draw.observed, "values")
    asked = response.histograms
    chosen = [own for own in samples if dict(own.settings) in asked] if asked else samples[:_HISTOGRAMS]
    histograms = [figure for k, own in enumerate(chosen) for figure in draw("Histogram", histogram, f"hist{k}", own)]
    figures = [*draw("All values", violins, "values", samples), *draw("In time", series, "time")]
    figures += [*_boots(draw, "session"), *_boots(draw, "build"), *(histograms if asked else ())]
    if not figures:
        return
    drawn = draw("Box plots", boxes, "boxes", samples)
    folds = [Fold("As boxes with whiskers", [Figures(drawn)])] if drawn else []
    if histograms and not asked:
        left = len(response.treatments) - len(histograms)
        more = f", the first {len(histograms)} of {len(response.treatments)} treatments" if left > 0 else ""
        folds.append(Fold(f"Histograms{more}", [Figures(histograms)]))
    intervals = means_by_metric(f"{draw.prefix}-bca", [response], confidence)
    name = "Means with BCa intervals"
    means = Figures(_figure(f"{name} of {response.metric}", intervals))
    yield Section(
        "The values",
        f"{draw.prefix}-values",
        [Figures(figures), *folds, Fold(name, [tables.means(response, confidence), means])],
        "All that was measured: look here first for several modes, outliers, and a drift in time.",
    )


def _boots(draw: Drawer, level: Varies) -> list[Figure]:
    """Draw the units by session or build, what other factors do taken off."""
    if draw.observed is None or draw.observed.units[level].nunique() < 2:
        return []
    units, factors = draw.observed.units, draw.observed.factors
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
        (None if factor is None else factor.settings[int(rows[f"f{own}"].iloc[0])], rows["y"].to_numpy())
        for _, rows in frame.groupby(level, sort=False)
    ]
    return draw(f"By {level}", boots, f"{level}s", level, found, factor, adjusted=adjusted)


def _sizes(response: Response, draw: Drawer, _: float) -> Iterator[Section]:
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
    yield Section(
        "How large a sample",
        f"{draw.prefix}-sizes",
        [
            Items(items, "rest"),
            Figures(draw("Sample sizes", sample_sizes, "sizes", found)),
            Fold("As numbers", [tables.sample_sizes(response, found)]),
        ],
        "What would have come out with fewer units: intervals of the mean from subsamples of one treatment, "
        "how wide they are and how often they hold the mean of all of its units.",
    )


def _abridged(response: Response, draw: Drawer, confidence: float) -> Iterator[Section]:
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
        own = tables.linear(response, each.linear, confidence, name)
        folds.append(Fold(capitalized(each.name), [own, _orders(part.response), Figures(drawn)]))
    yield Section(
        "Without some treatments",
        f"{draw.prefix}-abridged",
        [table, *folds],
        "An effect that holds with and without questionable treatments does not depend on them.",
    )


def _design(response: Response, draw: Drawer, _: float) -> Iterator[Section]:
    yield Section(
        "Design",
        f"{draw.prefix}-design",
        [Items(say.lacking(response), "rest"), tables.design(response), tables.treatments(response)],
        "Balanced: every combination was measured equally often."
        if response.balanced
        else "Not balanced: sums of squares are what the model loses without a term (type III).",
    )
