"""The pictures of a response as figures of its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from markupsafe import Markup

from gate.commands.study.analysis.observations import Observed
from gate.commands.study.plots import blocks, effects, means, one_way, residuals, series, sizes, violins
from gate.commands.study.plots.columns import TreatmentValues
from gate.model.study import Abridged, Blocks, OneWay, Response, Setting
from gate.plots.picture import Picture
from gate.report.page.pictures import Figure

if TYPE_CHECKING:
    import numpy.typing as npt

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
        return self._figure("Main effects", means.mains(f"{self.prefix}-mains", self.response))

    def interactions(self) -> Figure | None:
        """Draw the interactions of two factors."""
        listed = self.response.interactions
        return self._figure("Interactions", means.interactions(f"{self.prefix}-interactions", self.response, listed))

    def residuals(self) -> Figure | None:
        """Draw the residuals of the linear model."""
        found = self.response.diagnostics
        if found is None:
            return None
        return self._figure("Residuals", residuals.residuals(f"{self.prefix}-residuals", self.response, found))

    def quantile_effects(self) -> Figure | None:
        """Draw the effects over the distribution."""
        found = self.response.quantiles
        if found is None:
            return None
        drawn = effects.quantile_effects(f"{self.prefix}-taus", self.response, found, self.confidence)
        return self._figure("Effects by quantile", drawn)

    def blocks(self, found: Blocks, number: int) -> Figure | None:
        """Draw a block plot."""
        drawn = blocks.blocks(f"{self.prefix}-block{number}", self.response, found)
        return self._figure(f"Block plot of {found.factor}", drawn)

    def one_way(self, found: OneWay, number: int) -> Figure | None:
        """Draw one factor at fixed settings of the others."""
        drawn = one_way.one_way(
            f"{self.prefix}-oneway{number}", self.response, found, self._units_at(found), self.confidence
        )
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

    def violins(self) -> Figure | None:
        """Draw all values by treatment."""
        values = self.observed.values
        names = [f"f{i}" for i in range(len(self.observed.factors))]
        y = values["y"].to_numpy(dtype=np.float64)
        if self.observed.scale == "log":
            y = np.exp(y)
        codes = values[names].to_numpy(dtype=np.int64).reshape(len(values), len(names))
        rows, place = np.unique(codes, axis=0, return_inverse=True)
        place = place.reshape(len(values))
        samples = [
            TreatmentValues(self.observed.settings(row.tolist()), y[place == number]) for number, row in enumerate(rows)
        ]
        return self._figure("All values", violins.violins(f"{self.prefix}-values", self.response, samples))

    def series(self) -> Figure | None:
        """Draw the units in the order of time."""
        return self._figure("In time", series.series(f"{self.prefix}-time", self.response))

    def sessions(self) -> Figure | None:
        """Draw the units by session."""
        return self._figure("By session", series.sessions(f"{self.prefix}-sessions", self.response))

    def sample_sizes(self) -> Figure | None:
        """Draw the sample-size study."""
        found = self.response.sample_sizes
        if found is None:
            return None
        return self._figure("Sample sizes", sizes.sample_sizes(f"{self.prefix}-sizes", self.response, found))

    def abridged_mains(self, found: Abridged, number: int) -> Figure | None:
        """Draw the main effects of an abridged data set."""
        part = self._part(found)
        return self._figure(f"Main effects {found.name}", means.mains(f"{self.prefix}-a{number}-mains", part))

    def abridged_interactions(self, found: Abridged, number: int) -> Figure | None:
        """Draw the interactions of an abridged data set."""
        part = self._part(found)
        drawn = means.interactions(f"{self.prefix}-a{number}-interactions", part, found.interactions)
        return self._figure(f"Interactions {found.name}", drawn)

    def _part(self, found: Abridged) -> Response:
        return msgspec.structs.replace(
            self.response, linear=found.linear, mains=found.mains, interactions=found.interactions, blocks=found.blocks
        )

    def _figure(self, name: str, drawn: Picture | None) -> Figure | None:
        if drawn is None:
            return None
        svg = Markup(drawn.svg)  # noqa: S704 - made by gate.plots, which escapes every text
        return Figure("study", f"{name} of {self.response.metric}", svg, drawn.caption)
