"""Which executions and treatments are analysed: responses, abridged data sets (NIST 4.6.2), factors of hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.commands.study.observations import SIDE, Observed, Wanted, observations, plain
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
    option = "--only" if abridgement.keep else "--without"
    patterns = [[_found(observed.factors, *own, option) for own in each.items()] for each in abridgement.patterns]

    def rows(frame: pd.DataFrame) -> Mask:
        every = np.ones(len(frame), dtype=np.bool_)
        named = [
            np.logical_and.reduce([every, *(frame[f"f{index}"].to_numpy() == code for index, code in each)])
            for each in patterns
        ]
        found: Mask = np.logical_or.reduce(named)
        return found if abridgement.keep else ~found

    kept = observed.where(rows(observed.units), rows(observed.values))
    names = [f"f{i}" for i in range(len(kept.factors))]
    return _recoded(kept) if len(kept.units[names].drop_duplicates()) > 1 else None


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
