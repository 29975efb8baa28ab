"""Coverage: how often the interval contains the true change, and how wide it is (K&J 8.4)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from gate.commands.simulate.arrays.components import NORMAL, SHAPES, Components, Shape
from gate.commands.simulate.arrays.draws import Source
from gate.commands.simulate.arrays.pairs import Interval
from gate.commands.simulate.arrays.studies import Comparisons
from gate.commands.simulate.page import Figure
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Setting, columns, percent, plain, row
from gate.plots.lines import Chart, Line

INTERVALS: tuple[Interval, ...] = ("fieller-kj", "fieller", "paired", "fieller-moderated")
TWO_LAYOUTS = Components("two layouts", 0.041, 0.0, 0.01)
"""Build effects and almost no noise below them: the hard case when they are bimodal."""
MEMORY_DF = 20

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FIGURE_BUILDS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50)
_CORRELATIONS = (0.0, 0.4, 0.7)
_NOISES = (1.0, 2.0, 4.0)


def comparisons(
    setting: Setting, component: Components, builds: int, ratio: float, shape: Shape = NORMAL
) -> Comparisons:
    """Return the study of one case by every interval: the same one for coverage, false alarms and power."""
    return Comparisons(Source((component,), shape), builds, ratio, INTERVALS, setting.thresholds, MEMORY_DF)


def noisy(setting: Setting, builds: int, noise: float, *, one: bool) -> Comparisons:
    """Return the study of a moderated interval where one case, or every case, is noisier than remembered."""
    source = Source(setting.in_turn, NORMAL, noise, one and noise > 1)
    return Comparisons(source, builds, 1 + setting.effects[0], ("fieller-moderated",), (0.0,), MEMORY_DF)


def residuals(builds: int) -> tuple[Comparisons, ...]:
    """Return the studies of two layouts with more and less residual, at one count of builds."""
    shapes = [Shape("bimodal", share, residual) for share in (0.5, 0.2, 0.05) for residual in (0.1, 0.3, 1.0)]
    return tuple(Comparisons(Source((TWO_LAYOUTS,), shape), builds, 1.05, ("fieller",)) for shape in shapes)


def draft(setting: Setting) -> Draft:
    """Write the chapter."""
    change = plain(setting.effects[0])
    return Draft(
        "Coverage and width",
        (
            (
                f"How often the 95% interval contains the true change, here +{change} (K&J 8.4). Each cell goes from "
                "the case with the lowest coverage to the one with the highest. K&J's own interval contains it "
                "too often with few builds, because it is too wide."
            ),
            _coverage(setting),
            *((_figure(setting),) if setting.paper else ()),
            (
                f"Mean half-width of the interval at +{change}, normal build effects: `fieller-kj` / `fieller` / "
                "`fieller-moderated`. The memory is correct here, and has 20 degrees of freedom, the maximum."
            ),
            _widths(setting),
            *(_hard_shapes(setting) if setting.paper else ()),
            (
                "Coverage of `fieller-moderated` if the present run is noisier than remembered: its variance is this "
                f"many times the remembered one. One case of {setting.cases}, or all of them."
            ),
            _noise(setting),
            (
                "Rounds that share a drift of the machine: coverage and mean half-width, by the correlation of base "
                f"and head in a round, {_drifting(setting, 0).name}."
            ),
            _drift(setting),
        ),
    )


def _coverage(setting: Setting) -> DraftTable:
    rows = []
    for index, interval in enumerate(INTERVALS):
        for shape in SHAPES:
            cells = [_range_of(setting, index, shape, builds) for builds in setting.builds]
            rows.append(row(f"`{interval}`", shape.name, *cells))
    return DraftTable(("interval", "build effects", *columns(setting.builds)), tuple(rows), names=2)


def _range_of(setting: Setting, interval: int, shape: Shape, builds: int) -> Ask[str]:
    ratio = 1 + setting.effects[0]
    studies = tuple(comparisons(setting, c, builds, ratio, shape) for c in setting.components)

    def show(results: Results) -> str:
        found = [float(results.of(study).coverage[interval]) for study in studies]
        low, high = percent(min(found)), percent(max(found))
        return low if low == high else f"{low} to {high}"

    return Ask(studies, show)


def _widths(setting: Setting) -> DraftTable:
    def cell(component: Components, builds: int) -> Ask[str]:
        study = comparisons(setting, component, builds, 1 + setting.effects[0])
        return Ask((study,), lambda results: beside(results.of(study).mean_half_width))

    rows = tuple(row(c.name, *(cell(c, builds) for builds in setting.builds)) for c in setting.components)
    return DraftTable(("case", *columns(setting.builds)), rows)


def beside(by_interval: npt.NDArray[np.float64], digits: int = 1) -> str:
    """Write the shares of fieller-kj, fieller and fieller-moderated beside each other: "8.7 / 6.0 / 4.1%"."""
    kj, fieller, _, moderated = (f"{float(share) * 100:.{digits}f}" for share in by_interval)
    return f"{kj} / {fieller} / {moderated}%"


def _hard_shapes(setting: Setting) -> tuple[str, DraftTable]:
    studies = {builds: residuals(builds) for builds in setting.builds}

    def cell(study: Comparisons) -> Ask[str]:
        return Ask((study,), lambda results: percent(float(results.of(study).coverage[0])))

    rows = []
    for index, study in enumerate(studies[setting.builds[0]]):
        shape = study.source.shape
        split = Shape("bimodal", shape.share).name
        rows.append(row(split, f"{shape.residual:g}", *(cell(studies[builds][index]) for builds in setting.builds)))
    table = DraftTable(("build effects", "residual", *columns(setting.builds)), tuple(rows), names=2)
    return (
        (
            "Coverage of `fieller` with two layouts and almost no noise below the builds (standard deviation of builds "
            "4.1%, of iterations 1%). Residual: standard deviation within a layout, as a share of that between the two."
        ),
        table,
    )


def _noise(setting: Setting) -> DraftTable:
    def cell(builds: int, noise: float, *, one: bool) -> Ask[str]:
        study = noisy(setting, builds, noise, one=one)
        return Ask((study,), lambda results: percent(float(results.of(study).coverage[0])))

    rows = [
        row("one" if one else "all", f"{noise:g}", *(cell(builds, noise, one=one) for builds in setting.builds))
        for one in (True, False)
        for noise in _NOISES
        if not (one and noise == 1)
    ]
    return DraftTable(("cases", "variance", *columns(setting.builds)), tuple(rows), names=2)


def _drifting(setting: Setting, correlation: float) -> Components:
    """Add a drift of rounds to the case of middling noise, such that the means of a round correlate."""
    ordered = sorted(setting.components, key=lambda c: c.of_build_mean)
    chosen = ordered[(len(ordered) - 1) // 2]
    return dataclasses.replace(chosen, drift=(correlation / (1 - correlation) * chosen.of_build_mean) ** 0.5)


def _drift(setting: Setting) -> DraftTable:
    def cell(correlation: float, builds: int, index: int) -> Ask[str]:
        study = comparisons(setting, _drifting(setting, correlation), builds, 1 + setting.effects[0])

        def show(results: Results) -> str:
            counts = results.of(study)
            return f"{percent(float(counts.coverage[index]))}, {percent(float(counts.mean_half_width[index]))}"

        return Ask((study,), show)

    lines = tuple(
        row(f"{correlation:g}", f"`{INTERVALS[index]}`", *(cell(correlation, count, index) for count in setting.builds))
        for correlation in _CORRELATIONS
        for index in range(1, len(INTERVALS))
    )
    return DraftTable(("correlation", "interval", *columns(setting.builds)), lines, names=2)


def _figure(setting: Setting) -> Ask[Figure]:
    component = setting.components[0]
    studies = tuple(comparisons(setting, component, builds, 1 + setting.effects[0]) for builds in _FIGURE_BUILDS)

    def make(results: Results) -> Figure:
        lines = tuple(
            Line(
                interval,
                tuple(
                    (float(builds), float(results.of(study).coverage[index]))
                    for builds, study in zip(_FIGURE_BUILDS, studies, strict=True)
                ),
            )
            for index, interval in enumerate(INTERVALS)
        )
        chart = Chart(
            title=f"Coverage of the 95% interval: {component.name}",
            description="K&J Fig. 6 (b): their interval covers 99% at 3 builds and comes down to 95% with many; "
            "the others stay near 95%.",
            x_label="builds of each side",
            y_label="coverage",
            lines=lines,
            log=True,
            guide=0.95,
            y_range=(0.94, 1.0),
            x_ticks=(2, 3, 5, 10, 20, 50),
        )
        return Figure("coverage", chart)

    return Ask(studies, make)
