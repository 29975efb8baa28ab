"""Which executions and treatments are analysed: responses, abridged data sets (NIST 4.6.2), factors of hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.commands.study.analysis.observations import SIDE, Observed, Wanted, observations, plain
from gate.evidence.records import Located
from gate.model import Execution, Run, UserError
from gate.model.case import CaseId
from gate.model.study import Factor, Setting
from gate.stats.design.cells import cells
from gate.words.effects import settings_text
from gate.writing.phrases import none_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Mask = npt.NDArray[np.bool_]


def responses(
    executions: Sequence[Execution], wanted: Wanted, benchmarks: Sequence[str], metrics: Sequence[str],
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
    for e in _with_settings(kept, wanted.order):
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


def _with_settings(executions: list[Execution], settings: Mapping[str, Sequence[str]]) -> list[Execution]:
    for name, texts in settings.items():
        met = {str(own) for e in executions if (own := _setting(e, name)) is not None}
        if not met:
            names = ", ".join(sorted({factor for e in executions for factor in e.factors})) or "none"
            raise UserError(f"--settings {name}={','.join(texts)}: there is no factor {name}; there are {names}")
        unknown = [text for text in texts if text not in met]
        if unknown:
            have = ", ".join(sorted(met))
            raise UserError(f"--settings {name}={','.join(texts)}: {unknown[0]} was not measured; there are {have}")
        executions = [e for e in executions if str(_setting(e, name)) in texts]
    return executions


def _setting(e: Execution, name: str) -> Setting | None:
    if name == SIDE:
        return e.side
    return None if e.factors.get(name) is None else plain(e.factors[name])


Pattern = Mapping[str, str]
"""Factor -> setting as text; factors that it does not name may have any."""


def written(pattern: Pattern) -> str:
    """Write a pattern as an option has it: "fp=no,prf=fp"."""
    return ",".join(f"{name}={setting}" for name, setting in pattern.items())


@dataclass(frozen=True, slots=True)
class Abridgement:
    """Which treatments stay: those of a pattern (keep), or those of none."""

    patterns: tuple[Pattern, ...]
    keep: bool

    @property
    def name(self) -> str:
        """What it is called: "without fp=no, prf=fp"."""
        patterns = " and ".join(map(settings_text, self.patterns))
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

    Raises:
        UserError: a run line is lacking or does not say, or there is a factor of that name.
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
            run = runs.get(path)
            own = {name: _of_host(run, name, key, located) for name, key in named}
            taken = next((name for name in own if name in record.factors), None)
            if taken is not None:
                raise UserError(f"--host-factor {taken}: {path}:{located.line} has a factor {taken} of its own")
            key = (path, place[path], record.session)
            session = sessions.setdefault(key, len(sessions))
            record = msgspec.structs.replace(record, session=session, factors={**record.factors, **own})
            located = msgspec.structs.replace(located, record=record)
        found.append(located)
    return found


def _of_host(run: Run | None, name: str, key: str, located: Located) -> Setting:
    option = f"--host-factor {name}={key}"
    if run is None:
        raise UserError(f"{option}: {located.path}:{located.line} has no run line before it that names its host")
    host = run.host or {}
    value = host.get(key)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        return value
    known = ", ".join(sorted(each for each, own in host.items() if isinstance(own, (str, int, float)) and own != ""))
    raise UserError(f"{option}: {located.path} says nothing of it; of its host it names {known or 'nothing'}")
