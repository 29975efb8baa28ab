"""Samples and tops of given numbers, and what a test takes for granted of an answer."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from gate.model import Sample
from gate.stats.levels import Tops
from gate.stats.ratio import Limits

T = TypeVar("T")
Nested = Sequence[Sequence[Sequence[float]]]


def there(found: T | None) -> T:
    """The answer, which there must be."""
    assert found is not None
    return found


def ends(limits: Limits) -> tuple[float, float]:
    """Both limits, which there must be."""
    return there(limits.low), there(limits.high)


def nested(builds: Nested | Any, sessions: Sequence[int] | None = None, *, step: float = 0.0) -> Sample:
    """Build, execution, value -> Sample; sessions: how many builds each of them has."""
    executions = [execution for build in builds for execution in build]
    sizes = [len(builds)] if sessions is None else sessions
    return Sample(
        np.array([value for execution in executions for value in execution], dtype=np.float64),
        (np.array([len(each) for each in executions]), np.array([len(build) for build in builds]), np.array(sizes)),
        tuple((session, build) for session, size in enumerate(sizes) for build in range(size)),
        None,
        step,
    )


def tops(values: Sequence[float] | Any, *, gap: float = 0.0, log: bool = False, first: int = 0) -> Tops:
    """Builds by their means, from the round `first` on."""
    return Tops(np.array(values), tuple((0, first + k) for k in range(len(values))), gap, log)
