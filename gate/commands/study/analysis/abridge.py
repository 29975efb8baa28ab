"""Abridged data sets: some treatments left out, or only some kept, as NIST 4.6.2 has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.commands.study.analysis.observations import Observed
from gate.model import UserError
from gate.model.study import Factor, Setting

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Mask = npt.NDArray[np.bool_]

Pattern = Mapping[str, str]
"""Factor -> setting as text; factors that it does not name may have any."""


@dataclass(frozen=True, slots=True)
class Abridgement:
    """Which treatments stay: those of a pattern (keep), or those of none."""

    patterns: tuple[Pattern, ...]
    keep: bool

    @property
    def name(self) -> str:
        """What it is called: "without fp=no, prf=fp"."""
        patterns = " and ".join(", ".join(f"{f}={s}" for f, s in pattern.items()) for pattern in self.patterns)
        return f"{'only' if self.keep else 'without'} {patterns}"


def abridged(observed: Observed, abridgement: Abridgement) -> Observed | None:
    """Leave treatments out; None where fewer than two stay. Settings and factors that have nothing left to vary go too.

    Raises:
        UserError: a factor or setting that was not measured.
    """
    masks = [_matches(observed, abridgement, frame) for frame in (observed.units, observed.values)]
    kept = observed.where(*(mask if abridgement.keep else ~mask for mask in masks))
    names = [f"f{i}" for i in range(len(kept.factors))]
    return _recoded(kept) if len(kept.units[names].drop_duplicates()) > 1 else None


def _matches(observed: Observed, abridgement: Abridgement, frame: pd.DataFrame) -> Mask:
    found = np.zeros(len(frame), dtype=np.bool_)
    option = "--only" if abridgement.keep else "--without"
    for pattern in abridgement.patterns:
        own = np.ones(len(frame), dtype=np.bool_)
        for name, text in pattern.items():
            index, code = _found(observed.factors, name, text, option)
            own &= frame[f"f{index}"].to_numpy() == code
        found |= own
    return found


def matching(observed: Observed, pattern: Pattern, option: str) -> list[tuple[int, ...]]:
    """Return the treatments measured that a pattern names, as the numbers of their settings, in standard order.

    Raises:
        UserError: a factor or setting that was not measured; it names the option.
    """
    wanted = dict(_found(observed.factors, name, text, option) for name, text in pattern.items())
    names = [f"f{i}" for i in range(len(observed.factors))]
    codes = sorted(map(tuple, observed.units[names].drop_duplicates().to_numpy(dtype=np.int64).tolist()))
    return [own for own in codes if all(own[index] == code for index, code in wanted.items())]


def _found(factors: Sequence[Factor], name: str, text: str, option: str) -> tuple[int, int]:
    names = [factor.name for factor in factors]
    if name not in names:
        raise UserError(f"{option} {name}={text}: there is no factor {name}; there are {', '.join(names) or 'none'}")
    index = names.index(name)
    settings = [str(setting) for setting in factors[index].settings]
    if text not in settings:
        raise UserError(f"{option} {name}={text}: {name} was measured at {', '.join(settings)}")
    return index, settings.index(text)


def _recoded(observed: Observed) -> Observed:
    """Drop settings that have no row left, and factors that have one setting left."""
    units, values = observed.units, observed.values
    factors: list[Factor] = []
    columns: dict[str, str] = {}
    gone: list[str] = []
    for i, factor in enumerate(observed.factors):
        codes = np.unique(units[f"f{i}"].to_numpy())
        if len(codes) < 2:
            gone.append(f"f{i}")
            continue
        settings: list[Setting] = [factor.settings[code] for code in codes]
        place = np.zeros(len(factor.settings), dtype=np.int64)
        place[codes] = np.arange(len(codes))
        units = units.assign(**{f"f{i}": place[units[f"f{i}"].to_numpy()]})
        values = values.assign(**{f"f{i}": place[values[f"f{i}"].to_numpy()]})
        columns[f"f{i}"] = f"f{len(factors)}"
        factors.append(msgspec.structs.replace(factor, settings=settings))
    return replace(
        observed,
        factors=tuple(factors),
        units=units.drop(columns=gone).rename(columns=columns),
        values=values.drop(columns=gone).rename(columns=columns),
    )
