"""The identity of a case: what distinguishes it wherever cases are grouped, looked up or compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from gate.model.names import ACTIVE, Better

MEAN = "mean"
TYPICAL: Literal["typical"] = "typical"
"""The trimmed mean of neighbours' ratios: a statistic of both sides together."""
Center = float | Literal["typical"] | None
"""What of the values is compared: a quantile, the typical value, or None: the mean."""


class HasCase(Protocol):
    """What is about one case: its values, a finding, a curve, something remembered."""

    @property
    def benchmark(self) -> str:
        """Name of the benchmark."""

    @property
    def metric(self) -> str:
        """Name of the metric."""

    @property
    def factors(self) -> dict[str, Any]:
        """Settings of the factors."""


class OfCase(msgspec.Struct, frozen=True, kw_only=True):
    """What is about one case and statistic."""

    benchmark: str
    metric: str
    statistic: str
    factors: dict[str, Any]


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of base and head of one case and statistic."""

    benchmark: str
    metric: str
    unit: str
    better: Better | None
    """The direction that is better; None: nothing tells, so that it is not decided."""
    statistic: str
    factors: dict[str, Any]


class CaseId(NamedTuple):
    """A case, and with a statistic what of it is compared."""

    benchmark: str
    metric: str
    factors: str = ""
    """The settings as one text, in the order of the factors' names; empty: all of them, or there are none."""
    statistic: str = ""
    """Empty: the case with all its statistics."""


def case_id(found: HasCase, statistic: str = "") -> CaseId:
    """Return the identity of the case that something is about."""
    return CaseId(found.benchmark, found.metric, canonical(found.factors), statistic)


def quantile_of(statistic: str) -> float | None:
    """Return the quantile that a statistic is, 0.99 of "p99"; None of the mean and of the typical value."""
    return None if statistic in (MEAN, TYPICAL) else float(statistic[1:]) / 100


def center_of(statistic: str) -> Center:
    """Return what a statistic compares; p50 and p50.0 are one question."""
    return TYPICAL if statistic == TYPICAL else quantile_of(statistic)


def canonical(factors: Mapping[str, Any]) -> str:
    """Write settings as one text, in the order of their names, 1 and 1.0 alike; "" where there are none."""
    if not factors:
        return ""
    plain = {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in factors.items()}
    return msgspec.json.encode(plain, order="sorted").decode()


def metric_name(metric: str) -> str:
    """Name a metric: "time", "active time"."""
    return "active time" if metric == ACTIVE else metric


def is_usual(metric: str, statistic: str) -> bool:
    """Return whether a statistic is the one that a metric has unless another is asked for."""
    return statistic == (TYPICAL if metric == ACTIVE else MEAN)


def with_statistic(name: str, statistic: str) -> str:
    """Name a metric with its statistic: "latency p99", "typical time"."""
    return f"{statistic} {name}" if statistic in (MEAN, TYPICAL) else f"{name} {statistic}"


def quantity(metric: str, statistic: str) -> str:
    """Name a metric and a statistic: "time", "latency p99", "active time"; the usual statistic is not said."""
    name = metric_name(metric)
    return name if is_usual(metric, statistic) else with_statistic(name, statistic)


def shown(setting: Any) -> str:
    """Write a setting; a text that looks like a number stands in quotes, since 1 and "1" are two settings."""
    return f'"{setting}"' if isinstance(setting, str) and _like_a_number(setting) else str(setting)


def _like_a_number(text: str) -> bool:
    # float() also reads "nan" and "inf", which are names here
    if not any(character.isdigit() for character in text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def pairs(factors: Mapping[str, Any], between: str = ", ") -> str:
    """Write settings: "load=busy, size=10"; "" where there are none."""
    return between.join(f"{factor}={shown(setting)}" for factor, setting in factors.items())
