"""What tells a case of a report from the others, so that its values and its curve are found again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol


class HasCase(Protocol):
    """A finding, a curve or the values of a case."""

    @property
    def benchmark(self) -> str:
        """Name of the benchmark."""

    @property
    def metric(self) -> str:
        """Name of the metric."""

    @property
    def factors(self) -> dict[str, Any]:
        """Settings of the factors."""


@dataclass(frozen=True, slots=True)
class CaseKey:
    """A case: benchmark, metric and the settings of its factors, in an order of their own."""

    benchmark: str
    metric: str
    factors: str


def case_key(found: HasCase) -> CaseKey:
    """Return the key of the case that something is about."""
    return CaseKey(found.benchmark, found.metric, json.dumps(found.factors, sort_keys=True, default=str))
