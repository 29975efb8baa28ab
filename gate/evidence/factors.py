"""The settings of factors that records carry: one spelling of each combination, and what the rules say of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gate.model import Execution, Failure, Run
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
        own = (*found.get(name or "", ()), *found.get(suite or "", ()))
        return any(each.items() <= factors.items() for each in own)

    return failed


def study_factors(run: Run | None) -> frozenset[str]:
    """Return the names of a study's factors; lines may carry others, that a suite gives its benchmarks."""
    return frozenset(_tables(run))


def bound_factors(run: Run | None) -> frozenset[str]:
    """Return the factors of a study of which a setting belongs to some sessions or runners, so that others lack it."""
    return frozenset(
        name
        for name, given in _tables(run).items()
        if isinstance(given, Mapping)
        and any(isinstance(of, Mapping) and {"session", "runner"} & of.keys() for of in given.values())
    )


def is_study(run: Run | None, executions: Iterable[Execution]) -> bool:
    """Return whether values are of a designed experiment, whose replicates take the place of [plan]'s counts."""
    return bool(_study(run)) and any(e.factors for e in executions)


def _study(run: Run | None) -> Mapping[str, Any]:
    study = run.config.get("study") if run and run.config else None
    return study if isinstance(study, Mapping) else {}


def _tables(run: Run | None) -> Mapping[str, Any]:
    factors = _study(run).get("factor")
    return factors if isinstance(factors, Mapping) else {}
