"""Executions -> the observations of each response: what its factors are, its values, its units of analysis."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from gate.directions import told_or_known
from gate.model import SIDES, Better, Execution, UserError
from gate.model.study import Block, Factor, Scale, Setting, Varies
from gate.stats.design.cells import spread_grows
from gate.stats.design.layers import complete_within
from gate.units import to_base

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

SIDE = "side"


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """One response: a benchmark and a metric.

    units: a row for each execution, with the columns y (mean of its values), f0, f1, ... (number of the setting
    of each factor, from 0), session, round, build and execution (numbers over the whole data; a round makes each
    variant of the build once), replicate (which iteration of the design of its round), order (position in the run,
    counted on over sessions; -1 everywhere where a line does not say), count (of values). values: a row for each value,
    with iteration instead of count. Of a logarithmic scale y is the natural logarithm of each value. block: within what
    units are compared.
    """

    benchmark: str
    metric: str
    unit: str
    better: Better
    scale: Scale
    factors: tuple[Factor, ...]
    values: pd.DataFrame
    units: pd.DataFrame
    block: Block | None

    def settings(self, codes: Sequence[int]) -> dict[str, Setting]:
        """Name the settings that codes stand for."""
        return {f.name: f.settings[code] for f, code in zip(self.factors, codes, strict=True)}

    def where(self, kept: npt.NDArray[np.bool_], kept_values: npt.NDArray[np.bool_]) -> Observed:
        """Keep some rows; factors and codes stay, even where a setting has no row left."""
        return replace(
            self, units=self.units[kept].reset_index(drop=True), values=self.values[kept_values].reset_index(drop=True)
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """How observations are made.

    scale: "auto": the logarithm where the spread of treatments grows with their level. declared: factors as the design
    has them, none where no design is known; order: settings as the user wants them; block: as the user wants it, None:
    the lowest that holds every treatment; fold: tells the block of a fraction that is folded over.
    """

    scale: Scale | Literal["auto"]
    declared: Sequence[Factor]
    order: Mapping[str, Sequence[str]]
    block: Block | Literal["none"] | None = None
    fold: Callable[[Execution], int] = lambda _: 0


def observations(executions: Sequence[Execution], metric: str, wanted: Wanted) -> Observed:
    """Lay out one response of one benchmark.

    executions: all of one benchmark that have values of the metric, at least one.

    Raises:
        UserError: units that differ, a value that has no logarithm, a line without a setting that others have.
    """
    import pandas as pd

    ordered = sorted(executions, key=lambda e: (e.session, e.build, -1 if e.order is None else e.order, e.execution))
    benchmark, told = ordered[0].benchmark, [e.metrics[metric] for e in ordered]
    units_met = sorted({to_base(each.unit)[0] for each in told})
    if len(units_met) > 1:
        met = ", ".join(units_met)
        raise UserError(f"{benchmark}: {metric} has several units, {met}: one response has one")
    better: set[Better] = {told_or_known(each.better, metric, each.unit) or "lower" for each in told}
    if len(better) > 1:
        raise UserError(f"{benchmark}: the lines of {metric} disagree which direction is better")
    # in the order of the design, else as they come; side last, where both sides were measured
    names = dict.fromkeys([*(f.name for f in wanted.declared), *(name for e in ordered for name in e.factors)])
    names.setdefault(SIDE)
    settings = [found for name in names if (found := _column(name, ordered, wanted)) is not None]
    factors = tuple(factor for factor, _ in settings)
    values = [np.array(each.values, dtype=np.float64) * to_base(each.unit)[1] for each in told]
    lengths = np.array([len(own) for own in values], dtype=np.int64)
    columns: dict[str, Any] = {
        f"f{i}": np.array(list(map(factor.settings.index, own)), dtype=np.int64)
        for i, (factor, own) in enumerate(settings)
    }
    # runners that number their sessions alike have each their own
    apart = [own for factor, own in settings if factor.varies == "session"]
    keys = [(e.session, *(own[i] for own in apart)) for i, e in enumerate(ordered)]
    same = len(set(keys)) == len({e.session for e in ordered})
    columns["session"] = np.array([e.session for e in ordered], dtype=np.int64) if same else _numbered(keys)
    sessions = columns["session"].tolist()
    columns["round"] = _numbered([(session, e.build) for session, e in zip(sessions, ordered, strict=True)])
    columns["replicate"] = np.array([e.execution for e in ordered], dtype=np.int64)
    columns["fold"] = np.array([wanted.fold(e) for e in ordered], dtype=np.int64)
    bound = [own for factor, own in settings if factor.varies != "execution" and factor.name != SIDE]
    columns["build"] = _numbered(
        [(e.session, e.side, e.build, *(own[i] for own in bound)) for i, e in enumerate(ordered)]
    )
    columns["execution"] = np.arange(len(ordered), dtype=np.int64)
    # the position in the run, session by session; -1 throughout where one is not known
    orders = np.array([-1 if e.order is None else e.order for e in ordered], dtype=np.int64)
    columns["order"] = np.full(len(ordered), -1, dtype=np.int64)
    if orders.min() >= 0:
        columns["order"][np.lexsort((orders, np.array([e.session for e in ordered])))] = np.arange(len(ordered))
    frame = pd.DataFrame(columns)
    long = frame.loc[np.repeat(frame.index.to_numpy(), lengths)].reset_index(drop=True)
    long.insert(0, "y", np.concatenate(values))
    ends = np.cumsum(lengths)
    long["iteration"] = np.arange(len(long), dtype=np.int64) - np.repeat(ends - lengths, lengths)
    units = _units(long, len(factors))
    # within what units are compared: as asked for, else as designed, else what holds every treatment
    block: Block | None
    if wanted.block == "none":
        block = None
    elif wanted.block is None and not wanted.declared:
        block = complete_within(units, factors)
    else:
        block = wanted.block or "replicate"
    plain = Observed(
        benchmark=benchmark, metric=metric, unit=units_met[0], better=better.pop(), scale="value",
        factors=factors, values=long, units=units, block=block,
    )  # fmt: skip
    auto = wanted.scale == "auto" and spread_grows(plain.units, factors)
    return on_scale(plain, "log") if auto or wanted.scale == "log" else plain


def on_scale(observed: Observed, scale: Scale) -> Observed:
    """Return the same observations on a scale. Raises UserError: a value that has no logarithm."""
    if scale == observed.scale:
        return observed
    y = observed.values["y"].to_numpy(dtype=np.float64)
    if scale == "log" and y.min() <= 0:
        raise UserError(
            f"{observed.benchmark}: {observed.metric} has the value {y.min():g}, which has no logarithm: "
            "use --scale plain"
        )
    long = observed.values.assign(y=np.log(y) if scale == "log" else np.exp(y))
    return replace(observed, scale=scale, values=long, units=_units(long, len(observed.factors)))


def _units(values: pd.DataFrame, factors: int) -> pd.DataFrame:
    """Reduce values to one row an execution, the unit of analysis: the mean of its values."""
    keys = [*(f"f{i}" for i in range(factors)), "session", "round", "fold", "build", "replicate", "execution"]
    what = {"y": ("y", "mean"), "order": ("order", "min"), "count": ("count", "sum")}
    found = values.assign(count=1).groupby(keys, sort=False, observed=True).agg(**what).reset_index()
    return found.sort_values("execution", kind="stable").reset_index(drop=True)[["y", *keys, "order", "count"]]


def plain(value: object) -> Setting:
    """Return a setting as text or a number: 1.0 is 1, and anything else is written as JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    return msgspec.json.encode(value, order="sorted").decode()


def _column(name: str, executions: Sequence[Execution], wanted: Wanted) -> tuple[Factor, list[Setting]] | None:
    """Return a factor and its setting in each execution; None: no line has it, or all are of one side."""
    for e in executions if name == SIDE else ():
        if e.factors.get(SIDE, e.side) != e.side:
            raise UserError(
                f"{e.benchmark}: a line of {e.side} has side={e.factors[SIDE]} in its factors: side is base or head, "
                "as the line itself says; give the factor another name"
            )
    own = [e.side if name == SIDE else None if e.factors.get(name) is None else e.factors[name] for e in executions]
    met = {plain(setting) for setting in own if setting is not None}
    if not met or (name == SIDE and len(met) < 2):
        return None
    if None in own:
        e = executions[own.index(None)]
        raise UserError(
            f"{e.benchmark}: {e.side}, build {e.build}, start {e.execution} has no setting of the factor {name}, "
            "others do: give each line one, or leave lines out with --benchmark"
        )
    # 1 beside "big": all are text, so that 1 and "1" are one setting
    text = any(isinstance(setting, str) for setting in met)
    settings = [str(plain(setting)) if text else plain(setting) for setting in own]
    there = set(settings)
    declared = next((f for f in wanted.declared if f.name == name), None)
    if name in wanted.order:
        by_text = {str(setting): setting for setting in there}
        ordered = [by_text[each] for each in wanted.order[name] if each in by_text]
    else:
        # as declared, then numbers, then the alphabet
        first = (
            list(SIDES)
            if name == SIDE
            else [str(s) if text else plain(s) for s in (declared.settings if declared else ())]
        )
        rest = there - set(first)
        numbers = sorted(setting for setting in rest if not isinstance(setting, str))
        ordered = [*(s for s in first if s in there), *numbers, *sorted(s for s in rest if isinstance(s, str))]
    varies: Varies = "build" if name == SIDE else "execution"
    if declared is not None:
        varies = declared.varies
    elif name != SIDE:
        # no design says within what a setting stays the same
        levels: dict[Varies, dict[tuple[int, ...], set[Setting]]] = {"session": {}, "build": {}}
        for e, setting in zip(executions, settings, strict=True):
            levels["session"].setdefault((e.session,), set()).add(setting)
            levels["build"].setdefault((e.session, e.build), set()).add(setting)
        alike = (level for level, of in levels.items() if len(of) > 1 and all(len(each) == 1 for each in of.values()))
        varies = next(alike, "execution")
    return Factor(name=name, settings=ordered, varies=varies), settings


def _numbered(keys: Sequence[Hashable]) -> Integers:
    place = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([place[key] for key in keys], dtype=np.int64)
