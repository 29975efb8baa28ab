"""The same values twice: what was read again, and not measured."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from gate.config.rules import is_decided, is_exact
from gate.config.types import Config
from gate.model import Execution, Failure, Metric, Side

FEWEST = 5
"""Distinct values that a series needs: fewer may well come twice out of a coarse timer or a count."""
_CHANCE = math.log(1e-6)
"""Above it, so many equal series may be chance: a timer of few ticks gives short series twice."""
_Series = tuple[float, ...]


def repeated(executions: Sequence[Execution], config: Config, *, by_side: bool = False) -> list[Failure]:
    """Return a failure for each execution whose values of a decided metric are those of an earlier one, in their order.

    Args:
        executions: in the order of measuring. A metric that is exact may repeat itself.
        by_side: both sides are known to be one measurement, so that only the executions of one side count.
    """
    found: list[Failure] = []
    for (benchmark, metric), own in _suspects(executions, config).items():
        first: dict[tuple[_Series, Side | None], Execution] = {}
        again: list[tuple[Execution, Execution]] = []
        for e in own:
            series = tuple(e.metrics[metric].values)
            if len(set(series)) >= FEWEST:
                earlier = first.setdefault((series, e.side if by_side else None), e)
                again += [(e, earlier)] if earlier is not e else []
        if again and not _by_chance(len(again), benchmark, metric, executions):
            found += [_failure(e, earlier, metric) for e, earlier in again]
    return found


def _suspects(executions: Sequence[Execution], config: Config) -> dict[tuple[str, str], list[Execution]]:
    """Sort out, by benchmark and metric, the executions that agree with another at a few places."""
    alike: dict[tuple[str, str, tuple[object, ...]], list[Execution]] = defaultdict(list)
    for e in executions:
        for name, metric in e.metrics.items():
            if len(metric.values) >= FEWEST:
                alike[e.benchmark, name, _glance(metric)].append(e)
    found: dict[tuple[str, str], list[Execution]] = defaultdict(list)
    for (benchmark, name, _), own in alike.items():
        if len(own) > 1 and is_decided(config, benchmark, name) and not is_exact(config, benchmark, name):
            found[benchmark, name] += own
    return found


def _glance(metric: Metric) -> tuple[object, ...]:
    values = metric.values
    return metric.unit, len(values), values[0], values[len(values) // 2], values[-1]


def _by_chance(again: int, benchmark: str, metric: str, executions: Sequence[Execution]) -> bool:
    """Return whether so many equal series may come of a timer of few ticks.

    Two values of different series are equal with a share q of all such pairs, and so two series of n values with q^n.
    So many of them, among all pairs of executions, are at most a Poisson tail. Doubles of a fine timer have no q.
    """
    series = list(_series_of(benchmark, metric, executions))
    counts = Counter(value for own in set(series) for value in own)
    total = sum(counts.values())
    equal = sum(count * (count - 1) for count in counts.values())
    within = sum(count * (count - 1) for own in set(series) for count in Counter(own).values())
    pairs = total**2 - sum(len(own) ** 2 for own in set(series))
    if equal == within or not pairs:
        return False
    shortest = min(len(own) for own in series if len(own) >= FEWEST)
    expected = math.log(len(series) * (len(series) - 1) / 2) + shortest * math.log((equal - within) / pairs)
    return again * expected - math.lgamma(again + 1) > _CHANCE


def _series_of(benchmark: str, metric: str, executions: Sequence[Execution]) -> Iterator[_Series]:
    for e in executions:
        if e.benchmark == benchmark and metric in e.metrics:
            yield tuple(e.metrics[metric].values)


def _failure(e: Execution, earlier: Execution, metric: str) -> Failure:
    session = f"session {earlier.session}, " if earlier.session or e.session else ""
    place = f"{session}build {earlier.build}, execution {earlier.execution} of {earlier.side}"
    return Failure(
        kind="repeated",
        benchmark=e.benchmark,
        side=e.side,
        session=e.session,
        build=e.build,
        execution=e.execution,
        factors=e.factors,
        status=f"the same values of {metric} twice: was a file of an earlier run read?",
        hint=f"they are the values of {place}: each execution must write its own file; a count that is always the same "
        f"needs exact = true in [benchmark.metric.{metric}]",
    )
