"""Which executions make which responses, by what the design declares and the user asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gate.commands.study.analysis.observations import SIDE, Observed, Wanted, observations, plain
from gate.model import Execution, UserError
from gate.model.case import CaseId
from gate.model.study import Setting


@dataclass(frozen=True, slots=True)
class Selection:
    """What is analysed."""

    benchmarks: Sequence[str]
    """Globs, () for all."""
    responses: Sequence[str]
    """Globs of metrics, () for those of default, or for all where that names none."""
    default: Callable[[str, str], bool]
    settings: Mapping[str, Sequence[str]]
    """Factor -> the settings that are kept, in their order."""


def responses(executions: Sequence[Execution], selection: Selection, wanted: Wanted) -> list[Observed]:
    """Lay out each response, in the order of the files.

    default: whether a benchmark's metric is a response when none is named.

    Raises:
        UserError: a selection of nothing, or lines that do not go together.
    """
    kept = _with_settings(_of_benchmarks(executions, selection.benchmarks), selection.settings)
    cases = dict.fromkeys(
        CaseId(e.benchmark, name) for e in kept for name, metric in e.metrics.items() if metric.values
    )
    chosen = _chosen(list(cases), selection)
    found = []
    for case in chosen:
        own = [e for e in kept if e.benchmark == case.benchmark and (m := e.metrics.get(case.metric)) and m.values]
        found.append(observations(own, case.metric, wanted))
    return found


def _of_benchmarks(executions: Sequence[Execution], globs: Sequence[str]) -> list[Execution]:
    kept = [e for e in executions if not globs or any(fnmatchcase(e.benchmark, glob) for glob in globs)]
    if executions and not kept:
        names = ", ".join(sorted({e.benchmark for e in executions}))
        raise UserError(f"--benchmark {' '.join(globs)}: matches none of {names}")
    return kept


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


def _chosen(cases: list[CaseId], selection: Selection) -> list[CaseId]:
    if selection.responses:
        metrics = {case.metric for case in cases}
        unknown = [glob for glob in selection.responses if not any(fnmatchcase(name, glob) for name in metrics)]
        if cases and unknown:
            have = ", ".join(sorted(metrics))
            raise UserError(f"response {unknown[0]}: no execution has values of it; measured were {have}")
        return [case for case in cases if any(fnmatchcase(case.metric, glob) for glob in selection.responses)]
    return [case for case in cases if selection.default(case.benchmark, case.metric)] or cases
