"""Executions -> one long pandas frame, a row for each measured value."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd

from gate.directions import told_or_known
from gate.model import SIDES, Execution
from gate.units import to_base

T = TypeVar("T", bound=Hashable)
Setting = str | int | float
Integers = npt.NDArray[np.int64]

FIRST = ("benchmark", "metric", "unit", "better")
"""The columns before those of the factors."""
LAST = ("side", "session", "build", "execution", "order", "iteration", "value")
"""The columns after those of the factors."""


class _Part(msgspec.Struct, frozen=True, eq=False):
    """What one execution measured of one metric; values in the base unit, and some of them."""

    execution: Execution
    metric: str
    unit: str
    better: str
    """"" where nothing tells."""
    settings: int
    """Their number."""
    values: Sequence[float]


def long_frame(executions: Sequence[Execution]) -> pd.DataFrame:
    """Lay out all values of executions as one row each.

    Columns: benchmark, metric, unit, better, one for each factor, side, session, build, execution (its number in the
    measurements), order (position of the execution in the run, NA where it is not known), iteration (number within the
    execution, from 0, warm-up excluded), value (in the base unit, float64). Text and settings are categories. A setting
    that an execution lacks is NA.

    Rows are sorted by benchmark, metric and setting of the factors, each in the order of its first value, then base
    before head, then by session, build and execution. So each category stands where it is first needed.
    """
    numbered = _Settings()
    parts = _sorted(_parts(executions, numbered))
    lengths = np.array([len(part.values) for part in parts], dtype=np.int64)

    def text(values: Iterable[str]) -> pd.Categorical:
        return _categories(list(values), lengths)

    def number(values: Iterable[int]) -> Integers:
        return np.repeat(np.array(list(values), dtype=np.int64), lengths)

    columns: dict[str, Any] = {
        "benchmark": text(part.execution.benchmark for part in parts),
        "metric": text(part.metric for part in parts),
        "unit": text(part.unit for part in parts),
        "better": text(part.better for part in parts),
    }
    settings = [
        ({name: _setting(value) for name, value in factors.items() if value is not None})
        for factors in numbered.factors
    ]
    for factor, column in factor_columns(numbered.factors).items():
        own = _same_kind([each.get(factor) for each in settings])
        columns[column] = _categories([own[part.settings] for part in parts], lengths)
    columns["side"] = pd.Categorical.from_codes(
        number(SIDES.index(part.execution.side) for part in parts).astype(np.int8),
        categories=pd.Index(SIDES, dtype="str"),
    )
    for name in ("session", "build", "execution"):
        columns[name] = number(getattr(part.execution, name) for part in parts)
    orders = [part.execution.order for part in parts]
    unknown = np.repeat(np.array([order is None for order in orders], dtype=bool), lengths)
    columns["order"] = pd.arrays.IntegerArray(number(order or 0 for order in orders), unknown)
    columns["iteration"] = _from_0(lengths)
    columns["value"] = np.fromiter(chain.from_iterable(part.values for part in parts), np.float64, int(lengths.sum()))
    return pd.DataFrame(columns)


def factor_columns(settings: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Name the column of each factor: the factor's own name, with "factor_" before it where that is taken."""
    factors = list(dict.fromkeys(name for each in settings for name in each))
    taken = {*FIRST, *LAST, *factors}
    columns = {}
    for factor in factors:
        column = factor
        if column in (*FIRST, *LAST):
            while column in taken:
                column = f"factor_{column}"
            taken.add(column)
        columns[factor] = column
    return columns


class _Settings:
    """The settings of factors that were met, numbered; 1 and 1.0 are one setting."""

    def __init__(self) -> None:
        self.factors: list[Mapping[str, object]] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, factors: Mapping[str, object]) -> int:
        plain = {name: _whole(value) for name, value in factors.items()}
        found = self._numbers.setdefault(msgspec.json.encode(plain, order="sorted"), len(self.factors))
        if found == len(self.factors):
            self.factors.append(factors)
        return found


def _parts(executions: Iterable[Execution], settings: _Settings) -> list[_Part]:
    found = []
    for e in executions:
        measured = {name: metric for name, metric in e.metrics.items() if metric.values}
        number = settings.number(e.factors) if measured else 0
        for name, metric in measured.items():
            unit, scale = to_base(metric.unit)
            values = metric.values if scale == 1 else [value * scale for value in metric.values]
            better = told_or_known(metric.better, name, unit) or ""
            found.append(_Part(e, name, unit, better, number, values))
    return found


def _sorted(parts: Sequence[_Part]) -> list[_Part]:
    benchmarks = _places(part.execution.benchmark for part in parts)
    metrics = _places(part.metric for part in parts)

    def key(part: _Part) -> tuple[int, int, int, int, int, int, int]:
        e = part.execution
        place = (benchmarks[e.benchmark], metrics[part.metric], part.settings)
        return *place, SIDES.index(e.side), e.session, e.build, e.execution

    return sorted(parts, key=key)


def _places(values: Iterable[T]) -> dict[T, int]:
    """Number values in the order of their first use."""
    return {value: place for place, value in enumerate(dict.fromkeys(values))}


def _setting(value: object) -> Setting:
    """Keep text and numbers (1 and 1.0 are one setting); write anything else as JSON."""
    value = _whole(value)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    return msgspec.json.encode(value, order="sorted").decode()


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _same_kind(settings: Sequence[Setting | None]) -> Sequence[Setting | None]:
    """Give the settings of one factor, as numbers where all of them are, else all as text."""
    if any(isinstance(setting, str) for setting in settings):
        return [None if setting is None else str(setting) for setting in settings]
    return settings


def _categories(values: Sequence[Setting | None], lengths: Integers) -> pd.Categorical:
    """Repeat each value as often as its part has rows."""
    place = _places(value for value in values if value is not None)
    small = np.int8 if len(place) < 128 else np.int32
    codes = np.array([-1 if value is None else place[value] for value in values], dtype=small)
    kind = "str" if all(isinstance(value, str) for value in place) else None
    return pd.Categorical.from_codes(np.repeat(codes, lengths), categories=pd.Index(list(place), dtype=kind))


def _from_0(lengths: Integers) -> Integers:
    """Number the rows of each part from 0: [2, 3] -> [0, 1, 0, 1, 2]."""
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum(), dtype=np.int64) - np.repeat(ends - lengths, lengths)
