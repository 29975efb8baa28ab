"""The settings of factors that records carry: one spelling of each combination, and what the rules say of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gate.config.study import FactorTable
from gate.config.types import Config
from gate.model import Execution, Failure
from gate.model.case import CaseId


def at(of: CaseId) -> str:
    """Say at which settings a case is: ' at {"size":10}'; "" where it has none."""
    return f" at {of.factors}" if of.factors else ""


def settings(factors: Mapping[str, Any]) -> str:
    """Write settings for a reader: "load=busy, size=10"; "" where there are none."""
    return ", ".join(f"{name}={value}" for name, value in factors.items()) if factors else ""


def failed_at(failures: Iterable[Failure]) -> Callable[..., bool]:
    """Return what says of a benchmark, its settings and its suite, if it is of one, whether it failed at them.

    A failure is of all settings that agree with its own: one without any is of the whole benchmark.
    """
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for failure in failures:
        if failure.benchmark is not None:
            found[failure.benchmark].append(failure.factors)

    def failed(name: str | None, factors: Mapping[str, Any], suite: str | None = None) -> bool:
        if not found:  # of many thousand executions
            return False
        own = (*found.get(name or "", ()), *found.get(suite or "", ()))
        return any(each.items() <= factors.items() for each in own)

    return failed


def study_factors(measured: Config | None) -> Mapping[str, FactorTable]:
    """Return the factors of the study that a run is of; lines may carry others, that a suite gives its benchmarks."""
    return measured.study.factor if measured is not None and measured.study is not None else {}


def bound_factors(measured: Config | None) -> frozenset[str]:
    """Return the factors of a study of which a setting belongs to some sessions or runners, so that others lack it."""
    return frozenset(
        name
        for name, table in study_factors(measured).items()
        if isinstance(table, dict) and any(of.session is not None or of.runner is not None for of in table.values())
    )


def is_study(measured: Config | None, executions: Iterable[Execution]) -> bool:
    """Return whether values are of a designed experiment, whose replicates take the place of [plan]'s counts."""
    return bool(study_factors(measured)) and any(e.factors for e in executions)
