"""Executions -> the observations of each response: what its factors are, its values, its units of analysis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from gate.evidence.lines import Located
from gate.model import SIDES, Better, Execution, Run, UserError
from gate.model.case import CaseId
from gate.model.directions import told_or_known
from gate.model.study import Block, Factor, Scale, Setting, Varies
from gate.stats.design.cells import cells, spread_grows
from gate.stats.design.layers import complete_within
from gate.writing.phrases import none_of
from gate.writing.units import to_base

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]


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
class Observing:
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


def observations(executions: Sequence[Execution], metric: str, wanted: Observing) -> Observed:
    """Lay out one response of one benchmark.

    executions: all of one benchmark that have values of the metric, at least one.

    Raises: UserError: units that differ, a value that has no logarithm, a line without a setting that others have.
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


def _column(name: str, executions: Sequence[Execution], wanted: Observing) -> tuple[Factor, list[Setting]] | None:
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


# --- which of them are analysed: responses, abridged data sets (NIST 4.6.2), factors of hosts -------------------------


def responses(
    executions: Sequence[Execution], wanted: Observing, benchmarks: Sequence[str], metrics: Sequence[str],
    default: Callable[[str, str], bool],
) -> list[Observed]:  # fmt: skip
    """Lay out each response, in the order of the files.

    Args:
        wanted: how; its order names the settings that are kept.
        benchmarks: globs, () for all.
        metrics: globs, () for those of default, or for all where that names none.
        default: whether a benchmark's metric is a response when none is named.

    Raises:
        UserError: a selection of nothing, or lines that do not go together.
    """
    kept = [e for e in executions if not benchmarks or any(fnmatchcase(e.benchmark, glob) for glob in benchmarks)]
    if executions and not kept:
        given, names = " ".join(benchmarks), sorted({e.benchmark for e in executions})
        raise UserError(f"--benchmark {given}: {none_of(given, names)}")
    measured: dict[CaseId, list[Execution]] = defaultdict(list)
    for name, texts in wanted.order.items():
        met = {str(own) for e in kept if (own := _setting(e, name)) is not None}
        option = f"--settings {name}={','.join(texts)}"
        if not met:
            names = sorted({factor for e in kept for factor in e.factors})
            raise UserError(f"{option}: there is no factor {name}; there are {', '.join(names) or 'none'}")
        if unknown := [text for text in texts if text not in met]:
            raise UserError(f"{option}: {unknown[0]} was not measured; there are {', '.join(sorted(met))}")
        kept = [e for e in kept if str(_setting(e, name)) in texts]
    for e in kept:
        for name, metric in e.metrics.items():
            if metric.values:
                measured[CaseId(e.benchmark, name)].append(e)
    known = {case.metric for case in measured}
    unknown = [glob for glob in metrics if not any(fnmatchcase(name, glob) for name in known)]
    if measured and unknown:
        have = ", ".join(sorted(known))
        raise UserError(f"response {unknown[0]}: no start has values of it; measured were {have}")
    chosen = [case for case in measured if any(fnmatchcase(case.metric, glob) for glob in metrics)]
    if not metrics:
        chosen = [case for case in measured if default(case.benchmark, case.metric)] or list(measured)
    return [observations(measured[case], case.metric, wanted) for case in chosen]


def _setting(e: Execution, name: str) -> Setting | None:
    if name == SIDE:
        return e.side
    return None if e.factors.get(name) is None else plain(e.factors[name])


Pattern = Mapping[str, str]
"""Factor -> setting as text; factors that it does not name may have any."""


def written(pattern: Pattern) -> str:
    """Write a pattern as an option has it: "fp=no,prf=fp"."""
    return ",".join(f"{name}={setting}" for name, setting in pattern.items())


Abridgement = tuple[Literal["only", "without"], tuple[Pattern, ...]]
"""Which treatments stay: only those of a pattern, or those of none."""


def abridged(observed: Observed, abridgement: Abridgement) -> Observed | None:
    """Leave treatments out; None where fewer than two stay. Settings and factors that have nothing left to vary go too.

    Raises: UserError: a factor or setting that was not measured.
    """
    word, named = abridgement
    patterns = [[_found(observed.factors, *own, f"--{word}") for own in each.items()] for each in named]

    def rows(frame: pd.DataFrame) -> Mask:
        every = np.ones(len(frame), dtype=np.bool_)
        rows_of = [
            np.logical_and.reduce([every, *(frame[f"f{index}"].to_numpy() == code for index, code in each)])
            for each in patterns
        ]
        found: Mask = np.logical_or.reduce(rows_of)
        return found if word == "only" else ~found

    kept = observed.where(rows(observed.units), rows(observed.values))
    names = [f"f{i}" for i in range(len(kept.factors))]
    return _recoded(kept) if len(kept.units[names].drop_duplicates()) > 1 else None


def matching(observed: Observed, pattern: Pattern, option: str) -> list[tuple[int, ...]]:
    """Return the treatments measured that a pattern names, as the numbers of their settings, in standard order.

    Raises: UserError: a factor or setting that was not measured; it names the option.
    """
    wanted = dict(_found(observed.factors, name, text, option) for name, text in pattern.items())
    codes = (cell.codes for cell in cells(observed.units, observed.factors))
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


def with_host_factors(records: Sequence[Located], named: Sequence[tuple[str, str]]) -> list[Located]:
    """Give each execution the settings that the run line before it in its file says of its host.

    Sessions are numbered anew, one for each session of each run: machines number theirs alike.

    Raises: UserError: a run line is lacking or does not say, or there is a factor of that name.
    """
    runs: dict[str, Run] = {}
    place: dict[str, int] = {}
    sessions: dict[tuple[str, int, int], int] = {}
    found = []
    for located in records:
        record, path = located.record, located.path
        if isinstance(record, Run):
            runs[path] = record
            place[path] = located.line
        if isinstance(record, Execution):
            own: dict[str, Setting] = {}
            for name, key in named:
                option, run = f"--host-factor {name}={key}", runs.get(path)
                if run is None:
                    raise UserError(f"{option}: {path}:{located.line} has no run line before it that names its host")
                told = {k: v for k, v in (run.host or {}).items() if isinstance(v, (str, int, float)) and v != ""}
                if key not in told or isinstance(told[key], bool):
                    known = ", ".join(sorted(told)) or "nothing"
                    raise UserError(f"{option}: {path} says nothing of it; of its host it names {known}")
                if name in record.factors:
                    raise UserError(f"--host-factor {name}: {path}:{located.line} has a factor {name} of its own")
                own[name] = told[key]
            session = sessions.setdefault((path, place[path], record.session), len(sessions))
            record = msgspec.structs.replace(record, session=session, factors={**record.factors, **own})
            located = msgspec.structs.replace(located, record=record)
        found.append(located)
    return found
