"""The pictures of a response as figures of its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from markupsafe import Markup

from gate.commands.study.analysis.observations import Observed
from gate.commands.study.plots.blocks import blocks
from gate.commands.study.plots.boxes import boxes, spreads
from gate.commands.study.plots.columns import TreatmentValues
from gate.commands.study.plots.contrasts import half_normal, pareto
from gate.commands.study.plots.effects import quantile_effects
from gate.commands.study.plots.intervals import means_by_metric, sample_sizes
from gate.commands.study.plots.means import interactions, mains
from gate.commands.study.plots.one_way import one_way
from gate.commands.study.plots.residuals import residuals
from gate.commands.study.plots.series import Boot, boots, series
from gate.commands.study.plots.violins import histogram, violins
from gate.document.document import Figure
from gate.model.study import Abridged, Blocks, Factor, OneWay, Response, Setting, Varies
from gate.plots.picture import Picture

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drawer:
    """Draws what there is to draw of a response; None where there is nothing."""

    response: Response
    observed: Observed
    prefix: str
    """Begins every id."""
    confidence: float

    def mains(self) -> Figure | None:
        """Draw the main effects."""
        return self._figure("Main effects", mains(f"{self.prefix}-mains", self.response))

    def interactions(self) -> Figure | None:
        """Draw the interactions of two factors."""
        listed = self.response.interactions
        return self._figure("Interactions", interactions(f"{self.prefix}-interactions", self.response, listed))

    def residuals(self) -> Figure | None:
        """Draw the residuals of the linear model."""
        found = self.response.diagnostics
        if found is None:
            return None
        return self._figure("Residuals", residuals(f"{self.prefix}-residuals", self.response, found))

    def pareto(self) -> Figure | None:
        """Draw contrasts, or effects in their standard errors, by size."""
        return self._figure("Contrasts by size", pareto(f"{self.prefix}-pareto", self.response, self.confidence))

    def half_normal(self) -> Figure | None:
        """Draw the same against half-normal quantiles."""
        drawn = half_normal(f"{self.prefix}-halfnormal", self.response, self.confidence)
        return self._figure("Half-normal plot", drawn)

    def quantile_effects(self) -> Figure | None:
        """Draw the effects over the distribution."""
        found = self.response.quantiles
        if found is None:
            return None
        drawn = quantile_effects(f"{self.prefix}-taus", self.response, found, self.confidence)
        return self._figure("Effects by quantile", drawn)

    def blocks(self, found: Blocks, number: int) -> Figure | None:
        """Draw a block plot."""
        drawn = blocks(f"{self.prefix}-block{number}", self.response, found)
        return self._figure(f"Block plot of {found.factor}", drawn)

    def one_way(self, found: OneWay, number: int) -> Figure | None:
        """Draw one factor at fixed settings of the others."""
        drawn = one_way(f"{self.prefix}-oneway{number}", self.response, found, self._units_at(found), self.confidence)
        return self._figure(f"{found.factor}, setting by setting", drawn)

    def _units_at(self, found: OneWay) -> dict[Setting, Array]:
        """Return the units of each setting of a one-way table."""
        units, factors = self.observed.units, self.observed.factors
        place = {factor.name: i for i, factor in enumerate(factors)}
        kept = np.ones(len(units), dtype=np.bool_)
        for name, setting in found.at.items():
            kept &= units[f"f{place[name]}"].to_numpy() == factors[place[name]].settings.index(setting)
        own = place[found.factor]
        codes, y = units[f"f{own}"].to_numpy()[kept], units["y"].to_numpy(dtype=np.float64)[kept]
        return {setting: y[codes == code] for code, setting in enumerate(factors[own].settings)}

    def spreads(self, factor: Factor) -> Figure | None:
        """Draw the units of a factor's settings beside each other, with tests of mean and spread."""
        drawn = spreads(
            f"{self.prefix}-spread{self.response.factors.index(factor)}",
            self.response,
            factor,
            self._treatments(self.observed.units, logs=True),
        )
        return self._figure(f"Mean and spread by {factor.name}", drawn)

    def violins(self) -> Figure | None:
        """Draw all values by treatment."""
        samples = self._treatments(self.observed.values)
        return self._figure("All values", violins(f"{self.prefix}-values", self.response, samples))

    def boxes(self) -> Figure | None:
        """Draw all values by treatment as boxes with whiskers."""
        samples = self._treatments(self.observed.values)
        return self._figure("Box plots", boxes(f"{self.prefix}-boxes", self.response, samples))

    def histograms(self, most: int) -> list[Figure]:
        """Draw the histograms that were asked for, else those of the first treatments."""
        asked = self.response.histograms
        samples = self._treatments(self.observed.values)
        chosen = [s for s in samples if not asked or dict(s.settings) in asked]
        drawn = [
            self._figure("Histogram", histogram(f"{self.prefix}-hist{number}", self.response, sample))
            for number, sample in enumerate(chosen if asked else chosen[:most])
        ]
        return [figure for figure in drawn if figure is not None]

    def intervals(self) -> Figure | None:
        """Draw the means of treatments with BCa intervals."""
        drawn = means_by_metric(f"{self.prefix}-bca", [self.response], self.confidence)
        return self._figure("Means with BCa intervals", drawn)

    def boots(self, level: Varies) -> Figure | None:
        """Draw the units by session or build."""
        units, factors = self.observed.units, self.observed.factors
        if units[level].nunique() < 2:
            return None
        own = next((k for k, f in enumerate(factors) if f.varies in (level, "session") and len(f.settings) > 1), None)
        names = [f"f{k}" for k in range(len(factors))]
        treatment = units.groupby(names)["y"].transform("mean") if names else units["y"].mean() + 0 * units["y"]
        kept = (
            units.assign(m=treatment).groupby(f"f{own}")["m"].transform("mean") if own is not None else treatment.mean()
        )
        groups = [f"f{own}"] if own is not None else []
        adjusted = bool(names) and len(units[names].drop_duplicates()) > len(
            units[groups].drop_duplicates() if groups else [0]
        )
        y = units["y"] - treatment + kept if adjusted else units["y"]
        frame = units.assign(y=y).sort_values(["order", "session", "build"], kind="stable")
        found = [
            Boot(None if own is None else factors[own].settings[int(rows[f"f{own}"].iloc[0])], rows["y"].to_numpy())
            for _, rows in frame.groupby(level, sort=False)
        ]
        factor = None if own is None else factors[own]
        drawn = boots(f"{self.prefix}-{level}s", self.response, level, found, factor, adjusted=adjusted)
        return self._figure(f"By {level}", drawn)

    def _treatments(self, frame: pd.DataFrame, *, logs: bool = False) -> list[TreatmentValues]:
        """Return the values of each treatment, or its units; logs: leave logarithms as they are."""
        values = frame
        names = [f"f{i}" for i in range(len(self.observed.factors))]
        y = values["y"].to_numpy(dtype=np.float64)
        if self.observed.scale == "log" and not logs:
            y = np.exp(y)
        codes = values[names].to_numpy(dtype=np.int64).reshape(len(values), len(names))
        rows, place = np.unique(codes, axis=0, return_inverse=True)
        place = place.reshape(len(values))
        return [
            TreatmentValues(self.observed.settings(row.tolist()), y[place == number]) for number, row in enumerate(rows)
        ]

    def series(self) -> Figure | None:
        """Draw the units in the order of time."""
        return self._figure("In time", series(f"{self.prefix}-time", self.response))

    def sample_sizes(self) -> Figure | None:
        """Draw the sample-size study."""
        found = self.response.sample_sizes
        if found is None:
            return None
        return self._figure("Sample sizes", sample_sizes(f"{self.prefix}-sizes", self.response, found))

    def abridged_mains(self, found: Abridged, number: int) -> Figure | None:
        """Draw the main effects of an abridged data set."""
        part = self._part(found)
        return self._figure(f"Main effects {found.name}", mains(f"{self.prefix}-a{number}-mains", part))

    def abridged_interactions(self, found: Abridged, number: int) -> Figure | None:
        """Draw the interactions of an abridged data set."""
        part = self._part(found)
        drawn = interactions(f"{self.prefix}-a{number}-interactions", part, found.interactions)
        return self._figure(f"Interactions {found.name}", drawn)

    def abridged_blocks(self, found: Abridged, number: int) -> list[Figure]:
        """Draw the block plots of an abridged data set."""
        part = self._part(found)
        drawn = [
            self._figure(
                f"Block plot of {each.factor} {found.name}",
                blocks(f"{self.prefix}-a{number}-block{k}", part, each),
            )
            for k, each in enumerate(found.blocks)
        ]
        return [figure for figure in drawn if figure is not None]

    def _part(self, found: Abridged) -> Response:
        measured = {m.factors[0]: [p.settings[m.factors[0]] for p in m.points] for m in found.mains}
        factors = [
            msgspec.structs.replace(f, settings=[s for s in f.settings if s in measured[f.name]])
            for f in self.response.factors
            if f.name in measured
        ]
        return msgspec.structs.replace(
            self.response,
            factors=factors,
            linear=found.linear,
            lenth=None,
            mains=found.mains,
            interactions=found.interactions,
            blocks=found.blocks,
        )

    def _figure(self, name: str, drawn: Picture | None) -> Figure | None:
        if drawn is None:
            return None
        svg = Markup(drawn.svg)  # noqa: S704 - made by gate.plots, which escapes every text
        return Figure("study", f"{name} of {self.response.metric}", svg, drawn.caption)


def by_metric(responses: list[Response], prefix: str, confidence: float) -> Figure | None:
    """Draw the means of one benchmark's metrics beside each other."""
    drawn = means_by_metric(prefix, responses, confidence)
    if drawn is None:
        return None
    svg = Markup(drawn.svg)  # noqa: S704 - as above
    return Figure("study", f"Means by metric of {responses[0].benchmark}", svg, drawn.caption)
